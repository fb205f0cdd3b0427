"""URI templates: variables, expansion, and back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_mcp.protocol.uritemplate import expand, match, variables


@pytest.mark.parametrize(
    ("template", "names"),
    [
        ("notes://{day}", ["day"]),
        ("x://{a}/{b,c}{?d,e*}{&f:3}", ["a", "b", "c", "d", "e", "f"]),
        ("x://{a}/{a}", ["a"]),
        ("x://plain", []),
        ("x://{}", []),
        ("x://{a b}{!c}{", []),
        ("{+path}{#frag}{.ext}{/seg*}{;p}", ["path", "frag", "ext", "seg", "p"]),
    ],
)
def test_the_variables_of_a_template(template: str, names: list[str]) -> None:
    assert variables(template) == names


@pytest.mark.parametrize(
    ("template", "uri", "values"),
    [
        ("notes://{day}", "notes://today", {"day": "today"}),
        ("notes://{day}", "notes://a%20b%2Fc", {"day": "a b/c"}),
        ("notes://{day}", "notes://caf%C3%A9", {"day": "café"}),
        ("notes://{day}", "notes://café au lait", {"day": "café au lait"}),
        ("users://{email}", "users://ann@example.org", {"email": "ann@example.org"}),
        ("x://{a}/{b}", "x://1/2", {"a": "1", "b": "2"}),
        ("x://{a}-{b}", "x://1-2-3", {"a": "1", "b": "2-3"}),
        ("x://{a,b}", "x://1,2", {"a": "1", "b": "2"}),
        ("x://{a,b}", "x://1", {"a": "1"}),
        ("file:///{+path}", "file:///a/b%20c.txt", {"path": "a/b c.txt"}),
        ("file:///{+path}", "file:///", {"path": ""}),
        ("file:///{+path}{?v}", "file:///a/b?v=2", {"path": "a/b", "v": "2"}),
        ("x://{a}{#frag}", "x://1#top", {"a": "1", "frag": "top"}),
        ("x://{a}{#frag}", "x://1", {"a": "1"}),
        ("f{.ext}", "f.tar", {"ext": "tar"}),
        ("repo://{o}/{r}{/path*}", "repo://me/it/a/b%2Fc", {"o": "me", "r": "it", "path": ["a", "b/c"]}),
        ("repo://{o}/{r}{/path*}", "repo://me/it", {"o": "me", "r": "it"}),
        ("s://q{?text,n}", "s://q?text=a%26b&n=1", {"text": "a&b", "n": "1"}),
        ("s://q{?text,n}", "s://q?n=1&text=a+b", {"n": "1", "text": "a b"}),
        ("s://q{?text,n}", "s://q?n=", {"n": ""}),
        ("s://q{?text,n}", "s://q", {}),
        ("s://q{?text}{&n}", "s://q?n=1&text=x", {"n": "1", "text": "x"}),
        ("s://q?fixed=1{&n}", "s://q?fixed=1&n=2", {"n": "2"}),
        ("s://q{?rest*}", "s://q?a=1&b=2", {"rest": {"a": "1", "b": "2"}}),
        ("s://q{?ids*}", "s://q?ids=1&ids=2", {"ids": ["1", "2"]}),
        ("m://x{;lat,long}", "m://x;lat=1;long=2", {"lat": "1", "long": "2"}),
        ("m://x{;flag}", "m://x;flag", {"flag": ""}),
        ("x://{a:3}/{b}", "x://abc/d", {"a": "abc", "b": "d"}),
        ("x://{a}/and/{a}", "x://1/and/1", {"a": "1"}),
        ("x://plain", "x://plain", {}),
        ("x://(a)+[b]", "x://(a)+[b]", {}),
    ],
)
def test_a_uri_of_that_form_gives_its_values(template: str, uri: str, values: dict[str, Any]) -> None:
    assert match(template, uri) == values


@pytest.mark.parametrize(
    ("template", "uri"),
    [
        ("notes://{day}", "notes://"),
        ("notes://{day}", "notes://a/b"),
        ("notes://{day}", "notes://a?b"),
        ("notes://{day}", "other://a"),
        ("notes://{day}", "notes://a\n/b"),
        ("NOTES://{day}", "notes://a"),
        ("x://{a}/{b}", "x://1"),
        ("x://{a,b}", "x://1,2,3"),
        ("s://q{?text}", "s://q?other=1"),
        ("s://q{?text}", "s://q?text=1&text=2"),
        ("x://{a:3}", "x://abcd"),
        ("x://{a}/and/{a}", "x://1/and/2"),
        ("x://plain", "x://plain/"),
        ("", "x"),
        ("x://{+a}/y/{+b}/z", "x://" + "/y/" * 2_000_000),
    ],
)
def test_a_uri_of_another_form_gives_nothing(template: str, uri: str) -> None:
    assert match(template, uri) is None


def test_a_value_that_is_missing_expands_to_nothing() -> None:
    assert expand("notes://{day}{?v}", {"day": "a b"}) == "notes://a%20b"
    assert expand("x{?flag}", {"flag": True}) == "x?flag=true"
    assert expand("x{/p*}{?q*}", {"p": ["a", "b/c"], "q": {"k": "v"}}) == "x/a/b%2Fc?k=v"


texts = st.text(min_size=1, max_size=12).filter(lambda text: not any("\ud800" <= c <= "\udfff" for c in text))


@given(texts, texts)
def test_what_was_expanded_is_matched_back(a: str, b: str) -> None:
    templates = ("x://{a}/{b}", "x://q{?a,b}", "x://p{;a,b}", "x://{a,b}", "x://q{?a}{&b}", "x:{/a,b}", "x://{a}/y{?b}")
    for template in templates:
        assert match(template, expand(template, {"a": a, "b": b})) == {"a": a, "b": b}, template


@given(st.lists(texts, min_size=1, max_size=4))
def test_exploded_lists_are_matched_back(items: list[str]) -> None:
    for template in ("x://p{/items*}", "x://p{?items*}", "x://p{;items*}", "x://{items*}"):
        assert match(template, expand(template, {"items": items})) == {"items": items}, template


@given(texts.filter(lambda text: "%" not in text))
def test_reserved_expansion_is_matched_back(path: str) -> None:
    assert match("file:///{+path}", expand("file:///{+path}", {"path": path})) == {"path": path}


@given(st.text(max_size=30), st.text(max_size=30))
def test_no_template_and_no_uri_makes_it_raise(template: str, uri: str) -> None:
    found = match(template, uri)
    assert found is None or set(found) <= set(variables(template))
