"""Which paths a sandbox means, and the two command lines that are made of them. Nothing is started here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from jupyter_mcp.host.sandbox import bubblewrap, seatbelt
from jupyter_mcp.host.sandbox.places import Places, places, root_folder
from jupyter_mcp.host.sandbox.rules import Sandbox

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    for folder in (".ssh", "work/data", "work/.git", ".config/gcloud/logs"):
        (home / folder).mkdir(parents=True)
    (home / ".netrc").touch()
    return home


def _places(home: Path, rules: Sandbox, *roots: Path, **environ: str) -> Places:
    return places(rules, [root.as_uri() for root in roots], base=str(home / "work"), home=str(home), environ=environ)


def test_roots_may_be_written_and_credentials_cannot_be_read(home: Path) -> None:
    found = _places(home, Sandbox(), home / "work")
    assert found.of("write") == (str(home / "work"),)
    assert found.of("none") == (str(home / ".netrc"), str(home / ".ssh"), str(home / ".config/gcloud"))


def test_jupyters_runtime_folder_is_hidden_wherever_it_was_moved(home: Path) -> None:
    (home / "runtime").mkdir()
    found = _places(home, Sandbox(), JUPYTER_RUNTIME_DIR=str(home / "runtime"))
    assert str(home / "runtime") in found.of("none")


def test_relative_paths_start_where_the_server_does_and_a_tilde_at_home(home: Path) -> None:
    found = _places(home, Sandbox(write=("data",), deny_read=("~/.config",), deny_write=(".git",)))
    assert found.of("write") == (str(home / "work/data"),)
    assert found.of("read") == (str(home / "work/.git"),)
    assert str(home / ".config") in found.of("none")


def test_a_private_place_that_is_named_may_be_used_the_rest_of_it_stays_hidden(home: Path) -> None:
    found = _places(home, Sandbox(write=("~/.ssh", "~/.config/gcloud/logs")))
    assert ("write", str(home / ".ssh")) in found.access
    hidden, open_ = ("none", str(home / ".config/gcloud")), ("write", str(home / ".config/gcloud/logs"))
    assert found.access.index(hidden) < found.access.index(open_)


def test_the_strictest_of_two_rules_for_one_path_holds(home: Path) -> None:
    found = _places(home, Sandbox(write=("data",), deny_write=("data",), deny_read=("data",)))
    assert ("none", str(home / "work/data")) in found.access
    assert found.of("write") == found.of("read") == ()


def test_links_are_followed_and_what_is_not_there_is_left_out(home: Path) -> None:
    (home / "link").symlink_to(home / "work/data")
    found = _places(home, Sandbox(write=("~/link", "nowhere")))
    assert found.of("write") == (str(home / "work/data"),)


@pytest.mark.parametrize(
    ("uri", "folder"),
    [
        ("file:///a%20b", "/a b"),
        ("file://localhost/a", "/a"),
        ("file://elsewhere/a", None),
        ("https://example.org/a", None),
    ],
)
def test_a_root_is_a_folder_of_this_machine_or_no_place_at_all(uri: str, folder: str | None) -> None:
    assert root_folder(uri) == folder


def test_bubblewrap_gets_narrower_mounts_after_wider_ones(home: Path) -> None:
    rules = Sandbox(deny_write=(".git",))
    words = bubblewrap.arguments(
        ["/bin/true", "x"], _places(home, rules, home / "work"), network=False, cwd=str(home / "work")
    )
    line = " ".join(words)
    order = [line.index(part) for part in ("--ro-bind / /", f"--bind {home}/work", f"--ro-bind {home}/work/.git")]
    assert order == sorted(order)
    assert f"--ro-bind /dev/null {home}/.netrc" in line
    assert f"--tmpfs {home}/.ssh" in line
    assert words[-3:] == ["--", "/bin/true", "x"]
    assert "--unshare-net" in words


def test_bubblewrap_leaves_the_network_where_that_is_allowed(home: Path) -> None:
    words = bubblewrap.arguments(["/bin/true"], _places(home, Sandbox()), network=True, cwd="/")
    assert "--unshare-net" not in words


def test_seatbelt_denies_after_it_allows_and_quotes_paths() -> None:
    found = Places((("write", '/w"x'), ("none", '/w"x/keys'), ("read", "/w\\y")))
    text = seatbelt.profile(found, network=False)
    lines = text.splitlines()
    assert lines[:3] == ["(version 1)", "(allow default)", "(deny file-write*)"]
    assert lines.index('(allow file-read* file-write* (subpath "/w\\"x"))') < lines.index(
        '(deny file-read* file-write* (subpath "/w\\"x/keys"))'
    )
    assert '(deny file-write* (subpath "/w\\\\y"))' in lines
    assert lines[-1] == "(deny network*)"
    assert "network" not in seatbelt.profile(found, network=True)


def test_what_steers_other_programs_stays_read_only_in_a_root_unless_it_is_named(home: Path) -> None:
    (home / "work/.git/hooks").mkdir()
    (home / "work/.vscode").mkdir()
    found = _places(home, Sandbox(write=(".vscode",)), home / "work")
    assert found.of("read") == (str(home / "work/.git/hooks"),)
    assert ("write", str(home / "work/.vscode")) in found.access


def test_credentials_are_hidden_where_variables_say_that_they_are(home: Path) -> None:
    for name in ("kube-a", "kube-b", "data/runtime"):
        (home / name).mkdir(parents=True)
    moved = {"KUBECONFIG": f"{home}/kube-a:{home}/kube-b", "JUPYTER_DATA_DIR": f"{home}/data"}
    hidden = _places(home, Sandbox(), **moved).of("none")
    assert {f"{home}/kube-a", f"{home}/kube-b", f"{home}/data/runtime"} <= set(hidden)


@pytest.mark.parametrize("root", ["/", "/tmp", "/var", "/run"])
def test_a_root_that_would_bring_back_what_is_hidden_is_too_wide(root: str) -> None:
    assert bubblewrap.too_wide(Places((("write", root),))) == root
    assert bubblewrap.too_wide(Places((("write", "/tmp/mine"), ("read", "/")))) is None
