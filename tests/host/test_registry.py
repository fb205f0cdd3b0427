"""A registry's `server.json`: which command or URL comes of it, what it asks for, and what it cannot be here."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_mcp.errors import ConfigError
from jupyter_mcp.host.specs import ServerSpec, read_config
from jupyter_mcp.host.specs.inputs import form_of


def _specs(*packages: dict[str, Any], remotes: Any = (), **more: Any) -> list[ServerSpec | ConfigError]:
    data = {"name": "io.github.someone/weather", "version": "1.0", "packages": list(packages), **more}
    return read_config({**data, "remotes": list(remotes)})


def _spec(*packages: dict[str, Any], remotes: Any = ()) -> ServerSpec:
    spec = _specs(*packages, remotes=remotes)[0]
    assert isinstance(spec, ServerSpec), spec
    return spec


def _package(kind: str, identifier: str, **more: Any) -> dict[str, Any]:
    return {"registryType": kind, "identifier": identifier, "transport": {"type": "stdio"}, **more}


@pytest.mark.parametrize(
    ("package", "command"),
    [
        (_package("npm", "@a/weather", version="1.2.0"), "npx -y @a/weather@1.2.0"),
        (_package("npm", "w", runtimeHint="bunx"), "bunx w"),
        (_package("npm", "w", runtimeArguments=[{"type": "positional", "value": "-y"}]), "npx -y w"),
        (_package("pypi", "weather-mcp", version="0.1"), "uvx weather-mcp@0.1"),
        (_package("pypi", "weather-mcp", version="0.1", runtimeHint="pipx"), "pipx run weather-mcp==0.1"),
        (_package("nuget", "Weather", version="2"), "dnx Weather@2 --yes"),
        (_package("oci", "ghcr.io/a/w:1.0"), "docker run -i --rm ghcr.io/a/w:1.0"),
        (_package("oci", "localhost:5000/w", version="3"), "docker run -i --rm localhost:5000/w:3"),
        (_package("oci", "a/w@sha256:ab", runtimeHint="podman"), "podman run -i --rm a/w@sha256:ab"),
    ],
)
def test_a_package_becomes_the_command_that_runs_it(package: dict[str, Any], command: str):
    spec = _spec(package)
    assert " ".join([spec.command, *spec.expanded({}, {}).args]) == command
    assert spec.name == "weather"


def test_arguments_stand_in_their_places_and_ask_for_what_is_not_fixed():
    before: list[dict[str, Any]] = [
        {"type": "named", "name": "--mount", "value": "type=bind,src={dir},dst=/d", "variables": {"dir": {}}}
    ]
    after = [
        {"type": "positional", "value": "serve"},
        {"type": "named", "name": "--port", "format": "number", "default": "8080", "isRequired": True},
        {"type": "named", "name": "--unit", "choices": ["C", "F"]},
        {"type": "named", "name": "--verbose"},
        {"type": "positional", "valueHint": "city", "isRequired": True},
    ]
    spec = _spec(_package("oci", "w:1", runtimeArguments=before, packageArguments=after))
    given = {"dir": "/tmp/x", "port": "80", "unit": "", "city": "Oslo"}
    assert list(spec.expanded({}, given).args) == [
        *("run", "-i", "--rm", "--mount", "type=bind,src=/tmp/x,dst=/d", "w:1"),
        *("serve", "--port", "80", "--verbose", "Oslo"),
    ]
    form = form_of(spec.inputs.values())
    assert form["required"] == ["dir", "port", "city"]
    assert form["properties"]["port"] == {"type": "number", "title": "port", "default": 8080}
    assert form["properties"]["unit"] == {"type": "string", "title": "unit", "enum": ["C", "F"]}
    assert list(spec.expanded({}, {**given, "unit": "F"}).args)[-4:-1] == ["--unit", "F", "--verbose"]


def test_variables_become_masked_fields_and_an_optional_one_left_empty_is_not_set():
    variables = [
        {"name": "API_KEY", "description": "Your key", "isRequired": True, "isSecret": True},
        {"name": "LEVEL", "default": "info"},
        {"name": "FIXED", "value": "yes"},
    ]
    spec = _spec(_package("npm", "w", environmentVariables=variables))
    form = form_of(spec.inputs.values())
    assert form["properties"]["API_KEY"]["format"] == "password"
    assert form["properties"]["API_KEY"]["description"] == "Your key"
    assert form["required"] == ["API_KEY"]
    assert spec.expanded({}, {"API_KEY": "k", "LEVEL": ""}).env == {"API_KEY": "k", "FIXED": "yes"}


def test_a_container_is_passed_its_variables_by_name_so_that_no_value_stands_in_the_command():
    variables = [{"name": "API_KEY", "isRequired": True, "isSecret": True}]
    spec = _spec(_package("oci", "w:1", environmentVariables=variables)).expanded({}, {"API_KEY": "sec"})
    assert spec.args == ("run", "-i", "--rm", "-e", "API_KEY", "w:1")
    assert spec.env == {"API_KEY": "sec"}


def test_a_remote_asks_for_the_variables_of_its_url_and_for_its_headers():
    remote = {
        "type": "streamable-http",
        "url": "https://{tenant}.example.org/mcp",
        "variables": {"tenant": {"description": "Who", "isRequired": True}},
        "headers": [
            {"name": "Authorization", "value": "Bearer {tok}", "variables": {"tok": {"isSecret": True}}},
            {"name": "X-Level"},
        ],
    }
    spec = _spec(remotes=[remote])
    assert spec.inputs["tok"].secret
    filled = spec.expanded({}, {"tenant": "me", "tok": "t", "X-Level": ""})
    assert (filled.url, filled.headers) == ("https://me.example.org/mcp", {"Authorization": "Bearer t"})


def test_the_first_way_is_the_server_and_the_others_are_alternatives_with_names_of_their_own():
    found = _specs(_package("npm", "w"), _package("pypi", "w"), remotes=[{"type": "sse", "url": "https://h/sse"}])
    specs = [spec for spec in found if isinstance(spec, ServerSpec)]
    assert [(s.name, s.alternative) for s in specs] == [
        ("weather", False),
        ("weather-pypi", True),
        ("weather-remote", True),
    ]
    assert specs[2].transport == "sse"


def test_a_way_that_cannot_be_gone_leaves_the_others():
    found = _specs(_package("mcpb", "https://h/w.mcpb"), _package("pypi", "w"))
    assert [spec.name for spec in found if isinstance(spec, ServerSpec)] == ["weather"]


@pytest.mark.parametrize(
    ("package", "words"),
    [
        (_package("mcpb", "https://h/w.mcpb"), "bundle"),
        (_package("cargo", "w"), "'cargo' are not known"),
        (_package("npm", ""), "not known"),
        (_package("npm", "--registry=https://evil"), "not known"),
        (_package("npm", "w", runtimeHint="sh"), "the runner 'sh' is not known"),
        ({**_package("npm", "w"), "transport": {"type": "sse", "url": "http://127.0.0.1:1"}}, "URL of its own"),
    ],
)
def test_a_package_that_cannot_be_run_is_an_error_that_says_why(package: dict[str, Any], words: str):
    (problem,) = _specs(package)
    assert isinstance(problem, ConfigError)
    assert words in str(problem)


def test_a_file_of_the_old_spelling_and_an_answer_of_the_api_are_read():
    package = {
        "registry_type": "pypi",
        "identifier": "w",
        "runtime_hint": "uvx",
        "environment_variables": [{"name": "my_var", "is_required": True, "is_secret": True}],
    }
    data = {"server": {"name": "a/w", "packages": [package]}, "_meta": {}}
    (spec,) = read_config(data)
    assert isinstance(spec, ServerSpec)
    assert (spec.command, spec.args, list(spec.env)) == ("uvx", ("w",), ["my_var"])
    assert spec.inputs["my_var"].secret


def test_a_placeholder_in_a_registrys_file_reads_no_variable_of_the_persons():
    argument = {"type": "positional", "value": "${HOME_KEY}"}
    spec = _spec(_package("npm", "w", packageArguments=[argument]))
    assert spec.expanded({"HOME_KEY": "secret"}, {}).args[-1] == "${HOME_KEY}"


def test_a_file_without_any_way_says_so():
    (problem,) = _specs()
    assert isinstance(problem, ConfigError)
    assert "names no package and no remote" in str(problem)
