"""Bad input over HTTP to a real kernel: hostile objects, code and tricks in addresses, callers who may not.

What one object does to its readers is that object's affair: each read is bounded, and everything else goes on.
"""

from __future__ import annotations

import itertools
import json
import time
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from tests.kernel import hostile
from tests.kernel.caller import Refused
from tests.kernel.served import Served
from tests.runtime.kernels import CURRENT, live_kernel

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

INVALID_PARAMS = -32602
MOST_BYTES = 128 * 1024
"""Of one answer to a read."""
SECONDS = 8.0
"""For one read, on a machine that others use as well; the longest limit of the product is 3."""

SETUP = """
import threading, time
from tests.kernel import hostile
ran = []
x = victim = 42
globals().update(hostile.everyone())

class Text:
    "Its text is made by a function, which tells that it ran."
    def __init__(self, make):
        self._make = make
    def __repr__(self):
        ran.append(self._make.__name__)
        return self._make()

def raises(): raise ValueError("with sk-abcdefghijklmnop123456 inside")
def leaves(): raise SystemExit("no kernel any more")
def wrong(): return 5
def huge(): return "x" * 200_000_000
def deletes():
    globals().pop("victim", None)
    return "deleted"
def blocks():
    while True:
        time.sleep(0.01)
def insists():
    end = time.monotonic() + 2.5
    while time.monotonic() < end:
        try:
            time.sleep(0.05)
        except KeyboardInterrupt:
            pass
    return "it went on"

for make in (raises, leaves, wrong, huge, deletes, blocks, insists):
    globals()["text_" + make.__name__] = Text(make)

def numbers_for_ever():
    n = 0
    while True:
        ran.append("a generator")
        yield (n := n + 1)
async def never_awaited():
    ran.append("a coroutine")
generated, listed, zipped, mapped = numbers_for_ever(), iter([1, 2]), zip([1], [2]), map(ran.append, ["a map"])
coroutine = never_awaited()
trap = hostile.WithProperty()
"""
TEXTS = ("raises", "leaves", "wrong", "huge", "deletes", "blocks", "insists")
LAZY = ("generated", "listed", "zipped", "mapped", "coroutine", "trap")
NAMES = (*hostile.everyone(), *(f"text_{one}" for one in TEXTS), *LAZY)
QUERIES = (
    *("", "?rows=0:3", "?rows=-1", "?rows=::0", "?columns=a,b", "?path=[0]", "?path=a.b", "?path=seen", "?path=trap"),
    *("?path=__class__.__mro__", "?path=_unseen", "?cursor=AAAA", "?format=application/json", "?format=text/csv"),
    *("?format=text/markdown", "?format=image/png", "?format=no/such", "?rows=&path=&columns=&format=&cursor="),
)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    place = tmp_path_factory.mktemp("runtime")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_RUNTIME_DIR", str(place))
        patch.setenv("JPY_SESSION_NAME", str(place / "Bad input.ipynb"))
        with live_kernel(CURRENT, SETUP) as kernel:
            served = Served(kernel)
            yield served
            served.close()


def outcome(served: Served, rest: str) -> str:
    """What a read came to, as text: what was read, or the error; in time and within bounds."""
    begun = time.monotonic()
    try:
        found = json.dumps(served.caller.read(served.uri(rest)))
    except Refused as refused:
        found = f"{refused.code} {refused.message}"
    assert "Internal error" not in found, (rest, found)
    assert time.monotonic() - begun < SECONDS, rest
    assert len(found) < MOST_BYTES, rest
    return found


def value(served: Served, expression: str) -> str:
    """Of an expression in the kernel, printed."""
    return served.kernel.run(f"print({expression})").text.strip()


# --- objects


def test_hostile_objects_are_all_listed_and_none_of_their_code_runs(served: Served) -> None:
    begun = time.monotonic()
    resources = {one["name"] for one in served.caller.request("resources/list")["resources"]}
    tool = {one["name"] for one in served.call("list_variables")["structuredContent"]["variables"]}
    found = {one["name"] for one in served.call("search_variables", query="text_")["structuredContent"]["variables"]}
    assert time.monotonic() - begun < SECONDS
    assert set(NAMES) <= resources and set(NAMES) <= tool
    assert found >= {f"text_{one}" for one in TEXTS}
    assert value(served, "ran") == "[]"


