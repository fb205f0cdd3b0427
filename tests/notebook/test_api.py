"""The Python names: objects, signatures, and that nothing exists in one of the three ways only."""

from __future__ import annotations

import inspect
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

import jupyter_mcp as mcp
from jupyter_mcp.errors import Denied, MCPError, ToolError, UsageError
from jupyter_mcp.notebook import aio, api, verbs
from jupyter_mcp.notebook.objects import Call, Collection, Prompt, Resource, Server, Template, Tool, Tools
from jupyter_mcp.notebook.objects.names import attribute_names, python_name
from jupyter_mcp.notebook.objects.signature import Arguments, annotation, docstring
from jupyter_mcp.notebook.objects.task import Task
from tests.notebook.conftest import echo_server

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def server() -> Iterator[Server]:
    """The echo server, connected in plain Python."""
    yield api.connect("s", echo_server())
    from jupyter_mcp.runtime import state

    state.close()


# --- one vocabulary --------------------------------------------------------------------------------------------------

WITHOUT_PYTHON = {"help": "Python has help() and ?"}
WITHOUT_VERB = {
    "run": "waits for a coroutine; a line cannot hold one",
    "host": "holds what roots, activity, trace, answer and the lists show",
    "aio": "the same names, awaitable",
    "Context": "what a function of a notebook annotates its parameter with",
    "AsyncContext": "the same, for `async def`",
    "tool": "decorates a function",
    "resource": "decorates a function",
    "prompt": "decorates a function; the verb of that name gets a prompt of a server",
    "view": "decorates a function",
}


def test_every_verb_has_its_python_names_and_they_exist():
    for verb in verbs.table().values():
        if verb.name in WITHOUT_PYTHON:
            continue
        assert verb.python, verb.name
        for name in verb.python:
            first, _, rest = name.partition(".")
            classes: dict[str, Any] = {"Server": Server, "Tool": Tool, "Prompt": Prompt, "Resource": Resource}
            classes |= {"Template": Template, "Call": Call, "Task": Task, "host": api.host}
            if rest == "stop":
                continue  # Watch.stop, tried in test_magics
            if first in classes:
                owner = classes[first]
                assert hasattr(owner, rest) or rest in Server(_Entry()).__dict__, name  # type: ignore[arg-type]
            else:
                assert hasattr(mcp, name), name


def test_every_public_function_has_a_verb():
    names = {name for verb in verbs.table().values() for name in verb.python}
    from jupyter_mcp import errors

    for name in mcp.__all__:
        if name in errors.__all__ or name in WITHOUT_VERB or name.startswith("__"):
            continue
        assert name in names, name


def test_the_awaitable_names_are_the_same():
    public = {
        "connect",
        "connect_all",
        "disconnect",
        "answer",
        "ask",
        "allow",
        "deny",
        "ask_first",
        "enable",
        "disable",
        "discover",
        "run",
        "save",
        "login",
        "logout",
        "whoami",
    }
    assert public | {"servers", "host", "policy"} == set(aio.__all__)
    for name in public:
        assert inspect.iscoroutinefunction(getattr(aio, name))


def test_a_name_that_is_not_there_is_no_name():
    with pytest.raises(AttributeError, match="no attribute"):
        _ = mcp.nonsense


def test_the_host_is_the_kernels_and_the_room_of_that_name_can_be_imported():
    import importlib

    importlib.import_module("jupyter_mcp.host.journal")
    assert mcp.host is api.host
    from jupyter_mcp.host.journal import Journal

    assert Journal is not None


class _Entry:
    name = "x"


# --- names -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "attribute"),
    [
        ("get-env", "get_env"),
        ("class", "class_"),
        ("2d", "_2d"),
        ("a.b/c", "a_b_c"),
        ("naïve", "naïve"),
        ("--", ""),
        ("", ""),
        ("日本", "日本"),
    ],
)
def test_python_names(name: str, attribute: str):
    assert python_name(name) == attribute


def test_a_derived_name_is_given_only_when_it_is_unique():
    assert attribute_names(["get-env", "get_env"]) == {"get_env": "get_env"}
    assert attribute_names(["get-env", "get.env"]) == {}
    assert attribute_names(["from", "from_"]) == {"from_": "from_"}


# --- signatures ------------------------------------------------------------------------------------------------------


def signature(properties: dict[str, Any], required: list[str] | None = None, **more: Any) -> str:
    return str(Arguments({"properties": properties, "required": required or [], **more}).signature)


def test_a_signature_comes_from_the_schema():
    found = signature(
        {
            "days": {"type": "integer", "default": 3},
            "city": {"type": "string"},
            "units": {"enum": ["metric", "imperial"]},
            "tags": {"type": "array", "items": {"type": "string"}},
            "limit": {"type": ["number", "null"]},
        },
        ["city"],
    )
    assert (
        found
        == (
            "(city: str, days: int = 3, units: Literal['metric', 'imperial'] = <not sent>, "
            "tags: list[str] = <not sent>, limit: Optional[float] = <not sent>)"
        )
        or "limit: float | None = <not sent>" in found
    )


