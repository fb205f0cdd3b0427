"""One order from several: reciprocal rank fusion, and the order by likeness of vectors. Pure.

Scores of words and of meaning have no common scale, so only the places count: a thing at place n of an order gets
1 / (60 + n) from it (Cormack, Clarke and Büttcher, SIGIR 2009).
"""

from __future__ import annotations

import math
from operator import mul
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["by_likeness", "fuse"]

_K = 60  # of the paper: how little the first places stand out
_FEW = 3  # among so few nothing is said to stand out


def fuse(orders: Iterable[Sequence[int]], limit: int | None = None) -> list[tuple[int, float]]:
    """Things by their places in all the orders, best first: (thing, score above zero).

    Args:
        orders: each the things it has, best first, each thing once; one that it lacks gets nothing from it.
        limit: how many at most; None is all.
    """
    parts: dict[int, list[float]] = {}
    for order in orders:
        for place, thing in enumerate(order, 1):
            parts.setdefault(thing, []).append(1 / (_K + place))
    scores = [(thing, math.fsum(some)) for thing, some in parts.items()]  # exact, so the orders' order does not matter
    return sorted(scores, key=lambda one: (-one[1], one[0]))[:limit]


def by_likeness(
    question: Sequence[float],
    vectors: Sequence[Sequence[float]],
    weights: Sequence[float] = (),
    limit: int | None = None,
) -> list[int]:
    """The vectors that are more like the question than these are on average, the most alike first.

    Every text is somewhat like every other, in some models very much so; what stands out is what counts.

    Args:
        question, vectors: of length one, each as long as the others.
        weights: what the distance of each from the average is multiplied by; none is 1.
        limit: how many at most; None is all.
    """
    likeness = [sum(map(mul, question, vector)) for vector in vectors]
    if not likeness:
        return []
    mean = math.fsum(likeness) / len(likeness) if len(likeness) > _FEW else min(0.0, *likeness) - 1.0
    above = [(value - mean) * (weights[at] if weights else 1.0) for at, value in enumerate(likeness)]
    order = sorted(range(len(likeness)), key=lambda at: (-above[at], at))
    return [at for at in order if above[at] > 0][:limit]
