"""Classes of other libraries that have views of their own, by the names under which their modules hold them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jupyter_mcp.kernel.views.arrays import ARRAYS
from jupyter_mcp.kernel.views.lazy import LAZY
from jupyter_mcp.kernel.views.pictures import PICTURES
from jupyter_mcp.kernel.views.tables import EAGER

if TYPE_CHECKING:
    from jupyter_mcp.kernel.views.viewer import Viewer

__all__ = ["FAMILIES"]

FAMILIES: tuple[tuple[str, Viewer], ...] = (*EAGER, *ARRAYS, *LAZY, *PICTURES)