def test_names_that_are_none_in_python_are_changed_or_go_by_keyword():
    arguments = Arguments({"properties": {"from": {}, "start-date": {}, "--": {}}})
    assert list(arguments.signature.parameters) == ["from_", "start_date", "arguments"]
    bound = arguments.bind((), {"from_": 1, "start-date": 2, "--": 3}, "t")
    assert bound == {"from": 1, "start-date": 2, "--": 3}


@pytest.mark.parametrize(
    "schema", [{}, {"properties": None}, {"properties": []}, {"required": "x"}, {"type": "object"}]
)
def test_an_odd_schema_takes_anything(schema: Any):
    assert Arguments(schema).bind((), {"x": 1}, "t") == {"x": 1}


def test_binding_says_what_is_wrong():
    arguments = Arguments({"properties": {"city": {}}, "additionalProperties": False})
    with pytest.raises(UsageError, match="did you mean 'city'"):
        arguments.bind((), {"citi": 1}, "t")
    with pytest.raises(UsageError, match="takes 1 argument"):
        arguments.bind((1, 2), {}, "t")
    with pytest.raises(UsageError, match="twice"):
        arguments.bind((1,), {"city": 2}, "t")


def test_annotations_help_a_reader():
    assert annotation({"enum": ["a", None]}, {}) == Literal["a", None]
    assert annotation({"anyOf": [{"enum": ["a"]}, {"type": "string"}]}, {}) is str
    assert annotation(None, {}) is Any
    assert annotation({"$ref": "#/$defs/x"}, {"$defs": {"x": {"type": "boolean"}}}) is bool


def test_a_docstring_has_description_and_arguments():
    text = docstring("Title", "Says things.", {"properties": {"a": {"type": "integer", "default": 2}}, "required": []})
    assert text == "Title\n\nSays things.\n\nArgs:\n    a (integer, optional, default 2)"


# --- objects ---------------------------------------------------------------------------------------------------------


def test_a_server_tells_what_it_is(server: Server):
    assert (server.name, server.state, server.era) == ("s", "ready", "modern")
    assert server.revision == "2026-07-28"
    assert server.info["name"] == "echo"
    assert "tools" in server.capabilities
    assert server.stderr == []
    assert server.instructions is None or isinstance(server.instructions, str)
    assert repr(server) == "<Server s ready modern 2026-07-28>"
    assert mcp.servers["s"] is server


def test_tools_are_a_collection(server: Server):
    tools = server.tools
    assert len(tools) == 4
    assert [tool.name for tool in tools] == ["echo", "add", "get-env", "fail"]
    assert tools["add"].name == "add"
    assert tools.get_env.name == "get-env"
    assert tools[1].name == "add"
    assert "add" in tools
    assert "no" not in tools
    assert [tool.name for tool in tools("two numbers")] == ["add"]
    assert isinstance(tools("two"), Tools)
    assert "add" in dir(tools)
    assert hasattr(tools, "add")
    assert not hasattr(tools, "nothing")
    assert [name for name in vars(Collection) if not name.startswith("_")] == []
    with pytest.raises(AttributeError, match="did you mean 'add'"):
        _ = tools.ad
    with pytest.raises(KeyError, match="did you mean 'add'"):
        _ = tools["ad"]
    with pytest.raises(MCPError):
        _ = tools["ad"]


def test_a_tool_is_a_function(server: Server):
    add = server.tools.add
    assert str(inspect.signature(add)) == "(a: int, b: int = 1)"
    assert "Add two numbers." in (inspect.getdoc(add) or "")
    assert add.__name__ == "add"
    assert add(1, 2).text == "3"
    assert add(a=1).text == "2"
    assert add.call({"a": 1}).text == "2"
    assert add.input_schema["required"] == ["a"]
    assert add.output_schema is not None
    assert Tool.__doc__ is not None
    assert "like a function" in Tool.__doc__


def test_wrong_calls_are_usage_errors(server: Server):
    with pytest.raises(UsageError, match="no argument 'c'"):
        server.tools.add(a=1, c=2)
    with pytest.raises(UsageError, match="a"):
        server.tools.add()
    with pytest.raises(UsageError, match="integer"):
        server.tools.add(a="x")


def test_a_failure_raises_and_holds_its_result(server: Server):
    with pytest.raises(ToolError, match="broken") as caught:
        server.tools.fail()
    assert caught.value.result is not None
    assert caught.value.result.is_error
    assert server.tools.fail.call({"why": "x"}, check=False).is_error


def test_notebook_objects_are_sent_as_json(server: Server):
    result = server.tools.echo.call({"path": Path("a"), "many": (1, 2)})
    assert result.data == {"path": "a", "many": [1, 2]}
    with pytest.raises(UsageError, match="nan"):
        server.tools.echo.call({"m": float("nan")})


