"""Pages of tables as text: every kind of cell as JSON writes it, and as many rows as a budget holds."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest

from jupyter_mcp.kernel.views.base import CSV, JSON, MARKDOWN, Column
from jupyter_mcp.kernel.views.formats import Page, rendered
from jupyter_mcp.kernel.views.frames import cells_of

CELLS: list[Any] = [
    0,
    -7,
    2**62,
    0.1,
    -0.0,
    1e16,
    1e-7,
    5e-324,
    True,
    False,
    None,
    "a,b",
    'say "x"',
    "ü",
    [1, 2.5],
    {"a": None},
]


def page(*cells: Any, rows: int = 1) -> Page:
    """A table of these cells, each in a column of its own with a name that JSON has to escape."""
    columns = tuple(Column(f'the "{number}"\n', "int64") for number in range(len(cells)))
    return Page(columns, tuple([cell] * rows for cell in cells))


def test_a_cell_of_a_csv_is_written_as_json_writes_it_but_for_texts_and_nothing() -> None:
    text, _, _ = rendered(page(*CELLS), CSV, 65536)
    (row,) = list(csv.reader(io.StringIO(text)))[1:]
    assert row == ["" if cell is None else cell if isinstance(cell, str) else compact(cell) for cell in CELLS]


@pytest.mark.parametrize("cell", [None, ""])
def test_a_row_of_one_empty_cell_is_no_empty_line_in_a_csv(cell: Any) -> None:
    text, _, _ = rendered(Page((Column("a", "str"),), ([cell, cell],)), CSV, 65536)
    assert text == 'a\n""\n""\n'


def compact(cell: Any) -> str:
    return json.dumps(cell, separators=(",", ":"))


@pytest.mark.parametrize("mime_type", [CSV, JSON, MARKDOWN])
def test_the_rows_are_as_many_as_the_budget_holds_as_text_and_as_data(mime_type: str) -> None:
    whole = page(*CELLS, rows=60)
    held: list[int] = []
    for budget in range(2500, 9000, 150):
        text, data, count = rendered(whole, mime_type, budget)
        said = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
        assert max(len(text.encode()), len(said.encode())) <= budget
        assert len(data["data"]) == count
        each = len(json.dumps(data["data"][0], ensure_ascii=False, separators=(",", ":")).encode()) + 1
        assert len(said.encode()) + each > budget - 400, "there was room for another row"
        held.append(count)
    assert held == sorted(held)
    assert held[0] < held[-1] < 60


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([1.5, -0.0], [1.5, -0.0]),
        ([1.5, float("nan")], [1.5, "NaN"]),
        ([float("inf"), float("-inf")], ["Infinity", "-Infinity"]),
        ([1.5, None], [1.5, None]),
        ([True, False], [True, False]),
        ([True, 2], [True, 2]),
        ([2**80], [str(2**80)]),
        ([2**63 - 1, -(2**63)], [2**63 - 1, -(2**63)]),
        ([2**63, 1], [str(2**63), 1]),
        ([], []),
    ],
)
def test_numbers_of_a_column_are_what_json_can_say(given: list[Any], expected: list[Any]) -> None:
    found = cells_of(given)
    assert (found, list(map(type, found))) == (expected, list(map(type, expected)))


def test_a_missing_number_of_a_library_without_nulls_is_nothing() -> None:
    assert cells_of([1.5, float("nan")], nan_is_null=True) == [1.5, None]


class Liar(type):
    """A metaclass whose classes say that they are the classes of Python."""

    def __hash__(cls) -> int:
        return hash(float)

    def __eq__(cls, other: object) -> bool:
        return True


class Lie(metaclass=Liar):
    """Says that it is a float."""


def test_a_class_that_equals_every_other_is_not_taken_for_a_number() -> None:
    (found,) = cells_of([Lie()])
    assert found == "<tests.kernel.test_formats.Lie>"
