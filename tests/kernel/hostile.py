"""Objects that harm whoever asks them something."""

from __future__ import annotations

from typing import Any


class Asked(BaseException):
    """Somebody ran an object's code; no `except Exception` hides it."""


def _fail(*_: Any, **__: Any) -> Any:
    raise Asked


class Touchy:
    """Every special method fails loudly, every attribute too."""

    __getattribute__ = __getattr__ = __repr__ = __str__ = __len__ = __iter__ = __bool__ = __eq__ = __ne__ = _fail
    __hash__ = __format__ = __sizeof__ = __dir__ = __getitem__ = __contains__ = __reduce_ex__ = __index__ = _fail
    __int__ = __float__ = __bytes__ = __array__ = __call__ = __next__ = __length_hint__ = __fspath__ = _fail


class TouchyMeta(type):
    """A class whose class fails loudly as well."""

    __getattribute__ = __repr__ = __eq__ = __instancecheck__ = __subclasscheck__ = __len__ = __iter__ = _fail
    __hash__ = _fail


class OfTouchyMeta(metaclass=TouchyMeta):
    pass


class Liar:
    """Says that it is a list, and that it is long."""

    @property
    def __class__(self) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        raise Asked

    def __len__(self) -> int:
        raise Asked


class WithProperty:
    """A property with a side effect, a public attribute, and a private one."""

    touched = False

    def __init__(self) -> None:
        self.seen = 1
        self._unseen = 2

    @property
    def trap(self) -> int:
        type(self).touched = True
        return 1


def subclass(base: type) -> Any:
    """A class derived from a container or a text of Python's own, all of whose methods fail loudly."""
    names = (
        *(
            "__repr__",
            "__str__",
            "__len__",
            "__iter__",
            "__getitem__",
            "__contains__",
            "__eq__",
            "__hash__",
            "__bool__",
        ),
        *("__getattribute__", "__getattr__", "__sizeof__", "__format__", "items", "keys", "values", "get", "copy"),
        *("encode", "decode", "__reversed__", "__lt__", "__add__", "__missing__"),
    )
    return type(f"Touchy{base.__name__.title()}", (base,), dict.fromkeys(names, _fail))


def everyone() -> dict[str, Any]:
    """One of each, by name."""
    circle: list[Any] = []
    circle.append(circle)
    deep: Any = "bottom"
    for _ in range(10_000):
        deep = [deep]
    return {
        "touchy": object.__new__(Touchy),
        "of_touchy_meta": object.__new__(OfTouchyMeta),
        "touchy_class": OfTouchyMeta,
        "liar": Liar(),
        "list_sub": subclass(list)([1, 2, 3]),
        "dict_sub": subclass(dict)({"a": 1}),
        "str_sub": subclass(str)("text"),
        "bytes_sub": subclass(bytes)(b"raw"),
        "int_sub": subclass(int)(5),
        "float_sub": subclass(float)(5.5),
        "tuple_sub": subclass(tuple)((1, 2)),
        "set_sub": subclass(set)({1, 2}),
        "nested": [object.__new__(Touchy), {"k": object.__new__(Touchy)}, {object(): object.__new__(Touchy)}],
        "circle": circle,
        "deep": deep,
        "numbers": [float("nan"), float("inf"), -float("inf"), 10**5000, 1 << 70, complex(1, float("nan"))],
        "surrogates": {"\ud800": "a\udfffb", "text": ["\ud83d"]},
    }
