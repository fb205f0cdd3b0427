"""What a handler may ask of the client while it runs, and the answers, as plain values.

`Elicit` (a form, or a page to open), `Sample` (a model's text) and `Roots` (the client's folders) each know their
request on the wire at a revision and how to read the client's answer. `InputRequired` is what a handler may return to
ask several at once by its own hand. How a question travels (a request in the legacy era, an input_required round in
the modern one) is decided in `rounds` and `exchange`.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast
from urllib.parse import urlsplit

from jupyter_mcp.errors import RequestError, UsageError
from jupyter_mcp.protocol import capabilities, secrets
from jupyter_mcp.protocol.jsonrpc import MISSING_CLIENT_CAPABILITY, URL_ELICITATION_REQUIRED
from jupyter_mcp.server import content as blocks
from jupyter_mcp.server.forms import Form, InvalidAnswer

if TYPE_CHECKING:
    from jupyter_mcp.protocol.revisions import Features


class MissingCapability(RequestError):
    """The client did not declare what the handler needs.

    A handler may catch it and do without; uncaught, it ends the call: -32021 in the modern era, else an error result.

    Attributes:
        required: the capability in the shape of ClientCapabilities.
    """

    def __init__(self, message: str, required: Mapping[str, Any]) -> None:
        super().__init__(message, code=MISSING_CLIENT_CAPABILITY, data={"requiredCapabilities": dict(required)})
        self.required = dict(required)


class UrlRequired(RequestError):
    """A handler raises it when the person must first have been to some pages; it is run again after that.

    The client gets error -32042 with the pages in 2025-11-25 and calls again when the person has been there; in
    2026-07-28 the pages are questions, and a no to one of them ends the call.

    Args:
        pages: `Elicit(message, url=…)`, one or several.
        message: what the client is told beside them.

    Raises:
        UsageError: one of them is a form.
    """

    def __init__(self, pages: Elicit | Sequence[Elicit], message: str = "The person must open a page first.") -> None:
        super().__init__(message, code=URL_ELICITATION_REQUIRED)
        self.pages = (pages,) if isinstance(pages, Elicit) else tuple(pages)
        if not self.pages or any(page.url is None for page in self.pages):
            raise UsageError("UrlRequired takes pages: Elicit(message, url=…).")


@dataclass(frozen=True, slots=True)
class Elicited:
    """The answer to a form or a page.

    Attributes:
        action: "accept", "decline" (an explicit no) or "cancel" (nobody chose).
        data: after "accept" of a form: an instance of the model that was asked for, the plain value, or a dict.
        elicitation_id: of a page: what `elicitation_complete` takes; None for a form.
    """

    action: Literal["accept", "decline", "cancel"]
    data: Any = None
    elicitation_id: str | None = None

    @property
    def accepted(self) -> bool:
        return self.action == "accept"


@dataclass(frozen=True, slots=True)
class Sampled:
    """A model's answer.

    Attributes:
        text: its text, all blocks joined.
        content: the content blocks, as sent.
        model: the model's name.
        stop_reason: "endTurn", "maxTokens", "toolUse" …, or None.
        raw: the whole CreateMessageResult.
    """

    text: str
    content: list[dict[str, Any]]
    model: str
    stop_reason: str | None
    raw: dict[str, Any]


@dataclass(frozen=True, slots=True)
class RootFolder:
    """A folder the client works in.

    Attributes:
        uri: as sent.
        name: the client's name for it, or None.
        path: the local path of a file URI, else None.
    """

    uri: str
    name: str | None
    path: Path | None


class Question(Protocol):
    """What all questions can do."""

    @property
    def method(self) -> str: ...

    def params(self, features: Features) -> dict[str, Any] | None:
        """The request's params at a revision."""
        ...

    def read(self, result: Mapping[str, Any]) -> Any:
        """The client's answer as a value. Raises `InvalidAnswer`."""
        ...


