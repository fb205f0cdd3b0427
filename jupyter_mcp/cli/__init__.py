"""The command line, `jupyter-mcp-host`. It must start fast: everything but the parser is imported by its command.

`demo` serves the demo server (`--http PORT`: over HTTP), `list` says what can be started. The bridge to a live notebook
(`stdio`) and notebooks deployed as servers (`run`) belong to the notebook's own server and will come with it; they are
not there yet.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from jupyter_mcp._version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jupyter_mcp.server import Server

# name -> what it is; the servers that come with the package, started by the command of the same name
SERVERS = {"demo": "a server to learn from: tools, forms, progress, pictures, resources, prompts"}

_EPILOG = """\
in a notebook:   %load_ext jupyter_mcp
                 %mcp connect demo
any MCP client:  command "jupyter-mcp-host", arguments ["demo"]
over HTTP:       jupyter-mcp-host demo --http 8000

Not there yet: serving a live notebook to other clients (stdio), deploying a notebook as a server (run).
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command. Returns the exit code."""
    parser = _parser()
    given = parser.parse_args(arguments)
    command = given.command
    if command == "demo":
        return _demo(given.http)
    if command == "list":
        return _list()
    parser.print_help()
    return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="jupyter-mcp-host",
        description="The Model Context Protocol for Jupyter: the servers that come with it.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"jupyter-mcp-host {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    demo = commands.add_parser("demo", help="serve the demo server on stdin and stdout, or over HTTP")
    demo.add_argument(
        "--http", metavar="PORT", type=_port, help="serve HTTP at this port of 127.0.0.1; 0 takes a free one"
    )
    commands.add_parser("list", help="list the servers that this command can start")
    return parser


def _port(text: str) -> int:
    port = int(text)
    if not 0 <= port <= 65535:
        raise argparse.ArgumentTypeError("a port is a number from 0 to 65535")
    return port


def _demo(port: int | None) -> int:
    from jupyter_mcp.demo.server import server

    if port is not None:
        return _listen(server, port)
    if sys.stdin is not None and sys.stdin.isatty():
        print("An MCP server speaks on stdin and stdout here; connect a client to it. Ctrl-D ends it.", file=sys.stderr)
    server.run_stdio()
    return 0


def _listen(server: Server, port: int) -> int:
    from jupyter_mcp.errors import ConnectionFailed

    try:
        server.run_http(port)
    except ConnectionFailed as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _list() -> int:
    width = max(map(len, SERVERS))
    for name, what in SERVERS.items():
        print(f"{name:{width}}  {what}  (jupyter-mcp-host {name})")
    return 0
