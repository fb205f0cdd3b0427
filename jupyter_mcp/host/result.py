"""What comes back from an act as plain values: `Result` (a tool), `Read` (a resource), `PromptResult` (a prompt).

Everything is derived at first use from `raw`, which stays as the server sent it. Nothing renders here beyond a short
repr that says the same each time (no duration, no ids).
"""

from __future__ import annotations

import json
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.errors import UsageError
from jupyter_mcp.host import tables
from jupyter_mcp.host.media import Audio, Image, decode_base64, pictures_in, sniff_image
from jupyter_mcp.protocol import salvage
from jupyter_mcp.protocol.framing import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from jupyter_mcp.protocol import types

__all__ = ["Contents", "PromptResult", "Read", "Result"]

_SHOWN = 60


class Contents:
    """One part of a resource, or a resource embedded in a result.

    Attributes:
        uri, mime_type: as the server wrote them; `mime_type` may be None.
        text: its text, or None when it is bytes.
        raw: as sent.
    """

    def __init__(self, raw: Mapping[str, Any]) -> None:
        self.raw = raw
        self.uri = str(raw.get("uri") or "")
        mime_type = raw.get("mimeType")
        self.mime_type = mime_type if isinstance(mime_type, str) else None
        text = raw.get("text")
        self.text = text if isinstance(text, str) and not isinstance(raw.get("blob"), str) else None

    @cached_property
    def bytes(self) -> bytes:
        """Its bytes: the decoded blob, or the text in UTF-8."""
        if self.text is not None:
            return self.text.encode("utf-8", "surrogatepass")
        return decode_base64(self.raw.get("blob"))

    @property
    def image(self) -> Image | None:
        """The image it is, if its bytes (or at least its type) say so; SVG text is text."""
        if self.text is not None:
            return None
        if sniff_image(self.bytes) is None and not (self.mime_type or "").startswith("image/"):
            return None
        return Image(self.bytes, self.mime_type or sniff_image(self.bytes) or "", dict(self.raw))

    def __repr__(self) -> str:
        size = f"{len(self.text):,} characters" if self.text is not None else f"{len(self.bytes):,} bytes"
        return f"<Contents {printable(self.uri)}: {printable(self.mime_type or 'no type')}, {size}>"


