"""What a tool says about its page, and who may call the tool."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_mcp.host import apps

URI = "ui://weather/view.html"


def tool(**meta: Any) -> dict[str, Any]:
    return {"name": "t", "inputSchema": {"type": "object"}, "_meta": meta}


@pytest.mark.parametrize(
    "meta",
    [
        pytest.param({"ui": {"resourceUri": URI}}, id="the extension's object"),
        pytest.param({"ui/resourceUri": URI}, id="the key from before it had one"),
        pytest.param({"ui": {}, "ui/resourceUri": URI}, id="an object that does not say, and the old key"),
        pytest.param(
            {"ui": {"resourceUri": URI}, "ui/resourceUri": "ui://old"}, id="both: the object's word goes first"
        ),
    ],
)
def test_a_tool_names_its_page_in_the_new_way_or_in_the_old_one(meta: dict[str, Any]) -> None:
    assert apps.resource_uri(tool(**meta)) == URI


@pytest.mark.parametrize("uri", ["https://example.com/app", "file:///etc/passwd", "ui://", "", 5, None, ["ui://a"]])
def test_what_is_no_ui_resource_is_no_page(uri: object) -> None:
    assert apps.resource_uri(tool(ui={"resourceUri": uri})) is None


@pytest.mark.parametrize(
    "odd", [{}, {"_meta": None}, {"_meta": {"ui": "yes"}}, {"_meta": {"ui": {"visibility": "app"}}}]
)
def test_a_tool_that_says_nothing_plain_has_no_page_and_is_there_for_all(odd: dict[str, Any]) -> None:
    assert apps.resource_uri(odd) is None
    assert apps.may_call("model", odd) and apps.may_call("app", odd)


@pytest.mark.parametrize(
    ("visibility", "model", "app"),
    [(["model", "app"], True, True), (["app"], False, True), (["model"], True, False), ([], False, False)],
)
def test_visibility_says_who_may_call_a_tool(visibility: list[str], model: bool, app: bool) -> None:
    found = tool(ui={"visibility": visibility})
    assert (apps.may_call("model", found), apps.may_call("app", found)) == (model, app)


def test_the_extension_declares_the_type_of_pages_that_are_shown() -> None:
    assert apps.settings() == {"mimeTypes": ["text/html;profile=mcp-app"]}
