"""Questions about an object that run none of its code.

`getattr`, `isinstance` with a foreign class, `len`, `==`, `hash` and `repr` can be answered by the object itself: by a
property, `__getattr__`, a `__class__` that lies, a metaclass. Here only the interpreter answers: the real type, the
dictionaries of classes, the instance's own dictionary and slots.

Above: every view. Nothing here knows about formats or libraries.
"""

from __future__ import annotations

import sys
from types import GetSetDescriptorType, MappingProxyType, MemberDescriptorType, ModuleType
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast
from weakref import ref

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = [
    "SIMPLE",
    "Types",
    "class_dict",
    "find_base",
    "instance_dict",
    "is_a",
    "is_namespace",
    "label",
    "label_of",
    "library",
    "module_dict",
    "module_of",
    "mro",
    "name_of",
    "names_of",
    "shallow_size",
    "slots",
    "untyped",
]

T = TypeVar("T")

_MOST_NAMED = 4096  # classes whose names are remembered
_LONGEST_NAME = 200  # characters of a type's name


def _reader(cls: Any, name: str) -> Callable[[object], Any]:
    return cls.__dict__[name].__get__


_mro = _reader(type, "__mro__")
_dict = _reader(type, "__dict__")
_name = _reader(type, "__qualname__")
_flags = _reader(type, "__flags__")
_module = _reader(type, "__module__")
_module_dict = _reader(ModuleType, "__dict__")
_HEAP = 1 << 9  # Py_TPFLAGS_HEAPTYPE: a class made by a class statement


class Types(Generic[T]):
    """Something for each of some classes, found by identity: a metaclass may answer for `hash` and `==`."""

    def __init__(self, held: Mapping[Any, T]) -> None:
        self._held = {id(cls): (cls, found) for cls, found in held.items()}

    def get(self, cls: object) -> T | None:
        """What is held for exactly this class."""
        pair = self._held.get(id(cls))
        return pair[1] if pair is not None else None

    def __contains__(self, cls: object) -> bool:
        return id(cls) in self._held


# immutable, and their methods are the interpreter's
SIMPLE = Types(dict.fromkeys((type(None), bool, int, float, complex, str, bytes), True))


def mro(cls: type) -> tuple[type, ...]:
    """The classes that a class is made of, whatever its metaclass says."""
    return _mro(cls)


def class_dict(cls: type) -> MappingProxyType[str, Any]:
    """The attributes of one class, unbound."""
    return _dict(cls)


def is_a(value: object, cls: type) -> bool:
    """Whether the real type of a value is, or derives from, a class."""
    return any(base is cls for base in mro(type(value)))  # `in` would ask a metaclass's `__eq__`


def names_of(cls: type) -> tuple[str, str]:
    """`name_of` and `module_of`, remembered for each class."""
    held = _named.get(id(cls))
    if held is not None and held[0]() is cls:
        return held[1]
    if len(_named) >= _MOST_NAMED:
        _named.clear()
    found = name_of(cls), module_of(cls)
    _named[id(cls)] = (ref(cls), found)
    return found


_named: dict[int, tuple[ref[type], tuple[str, str]]] = {}


def name_of(cls: type) -> str:
    """The qualified name of a class without the functions it was made in, clipped."""
    name = str(_name(cls))
    return _clean(name.rpartition("<locals>.")[2] or name)


def module_of(cls: type) -> str:
    """The module that a class says it comes from ("builtins" when it says nothing readable)."""
    try:
        module = _module(cls)  # of classes written in C it is part of their name
    except AttributeError:
        module = None
    return _clean(module) if type(module) is str else "builtins"


def label(cls: type) -> str:
    """How a class is called in a text: `module.Name`, without the module for Python's own."""
    module = module_of(cls)
    return name_of(cls) if module in ("builtins", "__main__") else f"{module}.{name_of(cls)}"


def label_of(value: object) -> str:
    """How the class of a value is called in a text."""
    return label(type(value))


def untyped(value: object) -> Any:
    """The value, of which a type checker shall say nothing."""
    return value


def library(value: object) -> str:
    """The top-level package that the type of a value says it comes from."""
    return module_of(type(value)).partition(".")[0]


def find_base(value: object, dotted: str) -> Any:
    """The class of this dotted name when the value is one and its module is loaded, else None.

    The module is only looked up among those loaded, and the class is compared by identity: a class that merely has
    the same name is not taken for it.
    """
    module, _, name = dotted.rpartition(".")
    loaded = sys.modules.get(module)
    if loaded is None:
        return None
    found = module_dict(loaded).get(name)
    return found if is_a(found, type) and is_a(value, cast("type", found)) else None


def module_dict(module: object) -> dict[str, Any]:
    """The names of a module, without its `__getattr__`."""
    return instance_dict(module) or {}


def instance_dict(value: object) -> dict[str, Any] | None:
    """The instance's own dictionary itself (not a copy), past any property of that name; None when it has none."""
    for cls in mro(type(value)):
        getter = class_dict(cls).get("__dict__")
        if type(getter) is GetSetDescriptorType or type(getter) is MemberDescriptorType:
            found = getter.__get__(value)
            return cast("dict[str, Any]", found) if type(found) is dict else None
    if is_a(value, ModuleType):
        return _module_dict(value)
    return None


def is_namespace(value: object) -> bool:
    """Whether a value is a module, or the dictionary itself that holds a module's names.

    What a notebook's variable refers to must not lead to all the others, past what is exposed.
    """
    if is_a(value, ModuleType):
        return True
    if type(value) is not dict:
        return False
    name = cast("dict[Any, Any]", value).get("__name__")
    return type(name) is str and module_dict(sys.modules.get(name)) is value


def slots(value: object) -> dict[str, Any]:
    """What the slots that the value's classes declared hold; empty ones are left out."""
    found: dict[str, Any] = {}
    for cls in reversed(mro(type(value))):
        for name, member in tuple(class_dict(cls).items()):
            if type(member) is MemberDescriptorType and type(name) is str and _flags(cls) & _HEAP:
                try:
                    found[name] = member.__get__(value)
                except AttributeError:
                    continue
    return found


def shallow_size(value: object) -> int:
    """Bytes that the interpreter holds for the object itself, not for what it refers to."""
    if _flags(type(value)) & _HEAP:
        return object.__sizeof__(value)  # the class's own `__sizeof__` would be foreign code
    return sys.getsizeof(value)


def _clean(text: str) -> str:
    text = str.__str__(text)[:_LONGEST_NAME]
    return text if text.isprintable() else "".join(char if char.isprintable() else "�" for char in text)
