"""What a gateway that holds an endpoint's own token says with each request that it hands on, and hears with the answer.

    Jupyter-Mcp-User    whose request it is: each is a client of its own, with sessions, tasks and approvals of its own
    Jupyter-Mcp-Life    in a request: the life of the process that this client last had to do with, "?" when it is not
                        known; in the answer: the life of this one (16 hexadecimal digits), unless the client means
                        another and was not told: a stream that is opened again, or a list, tells nobody

A process that starts again has lost what it knew, behind the same address; a stateless client would not notice. So a
request that acts, and comes from a client of an earlier life, is refused once, and says why. Requests without these
headers come from nobody's gateway, and nothing changes for them.
"""

from __future__ import annotations

import hashlib
import re

__all__ = ["LIFE", "UNKNOWN", "USER", "is_another", "is_of_another_life", "principal_of"]

USER, LIFE, UNKNOWN = "Jupyter-Mcp-User", "Jupyter-Mcp-Life", "?"
_ACTS = frozenset(["tools/call", "resources/read", "prompts/get", "resources/subscribe"])
_LIFE = re.compile(r"[0-9a-f]{16}")


def principal_of(principal: str, user: str | None) -> str:
    """Who sends a request: the bearer of the token, or the user that the bearer speaks for."""
    if not user:
        return principal
    return f"{principal}.{hashlib.sha256(user.encode('latin-1', 'replace')).hexdigest()[:16]}"


def is_another(said: str | None, life: str) -> bool:
    """Whether a client says that it last had to do with a process that is not the one of this life."""
    return bool(life) and said is not None and said != life and _LIFE.fullmatch(said) is not None


def is_of_another_life(said: str | None, life: str, method: object) -> bool:
    """Whether a request of this method means a process that is no more."""
    return is_another(said, life) and isinstance(method, str) and method in _ACTS
