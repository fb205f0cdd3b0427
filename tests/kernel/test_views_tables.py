"""Views of data frames: paged by rows, bounded, masked, without a copy and without a subclass's code."""

from __future__ import annotations

import csv
import importlib
import io
import json
import sqlite3
import threading
import time
import tracemalloc
from typing import Any

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest

from jupyter_mcp.kernel import views
from jupyter_mcp.kernel.views import View, ViewError, Wanted, summary, view
from tests.kernel.hostile import Asked, Touchy

pa: Any = importlib.import_module("pyarrow")  # without types

COLUMNS: dict[str, list[Any]] = {
    "n": list(range(1000)),
    "x": [at / 4 for at in range(1000)],
    "city": [f"city {at}, é" for at in range(1000)],
    "password": ["hunter2"] * 1000,
}


def frames() -> dict[str, Any]:
    return {
        "pandas": pd.DataFrame(COLUMNS),
        "polars": pl.DataFrame(COLUMNS),
        "pyarrow": pa.table(COLUMNS),
        "batch": pa.RecordBatch.from_pydict(COLUMNS),
    }


def rows_of(found: View) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(found.text)))


@pytest.mark.parametrize("library", sorted(frames()))
def test_a_frame_is_described_without_its_rows(library: str) -> None:
    found = summary(frames()[library])
    assert (found.kind, found.shape) == ("table", (1000, 4))
    assert [column.name for column in found.columns or ()] == list(COLUMNS)
    assert found.nbytes is not None
    assert "city 1" not in json.dumps(found.data()) + found.line()
    assert views.columns(frames()[library]) == list(COLUMNS)


@pytest.mark.parametrize("library", sorted(frames()))
def test_pages_give_every_row_once_and_in_order(library: str) -> None:
    frame = frames()[library]
    found = view(frame, Wanted(rows="0:1000", columns=("city", "n"), max_bytes=5000))
    rows = rows_of(found)
    while found.cursor:
        found = view(frame, Wanted(cursor=found.cursor, max_bytes=5000))
        assert len((found.text or "").encode()) <= 5000
        rows += rows_of(found)
    assert rows == [{"city": f"city {at}, é", "n": str(at)} for at in range(1000)]


@pytest.mark.parametrize("library", sorted(frames()))
def test_formats_say_the_same_rows(library: str) -> None:
    frame = frames()[library]
    as_json = view(frame, Wanted(rows="-2:", format="application/json"))
    assert json.loads(as_json.text or "") == as_json.data
    assert as_json.data["rows"] == [998, 1000]
    assert as_json.data["data"][0] == {"n": 998, "x": 249.5, "city": "city 998, é", "password": "•••"}
    fields = as_json.data["schema"]["fields"]
    assert [(field["name"], field["type"]) for field in fields[:3]] == [
        ("n", "integer"),
        ("x", "number"),
        ("city", "string"),
    ]
    markdown = view(frame, Wanted(rows="0:1", format="text/markdown")).text or ""
    assert markdown.splitlines()[0] == "| n | x | city | password |"
    assert "hunter2" not in markdown


@pytest.mark.parametrize("library", sorted(frames()))
def test_deep_facts_come_only_on_request(library: str) -> None:
    frame = frames()[library]
    assert "deep" not in view(frame).data
    assert view(frame, Wanted(deep=True)).data["deep"]["nulls"] == dict.fromkeys(COLUMNS, 0)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_column_is_reached_by_its_path_and_a_secret_one_is_not(library: str) -> None:
    frame = frames()[library]
    assert summary(pd.Series([1])).shape == (1,)
    column = view(frame, Wanted(path="n", rows="5:7"))
    assert [list(row.values()) for row in rows_of(column)] == [["5"], ["6"]]
    for path in ("password", '["password"]'):
        with pytest.raises(ViewError, match="hidden"):
            view(frame, Wanted(path=path))
    with pytest.raises(ViewError) as missing:
        view(frame, Wanted(columns=("nowhere",)))
    assert missing.value.reason == "no such path"


def test_odd_pandas_frames_keep_their_index_and_their_columns_apart() -> None:
    frame = pd.DataFrame(
        np.arange(6).reshape(2, 3), columns=pd.Index(["a", "a", ("x", 1)], dtype=object), index=["p", "q"]
    )
    assert view(frame).text == 'index,a,a (2),"(x, 1)"\np,0,1,2\nq,3,4,5\n'
    multi = frame.set_axis(pd.MultiIndex.from_tuples([("u", 1), ("v", 2)], names=["k", None]))
    assert rows_of(view(multi))[1]["k"] == "v"
    assert view(pd.DataFrame()).text in ("", "\n")
    assert view(pd.RangeIndex(10**12), Wanted(rows="-2:")).text == "values\n999999999998\n999999999999\n"
    moments = pd.Series(["2026-01-02", None, None], dtype="datetime64[s]")
    missing = pd.DataFrame({"a": [1.5, None, float("inf")], "t": moments})
    assert view(missing, Wanted(format="json")).data["data"] == [
        {"a": 1.5, "t": "2026-01-02T00:00:00"},
        {"a": None, "t": None},
        {"a": "Infinity", "t": None},
    ]


class Trap(pd.DataFrame):
    """A frame of somebody's own, whose every way in is a trap."""

    @property
    def iloc(self) -> Any:
        raise Asked

    @property
    def _constructor(self) -> Any:
        raise Asked

    def __getitem__(self, key: Any) -> Any:
        raise Asked

    def __len__(self) -> int:
        raise Asked


