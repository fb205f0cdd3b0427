"""`mcp.host.models`: the models that are configured, and those that could be, as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.notebook.objects.act import get_host
from jupyter_mcp.notebook.objects.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jupyter_mcp.models.base import Model
    from jupyter_mcp.models.book import ModelBook
    from jupyter_mcp.models.embedding import Embedder
    from jupyter_mcp.models.providers import State

__all__ = ["Models", "book"]

_WORDS = {"text": "text", "image": "images", "audio": "audio", "tools": "tools"}

Row = tuple[str, str, str, str, str]


def book() -> ModelBook:
    """The models of this kernel's host, which find the notebook's functions."""
    found = get_host().models
    if found.lookup is None:
        found.lookup = _of_the_notebook
    return found


def _of_the_notebook(name: str) -> Any:
    from jupyter_mcp.runtime import frontend

    shell = frontend.shell()
    if shell is None:
        raise KeyError(name)
    return shell.user_ns[name]


class Models(Table[Row]):
    """What is configured, in order, then what could be. Whether a key is set is told, never the key."""

    kind = "models"
    title = "Models"
    columns = ("model", "state", "what it is", "takes", "ranks")
    hint = "%mcp model NAME configures one, which answers from then on."

    def __init__(self) -> None:
        super().__init__(())

    def remove(self, name: str) -> None:
        """Forget a configured model. Raises `UsageError` when there is none of that name."""
        book().remove(name)

    @property
    def default(self) -> Model | None:
        """The one that answers unless something speaks for another."""
        return book().default

    @property
    def embeddings(self) -> Embedder | None:
        """What ranks resources by meaning; None: words alone do."""
        memory = book().vectors
        return None if memory is None else memory.embedder

    def row(self, record: Row) -> Row:
        return record

    def _all(self) -> list[Row]:
        configured = book().configured
        return [*(_configured(model) for model in configured.values()), *_embedding(), *_possible(set(configured))]


def _configured(model: Model) -> Row:
    state = "answers" if model is book().default else "configured"
    takes = ", ".join(word for feature, word in _WORDS.items() if feature in model.supports)
    ranks = ", ".join(f"{name} {value:g}" for name, value in model.ranks.declared.items())
    about = " · ".join(part for part in (str(getattr(model, "about", "")), _used(model.name)) if part)
    return (model.name, state, about, takes, ranks)


def _embedding() -> Iterator[Row]:
    """The one that ranks resources, if one was named."""
    memory = book().vectors
    if memory is not None:
        made = memory.embedder
        yield (
            made.name,
            "ranks resources",
            f"vectors of texts, made on {made.place}"
            if made.place == "this machine"
            else f"vectors of texts, made by {made.place}",
            "text",
            "",
        )


def _used(name: str) -> str:
    """What a limited model gave and may give; nothing of one without a limit."""
    from jupyter_mcp.host.sampling.limits import Allowance

    meter = get_host().limits.models.get(name)
    return "" if meter is None or meter.allowance == Allowance() else str(meter)


def _possible(there: set[str]) -> Iterator[Row]:
    from jupyter_mcp.models.providers import demo_installed, states

    local = "ready" if demo_installed() else 'needs "jupyter-mcp-host[local]"'
    for name, state, about in (
        ("local", local, "a small model on this machine: a demonstration, often wrong"),
        ("human", "ready", "you write or edit the answer"),
        ("python:FUNCTION", "ready", "a function of this notebook"),
    ):
        if name not in there:
            yield (name, state, about, "", "")
    for one in states():
        yield (f"{one.name}:MODEL", _state(one), one.title, "", "")


def _state(one: State) -> str:
    if not one.installed:
        return 'needs "jupyter-mcp-host[models]"'
    if not one.needs_key:
        return "needs no key"
    return f"{one.key_set} is set" if one.key_set else f"needs {' or '.join(one.keys)}"
