"""A plain client of a notebook's endpoint: one connection that is kept, modern requests, nothing hidden."""

from __future__ import annotations

import http.client
import json
import queue
import socket
import threading
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from jupyter_mcp.protocol import modern
from jupyter_mcp.protocol.headers import for_request
from jupyter_mcp.protocol.sse import Event, SseDecoder

if TYPE_CHECKING:
    from collections.abc import Mapping

REVISION = "2026-07-28"


class Refused(Exception):
    """An HTTP status, or a JSON-RPC error."""

    def __init__(self, status: int, code: int, message: str, data: Any = None) -> None:
        super().__init__(f"{status} {code}: {message}")
        self.status, self.code, self.message, self.data = status, code, message, data


class Caller:
    """Asks one endpoint."""

    def __init__(self, url: str, token: str, name: str = "tester", seconds: float = 20.0) -> None:
        self.parts = urlsplit(url)
        self.token = token
        self.info = {"name": name, "version": "1"}
        self.seconds = seconds
        self.capabilities: dict[str, Any] = {}
        self._ids = iter(range(1, 10**9))
        self._opened: list[Listening] = []
        self._connection = self._connect()

    def _connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(self.parts.hostname or "", self.parts.port, timeout=self.seconds)

    def close(self) -> None:
        """Close everything it opened."""
        for one in self._opened:
            one.close()
        self._connection.close()

    def __enter__(self) -> Caller:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def post(
        self, method: str, params: Mapping[str, Any] | None = None, headers: Mapping[str, str] | None = None
    ) -> http.client.HTTPResponse:
        """The bare response."""
        return self._post(self._connection, method, params, headers)

    def _post(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        params: Mapping[str, Any] | None,
        headers: Mapping[str, str] | None = None,
    ) -> http.client.HTTPResponse:
        given = modern.envelope(params, revision=REVISION, client_info=self.info, capabilities=self.capabilities)
        message = {"jsonrpc": "2.0", "id": next(self._ids), "method": method, "params": given}
        sent = {
            "Authorization": f"Bearer {self.token}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            **for_request(message),
            **(headers or {}),
        }
        connection.request("POST", self.parts.path, json.dumps(message), sent)
        return connection.getresponse()

    def request(self, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The result. Raises Refused."""
        response = self.post(method, params)
        body = response.read()
        if not response.headers.get("Content-Type", "").startswith("text/event-stream"):
            if not response.headers.get("Content-Type", "").startswith("application/json"):
                raise Refused(response.status, 0, body.decode())
            message = json.loads(body)
        else:
            message = [json.loads(one.data) for one in SseDecoder().feed(body) if isinstance(one, Event)][-1]
        if "error" in message:
            error = message["error"]
            raise Refused(response.status, error["code"], error["message"], error.get("data"))
        return message["result"]

    def read(self, uri: str) -> dict[str, Any]:
        """The one content of a resource."""
        (content,) = self.request("resources/read", {"uri": uri})["contents"]
        return content

    def data(self, uri: str) -> Any:
        """The JSON that a resource is."""
        return json.loads(self.read(uri)["text"])

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The result of a tool, which may be an error."""
        return self.request("tools/call", {"name": tool, "arguments": arguments})

    def listen(self, *uris: str) -> Listening:
        """Hear of changes, from when this returns."""
        self._opened.append(Listening(self, uris))
        return self._opened[-1]

    def open(self, uris: tuple[str, ...]) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        connection = self._connect()
        wanted = {"resourceSubscriptions": list(uris), "resourcesListChanged": True, "toolsListChanged": True}
        return connection, self._post(connection, "subscriptions/listen", {"notifications": wanted})


class Listening:
    """A stream of changes, read on a thread of its own."""

    def __init__(self, caller: Caller, uris: tuple[str, ...]) -> None:
        self._connection, self._response = caller.open(uris)
        self._decoder = SseDecoder()
        self._news = threading.Condition()
        self.messages: list[dict[str, Any]] = []
        self.over = False
        threading.Thread(target=self._read, daemon=True).start()
        self.until(lambda: bool(self.messages))

    def _read(self) -> None:
        try:
            while chunk := self._response.read1(65536):
                found = [json.loads(one.data) for one in self._decoder.feed(chunk) if isinstance(one, Event)]
                with self._news:
                    self.messages += found
                    self._news.notify_all()
        except (OSError, ValueError, AttributeError, http.client.HTTPException):
            pass  # it was cut, by this side or the other
        with self._news:
            self.over = True
            self._news.notify_all()

    @property
    def told(self) -> list[str]:
        """What was told so far: URIs, and "resources" or "tools" for the lists."""
        found: list[str] = []
        for message in self.messages[1:]:
            if message.get("method") == "notifications/resources/updated":
                found.append(message["params"]["uri"])
            elif str(message.get("method", "")).endswith("/list_changed"):
                found.append(message["method"].split("/")[1])
        return found

    def until(self, true: Any, seconds: float = 40.0) -> None:
        """Wait until something is true of what was told."""
        with self._news:
            assert self._news.wait_for(true, seconds), self.messages

    def close(self) -> None:
        """Cut it."""
        if not self.over and self._connection.sock is not None:
            self._connection.sock.shutdown(socket.SHUT_RDWR)
        self.until(lambda: self.over)
        self._response.close()
        self._connection.close()


class OldCaller:
    """A client of the legacy era: a session, and a stream of what belongs to no request."""

    def __init__(self, url: str, token: str, revision: str) -> None:
        self.parts = urlsplit(url)
        self.headers = {
            "Authorization": f"Bearer {token}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        self._ids = iter(range(1, 10**9))
        self._opened: list[http.client.HTTPConnection] = []
        self._connection = self._connect()
        info = {"name": "old", "version": "1"}
        self.request("initialize", protocolVersion=revision, capabilities={}, clientInfo=info)
        self.headers["MCP-Protocol-Version"] = revision
        self._post({"jsonrpc": "2.0", "method": "notifications/initialized"}).read()

    def _connect(self) -> http.client.HTTPConnection:
        self._opened.append(http.client.HTTPConnection(self.parts.hostname or "", self.parts.port, timeout=20))
        return self._opened[-1]

    def __enter__(self) -> OldCaller:
        return self

    def __exit__(self, *exc: object) -> None:
        for connection in self._opened:
            if connection.sock is not None:
                connection.sock.shutdown(socket.SHUT_RDWR)
            connection.close()

    def _post(self, message: dict[str, Any]) -> http.client.HTTPResponse:
        self._connection.request("POST", self.parts.path, json.dumps(message), self.headers)
        return self._connection.getresponse()

    def request(self, method: str, **params: Any) -> dict[str, Any]:
        """The result."""
        response = self._post({"jsonrpc": "2.0", "id": next(self._ids), "method": method, "params": params})
        if session := response.headers.get("Mcp-Session-Id"):
            self.headers["Mcp-Session-Id"] = session
        body = response.read()
        if response.headers.get("Content-Type", "").startswith("text/event-stream"):
            messages = [json.loads(one.data) for one in SseDecoder().feed(body) if isinstance(one, Event) and one.data]
            return messages[-1]["result"]
        return json.loads(body)["result"]

    def hear(self) -> queue.SimpleQueue[dict[str, Any]]:
        """What is told from now on about resources."""
        connection = self._connect()
        connection.request("GET", self.parts.path, headers=self.headers | {"Accept": "text/event-stream"})
        response = connection.getresponse()
        assert response.status == 200
        told: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()

        def read() -> None:
            decoder = SseDecoder()
            try:
                while chunk := response.read1(65536):
                    for event in decoder.feed(chunk):
                        if isinstance(event, Event) and event.data and b"resources/updated" in event.data:
                            told.put(json.loads(event.data))
            except (OSError, ValueError, AttributeError, http.client.HTTPException):
                pass  # it was cut

        threading.Thread(target=read, daemon=True).start()
        return told
