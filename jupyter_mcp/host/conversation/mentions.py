"""What a question names to go along: `@server:uri` anywhere, `/server.prompt key=value` on a line of its own. Pure.

Only what a person writes is looked through; the texts of servers and models never are.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jupyter_mcp.errors import UsageError
from jupyter_mcp.host.wording import nearest

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

__all__ = ["Asked", "PromptLine", "ResourceMention", "read_question"]

_MENTION = re.compile(r"(?<![\w@./])@(?P<server>[A-Za-z0-9_-]{1,32}):(?:<(?P<held>[^<>\n]+)>|(?P<uri>[^\s<>]+))")
_PROMPT = re.compile(r"[ \t]*/(?P<name>[^\s/]*)(?P<rest>(?:[ \t].*)?)$")
_BEHIND = ".,;:!?'\")]}"
_PAIRS = {")": "(", "]": "[", "}": "{"}


@dataclass(frozen=True, slots=True)
class ResourceMention:
    """`@server:uri`."""

    server: str
    uri: str


@dataclass(frozen=True, slots=True)
class PromptLine:
    """`/server.prompt key=value …`; `server` is "" for a bare name."""

    server: str
    name: str
    arguments: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question taken apart.

    Attributes:
        text: the question without its prompt lines; mentions of resources stay in it.
        resources, prompts: what it names, each once, in order.
        wants_list: a line is `/` alone: the person looks for a prompt.
    """

    text: str
    resources: Sequence[ResourceMention] = ()
    prompts: Sequence[PromptLine] = ()
    wants_list: bool = False


def read_question(text: str, servers: Collection[str], prompts: Collection[str]) -> Asked:
    """Take a question apart.

    Args:
        text: as written.
        servers: the servers there are; `@name:` of another is an error when it looks like one that is meant.
        prompts: the prompts there are, as `server.prompt`.

    Raises:
        UsageError: an unknown server or prompt that is like a known one, or arguments that cannot be read.
    """
    kept: list[str] = []
    lines: list[PromptLine] = []
    wants_list = False
    for line in text.splitlines():
        found = _PROMPT.match(line)
        if found is None:
            kept.append(line)
        elif not found["name"]:
            wants_list = wants_list or not found["rest"].strip()
            kept += [line] if found["rest"].strip() else []
        elif (prompt := _prompt(found["name"], found["rest"], prompts)) is not None:
            lines.append(prompt)
        else:
            kept.append(line)
    said = "\n".join(kept).strip()
    return Asked(said, list(dict.fromkeys(_mentions(said, servers))), lines, wants_list)


def _mentions(text: str, servers: Collection[str]) -> list[ResourceMention]:
    mentions: list[ResourceMention] = []
    for found in _MENTION.finditer(text):
        server, uri = found["server"], found["held"] or _without_behind(found["uri"] or "")
        if server in servers:
            if uri:
                mentions.append(ResourceMention(server, uri))
        elif "://" in uri or nearest(server, list(servers)):
            near = nearest(server, list(servers))
            hint = f"Did you mean @{near}:{uri}?" if near else f"Connected: {', '.join(servers) or 'none'}."
            raise UsageError(f"@{server}:{uri} names no connected server.", hint=hint)
    return mentions


def _without_behind(uri: str) -> str:
    """The URI without the sentence's own marks behind it; a bracket that it opened itself belongs to it."""
    while uri and uri[-1] in _BEHIND:
        opening = _PAIRS.get(uri[-1])
        if opening is not None and uri.count(opening) >= uri.count(uri[-1]):
            break
        uri = uri[:-1]
    return uri


def _prompt(name: str, rest: str, prompts: Collection[str]) -> PromptLine | None:
    """The prompt that a line names; None for a line that only looks like one (a path, a sign)."""
    if name in prompts:
        server, _, bare = name.partition(".")
        return PromptLine(server, bare, _arguments(name, rest))
    offering = [full.partition(".")[0] for full in prompts if full.partition(".")[2] == name]
    if len(offering) == 1:
        return PromptLine(offering[0], name, _arguments(name, rest))
    if offering:
        names = " or ".join(f"/{server}.{name}" for server in offering)
        raise UsageError(f"/{name} is offered by {len(offering)} servers.", hint=f"Write {names}.")
    near = nearest(name, [*prompts, *(full.partition(".")[2] for full in prompts)])
    if near:
        raise UsageError(f"There is no prompt /{name}.", hint=f"Did you mean /{near}? A line with / alone lists all.")
    return None


def _arguments(name: str, rest: str) -> dict[str, str]:
    try:
        words = shlex.split(rest)
    except ValueError as error:
        raise UsageError(f"/{name}: {str(error).lower()} in {rest.strip()!r}") from None
    pairs: dict[str, str] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key:
            raise UsageError(f"/{name}: {word!r} is not key=value; quote values with spaces.")
        if key in pairs:
            raise UsageError(f"/{name}: {key} is given twice.")
        pairs[key] = value
    return pairs
