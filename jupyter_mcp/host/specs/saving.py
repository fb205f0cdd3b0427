"""Servers of this notebook as entries of a configuration file: what is written, and what of it is not. Pure.

Specs are unexpanded, so nothing that came from the environment, from a form or from an `envFile` can be written. What
was typed out and is a secret is named `${NAME}` instead, with a note that says which variable has to hold it.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, urlsplit, urlunsplit

from jupyter_mcp.errors import UsageError
from jupyter_mcp.host.specs import describe
from jupyter_mcp.host.specs.advice import written_out
from jupyter_mcp.host.specs.inputs import needed
from jupyter_mcp.host.specs.spec import DEMO_COMMAND
from jupyter_mcp.protocol import secrets

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jupyter_mcp.host.specs.inputs import Input
    from jupyter_mcp.host.specs.login import LoginWay
    from jupyter_mcp.host.specs.spec import ServerSpec

__all__ = ["KNOWN_KEYS", "Written", "merged", "written"]

KNOWN_KEYS = (
    *("type", "command", "args", "env", "envFile", "cwd", "url", "serverUrl", "headers", "transport"),
    *("transportType", "environment", "socket", "proxy", "ca", "cert", "insecure", "max_event", "timeout", "sandbox"),
    *("protocolEra", "sandboxEnabled", "oauth"),
)
"""Keys of an entry that a spec speaks of; all others are kept as they are."""

_FLAG = re.compile(r"-{1,2}([A-Za-z][\w.-]*)(?:(=)(.*))?\Z", re.DOTALL)
_HEADER = re.compile(r"([A-Za-z][\w-]*):\s*(\S.*)\Z", re.DOTALL)
_SCHEME = re.compile(r"((?:bearer|basic|token)\s+)(\S.*)\Z", re.IGNORECASE | re.DOTALL)


@dataclass
class Written:
    """An entry as it is to be written.

    Attributes:
        name: of the server.
        entry: as JSON has it.
        inputs: the inputs that it refers to, as VS Code writes them.
        secrets: placeholder variables that stand for what was typed out, in order.
        notes: what no entry can say, a sentence each.
    """

    name: str
    entry: dict[str, Any]
    inputs: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    secrets: list[str] = field(default_factory=list[str])
    notes: list[str] = field(default_factory=list[str])

    def variable(self, label: str) -> str:
        """A placeholder for a secret: the variable is called after the server and what it is."""
        name = re.sub(r"[^A-Za-z0-9]+", "_", f"{self.name}_{label}").strip("_").upper()
        name = f"_{name}" if name[:1].isdigit() else name
        if name not in self.secrets:
            self.secrets.append(name)
        return f"${{{name}}}"


def written(spec: ServerSpec) -> Written:
    """How a server is written down.

    Raises:
        UsageError: a server in memory, which no file can name.
    """
    if spec.kind == "memory":
        raise UsageError(f"{spec.name} is an object of this kernel, which no file can name.", server=spec.name)
    result = Written(spec.name, {})
    result.entry = _http(spec, result) if spec.kind == "http" else _command(spec, result)
    if spec.timeout is not None:
        result.entry["timeout"] = spec.timeout
    if spec.era != "auto":
        result.entry["protocolEra"] = spec.era
    lost = {"inherit_env": spec.inherit_env, "roots": spec.roots is not None, "trust": spec.trust}
    result.notes = [f"{option} of {spec.name} is not written: no file can say so" for option, on in lost.items() if on]
    result.inputs = [_input(spec.inputs[name]) for name in needed(spec) if name in spec.inputs]
    return result


def merged(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """An entry written over another: its keys in their order, the unknown ones untouched."""
    kept = {key: new.get(key, value) for key, value in old.items() if key in new or key not in KNOWN_KEYS}
    return {**kept, **{key: value for key, value in new.items() if key not in kept}}


# --- kinds -----------------------------------------------------------------------------------------------------------


def _command(spec: ServerSpec, result: Written) -> dict[str, Any]:
    command, *args = (spec.command, *spec.args)
    if (command, *args) == DEMO_COMMAND:
        command = "python"  # where this one lies is nobody else's business
    entry: dict[str, Any] = {"command": command, "args": _arguments(args, result)}
    literal = written_out(spec)
    env = {name: f"${{{name}}}" for name in spec.pass_env}
    for name, value in spec.env.items():
        hidden = name in literal or _looks(value)
        if hidden and name not in result.secrets:
            result.secrets.append(name)
        env[name] = f"${{{name}}}" if hidden else value
    if env:
        entry["env"] = env
    if spec.env_file:
        entry["envFile"] = spec.env_file
    if spec.cwd:
        entry["cwd"] = spec.cwd
    if spec.sandbox is not None:
        entry["sandbox"] = {key: value for key, value in asdict(spec.sandbox).items() if value} or True
    return entry


def _arguments(args: list[str], result: Written) -> list[str]:
    shown: list[str] = []
    secret_next = ""
    for arg in args:
        flag = _FLAG.match(arg)
        header = _HEADER.match(arg)
        if secret_next and not arg.startswith("-"):
            shown.append(_hidden(arg, secret_next, result))
        elif flag and flag[2] and secrets.looks_secret(flag[1]):
            shown.append(arg[: flag.start(3)] + _hidden(flag[3], flag[1], result))
        elif header and "://" not in arg and secrets.looks_secret(header[1]):
            shown.append(arg[: header.start(2)] + _hidden(header[2], header[1], result))
        elif "://" in arg:
            shown.append(_address(arg, result))
        else:
            shown.append(_hidden(arg, "secret", result) if _looks(arg) else arg)
        secret_next = flag[1] if flag and not flag[2] and secrets.looks_secret(flag[1]) else ""
    return shown


def _http(spec: ServerSpec, result: Written) -> dict[str, Any]:
    kind = "sse" if spec.transport == "sse" else "http"
    entry: dict[str, Any] = {"type": kind, "url": _address(spec.url, result)}
    literal = written_out(spec)
    headers = {
        name: _hidden(value, name, result) if name in literal or _looks(value) else value
        for name, value in spec.headers.items()
    }
    if headers:
        entry["headers"] = headers
    way = spec.way
    more = {"socket": way.socket, "ca": way.ca, "insecure": way.insecure or None, "max_event": way.max_event}
    entry |= {key: value for key, value in more.items() if value is not None}
    if way.cert:
        entry["cert"] = list(way.cert) if isinstance(way.cert, tuple) else way.cert
    if way.proxy != "env":
        entry["proxy"] = _address(way.proxy, result) if way.proxy else "none"
    return entry | _login(spec.login, result)


def _login(login: LoginWay, result: Written) -> dict[str, Any]:
    secret = login.client_secret
    said = {
        "clientId": login.client_id,
        "clientSecret": secret if "${" in secret or not secret else _hidden(secret, "clientSecret", result),
        "privateKey": login.private_key,
        "issuer": login.issuer,
        "scopes": list(login.scopes or ()),
        "grant": login.grant if login.grant != "person" else "",
    }
    found = {key: value for key, value in said.items() if value}
    return {"oauth": found} if found else {}


# --- secrets ---------------------------------------------------------------------------------------------------------


def _hidden(value: str, label: str, result: Written) -> str:
    """The value with a variable for what is secret in it; one that is placeholders already stays."""
    scheme = _SCHEME.match(value)
    head, rest = (scheme[1], scheme[2]) if scheme else ("", value)
    if not re.sub(r"\$\{[^{}]*\}", "", rest).strip():
        return value
    return head + result.variable(label)


def _looks(value: str) -> bool:
    """Whether a text has a secret's shape, whatever its name."""
    return "${" not in value and secrets.redact(value) != value


