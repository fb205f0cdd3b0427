"""What a flow asks for, and what it gets: values only.

A flow is a generator. It yields a step and is sent its outcome:

    Request        Response               an HTTP request to a server of authorization
    Prepare        Redirect               where will the browser come back?
    VisitRequest   RedirectParams, text   a person visits a page
    Load           Stored or None         what is kept about an authorization server
    Save, Forget   None

Whatever goes wrong is raised in the flow, as an `AuthorizationFailed` in most cases. Nothing here shows a secret in a
repr. Above: the flows, and `driver` that does what they ask.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from urllib.parse import urlencode

from jupyter_mcp.client.auth.visit import Prepare, VisitRequest

if TYPE_CHECKING:
    from jupyter_mcp.client.auth.store import Stored, StoreKey

__all__ = ["Flow", "Forget", "Load", "Request", "Response", "Save", "Step"]

FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True, slots=True)
class Request:
    """An HTTP request.

    Attributes:
        step: what it is for, in words of the sentence that an error becomes ("registration").
        url: where it goes; it has been looked at.
        method: of HTTP.
        headers: its own.
        body: its bytes.
        secrets: texts that must not be told to anybody, should the other side repeat them.
        anywhere: a person named the URL, so it may be of our own network.
    """

    step: str
    url: str
    method: Literal["GET", "POST"] = "GET"
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    body: bytes = field(default=b"", repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)
    anywhere: bool = False

    @classmethod
    def form(
        cls,
        step: str,
        url: str,
        fields: Mapping[str, str],
        headers: Mapping[str, str],
        secret: str | None = None,
        *,
        anywhere: bool = False,
    ) -> Request:
        """A form that is posted. Values of fields that are secrets count as such, and `secret` which headers hold."""
        private = [one for name, one in fields.items() if name in _PRIVATE]
        private += [one for one in (secret, *(headers.values())) if one]
        all_headers = {"Accept": "application/json", "Content-Type": FORM, **headers}
        secrets = tuple(one for one in private if len(one) >= _SHORTEST)
        return cls(step, url, "POST", all_headers, urlencode(fields).encode(), secrets, anywhere)

    @classmethod
    def json(cls, step: str, url: str, value: Any) -> Request:
        """JSON that is posted."""
        headers = {"Accept": "application/json", "Content-Type": "application/json"}
        return cls(step, url, "POST", headers, json.dumps(value).encode())


_SHORTEST = 4
_PRIVATE = frozenset(
    (
        *("code", "code_verifier", "client_secret", "client_assertion", "assertion"),
        *("refresh_token", "subject_token", "actor_token", "token", "password"),
    )
)


@dataclass(frozen=True, slots=True)
class Response:
    """An answer, read to its end.

    Attributes:
        status: of HTTP.
        headers: by name in lower case.
        body: its bytes, bounded.
    """

    status: int
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    body: bytes = field(default=b"", repr=False)

    @property
    def media_type(self) -> str:
        """The content type without parameters, in lower case."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


@dataclass(frozen=True, slots=True)
class Load:
    """What is kept under this key?"""

    key: StoreKey


@dataclass(frozen=True, slots=True)
class Save:
    """Keep this."""

    key: StoreKey
    stored: Stored


@dataclass(frozen=True, slots=True)
class Forget:
    """Keep what is under this key no more."""

    key: StoreKey


Step = Request | Prepare | VisitRequest | Load | Save | Forget
T = TypeVar("T")
Flow = Generator[Step, Any, T]
