"""Classes of other libraries that have views of their own, by the names under which their modules hold them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jupyter_mcp.kernel.views.arrays import NUMPY
from jupyter_mcp.kernel.views.connections import CONNECTIONS
from jupyter_mcp.kernel.views.estimators import ESTIMATORS
from jupyter_mcp.kernel.views.labelled import LABELLED
from jupyter_mcp.kernel.views.lazy import LAZY
from jupyter_mcp.kernel.views.pictures import PICTURES
from jupyter_mcp.kernel.views.sparse import SPARSE
from jupyter_mcp.kernel.views.tables import EAGER
from jupyter_mcp.kernel.views.tensors import TENSORS

if TYPE_CHECKING:
    from jupyter_mcp.kernel.views.viewer import Viewer

__all__ = ["FAMILIES"]

FAMILIES: tuple[tuple[str, Viewer], ...] = (
    *EAGER,
    *NUMPY,
    *TENSORS,
    *SPARSE,
    *LABELLED,
    *LAZY,
    *CONNECTIONS,
    *PICTURES,
    *ESTIMATORS,
)
