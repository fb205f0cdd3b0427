"""Secrets: what is masked, what stays readable, which questions hunt for one."""

from __future__ import annotations

import importlib.util
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_mcp.protocol.secrets import MASK, looks_secret, redact, redact_text, secret_question
from tests.shared import shared_path

# assembled here so that no scanner of this repository takes them for real ones
KEY = "sk-" + "demo-0123456789abcdef0123456789abcdef"
JWT = "eyJ" + "hbGciOiJub25lIn0.e30.c2lnbmF0dXJl"
PEM = "-----BEGIN " + "PRIVATE KEY-----\nMIIBdemo\nAAAA\n-----END PRIVATE KEY-----"


@pytest.mark.parametrize(
    "name",
    [
        *("password", "dbPassword", "DB_PASSWORD", "passwd", "pwd", "passphrase", "userpassword", "password2", "pass"),
        *(
            "apiKey",
            "api_key",
            "X-Api-Key",
            "X-Auth",
            "apikey",
            "API Key",
            "OPENAI_API_KEY",
            "OPENAI_KEY",
            "api_key_prod",
            "x-key",
        ),
        *("token", "access_token", "authToken", "GITHUB_TOKEN", "GITHUB_PAT", "refreshToken", "bearer", "jwt"),
        *("Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie", "session_id", "Mcp-Session-Id"),
        *("client_secret", "secret", "secretKey", "AWS_SECRET_ACCESS_KEY", "private_key", "credentials", "ssh-key"),
        *(
            "card_number",
            "cardNumber",
            "credit_card",
            "cvv",
            "CVC2",
            "pin",
            "card_pin",
            "seed_phrase",
            "mnemonic",
            "otp",
        ),
        *("contraseña", "Passwort", "mot_de_passe", "пароль", "密码", "--api-key", "user.password"),
    ],
)
def test_names_that_mean_a_secret(name: str) -> None:
    assert looks_secret(name)


@pytest.mark.parametrize(
    "name",
    [
        *("harmless_tokenizer", "tokenizer", "keyboard", "monkey", "max_tokens", "maxTokens", "tokens", "token_count"),
        *("progressToken", "nextCursor", "nextPageToken", "page_token", "eos_token", "token_type", "key", "keys"),
        *("primary_key", "SORT_KEY", "publicKey", "keyword", "hotkey", "password_hint", "password_policy", "secretary"),
        *("passenger", "bypass", "compass", "cookie_policy", "card", "discard", "author", "authority", "authors"),
        *(
            "name",
            "email",
            "user",
            "username",
            "city",
            "path",
            "PATH",
            "HOME",
            "has_password",
            "pinned",
            "spin",
            "gpio_pin",
        ),
        *("", "_", "123", "secret_name", "authorization_endpoint", "requestState", "oauth", "patch", "pattern", "id"),
    ],
)
def test_names_that_only_look_alike(name: str) -> None:
    assert not looks_secret(name)


@pytest.mark.parametrize(
    ("text", "leaks", "stays"),
    [
        (f"key is {KEY}.", "0123456789abcdef", "key is "),
        ("postgresql://ann:hunter2secret@db.example.org/x", "hunter2secret", "db.example.org/x"),
        ("see https://x.y/cb?token=abc123&page=2", "abc123", "&page=2"),
        ("https://x.y/?api_key=abc#frag", "=abc", "https://x.y/?api_key="),
        (f"Authorization: Bearer {JWT}", "c2lnbmF0dXJl", "Authorization: "),
        ("use Bearer abcdefgh12345678 now", "abcdefgh12345678", " now"),
        ("Basic dXNlcjpwYXNz in a header", "dXNlcjpwYXNz", "in a header"),
        ("Cookie: a=b; session=deadbeef\nHost: x", "deadbeef", "Host: x"),
        (f"a {JWT} b", "c2lnbmF0dXJl", "a "),
        (PEM, "MIIBdemo", "-----BEGIN PRIVATE KEY-----"),
        (PEM[:40], "MIIB", "-----BEGIN PRIVATE KEY-----"),
        ("ghp_" + "a1B2" * 9, "a1B2a1B2", ""),
        ("xoxb-" + "123456789012-abcdefghijkl", "abcdefghijkl", ""),
        ("AKIA" + "IOSFODNN7EXAMPLE is it", "IOSFODNN7EXAMPLE", " is it"),
        ("Settings(api_key='attr-secret-88', debug=True)", "attr-secret-88", "debug=True)"),
        ("{'user': 'ann', 'password': 'correct horse battery'}", "horse", "'user': 'ann'"),
        ('{"password": "it\'s \\"quoted\\"", "a": 1}', "it's", '"a": 1'),
        ('{\\"password\\": \\"hunter2\\", \\"a\\": 1}', "hunter2", '\\"a\\": 1'),
        ("password: correct horse battery\nnext: line", "battery", "next: line"),
        ('"password": "true love", "a": 1', "love", '"a": 1'),
        ("password: none shall pass user=ann", "shall", " user=ann"),
        ("CASE_SECRET_TOKEN=env-secret-value-77\nPATH=/usr/bin", "env-secret", "PATH=/usr/bin"),
        ("failed: invalid token=abc123 for ann", "abc123", " for ann"),
        ("server --api-key abc123 --port 80", "abc123", "--port 80"),
        ("server --token=abc123 x", "abc123", " x"),
        ('"cvv": 123, "n": 5', "123", '"n": 5'),
    ],
)
def test_a_secret_in_a_text_is_masked_and_the_rest_stays(text: str, leaks: str, stays: str) -> None:
    masked = redact_text(text)
    assert leaks not in masked and MASK in masked and stays in masked
    assert leaks not in str(redact({"out": [text]}))
    assert redact_text(masked) == masked


