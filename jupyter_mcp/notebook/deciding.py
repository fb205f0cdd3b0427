"""The public functions by which a person decides in advance: answers to questions, rules, switches.

They belong to `api`, which offers them; `aio` has the awaitable twins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from jupyter_mcp.notebook.objects.act import get_host

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from jupyter_mcp.host.answers import Scope as AnswerScope
    from jupyter_mcp.host.answers import ScriptedAnswer
    from jupyter_mcp.host.policy import Origin, Scope
    from jupyter_mcp.host.questions import QuestionKind

    SwitchScope = Scope | Literal["conversation"]

__all__ = ["allow", "answer", "ask_first", "deny", "disable", "enable"]


def answer(
    answer: ScriptedAnswer,
    *,
    server: str | None = None,
    match: str | None = None,
    times: int | None = None,
    kind: QuestionKind | None = None,
    scope: AnswerScope = "",
    reason: str | None = None,
) -> None:
    """Answer servers' questions by script from now on.

    Args:
        answer: values for the form, "accept" (its defaults), "decline", "cancel", or a function of the question that
            returns one of these (None: not for me).
        server: only this server's questions.
        match: only questions with this text in the message or the field names.
        times: how often at most.
        kind: only "elicitation", "url", "sampling", "approval", "server" or "inputs" questions. Leave to act
            ("approval") and to start a server ("server"), and values for one ("inputs"), are given only where they are
            named; {"arguments": {…}} approves an act with other arguments.
        scope: how long a yes to an act holds: "once", "session", "notebook", "project" or "user".
        reason: of a no, for whoever began the act.

    Raises:
        UsageError: an answer that can never be one.
    """
    get_host().answers.add(answer, server=server, match=match, times=times, kind=kind, scope=scope, reason=reason)


def allow(
    pattern: str,
    *,
    scope: Scope = "session",
    method: str | None = None,
    where: Mapping[str, Any] | None = None,
    annotations: Mapping[str, bool] | None = None,
    origin: Origin | Sequence[Origin] | None = None,
) -> None:
    """Do not ask before acts like `demo.*`, whoever begins them.

    Args:
        pattern: `server.name` with * and ?, or a whole server.
        scope: how long it holds: "session", "notebook", "project" (a file that others may get) or "user".
        method: only acts of this MCP method ("tools/call", "resources/*", "sampling/createMessage", "connect" …).
        where: what the arguments have to be like: name -> {"glob", "equals", "in", "regex", "lt", "gt", "missing": …}.
        annotations: what the tool says of itself ("destructiveHint": True …), which nobody checks.
        origin: only acts that these begin: "person", "code", "model", "server", "app".

    Raises:
        UsageError: one of these makes no sense.
        ConfigError: the file of the scope cannot be read or written.
    """
    _say("allow", pattern, scope, method, where, annotations, origin)


def deny(
    pattern: str,
    *,
    scope: Scope = "session",
    method: str | None = None,
    where: Mapping[str, Any] | None = None,
    annotations: Mapping[str, bool] | None = None,
    origin: Origin | Sequence[Origin] | None = None,
) -> None:
    """Refuse acts like `demo.delete`, whoever begins them.

    Args:
        pattern: `server.name` with * and ?, or a whole server.
        scope: how long it holds: "session", "notebook", "project" (a file that others may get) or "user".
        method: only acts of this MCP method ("tools/call", "resources/*", "sampling/createMessage", "connect" …).
        where: what the arguments have to be like: name -> {"glob", "equals", "in", "regex", "lt", "gt", "missing": …}.
        annotations: what the tool says of itself ("destructiveHint": True …), which nobody checks.
        origin: only acts that these begin: "person", "code", "model", "server", "app".

    Raises:
        UsageError: one of these makes no sense.
        ConfigError: the file of the scope cannot be read or written.
    """
    _say("deny", pattern, scope, method, where, annotations, origin)


def ask_first(
    pattern: str,
    *,
    scope: Scope = "session",
    method: str | None = None,
    where: Mapping[str, Any] | None = None,
    annotations: Mapping[str, bool] | None = None,
    origin: Origin | Sequence[Origin] | None = None,
) -> None:
    """Ask before acts like `demo.book`, each time, also when you begin them.

    Args:
        pattern: `server.name` with * and ?, or a whole server.
        scope: how long it holds: "session", "notebook", "project" (a file that others may get) or "user".
        method: only acts of this MCP method ("tools/call", "resources/*", "sampling/createMessage", "connect" …).
        where: what the arguments have to be like: name -> {"glob", "equals", "in", "regex", "lt", "gt", "missing": …}.
        annotations: what the tool says of itself ("destructiveHint": True …), which nobody checks.
        origin: only acts that these begin: "person", "code", "model", "server", "app".

    Raises:
        UsageError: one of these makes no sense.
        ConfigError: the file of the scope cannot be read or written.
    """
    _say("ask", pattern, scope, method, where, annotations, origin)


def enable(pattern: str, *, scope: SwitchScope = "session") -> None:
    """Switch a tool, or a whole server, on again. Arguments and errors as `disable`."""
    _switch(pattern, scope, on=True)


def disable(pattern: str, *, scope: SwitchScope = "session") -> None:
    """Switch a tool, or a whole server, off: models, servers and apps neither see nor use it; you still may.

    Args:
        pattern: `server.name` with * and ?, or a whole server.
        scope: for how long: "conversation" (the present one of `ask`, or the next if none has begun), "session",
            "notebook", "project" or "user" (for good).

    Raises:
        UsageError: that is no pattern, or nothing can be kept in that scope here.
        ConfigError: the file of the scope cannot be read or written.
    """
    _switch(pattern, scope, on=False)


def _switch(pattern: str, scope: SwitchScope, *, on: bool) -> None:
    if scope == "conversation":
        from jupyter_mcp.notebook.objects import conversation

        conversation.switch(pattern, on=on)
        return
    policy = get_host().policy
    (policy.enable if on else policy.disable)(pattern, scope)


def _say(
    effect: str, pattern: str, scope: Scope, method: str | None, where: Any, annotations: Any, origin: Any
) -> None:
    from jupyter_mcp.host.policy import make_rule

    get_host().policy.say(
        make_rule(effect, pattern, method=method, where=where, annotations=annotations, origin=origin, scope=scope)
    )
