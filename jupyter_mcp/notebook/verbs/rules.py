"""allow, deny, ask_first, enable, disable, policy: rules about acts, and why one runs or does not."""

from __future__ import annotations

from typing import Any

from jupyter_mcp.host import arguments
from jupyter_mcp.notebook.lineparse import Grammar, Option
from jupyter_mcp.notebook.objects.note import Note
from jupyter_mcp.notebook.verbs.base import Invocation, Verb

_EFFECTS = ("allow", "deny", "ask_first")
_SWITCHES = ("enable", "disable")
_KEPT = ("session", "notebook", "project", "user")
_BEGINNERS = ("person", "code", "model", "server", "app")

_SCOPE = Option("scope", "SCOPE", "where it holds; this session unless you say otherwise", choices=_KEPT)
_SWITCH_SCOPE = Option(
    "scope", "SCOPE", "where it holds; this session unless you say otherwise", choices=("conversation", *_KEPT)
)
_CONVERSATION = Option("conversation", None, "only for the present conversation of ask; --new ends it")
_RULE = (
    _SCOPE,
    Option("method", "METHOD", "only acts of this method: tools/call, resources/*, sampling/createMessage, connect …"),
    Option(
        "where",
        "CONDITION",
        "only with such arguments: path=/data/*, 'n>5', name~REGEX, !force (not given), or JSON",
        repeat=True,
    ),
    Option("origin", "WHO", "only what these begin", repeat=True, choices=_BEGINNERS),
    Option("annotation", "HINT", "only tools that say so of themselves: destructiveHint=true …", repeat=True),
)


def allow(call: Invocation) -> Any:
    return _rule(call, "allow")


def deny(call: Invocation) -> Any:
    return _rule(call, "deny")


def ask_first(call: Invocation) -> Any:
    return _rule(call, "ask_first")


def _rule(call: Invocation, effect: str) -> Any:
    from jupyter_mcp.host.policy import make_rule
    from jupyter_mcp.host.policy.conditions import typed, typed_hint
    from jupyter_mcp.notebook import api

    patterns = call.need(1, "PATTERN")
    options: dict[str, Any] = {"scope": call.option("scope") or "session", "method": call.option("method")}
    options["where"] = typed(call.options("where")) or None
    options["annotations"] = dict(map(typed_hint, call.options("annotation"))) or None
    options["origin"] = call.options("origin") or None
    rules = [make_rule(effect, pattern, **options) for pattern in patterns]  # all are read before one is applied
    for pattern in patterns:
        getattr(api, effect)(pattern, **options)
    return Note(_with_remarks(f"{', '.join(map(str, rules))}{_where(options['scope'])}", patterns))


def enable(call: Invocation) -> Any:
    return _switch(call, "enable")


def disable(call: Invocation) -> Any:
    return _switch(call, "disable")


def _switch(call: Invocation, verb: str) -> Any:
    from jupyter_mcp.notebook import api

    patterns = call.need(1, "PATTERN")
    scope = call.option("scope") or ("conversation" if call.line.flag("conversation") else "session")
    if call.line.flag("conversation") and scope != "conversation":
        raise call.wrong(f"--conversation and --scope {scope} exclude each other.")
    for pattern in patterns:
        getattr(api, verb)(pattern, scope=scope)
    return Note(_with_remarks(f"{verb} {', '.join(patterns)}{_where(scope)}", patterns))


def _with_remarks(said: str, patterns: list[str]) -> str:
    """What was said, and of what fits nothing that is there: that it does, for it may be a slip."""
    from jupyter_mcp.host.policy.aims import aims_at_nothing
    from jupyter_mcp.notebook.objects.act import get_host
    from jupyter_mcp.notebook.objects.views import names_offered

    offered = {entry.name: names_offered(entry) for entry in list(get_host().servers.values())}
    remarks = dict.fromkeys(filter(None, (aims_at_nothing(pattern, offered) for pattern in patterns)))
    return f"{said}. {' '.join(remarks)}" if remarks else said


def _where(scope: str) -> str:
    return "" if scope == "session" else f" ({'your own rules' if scope == 'user' else f'this {scope}'})"


def policy(call: Invocation) -> Any:
    from jupyter_mcp.notebook import api

    words = call.words
    if call.body is not None:
        return _policy_body(call, words)
    verb, rest = (words[0], words[1:]) if words else ("", [])
    _only(call, verb)
    if not verb:
        return api.policy
    if verb == "why" and len(rest) == 1:
        given = arguments.coerce({}, call.pairs())
        origin: Any = call.option("origin") or "model"
        return api.policy.why(rest[0], given, origin=origin, method=call.option("method"))
    if verb == "why":
        raise call.wrong("why tells about one act: why SERVER.TOOL [key=value …].")
    if verb == "accept" and len(rest) <= 1:
        return api.policy.accept(rest[0] if rest else None)
    if verb == "reset" and len(rest) <= 1:
        return _reset(call, rest[0] if rest else None)
    raise call.wrong(
        f"policy takes nothing, `why SERVER.TOOL`, `accept [CONTENT]` or `reset [PATTERN]`, not {' '.join(words)!r}."
    )


