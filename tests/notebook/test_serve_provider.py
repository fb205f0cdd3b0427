"""A notebook behind an organisation's identity provider: who is named gets in with a token for it, and nobody else."""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING, Any

import pytest

import jupyter_mcp as mcp
from jupyter_mcp.errors import MCPError, UsageError
from jupyter_mcp.kernel import serving
from jupyter_mcp.notebook.render import bundle
from jupyter_mcp.testing.authorization import InThread, Rules
from tests.testing.authorization.client import OAuthClient

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.notebook.conftest import Cells


ALL = "--issuer https://login.example --resource https://hub.example/mcp --user ada"


@pytest.fixture(autouse=True)
def runtime(cells: Cells, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Runtime files of this test's own, and nothing served afterwards."""
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path))
    cells.run("x = 42")
    yield
    if (found := serving.current()) is not None:
        found.stop()


@pytest.fixture
def provider() -> Iterator[InThread]:
    with InThread(rules=Rules(signed=True)) as there:
        yield there


class Outside:
    """The notebook behind a provider, at a port that the proxy would know; and people who come to it."""

    def __init__(self, provider: InThread) -> None:
        self.issuer = provider.issuer
        with socket.create_server(("127.0.0.1", 0)) as one:
            self.port = one.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/mcp"
        self.issuer.book.resources.append(self.url)

    @property
    def line(self) -> str:
        return f"%mcp serve x --issuer {self.issuer.issuer} --resource {self.url} --port {self.port}"

    def token(self, subject: str = "ada", resource: str = "", scope: str = "notes:read") -> str:
        self.issuer.subject = subject
        client = OAuthClient(self.issuer, resource or self.url)
        return asyncio.run(client.enter(scope=scope))["access_token"]

    def read(self, token: str) -> Any:
        """Come in with a token and read `x`; what the door says when it does not open."""
        name = serving.current()
        assert name is not None
        try:
            mcp.connect("outside", self.url, bearer=token)
            return mcp.servers["outside"].read(f"notebook://{name.slug}/variables/x").text
        except MCPError as error:
            return getattr(error, "status", None) or str(error)
        finally:
            if "outside" in mcp.servers:
                mcp.disconnect("outside")


@pytest.fixture
def outside(provider: InThread) -> Outside:
    return Outside(provider)


def test_who_is_named_gets_in_and_nobody_else(cells: Cells, outside: Outside) -> None:
    cells.run(f"{outside.line} --user ada;")
    assert outside.read(outside.token("ada")) == "42"
    assert outside.read(outside.token("bob")) == 403
    assert outside.read("invented") == 401


def test_a_token_for_another_server_does_not_open_the_notebook(
    cells: Cells, outside: Outside, provider: InThread
) -> None:
    cells.run(f"{outside.line} --user ada;")
    assert outside.read(outside.token(resource=provider.url)) == 401


def test_everybody_and_scopes_are_said(cells: Cells, outside: Outside) -> None:
    cells.run(f"{outside.line} --user '*' --scope notes:write;")
    assert outside.read(outside.token("bob")) == 403
    assert outside.read(outside.token("bob", scope="notes:read notes:write")) == "42"


def test_the_notebooks_own_token_goes_on_opening_it(cells: Cells, outside: Outside) -> None:
    cells.run("end = get_ipython().run_line_magic('mcp', 'serve x')")
    token = mcp.serve("x").token
    cells.run(f"{outside.line} --user ada;")
    assert mcp.serve("x", issuer=outside.issuer.issuer, resource=outside.url, users=["ada"], port=outside.port).token
    found = serving.current()
    assert found is not None and found.token == token and found.url == outside.url
    assert outside.read(token) == "42"


def test_the_last_line_counts_also_for_who_may_come_from_elsewhere(cells: Cells, outside: Outside) -> None:
    cells.run(f"{outside.line} --user ada;")
    token = outside.token()
    assert outside.read(token) == "42"
    cells.run("%mcp serve x;")
    assert outside.read(token) == 401


def test_the_card_says_who_may_come_and_shows_no_token(cells: Cells, outside: Outside) -> None:
    end = cells.run(f"{outside.line} --user ada --user bob@example.org")
    text = bundle(end)["text/plain"]
    said = f"ada, bob@example.org, when they have an access token of {outside.issuer.issuer} for {outside.url}"
    assert said in text.replace("\n", " ")
    assert end.token not in str(bundle(end))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--issuer https://login.example", "Say it with --resource"),
        ("--issuer https://login.example --resource https://hub.example/mcp", "Say --user NAME"),
        ("--issuer http://login.example --resource https://hub.example/mcp --user ada", "not https"),
        ("--issuer https://login.example --resource http://hub.example/mcp --user ada", "not https"),
        (
            f"{ALL} --scope 'a b'",
            "without blanks",
        ),
        (f"{ALL} --port 70000", "up to 65535"),
        (f"{ALL} --port x", "wants a number"),
        ("--user ada", "with an issuer"),
        ("--port 8000", "with an issuer"),
    ],
)
def test_a_line_that_leaves_something_open_serves_nothing_and_ends_nothing(
    cells: Cells, options: str, said: str
) -> None:
    cells.run("%mcp serve x;")
    before = serving.current()
    with pytest.raises(UsageError, match=said):
        cells.run(f"%mcp serve x {options}")
    assert serving.current() is before


def test_a_port_that_is_taken_is_said_and_the_token_is_not_given_to_whoever_has_it(
    cells: Cells, outside: Outside
) -> None:
    with socket.create_server(("127.0.0.1", outside.port)), pytest.raises(MCPError, match="Cannot listen"):
        cells.run(f"{outside.line} --user ada")
