"""What is deprecated: the table, and what of it a message uses."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_mcp.protocol import deprecated, revisions


def names(method: str, params: Any = None) -> list[str]:
    return [feature.name for feature in deprecated.of_message(method, params)]


@pytest.mark.parametrize("feature", deprecated.TABLE.values(), ids=lambda feature: feature.name)
def test_every_row_says_since_when_until_when_and_what_instead(feature: deprecated.Deprecated) -> None:
    assert feature.since in revisions.ALL
    said = deprecated.sentence(feature)
    for part in (feature.title, feature.since, feature.removal, feature.migration):
        assert part in said
    assert said.endswith(".")


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("roots/list", ["roots"]),
        ("sampling/createMessage", ["sampling"]),
        ("notifications/message", ["logging"]),
        ("logging/setLevel", ["logging"]),
        ("elicitation/create", []),
        ("tools/call", []),
        ("", []),
    ],
)
def test_a_message_uses_what_its_method_belongs_to(method: str, expected: list[str]) -> None:
    assert names(method) == expected


@pytest.mark.parametrize("value", ["thisServer", "allServers"])
def test_sampling_that_wants_the_context_of_servers_uses_two_deprecated_features(value: str) -> None:
    assert names("sampling/createMessage", {"includeContext": value}) == ["sampling", "include-context"]


@pytest.mark.parametrize("params", [{"includeContext": "none"}, {"includeContext": 3}, [], "x", None])
def test_odd_params_are_only_sampling(params: Any) -> None:
    assert names("sampling/createMessage", params) == ["sampling"]


def test_only_the_old_http_transport_is_deprecated() -> None:
    kinds = ("stdio", "memory", "http", "sse", "?")
    assert [kind for kind in kinds if deprecated.of_transport(kind)] == ["sse"]
