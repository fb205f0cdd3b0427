"""The public names are few and pinned: a new one, or a lost one, is a decision."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

import jupyter_mcp
from jupyter_mcp import errors

NAMES = [
    *(
        "AsyncContext",
        "AuthorizationFailed",
        "Cancelled",
        "ConfigError",
        "ConnectionFailed",
        "ConnectionLost",
        "Context",
        "Denied",
    ),
    *("InputRefused", "Interrupted"),
    *("LocalProtocolError", "MCPError", "ModelError", "NoModel", "ProtocolError", "ProviderError"),
    *("RemoteProtocolError", "RequestError", "RequestTimeout", "ToolError", "UnsupportedContent", "UsageError"),
    *(
        "aio",
        "allow",
        "answer",
        "ask",
        "ask_first",
        "connect",
        "connect_all",
        "deny",
        "disable",
        "disconnect",
        "discover",
        "enable",
    ),
    *("host", "login", "logout", "model", "policy"),
    *("prompt", "resource", "run", "save", "serve", "servers", "tool", "view", "whoami", "__version__"),
]


def test_the_package_offers_exactly_these_names() -> None:
    assert jupyter_mcp.__all__ == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_can_be_had(name: str) -> None:
    assert getattr(jupyter_mcp, name) is not None


def test_a_name_that_does_not_exist_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'conect'"):
        _ = jupyter_mcp.conect


def test_dir_lists_what_all_lists() -> None:
    assert dir(jupyter_mcp) == sorted(NAMES)


def test_the_server_room_offers_exactly_these_names() -> None:
    server = importlib.import_module("jupyter_mcp.server")
    assert server.__all__ == [
        *("AsyncContext", "Audio", "Context", "Elicit", "Elicited", "Embedded", "Image", "InputRequired", "Link"),
        *("Message", "MissingCapability", "NotFound", "RootFolder", "Roots", "Sample", "Sampled", "Server", "TaskWork"),
        *("Text", "ToolError", "ToolResult", "UrlRequired", "assistant", "user"),
    ]


def test_every_error_is_public_and_in_the_one_tree() -> None:
    assert set(errors.__all__) <= set(jupyter_mcp.__all__)
    for name in errors.__all__:
        error = getattr(errors, name)
        assert issubclass(error, errors.MCPError) or name == "Interrupted"


def test_what_is_logged_does_not_reach_the_cell_unless_somebody_asks_for_it() -> None:
    code = "import logging, jupyter_mcp; logging.getLogger('jupyter_mcp.host').error('a callback failed')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, check=True)
    assert done.stderr == b""
    asked = code.replace("; ", "; logging.basicConfig(); ", 1)
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, timeout=60, check=True)
    assert b"a callback failed" in done.stderr
