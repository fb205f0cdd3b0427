"""How much a page may send. Pure: whoever asks says what time it is."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Bucket", "Limits"]


@dataclass(frozen=True, slots=True)
class Limits:
    """
    Attributes:
        message: characters of one message of a page.
        rate, burst: messages a second in the long run, and at once.
        data_rate, data_burst: characters a second, and at once.
        pending: requests of a page that are being worked on at the same time.
        dropped: messages beyond the rate after which the page is ended.
        result: characters of one message to a page.
        context: characters of what a page reports for models.
    """

    message: int = 4 << 20
    rate: float = 50.0
    burst: int = 200
    data_rate: float = 2 << 20
    data_burst: int = 16 << 20
    pending: int = 32
    dropped: int = 2_000
    result: int = 32 << 20
    context: int = 50_000


class Bucket:
    """A bucket that fills at a rate and is taken from.

    Args:
        rate: units a second.
        burst: units that it holds, and begins with.
    """

    def __init__(self, rate: float, burst: float) -> None:
        self._rate = rate
        self._burst = burst
        self._left = burst
        self._then: float | None = None

    def take(self, now: float, units: float = 1.0) -> bool:
        """Take some; False, and nothing is taken, when there is not so much.

        Args:
            now: seconds of a clock that never goes back.
            units: how much.
        """
        if self._then is not None:
            self._left = min(self._burst, self._left + max(0.0, now - self._then) * self._rate)
        self._then = now
        if units > self._left:
            return False
        self._left -= units
        return True
