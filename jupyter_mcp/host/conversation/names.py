"""What a model calls a tool: `server__tool` in `[A-Za-z0-9_-]{1,64}`, the characters that every provider takes.

A name whose parts can be read back is that and nothing else. Any other (odd characters, too long, two underscores in a
row) ends in a digest of the real name, so that it is the same in every conversation and nobody can take it by offering
a tool of that name. A name that was given is never given to another tool of the same conversation.
"""

from __future__ import annotations

import hashlib
import re

__all__ = ["LONGEST", "ToolNames", "model_name"]

LONGEST = 64
_JOINT = "__"
_DIGEST = 10  # hexadecimal digits
_FIT = re.compile(rf"[A-Za-z][A-Za-z0-9_-]{{0,{LONGEST - 1}}}\Z")  # some providers want a letter first
_DIGESTED = re.compile(rf"_[0-9a-f]{{{_DIGEST}}}\Z")
_UNFIT = re.compile(r"[^A-Za-z0-9_-]+")


def model_name(server: str, tool: str, attempt: int = 0) -> str:
    """The name of a tool for a model.

    Args:
        server, tool: names, as listed.
        attempt: another one for each number, when one is taken.
    """
    plain = f"{server}{_JOINT}{tool}"
    if not attempt and _FIT.match(plain) and not _DIGESTED.search(plain) and plain.partition(_JOINT)[0] == server:
        return plain
    digest = hashlib.sha256(f"{server}\0{tool}\0{attempt}".encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST]
    head = _UNFIT.sub("_", plain)
    if not head[:1].isalpha():
        head = f"t{head}"
    return f"{head[: LONGEST - _DIGEST - 1]}_{digest}"


class ToolNames:
    """The names given in one conversation, both ways."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, str], str] = {}
        self._tools: dict[str, tuple[str, str]] = {}

    def give(self, server: str, tool: str) -> str:
        """The name of this tool for the model, the same each time."""
        known = self._names.get((server, tool))
        if known is not None:
            return known
        attempt = 0
        while (name := model_name(server, tool, attempt)) in self._tools:
            attempt += 1
        self._names[server, tool] = name
        self._tools[name] = (server, tool)
        return name

    def meant(self, name: str) -> tuple[str, str] | None:
        """The server and the tool of a name, or None when it was never given."""
        return self._tools.get(name)
