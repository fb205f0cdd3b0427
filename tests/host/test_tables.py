"""Rows found in results, and the frames made of them."""

from __future__ import annotations

import importlib.machinery
from typing import Any

import pytest

from jupyter_mcp.errors import UsageError
from jupyter_mcp.host import tables
from jupyter_mcp.host.tables import find_columns, frame, text_columns

RECORDS = [{"a": 1, "b": "x"}, {"a": 2, "c": None}]
FROM_RECORDS = {"a": [1, 2], "b": ["x", None], "c": [None, None]}


@pytest.mark.parametrize(
    ("data", "columns"),
    [
        (RECORDS, FROM_RECORDS),
        ({"result": RECORDS}, FROM_RECORDS),
        ({"rows": RECORDS, "count": 2, "message": "ok"}, FROM_RECORDS),
        ({"result": {"rows": RECORDS}}, FROM_RECORDS),
        (
            {"success": True, "columns": ["a", "b"], "columnTypes": ["INT", "INT"], "rows": [[1, 2], [3, 4]]},
            {"a": [1, 3], "b": [2, 4]},
        ),
        ({"columns": [{"name": "a", "type": "int"}], "data": [[1], [2]]}, {"a": [1, 2]}),
        ({"columns": ["a", "a"], "data": [[1, 2]]}, {"a": [1], "a_2": [2]}),
        ({"columns": ["a"], "rows": [{"a": 1, "z": 9}]}, {"a": [1]}),
        ({"columns": ["a", "b"], "rows": []}, {"a": [], "b": []}),
        ({"a": [1, 2], "b": ["x", "y"]}, {"a": [1, 2], "b": ["x", "y"]}),
        ({"result": [1, 2, 3]}, {"result": [1, 2, 3]}),
        ([1, "x", None], {"value": [1, "x", None]}),
        ({"temp": 20.5, "unit": "C"}, {"temp": [20.5], "unit": ["C"]}),
        ({"schema": {"fields": [1]}, "data": RECORDS}, FROM_RECORDS),
    ],
)
def test_rows_are_found_in_the_shapes_servers_use(data: Any, columns: Any):
    assert find_columns(data) == columns


@pytest.mark.parametrize(
    "data",
    [
        None,
        5,
        "text",
        [],
        {},
        [[1, 2], [3]],
        {"one": RECORDS, "two": RECORDS},
        {"a": {"b": {"c": {"d": {"e": RECORDS}}}}},
        {"columns": ["a"], "rows": [[1, 2]]},
        {"nested": {"x": [1]}, "other": {"y": 2}},
    ],
)
def test_what_could_be_read_in_two_ways_is_no_table(data: Any):
    assert find_columns(data) is None


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("city,pop\nParis,2.1\nRome,\n", {"city": ["Paris", "Rome"], "pop": [2.1, None]}),
        ("city\tpop\nParis\t2\n", {"city": ["Paris"], "pop": [2]}),
        ('a;b\n"x;1";007\n', {"a": ["x;1"], "b": ["007"]}),
        ('a,b\n"line\nbreak",2\n', {"a": ["line\nbreak"], "b": [2]}),
        ("Here:\n\n| a | b \\| c |\n|---|:-:|\n| 1 | x |\n| 2 |\n\nDone.", {"a": [1, 2], "b | c": ["x", None]}),
        ("```csv\na,b\n1,2\n```", {"a": [1], "b": [2]}),
        ('{"a": 1}\n{"a": 2}\n', {"a": [1, 2]}),
        ('[{"a": 1}]', {"a": [1]}),
        ("""[{'a': "it's", 'b': None}, {'a': True}]""", {"a": ["it's", True], "b": [None, None]}),
    ],
)
def test_a_table_in_text_is_read_when_there_is_one_way_to(text: str, columns: Any):
    assert text_columns(text) == columns


@pytest.mark.parametrize(
    "text",
    [
        "",
        "just a sentence, with a comma",
        "1,2\n3,4",
        "a,a\n1,2",
        "Hello, world\nno comma here",
        "{broken json",
        "[{'a': datetime.date(2026, 1, 1)}]",
        "[(42,)]",
        "[{" * 9_000,
        "| a |\n|---|\n| 1 |\n\n| b |\n|---|\n| 2 |",
    ],
)
def test_prose_is_no_table(text: str):
    assert text_columns(text) is None


def test_structured_data_is_preferred_to_text():
    assert find_columns({"a": [1]}, "b,c\n1,2") == {"a": [1]}


def test_a_text_wrapped_in_an_object_is_read_like_one_that_is_not():
    assert find_columns({"result": "| a |\n| - |\n| 1 |"}) == {"a": [1]}
    assert find_columns({"result": "just words"}) == {"result": ["just words"]}


def test_a_frame_is_pandas_when_it_is_installed():
    pandas = pytest.importorskip("pandas")
    made = frame({"a": [1, 2], "b": ["x", None]})
    assert isinstance(made, pandas.DataFrame)
    assert list(made.columns) == ["a", "b"]


def test_without_a_library_the_pip_line_is_said(monkeypatch: pytest.MonkeyPatch):
    def nothing(name: str) -> None:
        return None

    monkeypatch.setattr(tables, "find_spec", nothing)
    with pytest.raises(UsageError, match="pandas, polars or pyarrow") as error:
        frame({"a": [1]})
    assert error.value.hint == "%pip install pandas"


@pytest.mark.parametrize(("library", "called"), [("polars", "DataFrame"), ("pyarrow", "table")])
def test_polars_then_pyarrow_stand_in_for_pandas(monkeypatch: pytest.MonkeyPatch, library: str, called: str):
    import sys
    from types import ModuleType

    made: list[Any] = []
    module = ModuleType(library)
    setattr(module, called, lambda columns, **options: made.append(columns) or "a frame")  # pyright: ignore
    monkeypatch.setitem(sys.modules, library, module)
    spec = importlib.machinery.ModuleSpec(library, None)
    monkeypatch.setattr(tables, "find_spec", lambda name: spec if name == library else None)  # pyright: ignore
    assert frame({"a": [1]}) == "a frame"
    assert made == [{"a": [1]}]
