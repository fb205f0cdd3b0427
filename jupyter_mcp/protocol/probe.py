"""Finding out which era a server speaks, as a generator flow without loop, clock or pipe.

    flow = probe("auto", client_info, capabilities_for)
    step = next(flow)
    while True:
        Try      send the request, wait for its answer at most the limit that `step.limit` names, then flow.send(event)
        Wait     keep waiting for the request that is open, up to what is left of its limit, then flow.send(event)
        Respawn  start the server afresh (new pipe), then flow.send(None)
        Downgrade  (HTTP) see `probe_http`
    StopIteration.value is the Verdict; ConnectionFailed is raised out of `send`.

Events: Reply, ReplyError, Silence (the limit passed), Died (the other side is gone); over HTTP also Status and NoAnswer
of `probe_http`. `to` says which request was
answered: after the fallback the driver keeps the id of `server/discover` and feeds its late answer with
`to="server/discover"`; a good one is used and the driver then ignores the answer to `initialize`. What comes after the
verdict is a note of the connection. With a legacy verdict the connection sends `notifications/initialized` next.

A half-modern server answers `server/discover`, its lists perhaps, and then refuses modern requests until it is
initialized: when `demands_initialize(error)` says so, start it again and run the flow with era "legacy". On the same
pipe it may take the handshake and still treat what follows as modern.

Above: connection. Source: spec 2026-07-28 "Versioning / era detection"; behaviour of released servers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from jupyter_mcp.errors import ConnectionFailed
from jupyter_mcp.protocol import legacy
from jupyter_mcp.protocol.jsonrpc import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    INVALID_REQUEST,
    MISSING_CLIENT_CAPABILITY,
    RESOURCE_NOT_FOUND,
    UNSUPPORTED_VERSION,
)
from jupyter_mcp.protocol.modern import SERVER_INFO_KEY, envelope, meta_of
from jupyter_mcp.protocol.revisions import ALL, LEGACY, MODERN, Era, choose_legacy, choose_modern, lists_sentence

if TYPE_CHECKING:
    from jupyter_mcp.protocol.probe_http import Downgrade, NoAnswer, Status

Asked = Literal["server/discover", "initialize"]
# released servers use several codes for it; the words decide
_WANTS_HANDSHAKE_CODES = frozenset((INVALID_REQUEST, INVALID_PARAMS, RESOURCE_NOT_FOUND, -32000))
_WANTS_HANDSHAKE = re.compile(
    r"\b(not|before|first|require[sd]?|must|expect(ed)?|needs?)\b.*\b(initiali[sz]|handshake)"
    r"|\b(initiali[sz]\w*|handshake)\b.*\b(first|before|require[sd]?|must|expected|needed|missing)\b",
    re.IGNORECASE | re.DOTALL,
)
CapabilitiesFor = Callable[[str], Mapping[str, Any]]


# --- what the driver does --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Try:
    """Send this request; `limit` names how long to wait: "probe" (short) or "startup"."""

    method: Asked
    params: dict[str, Any]
    limit: Literal["probe", "startup"]


@dataclass(frozen=True, slots=True)
class Wait:
    """Go on waiting for the open request."""


@dataclass(frozen=True, slots=True)
class Respawn:
    """The server died of the probe: start it afresh."""


Step: TypeAlias = "Try | Wait | Respawn | Downgrade"


# --- what the driver reports -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Reply:
    """A result. `to` is None for the request that was tried last."""

    result: Any
    to: Asked | None = None


@dataclass(frozen=True, slots=True)
class ReplyError:
    """A JSON-RPC error. `to` as in `Reply`."""

    code: int
    message: str
    data: Any = None
    to: Asked | None = None


@dataclass(frozen=True, slots=True)
class Silence:
    """The limit passed without an answer. `seconds` is how long it was, for the sentence."""

    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Died:
    """The other side is gone. `reason` completes "the server …"."""

    reason: str = "closed the connection"
    exit_code: int | None = None
    stderr: Sequence[str] = ()


Event: TypeAlias = "Reply | ReplyError | Silence | Died | Status | NoAnswer"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found.

    Attributes:
        era, revision: how to speak from now on.
        info: name and version of the server; {} when it gave none.
        capabilities: what it declares.
        instructions: its text for the user of its tools, or None.
        result: the whole result of `server/discover` or `initialize`.
        notes: what was odd on the way, one sentence each.
    """

    era: Era
    revision: str
    info: dict[str, Any]
    capabilities: dict[str, Any]
    instructions: str | None
    result: dict[str, Any]
    notes: tuple[str, ...] = ()


Flow: TypeAlias = "Generator[Step, Event | None, Verdict]"


