"""What a cell changed is told to those who watch it, and to nobody else."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from IPython.core.events import EventManager, available_events

from jupyter_mcp.kernel import changes
from jupyter_mcp.kernel.changes import Changes
from jupyter_mcp.kernel.exposure import exposed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

BASE = "notebook://n"


class FakeServer:
    """What is watched, and what was told."""

    def __init__(self) -> None:
        self.wanted: set[str] = set()
        self.told: list[str] = []

    def watched(self) -> set[str]:
        return self.wanted

    def resource_updated(self, uri: str) -> None:
        self.told.append(uri)

    def resources_changed(self) -> None:
        self.told.append("list")


class Clock:
    """A loop whose timers go off when the test says so."""

    def __init__(self) -> None:
        self.timers: list[Callable[[], None]] = []

    def call_soon(self, function: Callable[[], None]) -> None:
        function()

    @property
    def loop(self) -> Any:
        return self

    def call_later(self, seconds: float, function: Callable[..., None], *args: Any) -> None:
        assert 0 < seconds <= changes.MERGED_SECONDS
        self.timers.append(lambda: function(*args))

    def ring(self) -> None:
        while self.timers:
            self.timers.pop()()


class Notebook:
    """A namespace whose cells are functions."""

    def __init__(self, clock: Clock, **variables: Any) -> None:
        self.uri, self.clock = BASE, clock
        self.server: Any = FakeServer()
        self.shell: Any = SimpleNamespace(user_ns=dict(variables))
        self.shell.events = EventManager(self.shell, available_events)
        self.changes = Changes(self.shell, self, fingerprint, lambda function: function())
        self.changes.install()

    def visible(self, values: Mapping[str, Any]) -> tuple[str, ...]:
        return exposed(values).names

    def watch(self, *addresses: str) -> None:
        self.server.wanted = {f"{BASE}/{address}" for address in addresses}
        self.changes.sample()
        self.clock.ring()

    def cell(self, source: str) -> list[str]:
        """Run it as a cell; what was told of it, without what every cell causes."""
        self.shell.events.trigger("pre_run_cell", None)
        exec(source, self.shell.user_ns)
        self.shell.user_ns.pop("__builtins__", None)
        self.shell.events.trigger("post_run_cell", SimpleNamespace(info=SimpleNamespace(raw_cell=source)))
        self.clock.ring()
        told, self.server.told = self.server.told, []
        assert told.count("notebook://n/history") <= 1
        return [one.removeprefix(f"{BASE}/") for one in told if one != f"{BASE}/history"]


def fingerprint(value: Any) -> int | None:
    return hash(str(cast("object", value))) if isinstance(value, list) else None


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(changes, "get_runtime", lambda: clock)
    return clock


def test_a_new_variable_and_one_that_is_gone_change_the_list(clock: Clock) -> None:
    notebook = Notebook(clock)
    assert notebook.cell("x = 1") == ["list", "variables"]
    assert notebook.cell("x = 2") == ["variables"]
    assert notebook.cell("del x") == ["list", "variables"]
    assert notebook.cell("pass") == []


@pytest.mark.parametrize("source", ["_x = 1", "api_key = 'abcdefgh'", "import os"])
def test_what_may_not_be_seen_is_not_told(source: str, clock: Clock) -> None:
    assert Notebook(clock).cell(source) == []


def test_a_variable_that_becomes_a_secret_leaves_the_list(clock: Clock) -> None:
    notebook = Notebook(clock, x=1)
    assert notebook.cell("x = 'ghp_abcdefghijklmnop1234567890'") == ["list", "variables"]


def test_only_what_is_watched_is_told_one_by_one(clock: Clock) -> None:
    notebook = Notebook(clock, x=1, y=1)
    notebook.watch("variables/x", "variables/x?rows=0:5", "variables/%C3%A4")
    assert notebook.cell("x = 2; y = 2") == ["variables", "variables/x", "variables/x?rows=0:5"]
    assert notebook.cell("y = 3") == ["variables"]
    assert notebook.cell("ä = 1") == ["list", "variables", "variables/%C3%A4"]
    assert notebook.cell("del x") == ["list", "variables", "variables/x", "variables/x?rows=0:5"]


def test_a_change_in_place_shows_by_its_fingerprint(clock: Clock) -> None:
    notebook = Notebook(clock, x=[1])
    notebook.shell.user_ns["grow"] = notebook.shell.user_ns["x"].append
    notebook.cell("pass")
    notebook.watch("variables/x")
    assert notebook.cell("grow(2)") == ["variables/x"]
    assert notebook.cell("pass") == []


def test_a_cell_that_names_what_has_no_fingerprint_counts_as_a_change(clock: Clock) -> None:
    notebook = Notebook(clock, thing=object())
    notebook.watch("variables/thing")
    assert notebook.cell("pass  # thingy") == []
    assert notebook.cell("str(thing)") == ["variables/thing"]


def test_a_fingerprint_that_raises_costs_no_cell(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    notebook = Notebook(clock, x=[1])
    notebook.watch("variables/x")

    def broken(value: Any) -> int:
        raise ZeroDivisionError

    monkeypatch.setattr(notebook.changes, "_fingerprint", broken)
    assert notebook.cell("pass") == []


def test_many_watched_variables_are_looked_at_in_turns(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []

    def note(value: Any) -> int:
        looked.append(value[0])
        return 0

    monkeypatch.setattr(changes, "MOST_SAMPLED", 2)
    notebook = Notebook(clock, **{f"n{number}": [number] for number in range(5)})
    monkeypatch.setattr(notebook.changes, "_fingerprint", note)
    notebook.watch(*(f"variables/n{number}" for number in range(5)))
    for _ in range(4):
        notebook.cell("pass")
    assert {looked.count(number) for number in range(5)} == {2}


def test_a_change_that_was_told_is_not_told_again_by_its_fingerprint(clock: Clock) -> None:
    notebook = Notebook(clock, x=[1])
    notebook.watch("variables/x")
    assert notebook.cell("x.append(2)") == ["variables/x"]
    assert notebook.cell("pass") == []


def test_cells_that_end_while_fingerprints_are_made_are_looked_at_after(clock: Clock) -> None:
    waiting: list[Callable[[], None]] = []
    notebook = Notebook(clock, x=[1])
    notebook.watch("variables/x")
    notebook.changes._aside = waiting.append  # pyright: ignore[reportPrivateUsage]
    notebook.shell.user_ns["grow"] = notebook.shell.user_ns["x"].append
    notebook.cell("pass")
    assert notebook.cell("grow(2)") == [] and len(waiting) == 1
    waiting.pop()()
    clock.ring()
    assert f"{BASE}/variables/x" in notebook.server.told


def test_a_burst_of_cells_is_one_telling(clock: Clock) -> None:
    notebook = Notebook(clock, x=1)
    notebook.watch("variables/x")
    notebook.cell("x = 2")
    for number in range(20):
        notebook.shell.user_ns["x"] = number
        notebook.changes.look()
    clock.ring()
    assert notebook.server.told == [f"{BASE}/variables", f"{BASE}/variables/x"]


def test_an_object_is_not_kept_alive(clock: Clock) -> None:
    import weakref

    class Big: ...

    big = Big()
    gone = weakref.ref(big)
    notebook = Notebook(clock, big=big)
    notebook.watch("variables/big")
    notebook.cell("pass")
    del big
    del notebook.shell.user_ns["big"]
    assert gone() is None


def test_after_the_end_nothing_is_told(clock: Clock) -> None:
    notebook = Notebook(clock, x=1)
    notebook.changes.uninstall()
    notebook.changes.uninstall()
    assert notebook.cell("x = 2") == []


def test_a_look_at_a_thousand_names_is_quick(clock: Clock) -> None:
    notebook = Notebook(clock, **{f"n{number}": [number] for number in range(1000)})
    notebook.watch("variables/n1", "variables/n2")
    costs: list[float] = []
    for number in range(50):
        notebook.cell(f"n{number} = 0; n1.append({number}) if {number} != 1 else None" if number > 2 else "pass")
        costs.append(notebook.changes.seconds)
    assert sorted(costs)[25] < 0.004, "twice the bar, for a machine that does other things too"
