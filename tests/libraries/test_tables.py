"""Views of dask's, ibis' and Spark's tables, with those libraries; what is lazy is computed by a view alone."""

from __future__ import annotations

import importlib
import os
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.kernel import views
from jupyter_mcp.kernel.views import ViewError, Wanted, summary, view
from tests.libraries.shared import cells, check_views, elsewhere, grown

if TYPE_CHECKING:
    from collections.abc import Iterator

pd: Any = importlib.import_module("pandas")
FIRST = Wanted(rows="0:2", format="json")
LONG = "z" * 3_000_000


# --- dask ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def frame() -> Any:
    dask = pytest.importorskip("dask.dataframe")
    held = pd.DataFrame({"a": range(100), "city": [f"c{at}" for at in range(100)], "password": "hunter2"})
    return dask.from_pandas(held, npartitions=10)


def test_a_frame_of_dask_gives_its_schema_and_its_first_rows(frame: Any) -> None:
    assert (summary(frame).kind, views.columns(frame)) == ("table", ["a", "city", "password"])
    found = check_views(frame)
    assert (found.cursor, "no order" in (found.note or "")) == (None, True)
    assert cells(frame, FIRST)[1] == {"a": 1, "city": "c1", "password": "•••"}
    assert view(frame, Wanted(rows="0:1", columns=("city",))).text == "city\nc0\n"
    assert view(frame, Wanted(deep=True)).data["total"] == 100
    assert cells(frame.a, FIRST) == [{"a": 0}, {"a": 1}]
    assert cells(frame.index, FIRST) == [{"values": 0}, {"values": 1}]


def test_rows_that_are_filtered_stay_under_their_own_columns(frame: Any) -> None:
    """The rows of a filtered frame have an index that its schema does not know of."""
    assert cells(frame[frame.a > 50], FIRST)[0] == {"a": 51, "city": "c51", "password": "•••"}


def test_dask_computes_as_few_parts_as_hold_the_rows_and_none_for_a_summary(frame: Any) -> None:
    computed: list[int] = []

    def part(held: Any) -> Any:
        computed.append(len(held))
        return held

    lazy = frame.map_partitions(part, meta=frame._meta)
    computed.clear()
    assert (summary(lazy).shape, views.fingerprint(lazy), len(views.columns(lazy))) == (None, None, 3)
    assert computed == []
    assert len(cells(lazy, FIRST)) == 2
    assert computed == [10]
    assert len(cells(lazy, Wanted(rows="0:35", format="json"))) == 35
    assert len(cells(lazy, Wanted(rows="0:", format="json"))) == 100


# --- ibis ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def table() -> Any:
    ibis = pytest.importorskip("ibis")
    held = {"a": [1, 2, 3], "s": ["x", LONG, None], "l": [[1] * 300_000] * 3, "token": ["t"] * 3}
    return ibis.memtable(importlib.import_module("pyarrow").table(held))


@pytest.mark.filterwarnings("ignore:.*future.infer_string:DeprecationWarning")  # ibis asks pandas for it
def test_a_table_of_ibis_is_read_on_the_main_thread(table: Any) -> None:
    assert views.needs_main_thread(table)
    assert elsewhere(table) == "busy"
    assert views.columns(table) == ["a", "s", "l", "token"]
    assert check_views(table).data["rows"][0] == 0
    first, second = cells(table, FIRST)
    assert (first["a"], first["s"], first["token"]) == (1, "x", "•••")
    assert (len(second["s"]), len(second["l"])) == (500, 21)
    assert view(table.a, Wanted(rows="0:2")).text == "a\n1\n2\n"
    assert view(table, Wanted(deep=True, columns=("a",))).data["total"] == 3
    with pytest.raises(ViewError, match="unbound"):
        view(pytest.importorskip("ibis").table({"a": "int64"}, name="nowhere"))


# --- Spark -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    sql = pytest.importorskip("pyspark.sql")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Java is not installed")
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    settings = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}
    builder = sql.SparkSession.builder.master("local[1]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


@pytest.mark.timeout(300)
def test_a_frame_of_spark_is_read_on_the_main_thread(spark: Any) -> None:
    rows: list[Any] = [(1, "x", ("hunter2", 5), [1, 2]), (2, None, None, [])]
    kinds = "a int, `s.t` string, nested struct<password:string,n:int>, l array<int>"
    frame = spark.createDataFrame(rows, kinds)
    assert views.needs_main_thread(frame)
    assert elsewhere(frame) == "busy"
    assert views.columns(frame) == ["a", "s.t", "nested", "l"]
    found = view(frame, Wanted(format="json", deep=True))
    assert found.data["data"] == [
        {"a": 1, "s.t": "x", "nested": {"password": "•••", "n": 5}, "l": [1, 2]},
        {"a": 2, "s.t": None, "nested": None, "l": []},
    ]
    assert [field["type"] for field in found.data["schema"]["fields"]] == ["integer", "string", "object", "array"]
    assert (found.data["total"], found.cursor) == (2, None)
    assert view(frame, Wanted(columns=("s.t",), rows="0:1")).text == "s.t\nx\n"
    assert view(frame, Wanted(rows="0:0", format="md")).text.startswith("| a | s.t |")  # type: ignore[union-attr]


@pytest.mark.timeout(300)
def test_spark_cuts_long_cells_itself_and_columns_may_share_a_name(spark: Any) -> None:
    frame = spark.sql("select repeat('z', 3000000) as t, 2 as t, repeat('q', 3000000) as u, cast('xyz' as binary) as b")
    found = cells(frame)[0]
    assert (len(found["t"]), found["t (2)"], found["b"]) == (500, 2, "<bytes of 3 B>")
    assert grown(lambda: view(frame)) < 20_000_000
