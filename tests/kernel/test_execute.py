"""Code and variables from clients: leave first, then the main thread of a real kernel, output to the client alone."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.host.events import Progress
from jupyter_mcp.host.questions import Answer
from tests.kernel.outside import Outside, outside
from tests.runtime.kernels import CURRENT, LiveKernel, live_kernel

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from jupyter_mcp.host.result import Result

SETUP = """
import asyncio, os, threading, time
os.environ["JUPYTER_RUNTIME_DIR"] = {folder!r}
from jupyter_mcp.kernel import serving
from jupyter_mcp.runtime import state, wait
from jupyter_mcp.host.questions import Answer

class Person:
    asked, answer = [], Answer("accept")
    async def ask(self, question):
        self.asked.append(question)
        return self.answer

person = state.get_host().ui = Person()
end = serving.serve(get_ipython(), name="nb", allow_code=True)
"""


@pytest.fixture(scope="module", params=["6.31.0", CURRENT])
def kernel(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveKernel]:
    folder: Path = tmp_path_factory.mktemp("runtime")
    with live_kernel(request.param, SETUP.format(folder=str(folder))) as kernel:
        yield kernel


@pytest.fixture(scope="module")
def client(kernel: LiveKernel) -> Iterator[Outside]:
    url, token = json.loads(kernel.run("import json; print(json.dumps([end.url, end.token]))").text)
    with outside(url, token) as client:
        yield client


def run(client: Outside, code: str, **more: Any) -> Result:
    return client.call("execute_code", notebook="nb", code=code, **more)


def test_code_is_asked_about_with_all_of_it_and_who_wants_it(kernel: LiveKernel, client: Outside) -> None:
    kernel.run("person.asked.clear()")
    result = run(client, "a = 20\na + 1")
    assert (result.data["status"], result.data["result"], result.is_error) == ("ok", "21", False)
    asked = kernel.run("q = person.asked[0]; print(len(person.asked), q.kind, q.server, q.params['arguments'])").text
    assert asked == "1 approval nb {'code': 'a = 20\\na + 1'}\n"
    assert kernel.run("print(a)").text == "20\n"


def test_a_no_runs_nothing(kernel: LiveKernel, client: Outside) -> None:
    kernel.run("person.answer = Answer('decline')")
    result = run(client, "never = 1")
    kernel.run("person.answer = Answer('accept')")
    assert result.is_error
    assert result.data == {"notebook": "nb", "status": "denied"}
    assert "declined by the person" in result.text
    assert kernel.run("print('never' in globals())").text == "False\n"


def test_without_leave_to_ask_nobody_is_asked(kernel: LiveKernel, client: Outside) -> None:
    kernel.run("person.asked.clear(); serving.serve(get_ipython(), name='nb', allow_code=False)")
    results = [run(client, "1"), client.call("set_variable", notebook="nb", name="x", value=1)]
    kernel.run("serving.serve(get_ipython(), name='nb', allow_code=True)")
    assert [result.data["status"] for result in results] == ["denied", "denied"]
    assert "--allow-code" in results[0].text
    assert kernel.run("print(person.asked)").text == "[]\n"
    assert {"execute_code", "set_variable", "list_functions", "call_function"} <= set(client.tools())


def test_it_leaves_no_trace_in_the_history_and_no_output_in_the_notebook(kernel: LiveKernel, client: Outside) -> None:
    before = kernel.run("print(len(In) - 1, len(In))").text.split()
    result = run(client, "print('for the client')\nfrom IPython.display import display\ndisplay('shown')\n1/0")
    after = kernel.run("print(len(In) - 1, len(In))").text.split()
    assert [int(text) + 1 for text in before] == [int(text) for text in after]
    assert result.is_error
    assert result.data["status"] == "error"
    assert result.data["stdout"] == "for the client\n"
    assert "shown" in result.data["displayed"]
    assert result.data["error"]["type"] == "ZeroDivisionError"
    assert "1/0" in result.data["error"]["traceback"]
    assert "\x1b" not in result.data["error"]["traceback"]
    kernel.settle()
    said = str(kernel.other)
    assert "for the client" not in said
    assert "ZeroDivisionError" not in said
    assert kernel.run("6 * 7").displays == ["42"]
    assert kernel.finish(kernel.start("1/0")).error == "ZeroDivisionError: division by zero"


def test_it_may_be_kept_in_the_history(kernel: LiveKernel, client: Outside) -> None:
    before = int(kernel.run("print(len(In) - 1)").text)
    result = run(client, "1 + 1", store_history=True)
    assert result.data["execution_count"] == before + 1
    assert kernel.run(f"print(In[{before + 1}])").text == "1 + 1\n"


def test_pictures_are_pictures(kernel: LiveKernel, client: Outside) -> None:
    result = run(
        client,
        "import base64\nfrom IPython.display import Image, display\n"
        "display(Image(base64.b64decode('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==')))",
    )
    assert [block["type"] for block in result.raw["content"]] == ["image"]
    assert result.data["images"] == 1


def test_output_comes_as_it_is_printed(kernel: LiveKernel, client: Outside) -> None:
    client.events.clear()
    run(client, "import time\nfor n in range(3):\n    print('step', n)\n    time.sleep(0.3)")
    said = [event.message for event in client.events if isinstance(event, Progress)]
    steps = [text for text in said if text and text.startswith("step")]
    assert len(steps) >= 2
    assert steps[0] == "step 0"


def test_the_limit_interrupts_it_and_the_output_so_far_is_there(kernel: LiveKernel, client: Outside) -> None:
    began = time.monotonic()
    result = run(client, "print('so far')\nimport time\ntime.sleep(30)", timeout=0.5)
    assert time.monotonic() - began < 10
    assert result.is_error
    assert result.data["status"] == "interrupted"
    assert result.data["stdout"] == "so far\n"
    assert run(client, "2").data["result"] == "2"


def test_the_clients_cancel_interrupts_it(kernel: LiveKernel, client: Outside) -> None:
    call = client.start(
        "execute_code",
        notebook="nb",
        code="print('begun')\nmark = 'begun'\nimport time\ntime.sleep(30)\nmark = 'ended'",
    )
    deadline = time.monotonic() + 10
    while not any(isinstance(event, Progress) and event.message == "begun" for event in client.events):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    call.cancel()
    assert kernel.run("print(mark)").text == "begun\n"


def test_top_level_await_runs_on_the_kernels_loop(kernel: LiveKernel, client: Outside) -> None:
    result = run(client, "import asyncio\nawait asyncio.sleep(0.05)\nprint('awaited')\n'value'")
    assert result.data["stdout"] == "awaited\n"
    assert result.data["result"] == "'value'"
    assert kernel.run("print(await asyncio.sleep(0, 'fine'))").text == "fine\n"


def test_magics_work_and_input_is_nobodys(kernel: LiveKernel, client: Outside) -> None:
    result = run(client, "%time x = 1\n!echo shell")
    assert "shell" in result.data["stdout"]
    result = run(client, "input('name? ')")
    assert result.data["error"]["type"] == "EOFError"
    assert kernel.finish(kernel.start("print")).error is None


def test_what_is_too_much_is_left_out_and_said(kernel: LiveKernel, client: Outside) -> None:
    result = run(client, "print('x' * 10_000_000)")
    assert len(result.data["stdout"]) < 70_000
    assert "characters left out" in result.data["stdout"]
    assert result.data["truncated"] is True


def test_secrets_are_masked_in_what_comes_back(kernel: LiveKernel, client: Outside) -> None:
    client.events.clear()
    result = run(client, "print('key sk-abcdefghijklmnop1234')\nraise ValueError('password=hunter2secret')")
    said = json.dumps(result.raw) + str(client.events)
    assert "sk-abcdefghijklmnop" not in said
    assert "hunter2secret" not in said.replace("raise ValueError('password=hunter2secret')", "")


@pytest.mark.parametrize("code", ["", " \n", "x = 1 # \u202e nothing", "x" * 20_001])
def test_code_that_cannot_be_looked_at_is_not_asked_about(kernel: LiveKernel, client: Outside, code: str) -> None:
    kernel.run("person.asked.clear()")
    assert run(client, code).is_error
    assert kernel.run("print(person.asked)").text == "[]\n"


def test_a_busy_kernel_is_waited_for(kernel: LiveKernel, client: Outside) -> None:
    client.events.clear()
    with kernel.computing():
        call = client.start("execute_code", notebook="nb", code="3")
        client.until_told("kernel busy: cell")
    assert call.result(30).data["result"] == "3"


def test_a_variable_is_set_to_a_json_value(kernel: LiveKernel, client: Outside) -> None:
    result = client.call("set_variable", notebook="nb", name="given", value={"rows": [1, 2.5, None]})
    assert result.data == {"notebook": "nb", "name": "given", "status": "ok", "replaced": False}
    assert kernel.run("print(given)").text == "{'rows': [1, 2.5, None]}\n"
    assert client.call("set_variable", notebook="nb", name="given", value=1).data["replaced"] is True


def test_lists_in_lists_are_values_too(kernel: LiveKernel, client: Outside) -> None:
    assert not client.call("set_variable", notebook="nb", name="deep", value=[[[1, {"a": [[[[2]]]]}]]]).is_error
    assert kernel.run("print(deep)").text == "[[[1, {'a': [[[[2]]]]}]]]\n"


@pytest.mark.parametrize("name", ["_hidden", "In", "get_ipython", "1x", "for", "a.b", ""])
def test_names_that_are_none_or_ipythons_are_refused(kernel: LiveKernel, client: Outside, name: str) -> None:
    kernel.run("person.asked.clear()")
    assert client.call("set_variable", notebook="nb", name=name, value=1).is_error
    assert kernel.run("print(person.asked)").text == "[]\n"


def test_everything_stands_in_the_journal(kernel: LiveKernel, client: Outside) -> None:
    run(client, "journalled = 1")
    acts = kernel.run(
        "print([(a.name, a.origin, a.outcome) for a in state.get_host().journal.acts() if a.server == 'nb'][-1])"
    ).text
    assert acts == "('execute_code', 'server', 'ok')\n"


def test_functions_are_listed_and_called_by_clients_that_never_look_again(kernel: LiveKernel, client: Outside) -> None:
    kernel.run("""
