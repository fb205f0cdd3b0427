"""Forms without a screen: a schema's fields, what is typed into them, and the words that explain them.

`fields` reads a schema, `parse` / `check` / `collect` make exact JSON values of what a person typed or chose, and
`constraints` / `shape` say in words what is wanted. The cards, the terminal and scripted answers all stand on these;
this room draws nothing and knows no widget.
"""

from __future__ import annotations

from jupyter_mcp.host.forms.check import check
from jupyter_mcp.host.forms.field import UNSET, Field, FieldError, Kind
from jupyter_mcp.host.forms.fields import fields
from jupyter_mcp.host.forms.parse import parse, parse_json
from jupyter_mcp.host.forms.values import collect, draft, needed
from jupyter_mcp.host.forms.words import constraints, labels, shape

__all__ = [
    "UNSET",
    "Field",
    "FieldError",
    "Kind",
    "check",
    "collect",
    "constraints",
    "draft",
    "fields",
    "labels",
    "needed",
    "parse",
    "parse_json",
    "shape",
]
