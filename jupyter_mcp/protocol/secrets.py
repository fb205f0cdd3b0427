"""Secrets: names that mean one, values that look like one, questions that hunt for one.

A heuristic that errs on the side of masking for names and shapes that are secrets in practice, and leaves alone what
only looks alike. It guards what is written down and shown; it is no access control.

Above: journal, specs, the host's questions, the server's `ctx.elicit`. Names are judged in `secret_names`, questions in
`secret_questions`; both are read through here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from typing import Any, cast

from jupyter_mcp.protocol.secret_names import looks_secret
from jupyter_mcp.protocol.shapes import is_mapping, is_object

__all__ = ["MASK", "looks_secret", "redact", "redact_text", "secret_question"]

MASK = "•••"
_MAX_DEPTH = 100

_PEM = r"-----(?:BEGIN|END) [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"
_ISSUED = (  # the prefixes that issuers give their keys so that they can be found
    r"sk-[\w-]{12,}|[srp]k_(?:live|test)_\w{8,}|gh[pousr]_\w{16,}|github_pat_\w{16,}|glpat-[\w-]{16,}|xox[a-z]-[\w-]{8,}",
    r"(?:AKIA|ASIA)[A-Z0-9]{12,}|AIza[\w-]{30,}|npm_\w{30,}|hf_\w{20,}|pypi-[\w-]{40,}|tok_(?:live|test)_\w{6,}",
    r"whsec_\w{12,}|dop_v1_\w{20,}|shp(?:at|ss|ca)_\w{20,}|ya29\.[\w-]{20,}|SG\.[\w-]{10,}\.[\w-]{10,}|lin_api_\w{20,}",
)
# (one of these is in the text, pattern, replacement)
_SHAPES: tuple[tuple[tuple[str, ...], re.Pattern[str], str], ...] = (
    (("PRIVATE KEY",), re.compile(rf"({_PEM}).*?({_PEM}|\Z)", re.DOTALL), rf"\1{MASK}\2"),
    (("://",), re.compile(r"(://[^\s/:@'\"]*:)[^\s/'\"]+(?=@)"), rf"\1{MASK}"),
    (("eyJ",), re.compile(r"\beyJ[\w-]+\.[\w-]+\.[\w-]*"), MASK),
    (
        ("earer", "asic", "oken", "EARER", "ASIC"),
        re.compile(
            r"\b(Bearer|Basic|Token)(\s+)(?=[\w.~+/-]*(?:[\d=+/]|(?-i:[a-z][A-Z]))|[\w.~-]{20,})[\w.~+/-]{6,}=*", re.I
        ),
        rf"\1\2{MASK}",
    ),
    (("-", "_", ".", "AKIA", "ASIA", "AIza"), re.compile(rf"\b(?:{'|'.join(_ISSUED)})"), MASK),
)

# name = value, name: value, "name": "value" (also with escaped quotes): reprs, JSON in text, headers, queries
_NAMED = re.compile(r"(?<![\w.-])(?P<name>-{0,2}[^\W\d][\w.-]{0,80})(?P<sep>\\{0,8}[\"']?\s{0,3}(?:=>|[=:])\s{0,3})")
_QUOTED = re.compile(r"(?P<q>\\{0,8}[\"'])(?P<value>(?:(?!(?P=q)).)*)", re.DOTALL)
# after a colon: to the end of the line, or to the next assignment
_BARE_LINE = re.compile(r"[^\s\"'&,;(){}\[\]<>\\](?:(?!\s+[\w.-]+[=:])[^\n\"'&,;(){}\[\]<>\\])*")
_BARE_WORD = re.compile(r"[^\s\"'&,;(){}\[\]<>\\]+")  # after an equals sign
_HEADER = re.compile(r"(?im)^([ >*]*(?:(?:proxy-)?authorization|(?:set-)?cookie)[ \t]*:[ \t]*)[^\r\n]+")
_OPTION = re.compile(r"(?<![\w-])(--?[A-Za-z][\w-]{1,60})(\s+)([^\s-]\S*)")
_PLACEHOLDER = re.compile(r"\$\{[^{}]*\}[.,;:)]*")
_HARMLESS = frozenset(("null", "none", "true", "false", "str", "string", "bytes", "secretstr", "undefined", MASK))

_SCHEMA_WORDS = ("type", "$ref", "anyOf", "oneOf", "allOf", "enum", "const", "title", "description", "format")


def redact(value: Any) -> Any:
    """A deep copy of a JSON-like value with secrets masked, by their names and by their shapes.

    Strings, numbers, dicts and lists come back as such; other objects come back as their (redacted) repr. In a JSON
    Schema a field that is called "password" keeps its description, not its default.
    """
    return _redact(value, (), False)


def redact_text(text: str) -> str:
    """A text with secrets masked: by shape, and where they follow a name (`token=…`, `"password": "…"`, `--key …`)."""
    if len(text) < 5:
        return text
    for needles, pattern, replacement in _SHAPES:
        if any(needle in text for needle in needles):
            text = pattern.sub(replacement, text)
    if ":" in text or "=" in text:
        text = _mask_named(_HEADER.sub(rf"\1{MASK}", text))
    return _OPTION.sub(_mask_option, text) if "-" in text else text


def _mask_named(text: str) -> str:
    out: list[str] = []
    done = 0
    for found in _NAMED.finditer(text):
        if found.start() < done or not looks_secret(found["name"]):
            continue
        at = found.end()
        value = _QUOTED.match(text, at)
        start = value.start("value") if value else at
        value = value or (_BARE_WORD if "=" in found["sep"] else _BARE_LINE).match(text, at)
        if value is not None and text[start : value.end()].strip().lower() not in ("", *_HARMLESS):
            out += (text[done:start], MASK)
            done = value.end()
    return "".join((*out, text[done:])) if out else text


def _mask_option(found: re.Match[str]) -> str:
    if not looks_secret(found[1]) or _PLACEHOLDER.fullmatch(found[3]):
        return found[0]
    return f"{found[1]}{found[2]}{MASK}"


def secret_question(schema: object, message: str = "") -> str | None:
    """See `secret_questions`, whose many patterns are compiled when the first question comes."""
    from jupyter_mcp.protocol import secret_questions

    return secret_questions.secret_question(schema, message)


# --- values ----------------------------------------------------------------------------------------------------------


def _redact(value: Any, around: tuple[int, ...], hidden: bool) -> Any:
    if isinstance(value, str):
        return (MASK if value else value) if hidden else redact_text(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, (int, float)):
        return MASK if hidden else value
    if id(value) in around or len(around) > _MAX_DEPTH:
        return "…"
    inside = (*around, id(value))
    if is_object(value) or is_mapping(value):  # the quick test first
        return _redact_mapping(value, inside, hidden)
    if isinstance(value, (list, tuple)):
        items = _redact_items(cast("Sequence[Any]", value), inside, hidden)
        return items if isinstance(value, list) else tuple(items)
    if isinstance(value, (Set, bytes, bytearray)):
        return MASK if hidden else redact_text(repr(cast("object", value)))
    return MASK if hidden else redact_text(repr(value))


def _redact_mapping(value: Mapping[Any, Any], around: tuple[int, ...], hidden: bool) -> dict[Any, Any]:
    # {"name": "Authorization", "value": "…"}
    paired = "value" in value and any(_is_secret_key(value.get(key)) for key in ("name", "key", "header"))
    out: dict[Any, Any] = {}
    for key, item in value.items():
        if key == "properties" and isinstance(item, Mapping) and not hidden:
            out[key] = _redact_properties(cast("Mapping[Any, Any]", item), around)
        else:
            out[key] = _redact(item, around, hidden or _is_secret_key(key) or (paired and key == "value"))
    return out


def _redact_properties(members: Mapping[Any, Any], around: tuple[int, ...]) -> dict[Any, Any]:
    out: dict[Any, Any] = {}
    for key, item in members.items():
        secret = _is_secret_key(key)
        if secret and isinstance(item, Mapping) and any(word in item for word in _SCHEMA_WORDS):
            schema = cast("Mapping[Any, Any]", item)
            out[key] = {k: _redact(v, around, k in ("default", "const", "examples")) for k, v in schema.items()}
        else:
            out[key] = _redact(item, around, secret)
    return out


def _is_secret_key(key: object) -> bool:
    return isinstance(key, str) and looks_secret(key)


def _redact_items(items: Sequence[Any], around: tuple[int, ...], hidden: bool) -> list[Any]:
    out: list[Any] = []
    option = False  # the item before was `--token`
    for item in items:
        word = isinstance(item, str)
        out.append(_redact(item, around, hidden or (option and word and not item.startswith("-"))))
        option = word and item.startswith("-") and "=" not in item and looks_secret(item)
    return out