from jupyter_mcp.kernel.functions import tool
@tool
def area(width: float, height: float = 1.0) -> float:
    "Width times height."
    return width * height
""")
    listed = client.call("list_functions", notebook="nb").data
    assert [(one["name"], one["description"]) for one in listed["functions"]] == [("area", "Width times height.")]
    called = client.call("call_function", notebook="nb", name="area", arguments={"width": 3, "height": 2})
    assert called.data == {"notebook": "nb", "function": "area", "result": 6.0}
    assert client.call("call_function", notebook="nb", name="area", arguments={}).is_error
    assert "There is area." in client.call("call_function", notebook="nb", name="volume").text


def test_the_notebook_may_run_code_by_its_own_server(kernel: LiveKernel) -> None:
    kernel.run("""
from jupyter_mcp.host.specs import ServerSpec
host = state.get_host()
async def call_myself(code):
    await host.connect(ServerSpec.parse("self", end.url, bearer=end.token))
    return await host.call_tool("self", "execute_code", {"notebook": "nb", "code": code})
""")
    assert kernel.run("print(wait.run(call_myself, '5 + 5', label='self').data['result'])").text == "10\n"
    code = "'import asyncio; await asyncio.sleep(0.01); 7'"
    assert kernel.run(f"print(wait.run(call_myself, {code}, label='self').data['result'])").text == "7\n"
    assert kernel.run("print('after')").text == "after\n"


def test_a_tool_of_a_cell_asks_back_through_whoever_calls_it(kernel: LiveKernel, client: Outside) -> None:
    kernel.run("""
