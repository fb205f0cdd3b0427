"""A hub with two users: an agent with one's token reads that one's notebook through the hub, and nobody else's."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.host.host import Host
from jupyter_mcp.host.specs import ServerSpec
from tests.hub.hub import Hub, User

if TYPE_CHECKING:
    from collections.abc import Generator

pytestmark = [pytest.mark.anyio, pytest.mark.slow, pytest.mark.timeout(600)]

PING: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
HELLO: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "agent", "version": "1"},
    },
}
MCP = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Generator[Hub]:
    made = Hub(tmp_path_factory.mktemp("hub"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def users(hub: Hub) -> tuple[User, User]:
    ada, bob = hub.user("ada"), hub.user("bob")
    for user, salary in ((ada, 4200), (bob, 3900)):
        user.run(f"%load_ext jupyter_mcp\nimport jupyter_mcp as mcp\nsalary = {salary}\n%mcp serve --name {user.name}")
    return ada, bob


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_an_agent_with_a_users_token_reads_that_users_variables(
    hub: Hub, users: tuple[User, User], era: Any
) -> None:
    ada, _ = users
    host = Host()
    try:
        address = f"{hub.url}/{ada.mcp}"
        await host.connect(ServerSpec.parse("hub", address, bearer=ada.token, era=era))
        result = await host.call_tool("hub", "read_variable", {"notebook": "ada", "name": "salary"})
        assert result.text == "4200"
        found = json.loads(hub.ask("user/ada/jupyter-mcp/api/notebooks", token=ada.token)[1])
        assert [(one["name"], one["state"]) for one in found["notebooks"]] == [("ada", "served")]
        assert found["notebooks"][0]["address"] == f"/{ada.mcp}"
    finally:
        await host.aclose()


def test_it_gets_nothing_of_another_user(hub: Hub, users: tuple[User, User]) -> None:
    ada, bob = users
    for path in (bob.mcp, "user/bob/jupyter-mcp/api/notebooks"):
        method, body = ("POST", HELLO) if path == bob.mcp else ("GET", None)
        status, text = hub.ask(path, method=method, body=body, token=ada.token, headers=MCP)
        assert status == 403, text
        assert "3900" not in text and "salary" not in text
    assert hub.ask(ada.mcp, method="POST", body=HELLO, token=ada.token, headers=MCP)[0] == 200


@pytest.mark.parametrize("token", [None, "0" * 32], ids=["no token", "a wrong one"])
def test_a_stranger_is_sent_away_before_any_kernel_is_asked(
    hub: Hub, users: tuple[User, User], token: str | None
) -> None:
    status, text = hub.ask(users[0].mcp, method="POST", body=PING, token=token, headers=MCP)
    assert status in (401, 403), text
    assert "result" not in text


def test_the_kernels_own_token_never_leaves_the_users_server(hub: Hub, users: tuple[User, User]) -> None:
    ada, _ = users
    ada.run("import pathlib\nendpoint = mcp.serve()\npathlib.Path('kept').write_text(endpoint.token)")
    kept = next((hub.folder / "home" / "ada").rglob("kept")).read_text()
    assert len(kept) > 20
    _, listed = hub.ask("user/ada/jupyter-mcp/api/notebooks", token=ada.token)
    _, answered = hub.ask(ada.mcp, method="POST", body=HELLO, token=ada.token, headers=MCP)
    assert kept not in listed + answered + (hub.folder / "hub.log").read_text()
