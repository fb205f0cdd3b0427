"""Servers written into a configuration file: what is kept, what is asked, and what is never written."""

from __future__ import annotations

import json
import os
import stat
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.errors import ConfigError, UsageError
from jupyter_mcp.host.questions import Answer
from jupyter_mcp.host.saving import Saved, nearest_file, save
from jupyter_mcp.host.specs import ServerSpec, read_config
from jupyter_mcp.host.specs.jsonedit import put
from jupyter_mcp.host.specs.saving import merged, written

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio


class Asked:
    """Answers whether an entry may be replaced; keeps the questions."""

    def __init__(self, action: Any = "accept") -> None:
        self.messages: list[str] = []
        self._action = action

    async def __call__(self, message: str) -> Answer:
        self.messages.append(message)
        return Answer(self._action)


FILE = """\
// of the team
{
    "$schema": "x",
    "mcpServers": {
        // first
        "old": {"command": "a", "args": ["b"], "autoApprove": ["*"]}, // why
        "off": {"url": "https://h/mcp", "disabled": true,},
    },
    "theirs": [1, {"k": "}"}],
}
"""


async def test_a_new_file_is_one_that_reads_back_as_the_same_servers(tmp_path: Path):
    specs = [
        ServerSpec.parse("a", ["cmd", "x y"], env={"K": "v", "HOME_KEY": None}, cwd="sub", timeout=30),
        ServerSpec.parse("b", "https://h/mcp", headers={"X": "${X}"}, era="modern"),
        ServerSpec.parse("c", "https://h/sse", transport="sse", proxy="none"),
        ServerSpec.parse("d", ["cmd"], sandbox={"network": True, "write": ["/tmp/x"]}),
    ]
    path = tmp_path / "new" / ".mcp.json"
    done = await save(specs, path, Asked())
    assert [one.outcome for one in done] == ["written"] * 4
    back = {spec.name: spec for spec in read_config(path) if isinstance(spec, ServerSpec)}
    assert (back["a"].command, back["a"].args, back["a"].cwd, back["a"].timeout) == ("cmd", ("x y",), "sub", 30)
    assert back["a"].env == {"K": "v", "HOME_KEY": "${HOME_KEY}"}
    assert (back["b"].url, back["b"].headers, back["b"].era) == ("https://h/mcp", {"X": "${X}"}, "modern")
    assert (back["c"].transport, back["c"].way.proxy) == ("sse", "")
    assert back["d"].sandbox == specs[3].sandbox
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


async def test_everything_else_in_the_file_stays_to_the_letter(tmp_path: Path):
    path = tmp_path / ".mcp.json"
    path.write_text(FILE)
    await save([ServerSpec.parse("new", ["cmd"])], path, Asked())
    text = path.read_text()
    added = '\n        "new": {\n            "command": "cmd",\n            "args": []\n        },'
    assert text.replace(added, "") == FILE
    assert [getattr(spec, "name", None) for spec in read_config(path)] == ["old", "off", "new"]


async def test_saving_again_writes_nothing(tmp_path: Path):
    path = tmp_path / ".mcp.json"
    path.write_text(FILE)
    before = path.stat().st_mtime_ns
    asked = Asked()
    assert await save([ServerSpec.parse("old", ["a", "b"])], path, asked) == [Saved("old", "as it was")]
    assert (asked.messages, path.stat().st_mtime_ns, path.read_text()) == ([], before, FILE)


async def test_an_entry_that_differs_is_replaced_after_a_yes_and_keeps_what_is_unknown(tmp_path: Path):
    path = tmp_path / ".mcp.json"
    path.write_text(FILE)
    asked = Asked()
    (done,) = await save([ServerSpec.parse("old", ["other"], env={"MY_TOKEN": "${T}"})], path, asked)
    assert done.outcome == "replaced"
    assert "has another old already" in asked.messages[0]
    assert "there: a b" in asked.messages[0]
    assert "here: other (env: MY_TOKEN)" in asked.messages[0]
    text = path.read_text()
    assert '"autoApprove": [' in text
    assert text.startswith("// of the team\n")
    assert "// first\n" in text
    assert "// why\n" in text


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_without_a_yes_the_entry_stays(tmp_path: Path, action: str):
    path = tmp_path / ".mcp.json"
    path.write_text(FILE)
    (done,) = await save([ServerSpec.parse("old", ["other"])], path, Asked(action))
    assert (done.outcome, path.read_text()) == ("kept", FILE)


