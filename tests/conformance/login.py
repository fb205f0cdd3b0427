"""How the client under test logs in: the settings that a scenario's data calls for, and a browser without a person.

The suites' authorization pages let everybody in: the page is asked for, and where it redirects to is the answer.
Nothing else of logging in is here; it is the product's.
"""

from __future__ import annotations

import asyncio
import http.client
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from jupyter_mcp.client.auth.clientcredentials import ClientCredentials
from jupyter_mcp.client.auth.enterprise import Enterprise
from jupyter_mcp.client.auth.oauth import OAuth
from jupyter_mcp.client.auth.settings import OAuthSettings
from jupyter_mcp.client.auth.store import MemoryStore
from jupyter_mcp.client.auth.visit import Prepare, Redirect, VisitRequest
from jupyter_mcp.client.auth.workload import Workload

if TYPE_CHECKING:
    from collections.abc import Mapping

DOCUMENT = "https://conformance-test.local/client-metadata.json"
REDIRECT = "http://127.0.0.1:9/callback"  # nobody listens: nobody follows
LIMIT = 20.0  # seconds for the page


class Browser:
    """Implements `Visit`."""

    async def prepare(self, context: Prepare) -> Redirect:
        return Redirect(REDIRECT)

    async def visit(self, request: VisitRequest) -> str:
        return await asyncio.to_thread(redirected, request.authorize_url)


def redirected(url: str) -> str:
    """Where a page redirects to."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=LIMIT)
    try:
        connection.request("GET", urlunsplit(("", "", parts.path, parts.query, "")))
        return connection.getresponse().getheader("Location") or ""
    finally:
        connection.close()


def settings(scenario: str, context: Mapping[str, Any]) -> OAuthSettings:
    """What a person would have set for it."""
    kind = scenario.removeprefix("auth/")
    ours = OAuthSettings(
        client_id=context.get("client_id"), client_secret=context.get("client_secret"), issuer=context.get("issuer")
    )
    if kind == "basic-cimd":
        return OAuthSettings(document=DOCUMENT)
    if kind == "client-credentials-basic":
        return OAuthSettings(client_id=ours.client_id, client_secret=ours.client_secret, grant=ClientCredentials())
    if kind == "client-credentials-jwt":
        key, algorithm = context["private_key_pem"], context["signing_algorithm"]
        return OAuthSettings(client_id=ours.client_id, private_key=key, algorithm=algorithm, grant=ClientCredentials())
    if kind == "wif-jwt-bearer":
        return OAuthSettings(client_id=ours.client_id, grant=Workload(context["valid_jwt"]))
    if "idp_token_endpoint" in context:
        grant = Enterprise(context["idp_token_endpoint"], context["idp_id_token"], context["idp_client_id"])
        return OAuthSettings(client_id=ours.client_id, client_secret=ours.client_secret, grant=grant)
    return ours


def authorization(url: str, scenario: str, context: Mapping[str, Any]) -> OAuth:
    """What `HttpOptions.authorization` takes."""
    return OAuth(url, settings=settings(scenario, context), visit=Browser(), store=MemoryStore(), name="conformance")
