"""A notebook that is served, in real kernels: who may read what, while it works, from its beginning to its end."""

from __future__ import annotations

import base64
import json
import os
import statistics
import time
from typing import TYPE_CHECKING

import pytest

from jupyter_mcp.kernel import identity
from jupyter_mcp.protocol.schema import check
from tests.kernel.caller import OldCaller, Refused
from tests.kernel.served import Served
from tests.runtime.kernels import CURRENT, live_kernel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

SPIN = """
def spin(seconds):
    import time
    end = time.time() + seconds
    while time.time() < end:
        pass
"""


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A runtime folder for the kernels of this module, and for what looks for them."""
    place = tmp_path_factory.mktemp("runtime")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_RUNTIME_DIR", str(place))
        patch.setenv("JPY_SESSION_NAME", str(place / "Sales 1.ipynb"))
        patch.setenv("SOME_API_KEY", "value-of-the-environment")
        yield place


@pytest.fixture(scope="module", params=("6.31.0", CURRENT))
def served(request: pytest.FixtureRequest, runtime: Path) -> Iterator[Served]:
    with live_kernel(request.param, SPIN + "x = 42\n") as kernel:
        served = Served(kernel)
        yield served
        served.close()


@pytest.fixture
def fresh(runtime: Path) -> Iterator[Served]:
    """One for a test that ends it."""
    with live_kernel(CURRENT, "x = 42") as kernel:
        served = Served(kernel)
        yield served
        served.close()


def median(call: Callable[[], object], times: int) -> float:
    """Milliseconds."""
    found: list[float] = []
    for _ in range(times):
        begun = time.perf_counter()
        call()
        found.append((time.perf_counter() - begun) * 1000)
    return statistics.median(found)


# --- reading


def test_a_variable_is_read_by_its_address_and_by_the_tool(served: Served) -> None:
    assert served.text("variables/x") == "42"
    result = served.call("read_variable", name="x")
    assert result["content"] == [{"type": "text", "text": "42"}]
    assert result["structuredContent"]["text"] == "42"
    assert result["structuredContent"]["uri"] == served.uri("variables/x")


def test_reads_are_quick_idle_and_while_the_main_thread_sleeps_or_computes(served: Served) -> None:
    def read() -> None:
        assert served.text("variables/x") == "42"

    read()
    idle = median(read, 100)
    with served.kernel.computing("time.sleep(0.2)"):
        sleeping = median(read, 100)
    with served.kernel.computing("spin(0.1)"):
        computing = median(read, 60)
        assert json.loads(served.text("environment"))["state"] == "busy"
    # the bars are 5 and 20; tests share their machine with others
    assert (idle < 15, sleeping < 15, computing < 60) == (True, True, True), (idle, sleeping, computing)


def test_lists_name_everything_with_title_description_and_type(served: Served) -> None:
    listed = served.caller.request("resources/list")["resources"]
    named = {one["name"]: one for one in listed}
    assert {"variables", "history", "environment", "plots", "x", "spin"} <= set(named)
    templates = served.caller.request("resources/templates/list")["resourceTemplates"]
    assert all(one["title"] and one["description"] and one["mimeType"] for one in listed)
    assert all(one["title"] and one["description"] for one in templates)
    assert named["x"]["uri"] == served.uri("variables/x")


def test_the_address_of_a_listed_variable_reads_it_whatever_letters_its_name_has(served: Served) -> None:
    served.kernel.run("größe = 7; plain_1 = 8")
    listed = served.call("list_variables")["structuredContent"]["variables"]
    addresses = {one["name"]: one["uri"] for one in listed}
    assert addresses["größe"] == served.uri("variables/gr%C3%B6%C3%9Fe")
    assert addresses["plain_1"] == served.uri("variables/plain_1")
    assert [served.caller.read(addresses[name])["text"] for name in ("größe", "plain_1")] == ["7", "8"]


def test_every_tool_says_what_it_does_takes_and_returns(served: Served) -> None:
    tools = {one["name"]: one for one in served.caller.request("tools/list")["tools"]}
    assert {"list_variables", "inspect_variable", "read_variable", "search_variables"} <= set(tools)
    for tool in tools.values():
        assert tool["title"] and tool["description"] and tool["outputSchema"]["type"] == "object"
        assert tool["inputSchema"]["properties"]["notebook"]["const"] == served.slug
        assert "notebook" in tool["inputSchema"]["required"]
    assert tools["read_variable"]["annotations"]["readOnlyHint"] is True


def test_another_notebook_is_not_this_one(served: Served) -> None:
    assert served.caller.call("read_variable", notebook="other", name="x")["isError"] is True
    with pytest.raises(Refused) as refused:
        served.caller.read("notebook://other/variables/x")
    assert refused.value.code == -32602


@pytest.mark.parametrize(
    "rest",
    [
        "variables/nothing",
        "variables/os",
        "variables/api_key",
        "variables/leaked",
        "variables/_hidden",
        "variables/In",
        "variables/get_ipython",
        "variables/..%2f..%2fetc%2fpasswd",
        "variables/x?unknown=1",
        "variables/x/y",
        "variables/x?path=__class__",
        "variables/__import__('os')",
        "plots/999",
        "plots/-1",
        "plots/x",
    ],
)
def test_what_is_not_there_or_may_not_be_seen_is_not_found(served: Served, rest: str) -> None:
    served.kernel.run("import os; api_key = 'not for anybody'; leaked = os.environ['SOME_API_KEY']; _hidden = 1")
    with pytest.raises(Refused) as refused:
        served.caller.read(served.uri(rest))
    assert refused.value.code == -32602
    assert "anybody" not in str(refused.value) and "value-of" not in str(refused.value)


def test_hidden_variables_are_counted_and_not_named(served: Served) -> None:
    served.kernel.run("import os; api_key = 'not for anybody'; leaked = os.environ['SOME_API_KEY']")
    found = served.call("list_variables")["structuredContent"]
    names = [one["name"] for one in found["variables"]]
    assert found["hidden"] == 2
    assert "x" in names and not {"api_key", "leaked", "os", "get_ipython", "In"} & set(names)


def test_a_secret_in_a_cell_is_masked_in_the_history(served: Served) -> None:
    served.kernel.run("api_key = 'sk-abcdefghijklmnop123456'  # noqa")
    served.kernel.run("y = 1")
    history = json.loads(served.text("history"))
    assert history["cells"][-1]["code"] == "y = 1"
    assert "sk-abcdef" not in json.dumps(history)


def test_a_list_goes_on_by_its_cursor_and_a_search_looks_at_types(served: Served) -> None:
    served.kernel.run("for n in range(25): globals()[f'many_{n:02}'] = {'n': n}\ndel n")
    names: list[str] = []
    cursor: str | None = None
    while True:
        given = {"cursor": cursor} if cursor else {}
        page = served.call("search_variables", query="MANY_", limit=10, **given)["structuredContent"]
        names += [one["name"] for one in page["variables"]]
        cursor = page.get("cursor")
        if cursor is None:
            break
    assert names == [f"many_{n:02}" for n in range(25)] and page["total"] == 25
    found = served.call("search_variables", query="dict")["structuredContent"]
    assert found["total"] >= 25
    served.kernel.run("for n in range(25): del globals()[f'many_{n:02}']\ndel n")


def test_what_tools_return_is_what_their_schemas_say(served: Served) -> None:
    served.kernel.run("import pandas; wide = pandas.DataFrame({f'c{n}': [n] for n in range(200)})")
    tools = {one["name"]: one["outputSchema"] for one in served.caller.request("tools/list")["tools"]}
    for tool, arguments in (
        ("list_variables", {}),
        ("search_variables", {"query": "c199"}),
        ("inspect_variable", {"name": "wide"}),
        ("read_variable", {"name": "wide", "max_bytes": 500}),
    ):
        found = served.call(tool, **arguments)["structuredContent"]
        assert check(tools[tool], found) == []
    found = served.call("search_variables", query="c199")["structuredContent"]["variables"]
    assert [(one["name"], len(one["columns"]), one["more_columns"]) for one in found] == [("wide", 30, 170)]
    inspected = served.call("inspect_variable", name="wide")["structuredContent"]
    assert inspected["columns"][1] == {"name": "c1", "dtype": "int64"}


def test_names_columns_and_formats_complete(served: Served) -> None:
    served.kernel.run("import pandas; towns = pandas.DataFrame({'city': ['Oslo'], 'people': [1]})")

    def complete(argument: str, typed: str, **chosen: str) -> list[str]:
        template = served.uri("variables/{name}{?rows,columns,path,format,cursor}")
        params = {
            "ref": {"type": "ref/resource", "uri": template},
            "argument": {"name": argument, "value": typed},
            "context": {"arguments": chosen},
        }
        return served.caller.request("completion/complete", params)["completion"]["values"]

    assert complete("name", "tow") == ["towns"]
    assert complete("columns", "c", name="towns") == ["city"]
    assert complete("columns", "city,p", name="towns") == ["city,people"]
    assert complete("columns", "c", name="x") == []
    assert "text/csv" in complete("format", "text")


def test_what_is_displayed_is_a_plot_with_a_number_of_its_own(served: Served) -> None:
    served.kernel.run("""
