"""From what a person writes to a model: `openai:gpt-5-mini`, `ollama:llama3.2`, `local`, `human`, `python:my_function`.

Nothing is imported or reached here: a model that cannot be used says so when it is asked, except that a provider nobody
knows, a missing key and a missing library are told at once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from jupyter_mcp.errors import NoModel, UsageError
from jupyter_mcp.models.base import Model, Ranks
from jupyter_mcp.models.embedding import Embedder
from jupyter_mcp.models.function import FunctionModel
from jupyter_mcp.models.human import AskHuman, HumanModel
from jupyter_mcp.models.providers import PROVIDERS, provider, states

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from jupyter_mcp.models.gateway_clients import Access
    from jupyter_mcp.models.providers import Provider

__all__ = ["EMBEDDINGS_USAGE", "WORDS", "Options", "Surroundings", "make", "make_embedder", "providers"]

WORDS = ("local", "human", "python")
"""What may stand before the colon, or alone, beside the providers."""
USAGE = "%mcp model PROVIDER:MODEL | local | human | python:FUNCTION"
EMBEDDINGS_USAGE = "%mcp model --embeddings PROVIDER:MODEL | local | local:FILE.gguf | off"
_VARIABLE = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)\}")

providers = states


@dataclass(frozen=True)
class Options:
    """What may be said about a model beside its name.

    Attributes:
        ranks: how it compares with others.
        url: the address of an API like the provider's, instead of the provider's own.
        key: the key itself, or `${NAME}` for the environment variable that holds it.
        timeout: seconds that the provider may be silent.
    """

    ranks: Ranks | None = None
    url: str | None = None
    key: str | None = None
    timeout: float | None = None

    def __repr__(self) -> str:
        return f"Options(ranks={self.ranks}, url={self.url!r}, key={'…' if self.key else None}, timeout={self.timeout})"


@dataclass(frozen=True)
class Surroundings:
    """Where a model finds what is not its own.

    Attributes:
        environ: the environment variables.
        lookup: the notebook's object of that name; raises KeyError.
        ask: who asks the person, or None.
    """

    environ: Mapping[str, str]
    lookup: Callable[[str], Any]
    ask: Callable[[], AskHuman | None]


def make(what: Any, options: Options, around: Surroundings) -> Model:
    """The model a person means.

    Args:
        what: a name as above, a function of a request, or a `Model`.
        options: what was said beside it.
        around: environment, notebook and person.

    Raises:
        UsageError: no such provider or function, or an option that has no meaning for it.
        NoModel: its key or library is missing.
    """
    if isinstance(what, str):
        return _named(what.strip(), options, around)
    if options.url or options.key or options.timeout:
        raise UsageError("url, key and timeout are for models of a provider.", usage=USAGE)
    if isinstance(what, Model):
        return what
    if callable(what):
        return FunctionModel(what, ranks=options.ranks)
    raise UsageError(f"A {type(what).__name__} is no model.", usage=USAGE)


def make_embedder(what: Any, options: Options, around: Surroundings) -> Embedder:
    """The embedding model a person means.

    Args:
        what: "PROVIDER:MODEL", "local", "local:FILE.gguf", or an `Embedder`.
        options: what was said beside it.
        around: the environment.

    Raises:
        UsageError: no such provider, one that makes no vectors, or an option that has no meaning for it.
        NoModel: its key or library is missing.
    """
    if isinstance(what, Embedder):
        if options.url or options.key or options.timeout:
            raise UsageError("url, key and timeout are for models of a provider.", usage=EMBEDDINGS_USAGE)
        return what
    if not isinstance(what, str):
        raise UsageError(f"A {type(what).__name__} is no embedding model.", usage=EMBEDDINGS_USAGE)
    head, colon, rest = what.strip().partition(":")
    if head == "local":
        if options.url or options.key:
            raise UsageError("url and key are for models of a provider, not for local.", usage=EMBEDDINGS_USAGE)
        from jupyter_mcp.models.local import LocalEmbedder

        return LocalEmbedder(rest or None)
    found = provider(head, ("local",))
    if found.wire not in ("openai", "google") or not (found.vectors or options.url):
        able = ", ".join(one.name for one in PROVIDERS.values() if one.vectors)
        raise UsageError(f"{found.title} has no embedding models.", hint=f"There are {able} and local.")
    if not (colon and rest):
        raise UsageError(
            f"Which embedding model of {found.title}?",
            usage=f"%mcp model --embeddings {head}:MODEL",
            hint=f"({head}:{found.vectors} …)" if found.vectors else None,
        )
    from jupyter_mcp.models.gateway_embedding import GatewayEmbedder

    return GatewayEmbedder(f"{head}:{rest}", rest, _access(found, options, around))


def _named(text: str, options: Options, around: Surroundings) -> Model:
    head, colon, rest = text.partition(":")
    if head in PROVIDERS or head not in WORDS:
        return _provided(head, rest if colon else "", options, around)
    if options.url or options.key:
        raise UsageError(f"url and key are for models of a provider, not for {head}.", usage=USAGE)
    if head == "human" and not rest:
        return HumanModel(around.ask)
    if head == "python" and rest:
        return _function(rest, options, around)
    if head == "local":
        return _local(rest, options)
    raise UsageError(f"{text!r:.80} is no model.", usage=USAGE)


def _function(path: str, options: Options, around: Surroundings) -> Model:
    """A function of the notebook, looked up again at each use: a cell that defines it anew replaces it."""

    def find() -> Callable[..., Any]:
        first, *more = path.split(".")
        try:
            found = around.lookup(first)
            for name in more:
                found = getattr(found, name)
        except (KeyError, AttributeError):
            raise UsageError(f"There is no function {path!r:.80} in this notebook.", usage=USAGE) from None
        if not callable(found):
            raise UsageError(f"{path} is a {type(found).__name__}, not a function.", usage=USAGE)
        return found

    find()
    return FunctionModel(find, f"python:{path}", ranks=options.ranks, late=True)


def _local(path: str, options: Options) -> Model:
    from jupyter_mcp.models.local import LocalModel

    return LocalModel(path or None, ranks=options.ranks)


def _provided(name: str, model: str, options: Options, around: Surroundings) -> Model:
    found = provider(name, WORDS)
    if not model:
        raise UsageError(
            f"Which model of {found.title}?", usage=f"%mcp model {name}:MODEL", hint=f"({found.example} …)"
        )
    from jupyter_mcp.models.gateway import GatewayModel

    return GatewayModel(f"{name}:{model}", model, _access(found, options, around), ranks=options.ranks)


def _access(found: Provider, options: Options, around: Surroundings) -> Access:
    """How a provider is reached. Raises `NoModel` when its library or its key is missing."""
    state = next(one for one in states(around.environ) if one.name == found.name)
    if not state.installed:
        raise NoModel(
            f"Models of {found.title} need libraries that are not installed.",
            hint='Run %pip install "jupyter-mcp-host[models]" and restart the kernel.',
        )
    from jupyter_mcp.models.gateway_clients import SILENCE, Access

    url = _url(options.url)
    key = _key(found, options, around.environ)
    return Access(found, url or found.url, key, own=not url, timeout=options.timeout or SILENCE)


def _url(text: str | None) -> str:
    if text is None:
        return ""
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError("The url of a model is an http(s) address such as http://localhost:8000/v1.", usage=USAGE)
    if parts.username or parts.password:
        raise UsageError("A key does not stand in the url; give it as key.", usage=USAGE)
    return text


def _key(found: Provider, options: Options, environ: Mapping[str, str]) -> Callable[[], str | None]:
    """Where the key comes from, read at each use. A provider's own key is never sent to another address."""
    given = options.key
    if given is not None:
        named = _VARIABLE.fullmatch(given)
        if named is None:
            return lambda: given
        name = named[1]
        if not environ.get(name):
            raise NoModel(f"The environment variable {name} is not set.", hint=f"Set it first: %env {name}=…")
        return lambda: environ.get(name) or None
    if options.url is not None:
        return lambda: None
    if found.hosted and found.key(environ) is None:
        raise NoModel(
            f"{found.title} needs a key, and {' or '.join(found.keys)} is not set.",
            hint="Set it where the kernel gets its environment, or give key=… to mcp.model.",
        )
    return lambda: found.key(environ)
