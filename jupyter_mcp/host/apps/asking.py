"""What a page wants of the person, in words that can be judged: a link, files, a message to a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jupyter_mcp.host import urls
from jupyter_mcp.host.apps.messages import ERROR, Refusal
from jupyter_mcp.host.conversation.untrusted import visible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from jupyter_mcp.host.apps.app import App
    from jupyter_mcp.host.host import Host

__all__ = ["File", "Wish", "files", "link", "message"]

_MOST_TEXT = 4_000
_MAX_FILES = 32 << 20


@dataclass(frozen=True, slots=True)
class File:
    """A file for the person: its name (no path), MIME type and bytes."""

    name: str
    type: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Wish:
    """What a page wants.

    Attributes:
        method: of its request.
        subject: what it is about, short, for the journal.
        question: for the person, one sentence.
        detail: what has to be seen to answer it, whole; a line each.
        warnings: by what it may deceive, a sentence each.
        yes: what a yes is called.
        url: that a yes opens, or "".
        files: that a yes gives to the person.
    """

    method: str
    subject: str
    question: str
    detail: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    yes: str = "Allow"
    url: str = ""
    files: tuple[File, ...] = ()


def link(app: App, url: str) -> Wish:
    """A page that it wants to open. Raises `Refusal` for what is no plain http or https address."""
    address = urls.read(url)
    if address.refusal is not None:
        raise Refusal(address.refusal)
    reads = (f"reads as {address.reads}",) if address.reads else ()
    return Wish(
        "ui/open-link",
        url,
        f"The app of {app.full_name} wants to open a page at {address.site}.",
        (url, *reads),
        address.warnings,
        "Open page",
        url=url,
    )


async def files(host: Host, app: App, wanted: Sequence[Mapping[str, Any]]) -> Wish:
    """Files that it wants to give; those that it only names are read from its server first.

    Raises:
        Refusal: they are too large.
        MCPError: one could not be read.
    """
    found: list[File] = []
    for one in wanted:
        data = one.get("data")
        if data is None:
            data = (await host.read(app.server, one["uri"], origin="app")).bytes
        found.append(File(one["name"], one["type"], data))
    total = sum(len(file.data) for file in found)
    if total > _MAX_FILES:
        raise Refusal(f"The files have {total:,} bytes; {_MAX_FILES:,} are the most.", ERROR)
    many = f"{len(found)} files" if len(found) > 1 else "a file"
    return Wish(
        "ui/download-file",
        ", ".join(file.name for file in found)[:200],
        f"The app of {app.full_name} wants to save {many} on your computer.",
        tuple(f"{file.name} ({len(file.data):,} bytes, {file.type})" for file in found),
        yes="Save",
        files=tuple(found),
    )


def message(app: App, content: Sequence[Mapping[str, Any]]) -> Wish:
    """A message that it wants to put into the conversation. Raises `Refusal` for one that nobody would read first."""
    shown = visible("\n".join(_shown(block) for block in content))
    if len(shown) > _MOST_TEXT:
        raise Refusal(f"A message has at most {_MOST_TEXT:,} characters: a person reads it before it goes.", ERROR)
    return Wish(
        "ui/message",
        shown[:200],
        f"The app of {app.full_name} wants to say this to the model with your next question:",
        tuple(shown.splitlines()),
        yes="Let it say that",
    )


def _shown(block: Mapping[str, Any]) -> str:
    match block.get("type"):
        case "text":
            return str(block["text"])
        case "resource":
            return f"[a resource: {block['resource'].get('uri')}]\n{block['resource'].get('text') or ''}"
        case "resource_link":
            return f"[a link to the resource {block['uri']}]"
        case kind:
            return f"[{kind}, {block.get('mimeType')}, {len(str(block.get('data'))) * 3 // 4:,} bytes]"
