"""What went wrong at a provider, in one sentence for people, and whether it is worth another attempt. Pure.

What the provider said is quoted, shortened, without the key.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import ProviderError
from jupyter_mcp.protocol.shapes import is_mapping, mapping_of

if TYPE_CHECKING:
    from jupyter_mcp.models.gateway_clients import Access
    from jupyter_mcp.models.gateway_library import Library

__all__ = ["told", "worth_another"]

_TOO_LONG = "exceed_context_size_error"  # llama.cpp's own word
_LONGEST = 300  # characters of what the provider said


def worth_another(library: Library, error: Exception) -> bool:
    """Whether the same request may well succeed a little later: it was not taken, or the provider failed."""
    kinds = library.exceptions
    if isinstance(error, (kinds.ModelQuotaExceededError, kinds.ModelTimeoutError)):
        return False
    return isinstance(
        error,
        (kinds.ModelRateLimitError, kinds.ModelUnavailableError, kinds.ModelServerError, kinds.ModelConnectionError),
    )


def told(library: Library, error: Exception, model: str, access: Access, key: str | None) -> ProviderError:
    """The error as this package tells it.

    Args:
        library: pydantic-ai.
        error: what it raised.
        model: the provider's name of the model.
        access: how it was reached.
        key: that was used; it is taken out of what is quoted.
    """
    status = getattr(error, "status_code", None)
    message, hint = _sentence(library, error, model, access, f" ({status})" if status else "")
    quoted = _quoted(error, key)
    if quoted and not message.endswith("."):
        message = f"{message}: {quoted}"
    return ProviderError(message, status=status, retry_after=getattr(error, "retry_after", None), hint=hint)


def _sentence(library: Library, error: Exception, model: str, access: Access, status: str) -> tuple[str, str | None]:
    """What happened and what to do; one without its full stop is followed by what the provider said."""
    kinds, title = library.exceptions, access.provider.title if access.own else f"The API at {access.url}"
    if isinstance(error, kinds.ModelAuthenticationError):
        where = " or ".join(access.provider.keys)
        return f"{title} refused the key{status}.", f"Look at {where}." if where and access.own else "Give another key."
    if isinstance(error, kinds.ModelNotFoundError):
        near = getattr(error, "suggested_model_id", None)
        return f"{title} has no model {model!r}{status}", f"Did you mean {near.rpartition(':')[2]}?" if near else None
    too_long = getattr(error, "provider_error_type", None) == _TOO_LONG
    if too_long or isinstance(error, kinds.ModelContextWindowExceededError):
        return f"The request is longer than {model} takes{status}", None
    if isinstance(error, kinds.ModelQuotaExceededError):
        return f"The quota at {title} is used up{status}", None
    if isinstance(error, kinds.ModelRateLimitError):
        wait = getattr(error, "retry_after", None)
        return f"{title} takes no more requests right now{status}.", f"It says to wait {wait:g} s." if wait else None
    if isinstance(error, kinds.ModelTimeoutError):
        return f"{title} was silent for {access.timeout:g} s.", "Try again, or give it a longer timeout."
    if isinstance(error, kinds.ModelConnectionError):
        hint = None if access.provider.hosted and access.own else "Is it running?"
        return f"{title} cannot be reached", hint
    if isinstance(error, kinds.UnexpectedModelBehavior) or not status:
        return f"{title} sent something that is no reply", None
    return f"{title} answered with an error{status}", None


def _quoted(error: Exception, key: str | None) -> str:
    """What the provider said, on one line."""
    body = getattr(error, "body", None)
    inner = mapping_of(body).get("error", body)
    said: Any = inner.get("message") if is_mapping(inner) else inner
    text = " ".join(str(said or getattr(error, "message", None) or error).split())
    if key:
        text = text.replace(key, "…")
    return f"{text[:_LONGEST]}{'…' if len(text) > _LONGEST else ''}"
