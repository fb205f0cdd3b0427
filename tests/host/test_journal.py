"""What is kept of messages and acts, and what may be seen of it."""

from __future__ import annotations

import json
from typing import Any

from jupyter_mcp.host.journal import MAX_MESSAGE, MAX_MESSAGES, Journal
from jupyter_mcp.host.redaction import Redactor
from jupyter_mcp.host.specs import ServerSpec

SECRETS = [
    "0123456789abcdef0123456789abcdef",
    "hunter2secret",
    "correct horse battery",
    "tok_live_55ab55ab55ab",
    "c2lnbmF0dXJl",
    "MIIBdemo",
]
LEAKY: dict[str, Any] = {
    "arguments": {
        "OPENAI_API_KEY": "sk-demo-0123456789abcdef0123456789abcdef",
        "db_url": "postgresql://ann:hunter2secret@db.example.org/x",
        "config": {
            "user": "ann",
            "password": "correct horse battery",
            "nested": {"access_token": "tok_live_55ab55ab55ab"},
        },
        "headers": {"Authorization": "Bearer eyJhbGciOiJub25lIn0.e30.c2lnbmF0dXJl"},
        "text": "-----BEGIN PRIVATE KEY-----\nMIIBdemo\n-----END PRIVATE KEY-----",
        "tokenizer": "wordpiece",
    }
}


def message(id: int, method: str | None = "tools/call", **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id} | ({"method": method, "params": params} if method else {"result": params})


def test_no_secret_leaves_the_journal_and_what_only_looks_alike_stays():
    journal = Journal()
    sent = message(1, **LEAKY)
    journal.wire("demo", "send", sent, 100)
    number = journal.begin("demo", "tools/call", "x", "person", arguments=LEAKY)
    journal.end(number, "error", remark="failed with token=hunter2secret")
    seen = json.dumps([entry.message for entry in journal.entries()], ensure_ascii=False) + repr(journal.acts())
    assert [secret for secret in SECRETS if secret in seen] == []
    assert "wordpiece" in seen
    assert sent["params"] == LEAKY, "what is recorded must not be changed"


def test_values_given_to_a_server_are_masked_wherever_they_turn_up():
    redactor = Redactor()
    spec = ServerSpec.parse("x", ["srv", "--token", "${MY_TOKEN}"], env={"API_KEY": "${K}", "MODE": "${M}", "PW": "pw"})
    filled = spec.expanded({"MY_TOKEN": "alpha-beta", "K": "gamma-delta", "M": "verbose"})
    redactor.learn_spec(spec, filled)
    text = redactor.text("cannot log in with alpha-beta and gamma-delta in verbose mode, pw")
    assert "alpha-beta" not in text
    assert "gamma-delta" not in text
    assert "verbose mode, pw" in text


def test_a_bearer_header_is_learnt_with_and_without_its_scheme():
    redactor = Redactor()
    spec = ServerSpec.parse("x", "https://h/", bearer="${DOCS_KEY}")
    redactor.learn_spec(spec, spec.expanded({"DOCS_KEY": "omega-psi"}))
    assert "omega-psi" not in redactor.text("seen: omega-psi")


def test_the_wire_is_bounded_by_messages():
    journal = Journal()
    for number in range(MAX_MESSAGES + 5):
        journal.wire("demo", "send", message(number), 10)
    entries = journal.entries()
    assert (len(entries), entries[0].number, entries[-1].number) == (MAX_MESSAGES, 6, MAX_MESSAGES + 5)


def test_the_wire_is_bounded_by_bytes():
    journal = Journal(max_bytes=1_000)
    for number in range(20):
        journal.wire("demo", "send", message(number), 300)
    assert len(journal.entries()) == 3


def test_a_big_message_is_summarised_when_it_is_recorded():
    journal = Journal()
    block = {"type": "text", "text": "x" * 100_000}
    big = message(7, None, content=[block] * 20, structuredContent={str(n): n for n in range(50)})
    journal.wire("demo", "receive", big, MAX_MESSAGE + 1)
    (entry,) = journal.entries()
    assert entry.summary
    assert (entry.id, entry.size) == (7, MAX_MESSAGE + 1)
    assert len(json.dumps(entry.message)) < 10_000
    assert big["result"]["content"][0] is block
    assert not journal.entries("other")


def test_a_reply_is_named_by_the_request_it_answers():
    journal = Journal()
    journal.wire("demo", "send", message(1), 10)
    journal.wire("demo", "receive", message(1, "sampling/createMessage"), 10)
    journal.wire("demo", "receive", message(1, None), 10)
    journal.wire("demo", "send", message(1, None), 10)
    journal.wire("demo", "receive", message(9, None), 10)
    methods = [entry.method for entry in journal.entries("demo")]
    assert methods == ["tools/call", "sampling/createMessage", "tools/call", "sampling/createMessage", None]


def test_an_act_says_who_began_it_by_which_rule_and_how_it_ended():
    time = iter([10.0, 12.5])
    journal = Journal(clock=lambda: next(time))
    number = journal.begin("demo", "tools/call", "add", "model", rule="allow demo.*", arguments={"a": 1})
    assert journal.acts()[0].outcome == "running"
    journal.end(number, "ok", remark="fine")
    (act,) = journal.acts("demo")
    assert (act.origin, act.rule, act.outcome, act.remark) == ("model", "allow demo.*", "ok", "fine")
    assert (act.arguments, act.duration) == ({"a": 1}, 2.5)
    assert journal.acts("other") == []


def test_odd_messages_are_recorded_too():
    journal = Journal()
    for odd in ({}, {"id": None, "method": 5}, {"id": [1]}, {"id": 1.5, "result": None}):
        journal.wire("demo", "receive", odd, 10)
    assert [entry.id for entry in journal.entries()] == [None, None, None, None]