class Result:
    """What a tool returned.

    Attributes:
        raw: the result as sent.
        server, tool: who returned it.
        duration: seconds the call took.
        notes: remarks of the host (how to script an answer, an output that does not fit its schema).
        request_id: JSON-RPC id of the request; of the last one when the call took several rounds.
        fits: whether the structured content fits the tool's output schema; None when there is nothing to compare.
    """

    def __init__(
        self,
        raw: Mapping[str, Any],
        *,
        server: str = "",
        tool: str = "",
        duration: float = 0.0,
        notes: Sequence[str] = (),
        sent: Callable[[], Mapping[str, Any]] = dict,
        request_id: int | str | None = None,
        fits: bool | None = None,
        mask: Callable[[str], str] = str,
    ) -> None:
        self.raw = raw
        self.server = server
        self.tool = tool
        self.duration = duration
        self.notes = tuple(notes)
        self._mask = mask  # of the repr, which ends in a notebook unasked
        self._sent = sent  # masking looks through all of it, and most results are never asked
        self.request_id = request_id
        self.fits = fits

    @cached_property
    def arguments(self) -> Mapping[str, Any]:
        """What was sent, secrets masked."""
        return self._sent()

    def __getstate__(self) -> dict[str, Any]:
        """A copy elsewhere has the masked arguments, and nothing that could unmask them."""
        return {**self.__dict__, "arguments": self.arguments, "_sent": dict, "_mask": str}

    @cached_property
    def _salvaged(self) -> Mapping[str, Any]:
        return salvage.content(cast("dict[str, Any]", self.raw))

    @property
    def blocks(self) -> list[dict[str, Any]]:
        """The content blocks as dicts, each with a `type`."""
        return self._salvaged["content"]

    @cached_property
    def content(self) -> list[types.ContentBlock]:
        """The content blocks as models of `jupyter_mcp.protocol.types`."""
        from jupyter_mcp.protocol.types import content_block

        return [content_block(block) for block in self.blocks]

    @property
    def is_error(self) -> bool:
        """Whether the tool reported a failure."""
        return self._salvaged.get("isError") is True

    @cached_property
    def text(self) -> str:
        """All text blocks, a line break between them."""
        return "\n".join(block["text"] for block in self.blocks if block["type"] == "text")

    @cached_property
    def data(self) -> Any:
        """The structured content; else, when the whole text is a JSON object or array, that; else None."""
        structured = self.raw.get("structuredContent")
        return _json_of(self.text) if structured is None else structured

    def df(self) -> Any:
        """The rows in it as a data frame (pandas, else polars, else pyarrow).

        Raises:
            UsageError: no rows that can be read in one way, or none of the libraries installed.
        """
        texts = [block["text"] for block in self.blocks if block["type"] == "text"]
        several = texts if len(texts) > 1 else []
        embedded = [part.text or "" for part in self.resources]
        return _frame(f"{self.server}.{self.tool}", self.data, [self.text, *several, *embedded])

    @cached_property
    def images(self) -> list[Image]:
        """Image blocks, embedded images, and those a text carries as `data:` addresses, in order."""
        found: list[Image] = []
        for block in self.blocks:
            if block["type"] == "text":
                found += [Image(data, sniff_image(data) or "", block) for _, _, data in pictures_in(block["text"])]
            elif block["type"] == "image":
                found.append(Image(decode_base64(block.get("data")), str(block.get("mimeType") or ""), block))
            elif block["type"] == "resource" and (image := Contents(block["resource"]).image) is not None:
                found.append(image)
        return found

    @cached_property
    def audio(self) -> list[Audio]:
        """Audio blocks, in order."""
        return [
            Audio(decode_base64(block.get("data")), str(block.get("mimeType") or ""), block)
            for block in self.blocks
            if block["type"] == "audio"
        ]

    @cached_property
    def resources(self) -> list[Contents]:
        """Resources embedded in the result."""
        return [Contents(block["resource"]) for block in self.blocks if block["type"] == "resource"]

    @cached_property
    def links(self) -> list[dict[str, Any]]:
        """Links to resources, as sent (`uri`, `name`, `mimeType` …)."""
        return [block for block in self.blocks if block["type"] == "resource_link"]

    def __repr__(self) -> str:
        said = [_short(self._mask(self.text))] if self.text.strip() else []
        if not said and self.raw.get("structuredContent") is not None:
            said.append(_short(self._mask(json.dumps(self.data, ensure_ascii=False, default=str))))
        for what, items in (("image", self.images), ("sound", self.audio), ("link", self.links)):
            if items:
                said.append(f"{len(items)} {what}{'s' if len(items) > 1 else ''}")
        if plain := [one for one in self.resources if one.image is None]:
            said.append(f"{len(plain)} resource{'s' if len(plain) > 1 else ''}")
        kind = "Result (error)" if self.is_error else "Result"
        return f"<{kind} {self.server}.{printable(self.tool)}: {', '.join(said) or 'empty'}>"


