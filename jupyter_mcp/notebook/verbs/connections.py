"""connect, disconnect, reconnect, login, logout, whoami, servers."""

from __future__ import annotations

import re
from typing import Any

from jupyter_mcp.notebook.lineparse import Grammar, Option, Word, parse
from jupyter_mcp.notebook.objects.note import Note
from jupyter_mcp.notebook.objects.servers import Servers
from jupyter_mcp.notebook.verbs.base import Invocation, Verb

_HEADER = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+)(?:=|:[ \t]+)(.*)\Z", re.DOTALL)

_OAUTH = ("client_id", "client_secret", "private_key", "issuer", "grant")

_CONNECT = Grammar(
    options=(
        Option("from", "FILE", "servers of a configuration file; NAME… are those wanted, all otherwise"),
        Option("env", "K[=V]", "a variable for the server; without a value, your own one of that name", repeat=True),
        Option("inherit-env", None, "pass the whole environment"),
        Option("cwd", "FOLDER", "where the command starts"),
        Option("header", "K=V", "a header for a URL; ${X} is the environment", repeat=True),
        Option("bearer", "TOKEN", "a bearer token for a URL; ${X} is the environment"),
        Option("oauth-client-id", "ID", "who we are to the authorization server of a URL; else we register ourselves"),
        Option("oauth-client-secret", "SECRET", "that goes with it; ${X} is the environment"),
        Option("oauth-private-key", "FILE", "a key that signs for us instead of a secret (PEM, JWK)"),
        Option("oauth-issuer", "URL", "the authorization server that the client id belongs to"),
        Option("oauth-scope", "SCOPE", "what to ask for, instead of what the server says", repeat=True),
        Option(
            "oauth-grant",
            "G",
            "person (a browser) or client-credentials (nobody is there)",
            choices=("person", "client-credentials"),
        ),
        Option("era", "E", "auto, legacy or modern", choices=("auto", "legacy", "modern")),
        Option("transport", "T", "auto, stdio, http or sse", choices=("auto", "stdio", "http", "sse")),
        Option("proxy", "URL", "a proxy for a URL; env is the environment's, none is none"),
        Option("socket", "FILE", "the Unix socket behind a URL"),
        Option("ca", "FILE", "certificates to trust for a URL, instead of the system's"),
        Option("cert", "FILE", "our own certificate for a URL, with its key in it; or CERT,KEY"),
        Option("insecure", None, "do not check the certificate of a URL"),
        Option("max-event", "SIZE", "how big one message of a stream may be (64M)"),
        Option("timeout", "S", "seconds a request may take without progress"),
        Option(
            "trust", None, "believe what its tools say of themselves: a model calls those that only read without asking"
        ),
        Option("sandbox", None, "run the command in a sandbox: it writes only in its roots and has no network"),
        Option("network", None, "with --sandbox: the network stays open"),
        Option("self", None, "this notebook itself, as it is served; nothing follows NAME"),
    ),
    command=True,
)


def connect(call: Invocation) -> Any:
    from jupyter_mcp.notebook import api

    if call.body is not None:
        return _connect_body(call)
    if call.line.flag("self"):
        return _connect_self(call)
    options = _options(call)
    file = call.option("from")
    if file is not None:
        if options:
            raise call.wrong(f"--from takes what the file says; --{next(iter(options))} does not go with it.")
        return api.connect_all(file, only=call.words or None)
    if not call.line.words:
        raise call.wrong("NAME is missing.")
    name, *target = call.line.words
    if len(target) == 1:
        return api.connect(call.text(name), _single(call, target[0]), **options)
    return api.connect(call.text(name), *(call.text(word) for word in target), **options)


def _connect_self(call: Invocation) -> Any:
    from jupyter_mcp.notebook import api

    if len(call.line.words) != 1 or len(call.line.options) > 1:
        raise call.wrong("--self takes one NAME and nothing else.")
    endpoint = api.endpoint()
    if endpoint is None:
        raise call.wrong("This notebook is not served.", hint="Serve it first: %mcp serve")
    return api.connect(call.text(call.line.words[0]), endpoint)


