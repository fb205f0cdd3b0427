"""Prompts for a page: what there is, how an argument could go on, the messages, and the cell that says the same.

The acts of the panel's prompt forms; the forms themselves are drawn by the page (labextension/src/prompts), so that
they work while a cell runs. All run on the runtime's loop. A pressed button is the person's own act.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.notebook.panel import asked
from jupyter_mcp.notebook.panel.lists import read_lists
from jupyter_mcp.notebook.render.text import clean, cut, flat
from jupyter_mcp.protocol.shapes import as_list, is_mapping

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jupyter_mcp.host.catalogue import Offer
    from jupyter_mcp.host.host import Host

__all__ = ["ACTS", "complete", "messages", "offered", "written"]

MAX_PROMPTS = 1_000
MAX_ARGUMENTS = 50
MAX_SUGGESTIONS = 100
MAX_TEXT = 40_000


async def offered(data: Mapping[str, Any]) -> dict[str, Any]:
    """The prompts of all servers, in the servers' order: `{"prompts": […], "left_off": int}`."""
    host = _host()
    if host is None:
        return {"prompts": [], "left_off": 0}
    await read_lists(host, ("prompts",))
    found = host.catalogue.prompts()
    return {"prompts": [_about(one) for one in found[:MAX_PROMPTS]], "left_off": max(0, len(found) - MAX_PROMPTS)}


async def complete(data: Mapping[str, Any]) -> dict[str, Any]:
    """How an argument could go on, by its server: `{"values": [str]}`.

    Args:
        data: `server`, `prompt`, `argument`, `value` (what is typed of it), `others` (the arguments filled in so far).
    """
    value = data.get("value")
    ref = {"type": "ref/prompt", "name": asked.text(data, "prompt")}
    answer = await _needed().complete(
        asked.text(data, "server"),
        ref,
        asked.text(data, "argument"),
        value if isinstance(value, str) else "",
        asked.texts(data, "others"),
    )
    found = [clean(one) for one in as_list(answer.get("values")) if isinstance(one, str)]
    return {"values": list(dict.fromkeys(found))[:MAX_SUGGESTIONS]}


async def messages(data: Mapping[str, Any]) -> dict[str, Any]:
    """A prompt's messages: `{"messages": [{"role", "text"}], "markdown": str, "ask": str}`.

    Args:
        data: `server`, `prompt`, `arguments`.

    The last two are sources of cells: the messages as Markdown, and a question to a model that begins with them.
    """
    from jupyter_mcp.notebook.cards.prompts import as_markdown

    found = await _needed().get_prompt(
        asked.text(data, "server"), asked.text(data, "prompt"), asked.texts(data, "arguments"), origin="person"
    )
    said = [
        {
            "role": flat(one.get("role") or "unknown role", 40),
            "text": cut(as_markdown([one]).partition("\n\n")[2], MAX_TEXT),
        }
        for one in found.dicts
    ]
    return {"messages": said, "markdown": as_markdown(found.dicts), "ask": f"%%mcp ask\n{found.text}"}


async def written(data: Mapping[str, Any]) -> dict[str, Any]:
    """The line that gets a prompt: `{"source": str}`. Arguments as of `messages`."""
    from jupyter_mcp.notebook.cards.spelling import prompt_line

    return {
        "source": prompt_line(asked.text(data, "server"), asked.text(data, "prompt"), asked.texts(data, "arguments"))
    }


ACTS = {"prompts": offered, "prompt_complete": complete, "prompt_messages": messages, "prompt_cell": written}
"""By the name that a page asks for."""


def _host() -> Host | None:
    from jupyter_mcp.runtime import state

    return state.existing_host()


def _needed() -> Host:
    from jupyter_mcp.runtime import state

    return state.get_host()


def _about(offer: Offer) -> dict[str, Any]:
    told = offer.item.get("description")
    arguments = [
        one for one in as_list(offer.item.get("arguments")) if is_mapping(one) and isinstance(one.get("name"), str)
    ]
    return {
        "server": offer.server,
        "name": offer.name,
        "title": flat(offer.title, 200),
        "description": cut(clean(told), 2_000) if isinstance(told, str) else "",
        "arguments": [
            {
                "name": one["name"],
                "title": flat(one.get("title") or "", 200),
                "description": flat(one.get("description") or "", 400),
                "required": one.get("required") is True,
            }
            for one in {one["name"]: one for one in arguments}.values()
        ][:MAX_ARGUMENTS],
    }
