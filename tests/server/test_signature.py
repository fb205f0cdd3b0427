"""What a signature says, and which handlers are refused when they are decorated."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Annotated, Any, Literal, Optional

import pytest

from jupyter_mcp.errors import UsageError
from jupyter_mcp.server import AsyncContext, Context
from jupyter_mcp.server.signature import MISSING, inspect_handler

if TYPE_CHECKING:
    from jupyter_mcp.server import Context as Hidden


def test_parameters_annotations_and_defaults_are_read_from_text_annotations_too():
    def tool(city: str, units: Literal["c", "f"] = "c", days: Annotated[int, "x"] = 3) -> list[int]:
        return [days]

    handler = inspect_handler(tool)
    assert [(one.name, one.default) for one in handler.parameters] == [("city", MISSING), ("units", "c"), ("days", 3)]
    assert handler.parameters[1].annotation == Literal["c", "f"]
    assert handler.parameters[2].annotation == Annotated[int, "x"]
    assert handler.returns == list[int]
    assert not handler.is_async


def test_a_none_default_allows_none():
    def tool(a: str = None, b: int | None = None, c: Any = None): ...  # type: ignore[assignment]  # noqa: RUF013

    found = {one.name: one.annotation for one in inspect_handler(tool).parameters}
    assert found == {"a": Optional[str], "b": int | None, "c": Any}  # noqa: UP045


def test_a_name_that_cannot_be_resolved_costs_its_annotation_only():
    def tool(a: NoSuchName, b: int): ...  # type: ignore[name-defined]  # noqa: F821

    handler = inspect_handler(tool)  # pyright: ignore[reportUnknownArgumentType]
    assert {one.name: one.annotation for one in handler.parameters} == {"a": Any, "b": int}


def test_local_classes_are_found_through_the_closure():
    class Row: ...

    def tool(row: list[Row]) -> Row:
        return row[0] if row else Row()

    handler = inspect_handler(tool)
    assert handler.parameters[0].annotation == list[Row]
    assert handler.returns is Row


@pytest.mark.parametrize("annotation", [Context, "Context", "server.Context", Context | None, "Hidden | None"])
def test_the_context_parameter_is_hidden(annotation: Any):
    def tool(a: int, context: Any = None): ...

    tool.__annotations__["context"] = annotation if annotation != "Hidden | None" else "m.Context | None"
    handler = inspect_handler(tool)
    assert handler.context == "context"
    assert handler.parameter_names == ("a",)


def test_a_context_only_type_checkers_see_is_known_by_its_name():
    def tool(ctx: "Hidden"): ...  # noqa: UP037

    tool.__annotations__["ctx"] = "nowhere.Context"
    assert inspect_handler(tool).context == "ctx"


def test_ctx_without_annotation_is_the_context():
    def tool(a, ctx): ...  # type: ignore[no-untyped-def]

    assert inspect_handler(tool).context == "ctx"  # pyright: ignore[reportUnknownArgumentType]


def test_the_wrong_context_is_refused_with_the_right_one():
    async def wrong(ctx: Context): ...

    def also_wrong(ctx: AsyncContext): ...

    with pytest.raises(UsageError, match="AsyncContext") as caught:
        inspect_handler(wrong)
    assert "async def wrong" in str(caught.value.usage)
    with pytest.raises(UsageError, match="plain `def`"):
        inspect_handler(also_wrong)


def test_two_contexts_are_refused():
    def tool(a: Context, b: Context): ...

    with pytest.raises(UsageError, match="two context"):
        inspect_handler(tool)


def test_star_args_are_refused_and_star_kwargs_are_more_arguments():
    def many(*numbers: int): ...

    def open_ended(a: int, **more: int) -> dict[str, int]:
        return {"a": a, **more}

    with pytest.raises(UsageError, match="numbers"):
        inspect_handler(many)
    handler = inspect_handler(open_ended)
    assert handler.extra
    assert handler.call({"a": 1, "z": 2}) == {"a": 1, "z": 2}


def test_generators_lambdas_and_things_that_are_no_functions_are_refused():
    def generator():
        yield 1

    async def agenerator():
        yield 1

    for one in (generator, agenerator):
        with pytest.raises(UsageError, match="generator"):
            inspect_handler(one)
    with pytest.raises(UsageError, match="lambda"):
        inspect_handler(lambda: 1)
    with pytest.raises(UsageError, match="not from int"):
        inspect_handler(3)  # type: ignore[arg-type]


def test_partials_methods_and_callable_objects_are_handlers():
    def add(a: int, b: int) -> int:
        "Add."
        return a + b

    class Counter:
        "Counts."

        def __init__(self) -> None:
            self.n = 0

        def up(self, by: int = 1) -> int:
            self.n += by
            return self.n

        async def __call__(self, word: str) -> str:
            "Say it."
            return word

    partial = inspect_handler(functools.partial(add, b=2))
    assert (partial.name, partial.doc.text) == ("add", "Add.")
    assert partial.call({"a": 1}) == 3
    bound = inspect_handler(Counter().up)
    assert (bound.name, bound.parameter_names, bound.call({"by": 4})) == ("up", ("by",), 4)
    instance = inspect_handler(Counter(), name="say")
    assert instance.is_async
    assert instance.doc.text == "Say it."


def test_a_decorated_function_keeps_its_signature_and_its_wrapper_decides_about_async():
    def on_a_thread(function: Any) -> Any:
        @functools.wraps(function)
        async def wrapper(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

        return wrapper

    @on_a_thread
    def tool(a: int, ctx: AsyncContext) -> int:
        return a

    handler = inspect_handler(tool)
    assert handler.is_async
    assert handler.context == "ctx"
    assert handler.parameters[0].annotation is int


def test_positional_only_parameters_are_passed_by_position():
    def tool(a: int, b: int = 2, /, c: int = 3, *, d: int = 4) -> tuple[int, int, int, int]:
        return a, b, c, d

    handler = inspect_handler(tool)
    assert handler.call({"a": 1, "d": 9}) == (1, 2, 3, 9)
    assert handler.call({"a": 1, "b": 7, "c": 8}) == (1, 7, 8, 4)
