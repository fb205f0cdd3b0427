"""Rules about acts, and consent."""

from __future__ import annotations

import pytest

from jupyter_mcp.errors import UsageError
from jupyter_mcp.host.approvals import Approvals, Origin
from jupyter_mcp.host.policy import Policy


@pytest.fixture
def policy() -> Policy:
    return Policy()


@pytest.mark.parametrize(
    ("pattern", "server", "name", "matches"),
    [
        ("demo.add", "demo", "add", True),
        ("demo.add", "demo", "Add", False),
        ("demo.*", "demo", "a.b/c", True),
        ("demo", "demo", "anything", True),
        ("demo", "demo2", "anything", False),
        ("*", "x", "y", True),
        ("*.delete_*", "x", "delete_all", True),
        ("demo.a.b", "demo", "a.b", True),
        ("demo.sampling/*", "demo", "sampling/createMessage", True),
        ("demo.notes://*", "demo", "notes://today", True),
    ],
)
def test_a_pattern_is_server_dot_name_with_wildcards(
    policy: Policy, pattern: str, server: str, name: str, matches: bool
):
    policy.deny(pattern)
    assert (policy.why(server, name) is not None) is matches


@pytest.mark.parametrize("pattern", ["", ".", "a b.c", "demo.", ".x", "é.x"])
def test_what_is_no_pattern_says_how_one_is_written(policy: Policy, pattern: str):
    with pytest.raises(UsageError) as error:
        policy.allow(pattern)
    assert "SERVER.TOOL" in (error.value.usage or "")


def test_deny_beats_ask_beats_allow_in_any_order(policy: Policy):
    policy.deny("demo.delete")
    policy.ask_first("demo.d*")
    policy.allow("demo.*")
    assert [str(policy.why("demo", n)) for n in ("delete", "do", "add")] == [
        "deny demo.delete",
        "ask_first demo.d*",
        "allow demo.*",
    ]
    assert policy.why("other", "add") is None


def test_the_same_pattern_said_again_replaces_what_was_said(policy: Policy):
    policy.deny("demo.delete")
    policy.allow("demo.delete")
    assert [str(rule) for rule in policy.rules] == ["allow demo.delete"]
    policy.reset()
    assert policy.rules == []


def test_among_rules_of_one_effect_the_latest_said_is_named(policy: Policy):
    policy.deny("demo.delete")
    policy.deny("demo.d*")
    assert str(policy.why("demo", "delete")) == "deny demo.d*"
    policy.deny("demo.delete")
    assert str(policy.why("demo", "delete")) == "deny demo.delete"


@pytest.mark.parametrize("origin", ["person", "code"])
def test_a_typed_line_is_consent_for_its_call(policy: Policy, origin: Origin):
    assert Approvals(policy).decide("demo", "add", origin).verdict == "go"


@pytest.mark.parametrize("origin", ["server", "model"])
def test_what_a_server_or_a_model_begins_is_asked_until_it_is_remembered(policy: Policy, origin: Origin):
    approvals = Approvals(policy)
    assert approvals.decide("demo", "add", origin).verdict == "ask"
    approvals.remember("demo", "add")
    assert approvals.decide("demo", "add", origin).verdict == "go"
    assert approvals.decide("demo", "other", origin).verdict == "ask"
    approvals.forget("demo")
    assert approvals.decide("demo", "add", origin).verdict == "ask"


def test_ask_first_asks_the_person_too_unless_it_was_approved_with_the_call(policy: Policy):
    policy.ask_first("demo.book")
    approvals = Approvals(policy)
    approvals.remember("demo", "book")
    assert approvals.decide("demo", "book", "person").verdict == "ask"
    assert approvals.decide("demo", "book", "person", yes=True).verdict == "go"


def test_a_deny_rule_wins_over_every_consent(policy: Policy):
    policy.deny("demo.book")
    approvals = Approvals(policy)
    approvals.remember("demo", "book")
    decision = approvals.decide("demo", "book", "person", yes=True)
    assert (decision.verdict, str(decision.rule)) == ("deny", "deny demo.book")


def test_allow_lets_a_model_begin_without_asking(policy: Policy):
    policy.allow("demo.*")
    assert Approvals(policy).decide("demo", "book", "model").verdict == "go"
