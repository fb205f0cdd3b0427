"""`server.json` of the MCP registry as specs: packages become the command that runs them, remotes their URL.

    npm   npx -y IDENTIFIER@VERSION      pypi  uvx IDENTIFIER@VERSION
    oci   docker run -i --rm IMAGE       nuget dnx IDENTIFIER@VERSION --yes

`runtimeHint` names another runner. What the file wants to know (variables, arguments, headers) become inputs, so that
one form asks for them. Nothing is run or downloaded here; the schema is 2025-12-11 and, with snake_case, before
2025-09-16: https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import ConfigError
from jupyter_mcp.host.specs.inputs import Input
from jupyter_mcp.host.specs.spec import ServerSpec, suggest_name
from jupyter_mcp.protocol import secrets
from jupyter_mcp.protocol.shapes import as_list, is_mapping, mapping_of

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["is_registry_file", "registry_specs"]

_RUNNERS = {"npm": "npx", "pypi": "uvx", "oci": "docker", "nuget": "dnx"}
_KNOWN = ("npx", "bunx", "pnpm", "uvx", "pipx", "docker", "podman", "dnx")
_VALUED = ("value", "valueHint", "default", "choices", "format", "isSecret")
_SNAKE = re.compile(r"_([a-z])")
_VARIABLE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_.-]*)\}")


def is_registry_file(data: Mapping[str, Any]) -> bool:
    """Whether it describes a server as the registry does."""
    data = mapping_of(data.get("server")) or data
    return isinstance(data.get("name"), str) and any(isinstance(data.get(key), list) for key in ("packages", "remotes"))


def registry_specs(data: Mapping[str, Any], file: str | None = None) -> list[ServerSpec | ConfigError]:
    """The ways to its server: the first one is the server, the others are alternatives, connected only when named.

    Args:
        data: a `server.json`, or an answer of the registry's API, which has it under `server`.
        file: where it was read.
    """
    table = _camel(mapping_of(data.get("server")) or data)
    full = str(table.get("name"))
    name = suggest_name(full.rpartition("/")[2] or full)
    ways = [(_kind(one), _package, one) for one in as_list(table.get("packages")) if is_mapping(one)]
    ways += [("remote", _remote, one) for one in as_list(table.get("remotes")) if is_mapping(one)]
    specs: list[ServerSpec] = []
    problems: list[ConfigError] = []
    for kind, build, way in ways:
        taken = {spec.name for spec in specs}
        called = name if not specs else _free(f"{name[:25]}-{kind or 'package'}", taken)
        try:
            specs.append(replace(build(called, way), source=file, alternative=bool(specs)))
        except ConfigError as problem:
            problem.file, problem.server, problem.key = file, name, problem.key or name
            problems.append(problem)
    if not specs and not problems:
        return [ConfigError(f"{full} names no package and no remote.", file=file, key=name, server=name)]
    return [*specs, *problems] if not specs else list(specs)


# --- packages --------------------------------------------------------------------------------------------------------


@dataclass
class _Asked:
    """The inputs of one way, gathered while its texts are read."""

    inputs: dict[str, Input] = field(default_factory=dict[str, Input])

    def text(self, name: str, about: Mapping[str, Any], *, optional: bool = False) -> str:
        """The value of an argument, variable or header: what is fixed, its `{variables}` asked for, or an input."""
        fixed, variables = about.get("value"), mapping_of(about.get("variables"))
        if not isinstance(fixed, str):
            return self._ask(name, about, required=not optional)

        def fill(match: re.Match[str]) -> str:
            known = variables.get(match[1])
            return self._ask(match[1], mapping_of(known), required=True) if known is not None else match[0]

        return _VARIABLE.sub(fill, _literal(fixed))

    def _ask(self, name: str, about: Mapping[str, Any], *, required: bool) -> str:
        key = re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-") or "value"
        default = about.get("default")
        kind = {"number": "number", "boolean": "boolean"}.get(str(about.get("format")), "string")
        self.inputs[key] = Input(
            key,
            title=name,
            description=str(about.get("description") or ""),
            secret=about.get("isSecret") is True or (kind == "string" and secrets.looks_secret(name)),
            choices=tuple(str(one) for one in as_list(about.get("choices"))),
            default=None if default is None else str(default),
            required=required,
            kind="string" if about.get("choices") else kind,
        )
        return f"${{input:{key}}}"


def _package(name: str, package: Mapping[str, Any]) -> ServerSpec:
    kind, identifier = _kind(package), str(package.get("identifier") or "")
    if kind == "mcpb":
        raise ConfigError(f"{name} comes as a bundle (mcpb), which is not unpacked here.", key="packages")
    if kind not in _RUNNERS or not identifier or identifier.startswith("-"):
        raise ConfigError(f"{name}: packages of the type {kind or '?'!r:.40} are not known.", key="packages")
    if mapping_of(package.get("transport")).get("type", "stdio") != "stdio":
        raise ConfigError(
            f"{name}: the package starts a server at a URL of its own.",
            key="packages",
            hint="Start it yourself and connect to its URL.",
        )
    runner = str(package.get("runtimeHint") or _RUNNERS[kind])
    if runner not in _KNOWN:
        raise ConfigError(f"{name}: the runner {runner!r:.40} is not known.", key="runtimeHint")
    identifier = _literal(identifier)
    asked = _Asked()
    before = _arguments(package.get("runtimeArguments"), asked)
    after = _arguments(package.get("packageArguments"), asked)
    env = {key: asked.text(key, one, optional=not _is_required(one)) for key, one in _named(package)}
    words = _command(kind, runner, identifier, str(package.get("version") or ""), before, list(env))
    spec = ServerSpec(name, "stdio", command=runner, args=(*words, *after), env=env, inputs=asked.inputs)
    return replace(spec, notes=_repeats(package))


def _command(kind: str, runner: str, identifier: str, version: str, before: list[str], env: list[str]) -> list[str]:
    """What follows the runner, up to the package."""
    if kind == "oci":
        image = identifier if not version or "@" in identifier or ":" in identifier.rpartition("/")[2] else ""
        start = before if before[:1] == ["run"] else ["run", "-i", "--rm", *before]
        passed = [word for name in env for word in ("-e", name)]
        return [*start, *passed, image or f"{identifier}:{version}"]
    package = f"{identifier}@{version}" if version and version != "latest" else identifier
    if runner == "npx" and not {"-y", "--yes"} & set(before):
        before = ["-y", *before]
    if runner == "pnpm" and before[:1] != ["dlx"]:
        before = ["dlx", *before]
    if runner == "pipx":
        before, package = [*([] if before[:1] == ["run"] else ["run"]), *before], package.replace("@", "==")
    return [*before, package, *(["--yes"] if runner == "dnx" and "--yes" not in before else [])]


def _arguments(raw: Any, asked: _Asked) -> list[str]:
    """Arguments in order; one that may be left out and has no value is an input that may stay empty."""
    words: list[str] = []
    for number, one in enumerate(filter(is_mapping, as_list(raw)), 1):
        option = str(one.get("name") or "") if one.get("type") == "named" else ""
        label = str(one.get("valueHint") or option.lstrip("-") or one.get("name") or f"argument {number}")
        if option:
            words.append(_literal(option))
            if not any(key in one for key in _VALUED):
                continue  # a switch
        words.append(asked.text(label, one, optional=not _is_required(one)))
    return words


def _remote(name: str, remote: Mapping[str, Any]) -> ServerSpec:
    asked = _Asked()
    url = asked.text("url", {**remote, "value": str(remote.get("url") or "")})
    if not url:
        raise ConfigError(f"{name}: a remote has no url.", key="remotes")
    given = [one for one in as_list(remote.get("headers")) if is_mapping(one) and isinstance(one.get("name"), str)]
    headers = {str(one["name"]): asked.text(str(one["name"]), one, optional=not _is_required(one)) for one in given}
    transport = "sse" if remote.get("type") == "sse" else "http"
    return ServerSpec(name, "http", url=url, headers=headers, transport=transport, inputs=asked.inputs)


# --- small -----------------------------------------------------------------------------------------------------------


def _kind(package: Mapping[str, Any]) -> str:
    kind = str(package.get("registryType") or package.get("registryName") or "").lower()
    return {"docker": "oci"}.get(kind, kind)


def _named(package: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    found = [one for one in as_list(package.get("environmentVariables")) if is_mapping(one)]
    return [(str(one["name"]), one) for one in found if isinstance(one.get("name"), str)]


def _repeats(package: Mapping[str, Any]) -> tuple[str, ...]:
    listed = [*as_list(package.get("runtimeArguments")), *as_list(package.get("packageArguments"))]
    names = [
        str(one.get("name") or one.get("valueHint")) for one in listed if is_mapping(one) and one.get("isRepeated")
    ]
    return tuple(f"{name} may be given several times; one value is asked for" for name in names)


def _is_required(about: Mapping[str, Any]) -> bool:
    return about.get("isRequired") is True


def _literal(text: str) -> str:
    """Registry files have no `${…}`: one in them must not read a variable of the person's."""
    return text.replace("${", "$${")


def _free(name: str, taken: set[str]) -> str:
    number = 2
    free = name
    while free in taken:
        free, number = f"{name}{number}", number + 1
    return free


def _camel(value: Any) -> Any:
    """Keys as the schema has them since 2025-09-16. The keys of `variables` are names, which stay as they are."""
    if is_mapping(value):
        return {
            _SNAKE.sub(lambda match: match[1].upper(), key): (
                {name: _camel(one) for name, one in mapping_of(item).items()} if key == "variables" else _camel(item)
            )
            for key, item in value.items()
        }
    return [_camel(one) for one in items] if (items := as_list(value)) else value
