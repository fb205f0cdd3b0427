"""The command line, `jupyter-mcp-host`. It must start fast: everything but the parser is imported by its command.

`stdio` is the bridge between an agent and a live notebook (`bridge`), `run` serves a notebook without a person
(`deploy`), `demo` the demo server, `list` says what can be started and which notebooks are served.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from jupyter_mcp._version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jupyter_mcp.cli.bridge.notebooks import Look
    from jupyter_mcp.server import Server

# name -> what it is; the servers that come with the package, started by the command of the same name
SERVERS = {"demo": "a server to learn from: tools, forms, progress, pictures, resources, prompts"}

_EPILOG = """\
in a notebook:   %load_ext jupyter_mcp
                 %mcp connect demo
any MCP client:  command "jupyter-mcp-host", arguments ["demo"]
over HTTP:       jupyter-mcp-host demo --http 8000

a live notebook for an agent:
                 %mcp serve                  in the notebook
                 command "jupyter-mcp-host", arguments ["stdio"]

one on a hub or a remote machine, with the token in the environment or in the keyring:
                 JUPYTER_TOKEN=… jupyter-mcp-host stdio --url https://hub.example.org/user/ada/

a notebook as a server of its own:
                 jupyter-mcp-host run notebook.ipynb --http 8000
  JUPYTER_MCP_TOKEN      what clients must bring; by default one is made and printed
  JUPYTER_MCP_STATE_KEY  a secret of 32 bytes or more, the same for all copies of a server behind one address
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command. Returns the exit code."""
    parser = _parser()
    given = parser.parse_args(arguments)
    command = given.command
    if command == "demo":
        return _demo(given.http)
    if command == "stdio":
        return _bridge(given.notebook, given.url, given.kernel)
    if command == "run":
        return _run(given)
    if command == "list":
        return _list()
    parser.print_help()
    return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="jupyter-mcp-host",
        description="The Model Context Protocol for Jupyter: live notebooks for agents, and a server to learn from.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"jupyter-mcp-host {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    bridge = commands.add_parser("stdio", help="a live notebook as an MCP server on stdin and stdout, for an agent")
    bridge.add_argument(
        "--notebook",
        metavar="NAME",
        help="which notebook; by default the nearest one whose folder is this one, above it or below it",
    )
    bridge.add_argument(
        "--url", metavar="URL", help="the Jupyter Server that it is at, as on a hub; its token is in JUPYTER_TOKEN"
    )
    bridge.add_argument("--kernel", metavar="ID", help="with --url: the notebook of this kernel")
    run = commands.add_parser("run", help="run a notebook and serve the tools, resources and prompts it declares")
    run.add_argument("path", metavar="NOTEBOOK", help="the notebook's file")
    way = run.add_mutually_exclusive_group()
    way.add_argument("--http", metavar="PORT", type=_port, help="serve HTTP at this port; 0 takes a free one")
    way.add_argument("--stdio", action="store_true", help="serve stdin and stdout (the default)")
    run.add_argument("--name", metavar="N", help="the server's name; by default the file's")
    run.add_argument("--host", metavar="ADDRESS", default="127.0.0.1", help="where to listen; by default 127.0.0.1")
    run.add_argument(
        "--public", metavar="HOST", action="append", default=[], help="a host name under which clients reach it"
    )
    demo = commands.add_parser("demo", help="serve the demo server on stdin and stdout, or over HTTP")
    demo.add_argument(
        "--http", metavar="PORT", type=_port, help="serve HTTP at this port of 127.0.0.1; 0 takes a free one"
    )
    commands.add_parser("list", help="list the notebooks that are served, and the servers that this command can start")
    return parser


def _port(text: str) -> int:
    port = int(text)
    if not 0 <= port <= 65535:
        raise argparse.ArgumentTypeError("a port is a number from 0 to 65535")
    return port


def _bridge(notebook: str | None, url: str | None, kernel: str | None) -> int:
    import os

    from jupyter_mcp.cli.bridge.relay import serve
    from jupyter_mcp.errors import ConnectionFailed, UsageError

    try:
        look = {} if url is None and kernel is None else {"look": _elsewhere(url, kernel, notebook)}
        _say_if_terminal()
        serve(os.getcwd(), notebook, **look)
    except (ConnectionFailed, UsageError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _elsewhere(url: str | None, kernel: str | None, notebook: str | None) -> Look:
    """Looks for notebooks at a Jupyter Server. Raises UsageError."""
    from jupyter_mcp.cli.bridge import remote
    from jupyter_mcp.errors import UsageError

    if url is None or (kernel is not None and notebook is not None):
        raise UsageError("--kernel goes with --url, and without --notebook.")
    place = remote.address(url)
    if not remote.is_private(place):
        print(f"The token goes to {place} unencrypted: use https:// where there is one.", file=sys.stderr)
    return remote.JupyterServer(place, remote.token_for(place), kernel, notebook).look


def _run(given: argparse.Namespace) -> int:
    from pathlib import Path

    from jupyter_mcp.cli import deploy

    path = Path(given.path)
    if given.http is None:
        _say_if_terminal()
        return deploy.over_stdio(path, given.name)
    return deploy.over_http(path, given.name, given.http, host=given.host, hosts=given.public)


def _say_if_terminal() -> None:
    if sys.stdin is not None and sys.stdin.isatty():
        print("An MCP server speaks on stdin and stdout here; connect a client to it. Ctrl-D ends it.", file=sys.stderr)


def _demo(port: int | None) -> int:
    from jupyter_mcp.demo.server import server

    if port is not None:
        return _listen(server, port)
    _say_if_terminal()
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
    from jupyter_mcp.kernel import identity

    notebooks = identity.live()
    rows = [(one.slug, f"{one.notebook} in {one.folder}", f"stdio --notebook {one.slug}") for one in notebooks]
    rows += [(name, what, name) for name, what in SERVERS.items()]
    width = max(len(name) for name, _, _ in rows)
    for name, what, command in rows:
        print(f"{name:{width}}  {what}  (jupyter-mcp-host {command})")
    if not notebooks:
        print("No notebook is being served; %mcp serve in a notebook does it.")
    return 0
