"""`Deed`: one thing that somebody is about to do, as the policy sees it. A value; nothing is decided here.

It is made where acts begin (`doing`, `consent`, `questioner`, `connections`) and carries everything that a rule may
look at, so that a decision is a function of values.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["ASKED_BY_SERVERS", "BY_HAND", "LOGIN", "METHODS", "ORIGINS", "Deed", "Origin", "fingerprint"]

Origin = Literal["person", "code", "model", "server", "app", "project"]
ORIGINS: tuple[Origin, ...] = ("person", "code", "model", "server", "app", "project")

BY_HAND: tuple[Origin, ...] = ("person", "code")
"""A line typed, a button pressed, code run: consent for that one act."""

LOGIN = "authorization/login"
"""A server refused a request, and wants the person to log in."""

ASKED_BY_SERVERS = ("sampling/createMessage", "elicitation/create", "roots/list", LOGIN)
"""What a server may want of us. Their names are their methods (`demo.sampling/createMessage`)."""

METHODS = (
    "tools/call",
    "resources/read",
    "resources/subscribe",
    "prompts/get",
    "completion/complete",
    "connect",
    *ASKED_BY_SERVERS,
)
"""The methods that rules speak about."""


@dataclass(frozen=True, slots=True)
class Deed:
    """One act before it is done.

    Attributes:
        server: the server it goes to, or that wants it.
        method: an MCP method, or "connect" (starting or reaching the server).
        name: the tool, prompt or URI; of what a server asks for, the method again; "connect".
        arguments: what is sent with it.
        origin: who begins it: "person" (a line, a button), "code" (of the notebook), "model", "server" (or a client of
            our own server), "app" (a page of a server), "project" (a file that came with the project).
        annotations: what the server says about its own tool (`readOnlyHint` …), untrusted.
        trusted: the person said that this server's word is to be believed.
        by_hand: the person connected this server, no file did.
        fingerprint: tells what was shown to the person from what it may have become; see `fingerprint`.
        client: of our own server, the client who wants it, by the name it gives itself.
        yes: the person's consent came with it (`--yes`).
        off: the words by which it was switched off, or "".
        on: the person switched it on for the conversation that it belongs to: no switch elsewhere counts.
    """

    server: str
    method: str
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    origin: Origin = "code"
    annotations: Mapping[str, Any] = field(default_factory=dict[str, Any])
    trusted: bool = False
    by_hand: bool = True
    fingerprint: str | None = None
    client: str = ""
    yes: bool = False
    off: str = ""
    on: bool = False

    @property
    def full_name(self) -> str:
        """`server.name`."""
        return f"{self.server}.{self.name}"

    @property
    def begun_by(self) -> str:
        """Who begins it, in words for a sentence."""
        return self.client or _WORDS[self.origin]


_WORDS: Mapping[str, str] = {
    "person": "the person",
    "code": "the notebook's code",
    "model": "a model",
    "server": "a server",
    "app": "an app of the server",
    "project": "a file of the project",
}


def fingerprint(item: Mapping[str, Any]) -> str:
    """What a person relied on when approving a tool, all that its card says of it, as a digest ("sha256:…").

    Args:
        item: the tool as the server listed it.
    """
    seen = {key: item.get(key) for key in ("title", "description", "inputSchema", "outputSchema", "annotations")}
    text = json.dumps(seen, sort_keys=True, ensure_ascii=False, default=str)
    return "sha256:" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
