"""Functions of a notebook as tools, resources and prompts: declared in cells of a real kernel, used from outside."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from jupyter_mcp.host.events import Log
from jupyter_mcp.host.questions import Answer
from tests.kernel.outside import Outside, outside
from tests.runtime.kernels import CURRENT, LiveKernel, live_kernel

if TYPE_CHECKING:
    from collections.abc import Iterator

SETUP = """
import asyncio, threading, time
from jupyter_mcp.kernel.functions import book, prompt, resource, tool
from jupyter_mcp.kernel.mainthread import MainThread
from jupyter_mcp.runtime import state, wait
from jupyter_mcp.runtime.thread import get_runtime
from jupyter_mcp.server import AsyncContext, Context, Server, TaskWork

def serve(versions):
    kinds, tasks = ("tools", "resources", "prompts"), {"io.modelcontextprotocol/tasks": {}}
    server = Server("nb", versions=versions, offers=kinds, extensions=tasks)
    @server.prompt
    def hello(ctx): return "so that logging is declared from the start, as the notebook's server does"
    assert book().attach(server, MainThread()) == []
    async def begin():
        global serving
        serving = server.serve_http()
        return await serving.__aenter__()
    return wait.run(begin, label="serve")

def which():
    return "main" if threading.current_thread() is threading.main_thread() else "another"
"""
ERAS = {"modern": '["2026-07-28"]', "legacy": '["2025-11-25"]'}


@pytest.fixture(scope="module", params=[("6.31.0", "legacy"), (CURRENT, "modern"), (CURRENT, "legacy")], ids=str)
def kernel(request: pytest.FixtureRequest) -> Iterator[LiveKernel]:
    version, era = request.param
    with live_kernel(version, SETUP) as kernel:
        kernel.run(f"running = serve({ERAS[era]})")
        yield kernel


@pytest.fixture(scope="module")
def client(kernel: LiveKernel) -> Iterator[Outside]:
    url, token = json.loads(kernel.run("import json; print(json.dumps([running.url, running.token]))").text)
    with outside(url, token) as client:
        yield client


def test_a_function_is_a_tool_with_the_schema_of_its_annotations(kernel: LiveKernel, client: Outside) -> None:
    kernel.run('''
from typing import Annotated, Literal
from pydantic import BaseModel, Field
class Order(BaseModel):
    city: str
    nights: int = 1
@tool
def book_room(
    order: Order,
    kind: Literal["single", "double"] = "single",
    floor: Annotated[int, Field(description="0 is the ground")] = 0,
) -> str:
    """Book a room.

    Args:
        order: where and for how long.
    """
    return f"{kind} in {order.city} for {order.nights} on {floor}, {which()}"
''')
    assert client.tools() == ["book_room"]
    _entry, item = client.do(client.host.resolve("tool", "nb.book_room"))
    assert item["description"] == "Book a room."
    properties = item["inputSchema"]["properties"]
    assert list(properties) == ["order", "kind", "floor"]
    assert properties["kind"]["enum"] == ["single", "double"]
    assert properties["floor"]["description"] == "0 is the ground"
    result = client.call("book_room", order={"city": "Bern", "nights": 3}, kind="double")
    assert result.text == "double in Bern for 3 on 0, main"


def test_running_the_cell_again_replaces_the_tool(kernel: LiveKernel, client: Outside) -> None:
    kernel.run("@tool\ndef twice(x: int) -> int:\n    return 2 * x")
    assert client.call("twice", x=4).data in (8, {"result": 8})
    kernel.run("@tool\ndef twice(x: int, y: int = 0) -> int:\n    return 2 * x + y")
    assert client.tools().count("twice") == 1
    assert client.call("twice", x=4, y=1).data in (9, {"result": 9})
    kernel.run("@tool\ndef other(x: int) -> int:\n    return -x\ntool('twice')(other)")
    assert client.call("twice", x=4).data in (-4, {"result": -4})


def test_a_changed_name_takes_the_old_one_away(kernel: LiveKernel, client: Outside) -> None:
    kernel.run("@tool('first')\ndef renamed():\n    return 1")
    assert "first" in client.tools()
    kernel.run("@tool('second')\ndef renamed():\n    return 1")
    assert "second" in client.tools()
    assert "first" not in client.tools()


def test_tools_that_a_loop_makes_are_all_there_until_the_cell_is_changed(kernel: LiveKernel, client: Outside) -> None:
    loop = "for n in {}:\n    @tool(f'loop_{{n}}')\n    def made(n=n) -> int:\n        return n"

    def there() -> list[str]:
        return sorted(name for name in client.tools() if name.startswith("loop_"))

    kernel.run(loop.format("(1, 2, 3)"))
    assert there() == ["loop_1", "loop_2", "loop_3"]
    assert client.call("loop_2").data in (2, {"result": 2})
    kernel.run(loop.format("(3, 4)"))
    assert there() == ["loop_3", "loop_4"]


def test_tools_that_a_function_makes_go_when_their_own_cell_is_changed(kernel: LiveKernel, client: Outside) -> None:
    kernel.run("""
