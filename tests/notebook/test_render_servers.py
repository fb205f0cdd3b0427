"""Server cards: every state in words, what carries the messages, what is deprecated."""

from __future__ import annotations

import pytest

from jupyter_mcp.notebook.render import bundle
from jupyter_mcp.notebook.render.views import ServersView, ServerView

OUTDATED = [("Sampling", "2026-07-28", "call a model"), ("<b>Roots</b>", "2026-07-28", "take folders")]


def view(**more: object) -> ServerView:
    given: dict[str, object] = {"name": "docs", "state": "ready", "era": "modern", "revision": "2026-07-28"}
    return ServerView(**{**given, **more})  # pyright: ignore[reportArgumentType]


def text(obj: object) -> str:
    return str(bundle(obj)["text/plain"])


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("unresponsive", "gives no sign of life"),
        ("reconnecting", "is being connected again"),
        ("lost", "%mcp reconnect docs"),
    ],
)
def test_a_state_that_is_neither_good_nor_final_is_explained(state: str, words: str) -> None:
    shown = text(view(state=state))
    assert shown.startswith(f"docs {state}")
    assert words in shown
    assert state in text(ServersView([view(state=state)]))


@pytest.mark.parametrize("state", ["ready", "starting", "closed"])
def test_the_others_need_no_words(state: str) -> None:
    assert text(view(state=state)) == f"docs {state} · modern 2026-07-28"


@pytest.mark.parametrize(("kind", "words"), [("http", "over HTTP"), ("sse", "over HTTP+SSE")])
def test_a_server_at_a_url_says_what_carries_its_messages(kind: str, words: str) -> None:
    assert text(view(transport=kind)).endswith(f"modern 2026-07-28 {words}")
    assert f"modern 2026-07-28 {words}" in text(ServersView([view(transport=kind)]))


def test_what_is_deprecated_is_a_badge_on_the_card_and_a_line_below_the_table() -> None:
    shown = bundle(view(deprecated=OUTDATED))
    assert "    Sampling: since 2026-07-28; instead, call a model" in shown["text/plain"].splitlines()
    assert "<summary><b>Deprecated:</b> Sampling, &lt;b&gt;Roots&lt;/b&gt;</summary>" in shown["text/html"]
    assert "docs uses what is deprecated: Sampling (since 2026-07-28)" in text(ServersView([view(deprecated=OUTDATED)]))
    assert "eprecated" not in text(view())
