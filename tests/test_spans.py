"""Requests are spans where somebody has set OpenTelemetry up, and nothing of it is there where nobody has."""

from __future__ import annotations

import contextvars
import subprocess
import sys
from typing import TYPE_CHECKING, Any, cast

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from jupyter_mcp import spans
from jupyter_mcp.errors import MCPError
from jupyter_mcp.host.host import Host
from jupyter_mcp.host.specs import ServerSpec
from jupyter_mcp.server import AsyncContext, Server, ToolError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.trace import SpanContext

pytestmark = pytest.mark.anyio

SECRET = "omega-psi-7781"


def ids(span: ReadableSpan) -> SpanContext:
    found = span.context
    assert found is not None
    return found


class Recorded:
    """The spans that have ended."""

    def __init__(self) -> None:
        self.exporter = InMemorySpanExporter()
        self.provider = TracerProvider()
        self.provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.tracer = self.provider.get_tracer("a notebook")

    def of(self, name: str, kind: SpanKind | None = None) -> list[ReadableSpan]:
        found = [span for span in self.exporter.get_finished_spans() if span.name == name]
        return [span for span in found if kind is None or span.kind is kind]

    def pair(self, name: str) -> tuple[ReadableSpan, ReadableSpan]:
        """The last one of ours, and the server's below it."""
        asked, served = self.of(name, SpanKind.CLIENT)[-1], self.of(name, SpanKind.SERVER)[-1]
        assert served.parent is not None
        assert served.parent.span_id == ids(asked).span_id
        assert ids(served).trace_id == ids(asked).trace_id
        return asked, served

    def everything(self) -> str:
        return "".join(span.to_json() for span in self.exporter.get_finished_spans())


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> Recorded:
    found = Recorded()
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: found.provider)
    return found


def make_server(tracer: Any = None) -> Server:
    server = Server("demo")

    @server.tool
    async def add(a: int, b: int) -> int:
        return a + b

    @server.tool
    async def fail(why: str) -> str:
        raise ToolError(f"no: {why}")

    @server.tool
    def work() -> str:
        with tracer.start_as_current_span("in a thread"):
            return "done"

    @server.tool
    async def arrange() -> str:
        with tracer.start_as_current_span("in a task"):
            return "done"

    @server.tool
    async def book(ctx: AsyncContext) -> str:
        answer = await ctx.elicit("Which?", {"type": "object", "properties": {"seat": {"type": "string"}}})
        return str(answer.action)

    @server.resource("notes://{day}")
    def note(day: str) -> str:
        return f"note of {day}"

    @server.prompt
    def review(language: str) -> str:
        return f"Review {language}"

    return server


@pytest.fixture(params=["legacy", "modern"])
async def host(request: pytest.FixtureRequest, recorded: Recorded) -> AsyncGenerator[Host]:
    host = Host()
    await host.connect(ServerSpec.parse("demo", make_server(recorded.tracer), era=request.param))
    yield host
    await host.aclose()


def attributes(span: ReadableSpan) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", span.attributes)


async def test_a_call_is_a_span_and_the_server_serves_it_below(host: Host, recorded: Recorded) -> None:
    with recorded.tracer.start_as_current_span("cell") as cell:
        await host.call_tool("demo", "add", {"a": 1, "b": 2})
    asked, served = recorded.pair("tools/call add")
    assert asked.parent is not None
    assert asked.parent.span_id == cell.get_span_context().span_id
    for span in (asked, served):
        said = attributes(span)
        assert said["mcp.method.name"] == "tools/call"
        assert said["gen_ai.tool.name"] == "add"
        assert said["gen_ai.operation.name"] == "execute_tool"
        assert said["mcp.protocol.version"] == host.servers["demo"].revision
        assert said["jsonrpc.request.id"].isdigit()
        assert span.status.status_code is StatusCode.UNSET
        assert "error.type" not in said
    assert attributes(asked)["jsonrpc.request.id"] == attributes(served)["jsonrpc.request.id"]


