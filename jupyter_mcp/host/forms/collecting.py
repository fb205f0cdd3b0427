"""A whole form: its draft in, the value and what is wrong with it out.

The raw draft is kept apart from the parsed values: what does not parse yields an error, never an older value, and what
was not touched is not sent. Errors stand at JSON pointers (RFC 6901), "" being the whole. What the fields do not check
themselves (conditions, exclusive alternatives, names of members …) is checked once more by the validator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import MCPError
from jupyter_mcp.host.forms.check import check, check_json
from jupyter_mcp.host.forms.drafts import AsJson, Draft, Members, Picked, Variable
from jupyter_mcp.host.forms.node import UNSET, FieldError
from jupyter_mcp.host.forms.parse import parse, parse_json
from jupyter_mcp.protocol.shapes import is_list, is_mapping

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jupyter_mcp.host.forms.node import Node

__all__ = ["Gathered", "Read", "by_field", "collect", "gather", "needed", "step"]

Read = Callable[[str], Any]
"""The JSON value of a notebook variable by its name; raises `MCPError` or `FieldError` with one sentence."""

_MAX_DEPTH = 60


@dataclass(frozen=True)
class Gathered:
    """What a draft comes to.

    Attributes:
        value: to be sent; UNSET when nothing is to be sent or something is wrong.
        errors: sentences by JSON pointer.
        missing: labels of what is required and still untouched, in order.
        variables: names of the notebook variables in it, by JSON pointer.
    """

    value: Any
    errors: dict[str, str] = field(default_factory=dict[str, str])
    missing: list[str] = field(default_factory=list[str])
    variables: dict[str, str] = field(default_factory=dict[str, str])


def collect(node: Node, draft: Draft, read: Read | None = None) -> tuple[Any, dict[str, str]]:
    """The value of a draft and, for what cannot be sent, a sentence by JSON pointer.

    Untouched fields are left out, whatever their default: a form that shows a default starts from `draft`, where it is
    already filled in. A required field that is untouched takes its default, else it is an error.

    Args:
        node: the form, or a field of it.
        draft: as `drafts` describes it. read: what a `Variable` means; without it, it means nothing.

    Returns:
        The value, without what is wrong (UNSET when the whole is left out or wrong), and the errors.
    """
    found = gather(node, draft, read)
    return found.value, found.errors


def needed(node: Node, draft: Draft) -> list[str]:
    """Labels of the required fields that are still untouched, for "Still needed: seat, options: date"."""
    return gather(node, draft).missing


def by_field(errors: Mapping[str, str]) -> dict[str, str]:
    """The first sentence for each field at the top of a form, by its name; "" for the whole."""
    found: dict[str, str] = {}
    for pointer, text in errors.items():
        name = pointer.split("/")[1] if pointer else ""
        found.setdefault(name.replace("~1", "/").replace("~0", "~"), text)
    return found


def gather(node: Node, draft: Draft, read: Read | None = None) -> Gathered:
    """All that can be said of a draft, in one walk."""
    walk = _Walk(read)
    value = walk.of(node, draft, "", ())
    if node.beyond and not walk.errors and value is not UNSET:
        walk.errors.update(_verified(node, value))
    return Gathered(value, walk.errors, walk.missing, walk.variables)


def step(name: str | int) -> str:
    """One step of a JSON pointer."""
    return "/" + str(name).replace("~", "~0").replace("/", "~1")


class _Walk:
    """One walk over a form and its draft."""

    def __init__(self, read: Read | None) -> None:
        self._read = read
        self.errors: dict[str, str] = {}
        self.missing: list[str] = []
        self.variables: dict[str, str] = {}

    def of(self, node: Node, draft: Draft, at: str, path: tuple[str, ...]) -> Any:
        """The value, or UNSET; errors are kept."""
        try:
            return self._value(node, draft, at, path)
        except FieldError as error:
            self.errors[at] = str(error)
            return UNSET

    def _value(self, node: Node, draft: Draft, at: str, path: tuple[str, ...]) -> Any:
        if draft is UNSET or (isinstance(draft, Picked) and draft.at is None):
            return self._untouched(node, at, path)
        if isinstance(draft, Variable):
            return self._variable(node, draft, at)
        if isinstance(draft, AsJson):
            return self._json(node, draft.text, at, path)
        if isinstance(draft, Picked):
            return self._picked(node, draft, at, path)
        if node.kind == "object" and (isinstance(draft, Members) or is_mapping(draft)):
            return self._object(node, draft, at, path)
        if node.kind == "array" and is_list(draft):
            return self._array(node, draft, at, path)
        if isinstance(draft, str):
            value = parse(node, draft)
            return self._untouched(node, at, path) if value is UNSET else value
        return _fitting(node, draft)

    def _untouched(self, node: Node, at: str, path: tuple[str, ...]) -> Any:
        if not node.required:
            return UNSET
        if node.default is not UNSET:
            return node.default
        if node.kind == "object" and len(path) < _MAX_DEPTH // 4:
            return self._object(node, {}, at, path)
        if path:
            self.missing.append(": ".join(path))
        raise FieldError(f"{node.label} is required.")

    def _variable(self, node: Node, draft: Variable, at: str) -> Any:
        if not draft.name.strip():
            raise FieldError(f"{node.label}: choose a variable of the notebook.")
        if self._read is None:
            raise FieldError(f"${draft.name}: no variable can be used here.")
        try:
            value = self._read(draft.name)
        except MCPError as error:
            raise FieldError(str(error)) from None
        problem = check_json(node, value)
        if problem is not None:
            raise FieldError(f"${draft.name}: {problem}")
        self.variables[at] = draft.name
        return value

    def _json(self, node: Node, text: str, at: str, path: tuple[str, ...]) -> Any:
        if not text.strip():
            return self._untouched(node, at, path)
        value = parse_json(text)
        problem = check_json(node, value)
        if problem is not None:
            raise FieldError(problem)
        return value

    def _picked(self, node: Node, draft: Picked, at: str, path: tuple[str, ...]) -> Any:
        if draft.at is None or not 0 <= draft.at < len(node.branches):
            return self._untouched(node, at, path)
        return self.of(node.branches[draft.at], draft.draft, at, path)

    def _object(self, node: Node, draft: Mapping[str, Draft] | Members, at: str, path: tuple[str, ...]) -> Any:
        if len(path) > _MAX_DEPTH:
            raise FieldError("It is nested too deeply.")
        parts, rows = (draft.parts, draft.rows) if isinstance(draft, Members) else _sorted(node, draft)
        before = len(self.errors)
        value: dict[str, Any] = {}
        for part in node.parts:
            one = self.of(part, parts.get(part.name, UNSET), at + step(part.name), (*path, part.label))
            if one is not UNSET:
                value[part.name] = one
        self._rows(node, rows, value, at, path)
        return value if len(self.errors) == before or not path else UNSET

    def _rows(self, node: Node, rows: Any, value: dict[str, Any], at: str, path: tuple[str, ...]) -> None:
        """The members that the schema does not name; their errors stand at the place of the row, `/~r0`."""
        names = [part.name for part in node.parts]
        for place, (name, raw) in enumerate(rows):
            here = f"{at}/~r{place}"
            if not name and raw is UNSET:
                continue
            if node.extra is None:
                self.errors[here] = f"There can be no member “{name[:60]}”."
            elif not name:
                self.errors[here] = "It needs a name."
            elif name in value or name in names:
                self.errors[here] = f"There is a member “{name[:60]}” already."
            else:
                one = self.of(node.extra, raw, here, (*path, name))
                if one is not UNSET:
                    value[name] = one

    def _array(self, node: Node, draft: list[Draft], at: str, path: tuple[str, ...]) -> Any:
        if len(path) > _MAX_DEPTH:
            raise FieldError("It is nested too deeply.")
        before = len(self.errors)
        value: list[Any] = []
        for place, raw in enumerate(draft):
            entry = node.entry(place)
            if entry is None:
                raise FieldError(f"At most {place}, not {len(draft)}.")
            one = self.of(entry, raw, at + step(place), (*path, f"{place + 1}"))
            if one is not UNSET:
                value.append(one)
        if len(self.errors) > before:
            return UNSET
        problem = check(node, value)
        if problem is not None:
            raise FieldError(problem)
        return value


def _sorted(node: Node, draft: Mapping[str, Draft]) -> tuple[Mapping[str, Draft], list[tuple[str, Draft]]]:
    named = {part.name for part in node.parts}
    return draft, [(name, raw) for name, raw in draft.items() if name not in named]


def _fitting(node: Node, value: Any) -> Any:
    problem = check(node, value)
    if problem is not None:
        raise FieldError(problem)
    return _exact(node, value)


def _exact(node: Node, value: Any) -> Any:
    """A whole number of an integer field is written without a point: 2, not 2.0."""
    whole = isinstance(value, float) and "integer" in node.types and "number" not in node.types
    return int(value) if whole else value


# --- the last word ---------------------------------------------------------------------------------------------------


def _verified(node: Node, value: Any) -> dict[str, str]:
    """What the validator says about the whole, by pointer."""
    from jupyter_mcp.protocol import schema  # imports jsonschema: only for schemas that fields cannot check

    places = dict(_places(value, "", ""))
    found: dict[str, str] = {}
    for issue in schema.check(node.schema, value):
        if issue.about == "value":
            found.setdefault(_pointer(issue.path, places), issue.message[:1].upper() + issue.message[1:] + ".")
    return found


def _places(value: Any, text: str, pointer: str) -> Iterator[tuple[str, str]]:
    """Every place of a value, as `schema_words.path_text` and as a JSON pointer."""
    yield text, pointer
    if is_mapping(value):
        for name, inner in value.items():
            yield from _places(inner, f"{text}.{name}" if text else name, pointer + step(name))
    elif is_list(value):
        for at, inner in enumerate(value):
            yield from _places(inner, f"{text}[{at}]", pointer + step(at))


def _pointer(text: str, places: Mapping[str, str]) -> str:
    """The pointer of a place; one that is not there (a missing member) is under the longest place that is."""
    if text in places:
        return places[text]
    holder = max((one for one in places if one and text.startswith(f"{one}.")), key=len, default="")
    return places[holder] + step(text[len(holder) + 1 :] if holder else text)
