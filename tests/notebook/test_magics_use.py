"""What becomes of a magic's value, read from the byte code of the cell."""

from __future__ import annotations

import ast
import asyncio
import sys
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.notebook.use import use_of_value

if TYPE_CHECKING:
    from types import CodeType

seen: list[str] = []


def run_line_magic(name: str, line: str) -> Any:
    """IPython's function of this name calls the magic."""
    return _magic(line)


def _magic(line: str) -> Any:
    seen.append(use_of_value())
    return line


def _nothing(_value: Any) -> None:
    return None


def compiled(source: str) -> list[CodeType]:
    """As IPython does it: all but the last expression as a module, the last one interactively."""
    tree = ast.parse(source)
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    last = tree.body[-1]
    if not isinstance(last, ast.Expr):
        return [compile(tree, "cell", "exec", flags)]
    first = ast.Module(tree.body[:-1], [])
    return [compile(first, "cell", "exec", flags), compile(ast.Interactive([last]), "cell", "single", flags)]


def uses(source: str) -> list[str]:
    seen.clear()
    names: dict[str, Any] = {"run_line_magic": run_line_magic, "identity": lambda value: value}  # pyright: ignore[reportUnknownLambdaType]
    hook, sys.displayhook = sys.displayhook, _nothing
    try:
        for code in compiled(source):
            value: Any = eval(code, names)
            if asyncio.iscoroutine(value):
                asyncio.run(value)
    finally:
        sys.displayhook = hook
    return list(seen)


CALL = "run_line_magic('mcp', 'x')"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (CALL, ["last"]),
        (f"{CALL}\n{CALL}", ["statement", "last"]),
        (f"{CALL}\nx = 1", ["statement"]),
        (f"x = {CALL}", ["used"]),
        (f"x = y = {CALL}", ["used"]),
        (f"x: int = {CALL}", ["used"]),
        (f"(x := {CALL})", ["used"]),
        (f"x = [{CALL}, {CALL}]", ["used", "used"]),
        (f"identity({CALL})", ["used"]),
        (f"{CALL}.upper()", ["used"]),
        (f"if {CALL}: pass", ["used"]),
        (f"assert {CALL}", ["used"]),
        (f"x = {{'a': {CALL}}}", ["used"]),
        (f"x, y = {CALL}, 1", ["used"]),
        (f"for i in range(2):\n    {CALL}", ["statement", "statement"]),
        (f"for i in range(2):\n    r = {CALL}", ["used", "used"]),
        (f"try:\n    {CALL}\nfinally:\n    pass", ["statement"]),
        (f"with open('/dev/null') as f:\n    {CALL}", ["statement"]),
        (f"def f():\n    return {CALL}\nf()", ["used"]),
        (f"def f():\n    {CALL}\nf()", ["statement"]),
        (f"x = (lambda: {CALL})()", ["used"]),
        (f"x = [{CALL} for i in range(2)]", ["used", "used"]),
        (f"import asyncio\nawait asyncio.sleep(0)\n{CALL}", ["last"]),
        (f"import asyncio\n{CALL}\nawait asyncio.sleep(0)", ["statement"]),
        (f"async def f():\n    return {CALL}\nx = await f()", ["used"]),
        (f"def g():\n    yield {CALL}\nx = list(g())", ["used"]),
        ("\n".join([f"v{n} = {n}" for n in range(300)] + [f"last = {CALL}"]), ["used"]),
        ("\n".join([f"v{n} = {n}" for n in range(300)] + [CALL]), ["last"]),
    ],
)
def test_the_use_of_a_value(source: str, expected: list[str]):
    assert uses(source) == expected


def test_outside_ipython_nobody_knows():
    assert use_of_value() == "used"
