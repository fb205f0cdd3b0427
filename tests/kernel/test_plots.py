"""Pictures are kept as they were displayed, under numbers that are theirs for ever."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

from jupyter_mcp.kernel import plots
from jupyter_mcp.kernel.plots import Plots

if TYPE_CHECKING:
    from collections.abc import Iterator

PNG = b"\x89PNG\r\n\x1a\n" + b"x" * 20


class Figure:
    """Displays itself."""

    def __init__(self, **bundle: Any) -> None:
        self.bundle = {name.replace("_", "/"): value for name, value in bundle.items()}

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return self.bundle


@pytest.fixture
def shell() -> Iterator[InteractiveShell]:
    yield InteractiveShell.instance()
    InteractiveShell.clear_instance()


@pytest.fixture
def kept(shell: InteractiveShell) -> Iterator[Plots]:
    found = Plots(shell)
    found.install()
    yield found
    found.uninstall()


def show(shell: InteractiveShell, value: object) -> None:
    shell.display_formatter.format(value)  # pyright: ignore


@pytest.mark.parametrize("data", [PNG, base64.b64encode(PNG).decode()], ids=["bytes", "base64"])
def test_a_picture_that_is_displayed_is_kept(shell: InteractiveShell, kept: Plots, data: Any) -> None:
    figure = Figure(image_png=data, text_plain="figure")
    show(shell, figure)
    (plot,) = kept.all()
    assert (plot.number, plot.mime_type, plot.data) == (1, "image/png", PNG)
    assert kept.get(1) is plot and kept.of(figure) is plot and kept.of(Figure()) is None


def test_svg_is_text_and_a_specification_stands_for_a_picture(shell: InteractiveShell, kept: Plots) -> None:
    show(shell, Figure(**{"image_svg+xml": "<svg/>"}))
    show(shell, Figure(**{"application_vnd.plotly.v1+json": {"data": []}}))
    show(shell, Figure(text_plain="nothing to see"))
    show(shell, 42)
    assert [(one.mime_type, one.data) for one in kept.all()] == [
        ("image/svg+xml", b"<svg/>"),
        ("application/vnd.plotly.v1+json", json.dumps({"data": []}).encode()),
    ]


def test_numbers_go_on_when_old_ones_make_room(shell: InteractiveShell, kept: Plots) -> None:
    for _ in range(plots.MOST_KEPT + 5):
        show(shell, Figure(image_png=PNG))
    assert [one.number for one in kept.all()] == list(range(6, plots.MOST_KEPT + 6))
    assert kept.get(1) is None


def test_numbers_go_on_from_what_there_was_before(shell: InteractiveShell) -> None:
    assert Plots(shell, 41).add("image/png", PNG).number == 42


def test_all_together_have_a_bound_and_each_has_one(
    shell: InteractiveShell, kept: Plots, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plots, "MOST_BYTES", 3 * len(PNG))
    monkeypatch.setattr(plots, "MOST_OF_ONE", len(PNG))
    for _ in range(5):
        show(shell, Figure(image_png=PNG))
    show(shell, Figure(image_png=PNG + b"x"))
    assert [one.number for one in kept.all()] == [3, 4, 5]


@pytest.mark.parametrize("data", ["not base64 \udce9", 7, None, {"a": 1}])
def test_what_is_no_picture_is_left_and_the_display_goes_on(shell: InteractiveShell, kept: Plots, data: Any) -> None:
    show(shell, Figure(image_png=data, text_plain="shown"))
    assert kept.all() == []


def test_the_end_takes_the_hook_back_also_below_another_one(shell: InteractiveShell) -> None:
    formatter: Any = shell.display_formatter
    kept = Plots(shell)
    kept.install()
    kept.install()
    mine = formatter.format

    def theirs(*args: Any, **options: Any) -> Any:
        return mine(*args, **options)

    formatter.format = theirs
    kept.uninstall()
    show(shell, Figure(image_png=PNG))
    assert kept.all() == []
    kept.install()
    show(shell, Figure(image_png=PNG))
    assert len(kept.all()) == 1
    kept.uninstall()
    assert formatter.format is theirs


def test_the_hook_is_gone_when_nobody_came_after(shell: InteractiveShell) -> None:
    kept = Plots(shell)
    kept.install()
    kept.uninstall()
    assert "format" not in vars(shell.display_formatter)


def test_a_figure_can_go_although_its_picture_is_kept(shell: InteractiveShell, kept: Plots) -> None:
    import gc
    import weakref

    figure = Figure(image_png=PNG)
    gone = weakref.ref(figure)
    show(shell, figure)
    del figure
    gc.collect()
    assert gone() is None
