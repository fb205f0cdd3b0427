"""Objects that would harm whoever looks at them: each is listed at once, each read is bounded, an error is its own."""

from __future__ import annotations

import contextlib
import json
import signal
import sys
import threading
import time
import tracemalloc
import types
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.kernel import views
from jupyter_mcp.kernel.exposure import exposed
from jupyter_mcp.kernel.views import ViewError, Wanted, summary, view
from tests.kernel import hostile

if TYPE_CHECKING:
    from collections.abc import Callable

TEXT = Wanted(format="text/plain")


def peak(action: Callable[[], object]) -> int:
    """The most memory in bytes that Python's own allocator gave while something was done."""
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


class Endless:
    """Whoever asks it for an attribute waits for ever."""

    def __getattr__(self, name: str) -> Any:
        threading.Event().wait()

    __len__ = __iter__ = __repr__ = __getattr__  # type: ignore[assignment]


class Allocates:
    def __repr__(self) -> str:
        return "x" * 1_000_000_000


class RemovesItself:
    """Its repr removes it from the namespace that it is in."""

    def __init__(self, namespace: dict[str, Any]) -> None:
        self._namespace = namespace

    def __repr__(self) -> str:
        self._namespace.clear()
        return "gone"


def test_an_object_whose_attributes_never_come_is_listed_and_shown_at_once() -> None:
    value = Endless()
    before = time.monotonic()
    assert summary(value).line() == "Endless"
    assert view(value).data["attributes"] == {}
    assert view([value]).data == ["<tests.kernel.test_views_hostile.Endless>"]
    assert views.fingerprint(value) is not None
    assert time.monotonic() - before < 1


def test_a_repr_of_a_gigabyte_is_cut_to_the_budget() -> None:
    outcomes: list[str] = []
    with contextlib.suppress(ViewError):  # "slow", where the machine takes a second for it
        found = view(Allocates(), Wanted(format="text/plain", max_bytes=1000))
        outcomes.append(found.text or "")
        assert found.cursor is not None
    assert outcomes in ([], ["x" * 1000])


def test_a_repr_that_removes_its_object_is_shown_and_the_list_goes_on() -> None:
    namespace: dict[str, Any] = {"other": 1}
    value = namespace["value"] = RemovesItself(namespace)
    assert exposed(namespace).names == ("other", "value")
    assert "value" in namespace
    assert view(value, TEXT).text == "gone"
    assert exposed(namespace).names == ()


def test_a_timer_of_the_persons_own_goes_on_after_a_repr() -> None:
    rang = threading.Event()
    before = signal.signal(signal.SIGALRM, lambda number, frame: rang.set())
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        assert view(types.SimpleNamespace(a=1), TEXT).text == "namespace(a=1)"
        assert rang.wait(10)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_a_class_made_to_look_like_anothers_is_not_taken_for_it() -> None:
    fake = type("DataFrame", (), {"__module__": "pandas", "shape": property(hostile.Asked)})
    assert (summary(fake()).kind, summary(fake()).shape) == ("object", None)
    assert view(fake()).data["type"] == "pandas.DataFrame"


def test_numbers_of_a_derived_class_inside_pythons_own_objects_run_no_code() -> None:
    whole = hostile.subclass(int)(7)
    steps = range(whole)
    assert view(steps).data == "range(0, 7, 1)"
    assert view({"a": [whole]}).data == {"a": [7]}


def test_a_text_and_bytes_of_a_derived_class_are_not_copied() -> None:
    for base, piece in ((str, "x"), (bytes, b"x")):
        large: Any = type("Large", (base,), {})(piece * 50_000_000)
        found: list[Any] = []

        def look(large: Any = large, found: list[Any] = found) -> None:
            found[:] = [summary(large).length, views.fingerprint(large), view(large, Wanted(rows="0:5"))]

        look()
        assert peak(look) < 2_000_000
        assert found[0] == 50_000_000
        assert (found[2].text or found[2].blob.decode()) == "xxxxx"


@pytest.mark.skipif(sys.version_info < (3, 12), reason="classes have __buffer__ since Python 3.12")
def test_bytes_whose_class_gives_a_buffer_of_its_own_are_read_as_they_are() -> None:
    touchy: Any = type("Touchy", (bytes,), {"__buffer__": hostile.Asked})(b"raw")
    assert view(touchy).blob == b"raw"


def test_a_memory_view_that_was_released_or_has_gaps_is_an_error_of_its_own() -> None:
    released = memoryview(b"abc")
    released.release()
    for value in (released, memoryview(b"abcdef")[::2]):
        assert summary(value).kind == "bytes"
        assert views.fingerprint(value) is None
        with pytest.raises(ViewError) as refused:
            view(value)
        assert refused.value.reason == "unsupported"


def test_no_variable_leads_to_the_names_of_a_module() -> None:
    """What is exposed may refer to a module, or to the notebook's own names: they stay as hidden as they were."""
    module = types.ModuleType("a_notebook")
    vars(module).update(plain=1, besides="not to be seen")
    sys.modules["a_notebook"] = module
    try:
        holder = types.SimpleNamespace(module=module, names=vars(module), copy=dict(vars(module)))
        shown = json.dumps(view(holder).data)
        assert shown.count("not to be seen") == 1  # the copy, which a person made
        for path in ("module.plain", "names.plain", "module.besides", 'names["besides"]'):
            with pytest.raises(ViewError, match="module"):
                view(holder, Wanted(path=path))
        for value in (module, vars(module)):
            with pytest.raises(ViewError, match="module"):
                view(value)
        assert view(holder, Wanted(path="copy.plain")).data == 1
    finally:
        del sys.modules["a_notebook"]


def test_an_error_that_carries_half_a_surrogate_pair_can_be_sent() -> None:
    class Bad:
        def _mcp_view_(self, wanted: Wanted) -> Any:
            raise ValueError("odd \ud800 text")

    with pytest.raises(ViewError) as failed:
        view(Bad())
    assert str(failed.value).encode() == "ValueError: odd � text".encode()


def test_what_a_library_raises_past_exception_costs_only_its_own_object(monkeypatch: pytest.MonkeyPatch) -> None:
    """A panic of a library written in Rust derives from BaseException."""
    polars = pytest.importorskip("polars")

    class Panic(BaseException):
        pass

    def panic(self: object) -> Any:
        raise Panic("index out of range")

    frame = polars.DataFrame({"a": [1]})
    monkeypatch.setattr(polars.DataFrame, "estimated_size", panic)
    monkeypatch.setattr(polars.DataFrame, "columns", property(panic))
    assert summary(frame).line() == "DataFrame"
    assert views.columns(frame) == []
    assert views.fingerprint(frame) is None
    with pytest.raises(ViewError, match="Panic: index out of range"):
        view(frame)


def test_an_object_of_a_million_attributes_is_shown_within_its_bounds() -> None:
    value = types.SimpleNamespace(**{f"a{at}": at for at in range(200_000)})
    view(value)
    assert peak(lambda: view(value)) < 8_000_000  # names and values are shared
    assert len(view(value).data["attributes"]) <= 201


def test_ten_thousand_hostile_variables_are_listed_and_none_is_asked() -> None:
    namespace: dict[str, Any] = {}
    everyone = list(hostile.everyone().values())
    for at in range(10_000):
        namespace[f"v{at}"] = everyone[at % len(everyone)]
    before = time.perf_counter()
    shown = exposed(namespace)
    lines = [summary(namespace[name]).line() for name in shown.names[:1000]]
    assert (len(shown.names), all(lines)) == (10_000, True)
    assert time.perf_counter() - before < 5
