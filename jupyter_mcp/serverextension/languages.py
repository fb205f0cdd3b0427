"""Which language a kernel speaks, by its kernelspec; of this machine, or of an Enterprise Gateway's."""

from __future__ import annotations

from typing import Any

from jupyter_server.utils import ensure_async
from tornado import web

from jupyter_mcp.protocol.shapes import mapping_of

__all__ = ["is_ours", "language_of"]


async def language_of(specs: Any, name: str) -> str:
    """The language of a kernelspec; "" where nobody says.

    Args:
        specs: the Jupyter Server's kernelspec manager. With a gateway it answers later, and with what its REST API
            says: `{"name", "spec": {"language"}}`. name: of the kernelspec.
    """
    try:
        found: Any = await ensure_async(specs.get_kernel_spec(name))
    except (KeyError, web.HTTPError):  # it was removed since the kernel started, or the gateway does not answer
        return ""
    told = mapping_of(mapping_of(found).get("spec")).get("language") or getattr(found, "language", "")
    return told if isinstance(told, str) else ""


def is_ours(language: str) -> bool:
    """Whether a kernel of this language can have loaded the extension; one of which nobody says it is asked."""
    return language.casefold() in ("python", "")