@pytest.mark.parametrize(
    "text",
    [
        "max_tokens=5, progressToken: 7, nextCursor: abc",
        "tokenizer: wordpiece; keyboard = us; monkey: 3",
        "Basic understanding of bearer certificates and Token authentication",
        "https://example.com:8080/a@b?q=1",
        "password=None token: null secret=",
        "def f(token: str, password: str)",
        "ask-me-anything-about-risk-assessment",
        "12:30:45 a=b c: d",
        "",
        "x",
        "sha256:" + "ab" * 32,
        "--bearer ${DOCS_KEY} takes it from the environment; --token ${A}.",
        "check the token (--bearer, --header)",
    ],
)
def test_harmless_text_stays_as_it_is(text: str) -> None:
    assert redact_text(text) == text


def test_values_are_masked_by_the_name_they_stand_under_at_any_depth() -> None:
    value: dict[str, Any] = {
        "headers": {"Authorization": "Bearer x", "X-Api-Key": "abc", "Accept": "application/json"},
        "password": ["a", {"b": "c", "n": 12, "ok": True, "none": None}],
        "max_tokens": 100,
        "argv": ["run", "--token", "abc", "--verbose", "--password", "--x"],
        "env": [{"name": "DB_PASSWORD", "value": "abc"}, {"name": "HOME", "value": "/h"}],
        "pair": ("token=abc", 1),
    }
    assert redact(value) == {
        "headers": {"Authorization": MASK, "X-Api-Key": MASK, "Accept": "application/json"},
        "password": [MASK, {"b": MASK, "n": MASK, "ok": True, "none": None}],
        "max_tokens": 100,
        "argv": ["run", "--token", MASK, "--verbose", "--password", "--x"],
        "env": [{"name": "DB_PASSWORD", "value": MASK}, {"name": "HOME", "value": "/h"}],
        "pair": (f"token={MASK}", 1),
    }


def test_a_schema_keeps_the_description_of_a_field_called_password_but_not_its_default() -> None:
    form = {
        "type": "object",
        "properties": {"password": {"type": "string", "title": "Password", "default": "abc"}, "token": "abc"},
        "required": ["password"],
    }
    assert redact(form) == {
        "type": "object",
        "properties": {"password": {"type": "string", "title": "Password", "default": MASK}, "token": MASK},
        "required": ["password"],
    }


def test_the_original_is_not_touched_and_a_clean_value_comes_back_equal() -> None:
    value = {"password": "abc", "list": [1, {"x": None}]}
    redact(value)
    assert value == {"password": "abc", "list": [1, {"x": None}]}
    clean: dict[str, Any] = {"a": [1, 2.5, None, True, "text"], "b": {"c": {}}}
    assert redact(clean) == clean and redact(clean) is not clean


def test_cycles_great_depth_and_foreign_objects_do_no_harm() -> None:
    loop: dict[str, Any] = {"token": "abc"}
    loop["self"] = [loop, loop]
    assert "abc" not in str(redact(loop))
    deep: Any = "token=abc"
    for _ in range(5000):
        deep = [deep]
    assert "abc" not in str(redact(deep))

    class Settings:
        def __repr__(self) -> str:
            return "Settings(api_key='abc')"

    assert redact(Settings()) == f"Settings(api_key='{MASK}')"
    assert redact({"password": Settings()}) == {"password": MASK}
    assert "abc" not in redact(b"password=abc") and "abc" not in redact({"password=abc"})


