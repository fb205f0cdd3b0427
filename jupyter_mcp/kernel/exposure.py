"""Which names of a notebook may be seen, and what may be shown of them.

Public names of the person's own; never modules, underscored names, what the kernel put there, objects of this package,
or secrets: those named like one, those that look like one, and the values of environment variables named like one.
Hidden ones are counted, not named. Nothing of a value is run: only its type is looked at, and text and bytes.

It is a heuristic that keeps secrets in practice from leaving by accident, and no access control. Above: the server of a
notebook, the views.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, cast
from weakref import ref

from jupyter_mcp.kernel.masking import MASK, redact, secrets_of_environment
from jupyter_mcp.kernel.views import safe
from jupyter_mcp.protocol.secrets import looks_secret, redact_text

__all__ = ["MASK", "Exposed", "exposed", "is_secret", "redact"]

_LONGEST_LOOKED_AT = 4096  # characters: a longer text is no secret as a whole; what it holds is masked in its view
_SHORTEST_LOOKED_AT = 6
_MEMO = 65_536  # judgements kept
_SECRET_TYPES = frozenset(("SecretStr", "SecretBytes", "Secret"))  # pydantic's
_OURS_SHOWN = "jupyter_mcp.host.result"  # what a call returned is the person's

_names: dict[str, bool] = {}
_texts: dict[tuple[int, int], bool] = {}
_kinds: dict[int, tuple[ref[type], str]] = {}


@dataclass(frozen=True, slots=True)
class Exposed:
    """What of a namespace may be seen: names in their order there, and how many are hidden as secrets or by choice."""

    names: tuple[str, ...]
    hidden: int


def exposed(
    namespace: Mapping[str, Any],
    *,
    only: Collection[str] = (),
    besides: Collection[str] = (),
    baseline: Collection[str] | Mapping[str, Any] = (),
) -> Exposed:
    """The names of a namespace that may be seen.

    Args:
        namespace: the notebook's variables; may change meanwhile.
        only: if given, no name but these. A secret is not exposed by naming it.
        besides: names to hide, counted as hidden.
        baseline: what the kernel itself put there; with values (IPython's `user_ns_hidden`) a name counts as the
            person's own again once it holds something else.

    Raises:
        nothing: an odd name or value is left out.
    """
    wanted, refused, own = frozenset(only), frozenset(besides), _own(baseline)
    known = secrets_of_environment()
    names: list[str] = []
    kinds: dict[int, str] = {}  # by the type's identity, which stays its own as long as `held` holds the values
    hidden = 0
    held: tuple[tuple[str, object], ...] = tuple(namespace.items())
    for name, value in held:
        if type(name) is not str or name[:1] == "_" or (wanted and name not in wanted):
            continue
        if name in own and (own[name] is _ANYTHING or own[name] is value):
            continue
        key = id(type(value))
        kind = kinds.get(key)
        if kind is None:
            kind = kinds[key] = _kind_of(value)
        if kind == "machinery" or not name.isidentifier():
            continue
        if name in refused or _hides(name, value, kind, known):
            hidden += 1
        else:
            names.append(name)
    return Exposed(tuple(names), hidden)


def is_secret(name: str, value: object, known: Collection[str] = ()) -> bool:
    """Whether a variable is hidden: by its name, or by the look of its value (text, bytes, a secret's own type)."""
    return _hides(name, value, _kind_of(value), known)


def _hides(name: str, value: object, kind: str, known: Collection[str]) -> bool:
    verdict = _names.get(name)
    if verdict is None:
        if len(_names) >= _MEMO:
            _names.clear()
        verdict = _names[name] = looks_secret(name)
    if verdict or kind == "plain":
        return verdict
    if kind == "text":
        text = value if type(value) is str else str.__str__(cast("str", value))
        return _looks_secret(text, known)
    if kind == "bytes":
        raw = cast("bytes", value)
        return len(raw) <= _LONGEST_LOOKED_AT and _looks_secret(raw.decode("latin-1"), known)
    return kind == "secret"


_ANYTHING = object()


def _own(baseline: Collection[str] | Mapping[str, Any]) -> Mapping[str, Any]:
    if isinstance(baseline, Mapping):
        return cast("Mapping[str, Any]", baseline)
    return dict.fromkeys(baseline, _ANYTHING)


def _kind_of(value: object) -> str:
    """What the type of a value says: text, bytes, a secret's own type, machinery that is never exposed, or plain."""
    cls = type(value)
    held = _kinds.get(id(cls))  # by identity: a metaclass may answer for `hash` and `==`
    if held is not None and held[0]() is cls:
        return held[1]
    if len(_kinds) >= _MEMO:
        _kinds.clear()
    kind = _judge(value, cls)
    _kinds[id(cls)] = (ref(cls), kind)
    return kind


def _judge(value: object, cls: type) -> str:
    if safe.is_a(value, str):
        return "text"
    if cls is bytes:
        return "bytes"
    module = safe.module_of(cls)
    if safe.is_a(value, ModuleType) or (module.startswith("jupyter_mcp.") and module != _OURS_SHOWN):
        return "machinery"
    return "secret" if safe.name_of(cls) in _SECRET_TYPES and module.partition(".")[0] == "pydantic" else "plain"


def _looks_secret(text: str, known: Collection[str]) -> bool:
    if not _SHORTEST_LOOKED_AT <= len(text) <= _LONGEST_LOOKED_AT:
        return False
    if text in known:
        return True
    key = (hash(text), len(text))
    verdict = _texts.get(key)
    if verdict is None:
        if len(_texts) >= _MEMO:
            _texts.clear()
        verdict = _texts[key] = redact_text(text) != text
    return verdict
