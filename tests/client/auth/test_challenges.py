"""`WWW-Authenticate`: read as servers write it, well or badly."""

from __future__ import annotations

import pytest

from jupyter_mcp.client.auth.challenges import Scheme, Wanted, read, wanted

NONE: dict[str, str] = {}
NOTHING: list[tuple[str, dict[str, str]]] = []


@pytest.mark.parametrize(
    ("header", "found"),
    [
        ("Bearer", [("bearer", NONE)]),
        ('Bearer realm="x"', [("bearer", {"realm": "x"})]),
        ('bearer scope="a b" , error=invalid_token', [("bearer", {"scope": "a b", "error": "invalid_token"})]),
        ('Basic realm="a, b", Bearer scope="c"', [("basic", {"realm": "a, b"}), ("bearer", {"scope": "c"})]),
        ("Basic, DPoP algs=ES256", [("basic", NONE), ("dpop", {"algs": "ES256"})]),
        ('Bearer x="a \\"quoted\\" b"', [("bearer", {"x": 'a "quoted" b'})]),
        ("Negotiate YWJj=, Bearer a=b", [("negotiate", NONE), ("bearer", {"a": "b"})]),
        ('Bearer A="1", a="2"', [("bearer", {"a": "1"})]),
        ('Bearer resource_metadata="https://x/y?z=1,2"', [("bearer", {"resource_metadata": "https://x/y?z=1,2"})]),
        ('Bearer scope = "a"', [("bearer", {"scope": "a"})]),
        ("", NOTHING),
        (",,, ,", NOTHING),
        ('="', NOTHING),
    ],
)
def test_challenges_are_told_apart(header: str, found: list[tuple[str, dict[str, str]]]) -> None:
    assert read([header]) == [Scheme(name, parameters) for name, parameters in found]


def test_several_headers_are_one_list() -> None:
    assert [scheme.name for scheme in read(["Bearer a=1", "DPoP b=2"])] == ["bearer", "dpop"]


@pytest.mark.parametrize(
    "header", ['Bearer x="' + "a" * 100_000, "Bearer " + "=" * 50_000, "a," * 50_000, "\x00\x01 é"]
)
def test_a_hostile_header_is_read_in_no_time_and_raises_nothing(header: str) -> None:
    wanted([header])


def test_what_is_wanted_is_joined_from_what_is_about_tokens() -> None:
    headers = ['Basic realm="x", scope="no"', 'Bearer error="insufficient_scope", scope="a b a"', "DPoP algs=ES256"]
    assert wanted(headers) == Wanted("", ("a", "b"), "insufficient_scope", dpop=False, bearer=True)
    assert wanted(['DPoP resource_metadata="u"']) == Wanted("u", None, "", dpop=True, bearer=False)
    assert wanted(["Basic"]) == Wanted()


@pytest.mark.parametrize("scope", ["", "  "])
def test_an_empty_scope_names_none(scope: str) -> None:
    assert wanted([f'Bearer scope="{scope}"']).scopes is None
