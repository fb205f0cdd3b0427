"""What is said about the way a server is reached."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_mcp.host.specs import ServerSpec
from jupyter_mcp.host.specs.advice import advice

ENVIRON = {"KEY": "s3cr3t-value", "HOST": "docs.example.org"}


def said(target: Any, **options: Any) -> str:
    spec = ServerSpec.parse("docs", target, **options)
    text = " ".join(advice(spec, spec.expanded(ENVIRON)))
    assert "s3cr3t" not in text, "a value never stands in it"
    return text


@pytest.mark.parametrize(
    ("target", "options"),
    [
        ("https://docs.example.org/mcp", {}),
        ("https://docs.example.org/mcp", {"bearer": "${KEY}"}),
        ("https://docs.example.org/mcp", {"headers": {"X-Api-Key": "${KEY}", "X-Day": "monday"}}),
        ("https://docs.example.org/mcp?api_key=${KEY}", {}),
        ("http://docs.example.org/mcp", {}),
        ("http://localhost:1/mcp", {"bearer": "${KEY}"}),
        ("http://127.0.0.1:1/mcp", {"bearer": "${KEY}"}),
        ("http://127.9.9.9/mcp", {"bearer": "${KEY}"}),
        ("http://[::1]:1/mcp", {"bearer": "${KEY}"}),
        ("http://docs.localhost/mcp", {"bearer": "${KEY}"}),
        ("notes-server", {"env": ["NOTES=1"]}),
        ("notes-server", {"env": {"API_KEY": "${KEY}"}}),
    ],
)
def test_nothing_is_said_where_nothing_is_odd(target: str, options: dict[str, Any]) -> None:
    assert said(target, **options) == ""


@pytest.mark.parametrize(
    ("target", "options", "expected"),
    [
        ("https://d.example/mcp", {"bearer": "s3cr3t-value"}, "Authorization stands in the notebook itself; --bearer"),
        ("https://d.example/mcp", {"headers": {"X-Api-Key": "s3cr3t"}}, "--header X-Api-Key=${NAME}"),
        ("https://d.example/mcp", {"headers": {"Cookie": "a=${KEY}; b=s3cr3t"}}, "value of Cookie"),
        ("https://d.example/mcp?api_key=s3cr3t", {}, "value of api_key stands in the address"),
        ("https://me:s3cr3t@d.example/mcp", {}, "password stands in the address"),
        ("notes-server", {"env": ["API_KEY=s3cr3t"]}, "--env API_KEY passes your own variable"),
        (
            "http://d.example/mcp",
            {"bearer": "${KEY}"},
            "Credentials (Authorization) go to d.example without encryption",
        ),
        ("http://${HOST}/mcp", {"bearer": "${KEY}"}, "go to docs.example.org without encryption"),
        ("http://127.0.0.1.example/mcp", {"bearer": "${KEY}"}, "without encryption"),
        ("http://d.example/mcp?token=${KEY}", {}, "without encryption"),
    ],
)
def test_what_is_odd_is_named(target: str, options: dict[str, Any], expected: str) -> None:
    assert expected in said(target, **options)


def test_a_file_is_named_when_the_secret_stands_there() -> None:
    spec = ServerSpec.parse("docs", {"url": "https://d.example", "headers": {"Authorization": "Bearer s3cr3t-value"}})
    assert advice(spec, spec)[0].startswith("The value of Authorization stands in the notebook itself")
