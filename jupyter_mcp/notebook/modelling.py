"""`mcp.model`: which model answers servers' requests and the questions of `%%mcp ask`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from jupyter_mcp.notebook.objects.act import get_host
from jupyter_mcp.notebook.objects.models import book

if TYPE_CHECKING:
    from jupyter_mcp.models.base import Model, Ranks
    from jupyter_mcp.models.embedding import Embedder

__all__ = ["model"]


def model(
    what: Any = None,
    *,
    url: str | None = None,
    key: str | None = None,
    ranks: Mapping[str, float] | Ranks | None = None,
    timeout: float | None = None,
    default: bool = True,
    limit: Mapping[str, float] | None = None,
    embeddings: str | Embedder | None = None,
) -> Model | None:
    """Configure a model; it answers from now on. The others that were configured stay.

    Args:
        what: "PROVIDER:MODEL" ("openai:gpt-5-mini", "ollama:llama3.2"), "local" (a small one on this machine),
            "human" (you write the answers), "python:FUNCTION", a function, or a model object. Nothing: only look.
        url: the address of an API like the provider's. The provider's own key is not sent there.
        key: `${NAME}` for the environment variable that holds the key, or the key. Without it a provider's key is
            taken from the variable that it is known for, and only for the provider that is named here.
        ranks: how it compares with the others: `{"cost": 0.9, "speed": 0.8, "intelligence": 0.3}`, 1 is the best.
        timeout: seconds that the provider may be silent (300).
        default: False keeps the present one answering; this one is taken when a server prefers it.
        limit: what it may give in this kernel, to servers and to you: `{"calls": 100, "tokens": 200_000, "cost": 1.5,
            "per_minute": 10}` (cost in US dollars, where the price is known). What it gave so far counts no more.
        embeddings: a model that makes vectors, by which `--auto-context` ranks resources beside their words:
            "openai:text-embedding-3-small", "ollama:…", "local", or an object with `embed`; "off" takes it away. The
            names, descriptions and texts of resources, and the question, are sent to it. Stands without `what`; url,
            key and timeout are then for this one.

    Returns:
        the model that answers now (with `default=False`: this one); None when there is none.

    Raises:
        UsageError: no such provider or function.
        NoModel: its key or its library is missing.
    """
    models = book()
    if embeddings is not None:
        _check_alone(what, ranks, limit)
        models.embed_with(embeddings, url=url, key=key, timeout=timeout)
        return models.default
    if what is None:
        return models.default
    allowance = _allowance(limit)
    made = models.set(what, ranks=_ranks(ranks), url=url, key=key, timeout=timeout, default=default)
    if allowance is not None:
        get_host().limits.limit_model(made.name, allowance)
    return made


def _check_alone(*others: object) -> None:
    from jupyter_mcp.errors import UsageError
    from jupyter_mcp.models.spec import EMBEDDINGS_USAGE

    if any(one is not None for one in others):
        raise UsageError("The embedding model is set on a line of its own.", usage=EMBEDDINGS_USAGE)


def _allowance(given: Mapping[str, float] | None) -> Any:
    from jupyter_mcp.errors import UsageError
    from jupyter_mcp.host.sampling.limits import Allowance

    if given is None:
        return None
    try:
        return Allowance(**given)  # pyright: ignore[reportArgumentType]
    except TypeError:
        raise UsageError(f"The limits are calls, tokens, cost and per_minute, not {', '.join(given)}.") from None


def _ranks(given: Mapping[str, float] | Ranks | None) -> Ranks | None:
    from jupyter_mcp.errors import UsageError
    from jupyter_mcp.models.base import Ranks

    if not isinstance(given, Mapping):
        return given
    try:
        return Ranks(**given)
    except TypeError:
        raise UsageError(f"The ranks are cost, speed and intelligence, not {', '.join(given)}.") from None
