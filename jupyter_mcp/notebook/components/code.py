"""A text of several lines: numbers beside them, the wrong one marked. It knows nothing of what the text means."""

from __future__ import annotations

from typing import Any

import traitlets

from jupyter_mcp.notebook.components import component

__all__ = ["Code"]

_Component: Any = component("code")


class Code(_Component):
    """The component.

    Attributes:
        value: the text, as it was typed; the page tells of it when somebody pauses or leaves it.
        description: what a screen reader calls it. rows: lines in sight.
        line, column: the place that is wrong, from 1; 0 for none.
    """

    value: Any = traitlets.Unicode("").tag(sync=True)
    description: Any = traitlets.Unicode("").tag(sync=True)
    rows: Any = traitlets.Int(10).tag(sync=True)
    line: Any = traitlets.Int(0).tag(sync=True)
    column: Any = traitlets.Int(0).tag(sync=True)
    disabled: Any = traitlets.Bool(False).tag(sync=True)
