"""What goes along with a question: resources, prompts' messages, notebook variables, as blocks that a model takes.

A person attaches; no model and no server does. A long text is attached by the passages that fit the question best, and
its label says so. What the model cannot take is an error here, for the person meant it.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import MCPError, UsageError
from jupyter_mcp.host.conversation.ranking import Document, passages, rank
from jupyter_mcp.host.conversation.results import (
    Budget,
    block_for_model,
    contents_for_model,
    result_for_model,
    text_block,
)
from jupyter_mcp.host.conversation.untrusted import cut_end, one_line, visible
from jupyter_mcp.models.messages import blocks_of
from jupyter_mcp.protocol.shapes import as_list, mapping_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from jupyter_mcp.host.conversation.limits import Limits
    from jupyter_mcp.host.conversation.mentions import Asked, PromptLine, ResourceMention
    from jupyter_mcp.host.host import Host
    from jupyter_mcp.host.result import Contents, PromptResult, Read, Result
    from jupyter_mcp.models.base import Model

__all__ = ["Attachment", "attach", "of_prompt", "of_read", "of_result", "of_text", "prompt_names"]

_IMAGES = 8  # of one attachment
_MOST_FIELDS = 40


@dataclass(frozen=True, slots=True)
class Attachment:
    """One thing that goes along with a question.

    Attributes:
        label: what it is, in words, with its size.
        blocks: what the model gets, before the question.
        messages: whole messages that come before that (of a prompt).
        origins: (server, text) of what came from servers, for whoever approves passing it on.
        texts: what resources hold, by `server:uri`.
    """

    label: str
    blocks: Sequence[Mapping[str, Any]] = ()
    messages: Sequence[Mapping[str, Any]] = ()
    origins: Sequence[tuple[str, str]] = ()
    texts: Mapping[str, str] = field(default_factory=dict[str, str])


async def prompt_names(host: Host, question: str) -> list[str]:
    """The prompts there are, as `server.prompt`; asked for only when the question may name one."""
    if not any(line.lstrip().startswith("/") for line in question.splitlines()):
        return []
    for entry in list(host.servers.values()):
        if entry.ready and entry.connection is not None:
            try:
                await entry.connection.list("prompts")
            except MCPError as error:
                entry.say("note", f"Cannot list its prompts: {error}", level="warning")
    return [offer.full_name for offer in host.catalogue.prompts()]


async def attach(host: Host, asked: Asked, model: Model, limits: Limits) -> list[Attachment]:
    """Everything that a question names, prompts first, each in the order of the question.

    Raises:
        UsageError: a prompt lacks arguments that nobody gave.
        UnsupportedContent: the model cannot take what it holds.
        MCPError: it could not be read.
    """
    prompts = [await _prompt(host, line, model, limits) for line in asked.prompts]  # one form after the other
    reads = await asyncio.gather(*(_resource(host, one, asked.text, model, limits) for one in asked.resources))
    return [*prompts, *reads]


async def _resource(host: Host, mention: ResourceMention, question: str, model: Model, limits: Limits) -> Attachment:
    read = await host.read(mention.server, mention.uri, origin="person")
    return of_read(read, question, limits, supports=model.supports, strict=model.name)


async def _prompt(host: Host, line: PromptLine, model: Model, limits: Limits) -> Attachment:
    _, item = await host.resolve("prompt", line.name, line.server)
    arguments = await _filled(host, line, item)
    result = await host.get_prompt(line.server, line.name, arguments, origin="person")
    return of_prompt(result, limits, supports=model.supports, strict=model.name)


async def _filled(host: Host, line: PromptLine, item: Mapping[str, Any]) -> dict[str, str]:
    """The arguments of a prompt; those that are missing are asked for in a form."""
    declared = [
        mapping_of(one) for one in as_list(item.get("arguments")) if isinstance(mapping_of(one).get("name"), str)
    ]
    missing = [one["name"] for one in declared if one.get("required") is True and one["name"] not in line.arguments]
    if not missing:
        return dict(line.arguments)
    name = f"/{line.server}.{line.name}"
    open_ = [one for one in declared if one["name"] not in line.arguments][:_MOST_FIELDS]
    schema = {"type": "object", "properties": {one["name"]: _field(one) for one in open_}, "required": missing}
    answer = await host.form(f"{name} needs {', '.join(missing)}.", schema)
    if answer.action != "accept":
        how = " ".join(f"{name}=…" for name in missing)
        raise UsageError(f"{name} needs {', '.join(missing)}.", hint=f"Write {name} {how}")
    given = {key: str(value) for key, value in (answer.content or {}).items() if value not in (None, "")}
    return {**line.arguments, **given}


def _field(argument: Mapping[str, Any]) -> dict[str, Any]:
    said = argument.get("description")
    title = argument.get("title")
    made: dict[str, Any] = {"type": "string", "title": one_line(str(title or argument["name"]), 80)}
    if argument.get("required") is True:
        made["minLength"] = 1
    return {**made, "description": one_line(str(said), 300)} if said else made


# --- as blocks -------------------------------------------------------------------------------------------------------


def of_read(
    read: Read,
    question: str,
    limits: Limits,
    *,
    supports: frozenset[str] = frozenset(),
    strict: str = "",
    order: Sequence[int] = (),
) -> Attachment:
    """A resource that was read; of a long one the passages that fit the question.

    Args:
        read: what came.
        question: what its passages are ranked by.
        limits: how long it may be.
        supports, strict: see `Budget`.
        order: of its passages, the best first, where they were ranked before.
    """
    name = f"{read.server}:{one_line(read.uri, 300)}"
    shown, told = fitting(read.text, question, limits.attachment, order)
    budget = Budget(limits.attachment, _IMAGES, supports, strict=strict)
    others = contents_for_model([part.raw for part in read.contents if not _is_text(part)], budget)
    size = told if read.text else f"{len(read.bytes):,} bytes"
    label = f"{name} ({read.mime_type or 'no type'}, {size})"
    head = f"Attached by the person: the resource {name}"
    blocks = [text_block(f"{head} ({told})\n\n{shown}" if shown else f"{head}{'' if others else ' (it is empty)'}")]
    texts = {f"{read.server}:{read.uri}": read.text} if read.text else {}
    return Attachment(label, [*blocks, *others], origins=((read.server, read.text),), texts=texts)


def _is_text(part: Contents) -> bool:
    kind = (part.mime_type or "").split(";")[0]
    return part.text is not None or kind.startswith("text/") or kind.endswith(("json", "xml", "yaml"))


def of_prompt(
    result: PromptResult, limits: Limits, *, supports: frozenset[str] = frozenset(), strict: str = ""
) -> Attachment:
    """A prompt's messages, in their roles."""
    budget = Budget(limits.attachment * 4, _IMAGES, supports, strict=strict)
    messages = [
        {
            "role": "assistant" if message.get("role") == "assistant" else "user",
            "content": [block_for_model(block, budget) for block in blocks_of(message)],
        }
        for message in result.dicts
    ]
    label = f"/{result.server}.{one_line(result.prompt, 100)} ({len(messages)} message{'s'[: len(messages) != 1]})"
    return Attachment(label, messages=messages, origins=((result.server, result.text),))


