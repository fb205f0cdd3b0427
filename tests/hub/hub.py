"""A real JupyterHub on loopback with two users, for tests: its proxy, its sign-in, a server of each user's own.

What it runs is in build/hub (requirements/hub.txt) and build/hub-proxy (tests/hub/npm); `make hub` puts it there.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.blocking.client import BlockingKernelClient

ROOT = Path(__file__).parents[2]
HUB = ROOT / "build" / "hub" / "bin"
PROXY = ROOT / "build" / "hub-proxy" / "node_modules" / ".bin" / "configurable-http-proxy"
LIMIT = 120.0  # seconds; a busy machine starts four programs slowly
CONFIG = """
c = get_config()
c.JupyterHub.bind_url = "http://127.0.0.1:{public}/"
c.JupyterHub.hub_bind_url = "http://127.0.0.1:{inner}"
c.JupyterHub.authenticator_class = "dummy"
c.Authenticator.allowed_users = {{"ada", "bob"}}
c.JupyterHub.spawner_class = "simple"
c.JupyterHub.cookie_secret = {cookie!r}.encode()
c.JupyterHub.db_url = "sqlite:///{folder}/hub.sqlite"
c.ConfigurableHTTPProxy.command = [{proxy!r}]
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{api}"
c.ConfigurableHTTPProxy.auth_token = {auth!r}
c.ConfigurableHTTPProxy.pid_file = "{folder}/proxy.pid"
c.SimpleLocalProcessSpawner.home_dir_template = "{folder}/home/{{username}}"
c.Spawner.cmd = [{singleuser!r}]
c.Spawner.args = ["--allow-root", "--ServerApp.jpserver_extensions=jupyter_mcp.serverextension=True"]
c.Spawner.environment = {{"PYTHONPATH": {root!r}, "PATH": {path!r}}}
c.Spawner.start_timeout = c.Spawner.http_timeout = {limit}
c.JupyterHub.services = [{{"name": "test", "api_token": {admin!r}}}]
c.JupyterHub.load_roles = [
    {{"name": "test", "services": ["test"], "scopes": ["admin:users", "admin:servers", "tokens"]}},
]
"""


class Hub:
    """`jupyterhub` in a folder of its own.

    Attributes:
        url: as a browser sees it, without a slash at its end.
    """

    def __init__(self, folder: Path) -> None:
        if not (HUB / "jupyterhub").exists() or not PROXY.exists() or shutil.which("node") is None:
            pytest.skip("no JupyterHub here (make hub, which needs Node)")
        self.folder = folder
        self._admin = secrets.token_hex(16)
        public, inner, api = _free_ports(3)
        self.url = f"http://127.0.0.1:{public}"
        (folder / "home").mkdir()
        config = CONFIG.format(
            public=public,
            inner=inner,
            api=api,
            folder=folder,
            cookie=secrets.token_hex(16),
            auth=secrets.token_hex(16),
            admin=self._admin,
            proxy=str(PROXY),
            singleuser=str(HUB / "jupyterhub-singleuser"),
            root=str(ROOT),
            path=os.pathsep.join([str(HUB), os.environ["PATH"]]),
            limit=int(LIMIT),
        )
        (folder / "config.py").write_text(config)
        self._log = folder / "hub.log"
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("JUPYTER", "IPYTHON", "CONFIGPROXY"))}
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [str(HUB / "jupyterhub"), "--config", str(folder / "config.py")],
                env=environment,
                cwd=folder,
                stdout=log,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        self.until(lambda: self.ask("hub/api/", token=None)[0] == 200, "the hub did not start")

    def close(self) -> None:
        """End it with its proxy and its users' servers, which are all of one session."""
        self._process.terminate()
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait(10)

    def until(self, true: Any, what: str) -> None:
        end = time.monotonic() + LIMIT
        while time.monotonic() < end and self._process.poll() is None:
            try:
                if true():
                    return
            except OSError:
                pass
            time.sleep(0.1)  # what other programs do makes no event here
        pytest.fail(f"{what}:\n{self._log.read_text()[-4000:]}")

    def ask(
        self,
        path: str,
        *,
        method: str = "GET",
        body: Any = None,
        token: str | None = "",
        headers: dict[str, str] | None = None,
    ) -> tuple[int, str]:
        """Status and text of an answer; "" is the administrator's token, None a stranger."""
        request = urllib.request.Request(f"{self.url}/{path}", method=method)
        if body is not None:
            request.data = json.dumps(body).encode()
        if token is not None:
            request.add_header("Authorization", f"Bearer {token or self._admin}")
        for name, value in (headers or {}).items():
            request.add_header(name, value)
        try:
            with urllib.request.build_opener(_Stay).open(request, timeout=LIMIT) as response:
                return response.status, response.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    def user(self, name: str) -> User:
        """A user whose server runs."""
        self.ask(f"hub/api/users/{name}", method="POST")
        status, text = self.ask(
            f"hub/api/users/{name}/tokens",
            method="POST",
            body={"note": "for an agent", "scopes": [f"access:servers!user={name}"]},
        )
        assert status == 201, text
        token: str = json.loads(text)["token"]
        status, text = self.ask(f"hub/api/users/{name}/server", method="POST")
        assert status in (201, 202), text
        self.until(lambda: self.ask(f"user/{name}/api/status", token=token)[0] == 200, f"the server of {name}")
        return User(self, name, token)


def ignore(_: Any) -> None:
    """What a cell shows."""


class _Stay(urllib.request.HTTPRedirectHandler):
    """Redirects are answers."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


class User:
    """A user of the hub, with a notebook's kernel that is served.

    Attributes:
        token: of the hub, as the user makes one for an agent.
        mcp: where the kernel is, below the hub's address.
    """

    def __init__(self, hub: Hub, name: str, token: str) -> None:
        self.hub, self.name, self.token = hub, name, token
        status, text = hub.ask(f"user/{name}/api/kernels", method="POST", body={}, token=token)
        assert status == 201, text
        self.kernel_id: str = json.loads(text)["id"]
        self.mcp = f"user/{name}/jupyter-mcp/kernels/{self.kernel_id}"

    def run(self, code: str) -> None:
        """Run a cell."""
        found = list((self.hub.folder / "home" / self.name).rglob(f"kernel-{self.kernel_id}.json"))
        client: Any = BlockingKernelClient(connection_file=str(found[0]))
        client.load_connection_file()
        client.start_channels(hb=False)  # a busy machine's kernel misses a beat and counts as dead
        try:
            client.wait_for_ready(timeout=LIMIT)
            reply = client.execute_interactive(code, timeout=LIMIT, output_hook=ignore)
            assert reply["content"]["status"] == "ok", "\n".join(reply["content"].get("traceback", []))
        finally:
            client.stop_channels()


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()
