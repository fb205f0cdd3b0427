"""`Sandbox`: what a server's process may do on this machine, as the person (or a file) wrote it. A value.

Nothing may be written but the roots and what `write` names, and the network is closed unless `network` opens it. It is
made real by `bubblewrap` or `seatbelt`; where neither can, the server is not started.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, cast

from jupyter_mcp.errors import UsageError

__all__ = ["Sandbox", "from_vscode", "read"]

_KEYS = ("network", "write", "deny_read", "deny_write")
_LISTS = _KEYS[1:]


@dataclass(frozen=True, slots=True)
class Sandbox:
    """
    Attributes:
        network: whether the server may open connections at all; there is no finer rule.
        write: folders and files that may be written, beside the roots.
        deny_read: folders and files that cannot even be read, beside the usual ones (`places.private`).
        deny_write: what stays read-only although it lies in a root or in `write`.
    """

    network: bool = False
    write: tuple[str, ...] = ()
    deny_read: tuple[str, ...] = ()
    deny_write: tuple[str, ...] = ()

    def describe(self) -> str:
        """In one line for a card: "sandboxed: writes only in its roots and ~/cache; no network"."""
        also = f" and {', '.join(self.write)}" if self.write else ""
        denied = f"; never {', '.join(self.deny_read)}" if self.deny_read else ""
        return f"sandboxed: writes only in its roots{also}; {'may use the' if self.network else 'no'} network{denied}"


def read(name: str, given: Any) -> Sandbox | None:
    """The sandbox that `connect(…, sandbox=…)` means.

    Args:
        name: the server's, for messages.
        given: True (the strict one), False or None (no sandbox), or a mapping with `network` (true or false) and
            `write`, `deny_read`, `deny_write` (lists of paths).

    Raises:
        UsageError: anything else, naming the key.
    """
    if given is None or given is False:
        return None
    if given is True:
        return Sandbox()
    if isinstance(given, Sandbox):
        return given
    if not isinstance(given, Mapping):
        raise UsageError(f"{name}: sandbox is True, False or a mapping, not {type(given).__name__}.")
    rules = cast("Mapping[str, Any]", given)
    for key in rules:
        if key not in _KEYS:
            near = get_close_matches(str(key), _KEYS, 1)
            hint = f"Did you mean {near[0]}?" if near else f"There are: {', '.join(_KEYS)}."
            raise UsageError(f"{name}: a sandbox has no {key!r}.", hint=hint)
    network = rules.get("network", False)
    if not isinstance(network, bool):
        raise UsageError(f"{name}: network of a sandbox is true or false, not {network!r}.")
    return Sandbox(network, *(_paths(name, key, rules.get(key)) for key in _LISTS))


def from_vscode(name: str, enabled: Any, rules: Any) -> Sandbox | None:
    """The sandbox of an entry of `.vscode/mcp.json`: `sandboxEnabled`, `sandbox.filesystem`, `sandbox.network`.

    Domains can be listed there; here the network is open or closed. So a list that allows some is refused rather than
    widened, and one that only denies some closes it all, which is stricter.

    Raises:
        UsageError: rules that cannot be kept, or are none.
    """
    if enabled is not None and not isinstance(enabled, bool):
        raise UsageError(f"{name}: sandboxEnabled is true or false, not {enabled!r}.")
    if not enabled:
        return None
    table = _table(name, "sandbox", rules)
    files, network = _table(name, "filesystem", table.get("filesystem")), _table(name, "network", table.get("network"))
    allowed = _paths(name, "allowedDomains", network.get("allowedDomains"))
    if allowed and "*" not in allowed:
        raise UsageError(
            f"{name}: a sandbox that lets only some domains through ({', '.join(allowed[:3])}) cannot be had here.",
            hint='Open the network whole ("allowedDomains": ["*"]) or close it ("allowedDomains": []).',
        )
    return Sandbox(
        network=bool(allowed) and not network.get("deniedDomains"),
        write=_paths(name, "allowWrite", files.get("allowWrite")),
        deny_read=_paths(name, "denyRead", files.get("denyRead")),
        deny_write=_paths(name, "denyWrite", files.get("denyWrite")),
    )


def _table(name: str, key: str, value: Any) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise UsageError(f"{name}: {key} of its sandbox is not an object.")
    return cast("Mapping[str, Any]", value)


def _paths(name: str, key: str, value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    items = cast("Sequence[Any]", [value] if isinstance(value, str) else value)
    if not isinstance(items, list | tuple) or not all(isinstance(item, str) and item.strip() for item in items):
        raise UsageError(f"{name}: {key} of a sandbox is a list of texts.")
    return tuple(cast("Sequence[str]", items))
