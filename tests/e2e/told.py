"""A server whose page writes down what it is told of its call, and a model that writes its calls slowly.

Used inside a kernel: `mcp.connect("told", told.server())`, `mcp.model(told.model())`.
"""

from __future__ import annotations

import asyncio
from typing import Any

from jupyter_mcp.models.base import ToolWriting
from jupyter_mcp.server import Server
from jupyter_mcp.testing import ScriptedModel

URI = "ui://told/page.html"
TEXT = "a calm sea under a red sky"

PAGE = """<!doctype html><title>told</title><ol id="told"></ol>
<script>
  const tell = (message) => parent.postMessage({jsonrpc: "2.0", ...message}, "*");
  const init = {appInfo: {name: "told", version: "1"}, appCapabilities: {}, protocolVersion: "2026-01-26"};
  addEventListener("message", ({data}) => {
    if (data.id === 1) tell({method: "ui/notifications/initialized"});
    if (!data.method?.startsWith("ui/notifications/tool-")) return;
    const line = document.createElement("li");
    const what = data.params.arguments ?? data.params.reason ?? data.params.content?.[0]?.text;
    line.textContent = `${data.method.slice(22)} ${JSON.stringify(what)}`;
    document.getElementById("told").append(line);
    tell({method: "ui/notifications/size-changed", params: {height: document.documentElement.scrollHeight}});
  });
  tell({id: 1, method: "ui/initialize", params: init});
</script>"""


def server() -> Server:
    """`paint` answers at once, `brood` never."""
    made = Server("told")
    ui = {"ui": {"resourceUri": URI}}
    made.add_resource(URI, lambda: PAGE, name="page", mime_type="text/html;profile=mcp-app")
    made.add_tool(_paint, name="paint", meta=ui)
    made.add_tool(_brood, name="brood", meta=ui)
    return made


def _paint(what: str) -> str:
    return f"painted {what}"


async def _brood(what: str) -> str:
    await asyncio.Event().wait()
    return what


class SlowHand(ScriptedModel):
    """Writes a word of a call, and the rest when a page has had time to be there."""

    async def generate(self, request: Any, on_text: Any = None, on_note: Any = None, on_tool: Any = None) -> Any:
        reply = await super().generate(request, on_text)
        if on_tool is not None and reply.tool_uses:
            name = str(reply.tool_uses[0]["name"])
            for end in (TEXT.index(" sea"), TEXT.index(" under")):
                on_tool(ToolWriting(0, name, f'{{"what": "{TEXT[:end]}'))
                await asyncio.sleep(2.0)
        return reply


def model() -> ScriptedModel:
    """Paints, then broods."""
    calls: list[Any] = [
        {"type": "tool_use", "id": name, "name": f"told__{name}", "input": {"what": TEXT}}
        for name in ("paint", "brood")
    ]
    supports: Any = frozenset({"text", "tools", "stream", "tool-stream"})
    return SlowHand([[calls[0]], "It is painted.", [calls[1]], "It is brooded on."], supports=supports)
