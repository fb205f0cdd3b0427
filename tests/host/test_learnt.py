"""A secret that is known is found in whichever way it is said back."""

from __future__ import annotations

import json
from html import escape
from urllib.parse import quote

import pytest

from jupyter_mcp.host.learnt import Learnt
from jupyter_mcp.host.redaction import MASK, Redactor
from jupyter_mcp.host.specs import ServerSpec

SECRET = 'odd/Zq9<"nobody\\may&see">7ä'


def learnt(*values: str) -> Learnt:
    found = Learnt()
    found.add(values)
    return found


@pytest.mark.parametrize(
    "said",
    [SECRET, escape(SECRET), json.dumps(SECRET)[1:-1], json.dumps(SECRET, ensure_ascii=False)[1:-1], quote(SECRET, "")],
)
def test_a_secret_is_masked_as_json_html_and_urls_spell_it(said: str):
    assert learnt(SECRET).mask(f"before {said} after") == f"before {MASK} after"


def test_of_two_secrets_of_which_one_begins_like_the_other_nothing_is_left():
    for order in (["prefix-one", "prefix-one-and-more"], ["prefix-one-and-more", "prefix-one"]):
        assert learnt(*order).mask("prefix-one-and-more prefix-one") == f"{MASK} {MASK}"


def test_a_secret_of_several_lines_is_masked_line_by_line():
    lines = learnt("-----BEGIN KEY-----\nabcdefghijklmnop\n  qrstuvwxyzabcdef\nshort\n")
    assert lines.mask("abcdefghijklmnop") == lines.mask("qrstuvwxyzabcdef") == MASK
    assert lines.mask("a short line") == "a short line"


@pytest.mark.parametrize("ellipsis", ["…", " …", "...", " [… 7 more]", "… (70,219 characters)"])
def test_what_a_cut_leaves_of_a_secret_is_masked(ellipsis: str):
    known = learnt("0123456789abcdefghij")
    for kept in range(6, 20):
        text = f"x {'0123456789abcdefghij'[:kept]}{ellipsis} and so on"
        assert known.mask(text) == f"x {MASK}{ellipsis} and so on"


def test_the_beginning_of_a_secret_is_a_word_like_any_other_where_nothing_was_cut():
    known = learnt("postgres-production-77")
    text = "postgres and postgres-production are databases."
    assert known.mask(text) == text
    assert known.mask("postgres-production-77, postgres") == f"{MASK}, postgres"


def test_a_short_beginning_of_a_long_secret_is_left_alone_before_an_ellipsis():
    known = learnt("example-" + "0123456789" * 6)
    assert known.mask("for example…") == "for example…"


def test_the_password_of_basic_authentication_is_known_however_it_was_given():
    redactor = Redactor()
    spec = ServerSpec.parse("a", "https://ann:pa%2Fssword-1@host/mcp")
    redactor.learn_spec(spec, spec)
    for said in ("pa%2Fssword-1", "pa/ssword-1", "ann:pa/ssword-1", "YW5uOnBhL3Nzd29yZC0x"):
        assert redactor.known(f"you are {said}") == f"you are {MASK}"
    redactor = Redactor()
    spec = ServerSpec.parse("a", "https://host/mcp", headers={"Authorization": "Basic YW5uOnBhL3Nzd29yZC0x"})
    redactor.learn_spec(spec, spec)
    assert redactor.known("password pa/ssword-1") == f"password {MASK}"


def test_a_token_in_the_place_of_a_user_is_known():
    redactor = Redactor()
    spec = ServerSpec.parse("a", "https://a-token-9-x@host/mcp")
    redactor.learn_spec(spec, spec)
    assert redactor.known("no entry, a-token-9-x") == f"no entry, {MASK}"
