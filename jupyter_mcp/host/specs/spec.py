"""`ServerSpec`: everything needed to start or reach one server, exactly as the person wrote it.

Placeholders stay placeholders until the moment of connecting (`expanded`), so what is kept, compared and shown never
holds a secret that came from the environment. Starting anything is not done here.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, cast

from jupyter_mcp.errors import ConfigError, UsageError
from jupyter_mcp.host.sandbox.rules import Sandbox
from jupyter_mcp.host.sandbox.rules import read as read_sandbox
from jupyter_mcp.host.specs import describe as words
from jupyter_mcp.host.specs.envfile import parse_env
from jupyter_mcp.host.specs.expand import Surroundings, expand, peek
from jupyter_mcp.host.specs.files import read_text
from jupyter_mcp.host.specs.inputs import Input, whole
from jupyter_mcp.host.specs.login import AS_ANYBODY, LOGIN_KEYS, LoginWay, read_login
from jupyter_mcp.host.specs.way import AS_USUAL, WAY_KEYS, Way, check_url, from_unix_url, nearly_url, read_way

__all__ = ["DEMO_COMMAND", "NAME_RULE", "ServerSpec", "check_name", "split_command", "suggest_name"]

NAME_RULE = re.compile(r"[A-Za-z0-9_-]{1,32}\Z")
DEMO_COMMAND = (sys.executable, "-m", "jupyter_mcp.demo")

Kind = Literal["stdio", "http", "memory"]
Era = Literal["auto", "legacy", "modern"]
Target = str | Sequence[str] | Mapping[str, Any] | object | None

_FOR_URLS = ("headers", "bearer", *WAY_KEYS, *LOGIN_KEYS)
_OPTIONS = ("env", "inherit_env", "cwd", *_FOR_URLS, "era", "transport", "timeout", "roots", "trust", "sandbox")
_FOR_COMMANDS = ("env", "inherit_env", "cwd", "sandbox")


@dataclass(frozen=True, repr=False)
class ServerSpec:
    """One server as written.

    Attributes:
        name: how the notebook calls it, `[A-Za-z0-9_-]{1,32}`.
        kind: "stdio" (a command), "http" (a URL), "memory" (an object with `async serve(transport)`).
        command, args, cwd: the command, its arguments, the folder it starts in.
        env: variables set for it, values unexpanded.  pass_env: names of the person's own variables to pass.
        env_file: a file of more variables, read when it is started; what `env` says goes before it.
        inherit_env: pass the whole environment.
        url, headers: of an HTTP server, unexpanded.
        way: proxy, certificates, socket and limits on the way to it, unexpanded.
        login: who logs in to it, and how, unexpanded.
        server: the object of an in-memory server.
        era: "auto", "legacy" or "modern".
        transport: "auto", "stdio", "http" or "sse".
        timeout: seconds a request may take, or None for the default.
        roots: folders or file URIs this server is told instead of the host's, or None.
        folder: what `${workspaceFolder}` means; None is the current folder.
        source: the configuration file it came from.
        inputs: that file's `inputs` by id.
        alternative: another way to the server before it in its file, connected only when it is named.
        disabled: the file says not to start it.
        sandbox: what its process may do on this machine, or None for everything that the person may.
        trust: the person believes what it says of its own tools (`readOnlyHint` …); no file can say so.
        notes: what was read but has no effect, one sentence each.
        elsewhere: names of secrets that are written out here, but known to come from elsewhere than the notebook.
    """

    name: str
    kind: Kind
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    pass_env: tuple[str, ...] = ()
    env_file: str | None = None
    inherit_env: bool = False
    cwd: str | None = None
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    way: Way = AS_USUAL
    login: LoginWay = AS_ANYBODY
    server: object | None = None
    era: Era = "auto"
    transport: str = "auto"
    timeout: float | None = None
    roots: tuple[str, ...] | None = None
    folder: str | None = None
    source: str | None = None
    inputs: Mapping[str, Input] = field(default_factory=dict[str, Input])
    alternative: bool = False
    disabled: bool = False
    sandbox: Sandbox | None = None
    trust: bool = False
    notes: tuple[str, ...] = ()
    elsewhere: frozenset[str] = field(default=frozenset(), compare=False)

    @staticmethod
    def parse(name: str, target: Target = None, **options: Any) -> ServerSpec:
        """A spec from what a person gives.

        Args:
            name: the server's name.
            target: a command line or URL as one string, a command and its arguments as a sequence, an entry of an
                `mcpServers` file as a mapping, an object with `async serve(transport)`, or nothing for the bundled
                demo server (only under the name `demo`).
            options: env (mapping, or words `K=V` and `K`), inherit_env, cwd, era, transport, timeout (seconds),
                roots; for a URL headers, bearer and what `Way` says: socket, proxy, ca, cert, insecure, max_event,
                and what `LoginWay` says: oauth_client_id, oauth_client_secret, oauth_private_key, oauth_issuer,
                oauth_scopes, oauth_grant.

        Raises:
            UsageError: a name, target or option that makes no sense, saying why.
            ConfigError: a mapping that is no server entry.
        """
        check_name(name)
        given = {key: value for key, value in options.items() if value is not None}
        _check_options(given)
        if isinstance(target, Mapping):
            from jupyter_mcp.host.specs.config import entry_spec

            spec = entry_spec(name, cast("Mapping[str, Any]", target))
        else:
            spec = _from_target(name, target)
        return _with_options(spec, given)

    def expanded(self, environ: Mapping[str, str] | None = None, given: Mapping[str, str] | None = None) -> ServerSpec:
        """The same with every placeholder filled and `pass_env` turned into values. Never keep or show the result.

        Args:
            environ: the environment variables; None is this process's.
            given: the values of `inputs` by id.

        Raises:
            ConfigError: naming the variable that is not set (and where it stands), or an `envFile` that cannot be read.
        """
        titles = {name: one.title or name for name, one in self.inputs.items()}
        around = Surroundings(
            os.environ if environ is None else environ, self.folder or str(Path.cwd()), titles, given or {}
        )
        empty = {name for name, one in self.inputs.items() if not one.required and not around.given.get(name, "-")}

        def fill(text: str, key: str) -> str:
            return expand(text, around, key=key, file=self.source)

        env = self._of_file(fill(self.env_file, "envFile")) if self.env_file else {}
        env |= {name: self._own_variable(name, around.environ) for name in self.pass_env}
        env |= {name: fill(value, f"env.{name}") for name, value in self.env.items() if whole(value) not in empty}
        return replace(
            self,
            command=fill(self.command, "command"),
            args=tuple(fill(arg, f"args[{n}]") for n, arg in enumerate(_without(self.args, empty))),
            env=env,
            pass_env=(),
            cwd=self._folder(fill(self.cwd, "cwd")) if self.cwd else None,
            url=fill(self.url, "url"),
            headers={n: fill(text, f"headers.{n}") for n, text in self.headers.items() if whole(text) not in empty},
            way=self.way.expanded(fill, self._folder),
            login=self.login.expanded(fill, self._folder),
        )

    def folders(self) -> list[Path]:
        """The folders that its command's arguments name (`/data`, `--root=../data`); of an expanded spec."""
        if self.kind != "stdio":
            return []
        start = Path(self.cwd or Path.cwd())
        words = [arg.partition("=")[2] if arg.startswith("-") else arg for arg in self.args]
        found = (_folder_of(start, word) for word in words if word)
        return [folder for folder in found if folder is not None]

    def describe(self) -> str:
        """The command line or URL in one line: names of variables and headers, no values, no secrets."""
        if self.kind == "memory":
            own = getattr(self.server, "described", None)  # an object may say what it is to a person
            return own if isinstance(own, str) else f"{type(self.server).__name__} object in memory"
        if self.kind == "http":
            shown = [
                words.url(self.url),
                words.named("headers", self.headers),
                self.way.describe(),
                self.login.describe(),
            ]
            return " ".join(filter(None, shown))
        names = [*self.env, *(name for name in self.pass_env if name not in self.env)]
        extra = [
            words.named("env", names),
            f"(envFile: {self.env_file})" if self.env_file else "",
            "(whole environment)" if self.inherit_env else "",
            f"({self.sandbox.describe()})" if self.sandbox else "",
        ]
        if (self.command, *self.args) == DEMO_COMMAND:
            return " ".join(filter(None, ["python -m jupyter_mcp.demo", *extra]))
        return " ".join(filter(None, [words.command_line(self.command, self.args), *extra]))

    def _of_file(self, path: str) -> dict[str, str]:
        place = Path(self._folder(path))
        return parse_env(read_text(place), file=str(place))

    def _folder(self, cwd: str) -> str:
        return str(Path(self.folder or Path.cwd()) / Path(cwd).expanduser())

    def _own_variable(self, name: str, environ: Mapping[str, str]) -> str:
        if name not in environ:
            raise ConfigError(
                f"The environment variable {name}, which {self.name} is to get, is not set.",
                key=f"env.{name}",
                file=self.source,
                server=self.name,
                hint=f"Set it (%env {name}=…) or give a value: --env {name}=…",
            )
        return environ[name]

    def __repr__(self) -> str:
        return f"<ServerSpec {self.name}: {self.describe()}>"