def test_of_a_subclass_only_the_data_is_used() -> None:
    frame = Trap({"a": [1, 2]})
    assert summary(frame).shape == (2, 1)
    assert view(frame).text == "a\n1\n2\n"
    assert views.fingerprint(frame) == views.fingerprint(pd.DataFrame({"a": [1, 2]}))


def test_hostile_cells_are_named_by_their_type() -> None:
    frame = pd.DataFrame({"o": pd.Series([object.__new__(Touchy), {"k": [1] * 1000}, "x" * 10**6], dtype=object)})
    found = view(frame)
    assert "<tests.kernel.hostile.Touchy>" in (found.text or "")
    assert len(found.text or "") < 3000
    assert summary(frame).nbytes == 24


def test_long_cells_are_cut_by_their_library() -> None:
    long = ["z" * 5_000_000] * 3
    tables: list[Any] = [
        pl.DataFrame({"s": long, "l": [list(range(100_000))] * 3}),
        pa.table({"s": long, "b": [b"q" * 5_000_000] * 3}),
        pd.DataFrame({"s": pd.Series(long, dtype="string")}),
    ]
    for table in tables:
        tracemalloc.start()
        found = view(table)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert len(found.text or "") < 5000
        assert most < 4_000_000


def test_a_view_of_a_large_frame_is_no_copy() -> None:
    frame = pd.DataFrame(np.zeros((2_000_000, 10)), columns=pd.Index(list("abcdefghij")))
    view(frame)
    tracemalloc.start()
    before = time.perf_counter()
    view(frame)
    summary(frame)
    views.fingerprint(frame)
    took = time.perf_counter() - before
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 2_000_000  # the frame has 160 MB
    assert took < 2


def test_a_frame_that_is_changed_while_it_is_read_costs_at_most_this_read() -> None:
    frame = pd.DataFrame({"a": range(1000)})
    stop = threading.Event()

    def churn() -> None:
        at = 0
        while not stop.is_set():
            frame[f"c{at % 20}"] = at
            del frame[f"c{at % 20}"]
            at += 1

    thread = threading.Thread(target=churn)
    thread.start()
    reasons: set[str] = set()
    try:
        for _ in range(40):
            try:
                view(frame)
                summary(frame)
                views.fingerprint(frame)
            except ViewError as error:
                reasons.add(error.reason)
    finally:
        stop.set()
        thread.join()
    assert reasons <= {"changed", "failed"}
    assert view(frame).text


def test_a_cursor_of_a_frame_with_other_rows_is_refused() -> None:
    frame = pd.DataFrame({"a": range(1000)})
    cursor = view(frame).cursor
    frame.loc[1000] = 5
    with pytest.raises(ViewError) as changed:
        view(frame, Wanted(cursor=cursor))
    assert changed.value.reason == "changed"


def test_a_change_in_place_changes_the_fingerprint() -> None:
    frame = pd.DataFrame({"a": range(10)})
    before = views.fingerprint(frame)
    frame.loc[3, "a"] = 77
    assert views.fingerprint(frame) != before


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_table_of_thousands_of_columns_shows_the_first_ones(library: str) -> None:
    backend: Any = library
    frame = nw.from_dict({f"c{at}": [at] for at in range(3000)}, backend=backend).to_native()
    found = view(frame)
    assert found.data["data"][0] == {f"c{at}": at for at in range(100)}
    assert "3,000 columns" in (found.note or "")
    assert view(frame, Wanted(columns=("c2999",))).data["data"] == [{"c2999": 2999}]
    assert len(view(frame, Wanted(max_bytes=2000)).text or "") <= 2000


def test_a_lazy_frame_gives_its_first_rows_without_a_cursor() -> None:
    lazy = pl.DataFrame(COLUMNS).lazy()
    assert summary(lazy).columns is None
    found = view(lazy, Wanted(rows="0:3", columns=("n", "password")))
    assert (found.text, found.cursor) == ("n,password\n0,•••\n1,•••\n2,•••\n", None)
    assert "no order" in (found.note or "")
    assert view(lazy, Wanted(deep=True)).data["total"] == 1000
    with pytest.raises(ViewError) as refused:
        view(lazy, Wanted(rows="5:9"))
    assert refused.value.reason == "unsupported"


def elsewhere(value: object) -> str:
    """Why a read on another thread is refused."""
    reasons: list[str] = []

    def read() -> None:
        summary(value)
        views.fingerprint(value)
        views.columns(value)
        with pytest.raises(ViewError) as refused:
            view(value)
        reasons.append(refused.value.reason)

    thread = threading.Thread(target=read)
    thread.start()
    thread.join()
    return reasons[0]


def test_what_belongs_to_duckdb_is_read_on_the_main_thread() -> None:
    with duckdb.connect() as connection:
        connection.execute("create table t as select range as a, 'x' as token from range(50)")
        relation = connection.sql("select * from t")
        assert views.needs_main_thread(relation)
        assert elsewhere(relation) == elsewhere(connection) == "busy"
        found = view(relation, Wanted(rows="0:2"))
        assert found.text == "a,token\n0,•••\n1,•••\n"
        assert view(relation, Wanted(deep=True)).data["total"] == 50
        pending = connection.execute("select 1")
        assert view(connection).data["tables"] == ["t"]
        assert pending.fetchall() == [(1,)]


def test_what_belongs_to_sqlite_is_read_on_the_main_thread() -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute("create table t (a)")

    def foreign(*_: object) -> object:
        pytest.fail("foreign code")

    connection.row_factory = foreign
    assert views.needs_main_thread(connection)
    assert elsewhere(connection) == "busy"
    assert view(connection).data["tables"] == ["t"]
    connection.close()
