"""Revisions, eras, negotiation."""

from __future__ import annotations

import pytest

from jupyter_mcp.protocol import revisions
from jupyter_mcp.protocol.revisions import ALL, LEGACY, MODERN, features


def test_every_revision_has_its_era() -> None:
    assert [revisions.era(r) for r in LEGACY] == ["legacy"] * 4
    assert [revisions.era(r) for r in MODERN] == ["modern"]
    assert revisions.era("2027-01-01") == "modern"
    assert revisions.era("1999-01-01") == "legacy"


@pytest.mark.parametrize("offered", LEGACY)
def test_a_server_echoes_a_revision_it_speaks(offered: str) -> None:
    assert revisions.negotiate_legacy_server(offered) == offered


@pytest.mark.parametrize("offered", ["2026-07-28", "2099-01-01", "", None, 5, []])
def test_a_server_answers_its_newest_legacy_revision_to_anything_else(offered: object) -> None:
    assert revisions.negotiate_legacy_server(offered) == "2025-11-25"
    assert revisions.negotiate_legacy_server(offered, ("2024-11-05",)) == "2024-11-05"


def test_a_modern_only_server_has_no_legacy_answer() -> None:
    assert revisions.negotiate_legacy_server("2025-11-25", MODERN) is None


@pytest.mark.parametrize(("answered", "ok"), [("2024-11-05", True), ("2026-07-28", False), ("x", False), (None, False)])
def test_a_client_goes_on_only_with_a_legacy_revision_it_speaks(answered: object, ok: bool) -> None:
    assert revisions.accept_legacy_client(answered) == (answered if ok else None)


def test_the_newest_common_revision_is_chosen() -> None:
    assert revisions.choose_modern(["2025-11-25", "2026-07-28", 5, None]) == "2026-07-28"
    assert revisions.choose_modern(["2025-11-25"]) is None
    assert revisions.choose_legacy(["2024-11-05", "2025-06-18", "2026-07-28"]) == "2025-06-18"
    assert revisions.choose_legacy(["2026-07-28"]) is None


def test_features_follow_the_revisions() -> None:
    assert [r for r in ALL if features(r).batches_accepted] == ["2025-03-26"]
    assert [r for r in ALL if features(r).elicitation] == ["2025-06-18", "2025-11-25", "2026-07-28"]
    assert [r for r in ALL if features(r).url_elicitation] == ["2025-11-25", "2026-07-28"]
    assert [r for r in ALL if features(r).elicitation_ids] == ["2025-11-25"]
    assert [r for r in ALL if features(r).any_structured] == ["2026-07-28"]
    assert [r for r in ALL if features(r).result_type] == ["2026-07-28"]
    assert [r for r in ALL if features(r).tool_tasks] == ["2025-11-25"]
    assert [r for r in ALL if not features(r).server_requests] == ["2026-07-28"]
    assert [features(r).resource_not_found for r in ALL] == [-32002] * 4 + [-32602]


def test_an_unknown_revision_has_the_features_of_the_newest_older_one() -> None:
    assert features("2025-07-01") == features("2025-06-18")
    assert features("2030-01-01") == features("2026-07-28")
    assert features("1990-01-01") == features("2024-11-05")


def test_both_lists_are_named() -> None:
    sentence = revisions.lists_sentence(["2023-01-01"], ALL)
    assert "2023-01-01" in sentence and all(r in sentence for r in ALL)
    assert "none" in revisions.lists_sentence([], ALL)
