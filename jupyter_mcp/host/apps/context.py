"""What a page is told of where it stands: theme, styles, room, language (`McpUiHostContext`). Pure.

The notebook's page reports it, by a message that is checked here like any other; only the keys and the kinds of values
that the specification knows go on.

Source: SEP-1865 "Host Context in McpUiInitializeResult", "Theming", "Container Dimensions".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from jupyter_mcp.protocol.shapes import is_number, mapping_of

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["STYLE_VARIABLES", "changes", "read", "tool_info"]

_TONES = ("primary", "secondary", "tertiary", "inverse")
_STATES = ("info", "danger", "success", "warning")
_SIZES = ("xs", "sm", "md", "lg")
_HEADINGS = (*_SIZES, "xl", "2xl", "3xl")

STYLE_VARIABLES: frozenset[str] = frozenset(
    [
        *(f"--color-{part}-{one}" for part in ("background", "text", "border") for one in (*_TONES, *_STATES)),
        *(f"--color-{part}-{one}" for part in ("background", "text", "border") for one in ("ghost", "disabled")),
        *(f"--color-ring-{one}" for one in ("primary", "secondary", "inverse", *_STATES)),
        "--font-sans",
        "--font-mono",
        *(f"--font-weight-{one}" for one in ("normal", "medium", "semibold", "bold")),
        *(f"--font-text-{size}-{what}" for size in _SIZES for what in ("size", "line-height")),
        *(f"--font-heading-{size}-{what}" for size in _HEADINGS for what in ("size", "line-height")),
        *(f"--border-radius-{one}" for one in (*_SIZES, "xl", "full")),
        "--border-width-regular",
        *(f"--shadow-{one}" for one in ("hairline", "sm", "md", "lg")),
    ]
)
"""The names of `McpUiStyleVariableKey`."""

_DIMENSIONS = ("width", "height", "maxWidth", "maxHeight")
_TOOL_KEYS = (
    "name",
    "title",
    "icons",
    "description",
    "inputSchema",
    "outputSchema",
    "annotations",
    "execution",
    "_meta",
)
_MAX_TOOL = 200_000  # characters: a page that needs more of its own tool's schema can ask its server
_LONGEST = 300
_SAFE = re.compile(r"[^;{}<>\\]*\Z")  # of the value of a style: nothing that ends a declaration
_WORD = re.compile(r"[A-Za-z0-9_+/-]{1,60}\Z")


def read(reported: object) -> dict[str, Any]:
    """The parts of a host context in what the notebook's page reported.

    Args:
        reported: `theme`, `styles` (name → CSS value), `containerDimensions` (pixels), `locale`, `timeZone`, `touch`
            and `hover`; whatever is odd is left out.
    """
    given = mapping_of(reported)
    found: dict[str, Any] = {}
    if given.get("theme") in ("light", "dark"):
        found["theme"] = given["theme"]
    if variables := _variables(given.get("styles")):
        found["styles"] = {"variables": variables}
    if dimensions := _dimensions(given.get("containerDimensions")):
        found["containerDimensions"] = dimensions
    for name in ("locale", "timeZone"):
        if isinstance(given.get(name), str) and _WORD.match(given[name]):
            found[name] = given[name]
    device = {name: given[name] for name in ("touch", "hover") if isinstance(given.get(name), bool)}
    if device:
        found["deviceCapabilities"] = device
    return found


def changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """What of a context is another now; what is gone keeps its last value."""
    return {key: value for key, value in now.items() if before.get(key) != value}


def tool_info(tool: Mapping[str, Any], size: int) -> dict[str, Any] | None:
    """The tool that a page belongs to, as `toolInfo`; None when it is too large to be repeated to it.

    Args:
        tool: as listed.
        size: characters of its JSON.
    """
    return None if size > _MAX_TOOL else {"tool": {key: tool[key] for key in _TOOL_KEYS if key in tool}}


def _variables(styles: object) -> dict[str, str]:
    """All of them or none: the published types take no object that lacks one."""
    found = {
        name: value
        for name, value in mapping_of(styles).items()
        if name in STYLE_VARIABLES and isinstance(value, str) and 0 < len(value) <= _LONGEST and _SAFE.match(value)
    }
    return found if len(found) == len(STYLE_VARIABLES) else {}


def _dimensions(given: object) -> dict[str, int]:
    return {
        name: round(value)
        for name, value in mapping_of(given).items()
        if name in _DIMENSIONS and is_number(value) and 0 < value < 100_000
    }
