"""The page out of its resource, and the frames that it is put into."""

from __future__ import annotations

import base64
import re
from typing import Any

import pytest

from jupyter_mcp.errors import RemoteProtocolError
from jupyter_mcp.host.apps.meta import MIME_TYPE
from jupyter_mcp.host.apps.resource import MAX_HTML, Page, page_of
from jupyter_mcp.host.apps.sandbox import sandbox_of, with_policy

URI = "ui://a/b.html"
HTML = "<!DOCTYPE html><html lang=en><title>x</title></html>"


def content(**more: Any) -> dict[str, Any]:
    return {"uri": URI, "mimeType": MIME_TYPE, "text": HTML, **more}


def test_html_comes_as_text_or_as_a_blob() -> None:
    blob = content(blob=base64.b64encode(HTML.encode()).decode())
    del blob["text"]
    assert page_of(URI, [content()]).html == page_of(URI, [blob]).html == HTML


def test_the_content_s_word_about_itself_goes_before_the_list_s_key_by_key() -> None:
    listed = {"uri": URI, "_meta": {"ui": {"csp": {"connectDomains": ["https://old.example"]}, "prefersBorder": True}}}
    told = content(_meta={"ui": {"csp": {"connectDomains": ["https://new.example"]}, "permissions": {"camera": {}}}})
    page = page_of(URI, [told], listed)
    assert page.policy.connect == ("https://new.example",)
    assert page.border is True, "only the list says that"
    assert page.wants == ("camera",)
    assert page_of(URI, [content()], listed).policy.connect == ("https://old.example",)


@pytest.mark.parametrize(
    ("contents", "said"),
    [
        pytest.param([], "no contents", id="nothing"),
        pytest.param([content(mimeType="text/html")], "is text/html", id="plain HTML"),
        pytest.param([content(mimeType=None)], "no type", id="no type"),
        pytest.param([content(text="")], "is empty", id="empty"),
        pytest.param([content(text=5)], "is empty", id="no text"),
        pytest.param([content(blob="***")], "is empty", id="no base64"),
        pytest.param([content(text="x" * (MAX_HTML + 1))], "bytes", id="far too large"),
    ],
)
def test_what_cannot_be_shown_is_said_in_one_sentence(contents: list[dict[str, Any]], said: str) -> None:
    with pytest.raises(RemoteProtocolError, match=said) as caught:
        page_of(URI, contents, server="demo")
    assert caught.value.server == "demo" and URI in str(caught.value)


def test_the_type_may_be_written_with_a_blank() -> None:
    assert page_of(URI, [content(mimeType="text/html; profile=mcp-app")]).html == HTML


@pytest.mark.parametrize("odd", [None, 5, [], {"camera": False}, {"bluetooth": {}}])
def test_only_known_permissions_are_wanted(odd: object) -> None:
    assert page_of(URI, [content(_meta={"ui": {"permissions": odd}})]).wants == ()


# --- the frames ------------------------------------------------------------------------------------------------------


def page(html: str = HTML, **settings: Any) -> Page:
    return page_of(URI, [content(text=html, _meta={"ui": settings})])


@pytest.mark.parametrize(
    "html",
    [
        HTML,
        "\ufeff  \n<!doctype html><script>1</script>",
        "<script>fetch('//x')</script>",
        "<!-- a --><!doctype html><script>1</script>",
        "<!--><script>1</script>--><!doctype html>",
        "<head><meta http-equiv=Content-Security-Policy content='default-src *'>",
        "<!doctype html SYSTEM 'a>b'><script>1</script>",
    ],
)
def test_the_policy_stands_before_everything_in_the_page_and_keeps_standards_mode(html: str) -> None:
    made = with_policy(html, "default-src 'none'")
    assert re.match(r'<!doctype html><meta http-equiv="Content-Security-Policy" content="default-src', made)
    assert made.count('http-equiv="Content-Security-Policy"') == 1


def test_the_outer_document_begins_with_the_policy_and_holds_nothing_of_the_server() -> None:
    made = sandbox_of(page("<!doctype html><p id=theirs>", csp={"connectDomains": ["https://a.example"]}), "relay()")
    assert made.proxy.startswith('<!doctype html><meta http-equiv="Content-Security-Policy"')
    assert "connect-src https://a.example" in made.proxy
    assert "theirs" not in made.proxy and "theirs" in made.resource["html"]
    assert made.resource["sandbox"] == "allow-scripts"
    assert made.resource["csp"] == {"connectDomains": ["https://a.example"]}


def test_permissions_are_given_only_when_the_page_wants_them_and_the_person_grants_them() -> None:
    asking = page(permissions={"clipboardWrite": {}, "camera": {}})
    assert sandbox_of(asking, "").allow == "" and "permissions" not in sandbox_of(asking, "").resource
    made = sandbox_of(asking, "", granted={"clipboardWrite", "microphone"})
    assert made.allow == "clipboard-write"
    assert made.resource["permissions"] == {"clipboardWrite": {}}


def test_the_attribute_is_left_out_where_frames_of_others_would_have_to_agree_to_it() -> None:
    assert sandbox_of(page(), "").csp
    assert sandbox_of(page(csp={"frameDomains": ["https://a.example"]}), "").csp == ""
