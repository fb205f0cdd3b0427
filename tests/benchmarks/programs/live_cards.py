"""CPU of a kernel whose page shows live cards: `python live_cards.py`

prints {"form": seconds to make the form of a tool with thirty arguments, "progress": share of a core that a call's live
card costs at "rate" reports a second}. A front end is pretended, as in `first_paint`; the call's server is a process of
its own (this file, with "serve").
"""

from __future__ import annotations

import json
import sys

from first_paint import Kernel, last

SECONDS, PAUSE = 4.0, 0.005
SETUP = """
%load_ext jupyter_mcp
import time
import jupyter_mcp as mcp
from jupyter_mcp.notebook.cards.callform import CallForm
from jupyter_mcp.notebook.cards.live import free

kinds = [
    {{"type": "string", "description": "A text."}},
    {{"type": "integer", "minimum": 0, "maximum": 100}},
    {{"type": "boolean", "default": True}},
    {{"enum": ["left", "right", "middle"]}},
    {{"type": "array", "items": {{"type": "array", "items": {{"type": "number"}}}}}},
    {{"anyOf": [{{"type": "string"}}, {{"type": "null"}}], "default": None}},
    {{"type": "object", "properties": {{"x": {{"type": "number"}}, "y": {{"type": "number"}}}}, "required": ["x"]}},
]
fields = {{f"argument_{{number}}": kinds[number % len(kinds)] for number in range(30)}}
schema = {{"type": "object", "properties": fields, "required": list(fields)[:8]}}
mcp.connect("slow", {python!r}, {program!r}, "serve")

def form():
    return CallForm(schema, lambda: None, lambda ready: ("", ""))

free(form().root)
"""
FORM = """
before = time.process_time()
made = form()
spent = time.process_time() - before
free(made.root)
print([spent])
"""
PROGRESS = """
before = time.process_time(), time.monotonic()
r = %mcp call slow.work seconds={seconds}
cpu, clock = time.process_time() - before[0], time.monotonic() - before[1]
print([cpu / clock, int(r.text) / clock])
"""


def serve() -> None:
    import asyncio
    import time

    from jupyter_mcp.server import AsyncContext, Server

    slow = Server("slow")

    @slow.tool
    async def work(seconds: float, ctx: AsyncContext) -> str:
        end, step = time.monotonic() + seconds, 0
        while time.monotonic() < end:
            step += 1
            await ctx.progress(step, message=f"step {step}")
            await asyncio.sleep(PAUSE)
        return str(step)

    globals()["AsyncContext"] = AsyncContext  # annotations are looked up here
    slow.run_stdio()


def main() -> None:
    kernel = Kernel()
    try:
        kernel.run(SETUP.format(python=sys.executable, program=__file__))
        (form,) = last(kernel.run(FORM))
        kernel.run(PROGRESS.format(seconds=0.1))  # what the first card loads
        share, rate = last(kernel.run(PROGRESS.format(seconds=SECONDS)))
        print(json.dumps({"form": form, "progress": share, "rate": rate}))
    finally:
        kernel.stop()


if __name__ == "__main__":
    serve() if sys.argv[1:] == ["serve"] else main()
