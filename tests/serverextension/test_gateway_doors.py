"""Who gets through the Jupyter Server's doors: its authorizer is asked, XSRF rules hold, other languages stay out."""

from __future__ import annotations

import http.cookiejar
import json
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any

import pytest

from tests.serverextension.jupyter import Jupyter, Kernel

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

CONFIG = """
import pathlib
from jupyter_server.auth import Authorizer

class Forbids(Authorizer):
    def is_authorized(self, handler, user, action, resource):
        forbidden = pathlib.Path({forbidden!r}).read_text().split()
        return not set(forbidden) & {{f"{{action}}:{{resource}}", *handler.path_args}}

c = get_config()
c.ServerApp.authorizer_class = Forbids
"""
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
LIST, CALLBACK = "jupyter-mcp/api/notebooks", "jupyter-mcp/oauth/callback?code=x&state={id}.aaaaaaaaaaaaaaaaaaaaaaaa"
SERVE = "%load_ext jupyter_mcp\nimport jupyter_mcp as mcp\nanswer = 42\nendpoint = mcp.serve('answer', name='analysis')"


class Guarded:
    """A Jupyter Server with an authorizer of its administrator's, which forbids what a file says.

    Attributes:
        jupyter: the server.
    """

    def __init__(self, folder: Path) -> None:
        self._forbidden = folder / "forbidden"
        self.forbid()
        (folder / "config").mkdir()
        (folder / "config" / "jupyter_server_config.py").write_text(CONFIG.format(forbidden=str(self._forbidden)))
        other = folder / "data" / "kernels" / "other"
        other.mkdir(parents=True)
        argv = ["python", "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        (other / "kernel.json").write_text(json.dumps({"argv": argv, "display_name": "Other", "language": "R"}))
        self.jupyter = Jupyter(folder)

    def forbid(self, *words: str) -> None:
        """From now on: "action:resource", or a kernel's id."""
        self._forbidden.write_text(" ".join(words))


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Generator[Guarded]:
    found = Guarded(tmp_path_factory.mktemp("guarded"))
    yield found
    found.jupyter.close()


@pytest.fixture
def guarded(running: Guarded) -> Generator[Guarded]:
    yield running
    running.forbid()


@pytest.fixture(scope="module")
def served(running: Guarded) -> Generator[Kernel]:
    kernel = running.jupyter.kernel()
    kernel.run(SERVE)
    yield kernel
    kernel.close()


def post(jupyter: Jupyter, kernel_id: str, opener: Any = None, **headers: str) -> tuple[int, str]:
    """Status and text of a hello; with the server's token, or as who the opener's cookies say."""
    request = urllib.request.Request(
        f"{jupyter.url}/jupyter-mcp/kernels/{kernel_id}", method="POST", data=json.dumps(HELLO).encode()
    )
    for name, value in (MCP | headers).items():
        request.add_header(name, value)
    if opener is None:
        request.add_header("Authorization", f"Bearer {jupyter.token}")
    try:
        with (opener or urllib.request.build_opener()).open(request, timeout=60) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def test_who_may_not_execute_gets_the_list_and_nothing_else(guarded: Guarded, served: Kernel) -> None:
    assert post(guarded.jupyter, served.id)[0] == 200
    guarded.forbid("execute:kernels")
    assert guarded.jupyter.ask(LIST)[0] == 200
    path = f"jupyter-mcp/kernels/{served.id}"
    for method, body in (("POST", HELLO), ("GET", None), ("DELETE", None)):
        status, text, _ = guarded.jupyter.ask(path, method=method, body=body)
        assert status == 403 and "analysis" not in text, method
    assert guarded.jupyter.ask(CALLBACK.format(id=served.id))[0] == 403


def test_who_may_not_read_does_not_get_the_list(guarded: Guarded, served: Kernel) -> None:
    guarded.forbid("read:kernels")
    status, text, _ = guarded.jupyter.ask(LIST)
    assert status == 403 and served.id not in text
    assert post(guarded.jupyter, served.id)[0] == 200


def test_one_kernel_can_be_kept_from_a_user_who_may_use_the_others(guarded: Guarded, served: Kernel) -> None:
    another = guarded.jupyter.kernel()
    another.run(SERVE.replace("analysis", "private"))
    try:
        guarded.forbid(another.id)
        assert post(guarded.jupyter, another.id)[0] == 403
        assert post(guarded.jupyter, served.id)[0] == 200
        guarded.forbid()
        assert post(guarded.jupyter, another.id)[0] == 200
    finally:
        another.close()


def test_a_cookie_opens_only_with_the_xsrf_header_that_a_page_of_the_server_can_read(
    guarded: Guarded, served: Kernel
) -> None:
    cookies = http.cookiejar.CookieJar()
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(cookies))
    for page in (f"api/status?token={guarded.jupyter.token}", "login"):
        with browser.open(f"{guarded.jupyter.url}/{page}", timeout=60):
            pass
    (xsrf,) = [str(one.value) for one in cookies if one.name == "_xsrf"]
    origin = guarded.jupyter.url.removesuffix("/base")
    assert post(guarded.jupyter, served.id, browser, **{"X-XSRFToken": xsrf, "Origin": origin})[0] == 200
    assert post(guarded.jupyter, served.id, browser, Origin=origin)[0] == 403
    assert post(guarded.jupyter, served.id, browser, **{"X-XSRFToken": xsrf[::-1], "Origin": origin})[0] == 403
    assert post(guarded.jupyter, served.id, browser, **{"X-XSRFToken": xsrf, "Origin": "https://evil.example"})[0] in (
        403,
        404,
    )


def test_a_kernel_of_another_language_is_listed_and_not_offered(guarded: Guarded) -> None:
    status, text, _ = guarded.jupyter.ask("api/kernels", method="POST", body={"name": "other"})
    assert status == 201, text
    kernel_id = json.loads(text)["id"]
    try:
        rows = json.loads(guarded.jupyter.ask(LIST)[1])["notebooks"]
        (mine,) = [row for row in rows if row["kernel_id"] == kernel_id]
        assert (mine["language"], mine["state"], mine["address"]) == ("R", "not served", "")
        assert mine["hint"] == "Notebooks in R are not served."
        status, text = post(guarded.jupyter, kernel_id)
        assert status == 503 and "Notebooks in R are not served." in text
        assert "%load_ext" not in text
    finally:
        guarded.jupyter.ask(f"api/kernels/{kernel_id}", method="DELETE")
