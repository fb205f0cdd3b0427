"""What is said about an address that a server wants to be opened."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_mcp.host.urls import MAX_URL, read


@pytest.mark.parametrize(
    "url",
    [
        "https://login.example.org/a/b?c=%2F&d=é#f",
        "http://localhost:8765/ok",
        "http://127.0.0.1/",
        "http://[::1]:9000/x",
        "HTTPS://Example.ORG",
        "https://example.org:443/",
        "https://under_score.example.org/",
        "https://example.org./",
    ],
)
def test_an_ordinary_address_may_be_opened_without_a_warning(url: str) -> None:
    address = read(url)
    assert (address.refusal, address.warnings) == (None, ())
    assert address.before + address.host + address.after == url


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("javascript:alert(1)", "not javascript: addresses"),
        ("JavaScript://example.org/%0aalert(1)", "not javascript: addresses"),
        ("data:text/html,<script>", "not data: addresses"),
        ("file:///etc/passwd", "not file: addresses"),
        ("vbscript:x", "not vbscript: addresses"),
        ("blob:https://example.org/1", "not blob: addresses"),
        ("view-source:https://example.org/", "not view-source: addresses"),
        ("ftp://example.org/", "not ftp: addresses"),
        ("//example.org/", "without a scheme"),
        ("example.org/login", "without a scheme"),
        ("/login", "without a scheme"),
        (" https://example.org/", "without a scheme"),
        ("https://exam ple.org/", "(space)"),
        ("https://example.org/a\nb", "(U+000A)"),
        ("https://example.org\\@evil.org/", "(reverse solidus)"),
        ("https://example.org/\u202egro.live", "(right-to-left override)"),
        ("https://exa\u200bmple.org/", "(zero width space)"),
        ("https://exa\u00admple.org/", "(soft hyphen)"),
        ('https://example.org/"onmouseover="x', "(quotation mark)"),
        ("https://example.org/<b>", "(less-than sign)"),
        ("https:example.org", "no site"),
        ("https:/example.org", "no site"),
        ("https://", "no site"),
        ("https:///path", "no site"),
        ("https://user@/", "no site"),
        ("https://ex%61mple.org/", "no site"),
        ("https://[bad/", "not valid"),
        ("https://example.org:99999/", "not valid"),
        ("https://example.org:x/", "not valid"),
        ("https://example.org／evil/", "not valid"),
        ("https://a;b.org/", "no valid site"),
        ("https://example.org/" + "a" * MAX_URL, "too many"),
        ("", "no address"),
        ("   ", "no address"),
        (None, "no address"),
        (3, "no address"),
        (["https://example.org"], "no address"),
    ],
)
def test_anything_else_is_refused_with_a_reason(url: Any, reason: str) -> None:
    refusal = read(url).refusal
    assert refusal is not None
    assert reason in refusal


@pytest.mark.parametrize(
    ("url", "site", "reads"),
    [
        ("https://xn--pple-43d.com/", "xn--pple-43d.com", "аpple.com"),
        ("https://аpple.com/", "xn--pple-43d.com", "аpple.com"),
        ("https://exämple.org:8443/x", "xn--exmple-cua.org:8443", "exämple.org:8443"),
        ("https://例え.テスト/", "xn--r8jz45g.xn--zckzah", "例え.テスト"),
        ("https://example。org/", "example.org", ""),
        ("https://xn--999999999999/", "xn--999999999999", ""),
        ("https://faß.de/", "xn--fa-hia.de", "faß.de"),  # browsers do not make it fass.de, which is another site
        ("https://βόλος.com/", "xn--nxasmm1c.com", "βόλος.com"),
        ("https://example.org/", "example.org", ""),
    ],
)
def test_another_alphabet_is_shown_decoded_and_as_dns_knows_it(url: str, site: str, reads: str) -> None:
    address = read(url)
    assert address.refusal is None
    assert (address.site, address.reads) == (site, reads)
    assert bool(reads) == any("outside ASCII" in warning for warning in address.warnings)


@pytest.mark.parametrize(
    ("url", "warning"),
    [
        ("https://аpple.com/", "mixes Cyrillic and Latin letters"),
        ("https://xn--pple-43d.com/", "mixes Cyrillic and Latin letters"),
        ("https://pаypal.example.org/", "mixes Latin and Cyrillic letters"),
        ("https://www.bank.com@evil.example/", "before the @ is not the site: this leads to evil.example"),
        ("https://bank.com:443@evil.example:8443/", "this leads to evil.example"),
        ("https://93.184.216.34/", "bare number"),
        ("https://2130706433/", "bare number"),
        ("https://0x7f.1/", "bare number"),
        ("https://[2001:db8::1]/", "bare number"),
        ("https://example.org:8443/", "port 8443"),
        ("http://example.org/", "not encrypted"),
    ],
)
def test_what_is_known_to_deceive_is_warned_of(url: str, warning: str) -> None:
    address = read(url)
    assert address.refusal is None
    assert warning in " ".join(address.warnings)


def test_names_of_one_alphabet_are_not_called_a_mixture() -> None:
    assert not any("mixes" in warning for warning in read("https://例え.テスト/かな漢字").warnings)
    assert not any("mixes" in warning for warning in read("https://bücher.example/").warnings)


def test_the_host_is_set_apart_to_the_letter() -> None:
    address = read("https://user:pw@Login.Example.org:8443/a@b:c")
    assert (address.before, address.host, address.after) == ("https://user:pw@", "Login.Example.org", ":8443/a@b:c")
    ipv6 = read("http://[::1]:80/")
    assert (ipv6.before, ipv6.host, ipv6.after) == ("http://", "[::1]", ":80/")


@given(st.text(max_size=40), st.sampled_from(["", "http://", "https://", "https://example.org/", "https://a@b:1/"]))
def test_any_text_is_either_refused_or_read_as_a_browser_reads_it(text: str, head: str) -> None:
    address = read(head + text)
    if address.refusal is None:
        assert address.before + address.host + address.after == head + text
        assert urlsplit(head + text).scheme in ("http", "https")
        assert address.site.isascii()
        assert address.site