def make(city):
    @tool("in_" + city)
    def weather() -> str:
        return city
""")

    def there() -> list[str]:
        return sorted(name for name in client.tools() if name.startswith("in_"))

    kernel.run("make('oslo')", cell_id="first")
    kernel.run("make('rome')", cell_id="second")
    assert there() == ["in_oslo", "in_rome"]
    kernel.run("make('bern')", cell_id="first")
    assert there() == ["in_bern", "in_rome"]
    kernel.run("make('lima')")
    assert there() == ["in_bern", "in_lima", "in_rome"]


def test_a_tool_waits_for_a_running_cell_with_progress(kernel: LiveKernel, client: Outside) -> None:
    kernel.run("@tool\ndef where() -> str:\n    return which()")
    client.tools()
    client.events.clear()
    with kernel.computing():
        call = client.start("where")
        client.until_told("kernel busy: cell ")
        assert not call.done()
    assert call.result(30).text == "main"


def test_a_limit_is_kept_and_said_and_nothing_runs_later(kernel: LiveKernel, client: Outside) -> None:
    kernel.run("calls = []\n@tool(wait=0.3)\ndef impatient():\n    calls.append(1)")
    client.tools()
    with kernel.computing():
        result = client.call("impatient")
    assert result.is_error
    assert "kernel busy: cell" in result.text
    assert "nothing was run" in result.text
    kernel.run("pass")
    assert kernel.run("print(calls)").text == "[]\n"


def test_a_thread_function_runs_beside_a_running_cell(kernel: LiveKernel, client: Outside) -> None:
    kernel.run("@tool(thread=True)\ndef beside() -> str:\n    return which()")
    client.tools()
    with kernel.computing():
        assert client.call("beside").text == "another"


def test_an_async_function_runs_on_the_kernels_loop(kernel: LiveKernel, client: Outside) -> None:
    kernel.run("""
here = asyncio.get_event_loop()
@tool
async def on_loop() -> bool:
    await asyncio.sleep(0.01)
    return asyncio.get_running_loop() is here
""")
    client.tools()
    assert client.call("on_loop").data in (True, {"result": True})


@pytest.mark.parametrize(
    ("options", "work", "where"),
    [("", "async def", "main False"), ("", "def", "main False"), (", thread=True", "def", "another False")],
)
def test_the_work_of_a_task_runs_where_the_function_itself_would(
    kernel: LiveKernel, client: Outside, options: str, work: str, where: str
) -> None:
    kernel.run(f"""
@tool("prepare"{options}, task=True)
def prepare(ctx: Context) -> TaskWork:
    {work} rest():
        return f"{{which()}} {{get_runtime().is_current_thread()}}"
    return TaskWork(rest)
""")
    assert client.call("prepare").text == where


def test_the_work_of_a_task_is_told_and_asks_through_the_notebooks_own_context(
    kernel: LiveKernel, client: Outside
) -> None:
    kernel.run("""
from pydantic import BaseModel
class Party(BaseModel):
    people: int
@tool(task=True)
async def paint() -> TaskWork:
    async def rest(ctx):
        answer = await ctx.elicit("For ghp_abcdefghijklmnopqrstuvwxyz0123456789?", Party)
        return f"{which()} {answer.data.people}"
    return TaskWork(rest)
""")
    client.questions.clear()
    client.reply = lambda question: Answer("accept", content={"people": 4})
    assert client.call("paint").text == "main 4"
    assert [question.message for question in client.questions] == ["For •••?"]


def test_prints_go_to_the_client_and_not_into_the_notebook(kernel: LiveKernel, client: Outside) -> None:
    kernel.run("""
@tool
def talks() -> str:
    print("for the client, key sk-abcdefghijklmnop1234")
    return "done"
""")
    client.tools()
    client.events.clear()
    assert client.call("talks").text == "done"
    said = [str(event.data) for event in client.events if isinstance(event, Log)]
    assert said == ["for the client, key •••"]
    kernel.settle()
    after = kernel.run("print(type(__import__('sys').stdout).__name__)")
    assert after.text == "OutStream\n"
    assert "for the client" not in str(kernel.other)


@pytest.mark.parametrize("kind", ["", "(thread=True)", "async "])
def test_a_function_asks_back_through_the_calling_client(kernel: LiveKernel, client: Outside, kind: str) -> None:
    head = "@tool\nasync def" if kind == "async " else f"@tool{kind}\ndef"
    waits = "await " if kind == "async " else ""
    context = "Context" if kind == "" else "AsyncContext" if kind == "async " else "Context"
    kernel.run(f"""
