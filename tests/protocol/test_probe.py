"""Era detection as transcripts: what the server does on the left, what the flow does about it on the right."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from jupyter_mcp.errors import ConnectionFailed
from jupyter_mcp.protocol.capabilities import client_capabilities
from jupyter_mcp.protocol.modern import SERVER_INFO_KEY, read_envelope
from jupyter_mcp.protocol.probe import (
    Died,
    Event,
    Flow,
    Reply,
    ReplyError,
    Respawn,
    Silence,
    Step,
    Try,
    Verdict,
    Wait,
    demands_initialize,
    probe,
)
from jupyter_mcp.protocol.revisions import ALL

INFO = {"name": "test", "version": "1"}
DISCOVERED: dict[str, Any] = {
    "resultType": "complete",
    "supportedVersions": ["2026-07-28"],
    "capabilities": {"tools": {}},
    "instructions": "use me",
    "_meta": {SERVER_INFO_KEY: {"name": "modern", "version": "1"}},
}
INITIALIZED: dict[str, Any] = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "legacy", "version": "1"},
}
NOT_FOUND = ReplyError(-32601, "Method not found")


def start(era: Literal["auto", "legacy", "modern"] = "auto", versions: Any = ALL) -> Flow:
    return probe(era, INFO, client_capabilities, versions)


def say(step: Step) -> str:
    return step.method if isinstance(step, Try) else type(step).__name__


def play(flow: Flow, *events: Event | None) -> tuple[list[str], Verdict]:
    """What the flow did, given these events, and its verdict."""
    step = next(flow)
    done = [say(step)]
    for event in events:
        try:
            step = flow.send(event)
        except StopIteration as end:
            assert event is events[-1], "the verdict came early"
            return done, end.value
        done.append(say(step))
    raise AssertionError(f"no verdict; the flow wants {done[-1]}")


def fail(flow: Flow, *events: Event | None) -> ConnectionFailed:
    next(flow)
    for event in events[:-1]:
        flow.send(event)
    with pytest.raises(ConnectionFailed) as caught:
        flow.send(events[-1])
    return caught.value


# --- the plain ways --------------------------------------------------------------------------------------------------


def test_a_modern_server_is_known_by_its_discover_answer() -> None:
    done, verdict = play(start(), Reply(DISCOVERED))
    assert done == ["server/discover"]
    assert (verdict.era, verdict.revision) == ("modern", "2026-07-28")
    assert (verdict.info["name"], verdict.capabilities, verdict.instructions) == ("modern", {"tools": {}}, "use me")
    assert verdict.result is DISCOVERED and verdict.notes == ()


def test_the_probe_is_a_full_modern_request_with_the_short_limit() -> None:
    step = next(start())
    assert isinstance(step, Try) and step.limit == "probe"
    envelope: Any = read_envelope({"params": step.params})
    assert (envelope.revision, envelope.client_info) == ("2026-07-28", INFO)
    assert envelope.capabilities == client_capabilities("2026-07-28")


@pytest.mark.parametrize("code", [-32601, -32602, -32600, -32603, -32700, -32000, -32002, 0, 17])
def test_any_other_error_means_initialize_on_the_same_pipe(code: int) -> None:
    done, verdict = play(start(), ReplyError(code, "what?"), Reply(INITIALIZED))
    assert done == ["server/discover", "initialize"]
    assert (verdict.era, verdict.revision, verdict.info["name"]) == ("legacy", "2025-11-25", "legacy")


def test_the_fallback_offers_the_newest_legacy_revision_with_the_long_limit() -> None:
    flow = start()
    next(flow)
    step = flow.send(NOT_FOUND)
    assert isinstance(step, Try) and step.limit == "startup"
    assert step.params["protocolVersion"] == "2025-11-25"
    assert step.params["capabilities"] == client_capabilities("2025-11-25")
    assert step.params["clientInfo"] == INFO


def test_an_older_answer_is_accepted() -> None:
    assert play(start(), NOT_FOUND, Reply({**INITIALIZED, "protocolVersion": "2024-11-05"}))[1].revision == "2024-11-05"


def test_silence_means_initialize() -> None:
    done, verdict = play(start(), Silence(3), Reply(INITIALIZED))
    assert done == ["server/discover", "initialize"] and verdict.era == "legacy"


USELESS: list[Any] = [
    None,
    "ok",
    [],
    {},
    {"supportedVersions": "2026-07-28"},
    {"supportedVersions": []},
    {"supportedVersions": ["2025-11-25"]},
    {"supportedVersions": ["2099-01-01"]},
    {"supportedVersions": [None, 5, {}]},
    {**DISCOVERED, "resultType": "input_required"},
]


@pytest.mark.parametrize("result", USELESS)
def test_a_discover_answer_that_lists_no_modern_revision_of_ours_means_legacy(result: Any) -> None:
    done, verdict = play(start(), Reply(result), Reply(INITIALIZED))
    assert done == ["server/discover", "initialize"] and verdict.era == "legacy"


def test_the_legacy_revision_that_a_discover_answer_lists_is_offered() -> None:
    flow = start()
    next(flow)
    step = flow.send(Reply({"supportedVersions": ["2025-03-26", "2024-11-05"]}))
    assert isinstance(step, Try) and step.params["protocolVersion"] == "2025-03-26"


def test_an_early_server_that_puts_its_info_at_the_top_is_read() -> None:
    result = {"supportedVersions": ["2026-07-28"], "serverInfo": {"name": "early"}, "capabilities": None}
    verdict = play(start(), Reply(result))[1]
    assert (verdict.info, verdict.capabilities, verdict.instructions) == ({"name": "early"}, {}, None)


# --- late answers ----------------------------------------------------------------------------------------------------


def test_a_late_discover_answer_is_used_while_initialize_is_unanswered() -> None:
    done, verdict = play(start(), Silence(3), Reply(DISCOVERED, to="server/discover"))
    assert done == ["server/discover", "initialize"]
    assert verdict.era == "modern" and not verdict.notes  # slow is not odd: nobody has to do anything


def test_a_late_error_or_useless_answer_to_discover_changes_nothing() -> None:
    late = (ReplyError(-32601, "no", to="server/discover"), Reply({}, to="server/discover"))
    done, verdict = play(start(), Silence(3), *late, Reply(INITIALIZED))
    assert done == ["server/discover", "initialize", "Wait", "Wait"] and verdict.era == "legacy"


# --- servers that die of the probe -----------------------------------------------------------------------------------


def test_a_server_that_dies_of_the_probe_is_started_again_and_initialized_directly() -> None:
    done, verdict = play(start(), Died("exited with code 1", 1), None, Reply(INITIALIZED))
    assert done == ["server/discover", "Respawn", "initialize"]
    assert verdict.era == "legacy" and "started again" in verdict.notes[0]


def test_a_slow_server_that_dies_of_the_probe_after_the_fallback_is_started_again_too() -> None:
    done, verdict = play(start(), Silence(3), Died("exited with code 1", 1), None, Reply(INITIALIZED))
    assert done == ["server/discover", "initialize", "Respawn", "initialize"] and verdict.era == "legacy"


def test_a_server_that_dies_again_is_not_started_a_third_time() -> None:
    stderr = ["Traceback", "WEATHER_TOKEN is missing", ""]
    error = fail(start(), Died("exited with code 3", 3, stderr), None, Died("exited with code 3", 3, stderr))
    assert error.exit_code == 3 and error.stderr == stderr
    assert str(error) == "The server exited with code 3 before it was connected: WEATHER_TOKEN is missing"


def test_a_server_that_was_never_probed_is_not_started_again() -> None:
    assert fail(start("legacy"), Died("exited with code 3", 3)).exit_code == 3


# --- version errors --------------------------------------------------------------------------------------------------


def test_the_revision_just_refused_and_named_as_supported_is_tried_once_more_not_initialized() -> None:
    refusal = ReplyError(-32022, "no", {"supported": ["2026-07-28"], "requested": "2026-07-28"})
    done, verdict = play(start("auto"), refusal, Reply(DISCOVERED))
    assert done == ["server/discover"] * 2 and verdict.era == "modern"
    done, verdict = play(start("auto"), refusal, refusal, Reply(INITIALIZED))
    assert done == ["server/discover", "server/discover", "initialize"] and verdict.era == "legacy"


def test_with_two_modern_revisions_the_mutual_one_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    both = ("2026-07-28", "2026-12-01")
    monkeypatch.setattr("jupyter_mcp.protocol.probe.MODERN", both)
    monkeypatch.setattr("jupyter_mcp.protocol.revisions.MODERN", both)
    flow = start("auto", (*ALL, "2026-12-01"))
    first = next(flow)
    second = flow.send(ReplyError(-32004, "older number of the code", {"supported": ["2026-07-28", "2025-11-25"]}))
    revisions = [read_envelope({"params": step.params}) for step in (first, second) if isinstance(step, Try)]
    assert [getattr(r, "revision", None) for r in revisions] == ["2026-12-01", "2026-07-28"]
    with pytest.raises(StopIteration) as end:
        flow.send(Reply(DISCOVERED))
    assert end.value.value.revision == "2026-07-28"


def test_an_unsupported_version_that_lists_legacy_revisions_is_initialized_with_the_newest() -> None:
    flow = start()
    next(flow)
    step = flow.send(ReplyError(-32022, "no", {"supported": ["2099-01-01", "2025-06-18"]}))
    assert isinstance(step, Try) and step.method == "initialize" and step.params["protocolVersion"] == "2025-06-18"


def test_no_common_revision_names_both_lists() -> None:
    error = fail(start(), ReplyError(-32022, "no", {"supported": ["2099-01-01", "2098-01-01"]}))
    assert all(revision in str(error) for revision in ("2099-01-01", "2098-01-01", *ALL))


def test_an_unknown_revision_in_the_initialize_answer_names_both_lists() -> None:
    error = fail(start(), NOT_FOUND, Reply({**INITIALIZED, "protocolVersion": "1999-01-01"}))
    assert "1999-01-01" in str(error) and "2025-11-25" in str(error)


def test_a_server_that_says_unsupported_to_initialize_is_asked_as_modern_again() -> None:
    refusal = ReplyError(-32022, "serving 2026-07-28", {"supported": ["2026-07-28"]})
    done, verdict = play(start(), Silence(3), refusal, Reply(DISCOVERED))
    assert done == ["server/discover", "initialize", "server/discover"] and verdict.era == "modern"


def test_the_second_discover_has_the_long_limit_and_takes_the_first_ones_late_answer() -> None:
    flow = start()
    next(flow)
    flow.send(Silence(3))
    step = flow.send(ReplyError(-32022, "modern"))
    assert isinstance(step, Try) and (step.method, step.limit) == ("server/discover", "startup")
    with pytest.raises(StopIteration) as end:
        flow.send(Reply(DISCOVERED, to="server/discover"))
    assert end.value.value.era == "modern"


@pytest.mark.parametrize("event", [Silence(60), NOT_FOUND, Reply({})])
def test_a_server_that_refuses_both_is_given_up(event: Event) -> None:
    error = fail(start(), Silence(3), ReplyError(-32022, "go modern"), event)
    assert "go modern" in str(error)


def test_a_legacy_server_that_names_its_revisions_is_offered_one_of_them() -> None:
    refusal = ReplyError(
        -32602, "Unsupported protocol version", {"supported": ["2024-11-05"], "requested": "2025-11-25"}
    )
    flow = start()
    next(flow)
    flow.send(NOT_FOUND)
    step = flow.send(refusal)
    assert isinstance(step, Try) and step.params["protocolVersion"] == "2024-11-05"
    with pytest.raises(ConnectionFailed, match="2024-11-05"):
        flow.send(refusal)  # the same refusal again


def test_a_modern_server_that_wants_a_capability_is_not_initialized() -> None:
    error = fail(start(), ReplyError(-32021, "needs sampling", {"requiredCapabilities": {"sampling": {}}}))
    assert "needs sampling" in str(error)


# --- other ends ------------------------------------------------------------------------------------------------------


def test_a_refused_initialize_tells_the_servers_words() -> None:
    assert "licence expired" in str(fail(start(), NOT_FOUND, ReplyError(-32603, "licence\nexpired")))


def test_silence_on_initialize_tells_the_time() -> None:
    assert "did not answer initialize within 60 s" in str(fail(start(), NOT_FOUND, Silence(60)))


def test_an_initialize_answer_that_is_no_object_is_told() -> None:
    assert "not an object" in str(fail(start(), NOT_FOUND, Reply("hi")))


def test_legacy_insists_on_initialize() -> None:
    done, verdict = play(start("legacy"), Reply(INITIALIZED))
    assert done == ["initialize"] and verdict.era == "legacy"
    error = fail(start("legacy"), ReplyError(-32022, "modern only", {"supported": ["2026-07-28"]}))
    assert "2026-07-28" in str(error) and "2024-11-05" in str(error)


def test_modern_insists_on_discover_and_waits_long() -> None:
    step = next(start("modern"))
    assert isinstance(step, Try) and step.limit == "startup"
    assert play(start("modern"), Reply(DISCOVERED))[1].era == "modern"


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (NOT_FOUND, "Method not found"),
        (Silence(60), "within 60 s"),
        (Reply({}), "lists no revision"),
        (Reply({"supportedVersions": ["2025-11-25"]}), "2025-11-25"),
        (Died("exited with code 3", 3, ["boom"]), "boom"),
        (ReplyError(-32022, "no", {"supported": ["2099-01-01"]}), "2099-01-01"),
    ],
)
def test_modern_never_falls_back(event: Event, said: str) -> None:
    assert said in str(fail(start("modern"), event))


# --- half-modern servers ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "message", "wants"),
    [
        (-32600, "initialize is required", True),
        (-32600, "Server not initialized", True),
        (-32002, "Server not initialized", True),
        (-32602, "Received request before initialization was complete", True),
        (-32600, "Expected initialize request first", True),
        (-32000, "Bad Request: Server not initialized", True),
        (-32603, "failed to initialize the database", False),
        (-32602, "unknown tool", False),
        (-32601, "Method not found: tools/list", False),
        (-32600, "the initialization vector is odd", False),
    ],
)
def test_the_demand_for_a_handshake_is_recognised_by_its_words(code: int, message: str, wants: bool) -> None:
    assert demands_initialize(code, message) is wants


def test_steps_have_readable_names() -> None:
    assert [say(Wait()), say(Respawn())] == ["Wait", "Respawn"]
