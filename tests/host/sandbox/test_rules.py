"""What a person or a file may write as a sandbox, and what it means."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_mcp.errors import ConfigError, UsageError
from jupyter_mcp.host.sandbox.rules import Sandbox, from_vscode, read
from jupyter_mcp.host.specs import ServerSpec


@pytest.mark.parametrize("given", [None, False])
def test_no_sandbox_is_no_sandbox(given: object) -> None:
    assert read("demo", given) is None


def test_true_is_the_strict_one() -> None:
    assert read("demo", True) == Sandbox(network=False)


def test_rules_are_read_one_path_may_stand_alone() -> None:
    assert read("demo", {"network": True, "write": "out", "deny_read": ["~/x", "y"]}) == Sandbox(
        True, ("out",), ("~/x", "y"), ()
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"netwrok": True}, "no 'netwrok'"),
        ({"network": "yes"}, "true or false"),
        ({"write": [1]}, "list of texts"),
        ({"write": [""]}, "list of texts"),
        ("strict", "not str"),
    ],
)
def test_what_makes_no_sense_is_named(given: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read("demo", given)


def test_vscode_rules_hold_only_when_they_are_switched_on() -> None:
    rules = {"filesystem": {"allowWrite": ["out"], "denyRead": ["k"], "denyWrite": ["w"]}, "network": {}}
    assert from_vscode("demo", None, rules) is None
    assert from_vscode("demo", True, rules) == Sandbox(False, ("out",), ("k",), ("w",))


def test_vscode_domains_are_refused_rather_than_widened() -> None:
    with pytest.raises(UsageError, match=r"only some domains.*example\.org"):
        from_vscode("demo", True, {"network": {"allowedDomains": ["example.org"]}})


def test_vscode_all_domains_open_the_network_and_a_denied_one_closes_it() -> None:
    everything = {"allowedDomains": ["*"]}
    assert from_vscode("demo", True, {"network": everything}) == Sandbox(network=True)
    assert from_vscode("demo", True, {"network": {**everything, "deniedDomains": ["a.example"]}}) == Sandbox()


def test_a_file_may_ask_for_a_sandbox_in_our_words_or_in_those_of_vscode() -> None:
    ours = ServerSpec.parse("demo", {"command": "python", "sandbox": {"network": True}})
    theirs = ServerSpec.parse("demo", {"command": "python", "sandboxEnabled": True})
    assert (ours.sandbox, theirs.sandbox) == (Sandbox(network=True), Sandbox())
    with pytest.raises(ConfigError, match="sandboxEnabled is true or false"):
        ServerSpec.parse("demo", {"command": "python", "sandboxEnabled": "yes"})


def test_a_sandbox_is_for_commands_only() -> None:
    with pytest.raises(UsageError, match="sandbox does not go with it"):
        ServerSpec.parse("demo", "https://example.org/mcp", sandbox=True)


def test_the_card_of_a_server_says_that_it_is_sandboxed() -> None:
    spec = ServerSpec.parse("demo", ["python", "x.py"], sandbox={"write": ["out"]})
    assert "sandboxed: writes only in its roots and out; no network" in spec.describe()
