"""What a server that did not come up tells, and what it does not."""

from __future__ import annotations

import pytest

from jupyter_mcp.client.diagnosis import hint, last_line


@pytest.mark.parametrize(
    ("stderr", "said"),
    [
        ("AttributeError: 'Server' object has no attribute 'list_resources'", "mcp<2"),
        ("ModuleNotFoundError: No module named 'mcp.server.fastmcp'", "mcp<2"),
        ("ImportError: cannot import name 'McpError' from 'mcp.shared.exceptions' (/x.py)", "mcp<2"),
        ("ImportError: cannot import name 'FastMCP' from 'mcp.server' (/x.py)", "mcp<2"),
        ("ModuleNotFoundError: No module named 'pandas'", "'pandas' is missing"),
        ("/usr/bin/python: No module named mcp_server_time", "'mcp_server_time' is missing"),
        ("Error: Cannot find module '/x/dist/index.js'", "/x/dist/index.js"),
        ("python: can't open file '/x/server.py': [Errno 2] No such file", "no file /x/server.py"),
        ("npm error code E404\nnpm error 404 Not Found - GET x", "no package of that name"),
        ("npm ERR! network request to x failed, reason: getaddrinfo ENOTFOUND x", "cannot reach"),
        ("  × No solution found when resolving tool dependencies:", "uv finds no package"),
        ("docker: Cannot connect to the Docker daemon at unix:///x", "Start Docker"),
        ("env: ‘node’: No such file or directory", "'node' on PATH"),
        ("/bin/sh: 1: uvx: not found", "'uvx' on PATH"),
        ("bash: line 1: npx: command not found", "'npx' on PATH"),
        ("Error: listen EADDRINUSE: address already in use :::3000", "port"),
        ("INFO: Uvicorn running on http://0.0.0.0:8000 (Press CTRL+C to quit)", "http://0.0.0.0:8000"),
        ("x: error: unrecognized arguments: --foo", "--foo"),
        ("x: error: the following arguments are required: db_path", "db_path"),
        ("fatal: setting WEATHER_TOKEN is missing", "--env WEATHER_TOKEN"),
        ("Error: GITHUB_TOKEN environment variable is required", "--env GITHUB_TOKEN"),
        ("Please set BRAVE_API_KEY before starting", "--env BRAVE_API_KEY"),
        ("KeyError: 'DB_URL'", "--env DB_URL"),
        ("\x1b[31mError: \x1b[1mAPI_KEY\x1b[0m is not set", "--env API_KEY"),
    ],
)
def test_a_known_fault_has_its_hint(stderr: str, said: str) -> None:
    found = hint(stderr.splitlines(), exit_code=1)
    assert found is not None
    assert said in found
    assert "\n" not in found


def test_what_is_not_known_is_not_guessed() -> None:
    assert hint(["Segmentation fault"], exit_code=139) is None
    assert hint(["all HTTP_OK"], exit_code=1) is None


def test_a_program_that_prints_something_else_is_doubted() -> None:
    assert "usage: ls" in str(hint([], ["usage: ls [-a]"], 0))
    assert "wrote nothing" in str(hint([], [], 0))
    assert hint([], [], 1) is None


def test_the_last_line_says_something_and_is_printable() -> None:
    assert last_line(["first", "\x1b[31mboom\x1b[0m\x07", "", "  "]) == "boom"
    assert last_line([]) == ""
