"""What a handler's signature says: parameters, annotations, the context parameter, blocking or `async`.

A wrong handler is refused here, when it is decorated, by a `UsageError` that says how to write it. No schema is made
here (that needs pydantic, see `infer`): a server that is only being defined imports nothing heavy.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
import types
import typing
from dataclasses import dataclass
from typing import Any, cast

from jupyter_mcp.errors import UsageError
from jupyter_mcp.server import docstrings

if typing.TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MISSING: Any = inspect.Parameter.empty
_CONTEXT_NAMES = {"Context": "sync", "AsyncContext": "async"}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter the client may fill.

    Attributes:
        name: as written.
        annotation: the resolved annotation, `Any` where there is none or it cannot be resolved.
        default: the default value, or `MISSING`.
        positional: it can only be passed by position (`def f(a, /)`).
    """

    name: str
    annotation: Any
    default: Any
    positional: bool = False

    @property
    def required(self) -> bool:
        return self.default is MISSING


@dataclass(frozen=True, slots=True)
class Handler:
    """A function that answers requests.

    Attributes:
        function: what to call.
        name: its own name.
        is_async: it is `async def`.
        context: name of its context parameter, None when it takes none.
        parameters: what the client fills, in order.
        extra: it takes `**kwargs`, so unknown arguments are passed on.
        returns: the resolved return annotation, or `MISSING`.
        doc: its docstring, taken apart.
    """

    function: Callable[..., Any]
    name: str
    is_async: bool
    context: str | None
    parameters: tuple[Parameter, ...]
    extra: bool
    returns: Any
    doc: docstrings.Doc

    def call(self, values: Mapping[str, Any], context: Any = None) -> Any:
        """Call the function with one value for each parameter (missing ones keep their default).

        Returns what the function returns: a coroutine when `is_async`.
        """
        arguments = dict(values)
        if self.context is not None:
            arguments[self.context] = context
        positional: list[Any] = []
        for parameter in self.parameters:
            if not parameter.positional:
                break
            if parameter.name not in arguments:
                break
            positional.append(arguments.pop(parameter.name))
        return self.function(*positional, **arguments)

    @property
    def parameter_names(self) -> tuple[str, ...]:
        return tuple(parameter.name for parameter in self.parameters)


def inspect_handler(function: Callable[..., Any], *, what: str = "tool", name: str | None = None) -> Handler:
    """Read a function's signature.

    Args:
        function: a function, bound method, `functools.partial` or callable object.
        what: the word for error messages ("tool", "resource", "prompt").
        name: the name it is registered under, for error messages and nameless callables.

    Raises:
        UsageError: when it cannot be a handler.
    """
    if not callable(function):
        raise UsageError(f"A {what} is made from a function, not from {type(function).__name__}.")
    target = _underlying(function)
    own_name = name or getattr(target, "__name__", type(function).__name__)
    if own_name == "<lambda>":
        raise UsageError(f"A {what} made from a lambda needs a name.", usage=f'server.add_{what}(function, name="…")')
    if inspect.isgeneratorfunction(target) or inspect.isasyncgenfunction(target):
        raise UsageError(f"The {what} {own_name!r} is a generator; return the result and use ctx.progress on the way.")
    try:
        signature = _signature(function)
    except (TypeError, ValueError):
        raise UsageError(
            f"The {what} {own_name!r} has no readable signature; wrap it in a function of yours."
        ) from None
    resolve = _Resolver(target)
    is_async = inspect.iscoroutinefunction(target)
    context: str | None = None
    parameters: list[Parameter] = []
    extra = False
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            raise UsageError(
                f"The {what} {own_name!r} takes *{parameter.name}, but arguments come by name; use a list parameter."
            )
        if parameter.kind is parameter.VAR_KEYWORD:
            extra = True
        elif flavour := _context_flavour(parameter, resolve):
            _check_context(what, own_name, parameter, flavour, is_async, already=context)
            context = parameter.name
        else:
            parameters.append(_parameter(parameter, resolve))
    return Handler(
        function=function,
        name=own_name,
        is_async=is_async,
        context=context,
        parameters=tuple(parameters),
        extra=extra,
        returns=resolve(signature.return_annotation, MISSING),
        doc=docstrings.parse(_docstring(function, target)),
    )


def _signature(function: Callable[..., Any]) -> inspect.Signature:
    if sys.version_info < (3, 14):
        return inspect.signature(function)
    # There annotations are evaluated when they are read, and one missing name must not cost the rest.
    lenient: Any = importlib.import_module("annotationlib").Format.FORWARDREF
    return inspect.signature(function, annotation_format=lenient)


def _underlying(function: Any) -> Any:
    """The function that decides whether it is `async`, and whose module knows the annotations' names."""
    while True:
        if isinstance(function, functools.partial):
            function = function.func
        elif inspect.ismethod(function):
            function = function.__func__
        elif inspect.isfunction(function) or inspect.isbuiltin(function) or inspect.isclass(function):
            # `functools.wraps` keeps the signature of what it wraps; `async` is decided by the wrapper itself.
            return function
        else:
            call = inspect.getattr_static(cast("type[Any]", type(function)), "__call__", None)
            if call is None or not inspect.isfunction(call):
                return function
            function = call


