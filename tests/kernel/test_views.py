"""Views of Python's own objects, and of hostile ones."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import datetime
import enum
import json
import threading
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import pydantic
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_mcp.kernel import views
from jupyter_mcp.kernel.views import View, ViewError, Wanted, summary, view
from tests.kernel import hostile

if TYPE_CHECKING:
    from collections.abc import Callable


def pages(value: object, wanted: Wanted) -> list[View]:
    """All pieces of an object, one after the other."""
    out = [view(value, wanted)]
    while (cursor := out[-1].cursor) is not None:
        assert len(out) < 5000
        out.append(view(value, Wanted(cursor=cursor, max_bytes=wanted.max_bytes)))
    return out


def check_whole(found: View, budget: int) -> None:
    """What holds for every view: bounded, of one kind, and text that UTF-8 and JSON can carry."""
    assert (found.text is None) != (found.blob is None)
    assert len((found.text or "").encode("utf-8")) <= budget
    assert len(found.blob or b"") <= budget
    if found.mime_type == "application/json":
        assert json.loads(found.text or "", parse_constant=pytest.fail) == found.data
    json.dumps(found.data, allow_nan=False).encode("utf-8")


@pytest.mark.parametrize("name", sorted(hostile.everyone()))
def test_a_hostile_object_is_listed_and_shown_without_its_code(name: str) -> None:
    value = hostile.everyone()[name]
    assert summary(value).line()
    json.dumps(summary(value).data(), allow_nan=False).encode("utf-8")
    check_whole(view(value), 64 * 1024)
    assert views.columns(value) == []
    views.fingerprint(value)
    assert views.needs_main_thread(value) is False


def test_what_hostile_subclasses_hold_is_shown() -> None:
    everyone = hostile.everyone()
    assert view(everyone["list_sub"]).data == [1, 2, 3]
    assert view(everyone["dict_sub"]).data == {"a": 1}
    assert view(everyone["str_sub"]).text == "text"
    assert view(everyone["bytes_sub"]).blob == b"raw"
    assert view(everyone["int_sub"]).data == 5
    assert view(everyone["float_sub"]).data == 5.5


def test_what_json_cannot_say_becomes_text() -> None:
    everyone = hostile.everyone()
    data = view(everyone["numbers"]).data
    assert data[:3] == ["NaN", "Infinity", "-Infinity"]
    assert data[4:] == [str(1 << 70), "1.0+nanj"]
    assert view(everyone["surrogates"]).data == {"�": "a�b", "text": ["�"]}
    assert view(everyone["circle"]).data == ["<the object around it>"] or view(everyone["circle"]).data[0][0]


def test_a_property_is_never_touched() -> None:
    value = hostile.WithProperty()
    found = view(value)
    assert (found.data["attributes"], hostile.WithProperty.touched) == ({"seen": 1}, False)
    assert view(value, Wanted(path="seen")).data == 1
    for name in ("trap", "_unseen", "touched"):
        with pytest.raises(ViewError) as refused:
            view(value, Wanted(path=name))
        assert refused.value.reason == "no such path"
    assert hostile.WithProperty.touched is False


def test_generators_and_iterators_are_never_consumed() -> None:
    generator = (at for at in range(3))
    for value in (generator, [generator], {"g": generator}, (iterator := iter([1, 2]))):
        summary(value)
        view(value)
        views.fingerprint(value)
    assert (list(generator), list(iterator)) == ([0, 1, 2], [1, 2])


def test_a_dict_that_changes_while_it_is_read_costs_only_this_read() -> None:
    value: dict[int, int] = dict.fromkeys(range(3000), 0)
    stop = threading.Event()

    def churn() -> None:
        at = 3000
        while not stop.is_set():
            value[at] = 1
            value.pop(at - 3000, None)
            at += 1

    thread = threading.Thread(target=churn)
    thread.start()
    try:
        for _ in range(50):
            with contextlib.suppress(ViewError):  # anything else fails the test
                view(value)
    finally:
        stop.set()
        thread.join()


def test_every_failure_is_a_view_error() -> None:
    class Bad:
        def _mcp_view_(self, wanted: Wanted) -> Any:
            raise SystemExit("password=hunter2 and more")

    with pytest.raises(ViewError) as failed:
        view(Bad())
    assert (failed.value.reason, "hunter2" in str(failed.value)) == ("failed", False)


@pytest.mark.parametrize("rows", ["a", "1:2:3", ":::", "0:1;import os", "1e3", "9" * 30, "-"])
def test_rows_that_are_no_slice_are_refused(rows: str) -> None:
    with pytest.raises(ViewError) as refused:
        view([1, 2, 3], Wanted(rows=rows))
    assert refused.value.reason == "unsupported"


@pytest.mark.parametrize(
    ("rows", "found"),
    [("1:3", [1, 2]), ("-2:", [8, 9]), (":2", [0, 1]), ("4", [4]), ("-1", [9]), ("8:99", [8, 9]), ("5:2", [])],
)
def test_rows_are_a_slice(rows: str, found: list[int]) -> None:
    assert view(list(range(10)), Wanted(rows=rows)).data == found


@pytest.mark.parametrize(
    ("path", "found"),
    [("a.b[2]", 3), ('a["odd key"]', 4), ("['a'].b[-1]", 3), ('a["b"][0]', 1), ("n[1]", "x"), ("a[7]", "seven")],
)
def test_a_path_leads_into_an_object(path: str, found: Any) -> None:
    value = {"a": {"b": [1, 2, 3], "odd key": 4, 7: "seven"}, "n": (0, "x")}
    assert view(value, Wanted(path=path)).data in (found, None)
    assert view(value, Wanted(path=path)).text == str(found)


@pytest.mark.parametrize(
    "path",
    [
        "b",
        "a.c",
        "a[9]",
        "a..b",
        "a.",
        ".",
        "[",
        "a[1:2]",
        "a;b",
        "__class__",
        "a.__len__",
        "a" * 2000,
        "a.b" * 40,
        "a()",
    ],
)
def test_a_path_that_leads_nowhere_says_so(path: str) -> None:
    with pytest.raises(ViewError) as refused:
        view({"a": [1]}, Wanted(path=path))
    assert refused.value.reason == "no such path"


@pytest.mark.parametrize("path", ["config.password", "headers[0].value", 'config["api_key"]'])
def test_no_path_leads_past_a_name_that_means_a_secret(path: str) -> None:
    value = {
        "config": {"password": "correct horse", "api_key": "zzzzzz"},
        "headers": [{"name": "Authorization", "value": "opaque words"}],
    }
    with pytest.raises(ViewError, match="hidden"):
        view(value, Wanted(path=path))
    text = str(view(value))
    assert not any(secret in text for secret in ("correct horse", "zzzzzz", "opaque words"))


@pytest.mark.parametrize("cursor", ["", "zzz", "e30", "é", "bnVsbA", "W10", "A" * 20_000, "eyJpIjotMX0"])
def test_a_cursor_of_somebody_else_is_refused(cursor: str) -> None:
    with pytest.raises(ViewError) as refused:
        view([1], Wanted(cursor=cursor))
    assert refused.value.reason == "unsupported"


def test_a_cursor_of_an_object_that_changed_says_so() -> None:
    value = ["x" * 100] * 500
    cursor = view(value, Wanted(max_bytes=1000)).cursor
    assert view(value, Wanted(cursor=cursor)).data
    with pytest.raises(ViewError) as refused:
        view(list(value), Wanted(cursor=cursor))
    assert refused.value.reason == "changed"
    value.append("more")
    with pytest.raises(ViewError) as refused:
        view(value, Wanted(cursor=cursor))
    assert refused.value.reason == "changed"


def test_pages_of_a_list_and_of_a_dict_give_every_item_once() -> None:
    items = [f"item {at}" for at in range(1000)]
    found = pages(items, Wanted(max_bytes=700))
    assert [item for page in found for item in page.data] == items
    pairs = {f"k{at}": at for at in range(1000)}
    joined: dict[str, int] = {}
    for page in pages(pairs, Wanted(max_bytes=700)):
        joined |= page.data
    assert joined == pairs


def test_pages_of_a_text_and_of_bytes_give_every_character_once() -> None:
    text = "".join(f"line {at} äöü 🎈 word\n" for at in range(2000))
    assert "".join(page.text or "" for page in pages(text, Wanted(max_bytes=900))) == text
    raw = bytes(range(256)) * 20
    assert b"".join(page.blob or b"" for page in pages(raw, Wanted(max_bytes=900))) == raw
    assert view(text, Wanted(rows="5:9")).text == text[5:9]


def test_a_secret_is_masked_wherever_the_pages_of_a_long_text_are_cut() -> None:
    secret = "Zx9Qw8Er7Ty6Ui5Op4"
    pem = (
        "-----BEGIN PRIVATE KEY-----\n"
        + "\n".join(f"{secret}{at:046d}" for at in range(40))
        + "\n-----END PRIVATE KEY-----\n"
    )
    for fill in range(0, 400, 37):
        text = (
            "word " * 100
            + "." * fill
            + f" postgresql://ann:{secret}@db/x "
            + "and on " * 60
            + "\n"
            + pem
            + "rest " * 200
        )
        for page in pages(text, Wanted(max_bytes=512)):
            assert secret not in (page.text or "")
        for page in pages(text.encode(), Wanted(max_bytes=512)):
            assert secret.encode() not in (page.blob or b"")


class Colour(enum.Enum):
    RED = 1


class Point(NamedTuple):
    x: int
    y: int


@dataclasses.dataclass
class Job:
    title: str
    where: Point
    password: str = "correct horse"
    on: datetime.date = datetime.date(2026, 1, 2)


class Model(pydantic.BaseModel):
    name: str
    token: pydantic.SecretStr
    tags: set[str]


def test_records_are_shown_by_their_fields() -> None:
    job = Job("cook", Point(1, 2))
    assert view(job).data == {"title": "cook", "where": {"x": 1, "y": 2}, "password": "•••", "on": "2026-01-02"}
    assert view(job, Wanted(path="where.y")).data == 2
    model = Model(name="n", token=pydantic.SecretStr("tttttt"), tags={"b", "a"})
    assert view(model).data == {"name": "n", "token": "•••", "tags": ["a", "b"]}
    keys = {True: "b", None: "c", 2: "d", "2": "e", (1, "x"): "f"}
    assert view(keys).data == {"true": "b", "null": "c", "2": "d", "2 (2)": "e", "(1, x)": "f"}
    assert view([{1: "a", "1": "b"}]).data == [{"1": "a", "1 (str)": "b"}]
    assert view({"c": Colour.RED, "d": collections.deque([1])}).data == {"c": "Colour.RED", "d": [1]}


def test_an_object_with_slots_shows_them() -> None:
    class Slotted:
        __slots__ = ("a", "b")

        def __init__(self) -> None:
            self.a = 1

    assert view(Slotted()).data["attributes"] == {"a": 1}


def test_what_is_cut_is_said_and_can_be_had_by_its_path() -> None:
    value = {
        "long": "x" * 5000,
        "many": list(range(500)),
        "deep": {"a": {"b": {"c": {"d": {"e": {"f": {"g": {"h": 1}}}}}}}},
    }
    found = view(value)
    assert found.data["many"][-1] == "… 400 more"
    assert "path" in (found.note or "")
    assert view(value, Wanted(path="deep.a.b.c.d.e.f.g.h")).data == 1
    assert view(value, Wanted(path="many", rows="490:")).data == list(range(490, 500))
    assert len(view(value, Wanted(path="long")).text or "") == 5000


def test_ten_thousand_variables_are_listed_quickly_and_in_one_line_each() -> None:
    from jupyter_mcp.kernel.exposure import exposed

    namespace: dict[str, Any] = {f"v{at}": [at, f"text {at}", [at], {"a": at}][at % 4] for at in range(10_000)}
    shown = exposed(namespace)
    best = 1e9
    for _ in range(5):
        before = time.perf_counter()
        shown = exposed(namespace)
        best = min(best, time.perf_counter() - before)
    assert (len(shown.names), shown.hidden) == (10_000, 0)
    assert best < 0.25  # the bar is 0.05 on a quiet machine; the benchmark measures it


def test_summaries_are_one_line() -> None:
    assert summary(3).line() == "int 3"
    assert summary([1, 2]).line() == "list of 2"
    assert summary("a\nb").line() == "str of 3 a b"
    assert summary(object()).line() == "object"
    assert summary("x" * 10_000).text == "x" * 79 + "…"


@pytest.mark.parametrize("kind", ["application/pdf", "html", "text/csv"])
def test_a_format_that_does_not_fit_names_those_that_do(kind: str) -> None:
    with pytest.raises(ViewError, match="text/plain"):
        view(3, Wanted(format=kind))


def test_equal_objects_have_equal_fingerprints_and_a_change_in_place_is_seen() -> None:
    changes: list[tuple[Any, Callable[[Any], object]]] = [
        ([1, 2, 3], lambda v: v.append(4)),
        ([[1], [2]], lambda v: v[0].append(4)),
        ({"a": 1}, lambda v: v.update(a=2)),
        ({1, 2}, lambda v: v.add(3)),
        (bytearray(b"abc"), lambda v: v.extend(b"d")),
        (hostile.WithProperty(), lambda v: setattr(v, "seen", 5)),
    ]
    for value, change in changes:
        before = views.fingerprint(value)
        assert before is not None
        assert views.fingerprint(value) == before
        change(value)
        assert views.fingerprint(value) != before


def test_the_own_text_of_an_object_is_had_on_the_main_thread_only() -> None:
    class Shown:
        def __repr__(self) -> str:
            return "shown api_key='abcdefgh'"

    wanted = Wanted(format="text/plain")
    assert views.needs_main_thread(Shown(), wanted)
    assert view(Shown(), wanted).text == "shown api_key='•••'"
    outcome: list[ViewError] = []

    def elsewhere() -> None:
        with pytest.raises(ViewError) as refused:
            view(Shown(), wanted)
        outcome.append(refused.value)

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert outcome[0].reason == "busy"


def test_a_repr_that_blocks_or_raises_is_ended() -> None:
    class Blocks:
        def __repr__(self) -> str:
            while True:
                try:
                    time.sleep(10)
                except Exception:
                    continue

    class Raises:
        def __repr__(self) -> str:
            raise SystemExit(3)

    with pytest.raises(ViewError) as slow:
        view(Blocks(), Wanted(format="text/plain"))
    with pytest.raises(ViewError) as failed:
        view(Raises(), Wanted(format="text/plain"))
    assert (slow.value.reason, failed.value.reason) == ("slow", "failed")


JSONISH = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(), max_size=30)
    | st.binary(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=8)
        | st.dictionaries(st.text(max_size=8) | st.integers(), inner, max_size=8)
        | st.tuples(inner, inner)
        | st.frozensets(st.integers(), max_size=4)
    ),
    max_leaves=40,
)


@settings(max_examples=150, deadline=None)
@given(JSONISH, st.integers(256, 3000))
def test_any_value_is_shown_within_its_budget_and_the_same_twice(value: Any, budget: int) -> None:
    found = view(value, Wanted(max_bytes=budget))
    check_whole(found, budget)
    assert view(value, Wanted(max_bytes=budget)) == found
    for page in pages(value, Wanted(max_bytes=budget)):
        check_whole(page, budget)


@settings(max_examples=200, deadline=None)
@given(st.text(), st.text(), st.text())
def test_no_query_however_odd_does_anything_but_fail(rows: str, path: str, cursor: str) -> None:
    for wanted in (
        Wanted(rows=rows),
        Wanted(path=path),
        Wanted(cursor=cursor),
        Wanted(format=rows),
        Wanted(columns=(path,)),
    ):
        try:
            check_whole(view({"a": [1, 2]}, wanted), 64 * 1024)
        except ViewError:
            continue