def test_the_keys_of_an_entry_keep_their_order_and_those_that_do_not_hold_any_more_go():
    old: dict[str, Any] = {"z": 1, "url": "https://h", "headers": {}, "disabled": False}
    assert list(merged(old, {"command": "x", "args": []})) == ["z", "disabled", "command", "args"]


@pytest.mark.parametrize(
    ("spec", "never", "variables"),
    [
        (ServerSpec.parse("s", ["x"], env={"API_KEY": "abc123def"}), "abc123def", ["API_KEY"]),
        (ServerSpec.parse("s", ["x", "--api-key", "abc123def"]), "abc123def", ["S_API_KEY"]),
        (ServerSpec.parse("s", ["x", "--token=abc123def", "y"]), "abc123def", ["S_TOKEN"]),
        (ServerSpec.parse("s", ["x", "-H", "Authorization: Bearer abc123def"]), "abc123def", ["S_AUTHORIZATION"]),
        (ServerSpec.parse("s", ["x", "postgres://u:abc123def@h/db"]), "abc123def", ["S_PASSWORD"]),
        (ServerSpec.parse("my-s", "https://h/mcp", bearer="abc123def"), "abc123def", ["MY_S_AUTHORIZATION"]),
        (ServerSpec.parse("s", "https://u:abc123def@h/mcp"), "abc123def", ["S_PASSWORD"]),
        (ServerSpec.parse("s", "https://h/mcp?api_key=abc123def&n=1"), "abc123def", ["S_API_KEY"]),
        (ServerSpec.parse("s", "https://h/mcp", headers={"X-Api-Key": "abc123def"}), "abc123def", ["S_X_API_KEY"]),
        (ServerSpec.parse("s", ["x", "ghp_" + "a1B2c3D4" * 5]), "a1B2c3D4a1B2", ["S_SECRET"]),
        (ServerSpec.parse("s", "https://h/mcp", proxy="http://u:abc123def@p:1"), "abc123def", ["S_PASSWORD"]),
    ],
)
async def test_a_secret_that_was_typed_out_is_named_and_not_written(
    spec: ServerSpec, never: str, variables: list[str], tmp_path: Path
):
    path = tmp_path / ".mcp.json"
    (done,) = await save([spec], path, Asked())
    text = path.read_text()
    assert never not in text
    assert all(f"${{{name}}}" in text for name in variables)
    assert f"Set {variables[0]} in the environment: no secret is written." in done.note
    (back,) = read_config(path)
    assert isinstance(back, ServerSpec)
    filled = back.expanded(dict.fromkeys(variables, never))
    assert never in repr((filled.args, dict(filled.env), filled.url, dict(filled.headers), vars(filled.way)))


async def test_nothing_expanded_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("DOCS_KEY", "value-of-the-key")
    spec = ServerSpec.parse("docs", "https://${DOCS_HOST:-h}/mcp", bearer="${DOCS_KEY}")
    path = tmp_path / ".mcp.json"
    (done,) = await save([spec], path, Asked())
    text = path.read_text()
    assert "value-of-the-key" not in text
    assert '"Bearer ${DOCS_KEY}"' in text
    assert "https://${DOCS_HOST:-h}/mcp" in text
    assert done.note == ""


async def test_inputs_go_along_once_and_without_their_values(tmp_path: Path):
    inputs = [{"id": "tok", "type": "promptString", "description": "Token", "password": True}]
    config = {"inputs": inputs, "servers": {"a": {"command": "x", "env": {"T": "${input:tok}"}}}}
    (spec,) = read_config(config)
    assert isinstance(spec, ServerSpec)
    path = tmp_path / "mcp.json"
    path.write_text('{"servers": {}}')
    await save([spec], path, Asked())
    await save([ServerSpec.parse("b", ["x"])], path, Asked())
    data = json.loads(path.read_text())
    assert data["inputs"] == inputs
    assert list(data["servers"]) == ["a", "b"]