def _only(call: Invocation, verb: str) -> None:
    """An option or argument that this word does not take is a mistake, not a wish to be ignored."""
    takes = {"why": ("origin", "method"), "reset": ("scope",)}.get(verb, ())
    for name in call.line.options:
        if name not in takes:
            raise call.wrong(f"--{name} has no meaning with `policy{f' {verb}' if verb else ''}`.")
    if call.line.pairs and verb != "why":
        raise call.wrong("key=value goes with `policy why SERVER.TOOL`.")


def _reset(call: Invocation, pattern: str | None) -> Note:
    from jupyter_mcp.notebook import api

    scope: Any = call.option("scope") or "session"
    count = api.policy.reset(pattern, scope=scope)
    what = f"for {pattern}" if pattern else "any more"
    if pattern and not count:
        raise call.wrong(f"Nothing was said about {pattern}{_where(scope)}.", hint="%mcp policy shows what there is.")
    return Note(f"No rules {what}{_where(scope)}.")


def _policy_body(call: Invocation, words: list[str]) -> Any:
    """`allow PATTERN` lines, or a policy file's text; all of it is read before the first rule is applied."""
    from jupyter_mcp.notebook import api

    if words or call.line.options:
        raise call.wrong("%%mcp policy takes its rules from the body.")
    body = call.body or ""
    if any(line.lstrip().startswith("[[") for line in body.splitlines()):
        return _file_body(call, body)
    said: list[tuple[str, str]] = []
    for number, text in enumerate(body.splitlines(), 1):
        parts = text.split("#")[0].replace(":", " ", 1).split()
        if not parts:
            continue
        if len(parts) < 2 or parts[0] not in (*_EFFECTS, *_SWITCHES):
            raise call.wrong(
                f"line {number} of the body is not `allow|deny|ask_first|enable|disable PATTERN`: {text.strip()}"
            )
        said += [(parts[0], pattern) for pattern in parts[1:]]
    for verb, pattern in said:
        getattr(api, verb)(pattern)
    return api.policy


def _file_body(call: Invocation, body: str) -> Any:
    from jupyter_mcp.host.policy import sheet as sheets
    from jupyter_mcp.notebook import api
    from jupyter_mcp.notebook.objects.act import get_host

    sheet = sheets.parse(body, "session", "the body")
    if sheet.problems:
        raise call.wrong(sheet.problems[0])
    host = get_host()
    for rule in sheet.rules:
        host.policy.say(sheets.here(rule))
    for switch in sheet.switches:
        (api.enable if switch.on else api.disable)(switch.pattern)
    return api.policy


def _about(name: str, summary: str, example: str) -> Verb:
    return Verb(
        name,
        "decisions",
        f"{name} PATTERN… [--scope S] [--where CONDITION] [--origin WHO] [--method M] [--annotation HINT]",
        summary,
        {"allow": allow, "deny": deny, "ask_first": ask_first}[name],
        Grammar(options=_RULE),
        most=None,
        examples=(f"%mcp {name} demo.*", example),
        completes=("pattern", "*"),
        python=(name,),
    )


def _onoff(name: str, summary: str) -> Verb:
    return Verb(
        name,
        "decisions",
        f"{name} PATTERN… [--scope S] [--conversation]",
        summary,
        {"enable": enable, "disable": disable}[name],
        Grammar(options=(_SWITCH_SCOPE, _CONVERSATION)),
        most=None,
        examples=(
            f"%mcp {name} demo.add_note",
            f"%mcp {name} demo.* --conversation",
            f"%mcp {name} demo --scope notebook",
        ),
        completes=("pattern", "*"),
        python=(name,),
    )


VERBS = (
    _about(
        "allow",
        "Do not ask before these acts, whoever begins them.",
        "%mcp allow files.read_file --where path=/data/* --scope project",
    ),
    _about(
        "deny",
        "Refuse these acts, whoever begins them.",
        "%mcp deny *.* --annotation destructiveHint=true --origin model",
    ),
    _about(
        "ask_first",
        "Ask before each of these acts, also when you begin them.",
        "%mcp ask_first shop.order --where 'price>100'",
    ),
    _onoff("enable", "Switch tools or servers on again."),
    _onoff("disable", "Switch tools or servers off: models, servers and apps neither see nor use them; you still may."),
    Verb(
        "policy",
        "decisions",
        "policy [why SERVER.TOOL [key=value …] | accept [CONTENT] | reset [PATTERN]] "
        "[--origin WHO] [--method M] [--scope S]",
        "The rules; which one decides about an act and why; stand behind a project's rules; take rules back.",
        policy,
        Grammar(
            options=(
                Option("origin", "WHO", "why: who begins the act (a model)", choices=_BEGINNERS),
                Option("method", "METHOD", "why: the act's method, where its name does not tell"),
                Option("scope", "SCOPE", "reset: of which scope (this session)", choices=("conversation", *_KEPT)),
            ),
            pairs=True,
        ),
        most=2,
        body="one `allow|deny|ask_first|enable|disable PATTERN` a line, or what a policy.toml holds",
        details=(
            ("accept", "shows what of a project's file, or of this notebook's metadata, waits for your yes"),
            ("accept CONTENT", "accepts exactly that content, by the first letters of its digest"),
        ),
        examples=(
            "%mcp policy",
            "%mcp policy why demo.book seats=3",
            "%mcp policy reset demo.book",
            "%mcp policy reset --scope notebook",
        ),
        completes=("policy", "tool"),
        python=("policy",),
    ),
)
