"""Tables and arrays that are odd but lawful: what is shown of each, as its library would say it."""

from __future__ import annotations

import datetime
import decimal
import importlib
import time
import tracemalloc
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from jupyter_mcp.kernel import views
from jupyter_mcp.kernel.views import ViewError, Wanted, summary, view
from jupyter_mcp.kernel.views.formats import schema_type

if TYPE_CHECKING:
    from collections.abc import Callable

np: Any = importlib.import_module("numpy")  # these without types: much here is odd to a type checker
pd: Any = importlib.import_module("pandas")
pl: Any = importlib.import_module("polars")
pa: Any = importlib.import_module("pyarrow")
AS_JSON = Wanted(format="json")


def rows(value: object, wanted: Wanted = AS_JSON) -> list[dict[str, Any]]:
    return view(value, wanted).data["data"]


def peak(action: Callable[[], object]) -> int:
    """The most memory in bytes that Python's own allocator gave while something was done."""
    action()
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


# --- pandas ----------------------------------------------------------------------------------------------------------


def test_levels_of_columns_and_columns_that_are_no_texts_have_names() -> None:
    frame = pd.DataFrame(
        [[1, 2, 3]], columns=pd.MultiIndex.from_tuples([("a", "x"), ("a", "y"), ("b", "x")], names=["l", None])
    )
    assert rows(frame) == [{"(a, x)": 1, "(a, y)": 2, "(b, x)": 3}]
    assert rows(frame, Wanted(format="json", columns=("(b, x)",))) == [{"(b, x)": 3}]
    numbered = pd.DataFrame({1: [1], 2.5: [2], None: [3], pd.Timestamp("2026-01-02"): [4], (1, "t"): [5]})
    names = views.columns(numbered)
    assert [*names[:2], *names[3:]] == ["1", "2.5", "2026-01-02T00:00:00", "(1, t)"]
    assert names[2] in ("null", "NaN")  # as the release of pandas keeps it
    assert view(numbered, Wanted(path="['1']")).data["data"] == [{"1": 1}]


def test_types_of_pandas_are_shown_as_what_they_say() -> None:
    frame = pd.DataFrame(
        {
            "nullable": pd.array([1, None], dtype="Int64"),
            "truth": pd.array([True, None], dtype="boolean"),
            "kind": pd.Categorical(["a", None]),
            "zone": pd.to_datetime(["2026-01-02", None]).tz_localize("Europe/Madrid"),
            "took": pd.to_timedelta(["1 day", None]),
            "month": pd.PeriodIndex(["2026-01", None], freq="M"),
            "between": pd.arrays.IntervalArray.from_tuples([(0, 1), None]),
            "price": [decimal.Decimal("1.50"), None],
            "sparse": pd.arrays.SparseArray([0, 1]),
        }
    )
    first, second = rows(frame)
    assert first == {
        "nullable": 1,
        "truth": True,
        "kind": "a",
        "zone": "2026-01-02T00:00:00+01:00",
        "took": "P1DT0H0M0S",
        "month": "2026-01",
        "between": "(0.0, 1.0]",
        "price": "1.50",
        "sparse": 0,
    }
    assert second == {**dict.fromkeys(first), "sparse": 1}
    fields = {field["name"]: field["type"] for field in view(frame, AS_JSON).data["schema"]["fields"]}
    assert (fields["nullable"], fields["zone"], fields["took"], fields["between"]) == (
        "integer",
        "datetime",
        "duration",
        "any",
    )


def test_an_index_is_shown_as_what_it_holds_and_its_long_texts_are_cut() -> None:
    zone = pd.date_range("2026-01-01", periods=2, tz="UTC", name="when")
    assert rows(pd.DataFrame({"a": [1, 2]}, index=zone))[1] == {"when": "2026-01-02T00:00:00+00:00", "a": 2}
    kinds = pd.CategoricalIndex(["x", "y"], name="kind")
    assert rows(pd.DataFrame({"a": [1, 2]}, index=kinds))[0] == {"kind": "x", "a": 1}
    long = pd.Index(pd.array(["z" * 5_000_000] * 30, dtype="string"), name="s")
    frame = pd.DataFrame({"a": range(30)}, index=long)
    assert peak(lambda: view(frame)) < 4_000_000


def test_long_categories_are_cut_before_they_become_pythons() -> None:
    texts = pd.Series(["q" * 5_000_000, "r"], dtype="string").astype("category")
    column = pd.concat([texts] * 40, ignore_index=True).astype("category")
    assert len(rows(column)[0]["values"]) <= 500
    assert peak(lambda: view(column)) < 12_000_000


