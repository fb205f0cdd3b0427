"""What may be shown of a value: secrets by their names and shapes, and the very values this kernel gave to servers.

`protocol.secrets` knows what secrets look like; here stands what they are: the values of variables and headers that
were filled in for a server are masked wherever they turn up (a server's stderr, its replies, our errors). What a
person wants hidden besides is in `hiding`.
"""

from __future__ import annotations

import contextlib
import os
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import parse_qsl, unquote, urlsplit

from jupyter_mcp.host.learnt import Learnt
from jupyter_mcp.protocol import secrets
from jupyter_mcp.protocol.secrets import MASK

if TYPE_CHECKING:
    from jupyter_mcp.host.hiding import HideRule, RuleKind
    from jupyter_mcp.host.specs import ServerSpec

__all__ = ["MASK", "Redactor", "worth_masking"]

_SAYING = ("message", "hint", "body", "challenge", "stderr", "data")  # attributes of errors that quote somebody
_MOST_BEHIND = 20  # errors behind an error
_SHORTEST = 6  # shorter values ("1", "true", "debug") would mask half of every text
_COMMON = frozenset(  # what a variable with a secret's name holds where there is no secret, or none worth the name
    (
        "bearer", "changeme", "default", "development", "disabled", "enabled", "example", "keyring", "localhost",
        "notset", "optional", "password", "production", "required", "secret", "staging", "testing", "undefined",
    )
)  # fmt: skip
_DIFFERENT = 3  # characters; a row of one or two ("------", "0101010101") is in many texts


class Redactor:
    """Masks secrets in copies; never changes what it is given."""

    def __init__(self) -> None:
        self._known = Learnt()
        self.rules: tuple[HideRule, ...] = ()

    def hide(self, kind: RuleKind, what: str) -> HideRule:
        """A person's rule: what it names is masked from now on, also in what is on record. Raises `UsageError`."""
        from jupyter_mcp.host.hiding import HideRule

        rule = HideRule(kind, what)
        if rule not in self.rules:
            self.rules = (*self.rules, rule)
        return rule

    def learn(self, values: Iterable[str]) -> None:
        """These exact texts are secret from now on, but for those that are not `worth_masking`."""
        self._known.add(filter(worth_masking, values))

    def learn_spec(self, written: ServerSpec, filled: ServerSpec) -> None:
        """Learn what was filled in for a server: variables passed, placeholders, and what is named like a secret."""
        self.learn(filled.env[name] for name in written.pass_env if secrets.looks_secret(name))
        self.learn(value for name, value in filled.env.items() if secrets.looks_secret(name))  # those of an envFile too
        for before, after in ((written.env, filled.env), (written.headers, filled.headers)):
            for name, text in before.items():
                filled_in = "${" in text and (before is written.headers or _hides(name, text))
                if name in after and (secrets.looks_secret(name) or filled_in):
                    self.learn(_without_scheme(after[name]))
        texts = (*(written.args if len(written.args) == len(filled.args) else ()), written.url)  # inputs left out
        for text, value in zip(texts, (*filled.args[: len(texts) - 1], filled.url), strict=True):
            if text != value and _hides("", text):
                self.learn([value])
        self.learn([filled.login.client_secret] if filled.login.client_secret else [])
        self.learn(_inside(filled.url))
        self.learn(_inside(filled.way.proxy))

    @property
    def state(self) -> object:
        """Equal as long as nothing more and nothing less is masked: what was cleaned before is still clean."""
        return (self.rules, len(self._known))

    def clean(self, value: Any) -> Any:
        """A deep copy with every secret masked."""
        if self.rules:
            from jupyter_mcp.host.hiding import hidden

            value = hidden(value, self.rules)
        cleaned = secrets.redact(value)
        return self._mask(cleaned) if self._known else cleaned

    def text(self, text: str) -> str:
        """A text with every secret masked."""
        return str(self.clean(text))

    def known(self, value: Any) -> Any:
        """A deep copy in which only the learnt texts are masked; for what else looks like a secret may be meant."""
        return self._mask(value) if self._known else value

    def error(self, error: BaseException, mask: Callable[[Any], Any] | None = None) -> None:
        """Mask in place what an error says, and those that it came from: a traceback and a repr show them all.

        Args:
            error: it may quote a server, which may quote what we sent.
            mask: `clean` (the default) or `known`.
        """
        mask = mask or self.clean
        behind: BaseException | None = error
        for _ in range(_MOST_BEHIND):
            if behind is None:
                return
            behind.args = tuple(mask(arg) if isinstance(arg, str) else arg for arg in behind.args)
            for name in _SAYING:
                said = getattr(behind, name, None)
                if said:
                    setattr(behind, name, self.known(said) if name == "hint" else mask(said))  # hints are our own words
            behind = behind.__cause__ or behind.__context__

    def _mask(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._known.mask(value)
        if isinstance(value, Mapping):
            return {self._mask(key): self._mask(item) for key, item in cast("Mapping[Any, Any]", value).items()}
        if isinstance(value, list | tuple):
            return [self._mask(item) for item in cast("Iterable[Any]", value)]
        return value


def worth_masking(value: str) -> bool:
    """Whether a text can be masked wherever it turns up, without the mask hiding what is no secret.

    Not when it is short or an everyday word, or the path of something that is there: `PWD` is named like a password,
    `GOOGLE_APPLICATION_CREDENTIALS` like the key that lies in the file.
    """
    if len(value) < _SHORTEST or len(set(value)) < _DIFFERENT or value.lower() in _COMMON:
        return False
    return not (("/" in value or os.sep in value) and _is_there(value))


def _is_there(path: str) -> bool:
    try:
        return os.path.exists(os.path.expanduser(path))
    except ValueError:  # a null character
        return False


def _hides(name: str, text: str) -> bool:
    """Whether a placeholder in this text refers to something named like a secret."""
    from jupyter_mcp.host.specs.expand import variables

    return secrets.looks_secret(name) or any(secrets.looks_secret(variable) for variable in variables(text))


def _inside(url: str) -> list[str]:
    """The secrets that a URL holds: its password (or the token that is its user), what becomes of both in the header
    `Authorization`, and values of its query that are named like a secret.
    """
    try:
        parts = urlsplit(url)
        user, password, query = parts.username or "", parts.password or "", parse_qsl(parts.query)
    except ValueError:
        return []
    pair = f"{unquote(user)}:{unquote(password)}"
    sent = [b64encode(pair.encode()).decode(), pair] if user or password else []
    secret = password or user
    return [secret, unquote(secret), *sent, *(value for name, value in query if secrets.looks_secret(name))]


def _without_scheme(value: str) -> list[str]:
    """The value, what follows a word such as Bearer in it, and the password that Basic hides from no one (RFC 7617)."""
    scheme, space, rest = value.partition(" ")
    if not space or scheme.lower() not in ("bearer", "basic", "token"):
        return [value]
    found = [value, rest.strip()]
    if scheme.lower() == "basic":
        with contextlib.suppress(ValueError):
            pair = b64decode(rest.strip(), validate=True).decode()
            found += [pair, pair.partition(":")[2]]
    return found