@given(st.recursive(st.none() | st.text() | st.integers(), lambda i: st.lists(i) | st.dictionaries(st.text(), i)))
def test_no_value_makes_it_raise_and_masking_twice_changes_nothing_more(value: Any) -> None:
    once = redact(value)
    assert redact(once) == once


@given(st.text(alphabet="ab:=\"'\\-_. \n{}token", max_size=60))
def test_no_text_makes_it_raise(text: str) -> None:
    assert isinstance(redact_text(text), str)


def test_none_of_the_collected_secrets_leaves() -> None:
    path = shared_path("cases/69-nb-secrets.py")
    spec = importlib.util.spec_from_file_location("case_69", path)
    assert spec is not None and spec.loader is not None
    case: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(case)
    names = ("OPENAI_API_KEY", "db_url", "config", "headers", "private_key", "settings")
    values = {name: getattr(case, name) for name in names}
    harmless = {name: getattr(case, name) for name in ("harmless_tokenizer", "keyboard", "monkey")}
    texts = (
        str(redact(values)),
        redact_text(repr(values)),
        redact_text(json.dumps({**values, "settings": repr(case.settings)})),
        redact_text(json.dumps(json.dumps({**values, "settings": repr(case.settings)}))),
        redact_text("CASE_SECRET_TOKEN=env-secret-value-77"),
    )
    for text in texts:
        assert [secret for secret in case.SECRETS if secret in text] == []
    assert redact(harmless) == harmless


# --- questions -------------------------------------------------------------------------------------------------------


def form(name: str = "answer", **field: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {name: {"type": "string", **field}}}


@pytest.mark.parametrize(
    ("schema", "message", "what"),
    [
        (form("password"), "", "a password"),
        (form("api_key"), "", "an API key"),
        (form("apiKey"), "", "an API key"),
        (form("value", title="GitHub token"), "", "a token"),
        (form("value", title="Your password"), "", "a password"),
        (form("value", description="Enter your credit card number"), "", "a card number"),
        (form("number", description="The card number on the front"), "", "a card number"),
        (form("cvv"), "", "a card's security code"),
        (form("pin", type="integer"), "", "a PIN"),
        (form("answer"), "Please enter your password to go on.", "a password"),
        (form("answer"), "What is your recovery phrase?", "a seed phrase"),
        (form("words", description="Paste the 12 words of your seed phrase"), "", "a seed phrase"),
        (form("answer"), "We need your one-time code", "a one-time code"),
        (form("v", format="password"), "", "a password"),
        (form("x", description="API key"), "", "an API key"),
        (form("Passwort"), "", "a password"),
        (form("answer"), "Introduce tu contraseña, por favor?", "a password"),
        (form("private_key"), "", "a private key"),
        (form("card_number", type=["string", "null"]), "", "a card number"),
    ],
)
def test_a_question_that_hunts_for_a_secret_is_recognised(schema: Any, message: str, what: str) -> None:
    found = secret_question(schema, message)
    assert found is not None and found.endswith(what)


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (form("name"), "What is your name?"),
        (form("email", format="email", title="E-mail"), "Where can we reach you?"),
        (form("max_tokens", type="integer", description="Most tokens to generate"), "How long?"),
        (form("username", description="Your GitHub username"), "Please provide your GitHub username"),
        (form("note"), "Never enter your password here. What is your note?"),
        (form("note"), "Do not share passwords or tokens with this form."),
        (form("keyboard", title="Keyboard layout"), "Which keyboard?"),
        (form("remember", type="boolean", title="Remember my password?"), "Settings"),
        (form("policy", enum=["strict", "lax"], title="Password policy"), "Which policy?"),
        (form("hint", title="Password hint"), "Settings"),
        (form("seat", title="Seat"), "Which seat on the flight?"),
        (form("discard", title="Discard card"), "Which card will you discard?"),
        (form("pinned", title="Pinned note"), "Which note is pinned?"),
        ({}, "Enter your password"),
        (None, "Enter your password"),
        ({"properties": {"ok": {"type": "boolean"}}}, "Shall I store your password in the keyring?"),
        ({"properties": None}, ""),
        ({"properties": {"a": None}}, "Anything"),
    ],
)
def test_a_harmless_question_is_left_alone(schema: Any, message: str) -> None:
    assert secret_question(schema, message) is None


def test_the_clause_names_the_field() -> None:
    assert secret_question(form("api_key")) == "the field `api_key` seems to ask for an API key"
    assert secret_question(form("x"), "Enter your password") == "the message seems to ask for a password"