class Figure:
    def _repr_png_(self):
        return b"\\x89PNG\\r\\n\\x1a\\n" + b"picture"
from IPython.display import display
display(Figure())
""")
    listed = json.loads(served.text("plots"))["plots"]
    found = served.caller.read(listed[-1]["uri"])
    assert found["mimeType"] == "image/png" and "blob" in found


def test_a_figure_is_read_as_the_picture_that_was_displayed(served: Served) -> None:
    served.kernel.run("""
import matplotlib
matplotlib.use("agg")
import matplotlib.figure
from IPython.display import display
drawn = matplotlib.figure.Figure()
drawn._repr_png_ = lambda: b"\\x89PNG\\r\\n\\x1a\\n" + b"as displayed"
hidden = matplotlib.figure.Figure()
display(drawn)
""")
    found = served.caller.read(served.uri("variables/drawn"))
    assert found["mimeType"] == "image/png" and base64.b64decode(found["blob"]).endswith(b"as displayed")
    result = served.call("read_variable", name="drawn")
    assert [one["type"] for one in result["content"]] == ["image"]
    assert "text" not in result["structuredContent"]
    with pytest.raises(Refused):
        served.caller.read(served.uri("variables/hidden"))


def test_an_objects_own_text_is_made_on_the_main_thread_when_it_is_free(served: Served) -> None:
    served.kernel.run("""
