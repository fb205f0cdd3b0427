"""Budgets and rates: what is counted, what is put aside, when it goes on."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_mcp.errors import UsageError
from jupyter_mcp.host.sampling.limits import Allowance, Limits, Meter
from jupyter_mcp.models.base import Usage


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_rate_lets_go_on_when_the_oldest_is_a_minute_old() -> None:
    clock = Clock()
    meter = Meter(Allowance(per_minute=2), clock)
    for clock.now in (0.0, 10.0):
        assert meter.too_fast() is None
        meter.hold(1, 1)
    clock.now = 59.0
    assert meter.too_fast() == 1.0
    clock.now = 60.0
    assert meter.too_fast() is None


def test_answers_at_the_same_time_cannot_take_more_tokens_than_there_are() -> None:
    meter = Meter(Allowance(tokens=100))
    first = meter.hold(10, 50)
    second = meter.hold(10, 500)
    assert (first.tokens, second.tokens) == (60, 40)
    assert meter.used_up() == "the 100 tokens are used up"
    first.settle(Usage(10, 5))
    second.settle(None)
    second.settle(Usage(1000, 1000))
    assert (meter.tokens, meter.used_up()) == (15, None)


def test_what_a_model_does_not_count_is_guessed_and_money_is_added() -> None:
    meter = Meter(Allowance(cost=0.1))
    meter.hold(1, 1).settle(Usage(None, None, 0.1), estimate=7)
    assert meter.tokens == 7
    assert meter.used_up() == "the 0.1 USD are used up"


def test_an_allowance_given_anew_is_whole_again() -> None:
    limits = Limits()
    meter = limits.allow("demo", calls=1)
    meter.hold(1, 1)
    assert meter.used_up() == "the 1 calls are used up"
    assert limits.allow("demo", calls=1) is meter
    assert meter.used_up() is None


@pytest.mark.parametrize("value", [0, -1, True, "3"])
def test_a_limit_is_a_number_above_zero(value: Any) -> None:
    with pytest.raises(UsageError, match="calls is a number above 0"):
        Allowance(calls=value)
