"""The string formats of the elicitation subset and their near kin, checked with the standard library.

Formats that are not here are annotations and never fail. Source: JSON Schema 2020-12 Validation §7.3, RFC 3339.
"""

from __future__ import annotations

import ipaddress
import re
import uuid
from datetime import date, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_EMAIL = re.compile(r"[^@\s<>,;:\"()\[\]\\]+@[^@\s<>,;:\"()\[\]\\.]+(\.[^@\s<>,;:\"()\[\]\\.]+)*")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"{}|\\^`]+")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_TIME = re.compile(r"(\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)")
_DATE_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)")


def valid(name: str, text: str) -> bool:
    """Whether `text` is of the format `name`; True for formats that are not checked."""
    check = _FORMATS.get(name)
    if check is None:
        return True
    try:
        return check(text)
    except ValueError:
        return False


def _date(text: str) -> bool:
    return _DATE.fullmatch(text) is not None and bool(date.fromisoformat(text))


def _time(text: str) -> bool:
    found = _TIME.fullmatch(text)
    return found is not None and int(found[1]) < 24 and int(found[2]) < 60 and int(found[3]) < 61


def _date_time(text: str) -> bool:
    if _DATE_TIME.fullmatch(text) is None:
        return False
    whole = re.sub(r"\.\d+", "", text.upper().replace(" ", "T")).replace("Z", "+00:00")
    whole = whole.replace(":60+", ":59+").replace(":60-", ":59-")  # a leap second
    return bool(datetime.fromisoformat(whole))


def _uuid(text: str) -> bool:
    return str(uuid.UUID(text)) == text.lower()


_FORMATS: dict[str, Callable[[str], bool]] = {
    "email": lambda text: len(text) < 320 and _EMAIL.fullmatch(text) is not None,
    "uri": lambda text: _URI.fullmatch(text) is not None,
    "date": _date,
    "time": _time,
    "date-time": _date_time,
    "uuid": _uuid,
    "ipv4": lambda text: ipaddress.IPv4Address(text).version == 4,
    "ipv6": lambda text: ipaddress.IPv6Address(text).version == 6,
}
CHECKED = frozenset(_FORMATS)
