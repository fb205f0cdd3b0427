"""The official clients against our demo server, in every era that each of them speaks.

A driver in the client's own environment plays a list of steps (drivers/steps.py); the tests look at what came of each.
"""

from __future__ import annotations

import base64
import json
import subprocess
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest

from tests.interop import programs

pytestmark = pytest.mark.interop

LIMIT = 120.0  # seconds for one driver
LEGACY, MODERN = "2025-11-25", "2026-07-28"


@dataclass(frozen=True)
class Client:
    """Somebody else's client: its environment, its driver, how it is to negotiate and what that must lead to."""

    name: str
    environment: str
    driver: str
    mode: str
    revision: str

    def __str__(self) -> str:
        return self.name


CLIENTS = [
    Client("mcp 2.3.0 auto", "mcp2", "mcp2.py", "auto", MODERN),
    Client("mcp 2.3.0 legacy", "mcp2", "mcp2.py", "legacy", LEGACY),
    Client("mcp 1.30.0", "mcp1", "mcp1.py", "legacy", LEGACY),
    Client("FastMCP 4.2.3 auto", "fastmcp", "fastmcp4.py", "auto", MODERN),
    Client("FastMCP 4.2.3 legacy", "fastmcp", "fastmcp4.py", "legacy", LEGACY),
]

FORM = {
    "name": "Ada Lovelace",
    "email": "ada@example.org",
    "arrival": "2026-12-10",
    "guests": 3,
    "budget": 80.5,
    "breakfast": False,
    "room": "suite",
    "extras": ["cot"],
}
BOOK = {"do": "call", "name": "book", "arguments": {"city": "Barcelona"}}
PROMPT = {"type": "ref/prompt", "name": "trip"}
NOTE = {"type": "ref/resource", "uri": "notes://{day}"}
STEPS: dict[str, dict[str, Any]] = {
    "tools": {"do": "tools"},
    "resources": {"do": "resources"},
    "templates": {"do": "templates"},
    "prompts": {"do": "prompts"},
    "add": {"do": "call", "name": "add", "arguments": {"a": 2, "b": 3}},
    "wrong argument": {"do": "call", "name": "add", "arguments": {"a": "two", "b": 3}},
    "unknown tool": {"do": "call", "name": "no_such_tool", "arguments": {}},
    "fail": {"do": "call", "name": "fail", "arguments": {"message": "on purpose"}},
    "weather": {"do": "call", "name": "weather", "arguments": {"city": "Paris", "days": 2}},
    "chart": {"do": "call", "name": "chart", "arguments": {}},
    "slow": {"do": "call", "name": "slow", "arguments": {"seconds": 0.2, "steps": 4}},
    "book": {**BOOK, "answer": {"elicit": FORM}},
    "book declined": {**BOOK, "answer": {"elicit": "decline"}},
    "book cancelled": {**BOOK, "answer": {"elicit": "cancel"}},
    "book wrongly": {**BOOK, "answer": {"elicit": {**FORM, "guests": 99}}},
    "summarise": {
        "do": "call",
        "name": "summarise",
        "arguments": {"text": "A long text about cats."},
        "answer": {"sample": "Cats."},
    },
    "read": {"do": "read", "uri": "notes://today"},
    "read by template": {"do": "read", "uri": "notes://monday"},
    "read bytes": {"do": "read", "uri": "demo://icon.png"},
    "read nothing": {"do": "read", "uri": "notes://no-such-day"},
    "review": {"do": "prompt", "name": "review", "arguments": {"language": "python"}},
    "complete prompt": {"do": "complete", "ref": PROMPT, "argument": "country", "value": "S"},
    "complete template": {"do": "complete", "ref": NOTE, "argument": "day", "value": "m"},
}


