"""The programs that the suites test start, talk to each other, and end by themselves; no suite is needed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.conformance import client

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]


SERVERS = {
    "json": ("tests.conformance.server",),
    "streams": ("tests.conformance.server", "--streams"),
    "kernel": ("tests.conformance.kernel",),
}


@pytest.fixture(scope="module", params=SERVERS)
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    command = [sys.executable, "-m", *SERVERS[request.param]]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None and process.stdout is not None
        yield process.stdout.readline().strip()
        process.stdin.close()
        assert process.wait(20) == 0


def run_client(url: str, scenario: str, context: object = None) -> subprocess.CompletedProcess[str]:
    told = {"MCP_CONFORMANCE_SCENARIO": scenario, "MCP_CONFORMANCE_CONTEXT": json.dumps(context)}
    return subprocess.run(
        [sys.executable, "-m", "tests.conformance.client", url],
        cwd=ROOT,
        env={**os.environ, **told},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        stdin=subprocess.DEVNULL,
    )


@pytest.mark.parametrize("scenario", ["initialize", "sse-retry", "request-metadata"])
def test_the_client_does_a_scenario_with_the_server_and_ends_well(url: str, scenario: str) -> None:
    done = run_client(url, scenario)
    assert (done.returncode, done.stderr) == (0, "")


def test_calls_that_come_from_the_suite_are_made_as_they_are(url: str) -> None:
    calls = [{"name": "test_custom_header", "arguments": {"region": "Zürich", "query": "x"}}]
    assert run_client(url, "http-custom-headers", {"toolCalls": calls}).returncode == 0


def test_a_scenario_that_fails_ends_the_client_with_an_error(url: str) -> None:
    done = run_client(url, "tools_call")  # there is no add_numbers here
    assert done.returncode != 0 and "add_numbers" in done.stderr


def test_a_form_is_filled_with_its_defaults_and_else_with_a_value_of_the_right_kind() -> None:
    fields = {"a": {"type": "string", "default": "d"}, "b": {"type": "boolean"}, "c": {"type": "integer"}, "d": {}}
    assert client.filled({"properties": fields}) == {"a": "d", "b": True, "c": 1, "d": None}
    assert client.filled({}) == {}
