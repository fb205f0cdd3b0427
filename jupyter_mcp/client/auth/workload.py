"""The place where we run says who we are: a token of the platform (a cluster, a cloud) is traded in. A flow.

A refusal is final: neither is it tried again, nor in another way.

Source: the draft extension `io.modelcontextprotocol/auth/wif` (SEP-1933); RFC 7523 section 2.1.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from jupyter_mcp.client.auth.tokens import ask
from jupyter_mcp.errors import AuthorizationFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from jupyter_mcp.client.auth.steps import Flow
    from jupyter_mcp.client.auth.store import Tokens
    from jupyter_mcp.client.auth.tokens import Asking

__all__ = ["JWT_BEARER", "Workload"]

JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"


@dataclass(frozen=True, slots=True)
class Workload:
    """The grant.

    Attributes:
        assertion: the platform's token, or a function that gives a fresh one for an audience (the issuer).
    """

    assertion: str | Callable[[str], str] = field(repr=False)

    def tokens(self, asking: Asking, resource: str, scopes: Sequence[str]) -> Flow[Tokens]:
        """Tokens for this workload. Raises `AuthorizationFailed`."""
        assertion = self.assertion if isinstance(self.assertion, str) else self.assertion(asking.issuer)
        if not assertion:
            raise AuthorizationFailed("The platform gave no token for this workload.", step="the workload's token")
        form = {"grant_type": JWT_BEARER, "assertion": assertion, "resource": resource}
        if scopes:
            form["scope"] = " ".join(scopes)
        return ask(asking, form, scopes)
