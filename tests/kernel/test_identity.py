"""A notebook's name and its runtime file."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.errors import ConfigError
from jupyter_mcp.kernel import identity

if TYPE_CHECKING:
    from pathlib import Path

posix = pytest.mark.skipif(sys.platform == "win32", reason="files have no modes there")


@pytest.fixture(autouse=True)
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    return tmp_path / "runtime" / "jupyter_mcp"


def shell(**namespace: Any) -> Any:
    return SimpleNamespace(user_ns=namespace)


def notebook(path: str, monkeypatch: pytest.MonkeyPatch, name: str | None = None) -> identity.Identity:
    monkeypatch.setenv("JPY_SESSION_NAME", path)
    return identity.identify(shell(), name)


def as_dead(slug: str, folder: Path, **change: Any) -> None:
    """The file as a process that is gone left it."""
    path = folder / f"{slug}.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"pid": gone_pid(), "born": ""} | change))


def gone_pid() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


@pytest.mark.parametrize(
    ("path", "slug"),
    [
        ("/home/x/Sales 2026 (final).ipynb", "sales-2026-final"),
        ("/home/x/Ünïcode.ipynb", "unicode"),
        ("/home/x/" + "a" * 200 + ".ipynb", "a" * 40),
        ("/home/x/../..//etc.ipynb", "etc"),
    ],
)
def test_a_slug_is_the_name_of_the_file(path: str, slug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert notebook(path, monkeypatch).wanted == slug


@pytest.mark.parametrize("path", ["/home/x/数据.ipynb", "/home/x/ghp_abcdefghijklmnop1234567890.ipynb"])
def test_a_name_that_cannot_be_shown_becomes_a_digest(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = notebook(path, monkeypatch)
    assert found.wanted == f"notebook-{found.key[:6]}" or found.wanted.startswith("notebook-")
    assert "ghp_" not in repr(found)


def test_vs_code_says_its_notebook_in_the_namespace() -> None:
    found = identity.identify(shell(__vsc_ipynb_file__="/home/x/code.ipynb"))
    assert (found.wanted, found.folder, found.notebook) == ("code", "/home/x", "code.ipynb")


def test_a_name_of_ones_own_goes_before_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    found = notebook("/home/x/a.ipynb", monkeypatch, "My Sales")
    assert (found.wanted, found.notebook) == ("my-sales", "My Sales")


@posix
def test_the_file_is_private_and_the_folder_too(runtime: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runtime.mkdir(parents=True, mode=0o755)
    claimed = identity.claim(notebook("/home/x/a.ipynb", monkeypatch))
    claimed.publish("http://127.0.0.1:4321/mcp", "secret-token")
    assert stat.S_IMODE(runtime.stat().st_mode) == 0o700
    assert [stat.S_IMODE(path.stat().st_mode) for path in runtime.iterdir()] == [0o600, 0o600]
    assert sorted(path.name for path in runtime.iterdir()) == [".lock", "a.json"]
    assert "secret-token" not in repr(claimed.record)


def test_what_is_published_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    claimed = identity.claim(notebook("/home/x/a.ipynb", monkeypatch))
    assert identity.live() == []
    claimed.publish("http://127.0.0.1:4321/mcp", "t")
    (found,) = identity.live()
    assert (found.slug, found.folder, found.url, found.token, found.pid, found.port) == (
        "a",
        "/home/x",
        "http://127.0.0.1:4321/mcp",
        "t",
        os.getpid(),
        4321,
    )


@pytest.mark.parametrize("killed", [True, False])
def test_a_restarted_kernel_gets_its_slug_port_and_token_again(
    killed: bool, runtime: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    me = notebook("/home/x/a.ipynb", monkeypatch)
    first = identity.claim(me)
    first.publish("http://127.0.0.1:4321/mcp", "t")
    first.count_plots(7)
    if killed:
        as_dead("a", runtime)
    else:
        first.release(forget=False)
    assert identity.live() == []
    second = identity.claim(me)
    assert (second.slug, second.port, second.token) == ("a", 4321, "t")
    assert second.plots >= 7, "a number would be used again"


def test_what_was_stopped_is_forgotten(runtime: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    me = notebook("/home/x/a.ipynb", monkeypatch)
    first = identity.claim(me)
    first.publish("http://127.0.0.1:4321/mcp", "t")
    first.release(forget=True)
    assert not (runtime / "a.json").exists()
    assert identity.claim(me).token == ""


def test_two_notebooks_of_one_name_keep_apart_also_when_the_first_is_gone(
    runtime: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = notebook("/home/x/a.ipynb", monkeypatch), notebook("/home/y/a.ipynb", monkeypatch)
    identity.claim(one).publish("http://127.0.0.1:1/mcp", "one")
    as_dead("a", runtime)
    second = identity.claim(two)
    assert second.slug == f"a-{two.key[:6]}" and second.token == ""
    assert identity.claim(one).token == "one"
    assert identity.claim(two).slug == second.slug


def test_one_notebook_in_two_kernels_has_two_slugs(runtime: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    me = notebook("/home/x/a.ipynb", monkeypatch)
    identity.claim(me).publish("http://127.0.0.1:1/mcp", "one")
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        as_dead("a", runtime, pid=other.pid)
        second = identity.claim(me)
        other.communicate(b"\n")
    assert second.slug == f"a-{me.key[:6]}" and second.token == ""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only /proc tells when a process began")
def test_a_process_that_got_the_number_later_is_not_the_one(runtime: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    identity.claim(notebook("/home/x/a.ipynb", monkeypatch)).publish("http://127.0.0.1:1/mcp", "t")
    as_dead("a", runtime, pid=os.getpid(), born="1")
    assert identity.live() == []


def test_a_name_nobody_has_used_for_a_month_is_given_away(runtime: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = notebook("/home/x/a.ipynb", monkeypatch), notebook("/home/y/a.ipynb", monkeypatch)
    identity.claim(one).publish("http://127.0.0.1:1/mcp", "one")
    as_dead("a", runtime, started=time.time() - 31 * 24 * 3600)
    assert identity.claim(two).slug == "a"


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", "nonsense", '{"slug": "a"}', "[" * 100_000, '{"notebook": 1, "slug": "a"}', "\xff"]
)
def test_a_file_that_says_something_else_is_left_alone(
    text: str, runtime: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    identity.claim(notebook("/home/x/a.ipynb", monkeypatch)).publish("http://127.0.0.1:1/mcp", "t")
    (runtime / "a.json").write_text(text, encoding="latin-1")
    assert identity.live() == []


@posix
def test_a_file_that_others_may_read_is_not_trusted(runtime: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    me = notebook("/home/x/a.ipynb", monkeypatch)
    identity.claim(me).publish("http://127.0.0.1:1/mcp", "t")
    (runtime / "a.json").chmod(0o644)
    assert identity.live() == []
    assert identity.claim(me).token == ""


@posix
def test_a_link_is_not_followed(runtime: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    identity.claim(notebook("/home/x/a.ipynb", monkeypatch)).publish("http://127.0.0.1:1/mcp", "t")
    (runtime / "a.json").rename(tmp_path / "elsewhere.json")
    (runtime / "a.json").symlink_to(tmp_path / "elsewhere.json")
    assert identity.live() == []


def test_a_folder_that_cannot_be_used_is_said(runtime: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runtime.parent.mkdir(parents=True)
    runtime.write_text("a file")
    with pytest.raises(ConfigError, match="runtime file cannot be written"):
        identity.claim(notebook("/home/x/a.ipynb", monkeypatch))


def test_a_forked_child_leaves_the_file_alone(runtime: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    claimed = identity.claim(notebook("/home/x/a.ipynb", monkeypatch))
    claimed.publish("http://127.0.0.1:1/mcp", "t")
    monkeypatch.setattr(os, "getpid", lambda: 1)
    claimed.release(forget=True)
    assert (runtime / "a.json").exists()


def test_looking_for_notebooks_loads_neither_ipython_nor_a_server() -> None:
    code = "import sys; from jupyter_mcp.kernel import identity; identity.live(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    loaded = set(done.stdout.split())
    assert loaded.isdisjoint({"IPython", "tornado", "asyncio", "pydantic", "jupyter_mcp.server", "jupyter_mcp.runtime"})
