"""A server whose tools want what real ones want: nested objects, lists of them, alternatives, null, variables."""

from __future__ import annotations

__all__ = ["SETUP"]

SETUP = '''%load_ext jupyter_mcp
import json
from typing import Annotated, Literal
from pydantic import BaseModel, Field
from jupyter_mcp.server import Server

class Axis(BaseModel):
    title: str = Field(description="What stands **along** the axis; see [the guide](https://example.org/).")
    log: bool = False

class Line(BaseModel):
    kind: Literal["line"]
    width: Annotated[float, Field(gt=0, le=10)] = 1.5

class Bars(BaseModel):
    kind: Literal["bars"]
    stacked: bool = False
    labels: list[str] = []

class Series(BaseModel):
    name: str
    values: list[float]
    look: Line | Bars = Field(discriminator="kind")

class Folder(BaseModel):
    name: str
    inside: list["Folder"] = []

studio = Server("studio")

@studio.tool
def draw(
    series: Annotated[list[Series], Field(min_length=1, description="What is drawn, in this order")],
    title: str | None = None,
    x_axis: Axis | None = None,
    size: tuple[int, int] = (800, 600),
    colours: dict[str, str] = {},
    quality: Literal["draft", "print"] = "draft",
) -> str:
    """Draw a chart of some series."""
    return "drew " + json.dumps({"series": [s.model_dump() for s in series], "title": title, "colours": colours,
                       "x_axis": x_axis and x_axis.model_dump(), "size": size, "quality": quality})

@studio.tool
def tree(root: Folder) -> str:
    """Make folders in folders."""
    return "made " + root.model_dump_json()

@studio.tool
def total(numbers: list[float], note: str = "") -> float:
    """The sum of some numbers."""
    return sum(numbers)
'''
