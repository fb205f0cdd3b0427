"""What is kept: it comes back as it went, nothing odd is believed, and nothing of it is shown."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from jupyter_mcp.client.auth.store import Client, Stored, StoreKey, Tokens
from tests.client.auth.world import ISSUER, URL

CLIENT = Client("id", "secret-of-client", "client_secret_basic", "registered", "http://127.0.0.1/c", 5.0)
TOKENS = Tokens("secret-access", "DPoP", "secret-refresh", 12.5, ("a", "b"))
STORED = Stored(ISSUER, URL, CLIENT, TOKENS, '{"d": "secret-key"}', f"{ISSUER}/token", f"{ISSUER}/revoke")


@pytest.mark.parametrize("stored", [STORED, STORED.without_tokens(), Stored(ISSUER, URL, Client("x"), Tokens("y"))])
def test_what_is_kept_comes_back(stored: Stored) -> None:
    assert Stored.read(json.loads(json.dumps(stored.as_json()))) == stored


def changed(*path: str, to: Any) -> Any:
    value = json.loads(json.dumps(STORED.as_json()))
    inner = value
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = to
    return value


@pytest.mark.parametrize(
    "value",
    [
        None,
        "text",
        7,
        [],
        {},
        {"version": 1},
        changed("version", to=2),
        changed("issuer", to=None),
        changed("resource", to=3),
        changed("client", to=None),
        changed("client", to={"id": "x", "unknown": 1}),
        changed("client", "id", to=5),
        changed("client", "secret", to=5),
        changed("tokens", to="x"),
        changed("tokens", "access", to=None),
        changed("tokens", "refresh", to=[1]),
        changed("tokens", "scopes", to=[1, 2]),
        changed("tokens", "scopes", to=None),
        changed("dpop_key", to={"d": 1}),
    ],
)
def test_what_is_odd_counts_as_nothing_kept(value: Any) -> None:
    assert Stored.read(value) is None


def test_nothing_secret_is_shown() -> None:
    for value in (STORED, CLIENT, TOKENS, replace(STORED, tokens=None)):
        assert "secret-" not in repr(value) and "secret-" not in str(value)


def test_without_tokens_we_are_still_somebody() -> None:
    bare = STORED.without_tokens()
    assert bare.client == CLIENT and bare.tokens is None and bare.dpop_key is None


def test_a_key_names_issuer_resource_and_client() -> None:
    assert StoreKey("i", "r", "c") != StoreKey("i", "r", "d")
    assert StoreKey("i", "r", "c") == ("i", "r", "c")