def _docstring(function: Any, target: Any) -> str | None:
    if isinstance(function, functools.partial):
        return target.__doc__
    own = getattr(function, "__doc__", None)
    if inspect.isfunction(function) or inspect.ismethod(function) or inspect.isclass(function):
        return own
    return target.__doc__ or own


def _parameter(parameter: inspect.Parameter, resolve: _Resolver) -> Parameter:
    annotation = resolve(parameter.annotation, Any)
    if parameter.default is None and annotation is not Any and not _allows_none(annotation):
        annotation = annotation | None if isinstance(annotation, type) else typing.Optional[annotation]  # noqa: UP045
    return Parameter(parameter.name, annotation, parameter.default, parameter.kind is parameter.POSITIONAL_ONLY)


def _allows_none(annotation: Any) -> bool:
    if annotation is None or annotation is type(None):
        return True
    origin = typing.get_origin(annotation)
    if origin is typing.Annotated:
        return _allows_none(typing.get_args(annotation)[0])
    if origin is typing.Literal:
        return None in typing.get_args(annotation)
    if origin is typing.Union or origin is types.UnionType:
        return any(_allows_none(part) for part in typing.get_args(annotation))
    return annotation is object


def _context_flavour(parameter: inspect.Parameter, resolve: _Resolver) -> str | None:
    """ "sync" or "async" for a context parameter, "any" for one named ctx without annotation, None for others."""
    if parameter.annotation is MISSING:
        return "any" if parameter.name == "ctx" else None
    annotation = resolve(parameter.annotation, MISSING)
    if annotation is MISSING:
        # A name that only type checkers see (`if TYPE_CHECKING:`): its last word decides.
        words = str(parameter.annotation).replace("|", " ").replace("[", " ").replace("]", " ").split()
        flavours = (_CONTEXT_NAMES.get(word.rsplit(".", 1)[-1]) for word in words)
        return next((flavour for flavour in flavours if flavour), None)
    candidates = typing.get_args(annotation) if typing.get_origin(annotation) is not None else (annotation,)
    module = sys.modules.get("jupyter_mcp.server.context")
    for name, flavour in _CONTEXT_NAMES.items():
        kind = getattr(module, name, None)
        if kind is not None and any(candidate is kind for candidate in candidates):
            return flavour
    return None


def _check_context(
    what: str, name: str, parameter: inspect.Parameter, flavour: str, is_async: bool, already: str | None
) -> None:
    if already is not None:
        raise UsageError(f"The {what} {name!r} has two context parameters, {already!r} and {parameter.name!r}.")
    if flavour == "sync" and is_async:
        raise UsageError(
            f"The {what} {name!r} is `async def`, so its context is an AsyncContext.",
            usage=f"async def {name}(…, {parameter.name}: AsyncContext)",
        )
    if flavour == "async" and not is_async:
        raise UsageError(
            f"The {what} {name!r} is a plain `def`, so its context is a (blocking) Context.",
            usage=f"def {name}(…, {parameter.name}: Context)",
        )


class _Resolver:
    """Turns annotations that are text (`from __future__ import annotations`) into objects, one by one.

    One name that cannot be resolved costs that annotation only, not the function (as `typing.get_type_hints` would).
    """

    def __init__(self, target: Any) -> None:
        inner = inspect.unwrap(target) if callable(target) else target
        module = sys.modules.get(getattr(inner, "__module__", "") or "")
        self._globals: dict[str, Any] = getattr(inner, "__globals__", None) or getattr(module, "__dict__", {})
        self._locals: dict[str, Any] = _closure(inner)

    def __call__(self, annotation: Any, missing: Any) -> Any:
        if annotation is MISSING:
            return missing
        if not isinstance(annotation, str):
            return self._nested(annotation, missing)
        try:
            return self._nested(eval(annotation, self._globals, self._locals), missing)  # noqa: S307
        except Exception:
            return missing

    def _nested(self, annotation: Any, missing: Any) -> Any:
        """Text inside an annotation (`list["Row"]`) is resolved too."""
        if not _has_text(annotation):
            return annotation
        holder = types.SimpleNamespace(__annotations__={"value": annotation})
        try:
            return typing.get_type_hints(holder, self._globals, self._locals, include_extras=True)["value"]
        except Exception:
            return missing


def _has_text(annotation: Any) -> bool:
    if isinstance(annotation, (str, typing.ForwardRef)):
        return True
    if typing.get_origin(annotation) is typing.Literal:
        return False
    arguments: tuple[Any, ...] = typing.get_args(annotation)
    if typing.get_origin(annotation) is typing.Annotated:
        arguments = arguments[:1]
    return any(_has_text(argument) for argument in arguments if not isinstance(argument, list))


def _closure(function: Any) -> dict[str, Any]:
    code, cells = getattr(function, "__code__", None), getattr(function, "__closure__", None)
    if code is None or not cells:
        return {}
    names: dict[str, Any] = {}
    for name, cell in zip(code.co_freevars, cells, strict=True):
        try:
            names[name] = cell.cell_contents
        except ValueError:
            continue
    return names
