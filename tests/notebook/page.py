"""A page without a browser: what cards publish, and how a test finds and uses their widgets."""

from __future__ import annotations

import re
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from jupyter_mcp.notebook.cards import live, pace, queue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import pytest

    from jupyter_mcp.errors import MCPError

VIEW = "application/vnd.jupyter.widget-view+json"


class Page:
    """The outputs of one cell, by display id; the newest contents of each."""

    def __init__(self) -> None:
        self.outputs: dict[str, dict[str, Any]] = {}
        self.published: list[tuple[str, bool]] = []

    def publish(self, data: dict[str, Any], *, transient: Mapping[str, Any], update: bool = False) -> None:
        name = str(transient["display_id"])
        assert update == (name in self.outputs), "a card is displayed once and updated afterwards"
        self.outputs[name] = data
        self.published.append((name, update))

    @property
    def last(self) -> dict[str, Any]:
        return list(self.outputs.values())[-1]

    @property
    def text(self) -> str:
        return str(self.last["text/plain"])

    @property
    def live(self) -> bool:
        return VIEW in self.last


def capture(monkeypatch: pytest.MonkeyPatch) -> Page:
    """Cards publish to the page that is returned."""
    page = Page()
    monkeypatch.setattr(live, "publish", page.publish)
    monkeypatch.setattr(live, "_live", {})
    monkeypatch.setattr(queue, "_waiting", [])
    monkeypatch.setattr(pace, "SECONDS", 0.0)  # what is told is drawn at once
    return page


def walk(root: Any) -> Iterator[Any]:
    """A widget and everything in it that is on the page."""
    yield root
    if getattr(root.layout, "display", None) == "none":
        return
    for child in getattr(root, "children", ()):
        yield from walk(child)


def button(root: Any, label: str) -> Any:
    """The visible button of that label."""
    found = [w for w in walk(root) if type(w).__name__ in ("Button", "ToggleButton") and w.description == label]
    visible = [w for w in found if w.layout.display != "none"]
    assert len(visible) == 1, (label, found)
    return visible[0]


def box(root: Any, label: str, index: int = 0) -> Any:
    """The control of that label (what a screen reader calls it)."""
    quiet = ("Button", "HTML", "VBox", "HBox", "ToggleButton")
    found = [w for w in walk(root) if type(w).__name__ not in quiet and getattr(w, "description", None) == label]
    assert found, f"no control {label!r}"
    return found[index]


def words(root: Any) -> str:
    """The visible text of a card."""
    html = " ".join(w.value for w in walk(root) if type(w).__name__ == "HTML" and w.layout.display != "none")
    return " ".join(re.sub(r"<style>.*?</style>|<[^>]*>", " ", html, flags=re.DOTALL).split())


class FakeRunner:
    """Does nothing by itself: the test ends each act."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.futures: list[Future[Any]] = []
        self.listeners: list[Callable[[Any], None]] = []
        self.completions: list[str] = []
        self.followers: list[Callable[[str, Any], object]] = []
        self.off: dict[tuple[str, str | None], str] = {}
        self.refuses: MCPError | None = None

    def _begin(self, *what: Any) -> Future[Any]:
        self.calls.append(what)
        future: Future[Any] = Future()
        self.futures.append(future)
        return future

    def call(
        self, server: str, tool: str, arguments: Mapping[str, Any], on_event: Callable[[Any], None], options: Any = None
    ) -> Future[Any]:
        self.listeners.append(on_event)
        return self._begin("call", server, tool, dict(arguments), *([] if options is None else [options]))

    def read(self, server: str, uri: str) -> Future[Any]:
        return self._begin("read", server, uri)

    def prompt(self, server: str, name: str, arguments: Mapping[str, str]) -> Future[Any]:
        return self._begin("prompt", server, name, dict(arguments))

    def complete(
        self, server: str, ref: Mapping[str, Any], argument: str, value: str, context: Mapping[str, str]
    ) -> Future[list[str]]:
        self.calls.append(("complete", server, dict(ref), argument, value, dict(context)))
        future: Future[list[str]] = Future()
        future.set_result(self.completions)
        return future

    def scopes(self) -> list[Any]:
        return ["session", "notebook", "user"]

    def switched_off(self, server: str, name: str | None) -> str:
        return self.off.get((server, name), "")

    def switch(self, server: str, name: str | None, on: bool, scope: str) -> None:
        if self.refuses is not None:
            raise self.refuses
        self.off[server, name] = "" if on else f"off for {scope}"

    def connect(self, spec: Any, origin: str) -> Future[Any]:
        return self._begin("connect", spec.name, origin)

    def disconnect(self, server: str) -> Future[Any]:
        return self._begin("disconnect", server)

    def reconnect(self, server: str) -> Future[Any]:
        return self._begin("reconnect", server)

    def follow(self, changed: Callable[[str, Any], object]) -> Callable[[], object]:
        self.followers.append(changed)
        return lambda: self.followers.remove(changed)
