"""A server that says its secrets back wherever it can say anything: on stderr, in lists, results, errors, questions.

Run as a program over stdio (2025-11-25): `tattler.py ARGUMENT`, with SPOKEN_TOKEN and LINES_SECRET in its environment.
Standard library only.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

TOKEN = os.environ.get("SPOKEN_TOKEN", "")
LINES = os.environ.get("LINES_SECRET", "")
ALL = " ".join([TOKEN, *sys.argv[1:]])
LEGACY = "2025-11-25"
TOOLS = ("text", "long", "fail", "fail_late", "error", "data", "link", "log", "ask", "url", "sample", "die")

_writing = threading.Lock()
_waiting: dict[int, tuple[threading.Event, list[Any]]] = {}


def send(message: dict[str, Any]) -> None:
    with _writing:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def ask(method: str, params: dict[str, Any]) -> Any:
    """A question of ours, and what came back."""
    number = 1000 + len(_waiting)
    _waiting[number] = (threading.Event(), [])
    send({"id": number, "method": method, "params": params})
    came, found = _waiting[number]
    came.wait(20)
    return found


def initialize(_: Any) -> Any:
    say(f"started with {ALL}")
    say(LINES)
    capabilities: dict[str, Any] = {"tools": {}, "resources": {}, "prompts": {}, "logging": {}, "completions": {}}
    info = {"name": f"tattler {ALL}", "title": f"title {ALL}", "version": TOKEN}
    instructions = f"instructions {ALL}"
    return {"protocolVersion": LEGACY, "capabilities": capabilities, "serverInfo": info, "instructions": instructions}


def tools(_: Any) -> Any:
    schema = {"type": "object", "properties": {"x": {"type": "string", "description": f"argument {ALL}"}}}
    described = {"title": f"tool {ALL}", "description": f"does {ALL}", "inputSchema": schema}
    return {"tools": [{"name": name, **described} for name in TOOLS]}


def resources(_: Any) -> Any:
    return {"resources": [{"uri": "x://a", "name": f"name {ALL}", "title": f"title {ALL}", "description": ALL}]}


def prompts(_: Any) -> Any:
    return {"prompts": [{"name": "p", "title": ALL, "description": ALL, "arguments": [{"name": "a"}]}]}


def call(params: Any) -> Any:
    match params["name"]:
        case "text":
            return text(f"here {ALL}")
        case "long":
            return text("y" * 190 + TOKEN + "z" * 70_000)  # a message of which the journal keeps the beginning
        case "fail":
            return {**text(f"failed {ALL}"), "isError": True}
        case "fail_late":
            return {**text("y" * 580 + TOKEN), "isError": True}  # an error is cut at 600 characters
        case "error":
            raise RuntimeError(f"error {ALL}")
        case "data":
            return {"content": [], "structuredContent": {TOKEN: ALL, "rows": [{"a": TOKEN}]}}
        case "link":
            linked = {"type": "resource_link", "uri": f"x://{TOKEN}", "name": TOKEN}
            return {"content": [linked, {"type": "resource", "resource": {"uri": f"x://{TOKEN}", "text": ALL}}]}
        case "log":
            log(params)
        case "ask":
            field = {"type": "string", "title": f"field {ALL}", "description": ALL}
            ask("elicitation/create", {"message": f"give {ALL}", "requestedSchema": schema_of(f=field)})
        case "url":
            page = {"mode": "url", "message": f"open {ALL}", "url": f"https://example.org/?a={TOKEN}"}
            ask("elicitation/create", {**page, "elicitationId": "1"})
        case "sample":
            said = {"role": "user", "content": {"type": "text", "text": f"user {ALL}"}}
            params = {"systemPrompt": f"system {ALL}", "messages": [said], "maxTokens": 50}
            ask("sampling/createMessage", params)
        case _:
            say(f"dying with {ALL}")
            os._exit(3)
    return text("done")


def text(said: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": said}]}


def schema_of(**fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": fields}


def log(params: Any) -> None:
    for level in ("info", "error"):
        data = {"level": level, "logger": TOKEN, "data": {"k": ALL, TOKEN: 1}}
        send({"method": "notifications/message", "params": data})
    meta: dict[str, Any] = params.get("_meta") or {}
    if "progressToken" in meta:
        progress = {"progressToken": meta["progressToken"], "progress": 1, "total": 2, "message": f"half of {ALL}"}
        send({"method": "notifications/progress", "params": progress})
    send({"method": f"notifications/{TOKEN}"})
    with _writing:
        sys.stdout.write(f"no message {ALL}\n")


def templates(_: Any) -> Any:
    return {"resourceTemplates": [{"uriTemplate": "y://{a}", "name": f"name {ALL}", "description": ALL}]}


def read(params: Any) -> Any:
    return {"contents": [{"uri": params["uri"], "text": ALL}]}


def prompt(_: Any) -> Any:
    return {"description": ALL, "messages": [{"role": "user", "content": {"type": "text", "text": ALL}}]}


def complete(_: Any) -> Any:
    return {"completion": {"values": [ALL]}}


def nothing(_: Any) -> Any:
    return {}


DOES: dict[str, Callable[[Any], Any]] = {
    "initialize": initialize,
    "tools/list": tools,
    "tools/call": call,
    "resources/list": resources,
    "resources/templates/list": templates,
    "resources/read": read,
    "prompts/list": prompts,
    "prompts/get": prompt,
    "completion/complete": complete,
    "logging/setLevel": nothing,
}


def work(message: Any) -> None:
    try:
        send({"id": message["id"], "result": DOES[message["method"]](message.get("params") or {})})
    except Exception as error:
        send({"id": message["id"], "error": {"code": -32000, "message": str(error), "data": {TOKEN: ALL}}})


def main() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        if "method" in message and "id" in message:
            threading.Thread(target=work, args=(message,), daemon=True).start()
        elif message.get("id") in _waiting:
            came, found = _waiting[message["id"]]
            found.append(message)
            came.set()


if __name__ == "__main__":
    main()
