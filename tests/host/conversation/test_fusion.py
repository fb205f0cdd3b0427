"""Several orders become one: what stands first in more of them stands first; likeness is measured from the average."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from jupyter_mcp.host.conversation.fusion import by_likeness, fuse

ORDERS = st.lists(st.lists(st.integers(0, 30), unique=True, max_size=20), max_size=4)
NUMBERS = st.floats(-1, 1, allow_nan=False, width=32)


@given(ORDERS)
def test_every_thing_of_every_order_is_there_once(orders: list[list[int]]) -> None:
    fused = [thing for thing, _ in fuse(orders)]
    assert sorted(fused) == sorted({thing for order in orders for thing in order})


@given(ORDERS)
def test_scores_are_above_zero_and_fall(orders: list[list[int]]) -> None:
    scores = [score for _, score in fuse(orders)]
    assert all(score > 0 for score in scores)
    assert scores == sorted(scores, reverse=True)


@given(st.lists(st.integers(0, 30), unique=True, max_size=20), st.integers(1, 4))
def test_orders_that_agree_are_kept(order: list[int], times: int) -> None:
    assert [thing for thing, _ in fuse([order] * times)] == order


@given(ORDERS)
def test_the_order_of_the_orders_does_not_matter(orders: list[list[int]]) -> None:
    assert fuse(orders) == fuse(orders[::-1])


@given(ORDERS)
def test_a_thing_that_is_nowhere_behind_another_is_not_behind_it_at_the_end(orders: list[list[int]]) -> None:
    fused = [thing for thing, _ in fuse(orders)]
    for one in fused:
        for other in fused:
            before = all(
                other not in order or (one in order and order.index(one) < order.index(other)) for order in orders
            )
            if one != other and before:
                assert fused.index(one) < fused.index(other)


def test_what_two_orders_know_stands_before_what_one_puts_first() -> None:
    assert [thing for thing, _ in fuse([[1, 3], [2, 3]])] == [3, 1, 2]
    assert fuse([[7]]) == [(7, 1 / 61)]
    assert fuse([[1, 2, 3]], 2) == [(1, 1 / 61), (2, 1 / 62)]
    assert fuse([]) == []


# --- likeness --------------------------------------------------------------------------------------------------------


def at(degrees: float) -> list[float]:
    return [math.cos(math.radians(degrees)), math.sin(math.radians(degrees))]


def test_the_most_alike_comes_first_and_what_is_no_more_alike_than_usual_does_not_come() -> None:
    vectors = [at(80), at(10), at(75), at(30), at(85)]
    assert by_likeness(at(0), vectors) == [1, 3]
    assert by_likeness(at(0), vectors, limit=1) == [1]


def test_among_few_all_are_ranked_however_alike_they_are() -> None:
    assert by_likeness(at(0), [at(170), at(20), at(80)]) == [1, 2, 0]
    assert by_likeness(at(0), [at(180)]) == [0]
    assert by_likeness(at(0), []) == []


def test_a_weight_makes_it_stand_out_more() -> None:
    vectors = [at(20), at(20), at(80), at(80), at(85)]
    assert by_likeness(at(0), vectors, [0.5, 1.5, 1, 1, 1]) == [1, 0]


@given(st.lists(st.lists(NUMBERS, min_size=3, max_size=3), max_size=12), st.lists(NUMBERS, min_size=3, max_size=3))
def test_each_vector_is_ranked_at_most_once_and_not_all_of_many_stand_out(
    vectors: list[list[float]], question: list[float]
) -> None:
    order = by_likeness(question, vectors)
    assert len(order) == len(set(order)) <= len(vectors)
    assert len(vectors) <= 3 or len(order) < len(vectors)