def test_a_frame_without_columns_or_rows_is_empty_in_every_format() -> None:
    for frame in (pd.DataFrame(), pd.DataFrame(index=range(5)), pl.DataFrame(), pa.table({})):
        assert summary(frame).kind == "table"
        for kind in ("csv", "markdown"):
            found = view(frame, Wanted(format=kind))
            assert (found.text, found.cursor) == ("", None)
        assert rows(frame) == []
        views.fingerprint(frame)
    for frame in (pd.DataFrame({"a": []}), pl.DataFrame({"a": []}), pa.table({"a": pa.array([], pa.int64())})):
        assert view(frame).text == "a\n"
        assert view(frame, Wanted(format="md")).text == "| a |\n| --- |\n"


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_hundred_thousand_columns_take_no_longer_than_a_moment(library: str) -> None:
    width = 100_000
    names = [f"c{at}" for at in range(width)]
    frame: Any = pd.DataFrame(np.zeros((3, width)), columns=pd.Index(names))
    if library == "polars":
        frame = pl.DataFrame(np.zeros((3, width)), schema=names)
    elif library == "pyarrow":
        frame = pa.table([pa.array([0.0, 0.0, 0.0])] * width, names=names)
    before = time.thread_time()
    assert summary(frame).shape == (3, width)
    assert len(summary(frame).data()["columns"]) == 100
    found = view(frame)
    assert "100,000 columns" in (found.note or "")
    assert view(frame, Wanted(columns=("c99999",))).text == "c99999\n0.0\n0.0\n0.0\n"
    assert views.fingerprint(frame) is not None
    assert len(views.columns(frame)) == width
    assert time.thread_time() - before < 5  # seconds of this thread alone; about one


def test_deep_facts_of_a_wide_frame_stay_within_the_budget() -> None:
    frame = pd.DataFrame({f"a column with a long name {at:03d}": [at] for at in range(100)})
    found = view(frame, Wanted(deep=True, format="json", max_bytes=3000))
    assert len((found.text or "").encode()) <= 3000
    assert found.data["deep"]["nulls"]


def test_a_cursor_that_names_many_columns_can_be_used() -> None:
    names = tuple(f"a column whose name is as long as people make them when they can {at:04d}" for at in range(400))
    frame = pd.DataFrame({name: range(3000) for name in names})
    first = view(frame, Wanted(rows="0:3000", columns=names, max_bytes=200_000))
    assert len(first.cursor or "") > 16_384
    following = view(frame, Wanted(cursor=first.cursor, max_bytes=200_000))
    assert following.data["rows"][0] == first.data["rows"][1]


# --- nested ----------------------------------------------------------------------------------------------------------

NESTED: dict[str, list[Any]] = {
    "s": [{"a": 1, "password": "hunter2", "l": [[1, 2], [3]]}, None],
    "l": [[{"k": "v"}], []],
    "d": [datetime.timedelta(hours=1), None],
    "b": [b"raw", None],
}
SHOWN: list[dict[str, Any]] = [
    {"s": {"a": 1, "password": "•••", "l": [[1, 2], [3]]}, "l": [{"k": "v"}], "d": "3600.0 s"},
    {"s": None, "l": [], "d": None},
]


@pytest.mark.parametrize("make", [pl.DataFrame, pa.table], ids=["polars", "pyarrow"])
def test_nested_cells_keep_their_names_and_secrets_in_them_are_masked(make: Any) -> None:
    found = rows(make(NESTED))
    assert [{name: row[name] for name in SHOWN[0]} for row in found] == SHOWN
    assert [row["b"] for row in found] == ["<bytes of 3 B>", None]


def test_nested_types_of_arrow_in_pandas_are_shown_the_same_way() -> None:
    frame = pa.table(NESTED).to_pandas(types_mapper=pd.ArrowDtype)
    found = rows(frame)
    assert (found[0]["s"], found[0]["l"], found[0]["b"]) == (SHOWN[0]["s"], SHOWN[0]["l"], "<bytes of 3 B>")
    assert found[1]["s"] is None


def nested_and_large() -> list[tuple[str, Any]]:
    inner = list(range(400_000))
    text = "z" * 3_000_000
    polars = pl.DataFrame(
        {
            "ll": pl.Series([[inner, inner]] * 3, dtype=pl.List(pl.List(pl.Int64))),
            "st": [{"t": text, "^x$": inner}] * 3,
            "lt": [[text] * 2] * 3,
            "c": pl.Series([text] * 3, dtype=pl.Categorical),
        }
    )
    arrow = pa.table(
        {
            "ll": [[inner, inner]] * 3,
            "st": [{"t": text, "x": inner}] * 3,
            "lt": [[text] * 2] * 3,
            "c": pa.array([text] * 3).dictionary_encode(),
            "v": pa.array([text] * 3, pa.string_view()),
            "m": pa.array([[("k", text)]] * 3, pa.map_(pa.string(), pa.string())),
        }
    )
    return [("polars", polars), ("pyarrow", arrow), ("pandas", arrow.select(["ll", "st", "lt", "v"]))]


