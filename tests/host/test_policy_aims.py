"""A rule about something that is not there holds, and is said to be about nothing: it may be a slip."""

from __future__ import annotations

import pytest

from jupyter_mcp.host.policy.aims import aims_at_nothing

OFFERED = {"demo": ["add", "delete_all", "notes://{day}"], "math": ["add"], "new": None}


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        ("demo.delet_all", "Nothing of demo is called delet_all now; did you mean demo.delete_all?"),
        ("demo.xyz", "Nothing of demo is called xyz now."),
        ("demo.Add", "Nothing of demo is called Add now; did you mean demo.add?"),
        ("demo.zz*", "Nothing of demo is called zz* now."),
        ("*th.delete_all", "Nothing of math is called delete_all now."),
        ("dmeo.add", "There is no server dmeo now; did you mean demo?"),
        ("dmeo", "There is no server dmeo now; did you mean demo?"),
    ],
)
def test_what_fits_nothing_is_said_with_the_nearest_name(pattern: str, says: str) -> None:
    assert aims_at_nothing(pattern, OFFERED) == says


@pytest.mark.parametrize(
    "pattern",
    [
        "demo",
        "demo.*",
        "demo.add",
        "demo.del*",
        "*.add",
        "*",
        " demo.add ",
        "demo.notes://tomorrow",  # no list has it, and it can be read
        "demo.elicitation/create",
        "demo.roots/*",
        "demo.connect",
        "new.anything",  # its lists have not been read
        "*.anything",
        "later.tool",  # nothing like it is there: it is for later
    ],
)
def test_what_fits_something_or_may_is_no_slip(pattern: str) -> None:
    assert aims_at_nothing(pattern, OFFERED) == ""


def test_where_nothing_is_connected_nothing_is_said() -> None:
    assert aims_at_nothing("demo.add", {}) == ""