@pytest.mark.parametrize("name", NAMES)
def test_whatever_is_asked_of_a_hostile_object_is_bounded_and_runs_none_of_its_code(served: Served, name: str) -> None:
    before = value(served, "ran")
    for query in QUERIES:
        outcome(served, f"variables/{name}{query}")
    for tool in ("inspect_variable", "read_variable"):
        served.call(tool, name=name)
    assert outcome(served, "variables/x").endswith('"text": "42"}')
    assert value(served, "ran") == before
    assert value(served, "hostile.WithProperty.touched") == "False"


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("raises", "ValueError"),
        ("leaves", "SystemExit"),
        ("wrong", "TypeError"),
        ("huge", "xxxxxxxx"),
        ("deletes", "deleted"),
        ("blocks", "took longer"),
        ("insists", "took longer"),
    ],
)
def test_an_own_text_that_misbehaves_costs_its_own_read_and_nothing_else(served: Served, name: str, says: str) -> None:
    said = outcome(served, f"variables/text_{name}?format=text/plain")
    assert says in said and "sk-abcdef" not in said
    assert value(served, "ran[-1]") == name
    assert outcome(served, "variables/x").endswith('"text": "42"}')


def test_what_is_consumed_by_reading_is_not_read(served: Served) -> None:
    for name, query in itertools.product(LAZY, ("", "?format=text/plain", "?rows=0:1", "?path=[0]", "?columns=seen")):
        outcome(served, f"variables/{name}{query}")
    assert value(served, "(next(generated), next(listed), next(zipped), next(mapped))") == "(1, 1, (1, 2), None)"
    assert value(served, "ran[-2:]") == "['a generator', 'a map']"
    assert value(served, "(hostile.WithProperty.touched, coroutine.cr_running, coroutine.close())") == (
        "(False, False, None)"
    )


@pytest.mark.parametrize("library", ["pandas", "polars", "list", "dict"])
def test_what_changes_while_it_is_read_costs_that_read_at_most(served: Served, library: str) -> None:
    if library in ("pandas", "polars"):
        pytest.importorskip(library)
    served.kernel.run(f"""
library, over, turns = {library!r}, threading.Event(), 0
if library in ("pandas", "polars"):
    moving = __import__(library).DataFrame({{"a": range(500), "b": ["text"] * 500}})
else:
    moving = {{n: [n] for n in range(500)}} if library == "dict" else [[n] for n in range(500)]
def change():
    global turns
    while not over.is_set():
        turns += 1
        column = "c" + str(turns % 5)
        if library == "pandas":
            moving[column] = turns
            moving.pop("c" + str((turns + 2) % 5)) if turns > 4 else None
            moving.loc[500 + turns % 400] = 0
        elif library == "polars":
            if column in moving.columns:
                moving.drop_in_place(column)
            else:
                moving.insert_column(0, moving["a"].alias(column))
        elif library == "dict":
            moving[turns % 900] = [turns]
            moving.pop((turns + 450) % 900, None)
        else:
            moving.append([turns])
            del moving[: turns % 3]
changer = threading.Thread(target=change, daemon=True)
changer.start()
""")
    try:
        for query in 15 * ("", "?rows=10:20", "?columns=a,c1", "?format=application/json", "?path=[3]"):
            outcome(served, f"variables/moving{query}")
            assert outcome(served, "variables/x").endswith('"text": "42"}')
        assert int(value(served, "turns")) > 100, "it did change meanwhile"
    finally:
        served.kernel.run("over.set(); changer.join(10)")
    assert not outcome(served, "variables/moving").startswith("-326"), "at rest it is read again"


# --- addresses


def code(place: Path) -> list[str]:
    """Texts that make a file when somebody runs them, by Python, a query language or a shell."""
    call = f"__import__('os').system('touch {place}')"
    forms = ("{}", "[{}]", "{{{}}}", "@{}", "0:{}", "a[{}]", "a.({})", "(lambda: {})()", "f'{{{}}}'", "$({})", "`{}`")
    shell = [f"; touch {place}", f"$(touch {place})", f"a | touch {place}"]
    return [form.format(call) for form in forms] + shell


@pytest.mark.parametrize("argument", ["rows", "columns", "path", "format", "cursor", "search", "name"])
def test_code_in_an_address_or_argument_is_never_run(served: Served, argument: str, tmp_path: Path) -> None:
    served.kernel.run("import pandas; table = pandas.DataFrame({'a': [1, 2]}); nested_ = {'a': {'b': [1]}}")
    for text, name in itertools.product(code(tmp_path / "ran"), ("table", "nested_", "text_raises")):
        given = quote(text, safe="")
        if argument == "search":
            outcome(served, f"variables?search={given}")
            served.call("search_variables", query=text)
        elif argument == "name":
            assert outcome(served, f"variables/{given}").startswith(f"{INVALID_PARAMS} ")
            assert served.call("read_variable", name=text)["isError"] is True
        else:
            outcome(served, f"variables/{name}?{argument}={given}")
            value = [text] if argument == "columns" else text
            served.call("read_variable", name=name, **{argument: value})
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "rest",
    [
        *("variables/../environment", "variables/%2e%2e/environment", "variables/..%2fenvironment", "./variables/x"),
        *("/variables/x", "variables//x", "variables/x/", "variables/x#f", "variables/x%00", "variables/x%2f..%2fx"),
        *("variables/x%", "variables/x?", "variables/x?rows=1&rows=2", "variables/x?a=1", "variables/%252e%252e"),
        *("", "variables/", "environment/", "environment?x=1", "history/1", "plots/1e3", "plots/%31%30", "plots/٣"),
        *("plots/" + "9" * 5000, "variables/x?path=%ff", "variables/x?path=" + "[0]" * 3000, "variables/" + "x" * 9000),
    ],
)
def test_an_address_is_what_was_listed_or_nothing_and_shows_in_the_book(served: Served, rest: str) -> None:
    with pytest.raises(Refused) as refused:
        served.caller.read(served.uri(rest))
    assert refused.value.code == INVALID_PARAMS
    acts = value(served, "[(act.kind, act.ok, len(act.what) <= 120) for act in S.book.reads()][0]")
    assert acts == "('read', False, True)"


