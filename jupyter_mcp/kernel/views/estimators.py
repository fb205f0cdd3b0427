"""Views of models: scikit-learn's estimators, statsmodels' results, torch's modules, by what they hold themselves."""

from __future__ import annotations

import types
from typing import Any, cast

from jupyter_mcp.kernel.masking import redact
from jupyter_mcp.kernel.views import builtin, plain, safe
from jupyter_mcp.kernel.views.arrays import Numpy
from jupyter_mcp.kernel.views.base import JSON, View, Wanted, clipped, pick_format
from jupyter_mcp.kernel.views.formats import distinct, dumps
from jupyter_mcp.kernel.views.items import items_of
from jupyter_mcp.kernel.views.tables import Pandas
from jupyter_mcp.kernel.views.tensors import Torch
from jupyter_mcp.kernel.views.viewer import Viewer

__all__ = ["ESTIMATORS", "Estimator", "Module", "Results"]

_MOST = 200  # parameters that are shown


class _Held(Viewer):
    """A model as JSON: its type, and what a subclass finds in what the model holds itself."""

    kind = "estimator"

    def view(self, value: object, wanted: Wanted) -> View:
        mime_type = pick_format(wanted.format, JSON)
        whole: dict[str, Any] = redact({"type": safe.label_of(value), **self.content(value)})
        data, cut = dict(whole), False
        while len(dumps(data).encode()) > wanted.budget:
            largest = max((name for name in data if name != "type"), key=lambda name: len(dumps(data[name])))
            del data[largest]
            cut = True
        return View(mime_type, text=dumps(data), data=data, note="cut: read the rest by its path" if cut else None)

    def content(self, value: object) -> dict[str, Any]:
        """What is shown besides the type."""
        raise NotImplementedError

    def fingerprint(self, value: object) -> int | None:
        return builtin.fingerprint_of(plain.fields(value), 3)

    def step(self, value: object, key: str | int) -> object:
        held = safe.instance_dict(value) or {}
        if type(key) is not str or key.startswith("_"):
            raise LookupError(key)
        return held[key]


class Estimator(_Held):
    """Estimators of scikit-learn's kind: the parameters their constructor takes, as they hold them now."""

    def facts(self, value: object) -> dict[str, Any]:
        return {"text": "fitted" if self._fitted(value) else "not fitted"}

    def content(self, value: object) -> dict[str, Any]:
        held = safe.instance_dict(value) or {}
        writer = plain.Plain(plain.Limits(depth=3, items=50, chars=200, nodes=500))
        parameters = {name: writer.of(held[name]) for name in _parameters(type(value)) if name in held}
        return {"parameters": parameters, "fitted": self._fitted(value)[:50]}

    def _fitted(self, value: object) -> list[str]:
        """Names of what fitting left: those that end with one underscore."""
        held = tuple(safe.instance_dict(value) or ())
        return [clipped(name, 80) for name in held if name.endswith("_") and not name.startswith("_")]


def _parameters(cls: type) -> list[str]:
    """Names that the constructor takes, read from its code, below what decorates it."""
    for base in safe.mro(cls):
        made = safe.class_dict(base).get("__init__")
        for _ in range(5):
            inner = (safe.instance_dict(made) or {}).get("__wrapped__")
            made = inner if type(inner) is types.FunctionType else made
        if type(made) is types.FunctionType:
            code = made.__code__
            return list(code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount])
    return []


class Results(_Held):
    """Results of statsmodels: the parameters by the names of the model's columns, and its plain facts."""

    def content(self, value: object) -> dict[str, Any]:
        found = self._found(value)
        model = found.get("model")
        parameters = found.get("params")
        content: dict[str, Any] = {"model": safe.label_of(model)}
        if safe.find_base(parameters, "numpy.ndarray") is not None:
            array = Numpy().plain(parameters)
            items = items_of(array[:_MOST])
            content["parameters"] = dict(zip(_names(model, len(items)), map(plain.cell, items), strict=True))
        for name in ("nobs", "df_model", "df_resid", "cov_type", "scale"):
            held = found.get(name, (safe.instance_dict(model) or {}).get(name))
            if held is not None:
                content[name] = plain.cell(held)
        return content

    def fingerprint(self, value: object) -> int | None:
        parameters = self._found(value).get("params")
        return Numpy().fingerprint(parameters) if safe.find_base(parameters, "numpy.ndarray") is not None else None

    def step(self, value: object, key: str | int) -> object:
        if type(key) is not str or key.startswith("_"):
            raise LookupError(key)
        return self._found(value)[key]

    def _found(self, value: object) -> dict[str, Any]:
        held = safe.instance_dict(value) or {}
        return (safe.instance_dict(held["_results"]) or {}) if "_results" in held else held


def _names(model: object, count: int) -> list[str]:
    """Names of a model's columns, from the data frame it was made of."""
    data = (safe.instance_dict(model) or {}).get("data")
    frame = (safe.instance_dict(data) or {}).get("orig_exog")
    if safe.find_base(frame, "pandas.DataFrame") is not None:
        pandas = Pandas()
        held = pandas.plain(frame)
        names = pandas.names(held)[len(held.levels) :]
        if len(names) == count:
            return names
    return distinct([f"x{at}" for at in range(count)])


class Module(_Held):
    """torch.nn.Module: its layers, and the shapes of its parameters."""

    def facts(self, value: object) -> dict[str, Any]:
        named = _tensors(value)
        return {"text": f"{len(named):,} parameters and buffers" if named else None}

    def content(self, value: object) -> dict[str, Any]:
        layers = {name: safe.label_of(layer) for name, layer in _children(value).items()}
        tensors = {name: Torch().summary(tensor).line() for name, tensor in list(_tensors(value).items())[:_MOST]}
        held = safe.instance_dict(value) or {}
        return {"training": held.get("training") is True, "layers": layers, "parameters": tensors}

    def fingerprint(self, value: object) -> int | None:
        return builtin.fingerprint_of(
            [Torch().fingerprint(tensor) for tensor in list(_tensors(value).values())[:50]], 2
        )

    def step(self, value: object, key: str | int) -> object:
        name = str(key)
        own = _own(value, "_parameters") | _own(value, "_buffers") | _children(value)
        return own[name] if name in own else super().step(value, key)


def _own(value: object, name: str) -> dict[str, Any]:
    held = (safe.instance_dict(value) or {}).get(name)
    if type(held) is not dict:
        return {}
    found = list(cast("dict[Any, Any]", held).items())[:_MOST]
    return {key: item for key, item in found if type(key) is str and item is not None}


def _children(value: object) -> dict[str, Any]:
    return _own(value, "_modules")


def _tensors(value: object) -> dict[str, Any]:
    """Parameters and buffers of a module and of those in it, by their dotted names; each module once."""
    found: dict[str, Any] = {}
    seen: set[int] = set()
    waiting = [("", value)]
    while waiting and len(found) < 5 * _MOST:
        before, module = waiting.pop()
        if id(module) in seen:
            continue
        seen.add(id(module))
        for part in ("_parameters", "_buffers"):
            found |= {f"{before}{name}": held for name, held in _own(module, part).items()}
        waiting += [(f"{before}{name}.", layer) for name, layer in reversed(_children(module).items())]
    return found


ESTIMATORS: tuple[tuple[str, Viewer], ...] = (
    ("sklearn.base.BaseEstimator", Estimator()),
    ("statsmodels.base.model.Results", Results()),
    ("statsmodels.base.wrapper.ResultsWrapper", Results()),
    ("torch.nn.Module", Module()),
)
