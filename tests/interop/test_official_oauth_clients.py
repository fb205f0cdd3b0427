"""The official SDKs' own OAuth clients get into a server that we protect, come back, and step up; in both eras."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from jupyter_mcp.testing.authorization import Browser, InThread
from tests.interop import programs

pytestmark = pytest.mark.interop


@dataclass(frozen=True)
class Client:
    """An SDK's client: where it lives, its driver, how it negotiates, what that must lead to."""

    environment: str
    mode: str
    revision: str

    def __str__(self) -> str:
        return f"{self.environment} {self.mode}"


CLIENTS = [
    Client("mcp2", "auto", "2026-07-28"),
    Client("mcp2", "legacy", "2025-11-25"),
    Client("mcp1", "legacy", "2025-11-25"),
]


@pytest.mark.parametrize("client", CLIENTS, ids=str)
@pytest.mark.parametrize("path", ["", "/tenant"])
def test_an_official_client_gets_in_comes_back_and_steps_up(client: Client, path: str):
    with InThread(issuer_options={"path": path}) as there:
        browser = Browser()
        said = drive(client, there, browser)
        assert said["revision"] == client.revision
        first, second, third = said["outcomes"]
        assert first == second and "Buy milk" in first[0]
        assert third == ["2"]
        scopes = [parse_qs(urlsplit(address).query)["scope"][0] for address in browser.visited]
        assert scopes == ["notes:read", "notes:read", "notes:read notes:write"], "it asks anew where it could refresh"
        assert there.issuer.seen.count(f"POST {path}/register") == 1


def drive(client: Client, there: InThread, browser: Browser) -> dict[str, Any]:
    """Run the driver, be its person, end its access tokens while it pauses; what it said at last."""
    driver = str(programs.DRIVERS / f"oauth_{client.environment}.py")
    command = [programs.peer_python(client.environment), driver, there.url, client.mode]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as process:
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        for line in process.stdout:
            said = json.loads(line)
            if "outcomes" in said:
                return said
            if "open" in said:
                answer = browser.open(said["open"])
            else:
                there.issuer.book.end_access_tokens()
                answer = "go on"
            process.stdin.write(answer + "\n")
            process.stdin.flush()
        pytest.fail(f"the client ended early: {process.stderr.read()[-3000:]}")