@cache
def played(client: Client) -> dict[str, Any]:
    """What the client's driver printed; it runs once for all tests."""
    plan = {"command": programs.demo_server(), "mode": client.mode, "steps": list(STEPS.values())}
    done = subprocess.run(
        [programs.peer_python(client.environment), str(programs.DRIVERS / client.driver)],
        input=json.dumps(plan),
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def outcome(client: Client, step: str) -> dict[str, Any]:
    return played(client)["steps"][list(STEPS).index(step)]


def text_of(result: dict[str, Any]) -> str:
    return "\n".join(block["text"] for block in result["content"] if block["type"] == "text")


def said(outcome: dict[str, Any]) -> str:
    """How a step failed: the client's exception, or the text of a result that is an error."""
    if "error" in outcome:
        return outcome["error"]
    assert outcome["result"].get("isError") is True, outcome
    return text_of(outcome["result"])


@pytest.fixture(params=CLIENTS, ids=str)
def client(request: pytest.FixtureRequest) -> Client:
    return request.param


def test_it_meets_the_server_in_its_newest_common_revision(client: Client) -> None:
    assert played(client)["revision"] == client.revision
    assert played(client)["server"] == "jupyter-mcp-demo"


def test_it_lists_everything(client: Client) -> None:
    assert set(outcome(client, "tools")["items"]) >= {"add", "weather", "table", "chart", "slow", "book", "summarise"}
    assert set(outcome(client, "resources")["items"]) >= {"notes://today", "demo://icon.png"}
    assert outcome(client, "templates")["items"] == ["notes://{day}"]
    assert set(outcome(client, "prompts")["items"]) == {"review", "trip"}


def test_it_calls_a_tool(client: Client) -> None:
    assert text_of(outcome(client, "add")["result"]).startswith("5")


def test_a_wrong_argument_is_a_failure_that_names_it(client: Client) -> None:
    assert "a" in said(outcome(client, "wrong argument"))


def test_an_unknown_tool_is_an_error(client: Client) -> None:
    assert "no_such_tool" in said(outcome(client, "unknown tool"))


def test_a_tool_that_fails_says_so_in_its_result(client: Client) -> None:
    result = outcome(client, "fail")["result"]
    assert (result["isError"], text_of(result)) == (True, "on purpose")


def test_structured_content_fits_the_schema_that_the_client_checks_it_against(client: Client) -> None:
    forecast = outcome(client, "weather")["result"]["structuredContent"]
    assert forecast["city"] == "Paris"


def test_an_image_arrives(client: Client) -> None:
    blocks = outcome(client, "chart")["result"]["content"]
    assert [block["mimeType"] for block in blocks if block["type"] == "image"] == ["image/png"]


def test_progress_arrives_in_order(client: Client) -> None:
    assert [step[:2] for step in outcome(client, "slow")["progress"]] == [[1, 4], [2, 4], [3, 4], [4, 4]]


def test_a_form_is_asked_once_and_its_values_come_back(client: Client) -> None:
    booked = outcome(client, "book")
    assert [question["method"] for question in booked["asked"]] == ["elicitation/create"]
    assert "Barcelona" in booked["asked"][0]["message"]
    assert booked["result"]["structuredContent"] == {"booked": True, "city": "Barcelona", **FORM}


@pytest.mark.parametrize(("how", "words"), [("declined", "the person declined"), ("cancelled", "nobody answered")])
def test_a_no_and_a_cancel_are_told_apart(client: Client, how: str, words: str) -> None:
    assert words in text_of(outcome(client, f"book {how}")["result"])


def test_an_answer_that_breaks_the_form_books_nothing(client: Client) -> None:
    wrong = outcome(client, "book wrongly")
    assert "guests" in said(wrong)
    assert "Booked" not in said(wrong)


def test_a_sample_is_asked_and_used(client: Client) -> None:
    summary = outcome(client, "summarise")
    assert [question["method"] for question in summary["asked"]] == ["sampling/createMessage"]
    assert "A long text about cats." in json.dumps(summary["asked"][0]["messages"])
    assert text_of(summary["result"]) == "Cats."


def test_resources_are_read(client: Client) -> None:
    assert outcome(client, "read")["result"]["contents"][0]["mimeType"] == "text/markdown"
    assert outcome(client, "read by template")["result"]["contents"][0]["uri"] == "notes://monday"
    assert base64.b64decode(outcome(client, "read bytes")["result"]["contents"][0]["blob"]).startswith(b"\x89PNG")


def test_a_resource_that_is_not_there_has_the_code_of_its_era(client: Client) -> None:
    missing = outcome(client, "read nothing")
    assert missing["code"] == (-32602 if client.revision == MODERN else -32002)


def test_a_prompt_takes_arguments(client: Client) -> None:
    messages = outcome(client, "review")["result"]["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant"]
    assert "python" in messages[0]["content"]["text"]


def test_arguments_are_completed(client: Client) -> None:
    assert outcome(client, "complete prompt")["result"]["completion"]["values"] == ["Spain"]
    assert outcome(client, "complete template")["result"]["completion"]["values"] == ["monday"]
