"""Which requests are rounds of one exchange: a server of the modern era that needs input answers `input_required`, and
the request is sent again with the answers. Pure, over messages as recorded.

Source: the specification 2026-07-28, multi round-trip requests. A round is known by the `requestState` that it echoes
and the names that it answers; the method and what it is about stay the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.protocol.shapes import mapping_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["Round", "rounds"]

Round = tuple[int, int]
"""The number of the first request, and which round of it, from 1."""

_Key = tuple[str, str, str, str, frozenset[str]]


def rounds(pairs: Iterable[tuple[int, str, Mapping[str, Any], Mapping[str, Any] | None]]) -> dict[int, Round]:
    """The exchange of each request.

    Args:
        pairs: (number, server, request, answer or None) of the requests of one direction, the oldest first.
    """
    found: dict[int, Round] = {}
    waiting: dict[_Key, Round] = {}
    for number, server, request, answer in pairs:
        params = mapping_of(request.get("params"))
        exchange = (number, 1)
        if "inputResponses" in params or "requestState" in params:
            before = waiting.pop(_key(server, request, params, "inputResponses"), None)
            exchange = exchange if before is None else (before[0], before[1] + 1)
        found[number] = exchange
        result = mapping_of((answer or {}).get("result"))
        if result.get("resultType") == "input_required":
            waiting[_key(server, request, result, "inputRequests")] = exchange
    return found


def _key(server: str, request: Mapping[str, Any], said: Mapping[str, Any], names: str) -> _Key:
    params = mapping_of(request.get("params"))
    about = str(params.get("name", params.get("uri", "")))
    names_said = frozenset(map(str, mapping_of(said.get(names))))
    return (server, str(request.get("method")), about, str(said.get("requestState")), names_said)
