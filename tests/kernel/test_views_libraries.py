"""Views of arrays, pictures and figures, and what others register; tests/libraries has the other libraries."""

from __future__ import annotations

import io
import json
import tracemalloc
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from PIL import Image

from jupyter_mcp.kernel import views
from jupyter_mcp.kernel.views import View, ViewError, Wanted, summary, view
from tests.kernel.hostile import Asked, Touchy

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def _clean() -> Iterator[None]:
    yield
    views.reset()
    views.captured_by(None)


def test_arrays_of_every_depth() -> None:
    assert view(np.array(3.5)).data == 3.5
    assert view(np.arange(3)).text == "value\n0\n1\n2\n"
    assert view(np.arange(4).reshape(2, 2), Wanted(columns=("1",))).text == "1\n1\n3\n"
    cube = view(np.arange(24).reshape(2, 3, 4), Wanted(rows="1:"))
    assert cube.data["values"] == [[[12, 13, 14, 15], [16, 17, 18, 19], [20, 21, 22, 23]]]
    assert json.loads(cube.text or "") == cube.data
    assert view(np.arange(24).reshape(2, 3, 4), Wanted(path="[1][2]")).text == "value\n20\n21\n22\n23\n"
    assert summary(np.zeros((2, 3), dtype="f4")).line() == "ndarray 2 x 3 float32"
    assert view(np.zeros((0, 3))).text == "0,1,2\n"


def test_odd_items_of_arrays() -> None:
    assert view(np.array([np.nan, np.inf]), Wanted(format="json")).data["data"] == [
        {"value": "NaN"},
        {"value": "Infinity"},
    ]
    objects = np.empty(2, dtype=object)
    objects[0] = object.__new__(Touchy)
    assert view(objects).text == 'value\n<tests.kernel.hostile.Touchy>\n""\n'
    assert view(np.array(["2026-01-02", "NaT"], dtype="M8[D]")).text == "value\n2026-01-02\nNaT\n"
    assert view(np.array([(1, 2.5)], dtype=[("a", "i4"), ("b", "f8")])).text == "a,b\n1,2.5\n"
    masked = view(np.ma.masked_array([1, 2], mask=[False, True]))
    assert (masked.text, masked.note) == ('value\n1\n""\n', "rows 0 to 2 of 2; masked items are null")
    assert view(np.float32(1.5)).data == 1.5
    assert view({"a": np.int64(3), "b": np.arange(3)}).data == {"a": 3, "b": "<numpy.ndarray>"}


class Trap(np.ndarray):
    """An array of somebody's own."""

    def __getitem__(self, key: Any) -> Any:
        raise Asked

    def __array_finalize__(self, obj: Any) -> None:
        if type(obj) is Trap:
            raise Asked

    @property
    def shape(self) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        raise Asked


def test_of_an_array_subclass_only_the_buffer_is_used() -> None:
    trap = np.arange(3).view(Trap)
    assert view(trap).text == "value\n0\n1\n2\n"
    assert summary(trap).shape == (3,)


def test_a_large_array_is_paged_without_a_copy() -> None:
    large = np.zeros((5_000_000, 4))
    view(large)
    tracemalloc.start()
    found = view(large, Wanted(rows="4999990:", format="csv"))
    views.fingerprint(large)
    views.fingerprint(large[::-1])
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (found.data["rows"], found.cursor) == ([4999990, 5000000], None)
    assert most < 3_000_000
    assert view(large, Wanted(deep=True)).data["deep"] == {"nulls": 0}


def test_a_change_in_an_array_is_seen() -> None:
    array = np.arange(100)
    before = views.fingerprint(array)
    array[50] = -1
    assert views.fingerprint(array) != before


def test_a_picture_is_scaled_until_it_fits() -> None:
    noise = Image.effect_noise((900, 700), 80)
    found = view(noise, Wanted(max_bytes=20_000))
    assert (found.mime_type, summary(noise).shape) == ("image/png", (700, 900))
    assert len(found.blob or b"") <= 20_000
    small = Image.open(io.BytesIO(found.blob or b""))
    assert abs(small.width / small.height - 9 / 7) < 0.1
    assert Image.open(io.BytesIO(view(Image.new("CMYK", (4, 4))).blob or b"")).size == (4, 4)


def test_a_figure_is_shown_as_it_was_captured_and_never_drawn() -> None:
    matplotlib = pytest.importorskip("matplotlib.figure")
    figure = matplotlib.Figure()
    assert summary(figure).kind == "figure"
    with pytest.raises(ViewError, match="display it first"):
        view(figure)
    views.captured_by(lambda value: (b"\x89PNG", "image/png") if value is figure else None)
    assert view(figure) == View("image/png", blob=b"\x89PNG")


class Shown:
    """Shows itself."""

    def _mcp_view_(self, wanted: Wanted) -> Any:
        return {"rows": wanted.rows, "token": "abcdefgh"}


class Thing:
    pass


def test_what_an_object_shows_of_itself_is_bounded_and_masked() -> None:
    assert view(Shown(), Wanted(path=None)).data == {"rows": None, "token": "•••"}
    views.register(Thing, lambda value, wanted: View("text/html", text="<b>" + "x" * 100_000, data=[1] * 100_000))
    found = view(Thing(), Wanted(max_bytes=1000))
    assert (found.mime_type, len(found.text or ""), found.data, found.note) == ("text/html", 1000, None, "cut")
    views.register(Thing, lambda value, wanted: View("image/png", blob=b"x" * 2000))
    with pytest.raises(ViewError):
        view(Thing(), Wanted(max_bytes=1000))


def test_views_are_registered_by_class_or_name_and_may_show_something_else_instead() -> None:
    views.register(f"{__name__}.Thing", lambda value, wanted: "by name " * 100)
    assert (view(Thing(), Wanted(rows="0:7")).text, view(type("Sub", (Thing,), {})(), Wanted(rows="0:2")).text) == (
        "by name",
        "by",
    )
    views.register(Thing, lambda value, wanted: np.arange(2))
    assert view(Thing()).text == "value\n0\n1\n"
    views.register(Thing, lambda value, wanted: Thing())
    with pytest.raises(ViewError, match="without end"):
        view(Thing())


def test_an_entry_point_registers_a_view(monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib import metadata

    point = metadata.EntryPoint(f"{__name__}.Thing", f"{__name__}:shower", "jupyter_mcp.views")

    def found(group: str) -> list[metadata.EntryPoint]:
        return [point] if group == "jupyter_mcp.views" else []

    monkeypatch.setattr(metadata, "entry_points", found)
    views.reset()
    assert view(Thing()).text == "by an entry point"


def shower(value: Thing, wanted: Wanted) -> str:
    return "by an entry point"
