"""Three copies of a deployed notebook behind nginx: any copy answers any request, and headers suffice to route."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx
import pytest

from tests.cli.deployed import KEY, TOKEN, Client, Copy, running, write

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from pathlib import Path

NGINX = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
pytestmark = [
    pytest.mark.anyio,
    pytest.mark.slow,
    pytest.mark.skipif(NGINX is None, reason="nginx is not installed (Debian: the package nginx)"),
]
SHARED = {"JUPYTER_MCP_TOKEN": TOKEN, "JUPYTER_MCP_STATE_KEY": KEY}

CONFIGURATION = """
{user}
daemon off;
pid {here}/nginx.pid;
error_log {here}/error.log;
events {{}}
http {{
  access_log off;
  client_body_temp_path {here}/body;
  proxy_temp_path {here}/proxy;
  fastcgi_temp_path {here}/fastcgi;
  uwsgi_temp_path {here}/uwsgi;
  scgi_temp_path {here}/scgi;

  upstream every {{ {every} }}
  upstream one {{ {one} }}

  # `who` is a matter of one copy; `add` may be called once a minute
  map "$http_mcp_method $http_mcp_name" $pool {{ default every; "tools/call who" one; }}
  map "$http_mcp_method $http_mcp_name" $limited {{ default ""; "tools/call add" $server_name; }}
  limit_req_zone $limited zone=add:1m rate=1r/m;
  limit_req_status 429;

  server {{
    listen unix:{here}/nginx.sock;
    server_name copies;
    location / {{
      limit_req zone=add;
      proxy_pass http://$pool;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $host;
      proxy_buffering off;
    }}
  }}
}}
"""


@contextmanager
def nginx(here: Path, copies: Sequence[Copy]) -> Generator[Path]:
    """The path of the socket that it listens at."""
    servers = [f"server {urlsplit(copy.url).netloc};" for copy in copies]
    user = "user root;" if os.getuid() == 0 else ""
    text = CONFIGURATION.format(here=here, every=" ".join(servers), one=servers[0], user=user)
    (here / "nginx.conf").write_text(text)
    assert NGINX is not None
    process = subprocess.Popen([NGINX, "-p", str(here), "-c", str(here / "nginx.conf")], stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 20
        while not (here / "nginx.sock").exists():
            assert process.poll() is None and time.monotonic() < end, (here / "error.log").read_text()
            time.sleep(0.02)
        yield here / "nginx.sock"
    finally:
        process.terminate()
        process.wait(20)


async def test_any_copy_answers_and_headers_are_enough_to_route_and_to_limit(tmp_path: Path) -> None:
    notebook = write(tmp_path / "paint.ipynb")
    shared = {**SHARED, "JUPYTER_RUNTIME_DIR": str(tmp_path / "runtime")}
    with ExitStack() as stack:
        copies = [stack.enter_context(running(notebook, **shared)) for _ in range(3)]
        socket = stack.enter_context(nginx(tmp_path, copies))
        async with httpx.AsyncClient(transport=httpx.AsyncHTTPTransport(uds=str(socket))) as http:
            client = Client(http, "http://localhost/mcp")
            pairs = [await painted(client, f"pet {number}") for number in range(6)]
            assert all(asked != answered for asked, answered in pairs), "each round went to the next copy"
            assert len({process for pair in pairs for process in pair}) == 3
            assert len({await client.call("who") for _ in range(4)}) == 1, "routed by Mcp-Name"
            assert await client.call("add", a=1, b=2) == "3"
            await client.request("tools/call", {"name": "add", "arguments": {"a": 1, "b": 2}})
            assert client.status == 429, "limited by Mcp-Method and Mcp-Name"
            assert (await client.request("tools/list"))["result"]["tools"]
            copies[2].process.terminate()
            copies[2].process.wait(30)
            assert len({process for _ in range(4) for process in await painted(client, "the rest")}) == 2


async def painted(client: Client, pet: str) -> tuple[str, str]:
    """The processes that asked, and that took the answer."""
    params: dict[str, Any] = {"name": "paint", "arguments": {"pet": pet}}
    question = (await client.request("tools/call", params))["result"]
    ((key, request),) = question["inputRequests"].items()
    (field,) = request["params"]["requestedSchema"]["properties"]
    responses = {key: {"action": "accept", "content": {field: "green"}}}
    again = {**params, "inputResponses": responses, "requestState": question["requestState"]}
    result = (await client.request("tools/call", again))["result"]
    colour, process = result["content"][0]["text"].split()
    assert colour == "green"
    return request["params"]["message"].split()[0], process
