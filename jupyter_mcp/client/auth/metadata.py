"""The two documents that a login follows, read from JSON of strangers: of a resource, of an authorization server.

A field that is not of its type counts as absent; one that a login needs and that is absent is an error of its own,
raised where it is needed. Lists are bounded.

Source: RFC 9728, RFC 8414, OpenID Connect Discovery 1.0; RFC 9207, RFC 9449, the draft on client id metadata documents.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["ResourceMetadata", "ServerMetadata", "read_resource", "read_server"]

_MOST = 200  # entries of a list
_LONGEST = 4096  # characters of a text


@dataclass(frozen=True, slots=True)
class ResourceMetadata:
    """What a protected resource says of itself.

    Attributes:
        resource: its identifier; None when it names none.
        authorization_servers: issuers whose tokens it takes.
        scopes: all that there are; None when it does not say.
        dpop_required: it takes only tokens that are bound to a key.
    """

    resource: str | None
    authorization_servers: tuple[str, ...]
    scopes: tuple[str, ...] | None
    dpop_required: bool = False


@dataclass(frozen=True, slots=True)
class ServerMetadata:
    """What an authorization server says of itself; a tuple that is None was not said, an address that is "" neither.

    Attributes:
        issuer: its name, to the letter.
        token_methods: how its token endpoint learns who a client is.
        token_algorithms: in which private_key_jwt may be signed.
        pkce_methods: code challenge methods.
        takes_documents: a client id may be the URL of a document about the client.
        says_issuer: its answers through the browser name it (`iss`).
        dpop_algorithms: in which proofs of possession may be signed; None when it knows no such thing.
        assumed: nothing was said: the addresses are those of 2025-03-26 for servers without metadata.
    """

    issuer: str
    authorization_endpoint: str = ""
    token_endpoint: str = ""
    registration_endpoint: str = ""
    revocation_endpoint: str = ""
    scopes: tuple[str, ...] | None = None
    grants: tuple[str, ...] | None = None
    token_methods: tuple[str, ...] | None = None
    token_algorithms: tuple[str, ...] | None = None
    pkce_methods: tuple[str, ...] | None = None
    takes_documents: bool = False
    says_issuer: bool = False
    dpop_algorithms: tuple[str, ...] | None = None
    assumed: bool = False


def read_resource(document: Mapping[str, Any]) -> ResourceMetadata:
    """RFC 9728, section 2."""
    return ResourceMetadata(
        _text(document, "resource") or None,
        _texts(document, "authorization_servers") or (),
        _texts(document, "scopes_supported"),
        document.get("dpop_bound_access_tokens_required") is True,
    )


def read_server(document: Mapping[str, Any]) -> ServerMetadata:
    """RFC 8414, section 2."""
    return ServerMetadata(
        _text(document, "issuer"),
        _text(document, "authorization_endpoint"),
        _text(document, "token_endpoint"),
        _text(document, "registration_endpoint"),
        _text(document, "revocation_endpoint"),
        _texts(document, "scopes_supported"),
        _texts(document, "grant_types_supported"),
        _texts(document, "token_endpoint_auth_methods_supported"),
        _texts(document, "token_endpoint_auth_signing_alg_values_supported"),
        _texts(document, "code_challenge_methods_supported"),
        document.get("client_id_metadata_document_supported") is True,
        document.get("authorization_response_iss_parameter_supported") is True,
        _texts(document, "dpop_signing_alg_values_supported"),
    )


def _text(document: Mapping[str, Any], name: str) -> str:
    value = document.get(name)
    return value if isinstance(value, str) and len(value) <= _LONGEST else ""


def _texts(document: Mapping[str, Any], name: str) -> tuple[str, ...] | None:
    value: object = document.get(name)
    if not isinstance(value, list):
        return None
    found = [one for one in cast("list[object]", value)[:_MOST] if isinstance(one, str) and 0 < len(one) <= _LONGEST]
    return tuple(dict.fromkeys(found))