from pydantic import BaseModel
class Party(BaseModel):
    people: int
{head} table(day: str, ctx: {context}) -> str:
    {waits}ctx.progress(1, 2, "asking")
    answer = {waits}ctx.elicit(f"How many on {{day}}?", Party)
    return f"{{answer.action}} {{answer.data.people}} {{which()}}"
""")
    client.tools()
    client.reply = lambda question: Answer("accept", content={"people": 4})
    client.questions.clear()
    result = client.call("table", day="Monday")
    assert result.text == f"accept 4 {'another' if kind == '(thread=True)' else 'main'}"
    assert [question.message for question in client.questions] == ["How many on Monday?"]


def test_an_async_function_may_name_its_context_as_a_blocking_one_does(kernel: LiveKernel, client: Outside) -> None:
    kernel.run("@tool\nasync def lenient(ctx: Context) -> str:\n    return type(ctx).__name__")
    client.tools()
    assert client.call("lenient").text == "LoopContext"


def test_errors_are_told_without_secrets_and_without_noise_in_the_notebook(kernel: LiveKernel, client: Outside) -> None:
    kernel.run("@tool\ndef breaks():\n    raise ValueError('no login with password=hunter2secret')")
    client.tools()
    result = client.call("breaks")
    assert result.is_error
    assert "no login with" in result.text
    assert "hunter2secret" not in result.text
    kernel.settle()
    assert "Traceback" not in str(kernel.other)


def test_resources_and_prompts(kernel: LiveKernel, client: Outside) -> None:
    kernel.run("""
@resource("notes://{day}")
def note(day: str) -> str:
    return f"note of {day}, {which()}"
@prompt
def summarize(day: str) -> str:
    return f"Summarize {day}."
""")
    assert client.do(client.host.read("nb", "notes://monday")).text == "note of monday, main"
    got = client.do(client.host.get_prompt("nb", "summarize", {"day": "Friday"}))
    assert "Summarize Friday." in str(got.messages)


def test_a_client_that_gives_up_interrupts_its_own_call_only(kernel: LiveKernel, client: Outside) -> None:
    kernel.run("""
marks = []
@tool
def sleeps():
    marks.append("begun")
    try:
        time.sleep(30)
    except KeyboardInterrupt:
        marks.append("interrupted")
        raise
""")
    client.tools()
    call = client.start("sleeps")
    # the cell comes while the tool runs, waits for its end and is not hurt
    import time

    time.sleep(0.5)
    call.cancel()
    assert kernel.run("time.sleep(0.3); print(marks)").text == "['begun', 'interrupted']\n"


@pytest.mark.parametrize("kind", ["def", "async def"])
def test_the_notebook_may_call_its_own_tool_which_asks_the_notebook(kernel: LiveKernel, kind: str) -> None:
    waits = "await " if kind == "async def" else ""
    kernel.run(f"""
from jupyter_mcp.host.specs import ServerSpec
@tool("mirror{kind[0]}")
{kind} mirror(ctx) -> str:
    answer = {waits}ctx.elicit("Who?", str)
    return f"{{answer.data}} {{which()}}"
host = state.get_host()
host.answers.add({{"value": "me"}}, server="self")
async def call_myself():
    await host.connect(ServerSpec.parse("self", running.url, bearer=running.token))
    return await host.call_tool("self", "mirror{kind[0]}", {{}})
""")
    run = kernel.run("print(wait.run(call_myself, label='self.mirror').text)")
    assert run.text == ("me main\n" if kind == "def" else "me another\n")


def test_what_cannot_be_a_tool_is_refused_where_it_is_declared(kernel: LiveKernel) -> None:
    run = kernel.run("""
def refused(make):
    try:
        make()
    except Exception as error:
        print(error)
refused(lambda: tool(lambda: 1))
refused(lambda: tool("a b")(which))
async def coro(): ...
refused(lambda: tool(thread=True)(coro))
def gen(): yield 1
refused(lambda: tool(gen))
refused(lambda: resource("notes://{other}")(which))
""")
    lines = run.text.splitlines()
    assert len(lines) == 5
    assert "without a name" in lines[0]
    assert "letters, digits" in lines[1]
    assert "thread=True is for a plain `def`" in lines[2]
    assert "generator" in lines[3]
    assert "does not take other" in lines[4]
