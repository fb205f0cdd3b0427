"""A question a server (or the policy) puts to the person, and the person's answer, as plain values.

The host decides whether and whom to ask; a `QuestionUI` only renders the question and brings the answer back. The same
values serve widgets, `input()`, scripted answers and tests. No rendering and no waiting happens here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from jupyter_mcp.host.sampling.live import LiveReply

QuestionKind = Literal["elicitation", "url", "sampling", "approval", "server", "inputs", "login"]
Action = Literal["accept", "decline", "cancel"]
Step = Literal["consent", "retry", "wait", "review"]

OURSELVES = "this notebook"
"""Who asks in a form of our own; no server can be called that."""


@dataclass(frozen=True, slots=True)
class Cause:
    """The act during which a question came, shown to the person ("while calling demo.book").

    Attributes:
        method: the MCP method ("tools/call", "prompts/get", "resources/read").
        name: the tool, prompt or URI.
        arguments: what was sent.
    """

    method: str
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class SamplingOffer:
    """What the host says beside a server's request for sampling; the request itself is the server's, in `params`.

    Attributes:
        model: the name of the one that would answer.
        why: why this one, in a few words.
        models: the names of those that can answer it, this one among them.
        unable: the other configured ones and what they do not take.
        masked: the request as a model gets it when what looks secret is masked; as sent when nothing does.
        masks: how many places that changes.
        reason: why the person is asked.
        scopes: how long a yes may hold.
        allowance: what a yes for longer than once allows: "calls", "tokens", "per_minute".
        ignored: what the server asks for and does not get, a sentence each.
        clean: a copy of a value with what looks secret masked, for a look at what was changed.
    """

    model: str
    why: str
    models: tuple[str, ...] = ()
    unable: Mapping[str, str] = field(default_factory=dict[str, str])
    masked: Mapping[str, Any] = field(default_factory=dict[str, Any])
    masks: int = 0
    reason: str = ""
    scopes: tuple[str, ...] = ("once",)
    allowance: Mapping[str, int] = field(default_factory=dict[str, int])
    ignored: tuple[str, ...] = ()
    clean: Callable[[Any], Any] = field(default=lambda value: value, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Question:
    """One question.

    Attributes:
        id: unique in this kernel.
        kind: "elicitation" (a form), "url" (open a page), "sampling" (a model's or a person's text),
            "approval" (an act), "server" (may a project's own server be started?), "inputs" (a form of ours: the values
            that a server's configuration asks for; what is given stays in this process), "login" (a page of an
            authorization server is to be visited; {"url", "issuer", "scopes", "resource", "redirect_uri", "place"}).
        server: name of the server that asks; for approvals the server the act goes to.
        message: the server's own words, untrusted.
        params: the request's params as sent (requestedSchema, url, messages, maxTokens …), untrusted;
            for an approval {"tool", "title", "arguments", "origin", "reason", "annotations", "trusted", "leaves" (what
            leaves the notebook, a line each), "scopes" (how long a yes may hold)}, with "schema" where the arguments
            may be changed, and "client" (the name it gives itself) when a client of ours wants it.
        cause: the act in flight, when it is known.
        warning: one sentence when the question looks like a hunt for a secret, else None.
        problems: what was wrong with the previous answer (field name -> sentence), when the question is put again.
        draft: the content of the answer that had these problems, so that nothing has to be written twice.
        step: of a "url" question, which keeps its id: "consent" (may the page be opened?), and once the person agreed
            "retry" (accept sends the server's request again, as soon as the person is done there) or "wait" (the
            server has its answer and goes on by itself; cancel ends the call). Of a "sampling" question that a model
            answers: "consent" (may it be asked?), and once the person agreed "review" (may its answer be sent?).
        offer: of a "sampling" question that a model would answer; None: the person writes the answer.
        live: of the step "review", the answer while it is being written.
    """

    id: str
    kind: QuestionKind
    server: str
    message: str
    params: Mapping[str, Any]
    cause: Cause | None = None
    warning: str | None = None
    problems: Mapping[str, str] = field(default_factory=dict[str, str])
    draft: Mapping[str, Any] | None = None
    step: Step = "consent"
    offer: SamplingOffer | None = None
    live: LiveReply | None = None

    @property
    def url(self) -> str:
        """The page of a "url" or "login" question; "" for others."""
        url = self.params.get("url") if self.kind in ("url", "login") else None
        return url if isinstance(url, str) else ""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back.

    Attributes:
        action: "accept", "decline" (an explicit no) or "cancel" (nobody chose).
        content: the form's values, of a login {"redirect": …} where the browser came back to or
            {"token": …} instead, a sampling result ({"text": …} or a CreateMessageResult), of an approval
            {"arguments": …} as the person changed them, or nothing. Where a model would answer a sampling: what the
            person changed of the request (`sampling.request.EDITABLE`), "model", "redact" (a switch) and "allowance";
            of its review {"content": blocks} as changed.
        remark: the person's own words with a decline; kept in the journal. A server is never told; who began an act
            that was not approved is.
        scope: how long a yes to an approval holds: "" or "once", "session", "notebook", "project", "user" (of those
            that were offered); "client" for what this client of ours wants; "never" makes a no a rule.
        by: "person", "script", "policy" (a rule), "headless" (nobody there), "server" (it said that a page is done)
            or "model" (its answer, that nobody was asked about, or its failure), for the journal.
        note: one line for the cell when nobody could be asked (how to script the answer).
    """

    action: Action
    content: Mapping[str, Any] | None = None
    remark: str | None = None
    scope: Literal["", "once", "session", "notebook", "project", "user", "client", "never"] = ""
    by: Literal["person", "script", "policy", "headless", "server", "model"] = "person"
    note: str | None = None


class QuestionUI(Protocol):
    """Renders questions; implemented by `runtime.desk`, by scripts in tests, by the terminal.

    It may have a method `settle(question, answer) -> bool` besides: the answer came from elsewhere, so an open question
    is closed with it (False: it is not open).
    """

    async def ask(self, question: Question) -> Answer:
        """Put the question and wait for the answer. Cancelling the awaiting task withdraws the question."""
        ...