def probe(
    era: Literal["auto", "legacy", "modern"],
    client_info: Mapping[str, Any],
    capabilities_for: CapabilitiesFor,
    versions: Sequence[str] = ALL,
) -> Flow:
    """Connect: see the module's head. Raises `ConnectionFailed`.

    Args:
        era: "auto" finds out; "legacy" and "modern" insist.
        client_info: the client's Implementation.
        capabilities_for: the client's capabilities in the shape of a revision.
        versions: the revisions this side speaks.
    """
    return _Probe(era, client_info, capabilities_for, versions).run()


def demands_initialize(code: int, message: str) -> bool:
    """Whether an error to the first modern request says that the server wants the handshake first."""
    return code in _WANTS_HANDSHAKE_CODES and _WANTS_HANDSHAKE.search(message) is not None


class _Probe:
    def __init__(
        self, era: str, client_info: Mapping[str, Any], capabilities_for: CapabilitiesFor, versions: Sequence[str]
    ) -> None:
        self._info = client_info
        self._capabilities_for = capabilities_for
        self._modern = [v for v in MODERN if v in versions] if era != "legacy" else []
        self._legacy = [v for v in LEGACY if v in versions] if era != "modern" else []
        self._ours = (*self._legacy, *self._modern)
        self._notes: list[str] = []
        self._theirs: list[object] = []  # the revisions the server named so far
        self._asked: set[str] = set()  # what this process of the server was sent
        self._reprobed = False
        self._downgraded = False

    def run(self) -> Flow:
        if self._modern:
            verdict = yield from self._discover(self._modern[-1])
            if verdict is not None:
                return verdict
        offered = choose_legacy(self._theirs, self._legacy) or (self._legacy[-1] if self._legacy else None)
        if offered is None:
            raise self._no_common()
        return (yield from self._initialize(offered))

    # --- server/discover: a verdict, or None for "go on with initialize"

    def _discover(self, revision: str) -> Generator[Step, Event | None, Verdict | None]:
        tried: list[str] = []
        while True:
            tried.append(revision)
            event = yield self._try_discover(revision)
            while isinstance(event, (Reply, ReplyError)) and event.to == "initialize":
                event = yield Wait()
            if isinstance(event, Reply):
                verdict = self._read_discover(event.result)
                if verdict is None:
                    self._insist("its answer to server/discover lists no revision of ours")
                return verdict
            if isinstance(event, ReplyError):
                again = self._after_discover_error(event)
                # The one just refused may be the one named (a new server takes the old one's place): once more, then.
                if again is None or tried.count(again) > 1:
                    return None
                revision = again
                continue
            if isinstance(event, Died):
                return (yield from self._died_on_discover(event))
            if event is None or isinstance(event, Silence):
                self._insist("it did not answer server/discover" + _within(event))
            else:
                self._insist(_http().after_discover(event))
            return None

    def _try_discover(self, revision: str) -> Try:
        self._asked.add("server/discover")
        params = envelope(
            None, revision=revision, client_info=self._info, capabilities=self._capabilities_for(revision)
        )
        return Try("server/discover", params, "probe" if self._legacy and not self._reprobed else "startup")

    def _read_discover(self, result: object) -> Verdict | None:
        if not isinstance(result, dict):
            return None
        answer = cast("dict[str, Any]", result)
        supported = answer.get("supportedVersions")
        if answer.get("resultType", "complete") != "complete" or not isinstance(supported, list):
            return None
        self._theirs = cast("list[object]", supported)
        revision = choose_modern(self._theirs, self._modern)
        if revision is None:
            return None
        info = meta_of(answer).get(SERVER_INFO_KEY) or answer.get("serverInfo")  # early servers: at the top
        capabilities, text = answer.get("capabilities"), answer.get("instructions")
        return Verdict(
            "modern",
            revision,
            cast("dict[str, Any]", info) if isinstance(info, dict) else {},
            cast("dict[str, Any]", capabilities) if isinstance(capabilities, dict) else {},
            text if isinstance(text, str) else None,
            answer,
            tuple(self._notes),
        )

    def _after_discover_error(self, event: ReplyError) -> str | None:
        """The modern revision to try next, or None to go on with initialize."""
        named = _supported(event.data)
        if named:
            self._theirs = named
            if again := choose_modern(named, self._modern):
                return again
            if event.code == UNSUPPORTED_VERSION and choose_legacy(named, self._legacy) is None:
                raise self._no_common()
            return None
        if event.code in (MISSING_CLIENT_CAPABILITY, HEADER_MISMATCH):
            raise ConnectionFailed(f"The server refused server/discover: {_shown(event.message)} ({event.code}).")
        self._insist(f"it answered server/discover with {_shown(event.message)!r} ({event.code})")
        return None

    def _died_on_discover(self, event: Died) -> Generator[Step, Event | None, Verdict | None]:
        if self._reprobed or not self._legacy:
            raise _ended(event)
        yield from self._respawn(event)
        return None

    def _respawn(self, event: Died) -> Generator[Step, Event | None, None]:
        self._notes.append(
            f"The server {event.reason} when asked server/discover and was started again; era=legacy spares that."
        )
        self._asked.clear()
        yield Respawn()

    def _insist(self, why: str) -> None:
        """With era="modern" there is nothing to fall back to: raises. Else it does nothing."""
        if self._legacy:
            return
        if self._theirs:
            raise self._no_common()
        raise ConnectionFailed(f"The server does not speak the modern era: {why}.", hint="Try era=auto or era=legacy.")

    # --- initialize

    def _initialize(self, offered: str) -> Generator[Step, Event | None, Verdict]:
        tried: set[str] = set()
        step: Step = self._try_initialize(offered)
        while True:
            tried.add(offered)
            event = yield step
            step = Wait()
            if isinstance(event, (Reply, ReplyError)) and event.to == "server/discover":
                verdict = self._late(event)
                if verdict is not None:
                    return verdict
            elif isinstance(event, Reply):
                return self._read_initialize(event.result, offered)
            elif isinstance(event, ReplyError):
                other = self._after_initialize_error(event, tried)
                if other in self._modern:
                    return (yield from self._reprobe(other, event))
                offered = other
                step = self._try_initialize(offered)
            elif isinstance(event, Died) and "server/discover" in self._asked:
                yield from self._respawn(event)
                step = self._try_initialize(offered)
            elif isinstance(event, Died):
                raise _ended(event)
            elif event is None or isinstance(event, Silence):
                raise _silent(event)
            else:
                yield from _http().after_initialize(event, not self._downgraded)
                self._downgraded = True
                self._asked.clear()
                step = self._try_initialize(offered)

    def _try_initialize(self, revision: str) -> Try:
        self._asked.add("initialize")
        params = legacy.initialize_params(revision, self._info, self._capabilities_for(revision))
        return Try("initialize", params, "startup")

    def _late(self, event: Reply | ReplyError) -> Verdict | None:
        return self._read_discover(event.result) if isinstance(event, Reply) else None

    def _read_initialize(self, result: object, offered: str) -> Verdict:
        shake = legacy.read_initialize(result, offered, self._legacy)
        if shake is None:
            raise ConnectionFailed("The server's answer to initialize is not an object.")
        if shake.revision is None:
            self._theirs = [shake.answered, *(v for v in self._theirs if v != shake.answered)]
            raise self._no_common()
        notes = (*self._notes, *shake.notes)
        whole = cast("dict[str, Any]", result)
        return Verdict("legacy", shake.revision, shake.info, shake.capabilities, shake.instructions, whole, notes)

    def _after_initialize_error(self, event: ReplyError, tried: set[str]) -> str:
        """The revision to try next: a modern one means probe again. Raises when there is none."""
        named = _supported(event.data)
        if named:
            self._theirs = named
        legacy_next = choose_legacy(named, [v for v in self._legacy if v not in tried])
        if event.code == UNSUPPORTED_VERSION and self._modern:
            again = choose_modern(named, self._modern) or (None if named else self._modern[-1])
            if again:
                return again
        if legacy_next:
            return legacy_next
        if named or event.code == UNSUPPORTED_VERSION:
            raise self._no_common()
        raise ConnectionFailed(f"The server refused initialize: {_shown(event.message)} ({event.code}).")

    def _reprobe(self, revision: str, refusal: ReplyError) -> Generator[Step, Event | None, Verdict]:
        """The fallback initialize was told -32022: the slow server had gone modern."""
        self._reprobed = True
        verdict = yield from self._discover(revision)
        if verdict is None:
            raise ConnectionFailed(
                f"The server refused initialize ({_shown(refusal.message)}) and did not answer server/discover either."
            )
        return verdict

    def _no_common(self) -> ConnectionFailed:
        return ConnectionFailed(
            f"No protocol revision in common with the server: {lists_sentence(self._theirs, self._ours)}."
        )


def _http() -> Any:
    """Loaded when an answer over HTTP is no message."""
    from jupyter_mcp.protocol import probe_http

    return probe_http


def _supported(data: object) -> list[object]:
    """The revisions that an error's data names, whatever its code."""
    named = cast("Mapping[str, Any]", data).get("supported") if isinstance(data, Mapping) else None
    return cast("list[object]", named) if isinstance(named, list) else []


def _shown(text: str) -> str:
    return " ".join(text.split())[:200]


def _ended(event: Died) -> ConnectionFailed:
    last = next((line.strip() for line in reversed(event.stderr) if line.strip()), "")
    said = f": {last[:200]}" if last else ""
    return ConnectionFailed(
        f"The server {event.reason} before it was connected{said}", exit_code=event.exit_code, stderr=event.stderr
    )


def _silent(event: Event | None) -> ConnectionFailed:
    return ConnectionFailed(f"The server did not answer initialize{_within(event)}.")


def _within(event: Event | None) -> str:
    seconds = event.seconds if isinstance(event, Silence) else None
    return f" within {seconds:g} s" if seconds else ""
