"""Notebooks at a Jupyter Server elsewhere: which address, which token, which of them are served there."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.cli import main
from jupyter_mcp.cli.bridge import remote
from jupyter_mcp.cli.bridge.choosing import Nobody
from jupyter_mcp.cli.bridge.remote import JupyterServer, address, token_for
from jupyter_mcp.cli.bridge.way import is_near
from jupyter_mcp.errors import ConnectionLost, UsageError

if TYPE_CHECKING:
    from jupyter_mcp.kernel.identity import Live

pytestmark = pytest.mark.anyio
HUB = "https://hub.example/user/ada/"
OTHER = "https://other.example/"
TOKEN = "a-token-of-ada"


def row(kernel: str, path: str = "work/sales.ipynb", **other: Any) -> dict[str, Any]:
    name, where = path.rpartition("/")[2].removesuffix(".ipynb"), f"/user/ada/jupyter-mcp/kernels/{kernel}"
    return {"kernel_id": kernel, "path": path, "name": name, "state": "served", "address": where, "hint": "", **other}


class Answers(JupyterServer):
    """A Jupyter Server that says this of its notebooks."""

    def __init__(self, *rows: Any, status: int = 200, body: bytes | Exception | None = None, **options: Any) -> None:
        super().__init__(HUB, TOKEN, **options)
        self._said = (status, json.dumps({"notebooks": rows}).encode() if body is None else body)
        self.asked = 0

    async def _get(self) -> tuple[int, bytes]:
        self.asked += 1
        status, body = self._said
        if isinstance(body, Exception):
            raise body
        return status, body


async def found_by(server: JupyterServer) -> list[Live]:
    found = await server.look()
    assert not isinstance(found, Nobody)
    return list(found)


async def why(server: JupyterServer) -> str:
    found = await server.look()
    assert isinstance(found, Nobody)
    assert TOKEN not in found.why
    return found.why


@pytest.mark.parametrize(
    ("url", "meant"),
    [
        ("https://hub.example/user/ada", HUB),
        ("https://hub.example/user/ada/lab", HUB),
        ("http://127.0.0.1:8888", "http://127.0.0.1:8888/"),
    ],
)
def test_an_address_is_taken_as_people_copy_it(url: str, meant: str) -> None:
    assert address(url) == meant


@pytest.mark.parametrize(
    "url",
    ["hub.example", "ftp://hub.example/", "https://", "https://hub.example:99999/", "https://hub.example/?token=abc123",
     "https://ada:abc123@hub.example/", "https://hub.example/#abc123"],
)  # fmt: skip
def test_what_is_no_address_or_holds_a_secret_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(UsageError) as caught:
        address(url)
    assert "abc123" not in str(caught.value)


def test_a_token_that_would_travel_unencrypted_is_warned_of() -> None:
    assert remote.is_private(HUB) and remote.is_private("http://localhost:8888/")
    assert not remote.is_private("http://hub.example/user/ada/")


def test_a_token_comes_from_the_environment_else_from_the_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "_of_keyring", {HUB: "kept", OTHER: ""}.__getitem__)
    assert token_for(HUB, {"JUPYTERHUB_API_TOKEN": "hub", "JUPYTER_TOKEN": "own"}) == "own"
    assert token_for(HUB, {"JUPYTERHUB_API_TOKEN": "hub", "JUPYTER_TOKEN": " "}) == "hub"
    assert token_for(HUB, {}) == "kept"
    with pytest.raises(UsageError, match="JUPYTER_TOKEN"):
        token_for(OTHER, {})


async def test_what_is_served_is_found_by_name_by_path_and_by_kernel() -> None:
    rows = row("k1"), row("k2", "stock.ipynb"), row("k3", "off.ipynb", state="not served", address="")
    found = await found_by(Answers(*rows))
    assert [(one.slug, one.notebook, one.url) for one in found] == [
        ("sales", "sales.ipynb", "https://hub.example/user/ada/jupyter-mcp/kernels/k1"),
        ("stock", "stock.ipynb", "https://hub.example/user/ada/jupyter-mcp/kernels/k2"),
    ]
    assert TOKEN not in repr(found)
    assert [one.slug for one in await found_by(Answers(*rows, kernel="k2"))] == ["stock"]
    by_path = await found_by(Answers(*rows, wanted="work/sales.ipynb"))
    assert [one.notebook for one in by_path] == ["work/sales.ipynb", "stock.ipynb"]


async def test_the_token_goes_to_no_other_server_whatever_the_list_says() -> None:
    elsewhere = row("k1", address="https://evil.example/user/ada/jupyter-mcp/kernels/k1")
    other_port = row("k2", address="https://hub.example:8443/x")
    assert "No notebook is being served" in await why(Answers(elsewhere, other_port))


async def test_what_keeps_it_from_being_known_is_one_sentence() -> None:
    assert "does not take the token (403)" in await why(Answers(status=403))
    assert "does not take the token (401)" in await why(Answers(status=401))
    assert "(404)" in await why(Answers(status=404))
    assert "may not be running" in await why(Answers(body=b"<html>Sign in</html>"))
    assert "cannot be reached: gone" in await why(Answers(body=ConnectionLost("gone")))
    assert "no answer" in await why(Answers(body=TimeoutError()))
    assert "has no kernel k9" in await why(Answers(row("k1"), kernel="k9"))
    assert "Say %mcp serve" in await why(Answers(row("k1", state="not served", hint="Say %mcp serve."), kernel="k1"))


@pytest.mark.parametrize(
    "body", [b"", b"[]", b'{"notebooks": 3}', b'{"notebooks": [null, 3, {"name": []}]}', b"[" * 9_000]
)
async def test_an_odd_list_is_no_notebook(body: bytes) -> None:
    assert await why(Answers(body=body))


async def test_it_is_not_asked_for_each_request(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Answers(row("k1"))
    for _ in range(5):
        await server.look()
    assert server.asked == 1
    monkeypatch.setattr(remote, "KEPT_SECONDS", -1.0)
    await server.look()
    assert server.asked == 2


def test_only_plain_http_on_this_machine_is_near() -> None:
    assert is_near("http://127.0.0.1:8888/x") and is_near("http://[::1]:8888/")
    assert not any(map(is_near, ("https://127.0.0.1/", "http://localhost:8888/", "http://10.0.0.1/", HUB)))


@pytest.mark.parametrize(
    "arguments",
    [("--url", "nonsense"), ("--kernel", "k1"), ("--url", HUB, "--kernel", "k1", "--notebook", "sales")],
)
def test_a_line_that_makes_no_sense_ends_with_one_sentence(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["stdio", *arguments]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert len(said.err.splitlines()) == 1
