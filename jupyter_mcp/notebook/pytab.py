"""Tab in Python code, where IPython cannot look: the arguments of a tool, and names in brackets.

    server.tools.weather(ci        -> city=
    server.tools.weather(units="   -> celsius, fahrenheit
    server.tools["we               -> weather

IPython evaluates nothing with side effects, so it stops at our collections. Looking through them has none here: only
objects of ours are followed, and only through lists that are cached already.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.notebook.suggest import Item, Suggestions, starting, values_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["for_python"]

_STEP = r"(?:\.[^\W\d]\w*|\[(?:\"[^\"\n]*\"|'[^'\n]*')\])"
_PATH = rf"(?<![\w.\]\)])(?P<path>[^\W\d]\w*{_STEP}*)"
_CALL = re.compile(rf"{_PATH}(?:\.aio|\.start)?\((?P<arguments>[^()]*)$")
_KEY = re.compile(rf"{_PATH}\[(?P<quote>[\"'])(?P<typed>[^\"'\n]*)$")
_DOT = re.compile(rf"{_PATH}\.(?P<typed>\w*)$")
_PART = re.compile(r"\.([^\W\d]\w*)|\[[\"']([^\"'\n]*)[\"']\]")
_ARGUMENT = re.compile(r"(?:^|,)\s*(?P<name>[^\W\d]\w*)\s*=\s*(?P<value>[\"']?[\w .-]*)$")
_NAME = re.compile(r"(?:^|,)\s*(?P<typed>\w*)$")


def for_python(text: str, names: Mapping[str, Any]) -> Suggestions | None:
    """What may follow in a line of Python; None when nothing here is ours."""
    if (found := _CALL.search(text)) is not None:
        return _in_call(_follow(found["path"], names), found["arguments"])
    if (found := _KEY.search(text)) is not None:
        target = _follow(found["path"], names)
        keys = getattr(target, "_ipython_key_completions_", None)
        return starting(found["typed"], ((key, "item") for key in keys())) if keys is not None else None
    if (found := _DOT.search(text)) is not None and re.search(r"[.\[]", found["path"]):
        target = _follow(found["path"], names)
        if target is None:
            return None
        shown = [name for name in dir(target) if found["typed"].startswith("_") or not name.startswith("_")]
        return starting(found["typed"], ((name, "attribute") for name in shown))
    return None


def _in_call(target: Any, arguments: str) -> Suggestions | None:
    """Names of arguments, and values of the one that is being written."""
    from jupyter_mcp.notebook.objects.items import Prompt, Tool

    if not isinstance(target, (Tool, Prompt)):
        return None
    schema = target.input_schema if isinstance(target, Tool) else target.schema
    names = target.python_names
    if (found := _ARGUMENT.search(arguments)) is not None:
        known: Any = schema.get("properties", {}).get(names.get(found["name"], found["name"]))
        return starting(found["value"], _literals(values_of(known, schema), found["value"][:1]))
    if (found := _NAME.search(arguments)) is None:
        return None
    given = set(re.findall(r"(\w+)\s*=", arguments))
    return starting(found["typed"], ((f"{name}=", "argument") for name in names if name not in given))


def _literals(values: list[Any], quote: str) -> Iterator[Item]:
    for value in values:
        text = repr(value)
        if isinstance(value, str) and quote in ("'", '"') and quote not in value:
            text = f"{quote}{value}{quote}"
        yield text, "value"


def _follow(path: str, names: Mapping[str, Any]) -> Any:
    """The object a path of attributes and items leads to, through our own objects only; None for everything else."""
    root = re.match(r"\w+", path)
    assert root is not None
    target = names.get(root[0])
    for attribute, key in _PART.findall(path[root.end() :]):
        target = _step(target, attribute, key)
        if target is None:
            return None
    return target if _ours(target) else None


def _step(target: Any, attribute: str, key: str) -> Any:
    if not _ours(target):
        return None
    try:
        return getattr(target, attribute) if attribute else target[key]
    except Exception:
        return None


def _ours(target: Any) -> bool:
    from jupyter_mcp.notebook.objects.collections import Collection, is_cached
    from jupyter_mcp.notebook.objects.items import Prompt, Tool
    from jupyter_mcp.notebook.objects.server import Server
    from jupyter_mcp.notebook.objects.servers import Servers

    if isinstance(target, Collection):
        return is_cached(cast("Collection[Any]", target))
    return isinstance(target, (Server, Servers, Tool, Prompt)) or getattr(target, "__name__", "") == "jupyter_mcp"