from jupyter_mcp.kernel.functions import tool
from jupyter_mcp.server import Context
@tool
def reserve(city: str, ctx: Context) -> str:
    "Reserve a table."
    answer = ctx.elicit(f"For how many in {city}?", int)
    return f"{answer.data} in {city}"
""")
    assert "reserve" in client.tools()
    client.reply = lambda question: Answer("accept", content={"value": 3})
    assert client.call("reserve", city="Bern").text == "3 in Bern"
    assert client.questions[-1].message == "For how many in Bern?"


def test_what_a_client_runs_is_seen_by_those_who_watch(kernel: LiveKernel, client: Outside) -> None:
    run(client, "watched_by_others = 1")
    names = [one["name"] for one in client.call("list_variables", notebook="nb").data["variables"]]
    assert "watched_by_others" in names


@pytest.mark.parametrize("code", ["import time\ntime.sleep(0.3)\n'long'", "1/0"])
def test_a_long_run_may_be_handed_over_as_a_task(kernel: LiveKernel, client: Outside, code: str) -> None:
    result = run(client, code, background=True)
    assert result.data["status"] == ("error" if code == "1/0" else "ok")
    assert result.is_error is (code == "1/0")
    assert [task.tool for task in client.host.tasks.of("nb")][-1:] == ["execute_code"]
