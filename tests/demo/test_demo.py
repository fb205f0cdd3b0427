"""The demo server: what it shows, at the newest revision of each era; and as a process."""

from __future__ import annotations

import base64
import json
import struct
import subprocess
import sys
import zlib
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from jupyter_mcp.demo import chart, data
from jupyter_mcp.demo.server import notes, server
from tests.server.talk import RpcFailure, Talk

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.anyio
both_eras = pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
BOOKING = {"name": "Ada", "email": "ada@example.org", "arrival": "2026-09-01", "guests": 2, "room": "suite"}


@pytest.fixture(autouse=True)
def fresh_notes() -> Iterator[None]:
    yield
    notes.clear()
    notes.update(data.FIRST_NOTES)


def text(result: dict[str, Any]) -> str:
    return result["content"][0]["text"]


def accepting(**change: Any) -> dict[str, Any]:
    return {"elicitation/create": lambda _: {"action": "accept", "content": {**BOOKING, **change}}}  # pyright: ignore[reportUnknownLambdaType]


@both_eras
async def test_every_tool_has_a_title_a_description_and_described_arguments(revision: str):
    async with Talk(server, revision) as talk:
        tools = (await talk.request("tools/list"))["tools"]
        names = ["add", "weather", "table", "chart", "slow", "survey", "book", "join"]
        names += ["summarise", "fail", "add_note"]
        assert [tool["name"] for tool in tools] == names
        for tool in tools:
            assert tool["title"]
            assert tool["description"]
            assert "readOnlyHint" in tool["annotations"]
            for argument in tool["inputSchema"]["properties"].values():
                assert argument["description"], tool["name"]


@both_eras
async def test_arithmetic_and_weather_are_the_same_every_time(revision: str):
    async with Talk(server, revision) as talk:
        assert text(await talk.call("add", {"a": 1, "b": 0.5})) == "1.5"
        first = await talk.call("weather", {"city": "Paris"})
        assert first["structuredContent"] == (await talk.call("weather", {"city": " paris "}))["structuredContent"] | {
            "city": "Paris"
        }
        assert len(first["structuredContent"]["days"]) == 3
        warm = await talk.call("weather", {"city": "Paris", "units": "fahrenheit", "days": 14})
        assert len(warm["structuredContent"]["days"]) == 14
        celsius, fahrenheit = first["structuredContent"]["days"][0]["low"], warm["structuredContent"]["days"][0]["low"]
        assert fahrenheit == pytest.approx(celsius * 9 / 5 + 32, abs=0.1)
        for wrong in ({"days": 15}, {"days": 0}, {"units": "kelvin"}):
            assert (await talk.call("weather", {"city": "Paris", **wrong}))["isError"] is True


@both_eras
async def test_the_table_is_rows_that_fit_their_schema(revision: str):
    async with Talk(server, revision) as talk:
        tools = {tool["name"]: tool for tool in (await talk.request("tools/list"))["tools"]}
        result = await talk.call("table", {"kind": "rocky", "sort_by": "name"})
        jsonschema.validate(result["structuredContent"], tools["table"]["outputSchema"])
        assert [row["name"] for row in result["structuredContent"]["rows"]] == ["Earth", "Mars", "Mercury", "Venus"]
        assert json.loads(text(result)) == result["structuredContent"]


@both_eras
async def test_the_chart_is_a_picture_and_wrong_values_are_explained(revision: str):
    async with Talk(server, revision) as talk:
        (block,) = (await talk.call("chart"))["content"]
        assert block["mimeType"] == "image/png"
        width, height, rows = decode(base64.b64decode(block["data"]))
        assert (width, height) == (792, 264)
        assert bytes(chart.BAR) in rows[150], "there is a bar"
        assert (await talk.call("chart", {"values": [1, 2], "labels": ["a"]}))["isError"] is True