def check_name(name: str) -> str:
    """The name itself; raises `UsageError` with a valid suggestion when the rule is broken."""
    if not NAME_RULE.match(name):
        raise UsageError(
            f"{name!r} cannot name a server: names are 1 to 32 letters, digits, - and _ (a dot separates server.tool).",
            hint=f"For example: {suggest_name(name)}",
        )
    return name


def suggest_name(name: str) -> str:
    """A valid name as close as possible to any text."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-")[:32].strip("-") or "server"


def split_command(text: str) -> list[str]:
    """A command line as words, quoted as in the shell of this system. Raises `UsageError` for an open quote."""
    try:
        if os.name == "nt":
            return [re.sub(r'\A"(.*)"\Z|\A\'(.*)\'\Z', r"\1\2", word) for word in shlex.split(text, posix=False)]
        return shlex.split(text)
    except ValueError as reason:
        raise UsageError(f"Cannot read the command {text!r}: {str(reason).lower()}.") from None


def _from_target(name: str, target: Any) -> ServerSpec:
    if target is None or target in ("", [], ()):
        if name != "demo":
            raise UsageError(
                f"{name} needs a command or a URL.",
                usage="connect NAME COMMAND [ARGUMENT…] | connect NAME URL | connect demo",
            )
        return ServerSpec(name, "stdio", command=DEMO_COMMAND[0], args=DEMO_COMMAND[1:])
    if isinstance(target, os.PathLike):
        target = [os.fspath(cast("os.PathLike[str]", target))]
    if isinstance(target, str):
        target = [target.strip()] if _is_one_word(target.strip()) else split_command(target)
    if isinstance(target, Sequence):
        return _from_words(name, [os.fspath(word) for word in cast("Sequence[str]", target)])
    if not hasattr(target, "serve"):
        raise UsageError(
            f"{name}: a {type(target).__name__} is not a server.",
            hint="Give a command, a URL, or an object with `async serve(transport)` such as jupyter_mcp.server.Server.",
        )
    return ServerSpec(name, "memory", server=target, transport="auto")


def _is_one_word(text: str) -> bool:
    """A URL, or a path with spaces that is really there."""
    return _scheme(text) is not None or (" " in text and Path(text).is_file())


def _from_words(name: str, found: list[str]) -> ServerSpec:
    if not found or not found[0]:
        return _from_target(name, None)
    scheme = _scheme(peek(found[0]) if found[0].startswith("${") else found[0])
    if scheme is None:
        command, *args = found
        if (meant := nearly_url(command)) is not None and not Path(command).exists():
            raise UsageError(
                f"{name}: {words.url(command)} is an address, but a URL begins with http:// or https://.",
                hint=f"Perhaps {words.url(meant)}",
            )
        if command.endswith(".py") and Path(command).is_file() and not os.access(command, os.X_OK):
            command, args = sys.executable, found
        return ServerSpec(name, "stdio", command=command, args=tuple(args))
    if scheme == "unix":
        url, socket = from_unix_url(name, found[0])
        return ServerSpec(name, "http", url=url, way=Way(socket=socket))
    if scheme not in ("http", "https"):
        raise UsageError(f"{name}: {scheme}:// is not a way to reach a server; use http:// or https://.")
    if len(found) > 1:
        raise UsageError(f"{name}: nothing may follow the URL, but there is {found[1]!r}.")
    return ServerSpec(name, "http", url=check_url(name, found[0]))


def _scheme(text: str) -> str | None:
    match = re.match(r"([A-Za-z][A-Za-z0-9+.-]*)://", text)
    return match[1].lower() if match else None


def _check_options(given: Mapping[str, Any]) -> None:
    for key in given:
        if key not in _OPTIONS:
            near = get_close_matches(key, _OPTIONS, 1)
            hint = f"Did you mean {near[0]}?" if near else f"There are: {', '.join(_OPTIONS)}."
            raise UsageError(f"connect has no option {key}.", hint=hint)
    if given.get("era", "auto") not in ("auto", "legacy", "modern"):
        raise UsageError(f"era is auto, legacy or modern, not {given['era']!r}.")
    if given.get("transport", "auto") not in ("auto", "stdio", "http", "sse"):
        raise UsageError(f"transport is auto, stdio, http or sse, not {given['transport']!r}.")


def _with_options(spec: ServerSpec, given: dict[str, Any]) -> ServerSpec:
    wrong = [key for key in (_FOR_URLS if spec.kind != "http" else _FOR_COMMANDS) if given.get(key)]
    if spec.kind == "memory":
        wrong += [key for key in _FOR_COMMANDS if given.get(key)]
    if wrong:
        kind = {"stdio": "a command", "http": "a URL", "memory": "a server in memory"}[spec.kind]
        raise UsageError(f"{spec.name} is {kind}: {wrong[0]} does not go with it.")
    if given.get("transport", "auto") not in ("auto", spec.kind) and not (
        given["transport"] == "sse" and spec.kind == "http"
    ):
        raise UsageError(f"{spec.name}: transport {given['transport']} does not go with {spec.describe()}.")
    changes: dict[str, Any] = {k: given[k] for k in ("inherit_env", "era", "transport") if k in given}
    if "trust" in given:
        changes["trust"] = _yes_or_no("trust", given["trust"])
    if "sandbox" in given:
        changes["sandbox"] = read_sandbox(spec.name, given["sandbox"])
    if "env" in given:
        env, passed = _environment(given["env"])
        changes |= {"env": {**spec.env, **env}, "pass_env": (*spec.pass_env, *passed)}
    if "cwd" in given:
        changes["cwd"] = os.fspath(given["cwd"])
    headers = {**spec.headers, **{str(k): str(v) for k, v in given.get("headers", {}).items()}}
    if "bearer" in given:
        headers = {name: value for name, value in headers.items() if name.lower() != "authorization"}
        headers["Authorization"] = f"Bearer {given['bearer']}"
    changes["way"] = read_way(spec.name, given, spec.way)
    changes["login"] = read_login(spec.name, given, spec.login)
    if "timeout" in given:
        changes["timeout"] = _seconds(given["timeout"])
    if "roots" in given:
        roots = given["roots"]
        one = isinstance(roots, str | os.PathLike)
        several = (cast("str", roots),) if one else cast("Iterable[str]", roots)
        changes["roots"] = tuple(os.fspath(place) for place in several)
    return replace(spec, headers=headers, **changes)


def _yes_or_no(key: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise UsageError(f"{key} is True or False, not {value!r:.40}.")
    return value


def _environment(given: Any) -> tuple[dict[str, str], list[str]]:
    """Values to set and names to pass, from a mapping or from words `K=V` and `K`."""
    if isinstance(given, Mapping):
        values = cast("Mapping[str, Any]", given)
        return {str(k): str(v) for k, v in values.items() if v is not None}, [k for k, v in values.items() if v is None]
    if isinstance(given, str):
        given = [given]
    env: dict[str, str] = {}
    passed: list[str] = []
    for word in cast("Iterable[str]", given):
        key, eq, value = word.partition("=")
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.()-]*", key):
            raise UsageError(
                f"{key!r} is not the name of an environment variable.", usage="--env NAME=VALUE | --env NAME"
            )
        if eq:
            env[key] = value
        else:
            passed.append(key)
    return env, passed


def _seconds(value: Any) -> float:
    try:
        seconds = float(value)
    except (TypeError, ValueError):
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise UsageError(f"timeout is a number of seconds above 0, not {value!r}.")
    return seconds


def _without(args: Sequence[str], empty: set[str]) -> list[str]:
    """The arguments without those that are inputs left empty, and without the option that such a value belongs to."""
    kept: list[str] = []
    for arg in args:
        if (name := whole(arg)) is None or name not in empty:
            kept.append(arg)
        elif kept and kept[-1].startswith("-"):
            kept.pop()
    return kept


def _folder_of(start: Path, word: str) -> Path | None:
    """What a word means to a process that starts in `start`, if that is a folder (the shell has no part in it)."""
    try:
        path = start / Path(word).expanduser()
        return path if path.is_dir() else None
    except (OSError, ValueError, RuntimeError):  # too long, a NUL, no such home
        return None
