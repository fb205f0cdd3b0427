"""A kernel's language is known on this machine and behind an Enterprise Gateway; who says none is taken for ours."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from tornado import web

from jupyter_mcp.serverextension.languages import is_ours, language_of

pytestmark = pytest.mark.anyio


class Near:
    """As jupyter_client's kernelspec manager: at once, an object; KeyError for what it does not know."""

    def get_kernel_spec(self, name: str) -> Any:
        return {"ir": SimpleNamespace(language="R"), "odd": SimpleNamespace(language=7), "bare": object()}[name]


class Far:
    """As jupyter_server's for a gateway: later, and as JSON."""

    async def get_kernel_spec(self, name: str) -> Any:
        if name == "down":
            raise web.HTTPError(503)
        return {"ir": {"name": "ir", "spec": {"language": "R"}}, "odd": {"spec": [1]}, "none": None}[name]


@pytest.mark.parametrize(
    ("specs", "name", "language"),
    [
        (Near(), "ir", "R"),
        (Near(), "odd", ""),
        (Near(), "bare", ""),
        (Near(), "gone", ""),
        (Far(), "ir", "R"),
        (Far(), "odd", ""),
        (Far(), "none", ""),
        (Far(), "gone", ""),
        (Far(), "down", ""),
    ],
)
async def test_the_language_is_what_the_kernelspec_says(specs: Any, name: str, language: str) -> None:
    assert await language_of(specs, name) == language


def test_only_python_and_what_says_nothing_can_be_ours() -> None:
    assert [one for one in ("python", "Python", "", "R", "julia", "pythonic") if is_ours(one)] == [
        "python",
        "Python",
        "",
    ]
