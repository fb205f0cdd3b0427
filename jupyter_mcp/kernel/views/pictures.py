"""Views of pictures: PIL's images as a small PNG; figures as the image that was captured when they were displayed.

A figure is never drawn here: its library draws on the main thread, and drawing changes it.
"""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING, Any

from jupyter_mcp.kernel.views import safe
from jupyter_mcp.kernel.views.base import PNG, View, ViewError, Wanted, pick_format
from jupyter_mcp.kernel.views.viewer import Viewer

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["PICTURES", "Figure", "Picture", "captured_by"]

_MOST_PIXELS = 1_000_000  # of the PNG
_MOST_SOURCE = 100_000_000  # pixels that are scaled down
_TURNS = 8

_lookup: Callable[[object], tuple[bytes, str] | None] | None = None


def captured_by(lookup: Callable[[object], tuple[bytes, str] | None] | None) -> None:
    """Where to find the image (bytes and MIME type) that was captured when a figure was displayed."""
    global _lookup
    _lookup = lookup


class Picture(Viewer):
    """PIL.Image.Image."""

    kind = "image"

    def facts(self, value: object) -> dict[str, Any]:
        held = safe.instance_dict(value) or {}
        size = held.get("_size")
        mode = held.get("_mode")
        wide, high = size if type(size) is tuple and len(size) == 2 else (0, 0)  # pyright: ignore
        return {"shape": (int(high), int(wide)), "dtype": mode if type(mode) is str else None}  # pyright: ignore

    def view(self, value: object, wanted: Wanted) -> View:
        pick_format(wanted.format, PNG)
        image: Any = sys.modules["PIL.Image"].Image
        high, wide = self.facts(value)["shape"]
        if not 0 < high * wide <= _MOST_SOURCE:
            raise ViewError("unsupported", f"an image of {wide:,} x {high:,} pixels is too large to be scaled")
        share = min(1.0, (_MOST_PIXELS / (high * wide)) ** 0.5)
        for _ in range(_TURNS):
            size = (max(1, int(wide * share)), max(1, int(high * share)))
            small = image.resize(value, size) if size != (wide, high) else image.copy(value)
            if small.mode not in ("1", "L", "LA", "P", "RGB", "RGBA", "I;16"):
                small = small.convert("RGB")
            out = io.BytesIO()
            small.save(out, "PNG")
            if out.tell() <= wanted.budget or size == (1, 1):
                note = None if size == (wide, high) else f"scaled from {wide:,} x {high:,} to {size[0]:,} x {size[1]:,}"
                return View(PNG, blob=out.getvalue(), note=note)
            share *= max(0.3, 0.9 * (wanted.budget / out.tell()) ** 0.5)
        raise ViewError("unsupported", "the image does not fit")


class Figure(Viewer):
    """Figures of matplotlib, plotly and altair."""

    kind = "figure"

    def view(self, value: object, wanted: Wanted) -> View:
        found = _lookup(value) if _lookup is not None else None
        if found is None:
            raise ViewError("unsupported", "the image of a figure is captured when it is displayed; display it first")
        image, mime_type = found
        pick_format(wanted.format, mime_type)
        if len(image) > wanted.budget:
            raise ViewError("unsupported", f"its image has {len(image):,} bytes, more than {wanted.budget:,}")
        return View(mime_type, blob=image)


PICTURES: tuple[tuple[str, Viewer], ...] = (
    ("PIL.Image.Image", Picture()),
    ("matplotlib.figure.Figure", Figure()),
    ("plotly.basedatatypes.BaseFigure", Figure()),
    ("altair.vegalite.v6.api.TopLevelMixin", Figure()),
    ("altair.vegalite.v5.api.TopLevelMixin", Figure()),
)