import threading
class Own:
    def __repr__(self):
        return "on the main thread: " + str(threading.current_thread() is threading.main_thread())
class Slow:
    def __repr__(self):
        import time
        time.sleep(60)
own, slow = Own(), Slow()
""")
    assert served.text("variables/own?format=text/plain") == "on the main thread: True"
    with served.kernel.computing(), pytest.raises(Refused, match="not free"):
        served.text("variables/own?format=text/plain")
    begun = time.monotonic()
    with pytest.raises(Refused):
        served.text("variables/slow?format=text/plain")
    assert time.monotonic() - begun < 10
    assert served.kernel.run("print('free')").text == "free\n"


@pytest.mark.parametrize("old", ["2024-11-05", "2025-06-18", "2025-11-25"])
def test_clients_of_the_older_era_read_and_watch_too(served: Served, old: str) -> None:
    with OldCaller(served.url, served.token, old) as client:
        assert client.request("resources/read", uri=served.uri("variables/x"))["contents"][0]["text"] == "42"
        result = client.request("tools/call", name="read_variable", arguments={"notebook": served.slug, "name": "x"})
        assert result["content"][0]["text"] == "42"
        client.request("resources/subscribe", uri=served.uri("variables/x"))
        told = client.hear()
        served.kernel.run("x = 42.0")
        assert told.get(timeout=15)["params"]["uri"] == served.uri("variables/x")
    served.kernel.run("x = 42")


# --- changes


def test_a_change_is_told_after_its_cell_and_a_burst_is_one(served: Served) -> None:
    served.kernel.run("watched = [1]; other = 1")  # told by and by
    with_rows = served.uri("variables/watched?rows=0:5")
    listening = served.caller.listen(served.uri("variables/watched"), with_rows)
    served.kernel.run("other = 2")
    served.kernel.run("watched.append(2)")
    listening.until(lambda: with_rows in listening.told)
    assert set(listening.told) - {"resources"} == {served.uri("variables/watched"), with_rows}
    served.kernel.run("brand_new = 1")
    listening.until(lambda: "resources" in listening.told)
    listening.close()


# --- who may, who came


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Authorization": ""}, 401),
        ({"Origin": "https://evil.example"}, 403),
        ({"Host": "evil.example"}, 421),
    ],
)
def test_who_may_not_is_refused_and_shows_in_the_book(served: Served, headers: dict[str, str], status: int) -> None:
    caller = served.client()
    response = caller.post("resources/list", headers=headers)
    assert response.status == status
    assert "evil" not in (response.headers.get("Access-Control-Allow-Origin") or "")
    acts = served.kernel.run("print([(a.kind, a.what) for a in S.book.reads() if a.kind == 'refused'][0])").text
    assert str(status) in acts and served.token not in acts


def test_the_book_says_who_came_and_what_they_read(served: Served) -> None:
    caller = served.client(name="an agent\n\x1b[31m" + "x" * 500)
    caller.read(served.uri("variables/x"))
    with pytest.raises(Refused):
        caller.read(served.uri("variables/nothing"))
    caller.call("read_variable", notebook=served.slug, name="x")
    out = served.kernel.run("""
