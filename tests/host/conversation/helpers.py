"""Servers and models for conversations: real servers in memory, a model that says what it was told to say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.client.options import ConnectOptions
from jupyter_mcp.host.conversation import Conversation
from jupyter_mcp.host.host import Host
from jupyter_mcp.host.specs import ServerSpec
from jupyter_mcp.models.scripted import ScriptedModel
from jupyter_mcp.server import Server

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jupyter_mcp.host.conversation.events import ConversationEvent
    from jupyter_mcp.host.questions import Answer, Question


def use(name: str, /, id: str = "", **arguments: Any) -> dict[str, Any]:
    """A call that the model wants."""
    return {"type": "tool_use", "id": id or f"id-{name}", "name": name, "input": arguments}


def demo() -> Server:
    """`add`, `fail`, `echo`, a resource and a prompt."""
    server = Server("demo", instructions="Add before you guess.")

    @server.tool
    def add(a: int, b: int = 2) -> int:
        """Add two numbers."""
        return a + b

    @server.tool
    def fail() -> str:
        raise ValueError("table is locked")

    @server.tool
    def echo(text: str) -> str:
        """Say it again."""
        return text

    @server.resource("notes://today", mime_type="text/plain", description="What happens today")
    def today() -> str:
        return "Ada meets Charles at noon."

    @server.prompt
    def review(language: str, style: str = "short") -> str:
        """Review code."""
        return f"Review this {language} ({style})."

    return server


class Person:
    """Answers questions one after the other.

    Attributes:
        asked: the questions.
    """

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.asked: list[Question] = []

    async def ask(self, question: Question) -> Answer:
        self.asked.append(question)
        return self.answers.pop(0)


async def connected(servers: Mapping[str, Server], *, ui: Any = None) -> Host:
    """A host with these servers; everything that a model begins is allowed unless there is a person."""
    host = Host(ui, options=ConnectOptions(timeout=10), environ={})
    for name, server in servers.items():
        await host.connect(ServerSpec.parse(name, server))
        if ui is None:
            host.policy.allow(f"{name}.*")
    return host


class Watch:
    """Keeps the events of a conversation."""

    def __init__(self) -> None:
        self.events: list[ConversationEvent] = []

    def __call__(self, event: ConversationEvent) -> None:
        self.events.append(event)

    def kinds(self) -> list[str]:
        """The kinds of the events, text deltas that follow each other as one."""
        found: list[str] = []
        for event in self.events:
            kind = type(event).__name__
            if kind != "CallTold" and found[-1:] != [kind]:
                found.append(kind)
        return found


def scripted(*replies: Any) -> ScriptedModel:
    """A model with these replies."""
    return ScriptedModel(list(replies))


def talk(host: Host, model: Any, **options: Any) -> Conversation:
    """A conversation of this host with a model, or with a function as one."""
    return Conversation(host, ScriptedModel(model) if callable(model) else model, **options)
