"""Where a browser comes back to: a function of what is known of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from jupyter_mcp.host.auth.places import JupyterPage, choose, is_far

if TYPE_CHECKING:
    from pathlib import Path

HUB = JupyterPage("https://hub.example/user/ada/", "kernel-1")
HERE = JupyterPage("http://localhost:8888/", "kernel-1")


@pytest.mark.parametrize(
    ("page", "far", "kind"),
    [
        (None, False, "loopback"),
        (None, True, "paste"),
        (HERE, False, "loopback"),
        (HERE, True, "jupyter"),
        (HUB, False, "jupyter"),
        (HUB, True, "jupyter"),
        (JupyterPage("http://127.0.0.1:8888/", "k"), False, "loopback"),
        (JupyterPage("http://127.0.0.1.evil.example/", "k"), False, "jupyter"),
    ],
)
def test_the_place_follows_from_the_page_and_the_signs(page: JupyterPage | None, far: bool, kind: str) -> None:
    assert choose(page, far) == kind


def test_the_callback_is_below_the_base_url() -> None:
    assert HUB.callback == "https://hub.example/user/ada/jupyter-mcp/oauth/callback"
    assert JupyterPage("https://hub.example", "k").callback == "https://hub.example/jupyter-mcp/oauth/callback"


def test_a_machine_is_far_by_its_environment_or_its_marks(tmp_path: Path) -> None:
    nothing = (str(tmp_path / "none"),)
    assert not is_far({}, nothing)
    assert not is_far({"SSH_CONNECTION": ""}, nothing)
    assert is_far({"SSH_CONNECTION": "10.0.0.1 2 10.0.0.2 22"}, nothing)
    assert is_far({"JUPYTERHUB_API_TOKEN": "x"}, nothing)
    assert is_far({}, (str(tmp_path),))
