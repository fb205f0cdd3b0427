"""What every driver does: play a list of steps through somebody else's client and print what came of each as JSON.

A driver runs in the environment of the client it drives, where this project is not installed; so this file and its
neighbours import nothing of it. A driver is called as `python DRIVER.py < plan.json`, with

    {"way": "stdio", "command": [program, argument, …], "mode": "auto" | "legacy", "steps": [step, …]}
    {"way": "http" | "sse", "url": …, "headers": {…}, "mode": …, "steps": …}

and prints {"revision": …, "server": …, "steps": [outcome, …]}, outcomes in the order of the steps. A plan without
steps, on a line of its own, begins a conversation: each further line is one step, and its outcome is printed at once.
Instead of `way`, FastMCP takes {"config": the text of an `.mcp.json`}. A step is one of

    {"do": "tools" | "resources" | "templates" | "prompts"}            -> {"items": [names or URIs]}
    {"do": "schema", "name": of a tool}                                -> {"result": its inputSchema}
    {"do": "listen"}       to changes of the list of tools, from now on     -> {"listens": whether it can}
    {"do": "changed"}      wait for the next such change                    -> {"changed": true}
    {"do": "call", "name": …, "arguments": {…}, "answer": …}           -> {"result": …, "asked": […], "progress": […]}
    {"do": "read", "uri": …}  {"do": "prompt", "name": …, "arguments": {…}}   -> {"result": …}
    {"do": "complete", "ref": {…}, "argument": name, "value": prefix}  -> {"result": …}

`answer` is what the driver says when the server asks during that step: {"elicit": {…} | "decline" | "cancel"} and/or
{"sample": text}. An outcome of {"error": …, "code": …} means that the client raised.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any, Protocol

STEP_LIMIT = 60.0  # seconds for one step


class Session(Protocol):
    """A client of somebody else's, reduced to what the steps need; results are plain JSON in the wire's own names."""

    async def names(self, kind: str) -> list[str]: ...

    async def call(self, name: str, arguments: dict[str, Any], on_progress: Any) -> Any: ...

    async def read(self, uri: str) -> Any: ...

    async def prompt(self, name: str, arguments: dict[str, str]) -> Any: ...

    async def complete(self, ref: dict[str, str], argument: str, value: str) -> Any: ...

    async def schema(self, name: str) -> Any: ...

    async def listen(self) -> bool: ...


class Heard:
    """Counts what the server told of its list of tools; a conversation waits for it."""

    def __init__(self) -> None:
        self._told = asyncio.Semaphore(0)

    async def message(self, message: Any) -> None:
        """A message handler of the official SDKs and FastMCP; requests and errors come here too."""
        if type(getattr(message, "root", message)).__name__ == "ToolListChangedNotification":
            self.told()

    def told(self) -> None:
        self._told.release()

    async def next(self) -> None:
        await self._told.acquire()


class Person:
    """Answers what the server asks during the running step, and keeps what was asked."""

    def __init__(self) -> None:
        self.answer: dict[str, Any] = {}
        self.asked: list[dict[str, Any]] = []
        self.heard = Heard()

    def begin(self, answer: dict[str, Any]) -> None:
        self.answer, self.asked = answer, []

    def elicit(self, message: str, schema: Any) -> dict[str, Any]:
        """The bare result of elicitation/create."""
        self.asked.append({"method": "elicitation/create", "message": message, "schema": schema})
        answer = self.answer.get("elicit", "cancel")
        return {"action": answer} if isinstance(answer, str) else {"action": "accept", "content": answer}

    def sample(self, messages: Any) -> str:
        """The text that a model would have written."""
        self.asked.append({"method": "sampling/createMessage", "messages": messages})
        return self.answer.get("sample", "nothing")

    def roots(self) -> list[dict[str, str]]:
        self.asked.append({"method": "roots/list"})
        return [{"uri": "file:///project", "name": "project"}]


def dump(model: Any) -> Any:
    """A pydantic model of the peer as the JSON that was on the wire."""
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


async def step(session: Session, person: Person, wanted: dict[str, Any]) -> dict[str, Any]:
    person.begin(wanted.get("answer", {}))
    match wanted["do"]:
        case "tools" | "resources" | "templates" | "prompts" as kind:
            return {"items": await session.names(kind)}
        case "call":
            progress: list[list[Any]] = []

            async def on_progress(done: float, total: float | None, message: str | None) -> None:
                progress.append([done, total, message])

            result = await session.call(wanted["name"], wanted.get("arguments", {}), on_progress)
            return {"result": result, "asked": person.asked, "progress": progress}
        case "read":
            return {"result": await session.read(wanted["uri"])}
        case "prompt":
            return {"result": await session.prompt(wanted["name"], wanted.get("arguments", {}))}
        case "complete":
            return {"result": await session.complete(wanted["ref"], wanted["argument"], wanted["value"])}
        case "schema":
            return {"result": await session.schema(wanted["name"])}
        case "listen":
            return {"listens": await session.listen()}
        case "changed":
            await person.heard.next()
            return {"changed": True}
        case other:
            raise ValueError(f"no such step: {other}")


def leaf(error: BaseException) -> BaseException:
    """The exception inside the groups that task groups wrap around it."""
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    return error


async def outcome(session: Session, person: Person, wanted: dict[str, Any]) -> dict[str, Any]:
    """What came of a step, also when the client raised."""
    try:
        return await asyncio.wait_for(step(session, person, wanted), STEP_LIMIT)
    except Exception as raised:
        error = leaf(raised)
        code = getattr(getattr(error, "error", error), "code", None)
        return {"error": f"{type(error).__name__}: {error}", "code": code, "asked": person.asked}


async def play(session: Session, person: Person, steps: list[dict[str, Any]] | None) -> list[dict[str, Any]]:
    """All outcomes; of a conversation (None) they have been printed."""
    if steps is not None:
        return [await outcome(session, person, wanted) for wanted in steps]
    print("{}", flush=True)  # connected
    while line := await asyncio.to_thread(sys.stdin.readline):
        print(json.dumps(await outcome(session, person, json.loads(line))), flush=True)
    return []


def main(drive: Any) -> None:
    """Read the plan, let `drive(plan, person)` play it, print the outcome, or why it cannot connect."""
    plan = {"steps": None, "mode": "auto", "headers": {}} | json.loads(sys.stdin.readline())
    try:
        played = asyncio.run(drive(plan, Person()))
    except Exception as raised:
        if plan["steps"] is not None:
            raise
        error = leaf(raised)
        played = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(played), flush=True)
