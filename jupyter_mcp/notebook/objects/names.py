"""Python names for what servers offer: `get-env` is `.get_env`, `class` is `.class_`, when that is unique. Pure."""

from __future__ import annotations

import keyword
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_NOT_NAME = re.compile(r"\W+")


def python_name(name: str) -> str:
    """The identifier nearest to `name` ("" when nothing of it can stand in one)."""
    text = _NOT_NAME.sub("_", name.strip())
    if text.strip("_") == "":
        return ""
    if text[0].isdigit():
        text = f"_{text}"
    if not text.isidentifier():
        return ""
    return f"{text}_" if keyword.iskeyword(text) else text


def attribute_names(names: Iterable[str]) -> dict[str, str]:
    """Identifier -> name, for every name that has an identifier of its own. An exact name always keeps its own."""
    listed = list(names)
    exact = {name: name for name in listed if name.isidentifier() and not keyword.iskeyword(name)}
    derived: dict[str, list[str]] = {}
    for name in listed:
        if name not in exact and (attribute := python_name(name)):
            derived.setdefault(attribute, []).append(name)
    unique = {attribute: found[0] for attribute, found in derived.items() if len(found) == 1}
    return {**unique, **exact}
