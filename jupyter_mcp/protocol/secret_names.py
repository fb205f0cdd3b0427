"""Names that probably mean a secret: of variables, fields, headers, options. Read through `secrets`.

A name is cut into words and judged by the last one that counts, so that `password_hint`, `token_count`, `tokenizer`,
`keyboard`, `max_tokens` and `nextPageToken` are no secrets and `DB_PASSWORD`, `accessToken` and `x-api-key` are.
"""

from __future__ import annotations

import re
from functools import lru_cache

# ASCII words in camelCase, snake_case and kebab-case; runs of other letters
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")


def _set(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())


_STRONG = _set(
    "password passwd passwort kennwort passphrase passcode pwd secret secrets credential credentials authorization",
    "cookie cookies jwt bearer cvv cvc mnemonic ssn otp totp pincode senha wachtwoord",
)
_ENDINGS = re.compile(
    r"(?:password|passwd|passphrase|apikey|secretkey|privatekey|accesskey|authtoken|accesstoken|apitoken|refreshtoken|"
    r"clientsecret)s?$"
)
_KEYS_OF = _set(
    "access account admin api auth client encryption license master private secret service session shared signing ssh",
    "subscription webhook x",
)
_PAIRS = frozenset(
    (
        *(f"{word} key" for word in _KEYS_OF),
        *(f"{word} keys" for word in ("access", "api", "private", "secret")),
        *(f"{word} tokens" for word in ("access", "api", "auth", "refresh")),
        *("seed phrase", "recovery phrase", "secret phrase", "seed words", "session id"),
        *("recovery code", "recovery codes", "backup code", "backup codes", "verification code", "security code"),
        *("access code", "auth code", "login code", "pin code", "pin number", "card code", "x auth"),
        *("card number", "card no", "card num", "credit card", "debit card"),
    )
)
# what a `token` or a `key` belongs to where it is no secret
_MILD_TOKENS = _set(
    "progress page next nextpage continuation cancel cancellation pad eos bos unk sep cls mask start end sync delta",
    "stop special prev previous last first resume cursor per input output prompt completion related count",
)
_MILD_KEYS = _set(
    "public primary foreign sort cache partition group hot row map object index unique dict shift return enter"
)
# what a `pass` or a `pin` belongs to where it is one
_PASS_OF = _set("db user smtp imap redis mysql pg postgres mongo sudo root admin login auth http proxy my")
_PIN_OF = _set("atm sim card bank security user login account your new old current confirm")
# words that may follow the one that counts
_TAILS = _set(
    "value text string header plain plaintext confirm confirmation confirmed again repeat old new current prod dev",
    "test live staging production base b64 base64 pem hash hex raw env input field main default",
)
_QUANTITIES = _set("has is num max min total count show hide")
_FOREIGN = (
    *("contraseña", "contrasena", "mot de passe", "motdepasse", "mot_de_passe", "hasło", "пароль"),
    *("密码", "密碼", "パスワード", "비밀번호"),
)


@lru_cache(maxsize=4096)
def looks_secret(name: str) -> bool:
    """Whether a variable, field, header or option of this name probably holds a secret."""
    name = name[-200:]
    lower = name.lower()
    if any(word in lower for word in _FOREIGN):
        return True
    words = [word.lower() for word in _WORDS.findall(name)]
    while len(words) > 1 and (words[-1] in _TAILS or words[-1].isdigit()):
        words.pop()
    if not words or words[0] in _QUANTITIES:
        return False
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if last in _STRONG or f"{before} {last}" in _PAIRS or _ENDINGS.search(last):
        return True
    if last == "token":
        return before not in _MILD_TOKENS
    if last == "pass":
        return not before or before in _PASS_OF or name.isupper()
    if last == "pin":
        return not before or before in _PIN_OF
    if last == "pat":  # GITHUB_PAT: a personal access token
        return name.isupper()
    # OPENAI_KEY, DOCS_KEY: an environment variable's way to name one
    return last == "key" and bool(before) and name.isupper() and before not in _MILD_KEYS
