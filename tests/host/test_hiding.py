"""What a person wants hidden is masked, also in what is on record already."""

from __future__ import annotations

import json

import pytest

from jupyter_mcp.errors import UsageError
from jupyter_mcp.host.hiding import HideRule, hidden
from jupyter_mcp.host.journal import Journal
from jupyter_mcp.protocol import patterns

MASK = "•••"


def test_values_are_hidden_by_their_key_whatever_they_are() -> None:
    value = {
        "Customer_ID": 4711,
        "deep": [{"customer_id": {"a": "x"}}],
        "customer": "ann",
        "empty": {"customer_id": None},
    }
    shown = hidden(value, [HideRule("key", "customer_id")])
    assert shown == {
        "Customer_ID": MASK,
        "deep": [{"customer_id": MASK}],
        "customer": "ann",
        "empty": {"customer_id": None},
    }
    assert value["Customer_ID"] == 4711, "what is recorded must not be changed"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("iban=DE123, next", f"iban={MASK}, next"),
        ('{"iban": "DE 1\\" 23", "b": 1}', f'{{"iban": "{MASK}", "b": 1}}'),
        ("{'iban_main': 'DE1'}", f"{{'iban_main': '{MASK}'}}"),
        ("my_iban=DE1", "my_iban=DE1"),
        ("the iban of ann", "the iban of ann"),
    ],
)
def test_a_key_is_found_in_texts_too(text: str, shown: str) -> None:
    assert hidden(text, [HideRule("key", "iban*")]) == shown


def test_headers_are_hidden_to_the_end_of_their_line() -> None:
    rules = [HideRule("header", "X-Account")]
    assert hidden({"headers": {"x-account": "a b", "accept": "c"}}, rules) == {
        "headers": {"x-account": MASK, "accept": "c"}
    }
    assert hidden([{"name": "X-Account", "value": "a"}], rules) == [{"name": "X-Account", "value": MASK}]
    assert hidden("X-Account: a b, c\r\nAccept: d", rules) == f"X-Account: {MASK}\r\nAccept: d"


def test_what_a_pattern_finds_is_hidden_in_values_and_in_names() -> None:
    rules = [HideRule("pattern", r"\b[A-Z]{2}\d{6}\b")]
    assert hidden({"text": "passport AB123456.", "AB123456": 1}, rules) == {"text": f"passport {MASK}.", MASK: 1}


def test_a_text_that_takes_too_long_to_search_is_masked_whole() -> None:
    slow = r"(a+)+\d$"
    assert patterns.replaced(slow, "a" * 5_000 + "!", MASK) is None
    assert hidden("a" * 5_000 + "!", [HideRule("pattern", slow)]) == MASK


@pytest.mark.parametrize(
    ("kind", "what", "why"),
    [
        ("pattern", "(", "no regular expression"),
        ("pattern", "a*", "empty text"),
        ("key", " ", "name of"),
        ("value", "x", "cannot be hidden by"),
    ],
)
def test_a_rule_that_cannot_be_meant_is_refused(kind: str, what: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        HideRule(kind, what)  # type: ignore[arg-type]


def test_a_rule_holds_for_what_is_on_record_already_and_can_be_taken_back() -> None:
    journal = Journal()
    journal.wire("demo", "send", {"id": 1, "method": "tools/call", "params": {"iban": "DE1", "note": "AB123456"}}, 80)
    number = journal.begin("demo", "tools/call", "pay", "person", arguments={"iban": "DE1"})
    journal.end(number, "error", remark="no passport AB123456")

    def seen() -> str:
        return json.dumps([entry.message for entry in journal.entries()]) + repr(journal.acts())

    assert [one in seen() for one in ("DE1", "AB123456")] == [True, True]
    journal.redactor.hide("key", "iban")
    journal.redactor.hide("pattern", r"[A-Z]{2}\d{6}")
    journal.redactor.hide("key", "iban")
    assert [one in seen() for one in ("DE1", "AB123456")] == [False, False]
    assert [str(rule) for rule in journal.redactor.rules] == ["key iban", r"pattern [A-Z]{2}\d{6}"]
    journal.redactor.rules = ()
    assert "DE1" in seen()


def test_very_deep_values_are_cut() -> None:
    deep: list[object] = []
    for _ in range(5_000):
        deep = [deep]
    assert "…" in json.dumps(hidden(deep, [HideRule("key", "x")]), ensure_ascii=False)
