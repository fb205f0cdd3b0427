"""Context that the notebook proposes (`--auto-context`): the resources that fit a question best, in a form with sizes.

All resources are ranked by name, description and the text that was read before; the best few are read (reading is
free), ranked again by their passages, and put before the person, who sees how much of each would go along. Nothing is
attached that was not shown there. Words rank, and meaning beside them once the person named a model for it (`meaning`).
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import MCPError
from jupyter_mcp.host.conversation.attaching import fitting, of_read
from jupyter_mcp.host.conversation.meaning import Ranker
from jupyter_mcp.host.conversation.ranking import Document, passages, rank
from jupyter_mcp.host.conversation.untrusted import one_line
from jupyter_mcp.protocol.shapes import as_list, is_number, mapping_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from jupyter_mcp.host.catalogue import Offer
    from jupyter_mcp.host.conversation.attaching import Attachment
    from jupyter_mcp.host.conversation.limits import Limits
    from jupyter_mcp.host.conversation.meaning import Found
    from jupyter_mcp.host.host import Host
    from jupyter_mcp.host.result import Read
    from jupyter_mcp.models.base import Model

__all__ = ["Proposal", "propose", "ranked"]

_READ = 8  # so many are read to be ranked again
_SHOWN = 5
_READ_SECONDS = 10.0
_LARGEST = 2_000_000  # characters; a longer text is no context
_PEEK = 160


@dataclass(frozen=True, slots=True)
class Proposal:
    """One resource that may fit.

    Attributes:
        read: what it holds.
        score: how well it fits, above zero.
        size: how much would go along, in words.
        peek: the beginning of its best passage, on one line.
        clearly: whether it stands out: then it is ticked to begin with.
        order: of its passages, the best first, where they were ranked by meaning too.
    """

    read: Read
    score: float
    size: str
    peek: str
    clearly: bool = True
    order: tuple[int, ...] = ()

    @property
    def key(self) -> str:
        """`server:uri`, as it is written after an @."""
        return f"{self.read.server}:{self.read.uri}"


async def propose(
    host: Host,
    question: str,
    model: Model,
    limits: Limits,
    *,
    servers: Sequence[str],
    known: Mapping[str, str],
    note: Callable[[str], object],
    told: Callable[[str], None],
    is_off: Callable[[str, str], bool],
) -> list[Attachment]:
    """What the person chose of the resources that fit a question best; nothing when none does or nobody chose.

    Args:
        host, question, model, limits: of the conversation.
        servers: whose resources are looked at.
        known: texts that were read before, by `server:uri`.
        note: takes remarks for the person, which stay; what is sent somewhere to be ranked is among them.
        told: takes what is happening now.
        is_off: whether a resource (server, URI) is switched off for the conversation.
    """
    memory = host.models.vectors
    ranker = Ranker(question, memory, note, told, lambda text: str(host.redactor.known(text)))
    offers = [
        offer
        for name in servers
        for offer in host.catalogue.resources(name)
        if _is_for_models(offer) and not is_off(name, offer.name)
    ]
    found = await ranked(host, question, limits, offers, known, ranker)
    if not found:
        note("--auto-context: no resource fits the question.")
        return []
    answer = await host.form("These resources may help with the question. Which shall go along?", _form(found))
    if answer.action != "accept":
        note("--auto-context: nothing was attached." if answer.by != "headless" else _HEADLESS)
        return []
    chosen = as_list((answer.content or {}).get("attach"))
    supports = model.supports
    return [
        of_read(one.read, question, limits, supports=supports, order=one.order) for one in found if one.key in chosen
    ]


_HEADLESS = (
    "--auto-context: nobody could be asked, so nothing was attached; write @server:uri, or script the answer: "
    'mcp.answer({"attach": […]}, server="this notebook").'
)


async def ranked(
    host: Host, question: str, limits: Limits, offers: Sequence[Offer], known: Mapping[str, str], ranker: Ranker
) -> list[Proposal]:
    """The resources that fit best, best first, read."""
    newest = _newest(offers)
    documents = [_document(offer, known.get(f"{offer.server}:{offer.name}", ""), newest) for offer in offers]
    best = await ranker.documents(documents, [offer.server for offer in offers], _READ)
    first = [offers[one.at] for one in best]
    reads = await asyncio.gather(*(_read(host, offer) for offer in first))
    pairs = [(offer, read) for offer, read in zip(first, reads, strict=True) if read is not None]
    texts = [_document(offer, read.text, newest) for offer, read in pairs]
    again = await ranker.texts(texts, [offer.server for offer, _ in pairs], _SHOWN)
    return [_proposal(pairs[one.at][1], one, question, limits) for one in again]


async def _read(host: Host, offer: Offer) -> Read | None:
    try:
        read = await host.read(offer.server, offer.name, origin="person", timeout=_READ_SECONDS)
    except MCPError:
        return None  # the journal has it; there are others
    return read if read.text and len(read.text) <= _LARGEST else None


def _proposal(read: Read, found: Found, question: str, limits: Limits) -> Proposal:
    pieces = passages(read.text)
    best = found.order or [at for at, _ in rank([Document("", "", piece) for piece in pieces], question, 1)]
    piece = pieces[best[0]] if best else read.text
    size = fitting(read.text, question, limits.attachment, found.order)[1]
    return Proposal(read, found.score, size, one_line(piece, _PEEK), found.clearly, found.order)


def _form(found: Sequence[Proposal]) -> dict[str, Any]:
    choices = [{"const": one.key, "title": f"{one.key}, {one.size}: “{one.peek}”"} for one in found]
    ticked = [one.key for one in found if one.clearly]
    field = {"type": "array", "title": "Attach", "items": {"anyOf": choices}, "default": ticked}
    return {"type": "object", "properties": {"attach": field}, "required": ["attach"]}


# --- what annotations count ------------------------------------------------------------------------------------------


def _document(offer: Offer, text: str, newest: str) -> Document:
    return Document(
        f"{offer.name} {offer.item.get('name') or ''} {offer.title}",
        str(offer.item.get("description") or ""),
        text,
        _weight(offer, newest),
    )


def _weight(offer: Offer, newest: str) -> float:
    """By its annotations: priority 0 … 1 halves to one and a half times its score, the newest counts a little more."""
    annotations = mapping_of(offer.item.get("annotations"))
    priority = annotations.get("priority")
    weight = 0.5 + min(max(float(priority), 0.0), 1.0) if is_number(priority) else 1.0
    return weight * 1.1 if newest and annotations.get("lastModified") == newest else weight


def _newest(offers: Sequence[Offer]) -> str:
    """The latest `lastModified` among them (ISO 8601 texts of one form sort by time)."""
    said = [mapping_of(offer.item.get("annotations")).get("lastModified") for offer in offers]
    return max((text for text in said if isinstance(text, str)), default="")


def _is_for_models(offer: Offer) -> bool:
    """Whether its server did not say that it is for the person alone."""
    audience = mapping_of(offer.item.get("annotations")).get("audience")
    return not isinstance(audience, list) or not audience or "assistant" in audience