async def test_the_context_goes_in_meta_by_the_names_of_the_specification(host: Host, recorded: Recorded) -> None:
    await host.call_tool("demo", "add", {"a": 1, "b": 2})
    asked, _ = recorded.pair("tools/call add")
    sent = next(entry for entry in host.journal.entries() if entry.method == "tools/call" and entry.direction == "send")
    meta = sent.message["params"]["_meta"]
    context = ids(asked)
    assert meta["traceparent"] == f"00-{context.trace_id:032x}-{context.span_id:016x}-{context.trace_flags:02x}"
    assert "baggage" not in meta


async def test_prompts_and_resources_are_named_by_the_conventions(host: Host, recorded: Recorded) -> None:
    await host.get_prompt("demo", "review", {"language": SECRET})
    await host.read("demo", "notes://today")
    prompt, _ = recorded.pair("prompts/get review")
    resource, _ = recorded.pair("resources/read")
    assert attributes(prompt)["gen_ai.prompt.name"] == "review"
    assert attributes(resource)["mcp.resource.uri"] == "notes://today"
    assert "gen_ai.operation.name" not in attributes(resource)
    assert SECRET not in recorded.everything()


async def test_an_error_of_a_tool_is_an_error_of_both_spans_without_its_words(host: Host, recorded: Recorded) -> None:
    await host.call_tool("demo", "fail", {"why": SECRET}, check=False)
    for span in recorded.pair("tools/call fail"):
        assert attributes(span)["error.type"] == "tool_error"
        assert span.status.status_code is StatusCode.ERROR
        assert span.status.description is None
    assert SECRET not in recorded.everything()


async def test_an_error_of_the_protocol_has_its_code_and_is_the_clients_only_when_it_is(
    host: Host, recorded: Recorded
) -> None:
    with pytest.raises(MCPError):
        await host.read("demo", "nowhere://at/all")
    asked, served = recorded.pair("resources/read")
    code = attributes(asked)["rpc.response.status_code"]
    assert code in ("-32002", "-32602")
    assert attributes(asked)["error.type"] == code
    assert asked.status.status_code is StatusCode.ERROR
    assert attributes(served)["rpc.response.status_code"] == code
    assert (served.status.status_code is StatusCode.ERROR) == (code == "-32002")


async def test_what_a_handler_does_is_below_its_request(host: Host, recorded: Recorded) -> None:
    for tool, name in (("work", "in a thread"), ("arrange", "in a task")):
        await host.call_tool("demo", tool, {})
        _, served = recorded.pair(f"tools/call {tool}")
        (own,) = recorded.of(name)
        assert own.parent is not None
        assert own.parent.span_id == ids(served).span_id


async def test_a_question_of_the_server_during_a_call_ends_no_span_badly(host: Host, recorded: Recorded) -> None:
    host.answers.add({"seat": "1A"})
    await host.call_tool("demo", "book", {})
    asked = recorded.of("tools/call book", SpanKind.CLIENT)
    assert len(asked) == (2 if host.servers["demo"].era == "modern" else 1), "each round is a request"
    assert [attributes(span).get("error.type") for span in asked] == [None] * len(asked)
    served = recorded.of("elicitation/create", SpanKind.SERVER)
    assert len(served) == (0 if host.servers["demo"].era == "modern" else 1), "we serve it when it is a request"


async def test_a_secret_that_was_filled_in_is_masked_in_names_and_uris(host: Host, recorded: Recorded) -> None:
    host.redactor.learn([SECRET])
    await host.read("demo", f"notes://{SECRET}")
    asked, _ = recorded.pair("resources/read")
    assert attributes(asked)["mcp.resource.uri"] == "notes://•••"


async def test_a_parent_that_cannot_be_read_and_one_that_is_there_already(recorded: Recorded) -> None:
    metas: list[Any] = [{"traceparent": "nonsense"}, {"traceparent": 7}, {"traceparent": ["x"], "tracestate": {}}, "x"]
    for meta in [*metas, None]:
        spans.serving("ping", {"_meta": meta}, 1, revision="2026-07-28").end()
    assert all(span.parent is None for span in recorded.of("ping"))
    own = {"_meta": {"traceparent": "00-11111111111111111111111111111111-2222222222222222-01", "x": 1}}
    assert spans.asking("ping", own, revision="2026-07-28", transport="stdio").params == own


