"""Which of the configured models answers a server's request, and why the others do not.

The server's preferences choose first (`ModelBook.choose`); a model that cannot take the whole request, or whose budget
is used up, is passed over with its reason. Nothing is ever left out of a request to make it fit.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from jupyter_mcp.errors import ModelError, UnsupportedContent
from jupyter_mcp.models.human import HumanModel
from jupyter_mcp.models.messages import refuse_unsupported

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jupyter_mcp.host.sampling.limits import Limits
    from jupyter_mcp.models.base import Model, ModelRequest
    from jupyter_mcp.models.book import ModelBook

__all__ = ["Chosen", "choose"]


@dataclass(frozen=True, slots=True)
class Chosen:
    """
    Attributes:
        model: the one that answers; None: the person does.
        why: why this one.
        able: all that could, by name, this one first.
        unable: the others and why they cannot.
    """

    model: Model | None
    why: str
    able: Mapping[str, Model] = field(default_factory=lambda: dict[str, "Model"]())
    unable: Mapping[str, str] = field(default_factory=dict[str, str])


def choose(book: ModelBook | None, request: ModelRequest, preferences: object, limits: Limits) -> Chosen:
    """The model for one request.

    Args:
        book: what is configured; None is nothing.
        request: what it will be asked.
        preferences: the server's `modelPreferences`, untrusted.
        limits: what each model may give.

    Raises:
        UnsupportedContent: the model that was preferred does not take all of it, and no other can answer.
        ModelError: what it may give is used up, and no other can answer.
    """
    if book is None or not book.configured:
        return Chosen(None, "no model is configured")
    choice = book.choose(preferences)  # pyright: ignore[reportArgumentType]
    if isinstance(choice.model, HumanModel):
        return Chosen(None, choice.reason)
    others = [model for model in book.configured.values() if model is not choice.model]
    able: dict[str, Model] = {}
    unable: dict[str, str] = {}
    for model in (choice.model, *others):
        if isinstance(model, HumanModel):
            continue
        if problem := _problem(model, request, limits):
            unable[model.name] = problem
        else:
            able[model.name] = model
    if able:
        first = next(iter(able.values()))
        passed = f"{choice.model.name} would come first. {unable.get(choice.model.name)}"
        return Chosen(first, choice.reason if first is choice.model else passed, able, unable)
    if any(isinstance(model, HumanModel) for model in others):
        return Chosen(None, next(iter(unable.values())))
    refuse_unsupported(request, choice.model)
    raise ModelError(next(iter(unable.values())), hint="Choose another one, or another limit, with %mcp model.")


def _problem(model: Model, request: ModelRequest, limits: Limits) -> str | None:
    try:
        refuse_unsupported(request, model)
    except UnsupportedContent as error:
        return error.message
    meter = limits.model(model.name)
    if used := meter.used_up():
        return f"Of the model {model.name} {used}."
    return f"The model {model.name} is asked too often." if meter.too_fast() is not None else None
