"""What leaves the notebook, in the words that a person approves."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_mcp.host.policy.leaving import leaving
from jupyter_mcp.host.specs import ServerSpec
from jupyter_mcp.server import Server


@pytest.mark.parametrize(
    ("target", "options", "says"),
    [
        (["uvx", "x"], {}, "these arguments: to the program s on this machine, which may send them on"),
        ("https://u:secret@example.org:8443/mcp?k=1", {}, "these arguments: over the network to example.org:8443"),
        ("http://127.0.0.1:8000/mcp", {}, "these arguments: to s on this machine, which may send them on"),
        ("http://[::1]:8000/mcp", {}, "these arguments: to s on this machine, which may send them on"),
        ("http://localhost/mcp", {}, "these arguments: to s on this machine, which may send them on"),
        ("http://localhost.example.org/mcp", {}, "these arguments: over the network to localhost.example.org"),
        ("https://${HOST}/mcp", {}, "these arguments: over the network to ${HOST}"),
        ("http://x/mcp", {"socket": "/run/x"}, "these arguments: to s on this machine, which may send them on"),
    ],
)
def test_it_says_where_the_arguments_go(target: Any, options: dict[str, Any], says: str):
    assert leaving(ServerSpec.parse("s", target, **options), {"a": 1}) == [says]


def test_nothing_leaves_for_a_server_in_this_kernel():
    assert leaving(ServerSpec.parse("s", Server("s")), {"a": 1}) == []


def test_it_says_how_much_when_that_is_not_seen_at_a_glance():
    spec = ServerSpec.parse("s", "https://example.org/mcp")
    assert leaving(spec, {"a": "x" * 12_000}) == [
        "these arguments (12,009 characters): over the network to example.org"
    ]
    assert leaving(spec, {}) == ["the call, without arguments: over the network to example.org"]