@pytest.mark.parametrize(
    "shape",
    [
        *("NOTEBOOK://{}/variables/x", "notebook://user@{}/variables/x", "notebook://{}:80/variables/x"),
        *("notebook://{}@other/variables/x", "notebook://other/../{}/variables/x", "notebook:///{}/variables/x"),
        *("file:///etc/passwd", "notebook:///etc/passwd", "{}/variables/x", "/variables/x", "", "://"),
    ],
)
def test_an_address_of_elsewhere_is_not_of_this_notebook(served: Served, shape: str) -> None:
    with pytest.raises(Refused) as refused:
        served.caller.read(shape.format(served.slug))
    assert refused.value.code == INVALID_PARAMS


@pytest.mark.parametrize(
    "rest",
    [
        *("variables/x?format=no/such", "variables/x?rows=0:1&format=image/png", "variables?cursor=nonsense"),
        *("variables/circle?rows=one", "variables/circle?cursor=nonsense", "variables/circle?format=text/csv&rows=a"),
    ],
)
def test_what_does_not_fit_is_the_clients_error_and_not_the_servers(served: Served, rest: str) -> None:
    with pytest.raises(Refused) as refused:
        served.caller.read(served.uri(rest))
    assert refused.value.code == INVALID_PARAMS


# --- callers


def wrong_tokens(token: str) -> list[str]:
    """Headers that are nearly right."""
    near = ["", "Bearer", "Bearer ", f"Bearer {token[:-1]}", f"Bearer {token}x", f"Bearer {token.swapcase()}", token]
    return [*near, f"Basic {token}", f"Bearer {token} {token}", f"Bearer {token},{token}", f'Bearer "{token}"']


@pytest.mark.parametrize("busy", [False, True], ids=["idle", "busy"])
def test_who_may_not_gets_nothing_whatever_they_ask_for_and_is_no_visitor(served: Served, busy: bool) -> None:
    visitors = value(served, "len(S.clients)")
    port = served.caller.parts.port
    refused = [
        *({"Authorization": header} for header in wrong_tokens(served.token)),
        *({"Origin": one} for one in ("null", "https://evil.example", f"http://evil.example:{port}", "file://")),
        *({"Origin": f"http://{one}:{port}"} for one in ("127.0.0.1.evil.example", "localhost.", "127.0.0.2")),
        *({"Host": one} for one in ("evil.example", f"evil.example:{port}", "127.0.0.1.evil.example", "0.0.0.0", "")),
    ]
    run = served.kernel.start("print('begun', flush=True)\nover = False\nwhile not over: pass") if busy else None
    try:
        if run is not None:
            served.kernel.until(lambda: "begun" in run.text)
        for headers, method in itertools.product(refused, ("tools/list", "resources/read", "server/discover")):
            response = served.client(name="stranger").post(method, {"uri": served.uri("variables/x")}, headers)
            body = response.read().decode()
            assert response.status in (400, 401, 403, 421), (headers, response.status)
            assert served.token not in body and "variables" not in body and "42" not in body
            assert response.headers.get("Access-Control-Allow-Origin") is None
    finally:
        if run is not None:
            served.kernel.interrupt()
            served.kernel.finish(run)
    assert value(served, "len(S.clients)") == visitors
    acts = value(served, "sorted({act.what[:3] for act in S.book.reads() if act.kind == 'refused'})")
    assert {"401", "403", "421"} <= set(acts.replace("'", "").strip("[]").split(", "))
    assert served.token not in value(served, "[act.what for act in S.book.reads()]")


def test_after_all_that_the_notebook_is_what_it_was(served: Served) -> None:
    served.kernel.run("mine = [1, 2, 3]")
    assert outcome(served, "variables/mine").endswith('"text": "[1,2,3]"}')
    assert served.kernel.manager.is_alive()
    assert value(served, "threading.main_thread() is threading.current_thread()") == "True"