async def test_what_happens_around_is_no_parent_of_a_request_that_brings_none(recorded: Recorded) -> None:
    with recorded.tracer.start_as_current_span("whoever started the server"):
        spans.serving("ping", {}, 1, revision="2026-07-28").end()
    assert recorded.of("ping")[0].parent is None


async def test_what_goes_on_after_a_cell_is_linked_to_it_and_not_below_it(recorded: Recorded) -> None:
    with recorded.tracer.start_as_current_span("cell") as cell:
        context = contextvars.copy_context()

    def beat() -> None:
        with spans.asking("ping", None, revision="2026-07-28", transport="stdio"):
            pass

    context.run(beat)
    (span,) = recorded.of("ping")
    assert span.parent is None
    assert [link.context.span_id for link in span.links] == [cell.get_span_context().span_id]


@pytest.mark.parametrize(
    ("kind", "transport", "protocol"),
    [("stdio", "pipe", None), ("http", "tcp", "http"), ("sse", "tcp", "http"), ("memory", None, None)],
)
async def test_the_transport_is_named(recorded: Recorded, kind: str, transport: Any, protocol: Any) -> None:
    with spans.asking("ping", None, revision="2026-07-28", transport=kind):
        pass
    said = attributes(recorded.of("ping")[0])
    assert (said.get("network.transport"), said.get("network.protocol.name")) == (transport, protocol)


@pytest.mark.parametrize(
    ("error", "told"), [("TimeoutError", "timeout"), ("CancelledError", "cancelled"), ("ValueError", "ValueError")]
)
async def test_no_answer_is_an_error_by_its_kind_only(recorded: Recorded, error: str, told: str) -> None:
    import asyncio

    raised: BaseException = {
        "TimeoutError": TimeoutError(SECRET),
        "CancelledError": asyncio.CancelledError(SECRET),
        "ValueError": ValueError(SECRET),
    }[error]
    with (
        pytest.raises(type(raised)),
        spans.asking("tools/call", {"name": "x"}, revision="2025-11-25", transport="http"),
    ):
        raise raised
    (span,) = recorded.of("tools/call x")
    assert attributes(span)["error.type"] == told
    assert SECRET not in span.to_json()
    assert span.events == ()


async def test_names_of_others_are_cut(recorded: Recorded) -> None:
    spans.serving("tools/call", {"name": "x" * 5_000}, 1, revision="2025-11-25").end()
    spans.serving("m" * 5_000, {}, 1, revision="2025-11-25").end()
    assert max(len(span.name) for span in recorded.exporter.get_finished_spans()) < 300


def run(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


CALL = """
import sys
import jupyter_mcp as mcp
from jupyter_mcp.server import Server

demo = Server("demo")

@demo.tool
def add(a: int, b: int) -> int:
    return a + b

server = mcp.connect("demo", demo)
"""


@pytest.mark.parametrize("before", ["", "import opentelemetry.trace"])
def test_nothing_is_imported_and_nothing_goes_along_where_nobody_set_it_up(before: str) -> None:
    program = f"""{before}
{CALL}
loaded = {{name for name in sys.modules if name.startswith("opentelemetry")}}
server.tools.add(a=1, b=2)
assert {{name for name in sys.modules if name.startswith("opentelemetry")}} == loaded
assert bool(loaded) is {bool(before)}
print("traceparent" in str([entry.message for entry in mcp.host.trace]))
"""
    assert run(program) == "False"


def test_a_span_of_the_cell_is_the_parent_of_what_the_background_thread_sends() -> None:
    program = f"""
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

seen = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(seen))
trace.set_tracer_provider(provider)
{CALL}
with provider.get_tracer("x").start_as_current_span("cell"):
    server.tools.add(a=1, b=2)
by_id = {{span.context.span_id: span for span in seen.get_finished_spans()}}
served = [span for span in by_id.values() if span.name == "tools/call add" and span.kind.name == "SERVER"][-1]
names = [served.name]
while served.parent is not None:
    served = by_id[served.parent.span_id]
    names.append(served.name)
print(names)
"""
    assert run(program) == "['tools/call add', 'tools/call add', 'cell']"
