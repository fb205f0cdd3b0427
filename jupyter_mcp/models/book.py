"""Which models this kernel has, which one answers by default, and which one fits what a server prefers.

Only configured models are ever chosen. A server's preferences are hints, read in order as parts of names, and then
priorities, weighed against the ranks that models declare; the reason for the choice is kept, so that it can be shown.
Entries may be read and changed from any thread.
"""

from __future__ import annotations

import logging
import os
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import NoModel, UsageError
from jupyter_mcp.models import spec
from jupyter_mcp.models.embedding import VectorMemory
from jupyter_mcp.protocol.shapes import as_list, is_number, mapping_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from jupyter_mcp.models.base import Model, Ranks
    from jupyter_mcp.models.embedding import Embedder
    from jupyter_mcp.models.human import AskHuman

__all__ = ["Choice", "ModelBook"]

_PRIORITIES = {"cost": "costPriority", "speed": "speedPriority", "intelligence": "intelligencePriority"}
_MOST_HINTS = 20
_MIDDLE = 0.5
_HOW = "Configure one: %mcp model openai:gpt-5-mini (or anthropic:…, ollama:…, local, human)."
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Choice:
    """
    Attributes:
        model: the one that answers.
        reason: why, in a few words for the person.
    """

    model: Model
    reason: str


class ModelBook:
    """The models of one host.

    Attributes:
        lookup: the notebook's object of a name, for `python:…`; raises KeyError.
        ask: who asks the person, for `human`; None while nobody can.
        listeners: called after each change, on the thread that made it.
    """

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        self.lookup: Callable[[str], Any] | None = None
        self.ask: AskHuman | None = None
        self.listeners: list[Callable[[], None]] = []
        self._environ = os.environ if environ is None else environ
        self._models: dict[str, Model] = {}
        self._default: str | None = None
        self._dropped: list[Model | Embedder] = []
        self._vectors: VectorMemory | None = None
        self._lock = threading.Lock()

    @property
    def configured(self) -> Mapping[str, Model]:
        """The models by name, in the order in which they were configured."""
        return dict(self._models)

    @property
    def default(self) -> Model | None:
        """The one that answers unless something speaks for another; None when there is none."""
        name = self._default
        return None if name is None else self._models.get(name)

    def set(
        self,
        what: Any,
        *,
        ranks: Ranks | None = None,
        url: str | None = None,
        key: str | None = None,
        timeout: float | None = None,
        default: bool = True,
    ) -> Model:
        """Configure a model, or change one that is there.

        Args:
            what: "PROVIDER:MODEL", "local", "human", "python:FUNCTION", a function of a request, or a `Model`.
            ranks: how it compares with others.
            url: the address of an API like the provider's; the provider's own key is not sent there.
            key: the key, or `${NAME}` for the variable that holds it.
            timeout: seconds that the provider may be silent.
            default: whether it answers from now on; the first one does in any case.

        Raises:
            UsageError: it is no model, or an option makes no sense for it.
            NoModel: its key or its library is missing.
        """
        around = spec.Surroundings(self._environ, self._look_up, lambda: self.ask)
        made = spec.make(what, spec.Options(ranks, url, key, timeout), around)
        with self._lock:
            old = self._models.get(made.name)
            self._models = {**self._models, made.name: made}
            if default or self.default is None:
                self._default = made.name
            if old is not None and old is not made:
                self._dropped.append(old)
        self._changed()
        return made

    @property
    def vectors(self) -> VectorMemory | None:
        """What ranks texts by meaning; None until the person names an embedding model."""
        return self._vectors

    def embed_with(
        self, what: Any, *, url: str | None = None, key: str | None = None, timeout: float | None = None
    ) -> Embedder | None:
        """Configure the embedding model. Nothing is sent anywhere before something is to be ranked.

        Args:
            what: "PROVIDER:MODEL", "local", "local:FILE.gguf", an `Embedder`; "off" or None takes it away.
            url, key, timeout: as of `set`.

        Raises:
            UsageError: it is no embedding model, or an option makes no sense for it.
            NoModel: its key or its library is missing.
        """
        if isinstance(what, str) and what.strip() == "off":
            what = None
        around = spec.Surroundings(self._environ, self._look_up, lambda: self.ask)
        made = None if what is None else spec.make_embedder(what, spec.Options(None, url, key, timeout), around)
        with self._lock:
            old, self._vectors = self._vectors, None if made is None else VectorMemory(made)
            if old is not None and old.embedder is not made:
                self._dropped.append(old.embedder)
        return made

    def remove(self, name: str) -> None:
        """Forget a model; when it was the default, the first of the others is. Raises `UsageError`."""
        with self._lock:
            if name not in self._models:
                there = f"There are {', '.join(self._models)}." if self._models else "There are none."
                raise UsageError(f"There is no model {name!r:.80}.", hint=there)
            self._dropped.append(self._models[name])
            self._models = {key: model for key, model in self._models.items() if key != name}
            if self._default == name:
                self._default = next(iter(self._models), None)
        self._changed()

    def find(self, name: str) -> Model:
        """The configured model of that name, or the only one whose name holds it. Raises `NoModel`."""
        models = self._models
        if name in models:
            return models[name]
        holding = [model for key, model in models.items() if name and name.lower() in key.lower()]
        if len(holding) == 1:
            return holding[0]
        there = f"There are {', '.join(models)}." if models else _HOW
        raise NoModel(f"No model {name!r:.80} is configured.", hint=there)

    def choose(self, preferences: Mapping[str, Any] | None = None) -> Choice:
        """The model for a request.

        Args:
            preferences: the `modelPreferences` of a server, untrusted; None is none.

        Raises:
            NoModel: none is configured.
        """
        default = self.default
        if default is None:
            raise NoModel("No model is configured.", hint=_HOW)
        models = [default, *(model for model in self._models.values() if model is not default)]
        if len(models) == 1:
            return Choice(default, "it is the only model configured")
        wanted = mapping_of(preferences)
        hints = _hints(wanted)
        for hint in hints:
            fitting = [model for model in models if hint.lower() in model.name.lower()]
            if fitting:
                return _ranked(fitting, wanted, f"the hint {hint!r:.60} fits it")
        return _ranked(models, wanted, f"no hint fits ({', '.join(hints):.120})" if hints else "")

    async def aclose(self) -> None:
        """Let go of what the models hold (connections, a model in memory), of those that were removed too."""
        with self._lock:
            vectors = [] if self._vectors is None else [self._vectors.embedder]
            closing: list[Model | Embedder] = [*self._dropped, *self._models.values(), *vectors]
            self._dropped = []
        for model in closing:
            close = getattr(model, "aclose", None)
            if close is None:
                continue
            try:
                await close()
            except Exception:  # what is left to do must not hold up the end
                _log.warning("closing the model %s failed", model.name, exc_info=True)

    def _look_up(self, name: str) -> Any:
        if self.lookup is None:
            raise KeyError(name)
        return self.lookup(name)

    def _changed(self) -> None:
        for listener in list(self.listeners):
            listener()