@dataclass(frozen=True)
class Elicit:
    """Ask the person: a form, or (with `url`) to open a page and act there.

    Args:
        message: what to ask, shown to the person.
        schema: a pydantic model, dataclass, plain type or JSON Schema (see `forms`); None asks for a bare yes or no.
        url: a page to open instead. For passwords, keys, tokens and cards this is the only way.
        elicitation_id: of a page: a name for it that nobody can guess; by default made anew.

    Raises:
        UsageError: the form asks for a secret, or for something a form cannot ask.
    """

    message: str
    schema: Any = None
    url: str | None = None
    elicitation_id: str = field(default_factory=lambda: uuid.uuid4().hex, compare=False)

    method = "elicitation/create"

    def __post_init__(self) -> None:
        if self.url is not None:
            if urlsplit(self.url).scheme not in ("http", "https"):
                raise UsageError("ctx.elicit_url takes an http(s) address.")
            return
        object.__setattr__(self, "_form", Form(self.schema))
        found = secrets.secret_question(self.form.schema, self.message)
        if found:
            raise UsageError(
                f"A form must not ask for secrets ({found}): the client and its model would see the answer.",
                hint="Send the person to a page of yours with ctx.elicit_url(message, url).",
            )

    @property
    def form(self) -> Form:
        return cast("Form", self.__dict__["_form"])

    def params(self, features: Features) -> dict[str, Any]:
        if self.url is not None:
            asked: dict[str, Any] = {"mode": "url", "message": self.message, "url": self.url}
            return {**asked, "elicitationId": self.elicitation_id} if features.elicitation_ids else asked
        mode = {"mode": "form"} if features.elicitation_modes else {}
        return {**mode, "message": self.message, "requestedSchema": self.form.wire(features)}

    def read(self, result: Mapping[str, Any]) -> Elicited:
        action = result.get("action")
        if action not in ("accept", "decline", "cancel"):
            raise InvalidAnswer("the answer's action must be accept, decline or cancel")
        if self.url is not None:
            return Elicited(action, elicitation_id=self.elicitation_id)
        if action != "accept":
            return Elicited(action)
        given = result.get("content")
        if given is None and not self.form.schema["properties"]:
            given = {}
        return Elicited(action, self.form.read(given))


def page(message: str, url: str, elicitation_id: str | None = None) -> Elicit:
    """The question that sends a person to a page. Raises UsageError."""
    return Elicit(message, url=url, **({} if elicitation_id is None else {"elicitation_id": elicitation_id}))


Messages = "str | blocks.Message | Mapping[str, Any] | Sequence[str | blocks.Message | Mapping[str, Any]]"


@dataclass(frozen=True)
class Sample:
    """Ask the client's model for a message.

    Args:
        messages: text, a message (`user(…)`, `assistant(…)`, a dict in the shape of the wire), or several.
        max_tokens: the most tokens it may answer with.
        system: a system prompt.
        temperature, stop_sequences, metadata: passed on.
        models: names the client may prefer, best first (`modelPreferences.hints`).
        preferences: `costPriority`, `speedPriority`, `intelligencePriority`, each 0 to 1.
        include_context: "none", "thisServer" or "allServers".
        tools: tools in the shape of the wire that the model may call; the client must declare `sampling.tools`.
        tool_choice: `{"mode": "auto" | "required" | "none"}`.
    """

    messages: Any
    max_tokens: int = 1000
    system: str | None = None
    temperature: float | None = None
    stop_sequences: Sequence[str] | None = None
    models: Sequence[str] = ()
    preferences: Mapping[str, float] = field(default_factory=dict[str, float])
    include_context: Literal["none", "thisServer", "allServers"] | None = None
    metadata: Mapping[str, Any] | None = None
    tools: Sequence[Mapping[str, Any]] | None = None
    tool_choice: Mapping[str, Any] | None = None

    method = "sampling/createMessage"

    def params(self, features: Features) -> dict[str, Any]:
        preferences: dict[str, Any] = dict(self.preferences)
        if self.models:
            preferences["hints"] = [{"name": name} for name in self.models]
        optional = {
            "systemPrompt": self.system,
            "temperature": self.temperature,
            "stopSequences": list(self.stop_sequences) if self.stop_sequences else None,
            "modelPreferences": preferences or None,
            "includeContext": self.include_context,
            "metadata": self.metadata,
            "tools": [dict(tool) for tool in self.tools] if self.tools is not None else None,
            "toolChoice": self.tool_choice,
        }
        given = {key: value for key, value in optional.items() if value is not None}
        return {"messages": messages_for(self.messages, features), "maxTokens": self.max_tokens, **given}

    def read(self, result: Mapping[str, Any]) -> Sampled:
        given = result.get("content")
        found: list[Any] = [given] if isinstance(given, Mapping) else list(given) if isinstance(given, list) else []  # pyright: ignore[reportUnknownArgumentType]
        parts = [dict(cast("Mapping[str, Any]", block)) for block in found if isinstance(block, Mapping)]
        if not parts:
            raise InvalidAnswer("the answer has no content")
        text = "\n".join(str(block.get("text", "")) for block in parts if block.get("type") == "text")
        model, reason = result.get("model"), result.get("stopReason")
        return Sampled(text, parts, str(model or ""), str(reason) if reason is not None else None, dict(result))