def test_large_nested_cells_are_cut_by_their_library_at_every_depth() -> None:
    for library, table in nested_and_large():
        frame = table.to_pandas(types_mapper=pd.ArrowDtype) if library == "pandas" else table
        first = rows(frame)[0]
        assert first["ll"][0][:2] == [0, 1]
        assert len(first["lt"][0]) <= 500
        assert len(first["st"]["t"]) <= 500
        assert peak(lambda frame=frame: view(frame)) < 4_000_000, library


def test_a_type_of_somebodys_own_in_arrow_is_shown_by_what_it_stores() -> None:
    class Own(pa.ExtensionType):
        def __init__(self) -> None:
            pa.ExtensionType.__init__(self, pa.int64(), "own")

        def __arrow_ext_serialize__(self) -> bytes:
            return b""

        @classmethod
        def __arrow_ext_deserialize__(cls, storage: Any, serialized: bytes) -> Any:
            return cls()

        def __arrow_ext_scalar_class__(self) -> Any:
            pytest.fail("foreign code")

    column = pa.ExtensionArray.from_storage(Own(), pa.array([1, None]))
    assert rows(column) == [{"values": 1}, {"values": None}]


def test_names_that_are_alike_for_two_hundred_characters_stay_two_columns() -> None:
    long = "n" * 300
    for make in (pl.DataFrame, pd.DataFrame, pa.table):
        assert [list(row.values()) for row in rows(make({f"{long}a": [1], f"{long}b": [2]}))] == [[1, 2]]


def test_a_column_of_polars_that_looks_like_a_pattern_is_itself() -> None:
    frame = pl.DataFrame({"^.*$": ["a"], "b": ["b"]})
    assert rows(frame) == [{"^.*$": "a", "b": "b"}]
    assert rows(frame.lazy()) == [{"^.*$": "a", "b": "b"}]


# --- numpy -----------------------------------------------------------------------------------------------------------


def test_records_are_a_table_and_their_secret_fields_are_masked() -> None:
    dtype = [
        ("name", "U8"),
        ("password", "U8"),
        ("at", "M8[D]"),
        ("in", [("token", "U8"), ("n", "i4")]),
        ("v", "f4", 2),
    ]
    records = np.array([("ann", "hunter2", "2026-01-02", ("tttttt", 3), [1, 2])], dtype=dtype)
    assert views.columns(records) == ["name", "password", "at", "in", "v"]
    assert rows(records) == [
        {"name": "ann", "password": "•••", "at": "2026-01-02", "in": {"token": "•••", "n": 3}, "v": [1.0, 2.0]}
    ]
    assert rows(records, Wanted(columns=("v", "name"), format="json")) == [{"v": [1.0, 2.0], "name": "ann"}]
    assert view(records, Wanted(path="[0].name")).data == "ann"
    assert view(records, Wanted(path="[0]")).data["in"] == {"token": "•••", "n": 3}
    assert view(records.reshape(1, 1, 1)).data["values"][0][0][0]["password"] == "•••"
    with pytest.raises(ViewError, match="hidden"):
        view(records, Wanted(path="password"))


def test_texts_in_arrays_of_any_shape_are_masked() -> None:
    secret = "ghp_" + "a1B2" * 9
    for shape in ((), (1,), (1, 1), (1, 1, 1)):
        assert secret not in str(view(np.full(shape, secret)))


def test_items_of_many_megabytes_are_not_copied_out() -> None:
    large: list[Any] = [
        np.zeros(3, dtype=[("a", "f8", 1_000_000)]),
        np.zeros(3, dtype="V8000000"),
        np.array(["x" * 5_000_000] * 3),
        np.array([b"x" * 5_000_000] * 3),
    ]
    for array in large:
        found = view(array, AS_JSON)
        assert len(found.text or "") < 5000
        assert peak(lambda array=array: (view(array), views.fingerprint(array))) < 3_000_000, array.dtype


def test_texts_of_numpy_of_any_length_are_cut() -> None:
    strings = pytest.importorskip("numpy.dtypes").StringDType()
    array = np.array(["a", "z" * 2_000_000], dtype=strings)
    assert view(array, Wanted(rows="0:1")).text == "value\na\n"
    assert len(view(array).text or "") < 1000
    assert views.fingerprint(array) is not None


def test_masked_items_are_null_in_every_shape() -> None:
    flat = np.ma.masked_array([1, 2], mask=[True, False])
    assert view(flat, AS_JSON).data["data"] == [{"value": None}, {"value": 2}]
    square = np.ma.masked_array([[1, 2], [3, 4]], mask=[[0, 1], [0, 0]])
    assert view(square).text == "0,1\n1,\n3,4\n"
    assert view(square.reshape(1, 2, 2)).data["values"] == [[[1, None], [3, 4]]]
    assert view(np.ma.masked_array([1, 2])).note == "rows 0 to 2 of 2"