def _hints(preferences: Mapping[str, Any]) -> list[str]:
    named = [mapping_of(hint).get("name") for hint in as_list(preferences.get("hints"))[:_MOST_HINTS]]
    return [name.strip() for name in named if isinstance(name, str) and name.strip()]


def _ranked(models: list[Model], preferences: Mapping[str, Any], why: str) -> Choice:
    """The best of some by the priorities, else the first of them (the default comes first)."""
    if len(models) == 1:
        return Choice(models[0], why)
    weights = _weights(preferences)
    scores = {model.name: score for model in models if (score := _score(model, weights)) is not None}
    if not scores:
        return Choice(models[0], _said(why, "it is the first that is configured" if why else "it is the default"))
    best = max(scores.values())
    chosen = next(model for model in models if scores.get(model.name) == best)
    spoken = ", ".join(f"{name} {weight:g}" for name, weight in weights.items())
    return Choice(chosen, _said(why, f"it ranks best for {spoken}"))


def _weights(preferences: Mapping[str, Any]) -> dict[str, float]:
    found = {name: preferences.get(key) for name, key in _PRIORITIES.items()}
    return {name: min(1.0, float(value)) for name, value in found.items() if is_number(value) and value > 0}


def _score(model: Model, weights: Mapping[str, float]) -> float | None:
    """Its weighted ranks; None when it declares none of those that count. An undeclared one counts as the middle."""
    declared = model.ranks.declared
    if not any(name in declared for name in weights):
        return None
    return sum(weight * declared.get(name, _MIDDLE) for name, weight in weights.items())


def _said(*parts: str) -> str:
    return "; ".join(part for part in parts if part)