@dataclass(frozen=True)
class Roots:
    """Ask the client which folders it works in."""

    method = "roots/list"

    def params(self, features: Features) -> dict[str, Any] | None:
        return None

    def read(self, result: Mapping[str, Any]) -> list[RootFolder]:
        roots = result.get("roots")
        if not isinstance(roots, list):
            raise InvalidAnswer("the answer has no roots")
        given = [cast("Mapping[str, Any]", root) for root in cast("list[Any]", roots) if isinstance(root, Mapping)]
        return [_root(root) for root in given if isinstance(root.get("uri"), str)]


@dataclass(frozen=True, slots=True)
class InputRequired:
    """What a handler returns to ask by its own hand: it is called again with `ctx.responses` and `ctx.state` filled.

    Args:
        requests: key -> question; empty to be called again without asking (the work is not done yet).
        state: any JSON value; it travels through the client, signed but readable.
    """

    requests: Mapping[str, Elicit | Sample | Roots] = field(default_factory=dict[str, "Elicit | Sample | Roots"])
    state: Any = None


def check_allowed(question: Question, caps: Mapping[str, Any], features: Features) -> dict[str, Any] | None:
    """The params of a question, when the client declared that it answers such.

    Raises:
        MissingCapability: it did not.
    """
    params = question.params(features)
    refusal = capabilities.client_allows(caps, question.method, params)
    required = _unknown_to(features, question) if refusal is None else refusal.required or {}
    if not required:
        return params
    what = _words(required)
    raise MissingCapability(f"This needs a client that supports {what}, and the client did not declare it.", required)


def _unknown_to(features: Features, question: Question) -> dict[str, Any]:
    """The capability that the revision itself does not know, whatever the client declared; {} when it knows all."""
    if isinstance(question, Elicit):
        if not features.elicitation:
            return {"elicitation": {}}
        if question.url is not None and not features.url_elicitation:
            return {"elicitation": {"url": {}}}
    if isinstance(question, Sample) and question.tools is not None and not features.sampling_tools:
        return {"sampling": {"tools": {}}}
    return {}


def _words(required: Mapping[str, Any]) -> str:
    words: list[str] = []
    here: Any = required
    while isinstance(here, Mapping) and here:
        step = next(iter(cast("Mapping[str, Any]", here)))
        words.append(step)
        here = cast("Mapping[str, Any]", here)[step]
    return ".".join(words) or "this question"


def digest_of(method: str, params: Mapping[str, Any] | None) -> str:
    """What makes two questions the same one: method and params, but for ids made anew each time."""
    same = {key: value for key, value in (params or {}).items() if key != "elicitationId"}
    text = json.dumps([method, same], sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def messages_for(messages: Any, features: Features) -> list[dict[str, Any]]:
    """Messages in the shape of the wire, from text, `Message`, dicts, or a list of those.

    Before 2025-11-25 a message holds one block: several become several messages of the same role.
    """
    given: list[Any] = list(cast("Sequence[Any]", messages)) if isinstance(messages, (list, tuple)) else [messages]
    found: list[dict[str, Any]] = []
    for one in given:
        role, parts, whole = _message(one)
        parts = blocks.blocks_for_revision(parts, features)
        if whole and features.sampling_tools and len(parts) != 1:
            found.append({"role": role, "content": parts})
        else:
            found.extend({"role": role, "content": part} for part in parts)
    return found


def _message(one: Any) -> tuple[str, list[dict[str, Any]], bool]:
    """Role and blocks of one message; whether its content was a list."""
    role: str = "user"
    content: Any = one
    if isinstance(one, blocks.Message):
        role, content = one.role, one.content
    elif isinstance(one, Mapping) and "role" in one:
        message = cast("Mapping[str, Any]", one)
        role, content = str(message["role"]), message.get("content")
    if isinstance(content, (list, tuple)):
        return role, [_block(part) for part in cast("Sequence[Any]", content)], True
    return role, [_block(content)], False


def _block(part: Any) -> dict[str, Any]:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    if isinstance(part, Mapping) and "type" in part:  # tool_use and tool_result blocks too
        return dict(cast("Mapping[str, Any]", part))
    found = blocks.block_of(cast("Any", part))
    if found is None:
        kind = type(cast("object", part)).__name__
        raise UsageError(f"A message holds text, images or other content, not {kind}.")
    return found


def _root(root: Mapping[str, Any]) -> RootFolder:
    name = root.get("name")
    return RootFolder(root["uri"], None if name is None else str(name), _local_path(root["uri"]))


def _local_path(uri: str) -> Path | None:
    parts = urlsplit(uri)
    if parts.scheme != "file":
        return None
    from urllib.request import url2pathname  # brings http.client and ssl with it

    try:
        return Path(url2pathname(parts.path)) if parts.netloc in ("", "localhost") else None
    except (ValueError, OSError):
        return None
