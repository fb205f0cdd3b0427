"""A card's life: what is saved of it while it lives and after, and what is left when its cell is run again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.host.questions import Question
from jupyter_mcp.notebook import cards
from jupyter_mcp.notebook.cards import kit
from jupyter_mcp.notebook.cards.live import CARD, VIEW, Card
from jupyter_mcp.runtime import frontend
from jupyter_mcp.runtime.cells import cells
from tests.notebook.page import Page, capture
from tests.runtime.kernels import LiveKernel, live_kernel

if TYPE_CHECKING:
    from collections.abc import Iterator

STATIC = {"text/plain": "eleven tools", "text/html": "<p>eleven tools</p>"}
COUNT = "import ipywidgets\nprint(len(ipywidgets.widgets.widget._instances))"


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> Page:
    return capture(monkeypatch)


def made(*, explorer: bool = False, waits: bool = False) -> Card:
    root = kit.root([kit.button("Call", bool)])
    return Card(root, lambda: dict(STATIC), None if explorer else lambda: dict(STATIC), waits=waits)


class Notebook:
    """Cells that are run, as the kernel sees them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._runs = 0
        self._parent: Any = None
        monkeypatch.setattr(frontend, "parent", lambda: self._parent)
        monkeypatch.setattr(cells, "at_begin", [])

    def run(self, cell: str | None) -> None:
        self._runs += 1
        metadata = {} if cell is None else {"cellId": cell}
        self._parent = (b"", {"header": {"msg_id": f"run-{self._runs}"}, "metadata": metadata})
        cells._begin()  # pyright: ignore[reportPrivateUsage]


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> Notebook:
    return Notebook(monkeypatch)


def closed(card: Card) -> bool:
    return card.root.comm is None


def test_while_it_lives_its_output_names_its_model_beside_its_content(page: Page) -> None:
    card = made().show()
    assert page.last[CARD] == {"version": 1, "model_id": card.root.model_id, "explorer": False}
    assert page.last[VIEW]["model_id"] == card.root.model_id
    assert page.last["text/html"] == STATIC["text/html"]
    card.stay({"text/plain": "over", "text/html": "<p>over</p>"})
    assert page.last[CARD]["model_id"] == card.root.model_id
    assert page.last["text/html"] == "<p>over</p>"
    card.finish()


def test_an_explorer_says_that_its_content_is_an_output_of_its_own(page: Page) -> None:
    card = made(explorer=True).show()
    still, live = page.outputs.values()
    assert live == {"text/plain": "", CARD: live[CARD], VIEW: live[VIEW]}
    assert live[CARD]["explorer"] is True
    assert set(still) == {"text/plain", "text/html"}
    card.finish()
    assert CARD not in page.last


def test_when_it_ends_nothing_names_a_model_and_those_who_follow_are_told_once(page: Page) -> None:
    card, told = made().show(), list[str]()
    card.on_over.append(lambda: told.append("over"))
    card.finish()
    card.finish()
    card.discard()
    assert page.last == STATIC
    assert told == ["over"]
    assert closed(card)


@pytest.mark.parametrize("explorer", [True, False])
def test_a_cell_that_is_run_again_frees_its_cards_and_says_nothing_to_the_page(
    page: Page, notebook: Notebook, explorer: bool
) -> None:
    notebook.run("a")
    card, told = made(explorer=explorer).show(), list[str]()
    card.on_over.append(lambda: told.append("over"))
    published = len(page.published)
    notebook.run("b")
    assert not card.over, "another cell is no reason"
    notebook.run("a")
    assert card.over
    assert closed(card)
    assert told == ["over"]
    assert len(page.published) == published
    card.redraw()
    assert not card.finish()
    assert len(page.published) == published


def test_a_front_end_whose_cells_have_no_name_keeps_its_cards(page: Page, notebook: Notebook) -> None:
    notebook.run(None)
    card = made().show()
    notebook.run(None)
    assert not card.over
    card.finish()


def test_a_card_that_somebody_waits_for_outlives_its_output(page: Page, notebook: Notebook) -> None:
    notebook.run("a")
    question = Question("1", "elicitation", "demo", "Which?", {"type": "object", "properties": {"x": {}}})
    presented: Any = cards.presenter(question, lambda _: None)
    notebook.run("a")
    assert not presented.card.over
    presented.close(None)
    assert presented.card.over


@pytest.fixture(scope="module")
def kernel() -> Iterator[LiveKernel]:
    with live_kernel(setup="%load_ext jupyter_mcp\n%mcp connect demo") as started:
        yield started


@pytest.mark.parametrize(
    "line", ["%mcp tools", "%mcp resources", "%mcp servers", "mcp.servers['demo'].tools.add.form()"]
)
def test_a_cell_run_again_and_again_holds_the_models_of_one_run(kernel: LiveKernel, line: str) -> None:
    code = f"import jupyter_mcp as mcp\n{line}"
    counts: list[int] = []
    for _ in range(4):
        kernel.run(code, allow_stdin=True, cell_id=f"cell of {line}")
        counts.append(int(kernel.run(COUNT, cell_id="count").text))
    assert counts[0] > 5, "there is a card"
    assert counts[1:] == counts[:1] * 3