def of_result(
    result: Result, limits: Limits, *, supports: frozenset[str] = frozenset(), strict: str = ""
) -> Attachment:
    """What a tool returned to the person."""
    name = f"{result.server}.{one_line(result.tool, 100)}"
    budget = Budget(limits.attachment, _IMAGES, supports, strict=strict)
    blocks = [text_block(f"Attached by the person: what {name} returned"), *result_for_model(result, budget)]
    return Attachment(
        f"the result of {name} ({len(result.text):,} characters)", blocks, origins=((result.server, result.text),)
    )


def of_text(
    name: str, text: str, question: str, limits: Limits, *, what: str = "the notebook's variable"
) -> Attachment:
    """A text of the notebook's own (a variable as it shows itself)."""
    shown, told = fitting(text, question, limits.attachment)
    return Attachment(f"{name} ({told})", [text_block(f"Attached by the person: {what} {name}\n\n{shown}")])


def fitting(text: str, question: str, limit: int, order: Sequence[int] = ()) -> tuple[str, str]:
    """A text of at most about `limit` characters, and its size in words.

    Args:
        text: when it is longer, the passages that fit the question are taken.
        question: what they are ranked by.
        limit: characters.
        order: of the passages, the best first, where they were ranked before.
    """
    if len(text) <= limit:
        return visible(text), f"{len(text):,} characters" if text else ""
    pieces = passages(text)
    ranked = order or [at for at, _ in rank([Document("", "", piece) for piece in pieces], question, len(pieces))]
    chosen: list[int] = []
    left = limit
    for at in ranked or range(len(pieces)):
        if len(pieces[at]) > left:
            break
        chosen.append(at)
        left -= len(pieces[at])
    if not chosen:
        return cut_end(text, limit), f"the first {limit:,} of {len(text):,} characters"
    shown = "\n\n[…]\n\n".join(visible(pieces[at]) for at in sorted(chosen))
    return shown, f"{len(chosen)} of {len(pieces)} passages, of {len(text):,} characters"