class Read:
    """What reading a resource gave.

    Attributes:
        raw, server, duration, notes: as of `Result`.
        uri: what was asked for.
    """

    def __init__(
        self,
        raw: Mapping[str, Any],
        *,
        uri: str,
        server: str = "",
        duration: float = 0.0,
        notes: Sequence[str] = (),
        mask: Callable[[str], str] = str,
    ) -> None:
        self._mask = mask  # of the repr, which ends in a notebook unasked
        self.raw = raw
        self.uri = uri
        self.server = server
        self.duration = duration
        self.notes = tuple(notes)

    @cached_property
    def contents(self) -> list[Contents]:
        """Its parts; most resources have one."""
        return [Contents(part) for part in salvage.contents(self.raw, self.uri)]

    @cached_property
    def text(self) -> str:
        """The text parts, a line break between them; a part of bytes in UTF-8 counts when its type is text."""
        return "\n".join(text for text in map(_text_of, self.contents) if text is not None)

    @property
    def bytes(self) -> bytes:
        """The bytes of all parts, one after the other."""
        return b"".join(part.bytes for part in self.contents)

    @property
    def mime_type(self) -> str | None:
        """The type of the first part that says one."""
        return next((part.mime_type for part in self.contents if part.mime_type), None)

    @cached_property
    def data(self) -> Any:
        """The JSON value, when the text is a JSON object or array (or its type says JSON); else None."""
        return _json_of(self.text, anything="json" in (self.mime_type or ""))

    def df(self) -> Any:
        """The rows in it as a data frame; raises as `Result.df`."""
        return _frame(self.uri, self.data, [self.text])

    @property
    def image(self) -> Image | None:
        """The first image among its parts."""
        return next((image for part in self.contents if (image := part.image) is not None), None)

    def __getstate__(self) -> dict[str, Any]:
        """A copy elsewhere has nothing that knows secrets."""
        return {**self.__dict__, "_mask": str}

    def __repr__(self) -> str:
        if not self.contents:
            said = "empty"
        elif self.text:
            said = _short(self._mask(self.text))
        else:
            said = f"{printable(self.mime_type or 'no type')}, {len(self.bytes):,} bytes"
        return f"<Read {self._mask(printable(self.uri))}: {said}>"


class PromptResult:
    """A prompt's messages, ready for a model.

    Attributes:
        raw, server, duration, notes: as of `Result`.
        prompt: its name.
    """

    def __init__(
        self,
        raw: Mapping[str, Any],
        *,
        server: str = "",
        prompt: str = "",
        duration: float = 0.0,
        notes: Sequence[str] = (),
    ) -> None:
        self.raw = raw
        self.server = server
        self.prompt = prompt
        self.duration = duration
        self.notes = tuple(notes)

    @property
    def description(self) -> str:
        """The server's words about it, possibly empty."""
        return str(self.raw.get("description") or "")

    @cached_property
    def dicts(self) -> list[dict[str, Any]]:
        """The messages as dicts: `role` and `content` (a block, or a list of them)."""
        return salvage.messages(self.raw)

    @cached_property
    def messages(self) -> list[types.PromptMessage]:
        """The messages as models of `jupyter_mcp.protocol.types`."""
        from jupyter_mcp.protocol.types import PromptMessage

        return [PromptMessage.model_validate(message) for message in self.dicts]

    @cached_property
    def text(self) -> str:
        """The text of all messages; with more than one, each under its role."""
        said = [(message["role"], _message_text(message["content"])) for message in self.dicts]
        if len(said) == 1:
            return said[0][1]
        return "\n\n".join(f"{role}: {text}" for role, text in said)

    def __repr__(self) -> str:
        count = len(self.dicts)
        return f"<PromptResult {self.server}.{printable(self.prompt)}: {count} message{'' if count == 1 else 's'}>"


def _json_of(text: str, *, anything: bool = False) -> Any:
    stripped = text.strip()
    if not stripped or not (anything or (stripped[0], stripped[-1]) in (("{", "}"), ("[", "]"))):
        return None
    try:
        return json.loads(stripped)
    except (ValueError, RecursionError):
        return None


def _frame(what: str, data: Any, texts: Sequence[str]) -> Any:
    found = tables.find_columns(data)
    for text in texts:
        if found is None:
            found = tables.text_columns(text)
    if found is None:
        raise UsageError(f"There is no table in what {what} returned.", hint=".data and .text hold what there is.")
    return tables.frame(found)


def _text_of(part: Contents) -> str | None:
    if part.text is not None:
        return part.text
    kind = (part.mime_type or "").split(";")[0]
    if not (kind.startswith("text/") or kind.endswith(("json", "xml", "yaml"))):
        return None
    try:
        return part.bytes.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None


def _message_text(content: Any) -> str:
    blocks = cast("list[dict[str, Any]]", content if isinstance(content, list) else [content])
    texts: list[str] = []
    for block in blocks:
        if block["type"] == "text":
            texts.append(block["text"])
        elif block["type"] == "resource" and isinstance(text := block["resource"].get("text"), str):
            texts.append(text)
        else:
            texts.append(f"[{block['type']}]")
    return "\n".join(texts)


def _short(text: str) -> str:
    return printable(" ".join(text[: _SHOWN * 8].split()), _SHOWN)
