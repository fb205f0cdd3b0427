"""The objects of the public API: servers, what they offer, calls under way, what happened. Thin over `host`."""

from jupyter_mcp.notebook.objects.call import Call
from jupyter_mcp.notebook.objects.collections import Collection, Prompts, Resources, Templates, Tools
from jupyter_mcp.notebook.objects.happened import Activity, Log
from jupyter_mcp.notebook.objects.items import Item, Prompt, Resource, Template, Tool
from jupyter_mcp.notebook.objects.server import AsyncServer, Server
from jupyter_mcp.notebook.objects.table import Listing, Table
from jupyter_mcp.notebook.objects.trace import Trace
from jupyter_mcp.notebook.objects.watch import Watch

__all__ = [
    "Activity",
    "AsyncServer",
    "Call",
    "Collection",
    "Item",
    "Listing",
    "Log",
    "Prompt",
    "Prompts",
    "Resource",
    "Resources",
    "Server",
    "Table",
    "Template",
    "Templates",
    "Tool",
    "Tools",
    "Trace",
    "Watch",
]
