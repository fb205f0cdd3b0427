"""Forms without a screen: a schema's fields, what is typed into them, and the words that explain them.

`model` reads a schema as a tree of nodes, `draft` / `collect` / `needed` go between what a person typed or chose and
exact JSON values, and `constraints` / `shape` say in words what is wanted. The cards, the terminal and scripted answers
all stand on these; this room draws nothing and knows no widget.
"""

from __future__ import annotations

from jupyter_mcp.host.forms.check import check
from jupyter_mcp.host.forms.collecting import Gathered, by_field, collect, gather, needed, step
from jupyter_mcp.host.forms.drafts import AsJson, Draft, Members, Picked, Variable, draft, equal, written
from jupyter_mcp.host.forms.fallbacks import fallbacks
from jupyter_mcp.host.forms.model import fields, model
from jupyter_mcp.host.forms.node import UNSET, FieldError, Inside, Node
from jupyter_mcp.host.forms.parse import parse, parse_json
from jupyter_mcp.host.forms.words import constraints, labels, shape

__all__ = [
    "UNSET",
    "AsJson",
    "Draft",
    "FieldError",
    "Gathered",
    "Inside",
    "Members",
    "Node",
    "Picked",
    "Variable",
    "by_field",
    "check",
    "collect",
    "constraints",
    "draft",
    "equal",
    "fallbacks",
    "fields",
    "gather",
    "labels",
    "model",
    "needed",
    "parse",
    "parse_json",
    "shape",
    "step",
    "written",
]
