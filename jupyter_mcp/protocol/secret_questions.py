"""Does a question put to a person hunt for a secret? Read through `secrets`.

The protocol forbids servers to ask for passwords, keys, tokens and cards by form; names and e-mail addresses are fine.
The field names, titles, descriptions and the message are read for words; the answer is a clause for a warning.

Source: spec "Elicitation / security considerations", all revisions that have it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from jupyter_mcp.protocol.secret_names import looks_secret

_KINDS: tuple[tuple[str, str], ...] = (
    (r"pass[ -]?words?|passwd|pass[ -]?codes?|passwor[dt]", "a password"),
    (r"contraseñas?|mot de passe|kennwort|senha|hasło|пароль|密码|密碼|パスワード|비밀번호", "a password"),
    (r"pass[ -]?phrases?", "a passphrase"),
    (r"(?:seed|recovery|secret|backup)[ -](?:phrases?|words)|mnemonic(?: phrase)?", "a seed phrase"),
    (r"private[ -]keys?|ssh[ -]keys?", "a private key"),
    (r"(?:api|access|secret|licen[cs]e|encryption|account)[ -]?keys?", "an API key"),
    (
        r"(?:access|api|auth|authentication|authorization|bearer|refresh|session|personal|secret|security|github|gitlab|"
        r"slack|login|bot|user)[ -]tokens?",
        "a token",
    ),
    (r"(?:client|api|app|shared)[ -]secrets?|credentials", "a secret"),
    (r"(?:credit|debit|bank|payment)[ -]?cards?(?: (?:number|no|details?|data))?", "a card number"),
    (r"card (?:number|no|details)", "a card number"),
    (r"cvv2?|cvc2?|card (?:security|verification) code", "a card's security code"),
    (r"pin(?:[ -]?(?:code|number))?", "a PIN"),
    (
        r"(?:one[ -]time|verification|2fa|mfa|otp|security|login|recovery|backup)[ -](?:code|pin)s?|otp",
        "a one-time code",
    ),
    (r"social security(?: number)?|ssn", "a social security number"),
)
# no `\b`: scripts without blanks between words have no word boundaries
_PATTERNS = tuple(
    (re.compile(rf"(?<![A-Za-z0-9_-])(?:{words})(?![A-Za-z0-9_-])", re.IGNORECASE), what) for words, what in _KINDS
)
# a text hunts when it asks, not when it merely mentions
_ASKS = re.compile(
    r"\b(?:enter|provide|type|paste|give|share|send|submit|supply|insert|confirm|input|need|needs|require[sd]?|what is|"
    r"what's|tell|your|verify|fill|please)\b|\?|:\s*$",
    re.IGNORECASE,
)
_NEGATED = re.compile(
    r"\b(?:do not|don't|never|no|not|without|instead of|rather than|avoid)\b[^.!?]{0,40}$", re.IGNORECASE
)
# what may follow such a word and turn it into something else ("password policy")
_OTHER_HEAD = re.compile(
    r"\s+(?:hint|policy|policies|length|count|limit|manager|name|type|reset|strength|expiry|url|field|page)s?\b",
    re.IGNORECASE,
)
_TYPED = ("string", "number", "integer")


def secret_question(schema: object, message: str = "") -> str | None:
    """What secret a form seems to hunt for, as a clause ("the field `api_key` seems to ask for an API key"), or None.

    Args:
        schema: the `requestedSchema` of the elicitation.
        message: its message.
    """
    typed = 0
    for name, field in _fields(schema):
        if not _takes_typing(field):
            continue
        typed += 1
        if what := _field_hunts(name, field):
            return f"the field `{name}` seems to ask for {what}"
    what = _text_hunts(message) if typed else None
    return f"the message seems to ask for {what}" if what else None


def _fields(schema: object) -> Iterator[tuple[str, Mapping[str, Any]]]:
    properties = cast("Mapping[str, Any]", schema).get("properties") if isinstance(schema, Mapping) else None
    if isinstance(properties, Mapping):
        for name, field in cast("Mapping[Any, Any]", properties).items():
            yield str(name), cast("Mapping[str, Any]", field) if isinstance(field, Mapping) else {}


def _takes_typing(field: Mapping[str, Any]) -> bool:
    """Whether a person types the value: a choice, a date, an address or a check box cannot carry a secret."""
    if "enum" in field or "oneOf" in field or "const" in field or field.get("format") in ("date", "date-time", "email"):
        return False
    kind = field.get("type", "string")
    kinds = cast("list[Any]", kind) if isinstance(kind, list) else [kind]
    return any(item in _TYPED for item in kinds) or "array" in kinds


def _field_hunts(name: str, field: Mapping[str, Any]) -> str | None:
    title, description = field.get("title"), field.get("description")
    for text in (name, title):
        if isinstance(text, str) and looks_secret(text):
            return _what(text) or ("a token" if text.lower().rstrip().endswith("token") else "a secret")
    if isinstance(title, str) and len(title) < 60 and (what := _what(title)):
        return what
    if field.get("format") == "password" or field.get("writeOnly") is True:
        return "a password"
    return _text_hunts(description) if isinstance(description, str) else None


def _what(text: str) -> str | None:
    """What secret a name or a title means."""
    words = re.sub(r"[_\W]+|(?<=[a-z])(?=[A-Z])", " ", text).strip()
    return next((what for pattern, what in _PATTERNS if _means(pattern, words)), None)


def _text_hunts(text: str) -> str | None:
    """What secret a sentence asks for, if it asks and does not warn against it."""
    for sentence in re.split(r"(?<=[.!?])\s+|\n+", text[:4000]):
        if _ASKS.search(sentence) or len(sentence) <= 40:
            for pattern, what in _PATTERNS:
                if _means(pattern, sentence):
                    return what
    return None


def _means(pattern: re.Pattern[str], text: str) -> bool:
    found = pattern.search(text)
    return found is not None and not _NEGATED.search(text[: found.start()]) and not _OTHER_HEAD.match(text, found.end())