def _address(url: str, result: Written) -> str:
    """A URL with variables for its password and for values of its query that are named like secrets."""
    if describe.url(url) == url:
        return url
    parts = urlsplit(url)
    netloc, query = parts.netloc, parts.query
    user, at, site = netloc.rpartition("@")
    if at:
        name, colon, password = user.partition(":")
        password = _hidden(password, "password", result) if password else ""
        netloc = f"{name}{colon}{password}@{site}" if colon else f"{_hidden(name, 'user', result)}@{site}"
    pairs = parse_qsl(query, keep_blank_values=True)
    if any(secrets.looks_secret(name) and value for name, value in pairs):
        filled = [(n, _hidden(v, n, result) if v and secrets.looks_secret(n) else v) for n, v in pairs]
        query = "&".join(f"{quote(n)}={quote(v, safe='${}:')}" for n, v in filled)
    return urlunsplit((parts.scheme, netloc, parts.path, query, parts.fragment))


def _input(one: Input) -> dict[str, Any]:
    shown: dict[str, Any] = {"id": one.id, "type": "pickString" if one.choices else "promptString"}
    shown["description"] = one.title or one.id
    if one.choices:
        shown["options"] = list(one.choices)
    if one.default is not None and not one.secret:
        shown["default"] = one.default
    if one.secret:
        shown["password"] = True
    return shown