def test_an_array_with_gaps_is_sampled_without_a_copy() -> None:
    array = np.zeros((4, 6_000_000))[:, ::2]
    assert peak(lambda: views.fingerprint(array)) < 1_000_000
    before = views.fingerprint(array)
    array[0, 0] = 1
    assert views.fingerprint(array) != before
    columns = np.zeros((1_000_000, 8), order="F")
    assert peak(lambda: (views.fingerprint(columns), view(columns, Wanted(rows="0:5")))) < 1_000_000
    assert view(columns, Wanted(deep=True, rows="0")).data["deep"] == {"nulls": 0}


def test_numbers_that_python_has_no_type_for_are_texts() -> None:
    assert view(np.longdouble("1.5")).data == "1.5"
    assert view(np.array([1.5], dtype="g")).text == "value\n1.5\n"


# --- what is lazy ----------------------------------------------------------------------------------------------------


def test_a_lazy_table_without_rows_has_its_header_in_the_wanted_format() -> None:
    lazy = pl.LazyFrame({"a, b": [1], "c": ["x"]})
    assert view(lazy, Wanted(rows="0:0")).text == '"a, b",c\n'
    assert view(lazy, Wanted(rows="0:0", format="md")).text == "| a, b | c |\n| --- | --- |\n"
    assert view(lazy, Wanted(rows="0:0", columns=("c",))).text == "c\n"


def test_a_lazy_table_of_many_columns_stays_within_the_budget() -> None:
    lazy = pl.LazyFrame({f"{'long ' * 30}{at}": [at] for at in range(900)})
    for kind in ("csv", "json", "md"):
        found = view(lazy, Wanted(format=kind, max_bytes=4000))
        assert len((found.text or "").encode()) <= 4000
        assert "of 900 columns" in (found.note or "")


def test_the_engine_cuts_long_cells_of_lazy_tables() -> None:
    table = pa.table({"t": ["z" * 3_000_000] * 3, "l": [list(range(300_000))] * 3, "b": [b"q" * 3_000_000] * 3})
    lazy = pl.from_arrow(table).lazy()
    assert peak(lambda: view(lazy)) < 3_000_000
    with duckdb.connect() as connection:
        relation = connection.from_arrow(table)
        assert peak(lambda: view(relation)) < 3_000_000
        found = rows(relation)[0]
        assert (len(found["t"]), found["l"][:2], found["b"]) == (500, [0, 1], "<bytes of 3000000 B>")


def test_a_relation_whose_connection_is_not_read_to_its_end_says_so() -> None:
    with duckdb.connect() as connection:
        relation = connection.sql("select 1 as a, 2 as a")
        pending = connection.execute("select * from range(3000000)")
        pending.fetchmany(5)
        if duckdb.__version__ >= "2":  # older releases give the pending result up
            with pytest.raises(ViewError) as refused:
                view(relation)
            assert refused.value.reason == "busy"
            assert len(pending.fetchall()) == 3_000_000 - 5
        assert view(relation).text == "a,a (2)\n1,2\n"


def test_a_lazy_table_is_never_computed_but_by_a_view() -> None:
    computed: list[int] = []

    def count(batch: Any) -> Any:
        computed.append(len(batch))
        return batch

    lazy = pl.LazyFrame({"a": range(100)}).with_columns(pl.col("a").map_batches(count, return_dtype=pl.Int64))
    assert views.columns(lazy) == ["a"]
    assert (summary(lazy).line(), views.fingerprint(lazy), computed) == ("LazyFrame", None, [])
    assert view(lazy, Wanted(rows="0:2")).text == "a\n0\n1\n"
    assert computed


def test_a_way_into_a_lazy_table_says_how_else() -> None:
    with pytest.raises(ViewError, match="columns"):
        view(pl.LazyFrame({"a": [1]}), Wanted(path="a"))


@pytest.mark.parametrize(
    ("dtype", "found"),
    [
        ("interval[int64, right]", "any"),
        ("INTERVAL", "duration"),
        ("INTEGER[]", "array"),
        ("INTEGER[3]", "array"),
        ("int64", "integer"),
        ("<U5", "string"),
        (">u4", "any"),
        ("dictionary<values=int64, indices=int32, ordered=0>", "integer"),
        ("dictionary<values=string, indices=int32, ordered=0>", "string"),
        ("bfloat16", "number"),
        ("datetime64[us, UTC]", "datetime"),
        ("List(Int64)", "array"),
        ("array<int>", "array"),
        ("STRUCT(a INTEGER)", "object"),
    ],
)
def test_types_of_libraries_have_their_name_in_a_table_schema(dtype: str, found: str) -> None:
    assert schema_type(dtype) == found
