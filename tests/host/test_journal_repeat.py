"""The cell that repeats a recorded call: it means the same, and no secret is in it."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from jupyter_mcp.errors import UsageError
from jupyter_mcp.host.journal import MAX_MESSAGE, Journal
from jupyter_mcp.host.journal.repeat import Repeat, repeat_act, repeat_message
from jupyter_mcp.transport.traffic import HttpEvent


def act(name: str, arguments: Any, method: str = "tools/call") -> Repeat:
    journal = Journal()
    journal.begin("demo", method, name, "person", arguments=arguments)
    return repeat_act(journal.acts()[0])


def ran(repeat: Repeat, environ: dict[str, str]) -> list[Any]:
    """What the Python form does, with `mcp` and the environment made up."""
    did: list[Any] = []

    class Named(dict[str, Any]):
        def __missing__(self, name: str) -> Any:
            def call(sent: Any = None) -> None:
                did.append((name, sent))

            def prompt(**sent: Any) -> None:
                did.append((name, sent))

            return SimpleNamespace(call=call) if repeat.method == "tools/call" else prompt

    server = SimpleNamespace(tools=Named(), prompts=Named(), read=did.append)
    body = [line for line in repeat.python.splitlines() if not line.startswith("import ")]
    exec("\n".join(body), {"mcp": SimpleNamespace(servers={"demo": server}), "os": SimpleNamespace(environ=environ)})
    return did


def test_a_call_is_a_line_with_json() -> None:
    repeat = act("add", {"a": 1, "b": "2"})
    assert repeat.magic == '%mcp call demo add {"a": 1, "b": "2"}'
    assert ran(repeat, {}) == [("add", {"a": 1, "b": "2"})]
    assert act("hello", {}).magic == "%mcp call demo hello"
    assert ran(act("hello", {}), {}) == [("hello", None)]


def test_long_arguments_are_the_body_of_a_cell() -> None:
    first, _, body = act("add", {"text": "x" * 100}).magic.partition("\n")
    assert first == "%%mcp call demo add"
    assert json.loads(body) == {"text": "x" * 100}


def test_reads_and_prompts_are_repeated_too() -> None:
    read = act("notes://today?x=1", {}, "resources/read")
    assert read.magic == "%mcp read demo 'notes://today?x=1'"
    assert ran(read, {}) == ["notes://today?x=1"]
    prompt = act("review", {"language": "python"}, "prompts/get")
    assert prompt.magic == '%mcp prompt demo review {"language": "python"}'
    assert ran(prompt, {}) == [("review", {"language": "python"})]


def test_secrets_are_placeholders_by_the_name_of_their_argument_and_filled_from_the_environment() -> None:
    sent = {"user": "ann", "accessToken": "abc", "deep": [{"password": "hunter2"}, {"password": "hunter3"}]}
    repeat = act("login", sent)
    assert repeat.fills == ("ACCESS_TOKEN", "PASSWORD", "PASSWORD_2")
    assert "--fill ACCESS_TOKEN --fill PASSWORD --fill PASSWORD_2" in repeat.magic
    assert '"accessToken": "${ACCESS_TOKEN}"' in repeat.magic
    assert [one for one in ("abc", "hunter2", "hunter3") if one in repeat.magic + repeat.python] == []
    environ = {"ACCESS_TOKEN": "abc", "PASSWORD": "hunter2", "PASSWORD_2": "hunter3"}
    assert ran(repeat, environ) == [("login", sent)]


def test_a_secret_inside_a_text_leaves_the_rest_of_it() -> None:
    sent = {"text": "postgresql://ann:hunter2@db/x and ${TEXT}"}
    repeat = act("connect", sent)
    assert repeat.fills == ("TEXT_2",), "a placeholder is called like nothing that stands there"
    assert ran(repeat, {"TEXT_2": "hunter2"}) == [("connect", sent)]
    read = act("db://ann:hunter2@h/x", {}, "resources/read")
    assert read.magic == "%mcp read demo 'db://ann:${SECRET}@h/x' --fill SECRET"
    assert ran(read, {"SECRET": "hunter2"}) == ["db://ann:hunter2@h/x"]


def test_what_cannot_be_said_in_a_line_can_in_python() -> None:
    repeat = act("odd\nname", {"a": float("nan")})
    with pytest.raises(UsageError, match="does not fit in a line"):
        assert repeat.magic
    ((name, sent),) = ran(repeat, {})
    assert (name, str(sent)) == ("odd\nname", "{'a': nan}")


def test_only_calls_of_ours_that_were_kept_whole_can_be_repeated() -> None:
    journal = Journal()
    call = {"id": 1, "method": "tools/call", "params": {"name": "add", "arguments": {"a": 1}}}
    journal.wire("demo", "send", call, 60)
    journal.wire("demo", "receive", {"id": 1, "result": {}}, 20)
    journal.wire("demo", "receive", {**call, "id": 2}, 60)
    journal.wire("demo", "send", {**call, "id": 3}, MAX_MESSAGE + 1)
    sent, *others = journal.entries()
    assert repeat_message(sent).magic == '%mcp call demo add {"a": 1}'
    for entry, why in zip(others, ("The answer to tools/call", "tools/call", "too big"), strict=True):
        with pytest.raises(UsageError, match=why):
            repeat_message(entry)
    with pytest.raises(UsageError, match="ping cannot be repeated"):
        act("x", {}, "ping")


def test_what_http_did_is_not_repeated() -> None:
    journal = Journal()
    journal.http("demo", HttpEvent("cancelled", "POST", None, "tools/call", 1))
    with pytest.raises(UsageError, match="What HTTP did cannot be repeated"):
        repeat_message(journal.entries()[0])