def test_the_demo_is_written_without_the_path_of_this_python():
    assert written(ServerSpec.parse("demo")).entry == {"command": "python", "args": ["-m", "jupyter_mcp.demo"]}


async def test_what_no_file_can_say_is_said(tmp_path: Path):
    class Object:
        async def serve(self, transport: Any) -> None: ...

    specs = [ServerSpec.parse("m", Object()), ServerSpec.parse("t", ["x"], trust=True)]
    memory, trusted = await save(specs, tmp_path / "a.json", Asked())
    assert memory.outcome == "not written"
    assert "object of this kernel" in memory.note
    assert "trust of t is not written" in trusted.note


async def test_a_file_that_cannot_be_read_is_never_rewritten(tmp_path: Path):
    path = tmp_path / ".mcp.json"
    for text, words in (("{oops", "is not JSON"), ("[1]", "no JSON object"), ('{"mcpServers": []}', "not an object")):
        path.write_text(text)
        with pytest.raises(ConfigError, match=words):
            await save([ServerSpec.parse("a", ["x"])], path, Asked())
        assert path.read_text() == text
    with pytest.raises(UsageError, match="TOML"):
        await save([ServerSpec.parse("a", ["x"])], tmp_path / "pyproject.toml", Asked())


async def test_a_change_made_meanwhile_is_not_overwritten(tmp_path: Path):
    path = tmp_path / ".mcp.json"
    path.write_text(FILE)

    async def confirm(message: str) -> Answer:
        path.write_text("{}")
        return Answer("accept")

    with pytest.raises(ConfigError, match="has changed meanwhile"):
        await save([ServerSpec.parse("old", ["other"])], path, confirm)
    assert path.read_text() == "{}"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
async def test_encoding_line_ends_rights_and_links_stay(tmp_path: Path, encoding: str):
    real = tmp_path / "real.json"
    text = '{\r\n  "mcpServers": {\r\n    "ä": {"command": "x"}\r\n  }\r\n}\r\n'
    real.write_bytes(text.encode(encoding))
    real.chmod(0o600)
    link = tmp_path / ".mcp.json"
    link.symlink_to(real)
    await save([ServerSpec.parse("n", ["x"])], link, Asked())
    data = real.read_bytes()
    assert link.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o600
    assert data[:2] == text.encode(encoding)[:2]
    written_text = data.decode(encoding)
    assert "\n" not in written_text.replace("\r\n", "")
    assert sorted(os.listdir(tmp_path)) == [".mcp.json", "real.json"]


def test_the_file_is_the_nearest_that_is_there_else_a_new_one(tmp_path: Path):
    (tmp_path / ".git").mkdir()
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    assert nearest_file(deep) == deep / ".mcp.json"
    (tmp_path / ".mcp.json").write_text("{}")
    assert nearest_file(deep) == tmp_path / ".mcp.json"


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "{ }",
        "// head\n{\n}\n",
        '{"a": 1}',
        '{"s": {"x": {"k": "}"},},}',
        '{\n  "s": {\n    // none yet\n  }\n}',
        '{\n  "s": {\n    "x": 1 // last\n  }\n}',
        '{\n  "s": {\n    "x": 1 /* last */\n  }\n}',
        '{\n\t"s": {\n\t\t"x": [1, {"y": "//"}], // c\n\t}, /* d */\n}',
        "{s: {'x': 1}}",
        '{"s": {"x": "a\\"}"}, "t": -1.5e3}',
    ],
)
def test_a_member_is_put_into_any_json_that_people_write(text: str):
    from jupyter_mcp.host.specs import jsonc

    once = put(text, ("s", "new"), {"k": [1]})
    twice = put(once, ("s", "new"), "v")
    before, after = jsonc.parse(text), jsonc.parse(twice)
    assert jsonc.parse(once)["s"]["new"] == {"k": [1]}
    assert after["s"].pop("new") == "v"
    assert after == {**before, "s": before.get("s", {})}
    for remark in ("// head", "// none yet", "// last", "/* last */", "// c", "/* d */"):
        assert (remark in twice) == (remark in text)
