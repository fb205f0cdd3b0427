"""What the checks of every library have in common."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from jupyter_mcp.kernel import views
from jupyter_mcp.kernel.views import View, ViewError, Wanted, view

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["AS_JSON", "cells", "check_views", "elsewhere", "grown", "pages"]

AS_JSON = Wanted(format="json")
LEAST = 512  # bytes


def cells(value: object, wanted: Wanted = AS_JSON) -> list[dict[str, Any]]:
    """The rows of a table as JSON."""
    return view(value, wanted).data["data"]


def check_views(value: object) -> View:
    """What holds for the views of any object: bounded, in every format it offers. The first is returned."""
    views.fingerprint(value)
    json.dumps(views.summary(value).data(), allow_nan=False)
    assert views.summary(value).line()
    first = view(value)
    for kind in ("csv", "json", "md", "png", "text"):
        for most in (LEAST, 64 * 1024):
            try:
                found = view(value, Wanted(format=kind, max_bytes=most))
            except ViewError as refused:
                if refused.reason not in ("unsupported", "failed"):
                    raise
                continue
            assert len((found.text or "").encode()) <= most
            assert len(found.blob or b"") <= most
            json.dumps(found.data, allow_nan=False).encode()
    with pytest.raises(ViewError) as refused:
        view(value, Wanted(path="there_is_no_such_thing"))
    assert refused.value.reason == "no such path"
    return first


def pages(value: object, wanted: Wanted) -> list[View]:
    """All pieces, one after the other."""
    out = [view(value, wanted)]
    while (cursor := out[-1].cursor) is not None and len(out) < 1000:
        out.append(view(value, Wanted(cursor=cursor, max_bytes=wanted.max_bytes)))
    return out


def grown(action: Callable[[], object]) -> int:
    """How many bytes more of memory the process held at most while something was done, the second time it is done.

    Libraries have allocators of their own: only the system knows. Without Linux's counters it is what stays.
    """
    action()
    peak = Path("/proc/self/clear_refs")
    before = psutil.Process().memory_info().rss
    if not peak.exists():
        action()
        return psutil.Process().memory_info().rss - before
    peak.write_text("5", encoding="ascii")  # the highest mark starts anew
    action()
    status = Path(f"/proc/{os.getpid()}/status").read_text(encoding="utf-8")
    highest = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(highest.split()[1]) * 1024 - before


def elsewhere(value: object) -> str:
    """Why a read on another thread is refused; summary, fingerprint and columns never are."""
    reasons: list[str] = []

    def read() -> None:
        views.summary(value)
        views.fingerprint(value)
        views.columns(value)
        with pytest.raises(ViewError) as refused:
            view(value)
        reasons.append(refused.value.reason)

    thread = threading.Thread(target=read)
    thread.start()
    thread.join()
    return reasons[0]
