"""What a docstring says: the text for the tool's description, and a sentence for each parameter.

Google ("Args:"), NumPy (underlined "Parameters") and reST (":param x:") sections are understood, mixed styles too; a
docstring without any is all description. Nothing here looks at the function; `infer` joins both.
"""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass, field

_PARAMETER_SECTIONS = {
    "args",
    "arguments",
    "parameters",
    "params",
    "other parameters",
    "keyword args",
    "keyword arguments",
}
_DROPPED_SECTIONS = {"raises", "yields", "attributes", "see also", "references", "warns"}
_KEPT_SECTIONS = {"returns", "return", "examples", "example", "note", "notes", "warning", "warnings", "todo"}
_SECTIONS = _PARAMETER_SECTIONS | _DROPPED_SECTIONS | _KEPT_SECTIONS

_UNDERLINE = re.compile(r"^[-=~]{3,}\s*$")
_GOOGLE_ITEM = re.compile(
    r"^\*{0,2}(?P<name>[A-Za-z_]\w*)\s*(?:\((?P<type>[^)]*(?:\([^)]*\)[^)]*)*)\))?\s*:\s*(?P<text>.*)$"
)
_NUMPY_ITEM = re.compile(r"^(?P<names>\*{0,2}[A-Za-z_]\w*(?:\s*,\s*\*{0,2}[A-Za-z_]\w*)*)\s*(?::(?P<type>.*))?$")
_REST_PARAM = re.compile(
    r"^:(?:param|parameter|arg|argument|key|keyword)\s+(?:[^:]*\s)?\*{0,2}(?P<name>[A-Za-z_]\w*)\s*:\s*(?P<text>.*)$"
)
_REST_OTHER = re.compile(r"^:(?:type|rtype|raises?|except|exception|var|ivar|cvar|vartype)\b[^:]*:")
_REST_RETURN = re.compile(r"^:returns?\s*:\s*(?P<text>.*)$")


@dataclass(frozen=True, slots=True)
class Doc:
    """A docstring taken apart.

    Attributes:
        text: everything but the parameter and error sections, for the description; "" when there is none.
        summary: its first paragraph, on one line.
        parameters: parameter name -> its description, on one line.
    """

    text: str = ""
    summary: str = ""
    parameters: dict[str, str] = field(default_factory=dict[str, str])


def parse(docstring: str | None) -> Doc:
    """Take a docstring apart. Never raises: what is not understood stays in the text."""
    if not docstring or not docstring.strip():
        return Doc()
    lines = inspect.cleandoc(docstring).expandtabs().splitlines()
    kept: list[str] = []
    parameters: dict[str, str] = {}
    at = 0
    while at < len(lines):
        title, body_at = _section(lines, at)
        if title in _PARAMETER_SECTIONS or title in _DROPPED_SECTIONS:
            end = _section_end(lines, body_at)
            if title in _PARAMETER_SECTIONS:
                parameters.update(_items(lines[body_at:end], numpy=body_at - at == 2))
            at = end
        elif _REST_PARAM.match(lines[at]) or _REST_OTHER.match(lines[at]) or _REST_RETURN.match(lines[at]):
            at = _rest_field(lines, at, parameters, kept)
        else:
            kept.append(lines[at])
            at += 1
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip()
    return Doc(text, " ".join(text.split("\n\n", 1)[0].split()), {k: v for k, v in parameters.items() if v})


def _section(lines: list[str], at: int) -> tuple[str | None, int]:
    """The section title at this line (lower case) and where its body begins; None when it is no title."""
    line = lines[at].strip()
    if lines[at].startswith(" ") or not line:
        return None, at
    if at + 1 < len(lines) and _UNDERLINE.match(lines[at + 1]) and line.lower() in _SECTIONS:
        return line.lower(), at + 2
    if line.endswith(":") and line[:-1].lower() in _SECTIONS and _indented_below(lines, at):
        return line[:-1].lower(), at + 1
    return None, at


def _indented_below(lines: list[str], at: int) -> bool:
    following = next((line for line in lines[at + 1 :] if line.strip()), "")
    return following.startswith(" ")


def _section_end(lines: list[str], start: int) -> int:
    """A Google body ends at the first line without indentation, a NumPy body at the next title."""
    numpy = start >= 2 and _UNDERLINE.match(lines[start - 1]) is not None
    for at in range(start, len(lines)):
        if not lines[at].strip():
            continue
        if _section(lines, at)[0] is not None:
            return at
        if numpy:
            # Prose after a blank line that no item line introduces is the description going on.
            if (
                at > start
                and not lines[at - 1].strip()
                and not lines[at].startswith(" ")
                and not _numpy_item_at(lines, at)
            ):
                return at
        elif not lines[at].startswith(" "):
            return at
    return len(lines)


def _numpy_item_at(lines: list[str], at: int) -> bool:
    match = _NUMPY_ITEM.match(lines[at].rstrip())
    if match is None:
        return False
    return match["type"] is not None or (at + 1 < len(lines) and lines[at + 1].startswith(" "))


def _items(body: list[str], *, numpy: bool) -> dict[str, str]:
    margin = min((len(line) - len(line.lstrip()) for line in body if line.strip()), default=0)
    found: dict[str, list[str]] = {}
    current: list[list[str]] = []
    for raw in body:
        line = raw[margin:].rstrip()
        if not line:
            continue
        if not line.startswith(" "):
            current = _open_item(line, found, numpy)
        else:
            for texts in current:
                texts.append(line.strip())
    return {name: " ".join(" ".join(texts).split()) for name, texts in found.items()}


def _open_item(line: str, found: dict[str, list[str]], numpy: bool) -> list[list[str]]:
    if numpy:
        match = _NUMPY_ITEM.match(line)
        names = [name.strip().lstrip("*") for name in match["names"].split(",")] if match else []
        first: list[str] = []
    else:
        match = _GOOGLE_ITEM.match(line)
        names = [match["name"]] if match else []
        first = [match["text"]] if match else []
    opened: list[list[str]] = []
    for name in names:
        found[name] = list(first)
        opened.append(found[name])
    return opened


def _rest_field(lines: list[str], at: int, parameters: dict[str, str], kept: list[str]) -> int:
    end = at + 1
    while end < len(lines) and (lines[end].startswith(" ") and lines[end].strip()):
        end += 1
    rest = [line.strip() for line in lines[at + 1 : end]]
    if match := _REST_PARAM.match(lines[at]):
        parameters[match["name"]] = " ".join([match["text"], *rest]).strip()
    elif match := _REST_RETURN.match(lines[at]):
        kept.append("Returns: " + " ".join([match["text"], *rest]).strip())
    return end
