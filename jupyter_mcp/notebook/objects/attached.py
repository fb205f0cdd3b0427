"""What of the notebook goes along with a question: variables as bounded views, results, resources, prompts.

A variable is shown to the model as it would be to a client of the notebook's server: a piece of it, secrets masked, and
what is a secret as a whole is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.errors import UsageError
from jupyter_mcp.host.wording import nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from jupyter_mcp.host.conversation import Attachment, Limits
    from jupyter_mcp.models.base import Model

__all__ = ["attachments", "by_name"]

_LONGEST_TEXT = 2_000_000  # bytes of a text that is looked through for the passages that fit


def by_name(names: Iterable[str], namespace: Mapping[str, Any]) -> dict[str, Any]:
    """The notebook's variables of these names. Raises `UsageError` with the nearest name."""
    found: dict[str, Any] = {}
    for name in names:
        if name not in namespace:
            near = nearest(name, [key for key in namespace if not key.startswith("_")])
            meant = f"; did you mean {near}?" if near else "."
            raise UsageError(f"There is no variable {name!r} in this notebook to go along (--context){meant}")
        found[name] = namespace[name]
    return found


def attachments(context: object, question: str, limits: Limits, model: Model) -> list[Attachment]:
    """What goes along with a question.

    Args:
        context: objects, or a mapping of names and objects; a text in a list is itself.
        question: what passages of long texts are ranked by.
        limits: how long each may be.
        model: who has to take it.

    Raises:
        UsageError: something cannot be shown, or is a secret.
        UnsupportedContent: the model cannot take it.
    """
    if context is None:
        return []
    if isinstance(context, dict):
        items = list(cast("dict[str, Any]", context).items())
    elif isinstance(context, list | tuple):
        items = [(_name(value, place), value) for place, value in enumerate(cast("Sequence[Any]", context), 1)]
    else:
        items = [(_name(context, 1), context)]
    return [_attachment(name, value, question, limits, model) for name, value in items]


def _name(value: object, place: int) -> str:
    """The variable that holds this very object, else a number."""
    from jupyter_mcp.runtime import frontend

    namespace: Mapping[str, Any] = getattr(frontend.shell(), "user_ns", {})
    if not isinstance(value, str | int | float | bool | None):
        for name, held in list(namespace.items()):
            if held is value and not name.startswith("_"):
                return name
    return f"attachment {place}"


def _attachment(name: str, value: Any, question: str, limits: Limits, model: Model) -> Attachment:
    from jupyter_mcp.host.conversation import Attachment, of_prompt, of_read, of_result
    from jupyter_mcp.host.result import PromptResult, Read, Result
    from jupyter_mcp.notebook.objects.items import Prompt, Resource

    if isinstance(value, Attachment):
        return value
    if isinstance(value, Resource):
        value = value.read()
    elif isinstance(value, Prompt):
        value = value()
    if isinstance(value, Read):
        return of_read(value, question, limits, supports=model.supports, strict=model.name)
    if isinstance(value, PromptResult):
        return of_prompt(value, limits, supports=model.supports, strict=model.name)
    if isinstance(value, Result):
        return of_result(value, limits, supports=model.supports, strict=model.name)
    return _variable(name, value, question, limits)


def _variable(name: str, value: Any, question: str, limits: Limits) -> Attachment:
    from jupyter_mcp.host.conversation import of_text
    from jupyter_mcp.kernel import views
    from jupyter_mcp.kernel.exposure import is_secret

    if is_secret(name, value):
        raise UsageError(f"{name} looks like a secret; it does not go along with a question.")
    if isinstance(value, str):
        shown = views.view(value, views.Wanted(max_bytes=_LONGEST_TEXT))
        return of_text(name, shown.text or "", question, limits)
    what = views.summary(value).line()
    shown = views.view(value, views.Wanted(max_bytes=limits.attachment))
    if shown.text is None:
        raise UsageError(f"{name} ({what}) cannot be shown as text.")
    return of_text(name, "\n\n".join(part for part in (what, shown.text, shown.note) if part), question, limits)
