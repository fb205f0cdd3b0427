"""The policy of a page: what it declares, checked, and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_mcp.host.apps import csp

KINDS = ("connectDomains", "resourceDomains", "frameDomains", "baseUriDomains")


def directives(text: str) -> dict[str, list[str]]:
    """A policy as a browser reads it: of two directives of a name only the first counts, so there must be one."""
    parts = [part.split() for part in text.split(";")]
    names = [part[0] for part in parts]
    assert len(set(names)) == len(names)
    return {part[0]: part[1:] for part in parts}


def test_a_page_that_declares_nothing_gets_inline_code_and_data_pictures_and_no_network() -> None:
    found = directives(csp.read(None).text)
    assert found["default-src"] == found["connect-src"] == found["frame-src"] == found["object-src"] == ["'none'"]
    assert found["script-src"] == found["style-src"] == ["'unsafe-inline'"]
    assert found["img-src"] == found["media-src"] == ["data:"]
    assert found["base-uri"] == found["form-action"] == found["worker-src"] == found["font-src"] == ["'none'"]


def test_declared_origins_stand_where_the_specification_puts_them() -> None:
    policy = csp.read(
        {
            "connectDomains": ["https://api.example.com", "wss://live.example.com:8443"],
            "resourceDomains": ["https://*.cdn.example.com"],
            "frameDomains": ["https://player.example.com/"],
            "baseUriDomains": ["https://base.example.com"],
        }
    )
    found = directives(policy.text)
    assert found["connect-src"] == ["https://api.example.com", "wss://live.example.com:8443"]
    for name in ("script-src", "style-src", "img-src", "font-src", "media-src"):
        assert "https://*.cdn.example.com" in found[name], name
        assert "https://api.example.com" not in found[name], name
    assert found["frame-src"] == ["https://player.example.com"]
    assert found["base-uri"] == ["https://base.example.com"]
    assert policy.refused == ()


@pytest.mark.parametrize("declared", [{}, {"connectDomains": ["https://a.example"]}])
def test_no_page_gets_self_eval_or_a_wildcard_of_everything(declared: dict[str, list[str]]) -> None:
    for sources in directives(csp.read(declared).text).values():
        assert not {"'self'", "'unsafe-eval'", "'wasm-unsafe-eval'", "*", "https:", "http:"} & set(sources)


@pytest.mark.parametrize(
    "entry",
    [
        "*",
        "https:",
        "https://*",
        "https://*.com",
        "https://*.10.1.2.3",
        "data:",
        "'unsafe-eval'",
        "'self'",
        "https://a.example; script-src *",
        "https://a.example 'unsafe-eval'",
        "https://a.example,https://b.example",
        "https://a.example\nscript-src *",
        'https://a.example"',
        "https://a.example/path",
        "https://a.example?x",
        "https://user@a.example",
        "http://a.example",
        "ws://a.example",
        "ftp://a.example",
        "javascript:alert(1)",
        "https://a..example",
        "https://-a.example",
        "https://a.example:0",
        "https://a.example:99999",
        "https://[::1]",
        "https://exämple.com",
        "https://\u212a.example",
        "",
        5,
        None,
        ["https://a.example"],
    ],
)
def test_what_is_no_plain_origin_is_left_out_with_a_reason(entry: object) -> None:
    policy = csp.read({"connectDomains": [entry, "https://good.example"], "resourceDomains": [entry]})
    assert policy.connect == ("https://good.example",)
    assert policy.resources == ()
    assert any("connectDomains" in reason for reason in policy.refused)


@pytest.mark.parametrize(
    "entry",
    [
        "http://localhost:8888",
        "https://127.0.0.1",
        "https://127.1",
        "https://0x7f000001",
        "https://2130706433",
        "https://10.0.0.8",
        "https://192.168.1.1",
        "https://169.254.169.254",
        "https://router",
        "https://printer.local",
        "https://hub.internal",
        "https://*.localhost",
    ],
)
def test_what_is_near_the_notebook_needs_a_server_that_the_person_trusts(entry: str) -> None:
    assert csp.read({"connectDomains": [entry]}).connect == ()
    if "*" not in entry:
        assert csp.read({"connectDomains": [entry]}, local=True).connect == (entry,)


@given(st.dictionaries(st.sampled_from(KINDS), st.lists(st.text(max_size=60), max_size=5)))
def test_whatever_is_declared_the_policy_has_its_own_directives_and_plain_sources(
    declared: dict[str, list[str]],
) -> None:
    plain = {"'none'", "'unsafe-inline'", "blob:", "data:"}
    found = directives(csp.read(declared).text)
    assert set(found) == set(directives(csp.read(None).text))
    for sources in found.values():
        assert all(one in plain or one.startswith(("https://", "wss://")) for one in sources)


@pytest.mark.parametrize("odd", ["https://a.example", 5, {"a": 1}])
def test_origins_that_are_no_list_are_none(odd: object) -> None:
    policy = csp.read({"connectDomains": odd})
    assert policy.connect == () and policy.refused == ("connectDomains is no list",)


def test_only_so_many_origins_are_taken() -> None:
    policy = csp.read({"connectDomains": [f"https://a{number}.example" for number in range(200)]})
    assert len(policy.connect) == 64 and "200" in policy.refused[0]


def test_what_was_granted_can_be_told_to_the_page() -> None:
    policy = csp.read({"connectDomains": ["api.example.com", "*"]})
    assert policy.wire() == {"connectDomains": ["https://api.example.com"]}
    assert policy.origins == ("https://api.example.com",)
