"""How much is answered without asking anew: budgets (calls, tokens, money) and rates, per server and per model.

What a server may have is used up by answers that nobody was asked about. What a model may have is used up by every
answer, and nothing overrules it. All of it is counted in this kernel only and starts anew with the next one. Values and
counters; nobody is asked here, and time comes from a clock that is handed in.
"""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from jupyter_mcp.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from jupyter_mcp.models.base import Usage

__all__ = ["USUAL", "Allowance", "Hold", "Limits", "Meter"]


@dataclass(frozen=True, slots=True)
class Allowance:
    """What may be had; None is as much as is wanted.

    Attributes:
        calls: answers of a model.
        tokens: of questions and answers together.
        cost: US dollars, where the price is known.
        per_minute: answers within any 60 seconds.
    """

    calls: int | None = None
    tokens: int | None = None
    cost: float | None = None
    per_minute: int | None = None

    def __post_init__(self) -> None:
        for name in ("calls", "tokens", "cost", "per_minute"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int | float) or value <= 0):
                raise UsageError(f"The limit {name} is a number above 0, not {value!r:.40}.")

    def __str__(self) -> str:
        parts = [f"{self.calls:,} calls"] if self.calls is not None else []
        parts += [f"{self.tokens:,} tokens"] if self.tokens is not None else []
        parts += [f"{self.cost:g} USD"] if self.cost is not None else []
        parts += [f"{self.per_minute:,} a minute"] if self.per_minute is not None else []
        return ", ".join(parts) or "no limit"


USUAL = Allowance(calls=20, tokens=50_000, per_minute=10)
"""What "always for this server" allows unless the person says otherwise."""

_MINUTE = 60.0


@dataclass(eq=False)
class Hold:
    """A part of an allowance that is in use until it is known what an answer took.

    Attributes:
        tokens: how many were put aside; None where tokens are not limited.
    """

    meter: Meter
    tokens: int | None
    over: bool = False

    def settle(self, usage: Usage | None, estimate: int = 0) -> None:
        """What it took in the end. Only the first time counts.

        Args:
            usage: as the model says; None: it was not asked, or gave no answer.
            estimate: tokens to count where the model does not say.
        """
        if not self.over:
            self.over = True
            self.meter.settle(self, usage, estimate)


@dataclass(eq=False)
class Meter:
    """Counts what was had of one allowance.

    Attributes:
        allowance: what may be had.
        calls, tokens, cost: what was had.
        clock: seconds, never going back.
    """

    allowance: Allowance
    clock: Callable[[], float] = time.monotonic
    calls: int = 0
    tokens: int = 0
    cost: float = 0.0
    _held: int = 0
    _times: deque[float] = field(default_factory=lambda: deque[float]())

    def used_up(self) -> str | None:
        """Which part of the budget is used up, in words; None when there is something left."""
        may = self.allowance
        if may.calls is not None and self.calls >= may.calls:
            return f"the {may.calls:,} calls are used up"
        if may.tokens is not None and self.tokens + self._held >= may.tokens:
            return f"the {may.tokens:,} tokens are used up"
        if may.cost is not None and self.cost >= may.cost:
            return f"the {may.cost:g} USD are used up"
        return None

    def too_fast(self) -> float | None:
        """Seconds until the rate allows another one; None when it does now."""
        if self.allowance.per_minute is None:
            return None
        now = self.clock()
        while self._times and now - self._times[0] >= _MINUTE:
            self._times.popleft()
        return None if len(self._times) < self.allowance.per_minute else _MINUTE - (now - self._times[0])

    def hold(self, asked: int, answer: int | None) -> Hold:
        """Begin an answer; what it may take is put aside, so that several at once cannot take more than there is.

        Args:
            asked: tokens of the question, as a guess.
            answer: the most tokens of the answer.
        """
        self.calls += 1
        self._times.append(self.clock())
        if self.allowance.tokens is None:
            return Hold(self, None)
        left = max(1, self.allowance.tokens - self.tokens - self._held)
        aside = left if answer is None else min(left, asked + answer)
        self._held += aside
        return Hold(self, aside)

    def settle(self, hold: Hold, usage: Usage | None, estimate: int) -> None:
        """See `Hold.settle`."""
        self._held -= hold.tokens or 0
        if usage is None:
            return
        counted = [count for count in (usage.input_tokens, usage.output_tokens) if count is not None]
        self.tokens += sum(counted) if counted else estimate
        self.cost += usage.cost or 0.0

    def renew(self, allowance: Allowance) -> None:
        """The person gave an allowance (anew): it is whole again. The rate goes on counting."""
        self.allowance = allowance
        self.calls, self.tokens, self.cost = 0, 0, 0.0

    def __str__(self) -> str:
        may = self.allowance
        parts = [f"{self.calls:,} of {may.calls:,} calls" if may.calls is not None else f"{self.calls:,} calls"]
        parts += [f"{self.tokens:,} of {may.tokens:,} tokens" if may.tokens is not None else f"{self.tokens:,} tokens"]
        if self.cost or may.cost is not None:
            parts.append(f"{self.cost:.4f} USD" if may.cost is None else f"{self.cost:.4f} of {may.cost:g} USD")
        parts += [f"at most {may.per_minute:,} a minute"] if may.per_minute is not None else []
        return ", ".join(parts)


class Limits:
    """The meters of one kernel.

    Args:
        clock: seconds, never going back.

    Attributes:
        servers: what each server had of model answers that nobody was asked about.
        models: what each model gave; only those with a limit, or that were used.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.servers: dict[str, Meter] = {}
        self.models: dict[str, Meter] = {}

    def server(self, name: str) -> Meter:
        """The meter of a server; at first with the usual allowance."""
        return self.servers.setdefault(name, Meter(USUAL, self._clock))

    def model(self, name: str) -> Meter:
        """The meter of a model; at first without a limit."""
        return self.models.setdefault(name, Meter(Allowance(), self._clock))

    def limit_model(self, name: str, allowance: Allowance) -> Meter:
        """Say what a model may give from now on; what it gave so far counts no more."""
        meter = self.model(name)
        meter.renew(allowance)
        return meter

    def allow(self, server: str, **changes: int | float | None) -> Meter:
        """Say what a server may have without asking, in the words of `Allowance`; the rest is as usual.

        Raises:
            UsageError: a limit is no number above 0.
        """
        meter = self.server(server)
        meter.renew(replace(USUAL, **changes))
        return meter
