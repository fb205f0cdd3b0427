"""What older SDKs write to stderr about our first question (`server/discover`), folded into one line.

The Python SDK before its second version answers the probe with an error, as it should, and writes some ninety lines
about it besides; in a log they would hide everything else. The lines themselves stay in `connection.stderr`.
"""

from __future__ import annotations

import re

__all__ = ["Echo"]

_HEAD = re.compile(r"validation errors? for ClientRequest\Z")
_PLACE = re.compile(r"\w+(?:\.\w+)*\Z")
_OURS = re.compile(r"\s+.*input_value=(?:'server/discover'|\{'_meta': \{'io\.modelconte)")
_LINK = "    For further information visit"
REMARK = "(that was server/discover, with which the era is found out; --era legacy spares it)"


class Echo:
    """Folds one server's stderr, line by line."""

    def __init__(self) -> None:
        self._inside = False  # in a report of validation errors
        self._place: str | None = None  # the line that names the field, until it is known what is wrong with it
        self._dropped = False
        self._told = False

    def fold(self, line: str) -> list[str]:
        """The lines to keep now."""
        line = line.rstrip()
        if _HEAD.search(line):
            self._inside, self._place, self._told = True, None, False
            return [line]
        if not self._inside:
            return [line]
        if self._place is not None:
            return self._complaint(line)
        if _PLACE.match(line):
            self._place = line
            return []
        if line.startswith(_LINK):
            return [] if self._dropped else [line]
        self._inside = False
        return [line]

    def _complaint(self, line: str) -> list[str]:
        place, self._place = self._place or "", None
        self._dropped = _OURS.match(line) is not None
        if not self._dropped:
            return [place, line]
        told, self._told = self._told, True
        return [] if told else [REMARK]
