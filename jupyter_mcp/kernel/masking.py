"""Secrets masked in what a notebook shows to agents: by their names, by their looks, and those of the environment.

`protocol.secrets` knows what a secret looks like; here the values that this process was given are known as well.
"""

from __future__ import annotations

import os
from typing import Any

from jupyter_mcp.host.redaction import MASK, Redactor
from jupyter_mcp.protocol.secrets import looks_secret

__all__ = ["MASK", "redact", "secrets_of_environment"]

SHORTEST = 6  # characters: a shorter value would mask half of every text


def redact(value: Any) -> Any:
    """A deep copy of a text or of JSON-like data with secrets masked."""
    cleaner = Redactor()
    cleaner.learn(secrets_of_environment())
    return cleaner.clean(value)


def secrets_of_environment() -> frozenset[str]:
    """The values of environment variables that are named like secrets."""
    return frozenset(
        value for name, value in tuple(os.environ.items()) if len(value) >= SHORTEST and looks_secret(name)
    )
