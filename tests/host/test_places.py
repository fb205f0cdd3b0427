"""Where configuration files are looked for, whose they are, and what odd files do to that."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from jupyter_mcp.errors import ConfigError
from jupyter_mcp.host.specs import ServerSpec, read_config
from jupyter_mcp.host.specs.files import MAX_BYTES
from jupyter_mcp.host.specs.places import Found, discover, own_files, project_files

ONE = {"command": "one"}


def _put(path: Path, data: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(data if isinstance(data, str) else json.dumps(data))
    return path


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home" / "work" / "deep").mkdir(parents=True)
    return tmp_path / "home"


def _found(home: Path, folder: str = "work/deep", **options: Any) -> list[Found]:
    return discover(home / folder, home=home, environ={}, system=options.get("system", "linux"))


def _names(found: list[Found]) -> list[tuple[str, list[str]]]:
    return [(one.label, [e.name for e in one.entries if isinstance(e, ServerSpec)]) for one in found]


def test_a_projects_files_are_found_upwards_the_nearest_first(home: Path):
    _put(home / "work/.mcp.json", {"mcpServers": {"far": ONE}})
    _put(home / "work/deep/.mcp.json", {"mcpServers": {"near": ONE}})
    _put(home / "work/.vscode/mcp.json", '{"servers": {"code": {"command": "x"},}, /* c */}')
    _put(home / "work/.cursor/mcp.json", {"mcpServers": {"cursor": ONE}})
    _put(home / "work/.jupyter/mcp_settings.json", {"mcp_servers": [{"name": "lab", "command": "x", "args": []}]})
    _put(home / "work/pyproject.toml", '[tool.jupyter_mcp.servers.toml]\ncommand = "x"\n')
    found = _found(home)
    assert _names(found) == [
        ("project", ["near"]),
        ("project", ["far"]),
        ("VS Code, project", ["code"]),
        ("Cursor, project", ["cursor"]),
        ("Jupyter, project", ["lab"]),
        ("pyproject.toml", ["toml"]),
    ]
    assert not any(one.own for one in found)


def test_nothing_is_looked_for_above_the_repository(home: Path):
    (home / "work/.git").mkdir()
    _put(home / ".mcp.json", {"mcpServers": {"outside": ONE}})
    assert _found(home) == []
    assert {path.parent for path, _ in project_files(home / "work/deep", home) if path.name == ".mcp.json"} == {
        home / "work/deep",
        home / "work",
    }


@pytest.mark.parametrize(
    ("system", "desktop", "code"),
    [
        ("linux", ".config/Claude/claude_desktop_config.json", ".config/Code/User/mcp.json"),
        (
            "darwin",
            "Library/Application Support/Claude/claude_desktop_config.json",
            "Library/Application Support/Code/User/mcp.json",
        ),
        ("win32", "AppData/Roaming/Claude/claude_desktop_config.json", "AppData/Roaming/Code/User/mcp.json"),
    ],
)
def test_the_persons_own_files_lie_where_each_system_keeps_them(home: Path, system: str, desktop: str, code: str):
    _put(home / desktop, {"mcpServers": {"desktop": ONE}})
    _put(home / code, {"servers": {"code": ONE}})
    _put(home / ".cursor/mcp.json", {"mcpServers": {"cursor": ONE}})
    found = _found(home, system=system)
    assert _names(found) == [("Claude Desktop", ["desktop"]), ("Cursor", ["cursor"]), ("VS Code", ["code"])]
    assert all(one.own for one in found)


def test_the_environment_moves_the_persons_own_files(home: Path):
    around = {"APPDATA": "/roaming", "COPILOT_HOME": "/pilot"}
    paths = [path for path, _ in own_files(home, around, "win32")]
    assert Path("/roaming/Claude/claude_desktop_config.json") in paths
    assert Path("/pilot/mcp-config.json") in paths


def test_claude_code_has_servers_for_all_projects_and_for_one(home: Path):
    projects = {
        str(home / "work"): {"mcpServers": {"here": {"command": "local"}, "both": {"command": "local"}}},
        str(home / "other"): {"mcpServers": {"elsewhere": ONE}},
    }
    user = {"all": ONE, "both": {"command": "user"}}
    _put(home / ".claude.json", {"numStartups": 7, "mcpServers": user, "projects": projects})
    (found,) = _found(home)
    specs = [entry for entry in found.entries if isinstance(entry, ServerSpec)]
    assert [(spec.name, spec.command) for spec in specs] == [("here", "local"), ("both", "local"), ("all", "one")]
    assert specs[0].folder == str(home / "work/deep")


def test_files_about_something_else_are_passed_over(home: Path):
    _put(home / "work/pyproject.toml", '[project]\nname = "x"\n')
    _put(home / "work/server.json", {"port": 80})
    assert _found(home) == []


def test_an_unreadable_file_is_told_and_costs_nothing_else(home: Path):
    _put(home / "work/.mcp.json", "{oops")
    _put(home / "work/.vscode/mcp.json", {"servers": {"good": ONE, "bad": {"args": []}}})
    broken, good = _found(home)
    assert broken.problem is not None
    assert "is not JSON" in str(broken.problem)
    assert [isinstance(entry, ServerSpec) for entry in good.entries] == [True, False]


def test_links_in_a_circle_are_one_line(home: Path):
    os.symlink(home / "work/b.json", home / "work/.mcp.json")
    os.symlink(home / "work/.mcp.json", home / "work/b.json")
    (found,) = _found(home)
    assert "Cannot read" in str(found.problem)
    with pytest.raises(ConfigError, match="Cannot read"):
        read_config(home / "work/.mcp.json")


def test_a_file_linked_from_the_project_is_the_one_it_leads_to(home: Path):
    own = _put(home / ".cursor/mcp.json", {"mcpServers": {"mine": ONE}})
    os.symlink(own, home / "work/.mcp.json")
    assert [(one.label, one.own) for one in _found(home)] == [("Cursor", True)]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="whoever may read everything is refused nothing")
def test_a_file_without_leave_to_read_is_one_line(home: Path):
    path = _put(home / "work/.mcp.json", {"mcpServers": {"a": ONE}})
    path.chmod(0)
    (found,) = _found(home)
    assert "Permission denied" in str(found.problem)


def test_what_is_no_file_is_one_line_and_is_not_opened(home: Path):
    os.mkfifo(home / "work/.mcp.json")
    (found,) = _found(home)
    assert "is not a file" in str(found.problem)
    with pytest.raises(ConfigError, match="is not a file"):
        read_config(home)


def test_a_huge_file_is_not_read(home: Path):
    path = home / "work/.mcp.json"
    with path.open("wb") as file:
        file.truncate(10 * 2**20)
    with pytest.raises(ConfigError, match=r"too large for a configuration \(10.0 MB\)"):
        read_config(path)
    assert MAX_BYTES < 10 * 2**20


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_texts_of_editors_are_read_in_their_encodings(home: Path, encoding: str):
    mark = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}.get(encoding, b"")
    path = home / "a.json"
    path.write_bytes(mark + '{"servers": {"ä": {"command": "x", "args": ["ü"]}}}'.encode(encoding))
    (spec,) = read_config(path)
    assert isinstance(spec, ServerSpec)
    assert spec.args == ("ü",)


@pytest.mark.parametrize(
    ("command", "args", "words"),
    [
        (r"C:\Program Files\node\npx.cmd", ["-y", "x"], [r"C:\Program Files\node\npx.cmd", "-y", "x"]),
        (r"C:\tools\server.exe", [r"D:\data\new"], [r"C:\tools\server.exe", r"D:\data\new"]),
        (r"\\host\share\server.exe", [], [r"\\host\share\server.exe"]),
    ],
)
def test_paths_of_windows_stay_to_the_letter(command: str, args: list[str], words: list[str]):
    (spec,) = read_config(json.dumps({"mcpServers": {"a": {"command": command, "args": args}}}))
    assert isinstance(spec, ServerSpec)
    assert [spec.command, *spec.expanded({}).args] == words


def test_a_backslash_that_was_not_doubled_is_one_line_with_its_place():
    with pytest.raises(ConfigError, match="line 1"):
        read_config(r'{"mcpServers": {"a": {"command": "C:\users\x"}}}')


def test_an_unknown_transport_is_named_with_its_line(tmp_path: Path):
    path = _put(
        tmp_path / "a.json", '{"mcpServers": {\n "a": {"type": "websocket", "url": "ws://x"},\n "b": {"command": "x"}}}'
    )
    bad, good = read_config(path)
    assert isinstance(bad, ConfigError)
    assert (bad.line, bad.key) == (2, "mcpServers.a.type")
    assert "'websocket' is not known; use stdio, http or sse" in str(bad)
    assert isinstance(good, ServerSpec)


def test_jupyters_list_has_variables_and_headers_as_pairs():
    entries = [
        {"name": "a", "command": "x", "args": [], "env": [{"name": "K", "value": "v"}]},
        {"type": "http", "name": "b", "url": "https://h/mcp", "headers": [{"name": "X", "value": "y"}]},
        {"name": "a", "command": "z"},
    ]
    twice, b = read_config({"mcp_servers": entries})
    assert isinstance(twice, ConfigError)
    assert isinstance(b, ServerSpec)
    assert b.headers == {"X": "y"}
    (a,) = read_config({"mcp_servers": entries[:1]})
    assert isinstance(a, ServerSpec)
    assert a.env == {"K": "v"}


def test_toml_that_is_none_is_one_line(tmp_path: Path):
    with pytest.raises(ConfigError, match="is not TOML"):
        read_config(_put(tmp_path / "pyproject.toml", "[tool"))
    with pytest.raises(ConfigError, match="No servers"):
        read_config(_put(tmp_path / "pyproject.toml", "[tool.other]\n"))
