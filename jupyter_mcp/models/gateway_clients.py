"""A client for one provider, made by hand: its address, key and headers are the ones given here and no others.

The providers' libraries look into the environment for keys, addresses, organisations and headers of their own accord.
So each of these is said to them, and every request is looked at once more before it leaves: it goes to the address that
was named, carries the one key that was named or none, and no header that nobody asked for.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from jupyter_mcp.errors import ProviderError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from jupyter_mcp.models.gateway_library import Library
    from jupyter_mcp.models.providers import Provider

__all__ = ["LOOPBACK", "SILENCE", "Access", "Client", "client", "embedding_client"]

SILENCE = 300.0  # seconds that a provider may be silent
_CONNECT = 10.0  # seconds
_NO_KEY = "none"  # the libraries refuse to work without any
LOOPBACK = ("localhost", "127.0.0.1", "::1")
_HEADERS = frozenset(
    {
        *("accept", "accept-encoding", "connection", "content-length", "content-type", "host", "transfer-encoding"),
        *("user-agent", "anthropic-version", "anthropic-beta"),
    }
)
_OF_OPENAI = frozenset({"openai-organization", "openai-project"})
_TELLING = ("x-stainless-", "x-goog-api-client")  # which version of which library asks


@dataclass(frozen=True)
class Access:
    """How a model is reached.

    Attributes:
        provider: whose it is, or whose API it speaks.
        url: the address of the API.
        key: returns the key at the time of use, or None.
        own: whether the address is the provider's own.
        timeout: seconds that the provider may be silent.
    """

    provider: Provider
    url: str
    key: Callable[[], str | None] = field(repr=False)
    own: bool = True
    timeout: float = SILENCE


@dataclass(frozen=True)
class Client:
    """A model of pydantic-ai, and the connections that have to be closed after it."""

    model: Any
    http: Any


def client(library: Library, access: Access, model: str, key: str | None) -> Client:
    """Make a client; nothing is sent yet."""
    http = _http(library, access, key)
    provider = _provider(library, access, key, http)
    return Client(library.model(model, provider=provider, profile=_profile(access)), http)


def embedding_client(kind: Any, library: Library, access: Access, model: str, key: str | None) -> Client:
    """The same for vectors, from pydantic-ai's class of such models."""
    http = _http(library, access, key)
    return Client(kind(model, provider=_provider(library, access, key, http)), http)


def _provider(library: Library, access: Access, key: str | None, http: Any) -> Any:
    make = {"openai": _openai, "anthropic": _anthropic, "google": _google}[access.provider.wire]
    return make(library, access, key or _NO_KEY, http)


def _profile(access: Access) -> dict[str, Any] | None:
    """Where the API of a provider differs from what its library takes for granted."""
    if access.provider.wire != "openai":
        return None
    found = {"openai_chat_streaming_requires_finish_reason": True}  # a stream without an end broke off
    if not _is_openai(access):  # only the older of the two words for it is understood everywhere
        found["openai_chat_supports_max_completion_tokens"] = False
    return found


def _is_openai(access: Access) -> bool:
    return access.own and access.provider.name == "openai"


def _openai(library: Library, access: Access, key: str, http: Any) -> Any:
    sdk = library.sdk.AsyncOpenAI(api_key=key, base_url=access.url, http_client=http, max_retries=0)
    if library.others is None or _is_openai(access):
        return library.providers.OpenAIProvider(openai_client=sdk)
    return library.others.OpenAICompatibleProvider(access.provider.name, openai_client=sdk)


def _anthropic(library: Library, access: Access, key: str, http: Any) -> Any:
    sdk = library.sdk.AsyncAnthropic(api_key=key, base_url=access.url, http_client=http, max_retries=0)
    return library.providers.AnthropicProvider(anthropic_client=sdk)


def _google(library: Library, access: Access, key: str, http: Any) -> Any:
    return library.providers.GoogleProvider(api_key=key, base_url=access.url, http_client=http)


def _http(library: Library, access: Access, key: str | None) -> Any:
    """Connections of its own. What is on this machine is reached directly, whatever proxy the environment names."""
    near = urlsplit(access.url).hostname in LOOPBACK
    timeout = library.http.Timeout(access.timeout, connect=min(_CONNECT, access.timeout))
    hooks = {"request": [_guard(access, key)]}
    return library.http.AsyncClient(timeout=timeout, trust_env=not near, event_hooks=hooks)


def _guard(access: Access, key: str | None) -> Callable[[Any], Awaitable[None]]:
    """The last look at each request, also at one that follows a redirect."""
    place = urlsplit(access.url)
    allowed = _HEADERS | _OF_OPENAI if _is_openai(access) else _HEADERS
    credentials = _credentials(access.provider, key)

    async def look(request: Any) -> None:
        there = urlsplit(str(request.url))
        if (there.scheme, there.hostname, there.port) != (place.scheme, place.hostname, place.port):
            raise ProviderError(f"{access.provider.title} points elsewhere, to {there.hostname}; it was not followed.")
        for name in list(request.headers):
            if name.lower() not in allowed and not name.lower().startswith(_TELLING):
                del request.headers[name]
        request.headers.update(credentials)

    return look


def _credentials(provider: Provider, key: str | None) -> dict[str, str]:
    """The one header that carries the key."""
    if key is None:
        return {}
    if provider.wire == "openai":
        return {"Authorization": f"Bearer {key}"}
    return {"x-api-key" if provider.wire == "anthropic" else "x-goog-api-key": key}
