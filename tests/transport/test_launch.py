"""What is executed and with which environment, on both kinds of system, as values."""

from __future__ import annotations

import sys

import pytest

from jupyter_mcp.transport import windows
from jupyter_mcp.transport.launch import Launch, LaunchError, allowed, environment

PARENT = {
    "PATH": "/bin",
    "HOME": "/home/x",
    "LC_ALL": "C.UTF-8",
    "https_proxy": "http://proxy",
    "SSL_CERT_FILE": "/ca.pem",
    "OPENAI_API_KEY": "sk-1",
    "MY_TOKEN": "t",
    "BASH_FUNC_x%%": "() { :; }",
    "SHELL": "() { evil; }",
}


def test_a_server_gets_the_allowed_part_of_our_environment() -> None:
    got = environment(parent=PARENT)
    assert set(got) == {"PATH", "HOME", "LC_ALL", "https_proxy", "SSL_CERT_FILE"}


def test_what_is_given_is_added_and_wins() -> None:
    got = environment({"PATH": "/opt", "KEY": "v"}, parent=PARENT)
    assert got["PATH"] == "/opt"
    assert got["KEY"] == "v"
    assert got["HOME"] == "/home/x"


def test_a_variable_of_ours_is_passed_when_it_is_named_and_there() -> None:
    got = environment(pass_env=["MY_TOKEN", "ABSENT"], parent=PARENT)
    assert got["MY_TOKEN"] == "t"
    assert "ABSENT" not in got
    assert "OPENAI_API_KEY" not in got


def test_all_is_inherited_only_on_request() -> None:
    assert environment(inherit=True, parent=PARENT) == PARENT


def test_windows_names_are_allowed_whatever_their_case() -> None:
    assert allowed("Path", windows=True)
    assert allowed("SystemRoot", windows=True)
    assert not allowed("SYSTEMROOT", windows=False)
    assert not allowed("GitHub_Token", windows=True)


# -- Windows: the parts that are values ---------------------------------------------------------------------------

FILES = {r"C:\node\npx.cmd", r"C:\node\npx", r"C:\node\node.exe", r"C:\tools\time.EXE", r"C:\work\serve.bat"}
ENV = {"Path": r"C:\tools;C:\node", "PATHEXT": ".COM;.EXE;.BAT;.CMD"}


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> None:
    lower = {name.lower() for name in FILES}

    def is_file(path: str) -> bool:
        return path.lower() in lower

    monkeypatch.setattr(windows, "is_file", is_file)


@pytest.mark.usefixtures("files")
class TestWindowsCommands:
    def test_npx_is_the_batch_file_and_not_the_script_beside_it(self) -> None:
        assert windows.prepare("npx", ["-y", "x"], ENV, None) == Launch(line=r'"C:\node\npx.cmd" "-y" "x"')

    def test_a_program_is_executed_directly(self) -> None:
        assert windows.prepare("node", ["a b"], ENV, None) == Launch([r"C:\node\node.exe", "a b"])

    def test_a_name_with_its_extension_is_taken_as_it_is(self) -> None:
        assert windows.prepare("time.exe", [], ENV, None) == Launch([r"C:\tools\time.exe"])

    def test_a_relative_path_is_looked_up_in_the_working_folder(self) -> None:
        found = windows.prepare("./serve.bat", [], ENV, "C:\\work")
        assert found.line.endswith('serve.bat"')

    def test_an_absolute_path_needs_no_path(self) -> None:
        assert windows.prepare("C:/node/node", [], {}, None) == Launch([r"C:\node\node.exe"])

    def test_what_is_nowhere_is_named(self) -> None:
        with pytest.raises(LaunchError, match="'uvx' not found") as error:
            windows.prepare("uvx", [], ENV, None)
        assert "2 folders" in str(error.value.hint)


@pytest.mark.parametrize(
    ("argument", "written"),
    [
        ("plain", '"plain"'),
        ("a b", '"a b"'),
        ("a&b|c>d^e", '"a&b|c>d^e"'),
        ('say "hi"', '"say ""hi"""'),
        ("%PATH%", '"%%cd:~,%PATH%%cd:~,%"'),
        ("C:\\dir\\", '"C:\\dir\\\\"'),
        ("", '""'),
    ],
)
def test_an_argument_of_a_batch_file_is_quoted_for_the_command_interpreter(argument: str, written: str) -> None:
    assert windows.batch_line("x.cmd", [argument]) == f'"x.cmd" {written}'


def test_a_batch_file_cannot_be_given_a_line_end() -> None:
    with pytest.raises(LaunchError, match="line end"):
        windows.batch_line("x.cmd", ["a\nb"])


def test_a_windows_server_has_a_group_of_its_own_and_no_window() -> None:
    assert windows.spawn_options()["creationflags"] == 0x200 | 0x08000000


def test_a_windows_tree_without_job_objects_is_ended_by_taskkill(monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[list[str]] = []

    def run(command: list[str], **_: object) -> object:
        commands.append(command)
        return type("Done", (), {"stdout": b"python.exe  4711 Console"})()

    monkeypatch.setattr(windows.subprocess, "run", run)
    monkeypatch.setattr(windows.Tree, "_make_job", lambda self: None)  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    tree = windows.Tree(4711)
    assert tree.alive()
    tree.kill()
    assert commands[-1] == ["taskkill", "/T", "/F", "/PID", "4711"]
    tree.close()


# -- POSIX: the process table as text -----------------------------------------------------------------------------

if sys.platform != "win32":
    from jupyter_mcp.transport import posix

    def test_a_stat_line_with_parentheses_in_the_name_is_read() -> None:
        stat = b"42 (a) b (c)) S 7 42 40 0 -1 4194560 1 0 0 0 1 2 0 0 20 0 1 0 98765 1000 10"
        process = posix.parse_stat(42, stat)
        assert (process.parent, process.group, process.session) == (7, 42, 40)
        assert process.start == "98765"
        assert not process.zombie

    def test_the_table_of_ps_is_read() -> None:
        text = "  1  0  1 Ss   Mon Jan  1 00:00:00 2026\n 77  1 77 Z+   Mon Jan  1 00:00:09 2026\nodd line\n"
        table = posix.parse_ps(text)
        assert set(table) == {1, 77}
        assert table[77].zombie
        assert table[77].session == 77
        assert table[1].start == "Mon Jan  1 00:00:00 2026"

    def test_both_sources_agree_about_this_process() -> None:
        import os

        if not posix.PROC.exists():
            pytest.skip("no /proc here")
        by_proc, by_ps = posix._from_proc()[os.getpid()], posix._from_ps()[os.getpid()]  # pyright: ignore[reportPrivateUsage]
        assert (by_proc.parent, by_proc.group) == (by_ps.parent, by_ps.group)
