"""How a server is written down: a line, a mapping, a file, a cell body."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.errors import ConfigError, UsageError
from jupyter_mcp.host.specs import ServerSpec, parse_body, read_config
from jupyter_mcp.host.specs.expand import Surroundings, expand, variables

if TYPE_CHECKING:
    from pathlib import Path

AROUND = Surroundings({"A": "1", "EMPTY": "", "TRICKY": "${A} }$"}, "/w/project", {"id": "your key"})


class InMemory:
    async def serve(self, transport: Any) -> None:
        del transport


# --- one spec --------------------------------------------------------------------------------------------------------


def test_demo_without_a_target_is_the_bundled_demo_server():
    spec = ServerSpec.parse("demo")
    assert (spec.kind, spec.command, spec.args) == ("stdio", sys.executable, ("-m", "jupyter_mcp.demo"))
    assert spec.describe() == "python -m jupyter_mcp.demo"


def test_another_name_without_a_target_says_what_is_needed():
    with pytest.raises(UsageError, match="time needs a command or a URL") as error:
        ServerSpec.parse("time", [])
    assert error.value.usage


@pytest.mark.parametrize(
    ("target", "command", "args"),
    [
        ("mcp-server-time", "mcp-server-time", ()),
        ("npx -y 'a b' --x=1", "npx", ("-y", "a b", "--x=1")),
        (
            ["mcp-server-time", "--local-timezone", "Europe/Paris"],
            "mcp-server-time",
            ("--local-timezone", "Europe/Paris"),
        ),
        (["a b", "c d"], "a b", ("c d",)),
    ],
)
def test_a_command_is_a_string_quoted_as_in_a_shell_or_a_list_of_words(target: Any, command: str, args: Any):
    spec = ServerSpec.parse("x", target)
    assert (spec.kind, spec.command, spec.args) == ("stdio", command, args)


def test_a_python_file_that_cannot_be_executed_runs_with_this_python(tmp_path: Path):
    script = tmp_path / "my server.py"
    script.write_text("")
    spec = ServerSpec.parse("x", str(script))
    assert (spec.command, spec.args) == (sys.executable, (str(script),))


def test_an_open_quote_is_one_clear_line():
    with pytest.raises(UsageError, match="Cannot read the command"):
        ServerSpec.parse("x", "npx 'a")


def test_a_url_is_http_and_nothing_may_follow_it():
    assert ServerSpec.parse("x", "https://h/mcp").kind == "http"
    with pytest.raises(UsageError, match="nothing may follow the URL"):
        ServerSpec.parse("x", ["https://h/mcp", "--flag"])
    with pytest.raises(UsageError, match="ftp://"):
        ServerSpec.parse("x", "ftp://h/mcp")


def test_an_object_with_serve_is_a_server_in_memory_and_another_object_is_not():
    server = InMemory()
    assert ServerSpec.parse("x", server).server is server
    assert ServerSpec.parse("x", server) == ServerSpec.parse("x", server)
    with pytest.raises(UsageError, match="a int is not a server"):
        ServerSpec.parse("x", 5)


@pytest.mark.parametrize("name", ["", "a.b", "a b", "é", "x" * 33, "a/b", "a\n"])
def test_a_name_outside_the_rule_is_refused_with_one_that_works(name: str):
    with pytest.raises(UsageError, match="cannot name a server") as error:
        ServerSpec.parse(name, "cmd")
    suggestion = (error.value.hint or "").removeprefix("For example: ")
    assert ServerSpec.parse(suggestion, "cmd")


def test_options_that_do_not_go_together_are_refused():
    with pytest.raises(UsageError, match="headers does not go with it"):
        ServerSpec.parse("x", "cmd", headers={"A": "b"})
    with pytest.raises(UsageError, match="env does not go with it"):
        ServerSpec.parse("x", "https://h", env={"A": "b"})
    with pytest.raises(UsageError, match="no option timout") as error:
        ServerSpec.parse("x", "cmd", timout=3)
    assert error.value.hint == "Did you mean timeout?"
    with pytest.raises(UsageError, match="era is auto, legacy or modern"):
        ServerSpec.parse("x", "cmd", era="old")
    for wrong in (0, -1, "soon", float("nan"), float("inf")):
        with pytest.raises(UsageError, match="number of seconds"):
            ServerSpec.parse("x", "cmd", timeout=wrong)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("127.0.0.1:8000/mcp", "http://127.0.0.1:8000/mcp"),
        ("localhost:8000", "http://localhost:8000"),
        ("http:/h.example/mcp", "http://h.example/mcp"),
        ("https:h.example", "https://h.example"),
        ("[::1]:8000/mcp", "http://[::1]:8000/mcp"),
    ],
)
def test_an_address_without_its_beginning_is_no_command(written: str, meant: str):
    with pytest.raises(UsageError, match=re.escape(f"Perhaps {meant}")):
        ServerSpec.parse("x", written)


@pytest.mark.parametrize("command", ["server.py", "./run", "mcp-server-time", "C:\\tools\\x.exe", "a.b", "x:y"])
def test_what_looks_little_like_an_address_stays_a_command(command: str):
    assert ServerSpec.parse("x", [command]).kind == "stdio"


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://h:99999/mcp", "from 1 to 65535"),
        ("http://h:port/mcp", "from 1 to 65535"),
        ("http:///mcp", "no host"),
        ("http://mcp-server-time --utc", "a command is written without http://"),
        ("http://[::1/mcp", "no host"),
    ],
)
def test_a_url_that_cannot_be_one_is_refused_with_the_reason(url: str, why: str):
    with pytest.raises(UsageError, match=re.escape(why)):
        ServerSpec.parse("x", [url])


def test_a_url_from_the_environment_is_a_url(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("WHERE", "https://h/mcp?key=k-12345")
    spec = ServerSpec.parse("x", "${WHERE}", bearer="${TOKEN}")
    assert (spec.kind, spec.url) == ("http", "${WHERE}")
    assert "k-12345" not in repr(spec)


def test_env_words_set_or_pass_variables():
    spec = ServerSpec.parse("x", "cmd", env=["A=1=2", "B"])
    assert (dict(spec.env), spec.pass_env) == ({"A": "1=2"}, ("B",))
    assert dict(spec.expanded({"B": "own"}).env) == {"A": "1=2", "B": "own"}
    with pytest.raises(ConfigError, match="variable B, which x is to get, is not set") as error:
        spec.expanded({})
    assert error.value.key == "env.B"


def test_placeholders_are_kept_until_connecting_and_an_unset_one_is_named():
    spec = ServerSpec.parse("x", ["cmd", "${A}"], env={"KEY": "${SECRET}"})
    assert spec.args == ("${A}",)
    filled = spec.expanded({"A": "1", "SECRET": "s3cret"})
    assert (filled.args, filled.env["KEY"]) == (("1",), "s3cret")
    with pytest.raises(ConfigError, match=r"SECRET is not set \(in env\.KEY\)\. Set it"):
        spec.expanded({"A": "1"})


def test_a_description_shows_names_and_never_values():
    spec = ServerSpec.parse(
        "x",
        [
            "/opt/bin/srv",
            "--api-key=k-12345",
            "--token",
            "t-12345",
            "--name",
            "bob",
            "-H",
            "Authorization: Bearer b-12345",
        ],
        env={"API_KEY": "v-12345", "PLAIN": "p-12345"},
    )
    text = spec.describe()
    assert text.startswith("srv --api-key=")
    assert "--name bob" in text
    assert "(env: API_KEY, PLAIN)" in text
    assert "12345" not in text
    assert "12345" not in repr(spec)


def test_a_url_is_described_without_its_secrets():
    spec = ServerSpec.parse("x", "https://ann:pw-12345@h.org/mcp?api_key=k-12345&page=2", headers={"X-Key": "h-12345"})
    assert "12345" not in spec.describe()
    assert "h.org/mcp" in spec.describe()
    assert "page=2" in spec.describe()
    assert "(headers: X-Key)" in spec.describe()


def test_placeholders_stay_readable_in_a_description():
    assert "--token ${MY_TOKEN}" in ServerSpec.parse("x", ["srv", "--token", "${MY_TOKEN}"]).describe()


# --- placeholders ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no placeholder $A {A}", "no placeholder $A {A}"),
        ("<${A}>", "<1>"),
        ("${env:A}", "1"),
        ("${X:-d}", "d"),
        ("${EMPTY:-d}", "d"),
        ("${EMPTY}", ""),
        ("${X:-}", ""),
        ("${X:-${A}/${Y:-z}}", "1/z"),
        ("${X:-a:-b}", "a:-b"),
        ("${env:X:-d}", "d"),
        ("${workspaceFolder}/x", "/w/project/x"),
        ("${workspaceFolderBasename}", "project"),
        ("$${A}", "${A}"),
        ("${TRICKY}", "${A} }$"),
        ("${A", "${A"),
        ("${#x} ${}", "${#x} ${}"),
    ],
)
def test_placeholders_are_filled_once(text: str, value: str):
    assert expand(text, AROUND) == value


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("${NOPE}", "NOPE is not set"),
        ("${env:NOPE}", "NOPE is not set"),
        ("${input:id}", r"Nobody has given \$\{input:id\} \(your key\) yet"),
        ("${input:other}", r"There is no input other"),
        ("${command:x}", "means nothing here"),
        ("${user_config.key}", "means nothing here"),
    ],
)
def test_a_placeholder_that_cannot_be_filled_is_named(text: str, words: str):
    with pytest.raises(ConfigError, match=words) as error:
        expand(text, AROUND, key="args[0]", file="f.json")
    assert (error.value.key, error.value.file) == ("args[0]", "f.json")


def test_the_variables_of_a_value_are_known_without_filling_it():
    assert variables("${A}-${env:B}-${C:-x}-${workspaceFolder}-${input:d}") == ["A", "B", "C"]


# --- files -----------------------------------------------------------------------------------------------------------

FILE_A = """{
  // demo servers
  "inputs": [
    {"id": "house", "type": "promptString", "description": "House domain",},
    {"id": "house-token", "type": "promptString", "description": "Token", "password": true},
  ],
  "servers": {
    "house": {"type": "http", "url": "https://${input:house}/mcp", "headers": {"A": "Bearer ${input:house-token}",}},
    "local": {"command": "python", "args": ["${workspaceFolder}/x.py"], /* "env": {}, */ "dev": {"watch": "**/*.py"}},
    "legacy": {"type": "sse", "url": "http://127.0.0.1:9/sse"},
    "off": {"command": "python", "args": [], "disabled": true},
    "broken": {"args": ["no command here"]},
  }
}
"""


def _write(folder: Path, text: str | bytes) -> Path:
    path = folder / ".vscode" / "mcp.json"
    path.parent.mkdir()
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize("data", [FILE_A.encode(), b"\xef\xbb\xbf" + FILE_A.replace("\n", "\r\n").encode()])
def test_a_file_with_comments_trailing_commas_bom_and_crlf_is_read_entry_by_entry(tmp_path: Path, data: bytes):
    path = _write(tmp_path, data)
    entries = read_config(path)
    house, local, legacy, off, broken = entries
    assert isinstance(house, ServerSpec)
    assert isinstance(local, ServerSpec)
    assert isinstance(legacy, ServerSpec)
    assert isinstance(off, ServerSpec)
    assert isinstance(broken, ConfigError)
    assert (house.kind, legacy.transport, off.disabled) == ("http", "sse", True)
    assert local.expanded({}).args == (f"{tmp_path}/x.py",)
    assert (broken.server, broken.line, broken.key) == ("broken", 12, "servers.broken.command")
    assert "broken has no command and no url" in str(broken)
    with pytest.raises(ConfigError, match=r"Nobody has given \$\{input:house\} \(House domain\) yet"):
        house.expanded({})
    assert path.read_bytes() == data


def test_an_empty_list_of_servers_is_said():
    with pytest.raises(ConfigError, match="No servers in the configuration"):
        read_config('{"servers": {}}')


def test_a_key_written_twice_is_reported_and_neither_is_used(tmp_path: Path):
    path = _write(
        tmp_path, '{"servers": {"a": {"command": "python"},\n "b": {"command": "x"},\n "a": {"command": "node"}}}'
    )
    twice, good = read_config(path)
    assert isinstance(twice, ConfigError)
    assert isinstance(good, ServerSpec)
    assert (twice.line, twice.key, good.name) == (3, "servers.a", "b")
    assert "written twice" in str(twice)


def test_text_that_is_not_json_is_one_line_with_its_place(tmp_path: Path):
    path = _write(tmp_path, "hello")
    with pytest.raises(ConfigError, match=r"is not JSON: .*\(line 1, column 1\)") as error:
        read_config(path)
    assert (error.value.line, error.value.file) == (1, str(path))
    assert "\n" not in str(error.value)


def test_a_missing_file_and_an_undecodable_one_are_one_line(tmp_path: Path):
    with pytest.raises(ConfigError, match="There is no file"):
        read_config(tmp_path / "nope.json")
    with pytest.raises(ConfigError, match=r"not UTF-8 text \(line 2\)"):
        read_config(_write(tmp_path, b'{\n"a": "\xff\xfe"}'))


def test_utf_16_files_of_windows_are_read(tmp_path: Path):
    (spec,) = read_config(_write(tmp_path, '{"servers": {"a": {"command": "x"}}}'.encode("utf-16")))
    assert isinstance(spec, ServerSpec)


@pytest.mark.parametrize(
    ("entry", "kind", "transport"),
    [
        ({"url": "https://h"}, "http", "auto"),
        ({"type": "streamableHttp", "url": "https://h"}, "http", "http"),
        ({"transport": "streamable-http", "url": "https://h"}, "http", "http"),
        ({"transport": {"type": "sse"}, "url": "https://h"}, "http", "sse"),
        ({"type": "stdio", "command": "x"}, "stdio", "auto"),
        ({"type": "local", "command": ["x", "y"]}, "stdio", "auto"),
        ({"serverUrl": "https://h"}, "http", "auto"),
    ],
)
def test_the_spellings_of_a_type_are_understood(entry: dict[str, Any], kind: str, transport: str):
    (spec,) = read_config({"mcpServers": {"a": entry}})
    assert isinstance(spec, ServerSpec)
    assert (spec.kind, spec.transport) == (kind, transport)


BAD: list[tuple[Any, str]] = [
    ("x", "not an object"),
    (None, "not an object"),
    ({}, "no command and no url"),
    ({"command": 5}, "command is not a text"),
    ({"command": "x", "args": 5}, "args is not a list"),
    ({"command": "x", "args": [{}]}, "args is not a list"),
    ({"command": "x", "env": ["A=1"]}, "env is not an object"),
    ({"command": "x", "env": {"A": {}}}, r"env\.A is not a text"),
    ({"command": []}, "no command"),
    ({"type": "carrier-pigeon", "url": "x"}, "type 'carrier-pigeon' is not known"),
    ({"type": "http"}, "has no url"),
    ({"type": "stdio", "url": "https://h"}, "no command"),
]


@pytest.mark.parametrize(("entry", "words"), BAD)
def test_a_bad_entry_costs_that_entry(entry: Any, words: str):
    bad, good = read_config({"mcpServers": {"bad": entry, "good": {"command": "x"}}})
    assert isinstance(bad, ConfigError)
    assert isinstance(good, ServerSpec)
    with pytest.raises(ConfigError, match=words):
        raise bad


def test_values_of_env_that_are_no_texts_are_written_out():
    (spec,) = read_config({"mcpServers": {"a": {"command": "x", "env": {"N": 1, "B": True, "Z": None}}}})
    assert isinstance(spec, ServerSpec)
    assert dict(spec.env) == {"N": "1", "B": "true"}


def test_a_command_written_as_one_line_is_split():
    (spec,) = read_config({"mcpServers": {"a": {"command": "npx -y pkg"}}})
    assert isinstance(spec, ServerSpec)
    assert (spec.command, spec.args) == ("npx", ("-y", "pkg"))


def test_a_name_of_another_host_becomes_a_valid_one_with_a_note_and_twins_are_reported():
    first, second = read_config({"mcpServers": {"My Server": {"command": "x"}, "My.Server": {"command": "y"}}})
    assert isinstance(first, ServerSpec)
    assert first.name == "My-Server"
    assert "'My Server' is called My-Server here" in first.notes[0]
    assert isinstance(second, ConfigError)
    assert "named twice" in str(second)


def test_milliseconds_are_told_from_seconds():
    entries = read_config({"mcpServers": {n: {"command": "x", "timeout": t} for n, t in {"a": 30, "b": 30000}.items()}})
    assert [entry.timeout for entry in entries if isinstance(entry, ServerSpec)] == [30, 30]


# --- bodies ----------------------------------------------------------------------------------------------------------


def test_a_body_names_one_server_a_line():
    entries = parse_body("# mine\ntime: mcp-server-time --tz 'a # b'  # the clock\n\ndemo:\ndocs: https://h/mcp#top\n")
    assert [entry.name for entry in entries if isinstance(entry, ServerSpec)] == ["time", "demo", "docs"]
    time, demo, docs = entries
    assert isinstance(time, ServerSpec)
    assert isinstance(demo, ServerSpec)
    assert isinstance(docs, ServerSpec)
    assert time.args == ("--tz", "a # b")
    assert demo.args == ("-m", "jupyter_mcp.demo")
    assert docs.url == "https://h/mcp#top"


def test_a_bad_line_costs_that_line():
    bad, url, name, good = parse_body("mcp-server-time\nhttps://h/mcp\na.b: x\ntime: mcp-server-time")
    assert isinstance(good, ServerSpec)
    for number, entry in enumerate((bad, url, name), 1):
        assert isinstance(entry, ConfigError)
        assert entry.line == number
        assert str(number) in str(entry)


def test_a_body_may_be_json_and_an_empty_one_is_said():
    (spec,) = parse_body('\n{"mcpServers": {"time": {"command": "mcp-server-time"}}}')
    assert isinstance(spec, ServerSpec)
    with pytest.raises(ConfigError, match="names no servers"):
        parse_body(" \n# nothing\n")


def test_the_folders_of_a_command_are_those_its_arguments_name(tmp_path: Path):
    (tmp_path / "a").mkdir()
    (tmp_path / "file.db").touch()
    words = ["run", "a", "--root=a", str(tmp_path), "file.db", "-v", "", "x" * 5000, "nul\0", "~nobody-of-that-name"]
    spec = ServerSpec.parse("it", ["server", *words], cwd=str(tmp_path))
    assert spec.folders() == [tmp_path / "a", tmp_path / "a", tmp_path]
    assert ServerSpec.parse("it", "https://example.org/mcp").folders() == []