def test_resources_and_prompts(server: Server):
    assert server.resources["text://hello"].read().text == "hello"
    assert server.resources[0].uri == "text://hello"
    assert server.templates[0](day="monday").text == "note of monday"
    assert server.templates[0].variables == ["day"]
    assert server.read("notes://{day}", day="today").text == "note of today"
    with pytest.raises(UsageError):
        server.read("notes://{day}", dya="today")
    assert str(inspect.signature(server.prompts.review)).startswith("(language: str, style: str")
    assert "python" in server.prompts.review(language="python").text
    assert "42" in server.prompts.review("42").text
    assert server.complete("review", "language", "p") == ["python", "perl"]
    assert server.complete(server.prompts.review, "language", "r") == ["rust"]
    with pytest.raises(UsageError, match="prompts and templates"):
        server.complete(server.tools.add, "a")


def test_a_call_in_the_background(server: Server):
    call = server.tools.add.start(a=1, b=2)
    assert call.result(30).text == "3"
    assert call.done
    assert call.error is None
    failed = server.tools.fail.start()
    with pytest.raises(ToolError):
        failed.result(30)
    assert failed.status == "failed"
    assert isinstance(failed.error, ToolError)


def test_the_result_of_a_call_can_be_waited_for_in_part(server: Server):
    released = threading.Event()

    def slow() -> str:
        """Wait for the test."""
        released.wait(30)
        return "done"

    server.entry.spec.server.add_tool(slow)  # type: ignore[union-attr]
    slow_server = server.reconnect()
    call = slow_server.tools.slow.start()
    with pytest.raises(TimeoutError, match="goes on"):
        call.result(timeout=0.05)
    assert call.status == "running"
    released.set()
    assert call.result(30).text == "done"


def test_policy_and_answers(server: Server):
    mcp.deny("s.add")
    with pytest.raises(Denied):
        server.tools.add(a=1)
    assert [str(rule) for rule in mcp.policy] == ["deny s.add"]
    assert mcp.policy.why("s.add")[0][1] == "deny s.add"
    assert mcp.policy.why("s.echo").verdict == "ask"
    assert mcp.policy.why("s.echo", origin="person").verdict == "go"
    mcp.policy.reset()
    assert len(mcp.policy) == 0
    mcp.answer({"a": 1}, match="x", times=1)
    assert len(api.host.answers.describe()) == 1


def test_the_host_tells_what_there_is_and_what_happened(server: Server):
    server.tools.add(a=1)
    assert len(api.host.catalogue.tools) == 4
    assert api.host.catalogue.tools["s.add"].name == "add"
    assert "add" in [item.name for item in api.host.catalogue.search("two numbers")]
    assert ("tools/call", "ok") in [(act.method, act.outcome) for act in api.host.activity]
    frame = api.host.activity.df()
    assert "method" in list(frame.columns)
    assert len(api.host.trace("tools/call")) >= 2
    assert server.log.server == "s"
    assert len(server.trace) > 0


def test_servers_is_a_mapping(server: Server):
    assert list(mcp.servers) == ["s"]
    assert mcp.servers.s is server
    with pytest.raises(KeyError, match="no server 'q'"):
        _ = mcp.servers["q"]
    server.close()
    assert list(mcp.servers) == []
    server.close()
    with pytest.raises(UsageError):
        mcp.disconnect("s")


def test_connecting_from_a_mapping():
    import sys

    found = mcp.connect_all({"mcpServers": {"d": {"command": sys.executable, "args": ["-m", "jupyter_mcp.demo"]}}})
    try:
        assert found["d"].state == "ready"
        assert found.problems == []
    finally:
        mcp.disconnect("d")
    with pytest.raises(MCPError, match="no-such-command-here"):
        mcp.connect_all({"mcpServers": {"x": {"command": "no-such-command-here"}}})


def test_run_waits_for_a_coroutine():
    import asyncio

    async def work() -> str:
        await asyncio.sleep(0)
        return threading.current_thread().name

    assert mcp.run(work()) == "jupyter-mcp"


@pytest.mark.anyio
async def test_the_awaitable_twins():
    server = await mcp.aio.connect("twin", echo_server())
    assert (await server.tools.add.aio(a=1)).text == "2"
    assert (await server.aio.call("add", {"a": 1, "b": 5})).text == "6"
    assert (await server.aio.read("text://hello")).text == "hello"
    assert "rust" in (await server.prompts.review.aio(language="rust")).text
    assert "rust" in (await server.aio.prompt("review", {"language": "rust"})).text
    assert await server.aio.complete("review", "language", "r") == ["rust"]
    assert (await server.aio.ping()).seconds >= 0
    assert (await server.tools.add.start(a=2)).text == "3"
    assert (await server.aio.reconnect()).state == "ready"
    await mcp.aio.disconnect("twin")
    assert "twin" not in mcp.servers
