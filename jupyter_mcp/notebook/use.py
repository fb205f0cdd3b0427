"""What becomes of a magic's value: is the line a statement, the last one of its cell, or is the value used?

    %mcp call x              "statement" in the middle of a cell, "last" at its end (IPython displays that value)
    r = %mcp call x          "used", as in return, in an argument, in a comparison …

A card is shown for the first two only: a value that is used is shown by whoever uses it. IPython calls magics like
functions, so the byte code of the calling frame tells: what comes after the call drops the value, prints it, or not.
"""

from __future__ import annotations

import dis
import sys
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from types import CodeType, FrameType

__all__ = ["Use", "use_of_value"]

Use = Literal["statement", "last", "used"]
_RUNNERS = frozenset({"run_line_magic", "run_cell_magic", "magic"})
_SKIPPED = frozenset({"EXTENDED_ARG", "NOP", "CACHE"})


def use_of_value() -> Use:
    """For the magic that is running now (called from its function). "used" when nobody knows."""
    frame = _caller(sys._getframe(1))  # pyright: ignore[reportPrivateUsage]
    return "used" if frame is None else _use_after(frame.f_code, frame.f_lasti)


def _caller(frame: FrameType | None) -> FrameType | None:
    """The frame that called IPython's magic runner: the notebook's own code."""
    while frame is not None and frame.f_code.co_name not in _RUNNERS:
        frame = frame.f_back
    while frame is not None and frame.f_code.co_name in _RUNNERS:
        frame = frame.f_back
    return frame


def _use_after(code: CodeType, last: int) -> Use:
    """What the instruction after the one at `last` does with the value."""
    for instruction in dis.get_instructions(code):
        if instruction.offset <= last or instruction.opname in _SKIPPED:
            continue
        if instruction.opname == "POP_TOP":
            return "statement"
        if instruction.opname == "PRINT_EXPR":  # 3.11
            return "last"
        if instruction.opname == "CALL_INTRINSIC_1" and instruction.arg == 1:  # 3.12 on: INTRINSIC_PRINT
            return "last"
        return "used"
    return "used"
