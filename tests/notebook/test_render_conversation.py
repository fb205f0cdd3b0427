"""Answers as they are saved: a model's Markdown that nothing can be smuggled through, calls as folds."""

from __future__ import annotations

import re
from typing import Any

import pytest

from jupyter_mcp.host.result import Result
from jupyter_mcp.notebook.render import MIME, ConversationView, ToolCallView, bundle
from jupyter_mcp.notebook.render.markdown import markdown


def result(text: str, **more: Any) -> Result:
    return Result({"content": [{"type": "text", "text": text}], **more}, server="demo", tool="add")


def call(**more: Any) -> ToolCallView:
    given: dict[str, Any] = {"label": "demo.add", "arguments": {"a": 1}, "status": "ok", "result": result("3"), **more}
    return ToolCallView(**given)


# --- Markdown --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("**bold** and *soft*", "<strong>bold</strong> and <em>soft</em>"),
        ("# Head", "<h1>Head</h1>"),
        ("- one\n- two", "<li>one</li>"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "<td>1</td>"),
        ("~~gone~~", "<del>gone</del>"),
        ("`x < 1`", "<code>x &lt; 1</code>"),
        ("```python\nif a < b:\n    pass\n```", "if a &lt; b:\n    pass</pre>"),
        ("[docs](https://example.org/a)", 'href="https://example.org/a"'),
        ("[mail](mailto:ada@example.org)", 'href="mailto:ada@example.org"'),
        ("a & b < c", "a &amp; b &lt; c"),
    ],
)
def test_markdown_is_drawn(text: str, part: str) -> None:
    assert part in markdown(text)


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=https://evil.example/?q=1>",
        "a <b onclick=x>b</b>",
        "![p](https://evil.example/?q=1)",
        "![p][r]\n\n[r]: https://evil.example/?q=1",
        "[![p](https://evil.example/?q=1)](https://example.org)",
        "<iframe src=x>\n\n</iframe>",
        "<style>@import url(https://evil.example)</style>",
        "- ```\n  x\n  ```\n\n```\n![p](https://evil.example)\n<img src=x>",
        "|a|\n|-|\n|![p](https://evil.example)|",
        "[x](javascript:alert(1))",
        "[x](JaVaScRiPt:alert(1))",
        "[x](java\tscript:alert(1))",
        "[x](data:text/html,<script>1</script>)",
        "[x](vbscript:x) [y](file:///etc/passwd)",
        '[x](https://a.example/"onmouseover="alert(1))',
        "<https://a.example/<img src=x>>",
        "<javascript:alert(1)>",
    ],
)
def test_nothing_in_it_loads_or_runs(text: str) -> None:
    tags = re.findall(r"<[a-zA-Z/][^>]*>", markdown(text))
    names = {tag.strip("</>").split()[0].lower() for tag in tags}
    assert names.isdisjoint({"script", "img", "iframe", "style", "object", "embed", "link", "svg", "video", "audio"})
    for tag in tags:
        assert not re.search(r"\son[a-z]+\s*=", re.sub(r'"[^"]*"', '""', tag)), tag
        for address in re.findall(r'href="([^"]*)"', tag):
            assert address.startswith(("http://", "https://", "mailto:")), tag


def test_a_link_says_where_it_leads() -> None:
    assert "(evil.example)" in markdown("[your bank](https://evil.example/login)")
    assert "(" not in re.sub(r"<[^>]*>", "", markdown("<https://good.example/a>"))


def test_control_characters_and_overrides_are_gone() -> None:
    assert "\x1b" not in markdown("a\x1b[31mred\u202e")


def test_a_long_text_is_cut_and_says_so() -> None:
    assert "more characters" in markdown("x " * 40_000)


@pytest.mark.parametrize("text", ["> " * 500 + "deep", "- " * 500 + "deep", "[" * 5_000, "*" * 5_000, "`" * 5_000])
def test_a_text_made_to_be_slow_is_drawn_all_the_same(text: str) -> None:
    assert markdown(text)


# --- the whole -------------------------------------------------------------------------------------------------------


def test_text_and_calls_stand_in_their_order() -> None:
    made = bundle(ConversationView("m", ["Before.", call(), "After."], rounds=2, tokens=1_234, cost=0.5))
    assert made["text/plain"] == "Before.\n▸ demo.add(a=1): 3\nAfter.\nm, 2 rounds, 1 call, 1,234 tokens, $0.5000"
    shown = made["text/html"]
    assert shown.index("Before.") < shown.index("<details>") < shown.index("After.")
    assert made[MIME] == {
        "kind": "conversation",
        "model": "m",
        "text": "Before.\n\nAfter.",
        "calls": [{"label": "demo.add", "status": "ok"}],
    }


@pytest.mark.parametrize(
    ("view", "line"),
    [
        (call(status="running", result=None), "▸ demo.add(a=1) is running …"),
        (call(status="asking", result=None), "▸ demo.add(a=1) waits for your answer"),
        (call(status="denied", result=None, said="no"), "▸ demo.add(a=1) was not allowed: no"),
        (call(status="unknown", result=None, said="no tool"), "▸ demo.add(a=1) does not exist: no tool"),
        (call(status="error", result=result("bad", isError=True), said="bad"), "▸ demo.add(a=1) failed: bad"),
        (call(status="repeated", result=None), "▸ demo.add(a=1) was not called again"),
        (call(status="too many", result=None), "▸ demo.add(a=1) was not called"),
        (call(status="cancelled", result=None), "▸ demo.add(a=1) was cancelled"),
        (call(label="search_tools", status="searched", result=None, said="3 found"), "▸ search_tools(a=1): 3 found"),
        (call(arguments={}, result=result("")), "▸ demo.add(): [text]"),
        (
            call(arguments={f"k{n}": n for n in range(9)}),
            "▸ demo.add(k0=0, k1=1, k2=2, k3=3, k4=4, k5=5, k6=6, k7=7, …): 3",
        ),
    ],
)
def test_a_call_says_what_became_of_it(view: ToolCallView, line: str) -> None:
    assert bundle(view)["text/plain"] == line


def test_what_a_call_passes_on_is_said_in_both_forms() -> None:
    made = bundle(call(passes_on=["docs", "mail"]))
    assert "passes on what docs and mail returned" in made["text/plain"]
    assert "Its arguments pass on what docs and mail returned." in made["text/html"]


def test_who_allowed_a_call_stands_in_its_fold() -> None:
    assert "Allowed by you, once." in bundle(call(approval="allowed by you, once"))["text/html"]


def test_servers_words_in_a_call_are_escaped() -> None:
    made = bundle(call(label="demo.<b>", arguments={"<i>": "<u>"}, result=result("<script>")))
    for word in ("<i>", "<u>", "<script>", "demo.<b>"):
        assert word not in made["text/html"]
        assert word in made["text/plain"]


def test_without_an_answer_it_says_so() -> None:
    assert bundle(ConversationView("m", rounds=1))["text/plain"] == "no answer\nm, 1 round"


def test_what_goes_along_and_remarks_frame_the_answer() -> None:
    made = bundle(ConversationView("m", ["hi"], ["a:b (3 characters)"], ["It was cut."], rounds=1))
    assert made["text/plain"] == "Attached: a:b (3 characters)\nhi\nNote: It was cut.\nm, 1 round"
