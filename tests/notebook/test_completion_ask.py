"""Tab in a question and on the line of `ask`."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest
from IPython.core.completer import provisionalcompleter

from jupyter_mcp.models.scripted import ScriptedModel
from jupyter_mcp.notebook import fetched, suggest_ask
from jupyter_mcp.runtime import state

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.notebook.conftest import Cells


@pytest.fixture
def tab(served: Cells) -> Callable[[str], list[str]]:
    """What Tab offers at the end of a text."""
    fetched.fetched.forget()
    state.get_host().models.set(ScriptedModel([], name="openai:gpt"))
    served.put(prices=[1, 2], api_key="sk-abcdefghijklmnop1234")

    def complete(text: str) -> list[str]:
        with provisionalcompleter():
            return [found.text for found in served.shell.Completer.completions(text, len(text))]

    return complete


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        ("%%mcp as", ["ask"]),
        (
            "%%mcp ask --",
            ["--servers", "--tools", "--context", "--auto-context", "--new", "--max-rounds", "--model", "--help"],
        ),
        ("%%mcp ask --servers ", ["s"]),
        ("%%mcp ask --tools s.f", ["s.fail"]),
        ("%%mcp ask --tools s.add,s.f", ["s.fail"]),
        ("%%mcp ask --context pri", ["prices"]),
        ("%%mcp ask --context x,pri", ["prices"]),
        ("%%mcp ask --context api", []),
        ("%%mcp ask --model ", ["openai:gpt"]),
        ("%%mcp ask\nWhat says @", ["@s:text://hello", "@s:notes://"]),
        ("%%mcp ask\nWhat says @s:te", ["@s:text://hello"]),
        ("%%mcp ask\nfirst line\n(@s:te", ["@s:text://hello"]),
        ("%%mcp ask\n/", ["/s.review"]),
        ("%%mcp ask\n/s.re", ["/s.review"]),
        ("%%mcp ask\n/s.review ", ["language=", "style="]),
        ("%%mcp ask\n/s.review language=python s", ["style="]),
    ],
)
def test_tab_offers(tab: Callable[[str], list[str]], text: str, offered: list[str]) -> None:
    assert tab(text) == offered


@pytest.mark.parametrize("text", ["%%mcp ask\nada@s:te", "%%mcp ask\n/usr/lo", "%%mcp ask\n/nothing lang"])
def test_other_text_is_left_alone(tab: Callable[[str], list[str]], text: str) -> None:
    assert not [found for found in tab(text) if "s:" in found or "=" in found]


def test_values_of_a_prompts_argument_come_from_the_server_at_the_next_tab(
    tab: Callable[[str], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    came = threading.Event()
    keep: Any = fetched.fetched._keep  # pyright: ignore[reportPrivateUsage]

    def kept(*args: Any) -> None:
        keep(*args)
        came.set()

    monkeypatch.setattr(fetched.fetched, "_keep", kept)
    assert "python" not in tab("%%mcp ask\n/s.review language=p")
    assert came.wait(10)
    assert tab("%%mcp ask\n/s.review language=p") == ["python", "perl"]


def test_an_address_that_would_not_be_read_back_stands_in_brackets() -> None:
    assert suggest_ask._held("a://b") == "a://b"  # pyright: ignore[reportPrivateUsage]
    assert suggest_ask._held("file:///a b") == "<file:///a b>"  # pyright: ignore[reportPrivateUsage]
    assert suggest_ask._held("a://b.") == "<a://b.>"  # pyright: ignore[reportPrivateUsage]
