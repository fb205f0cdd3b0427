"""Does an answer fit what the server asked, and what exactly is sent back. Pure.

For elicitation the form decides (`forms`): exact JSON types (2, never 2.0 or "2" for an integer), the value of a choice
where its title was given. For sampling: one shape of result from the few ways people answer. The same check serves
scripts, persons and the terminal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from jupyter_mcp.host import forms
from jupyter_mcp.host.wording import nearest
from jupyter_mcp.protocol.shapes import mapping_of

__all__ = ["Checked", "as_form", "elicitation", "sampling"]

_LISTS_SINCE = "2025-11-25"


@dataclass(frozen=True)
class Checked:
    """What would be sent, and what is wrong with it (field name -> sentence)."""

    value: dict[str, Any]
    problems: dict[str, str] = field(default_factory=dict[str, str])


def as_form(schema: Any) -> dict[str, Any]:
    """A requested schema as an object schema, however odd it came."""
    found = dict(cast("Mapping[str, Any]", schema)) if isinstance(schema, Mapping) else {}
    if not isinstance(found.get("properties"), Mapping):
        found["properties"] = {}
    return {**found, "type": "object"}


def elicitation(schema: Any, content: Mapping[str, Any], revision: str, *, fill_defaults: bool = False) -> Checked:
    """The form's values as they are sent.

    Args:
        schema: the `requestedSchema` as sent.
        content: values by field name.
        revision: of the connection; before 2025-11-25 a list cannot be sent.
        fill_defaults: untouched fields take their defaults, as a form on the screen would show them (for scripts).
    """
    form = forms.model(as_form(schema))
    fields = form.parts
    known = [one.name for one in fields]
    problems = {name: _unknown(name, known) for name in content if name not in known}
    given = {name: value for name, value in content.items() if name in known}
    if fill_defaults:
        given = {**{f.name: f.default for f in fields if f.default is not forms.UNSET}, **given}
    values, wrong = forms.collect(form, given)
    problems |= forms.by_field(wrong)
    sent: dict[str, Any] = {}
    for one in fields:
        value = mapping_of(values).get(one.name)
        if value is None:  # JSON null is no elicitation value: what is empty is left out
            continue
        if isinstance(value, list) and revision < _LISTS_SINCE:
            problems[one.name] = f"Several values cannot be sent to a server of revision {revision}."
        sent[one.name] = _exact(one, value)
    return Checked(sent, problems)


def _unknown(name: str, known: list[str]) -> str:
    near = nearest(name, known)
    if near:
        return f"The form has no field {name}; did you mean {near}?"
    return f"The form has no field {name}; it has {', '.join(known)}." if known else "The form has no fields."


def _exact(one: forms.Node, value: Any) -> Any:
    if isinstance(value, float) and value.is_integer() and "number" not in one.types and "integer" in one.types:
        return int(value)
    return value


def sampling(params: Mapping[str, Any], content: Mapping[str, Any], revision: str) -> Checked:
    """A `CreateMessageResult` from {"text": …, "model"?: …} or from one that is already shaped like it."""
    blocks = content.get("content")
    if blocks is None:
        text = content.get("text")
        if not isinstance(text, str):
            return Checked({}, {"text": "An answer needs a text."})
        blocks = {"type": "text", "text": text}
    if isinstance(blocks, str):
        blocks = {"type": "text", "text": blocks}
    shaped = _blocks(blocks, several="tools" in params and revision >= _LISTS_SINCE)
    if shaped is None:
        return Checked({}, {"content": "The content is one block such as {'type': 'text', 'text': …}."})
    role = content.get("role")
    return Checked(
        {
            "role": role if role in ("assistant", "user") else "assistant",
            "content": shaped,
            "model": str(content.get("model") or "human"),
            "stopReason": str(content.get("stopReason") or "endTurn"),
        }
    )


def _blocks(blocks: Any, *, several: bool) -> Any:
    """One block, or several where they may be; texts that must be one block are joined."""
    if isinstance(blocks, Mapping):
        block = dict(cast("Mapping[str, Any]", blocks))
        return block if isinstance(block.get("type"), str) else None
    if not isinstance(blocks, list) or not blocks:
        return None
    found = [_blocks(block, several=False) for block in cast("list[Any]", blocks)]
    if any(block is None for block in found):
        return None
    if several or len(found) == 1:
        return found if several else found[0]
    if all(block["type"] == "text" for block in found):
        return {"type": "text", "text": "\n".join(str(block.get("text", "")) for block in found)}
    return None
