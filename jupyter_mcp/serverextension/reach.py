"""Asks a kernel something over its control channel, which it answers while a cell computes; wherever the kernel is.

    jupyter_mcp_request    {"version": 1, "kind": str, "data": object}
    jupyter_mcp_reply      {"status": "ok", "data": object} | {"status": "error", "ename": str, "evalue": str}

The other end is `kernel/control.py`, if the kernel has loaded the extension; one that has not says nothing, so that no
answer within the time means just that.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.protocol.shapes import mapping_of

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["KernelSaidNo", "KernelSilent", "answers", "connected", "control", "data_of"]

REQUEST, REPLY = "jupyter_mcp_request", "jupyter_mcp_reply"
SECONDS = 10.0


class KernelSilent(Exception):
    """A kernel did not answer in time: it is gone, or has not loaded the extension."""


class KernelSaidNo(Exception):
    """A kernel answered with an error, in one sentence."""


def connected(manager: Any) -> Any:
    """A client on the control channel of a manager's kernel, to be stopped by `stop_channels`.

    A kernel knows its clients by the name of their session, and of two with one name only the later is answered; a
    manager gives all of its clients its own.
    """
    from jupyter_client.session import Session

    client = manager.client()
    client.session = Session(parent=manager, key=manager.session.key, signature_scheme=manager.session.signature_scheme)
    client.start_channels(shell=False, iopub=False, stdin=False, hb=False, control=True)
    return client


async def control(
    kernels: Any, kernel_id: str, kind: str, data: Mapping[str, Any], seconds: float = SECONDS
) -> dict[str, Any]:
    """What a kernel answers.

    Args:
        kernels: the Jupyter Server's kernel manager.
        kernel_id: one that it has.
        kind, data: of the request.
        seconds: how long an answer may take.

    Raises:
        KernelSilent: there was none.
        KernelSaidNo: it was an error.
        KeyError: there is no such kernel.
    """
    client = connected(kernels.get_kernel(kernel_id))
    try:
        message = client.session.msg(REQUEST, {"version": 1, "kind": kind, "data": dict(data)})
        client.control_channel.send(message)
        async with asyncio.timeout(seconds):
            while True:
                reply = cast("dict[str, Any]", await client.control_channel.get_msg(timeout=seconds))
                if answers(reply) == message["header"]["msg_id"]:
                    break
    except (TimeoutError, OSError) as reason:
        raise KernelSilent(f"The kernel {kernel_id} did not answer within {seconds:g} s.") from reason
    except Exception as reason:
        if type(reason).__name__ != "Empty":  # of queue, which jupyter_client raises when the time is up
            raise
        raise KernelSilent(f"The kernel {kernel_id} did not answer within {seconds:g} s.") from reason
    finally:
        client.stop_channels()
    return data_of(reply)


def answers(reply: Mapping[str, Any]) -> str:
    """The id of the request that a kernel answers; "" of none."""
    return str(mapping_of(reply.get("parent_header")).get("msg_id") or "")


def data_of(reply: dict[str, Any]) -> dict[str, Any]:
    """What a reply brings. Raises KernelSaidNo."""
    content = mapping_of(reply.get("content"))
    if mapping_of(reply.get("header")).get("msg_type") != REPLY or content.get("status") != "ok":
        raise KernelSaidNo(str(content.get("evalue") or "The kernel did not understand the request."))
    found = content.get("data")
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}
