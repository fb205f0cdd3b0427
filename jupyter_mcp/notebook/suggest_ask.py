"""What may follow in a question: `@server:uri`, `/server.prompt` with its arguments; and the options of `ask`.

From the cached lists, like everything in `suggest`; values of prompts' arguments are fetched in the background.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from jupyter_mcp.notebook import listed, suggest
from jupyter_mcp.notebook.fetched import fetched

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jupyter_mcp.host.catalogue import Offer

__all__ = ["for_option", "for_question"]

_MENTION = re.compile(r"(?<![\w@./])@[^\s<>]*$")
_PROMPT = re.compile(r"^[ \t]*(?P<name>/[^\s/]*)$")
_ARGUMENT = re.compile(r"^[ \t]*/(?P<name>[^\s/]+)[ \t](?P<rest>.*)$")


def for_question(text: str) -> suggest.Suggestions:
    """What may follow `text`, the body up to the cursor."""
    line = text.rsplit("\n", 1)[-1]
    if (found := _PROMPT.match(line)) is not None:
        return suggest.starting(found["name"], ((f"/{offer.full_name}", "prompt") for offer in listed.offers("prompt")))
    if (found := _ARGUMENT.match(line)) is not None:
        offer = listed.offer_of("prompt", [found["name"]])
        if offer is not None:
            return _argument(offer, found["rest"])
    if (found := _MENTION.search(line)) is not None:
        return suggest.starting(found[0], _mentions())
    return suggest.Suggestions(ours=False)


def for_option(name: str, fragment: str) -> suggest.Suggestions | None:
    """What may follow an option of `ask`; several values are separated by commas. None for another option."""
    last = fragment.rpartition(",")[2]
    match name:
        case "servers":
            return suggest.starting(last, ((server, "server") for server in listed.servers()))
        case "tools":
            return suggest.starting(last, ((offer.full_name, "tool") for offer in listed.offers("tool")))
        case "context":
            return suggest.starting(last, ((variable, "variable") for variable in listed.variables()))
        case "model":
            return suggest.starting(fragment, ((model, "model") for model in _models()))
        case _:
            return None


def _mentions() -> Iterator[tuple[str, str]]:
    """Resources, and of a template what stands before its first variable."""
    yield from ((f"@{offer.server}:{_held(offer.name)}", "resource") for offer in listed.offers("resource"))
    yield from ((f"@{offer.server}:{offer.name.partition('{')[0]}", "template") for offer in listed.offers("template"))


def _held(uri: str) -> str:
    """The URI as it is read back from a sentence."""
    return f"<{uri}>" if re.search(r"\s|[.,;:!?'\")\]}]$", uri) else uri


def _argument(offer: Offer, rest: str) -> suggest.Suggestions:
    words = rest.split(" ")
    given = dict(word.split("=", 1) for word in words[:-1] if "=" in word)
    name, equals, value = words[-1].partition("=")
    if equals:
        return suggest.starting(value, ((text, "value") for text in fetched.values(offer, name, value, given)))
    names = (name for name in listed.argument_names(offer) if name not in given)
    return suggest.starting(words[-1], ((f"{name}=", "argument") for name in names))


def _models() -> list[str]:
    host: Any = listed.existing_host()
    return [] if host is None else list(host.models.configured)