def decode(png: bytes) -> tuple[int, int, list[bytes]]:
    """Width, height and rows of an RGB PNG, checking every chunk on the way."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    at, chunks = 8, dict[bytes, bytes]()
    while at < len(png):
        (size,) = struct.unpack(">I", png[at : at + 4])
        kind, body = png[at + 4 : at + 8], png[at + 8 : at + 8 + size]
        assert struct.unpack(">I", png[at + 8 + size : at + 12 + size])[0] == zlib.crc32(kind + body)
        chunks[kind], at = body, at + 12 + size
    width, height, depth, colour, *_ = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    assert (depth, colour) == (8, 2)
    pixels = zlib.decompress(chunks[b"IDAT"])
    assert len(pixels) == height * (1 + 3 * width)
    return width, height, [pixels[y * (1 + 3 * width) + 1 : (y + 1) * (1 + 3 * width)] for y in range(height)]


@pytest.mark.parametrize(
    "values", [[1.0], [0.0], [-3.0, 5.0, 1e300], [-1.0, -2.0], [float(n) for n in range(20)], [1e-9, 0.0]], ids=len
)
def test_any_finite_values_make_a_picture(values: list[float]):
    decode(
        chart.bar_chart(values, [f"label {n} é" for n in range(len(values))], "A title that is far too long for it" * 9)
    )


@both_eras
async def test_the_slow_job_reports_progress_and_can_be_cancelled(revision: str):
    async with Talk(server, revision) as talk:
        assert text(await talk.call("slow", {"seconds": 0, "steps": 3}, progressToken="p")) == "Done: 3 steps."
        notes = talk.of("notifications/progress")
        assert [(one["progress"], one["total"], one["message"]) for one in notes] == [
            (n, 3, f"step {n} of 3") for n in (1, 2, 3)
        ]
        id_, future = await talk.start("tools/call", {"name": "slow", "arguments": {"seconds": 500}})
        await talk.settle()
        await talk.notify("notifications/cancelled", {"requestId": id_})
        await talk.settle()
        assert not future.done()
        assert (await talk.call("slow", {"steps": 0}))["isError"] is True


@both_eras
async def test_booking_asks_for_every_kind_of_field_and_returns_what_was_chosen(revision: str):
    async with Talk(server, revision, answers=accepting(extras=["bicycle", "cot"], breakfast=True)) as talk:
        result = await talk.call("book", {"city": "Barcelona"})
        asked = talk.asked[0]["params"]
        kinds = {(field["type"], field.get("format")) for field in asked["requestedSchema"]["properties"].values()}
        assert kinds >= {("string", None), ("string", "email"), ("string", "date"), ("integer", None), ("number", None)}
        assert kinds >= {("boolean", None), ("array", None)}
        assert asked["requestedSchema"] == data.BOOKING, "nothing is lost on the way"
        assert result["structuredContent"] == {"booked": True, "city": "Barcelona", **BOOKING} | {
            "extras": ["bicycle", "cot"],
            "breakfast": True,
        }
        assert text(result) == (
            "Booked in Barcelona for Ada: a suite from 2026-09-01, 2 guests, with breakfast, and bicycle and cot."
        )


@both_eras
@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_no_booking_is_no_error(revision: str, action: str):
    async with Talk(server, revision, answers={"elicitation/create": lambda _: {"action": action}}) as talk:
        result = await talk.call("book", {"city": "Barcelona"})
        assert result["structuredContent"] == {"booked": False, "city": "Barcelona"}
        assert "isError" not in result


async def test_a_client_of_2025_06_18_can_book_as_well():
    async with Talk(server, "2025-06-18", answers=accepting(extras="bicycle, late")) as talk:
        result = await talk.call("book", {"city": "Rome"})
        assert result["structuredContent"]["extras"] == ["bicycle", "late"]
        assert "enumNames" in talk.asked[0]["params"]["requestedSchema"]["properties"]["room"]


@both_eras
@pytest.mark.parametrize(
    ("action", "said"), [("accept", "agreed to open"), ("decline", "did not want"), ("cancel", "")]
)
async def test_joining_sends_the_person_to_a_page(revision: str, action: str, said: str):
    async with Talk(server, revision, answers={"elicitation/create": lambda _: {"action": action}}) as talk:
        assert said in text(await talk.call("join"))
        asked = talk.asked[0]["params"]
        assert (asked["mode"], asked["url"]) == ("url", data.PAGE)
    async with Talk(server, revision, capabilities={"elicitation": {}}) as talk:
        assert data.PAGE in text(await talk.call("join"))
        assert not talk.asked


@both_eras
async def test_summarising_asks_the_clients_model(revision: str):
    reply = {"role": "assistant", "content": {"type": "text", "text": "Short."}, "model": "m"}
    async with Talk(server, revision, answers={"sampling/createMessage": lambda _: reply}) as talk:
        assert text(await talk.call("summarise", {"text": "Long."})) == "Short."
        assert talk.asked[0]["params"]["messages"][0]["content"]["text"].endswith("Long.")


@both_eras
async def test_failing_is_an_error_result(revision: str, capsys: pytest.CaptureFixture[str]):
    async with Talk(server, revision) as talk:
        result = await talk.call("fail", {"message": "Out of milk."})
        assert (result["isError"], text(result)) == (True, "Out of milk.")
    assert capsys.readouterr().err == ""


@both_eras
async def test_notes_are_resources_that_change(revision: str):
    async with Talk(server, revision) as talk:

        async def read(uri: str) -> str:
            return (await talk.request("resources/read", {"uri": uri}))["contents"][0]["text"]

        assert await read("notes://today") == data.FIRST_NOTES["today"]
        assert await read("notes://monday") == data.FIRST_NOTES["monday"]
        with pytest.raises(RpcFailure, match="no note for never"):
            await read("notes://never")
        if revision == "2025-11-25":
            await talk.request("resources/subscribe", {"uri": "notes://friday"})
        else:
            await talk.start("subscriptions/listen", {"notifications": {"resourceSubscriptions": ["notes://friday"]}})
        await talk.call("add_note", {"day": "Friday", "text": "dance"})
        await talk.settle()
        assert [one["uri"] for one in talk.of("notifications/resources/updated")] == ["notes://friday"]
        assert await read("notes://friday") == "- dance\n"
        params = {"ref": {"type": "ref/resource", "uri": "notes://{day}"}, "argument": {"name": "day", "value": "f"}}
        assert (await talk.request("completion/complete", params))["completion"]["values"] == ["friday"]
        assert (await talk.call("add_note", {"day": "../x", "text": "y"}))["isError"] is True


@both_eras
async def test_prompts_complete_their_arguments_also_from_one_another(revision: str):
    async with Talk(server, revision) as talk:

        async def complete(prompt: str, name: str, value: str, **chosen: str) -> list[str]:
            params = {"ref": {"type": "ref/prompt", "name": prompt}, "argument": {"name": name, "value": value}}
            result = await talk.request("completion/complete", {**params, "context": {"arguments": chosen}})
            return result["completion"]["values"]

        assert await complete("review", "language", "py") == ["python"]
        assert await complete("trip", "country", "") == ["France", "Italy", "Japan", "Spain"]
        assert await complete("trip", "city", "", country="Japan") == list(data.CITIES["Japan"])
        assert await complete("trip", "city", "b") == ["Bologna", "Barcelona", "Bilbao"]
        short = await talk.request("prompts/get", {"name": "review", "arguments": {"language": "python"}})
        assert [one["role"] for one in short["messages"]] == ["user", "assistant"]
        code = {"language": "python", "code": "x=1"}
        full = await talk.request("prompts/get", {"name": "review", "arguments": code})
        assert "```python\nx=1\n```" in full["messages"][1]["content"]["text"]
        trip = {"country": "Italy", "city": "Rome", "days": "1"}
        got = await talk.request("prompts/get", {"name": "trip", "arguments": trip})
        assert "Plan 1 day in Rome" in got["messages"][0]["content"]["text"]


def test_it_runs_as_a_module_and_prints_nothing_else():
    lines: list[dict[str, Any]] = [
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {"protocolVersion": "2025-11-25", "capabilities": {}},
        },
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "add", "arguments": {"a": 1, "b": 2}}},
    ]
    given = "\n".join(json.dumps(line) for line in lines)
    command = [sys.executable, "-m", "jupyter_mcp.demo"]
    done = subprocess.run(command, input=given.encode(), capture_output=True, timeout=60, check=True)
    first, second = map(json.loads, done.stdout.splitlines())
    assert first["result"]["serverInfo"]["name"] == "jupyter-mcp-demo"
    assert second["result"]["structuredContent"] == {"result": 3}
    assert done.stderr == b""


async def test_the_survey_goes_on_as_a_task_and_asks_halfway():
    from jupyter_mcp.testing import connected

    async with connected(server, answers=["decline"]) as here:
        assert (await here.call("survey", seconds=0)).text == "Surveyed 8 planets."
        assert (await here.call("survey", seconds=0, confirm=True)).text == "Surveyed 4 planets."
        assert [task.status for task in here.host.tasks.of()] == ["completed", "completed"]