def _single(call: Invocation, word: Word) -> Any:
    """A target of one word: an object, a quoted command line, or a command that is not to be split again."""
    value = call.value(word)
    return [value] if isinstance(value, str) and not any(char.isspace() for char in value) else value


def _options(call: Invocation) -> dict[str, Any]:
    headers = dict(_header(call, text) for text in call.line.options.get("header", []))
    given = {
        "env": [_variable(call, text) for text in call.line.options.get("env", [])] or None,
        "inherit_env": True if call.line.flag("inherit-env") else None,
        "cwd": call.option("cwd"),
        "headers": headers or None,
        "bearer": call.option("bearer"),
        **{f"oauth_{name}": call.option(f"oauth-{name.replace('_', '-')}") for name in _OAUTH},
        "oauth_scopes": call.options("oauth-scope") or None,
        "era": call.option("era"),
        "transport": call.option("transport"),
        "proxy": call.option("proxy"),
        "socket": call.option("socket"),
        "ca": call.option("ca"),
        "cert": call.option("cert"),
        "insecure": True if call.line.flag("insecure") else None,
        "max_event": call.option("max-event"),
        "timeout": call.number("timeout"),
        "trust": True if call.line.flag("trust") else None,
        "sandbox": _sandbox(call),
    }
    return {name: value for name, value in given.items() if value is not None}


def _sandbox(call: Invocation) -> Any:
    if call.line.flag("sandbox"):
        return {"network": call.line.flag("network")}
    if call.line.flag("network"):
        raise call.wrong("--network goes with --sandbox.")
    return None


def _header(call: Invocation, text: str) -> tuple[str, str]:
    """`K=V`, or `K: V` as curl writes it. What is wrong is not quoted: it may hold a secret."""
    match = _HEADER.match(text)
    if match is None:
        raise call.wrong("--header is NAME=VALUE, and a name has no blanks.")
    return match[1], call.names.text(match[2])


def _variable(call: Invocation, text: str) -> str:
    """`K`, or `K=V` where the value may be a notebook object (`--env KEY=$key`)."""
    name, found, value = text.partition("=")
    return f"{name}={call.names.text(value)}" if found else call.names.text(name)


def _connect_body(call: Invocation) -> Any:
    from jupyter_mcp.host.specs import parse_body
    from jupyter_mcp.notebook import api
    from jupyter_mcp.notebook.waiting import waiting

    if call.line.words or call.line.options:
        raise call.wrong("%%mcp connect takes everything from its body.")
    entries = parse_body(call.body or "", lambda name, text: _line_spec(call, name, text))
    return waiting(api.connecting_specs(entries))


def _line_spec(call: Invocation, name: str, text: str) -> Any:
    """A `name: …` line of a body, which takes the options that the magic takes."""
    from jupyter_mcp.host.specs import ServerSpec

    line = parse(f"{name} {text}", _CONNECT, read=call.names.read)
    target = line.words[1].typed if len(line.words) > 1 else None
    if not line.options and (target is None or not target.is_object):
        return ServerSpec.parse(name, text)
    inner = Invocation(call.verb, line, call.names)
    for outside in ("from", "self"):
        if outside in line.options:
            raise call.wrong(f"--{outside} does not go into a body.")
    words = line.words[1:]
    whole = _single(inner, words[0]) if len(words) == 1 else [inner.text(word) for word in words]
    return ServerSpec.parse(name, whole, **_options(inner))


def disconnect(call: Invocation) -> Any:
    from jupyter_mcp.notebook import api

    names = call.need(1, "NAME")
    for name in names:
        api.disconnect(name)
    return Note(f"{', '.join(names)} is disconnected." if len(names) == 1 else f"{', '.join(names)} are disconnected.")


