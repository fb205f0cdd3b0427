"""The released protocol revisions, the two eras, negotiation, and what each revision may carry.

Pure functions of strings; no message is built here. "Legacy" are the revisions with an initialize handshake,
"modern" those without (2026-07-28 and later); the words are the specification's.

Source: spec "Lifecycle" (2024-11-05 … 2025-11-25), "Versioning" (2026-07-28) and the differences of the schemas.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Era = Literal["legacy", "modern"]

LEGACY: tuple[str, ...] = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN: tuple[str, ...] = ("2026-07-28",)
ALL: tuple[str, ...] = LEGACY + MODERN
LATEST_LEGACY = LEGACY[-1]
LATEST_MODERN = MODERN[-1]


def era(revision: str) -> Era:
    """The era of a revision, known or not (revisions are dates and sort as text)."""
    return "modern" if revision >= MODERN[0] else "legacy"


def negotiate_legacy_server(offered: object, versions: Iterable[str] = ALL) -> str | None:
    """The revision a server answers to `initialize`: the offered one if it speaks it, else its newest legacy one.

    None when the server speaks no legacy revision.
    """
    spoken = [revision for revision in LEGACY if revision in set(versions)]
    if offered in spoken:
        return str(offered)
    return spoken[-1] if spoken else None


def accept_legacy_client(answered: object, versions: Iterable[str] = ALL) -> str | None:
    """The revision a client goes on with after the server `answered`; None when it does not speak that one."""
    return answered if isinstance(answered, str) and answered in LEGACY and answered in set(versions) else None


def choose_modern(supported: Sequence[object], versions: Iterable[str] = ALL) -> str | None:
    """The newest modern revision that a server's list and ours have in common."""
    common = [revision for revision in MODERN if revision in supported and revision in set(versions)]
    return common[-1] if common else None


def choose_legacy(supported: Sequence[object], versions: Iterable[str] = ALL) -> str | None:
    """The newest legacy revision that a server's list and ours have in common."""
    common = [revision for revision in LEGACY if revision in supported and revision in set(versions)]
    return common[-1] if common else None


@dataclass(frozen=True, slots=True)
class Features:
    """What a revision may carry.

    Attributes:
        batches_accepted: JSON-RPC batches are legal (never sent by us).
        completions_capability: completion must be declared (before, the method was legal undeclared).
        completion_context: `completion/complete` carries `context.arguments`.
        progress_message: progress notifications carry `message`.
        audio: audio content blocks.
        tool_annotations: tools carry `annotations`.
        titles: `title` on tools, resources, prompts and implementations.
        structured_content: results carry `structuredContent`, tools `outputSchema`.
        any_structured: structured content and output schemas may be any JSON, not only objects.
        resource_links: `resource_link` content blocks.
        meta: `_meta` on every object (before: on params and results only).
        elicitation: `elicitation/create` exists.
        elicitation_modes: the capability is `{form, url}` (before: an open object).
        url_elicitation: URL mode.
        elicitation_ids: URL mode has `elicitationId`, -32042 and `notifications/elicitation/complete`.
        enum_one_of: titled (`oneOf`), multi-select and defaulted elicitation fields (before: enum + enumNames).
        icons: icons, and `description` and `websiteUrl` on implementations.
        sampling_tools: sampling with tools, content as a list.
        stream_polling: over HTTP an event may be an id alone, and a stream may end early to be taken up again.
        tool_tasks: experimental tasks of the core protocol.
        extensions: `capabilities.extensions` is part of the revision.
        result_type: results carry `resultType`.
        cache_hints: list and read results carry `ttlMs` and `cacheScope`.
        server_requests: servers send requests (else they ask inside an input_required result).
        input_errors_are_results: bad tool input values are `isError` results.
        resource_not_found: the error code for a missing resource.
    """

    batches_accepted: bool = False
    completions_capability: bool = True
    completion_context: bool = True
    progress_message: bool = True
    audio: bool = True
    tool_annotations: bool = True
    titles: bool = True
    structured_content: bool = True
    any_structured: bool = False
    resource_links: bool = True
    meta: bool = True
    elicitation: bool = True
    elicitation_modes: bool = True
    url_elicitation: bool = True
    elicitation_ids: bool = False
    stream_polling: bool = False
    enum_one_of: bool = True
    icons: bool = True
    sampling_tools: bool = True
    tool_tasks: bool = False
    extensions: bool = False
    result_type: bool = False
    cache_hints: bool = False
    server_requests: bool = True
    input_errors_are_results: bool = True
    resource_not_found: int = -32002


_FEATURES: dict[str, Features] = {
    "2024-11-05": Features(
        completions_capability=False,
        completion_context=False,
        progress_message=False,
        audio=False,
        tool_annotations=False,
        titles=False,
        structured_content=False,
        resource_links=False,
        meta=False,
        elicitation=False,
        elicitation_modes=False,
        url_elicitation=False,
        enum_one_of=False,
        icons=False,
        sampling_tools=False,
        input_errors_are_results=False,
    ),
    "2025-03-26": Features(
        batches_accepted=True,
        completion_context=False,
        titles=False,
        structured_content=False,
        resource_links=False,
        meta=False,
        elicitation=False,
        elicitation_modes=False,
        url_elicitation=False,
        enum_one_of=False,
        icons=False,
        sampling_tools=False,
        input_errors_are_results=False,
    ),
    "2025-06-18": Features(
        elicitation_modes=False,
        url_elicitation=False,
        enum_one_of=False,
        icons=False,
        sampling_tools=False,
        input_errors_are_results=False,
    ),
    "2025-11-25": Features(elicitation_ids=True, stream_polling=True, tool_tasks=True),
    "2026-07-28": Features(
        any_structured=True,
        extensions=True,
        result_type=True,
        cache_hints=True,
        server_requests=False,
        resource_not_found=-32602,
    ),
}


def features(revision: str) -> Features:
    """What `revision` may carry; for an unknown one, what the newest older revision carries."""
    found = _FEATURES.get(revision)
    if found is not None:
        return found
    older = [known for known in ALL if known <= revision]
    return _FEATURES[older[-1] if older else ALL[0]]


def lists_sentence(theirs: Sequence[object], ours: Sequence[str]) -> str:
    """Both sides' revisions as one clause: "it speaks X; this side speaks Y, Z"."""
    shown = ", ".join(str(item)[:40] for item in theirs[:12]) or "none that it named"
    return f"it speaks {shown}; this side speaks {', '.join(ours)}"