print([(a.kind, a.what, a.ok) for a in S.book.reads()[:3]])
print(S.clients[0].name[:12], len(S.clients[0].name), S.clients[0].requests)
""").text
    assert (
        "[('call', 'read_variable x', True), ('read', 'variables/nothing', False), ('read', 'variables/x', True)]"
        in out
    )
    assert "an agent [31 120 3" in out


def test_too_many_requests_are_refused_for_a_while(served: Served) -> None:
    served.kernel.run("B = S.book.visitors._all; B.rate, B.burst, B.level = 0.001, 5.0, 0.0")
    asked = 0
    try:
        with pytest.raises(Refused, match="Too many requests") as refused:  # noqa: PT012
            while asked < 10:
                served.caller.request("server/discover")
                asked += 1
        assert refused.value.code == -31429 and refused.value.data["retryAfter"] > 0
        assert asked == 5
    finally:
        served.kernel.run("B.rate, B.burst, B.level = 2000.0, 8000.0, 0.0")
    assert served.text("variables/x") == "42"


# --- its life


def test_the_runtime_file_names_it(served: Served) -> None:
    found = [one for one in identity.live() if one.slug == served.slug]
    assert [(one.url, one.token, one.notebook) for one in found] == [(served.url, served.token, "Sales 1.ipynb")]


def test_serving_again_changes_the_choice_and_keeps_the_rest(served: Served) -> None:
    served.kernel.run("a1, a2 = 1, 2")
    listening = served.caller.listen()
    out = served.kernel.run("again = serving.serve(get_ipython(), names=['a1']); print(again is S, again.url)").text
    assert out.split() == ["True", served.url]
    listening.until(lambda: "resources" in listening.told)
    found = served.call("list_variables")["structuredContent"]
    assert [one["name"] for one in found["variables"]] == ["a1"]
    served.kernel.run("serving.serve(get_ipython(), besides=['a1'])")
    names = [one["name"] for one in served.call("list_variables")["structuredContent"]["variables"]]
    assert "a2" in names and "a1" not in names
    served.kernel.run("serving.serve(get_ipython())")
    listening.close()


@pytest.mark.parametrize(
    ("names", "why"), [("['nothing_like_it']", "no variable"), ("['api_key']", "looks like a secret")]
)
def test_a_choice_that_cannot_be_served_is_said(served: Served, names: str, why: str) -> None:
    served.kernel.run("api_key = 'not for anybody'")
    run = served.kernel.finish(served.kernel.start(f"serving.serve(get_ipython(), names={names})"))
    assert run.error is not None and run.error.startswith("UsageError") and why in run.error
    assert served.text("variables/x") == "42"


def test_stopping_says_good_bye_and_gives_everything_back(fresh: Served) -> None:
    before = fresh.kernel.run("import sys; print(sys.getswitchinterval())").text
    assert float(before) == pytest.approx(0.001)
    listening = fresh.caller.listen(fresh.uri("variables/x"))
    fresh.kernel.run("S.stop(); S.stop()")
    listening.until(lambda: listening.over)
    assert "result" in listening.messages[-1], "the stream ended without its result"
    assert fresh.slug not in [one.slug for one in identity.live()]
    with pytest.raises(OSError):
        fresh.client().request("server/discover")
    assert float(fresh.kernel.run("print(sys.getswitchinterval())").text) == pytest.approx(0.005)
    out = fresh.kernel.run("""
