"""Secrets masked in what a notebook shows to agents: by their names, by their looks, and those of the environment.

`protocol.secrets` knows what a secret looks like; here the values that this process was given are known as well.
"""

from __future__ import annotations

import os
from typing import Any

from jupyter_mcp.host.redaction import MASK, Redactor, worth_masking
from jupyter_mcp.protocol.secrets import looks_secret

__all__ = ["MASK", "redact", "secrets_of_environment"]


def redact(value: Any) -> Any:
    """A deep copy of a text or of JSON-like data with secrets masked."""
    return _current()[1].clean(value)


def secrets_of_environment() -> frozenset[str]:
    """The values of environment variables that are named like secrets, as far as they are `worth_masking`."""
    return _current()[0]


_last: tuple[object, tuple[frozenset[str], Redactor]] | None = None


def _current() -> tuple[frozenset[str], Redactor]:
    """What is known now: read anew when the environment is another one."""
    global _last
    state = tuple(vars(os.environ).get("_data", {}).items())  # as it is kept, which is compared in a microsecond
    held = _last
    if held is not None and state and held[0] == state:
        return held[1]
    found = frozenset(value for name, value in tuple(os.environ.items()) if looks_secret(name) and worth_masking(value))
    cleaner = Redactor()
    cleaner.learn(found)
    _last = (state, (found, cleaner))
    return found, cleaner
