"""A real server in a real sandbox: what it can reach, and what the person is told where there is none."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.errors import ConnectionFailed
from jupyter_mcp.host.host import Host
from jupyter_mcp.host.sandbox import confine as confining
from jupyter_mcp.host.sandbox.rules import Sandbox
from jupyter_mcp.host.specs import ServerSpec
from jupyter_mcp.transport.launch import LaunchError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

_PROBE = '''
import os, socket, sys
from jupyter_mcp.server import Server
server = Server("probe")

@server.tool
def attempt(what: str, path: str = "") -> str:
    """Try one thing and tell how it went."""
    try:
        if what == "write":
            open(path, "w").write("x")
        elif what == "read":
            return os.listdir(path).__repr__() if os.path.isdir(path) else open(path).read()
        elif what == "net":
            socket.create_connection(("127.0.0.1", int(path)), 2).close()
        elif what == "processes":
            return str(sorted(int(name) for name in os.listdir("/proc") if name.isdigit())[:3])
    except OSError as error:
        return type(error).__name__
    return "done"

print("probe is up", file=sys.stderr)
server.run_stdio()
'''


def _works() -> bool:
    program = shutil.which("bwrap")
    if program is None or not sys.platform.startswith("linux"):
        return False
    words = [program, "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--unshare-pid", "--unshare-net"]
    return subprocess.run([*words, "--", "/bin/true"], capture_output=True, check=False).returncode == 0


pytestmark = pytest.mark.anyio
real = pytest.mark.skipif(not _works(), reason="bubblewrap is not installed here, or not allowed to work")


def _nothing(name: str) -> None:
    """No program is found."""


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def probe(tmp_path: Path) -> Path:
    (tmp_path / "root").mkdir()
    (tmp_path / "home" / ".ssh").mkdir(parents=True)
    (tmp_path / "home" / ".ssh" / "id").write_text("key")
    file = tmp_path / "probe.py"
    file.write_text(_PROBE)
    return file


@pytest.fixture
async def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Host]:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    host = Host(roots=[tmp_path / "root"])
    yield host
    await host.aclose()


def _spec(probe: Path, sandbox: Any) -> ServerSpec:
    return ServerSpec.parse("probe", [sys.executable, str(probe)], sandbox=sandbox)


async def _attempt(host: Host, what: str, path: object = "") -> str:
    return (await host.call_tool("probe", "attempt", {"what": what, "path": str(path)})).text


@real
async def test_a_sandboxed_server_writes_in_its_roots_and_nowhere_else(host: Host, probe: Path, tmp_path: Path) -> None:
    await host.connect(_spec(probe, True))
    assert await _attempt(host, "write", tmp_path / "root" / "ok") == "done"
    assert (tmp_path / "root" / "ok").read_text() == "x"
    await _attempt(host, "write", tmp_path / "home" / "no")  # lands in its own /tmp, or nowhere
    assert not (tmp_path / "home" / "no").exists()
    assert await _attempt(host, "write", Path(sys.prefix) / "no") == "OSError"


@real
async def test_its_own_tmp_is_empty_and_gone_with_it(host: Host, probe: Path) -> None:
    await host.connect(_spec(probe, True))
    assert await _attempt(host, "write", "/tmp/jupyter-mcp-sandbox-test") == "done"
    assert not os.path.exists("/tmp/jupyter-mcp-sandbox-test")  # noqa: ASYNC240


@real
async def test_keys_cannot_be_read_and_other_processes_are_not_seen(host: Host, probe: Path, tmp_path: Path) -> None:
    await host.connect(_spec(probe, {"write": [str(tmp_path / "home")]}))
    assert await _attempt(host, "read", tmp_path / "home" / ".ssh") == "[]"
    assert (await _attempt(host, "processes")).startswith("[1, 2")


@real
async def test_the_network_is_closed_unless_it_is_opened(host: Host, probe: Path) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        await host.connect(_spec(probe, True))
        assert await _attempt(host, "net", port) == "ConnectionRefusedError"
        await host.connect(_spec(probe, {"network": True}))
        assert await _attempt(host, "net", port) == "done"


@real
@pytest.mark.parametrize("root", ["/", "/tmp"])
async def test_with_a_root_that_is_too_wide_it_is_not_started(host: Host, probe: Path, root: str) -> None:
    host.roots.set([root])
    with pytest.raises(ConnectionFailed, match="its sandbox would be none"):
        await host.connect(_spec(probe, True))


@real
async def test_another_process_and_its_root_are_out_of_reach(host: Host, probe: Path, tmp_path: Path) -> None:
    (tmp_path / "root" / "out").symlink_to(tmp_path / "home" / ".ssh")
    await host.connect(_spec(probe, {"write": [str(tmp_path / "home")]}))
    for way in ("/proc/1/root", "/proc/self/root"):
        assert await _attempt(host, "read", f"{way}{tmp_path}/home/.ssh") == "[]"
    assert await _attempt(host, "read", tmp_path / "root" / "out") == "[]"
    assert "Error" in await _attempt(host, "read", f"/proc/{os.getpid()}/environ")


@real
async def test_its_stderr_is_heard_and_nothing_of_it_is_left_behind(host: Host, probe: Path) -> None:
    entry = await host.connect(_spec(probe, True))
    assert "probe is up" in entry.stderr
    assert entry.connection is not None
    assert entry.connection.link is not None
    tree: Any = entry.connection.link.transport
    pid = tree.tree.pid
    await host.disconnect("probe")
    assert not os.path.exists(f"/proc/{pid}")  # noqa: ASYNC240


async def test_without_bubblewrap_the_server_is_not_started_and_the_person_told_what_to_install(
    host: Host, probe: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(confining.shutil, "which", _nothing)
    with pytest.raises(ConnectionFailed, match="bubblewrap, which is not installed") as failed:
        await host.connect(_spec(probe, True))
    assert "apt install bubblewrap" in (failed.value.hint or "")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux's bubblewrap")
def test_where_namespaces_are_forbidden_its_own_words_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forbidding = tmp_path / "bwrap"
    forbidding.write_text("#!/bin/sh\necho 'bwrap: No permissions to create a new namespace' >&2\nexit 1\n")
    forbidding.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(LaunchError, match="No permissions to create a new namespace"):
        confining.confine(Sandbox(), [], platform="linux")


def test_on_a_system_without_any_sandbox_that_is_said() -> None:
    with pytest.raises(LaunchError, match="no sandbox for servers on this system"):
        confining.confine(Sandbox(), [], platform="win32")