def reconnect(call: Invocation) -> Any:
    from jupyter_mcp.notebook import api

    found = [api.server(name).reconnect() for name in call.need(1, "NAME")]
    return found[0] if len(found) == 1 else Servers([server.name for server in found])


def login(call: Invocation) -> Any:
    from jupyter_mcp.notebook import loggingin

    return loggingin.login(call.need(1, "NAME")[0])


def logout(call: Invocation) -> Any:
    from jupyter_mcp.notebook import loggingin

    name = call.need(1, "NAME")[0]
    done = loggingin.logout(name)
    if not done:
        return Note(f"{name}: there was no login.")
    return Note(f"{name}: logged out and disconnected; nothing is kept. %mcp reconnect {name} logs in anew.")


def whoami(call: Invocation) -> Any:
    from jupyter_mcp.notebook import loggingin

    return loggingin.whoami(call.need(1, "NAME")[0])


def servers(_call: Invocation) -> Any:
    from jupyter_mcp.notebook import api

    return api.servers


def overview(_call: Invocation) -> Any:
    """`%mcp` alone."""
    from jupyter_mcp.notebook import api

    if not api.servers:
        from jupyter_mcp.notebook.verbs.help import start

        return start()
    from jupyter_mcp.notebook.objects.everything import Everything

    return Everything()


VERBS = (
    Verb(
        "connect",
        "connections",
        "connect NAME [options] [TARGET…] | connect --from FILE [NAME…]",
        "Start or reach a server: a command, a URL, an object, or `demo` for the bundled one.",
        connect,
        _CONNECT,
        most=None,
        body="mcpServers JSON, or one `name: command` or `name: URL [options]` a line; they connect in parallel",
        details=(
            ("TARGET", "a command and its arguments, a URL, or $object for a server in memory"),
            ("URL", "https://…, or unix:///path/to.sock#/mcp for a Unix socket"),
            ("order", "options stand before the command (-- ends them), or anywhere after a URL"),
        ),
        examples=(
            "%mcp connect demo",
            "%mcp connect time mcp-server-time --local-timezone Europe/Paris",
            "%mcp connect notes --env NOTES_KEY -- npx -y notes-server",
            "%mcp connect docs https://docs.example.org/mcp --bearer ${DOCS_KEY}",
            "%mcp connect --from .mcp.json",
            "%mcp connect me --self",
        ),
        completes=("new",),
        python=("connect", "connect_all"),
    ),
    Verb(
        "disconnect",
        "connections",
        "disconnect NAME…",
        "Close servers; their processes end.",
        disconnect,
        most=None,
        examples=("%mcp disconnect demo",),
        completes=("server", "*"),
        python=("disconnect",),
    ),
    Verb(
        "reconnect",
        "connections",
        "reconnect NAME…",
        "Close servers and start them again, by the same command or address.",
        reconnect,
        most=None,
        examples=("%mcp reconnect demo",),
        completes=("server", "*"),
        python=("Server.reconnect",),
    ),
    Verb(
        "login",
        "connections",
        "login NAME",
        "Log in to a server with a URL, anew: a card says where, and the cell goes on when you did.",
        login,
        most=1,
        examples=("%mcp login docs",),
        completes=("server",),
        python=("login",),
    ),
    Verb(
        "logout",
        "connections",
        "logout NAME",
        "Give a server's tokens back, and keep nothing of the login.",
        logout,
        most=1,
        examples=("%mcp logout docs",),
        completes=("server",),
        python=("logout",),
    ),
    Verb(
        "whoami",
        "connections",
        "whoami NAME",
        "Who this notebook is to a server, for what, and where that is kept.",
        whoami,
        most=1,
        examples=("%mcp whoami docs",),
        completes=("server",),
        python=("whoami",),
    ),
    Verb(
        "servers",
        "connections",
        "servers",
        "The servers of this notebook.",
        servers,
        examples=("%mcp servers",),
        python=("servers",),
    ),
)