ip = get_ipython()
print(serving.current(), "format" in vars(ip.display_formatter))
print([f for f in ip.events.callbacks["post_run_cell"] if "kernel.changes" in f.__module__])
""").text
    assert out.split("\n")[:2] == ["None False", "[]"]


@pytest.mark.parametrize("killed", [False, True])
def test_a_restarted_kernel_is_found_at_the_same_place_with_new_values(fresh: Served, killed: bool) -> None:
    listening = fresh.caller.listen(fresh.uri("variables/x"))
    before = (fresh.url, fresh.token, fresh.slug)
    fresh.kernel.manager.restart_kernel(now=killed)
    listening.until(lambda: listening.over, 20)
    fresh.kernel.client.wait_for_ready(timeout=60)
    fresh.kernel.run("x = 'new'")
    fresh.again()
    assert (fresh.url, fresh.token, fresh.slug) == before
    assert fresh.text("variables/x") == "new"


def test_the_choice_survives_unloading_and_loading_the_extension(fresh: Served) -> None:
    fresh.kernel.run("y = 2\nserving.serve(get_ipython(), names=['y'])\n%load_ext jupyter_mcp")
    out = fresh.kernel.run("%load_ext jupyter_mcp\nprint(serving.current().url)").text
    assert fresh.url in out
    fresh.kernel.run("%unload_ext jupyter_mcp")
    with pytest.raises(OSError):
        fresh.client().request("server/discover")
    fresh.kernel.run("%load_ext jupyter_mcp")
    caller = fresh.client()
    found = caller.call("list_variables", notebook=fresh.slug)["structuredContent"]
    assert [one["name"] for one in found["variables"]] == ["y"]


def test_two_notebooks_are_two_servers(fresh: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    with live_kernel(CURRENT, "x = 'of the other one'") as kernel:
        other = Served(kernel)
        assert other.slug != fresh.slug and other.token != fresh.token and other.url != fresh.url
        assert other.text("variables/x") == "of the other one" and fresh.text("variables/x") == "42"
        with pytest.raises(Refused) as refused:
            other.client(fresh.token).request("server/discover")
        assert refused.value.status == 401
        with pytest.raises(Refused):
            fresh.caller.read(other.uri("variables/x"))
        other.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_child_leaves_the_server_alone(fresh: Served) -> None:
    out = fresh.kernel.run("""
import os, sys
pid = os.fork()
if pid == 0:
    S._claim.release(forget=True)
    os._exit(0 if serving.current() is None else 1)
print(os.waitpid(pid, 0)[1])
""").text
    assert out.strip() == "0"
    assert fresh.text("variables/x") == "42"
    assert fresh.slug in [one.slug for one in identity.live()]
