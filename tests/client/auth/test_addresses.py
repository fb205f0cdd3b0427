"""Where a login may go, and where metadata of strangers may not send us."""

from __future__ import annotations

import pytest

from jupyter_mcp.client.auth.addresses import Near, Reach, canonical, near, near_host, same_server, within
from jupyter_mcp.errors import AuthorizationFailed

PUBLIC = Reach("https://mcp.example.com/mcp")
PRIVATE = Reach("http://10.0.0.5:8000/mcp", Near.PRIVATE)
HERE = Reach("http://localhost:8000/mcp", Near.HERE)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("HTTPS://MCP.Example.COM/mcp", "https://mcp.example.com/mcp"),
        ("https://mcp.example.com/", "https://mcp.example.com"),
        ("https://mcp.example.com", "https://mcp.example.com"),
        ("https://mcp.example.com:443/a/", "https://mcp.example.com/a/"),
        ("https://me:pw@mcp.example.com:8443/a#b", "https://mcp.example.com:8443/a"),
        ("http://[::1]:80/Case?q=1", "http://[::1]/Case?q=1"),
    ],
)
def test_a_server_is_named_in_one_way(url: str, expected: str) -> None:
    assert canonical(url) == expected


@pytest.mark.parametrize(
    ("resource", "fits"),
    [
        ("https://mcp.example.com/a/mcp", True),
        ("https://mcp.example.com/a/mcp/", True),
        ("https://mcp.example.com/a", True),
        ("https://mcp.example.com", True),
        ("https://mcp.example.com/", True),
        ("https://MCP.example.com:443/a", True),
        ("https://mcp.example.com/a/m", False),
        ("https://mcp.example.com/other", False),
        ("https://mcp.example.com/a/mcp/more", False),
        ("https://mcp.example.com.evil.org/a", False),
        ("https://evil.org/a/mcp", False),
        ("http://mcp.example.com/a", False),
        ("https://mcp.example.com:8443/a", False),
        ("https://mcp.example.com/a?x=1", False),
    ],
)
def test_a_resource_is_the_server_or_stands_above_it(resource: str, fits: bool) -> None:
    assert within("https://mcp.example.com/a/mcp", resource) is fits


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("93.184.216.34", Near.PUBLIC),
        ("2606:2800:220:1::1", Near.PUBLIC),
        ("10.1.2.3", Near.PRIVATE),
        ("172.16.0.1", Near.PRIVATE),
        ("192.168.1.1", Near.PRIVATE),
        ("100.64.0.1", Near.PRIVATE),
        ("fd00::1", Near.PRIVATE),
        ("127.0.0.1", Near.HERE),
        ("127.9.9.9", Near.HERE),
        ("::1", Near.HERE),
        ("0.0.0.0", Near.HERE),
        ("::", Near.HERE),
        ("169.254.169.254", Near.HERE),
        ("fe80::1%eth0", Near.HERE),
        ("224.0.0.1", Near.HERE),
        ("::ffff:127.0.0.1", Near.HERE),
        ("::ffff:10.0.0.1", Near.PRIVATE),
        ("::ffff:93.184.216.34", Near.PUBLIC),
        ("64:ff9b::7f00:1", Near.HERE),
        ("64:ff9b::a00:1", Near.PRIVATE),
        ("2002:7f00:1::", Near.HERE),
    ],
)
def test_how_near_an_address_is(address: str, expected: Near) -> None:
    assert near(address) is expected


@pytest.mark.parametrize(
    ("host", "expected"),
    [("localhost", Near.HERE), ("A.LocalHost.", Near.HERE), ("[::1]", Near.HERE), ("example.com", None), ("", None)],
)
def test_some_names_say_how_near_they_are(host: str, expected: Near | None) -> None:
    assert near_host(host) is expected


@pytest.mark.parametrize(
    "url",
    [
        "https://login.example.com/token",
        "https://login.example.com:8443/token?tenant=1",
        "https://xn--bcher-kva.example/token",
        "https://93.184.216.34/token",
        "https://under_score.example.com/",
        "http://[::1]:1/x",
        "http://localhost:9000/token",
        "http://127.0.0.1/token",
    ],
)
def test_addresses_that_are_in_order_are_given_back_to_the_letter(url: str) -> None:
    assert HERE.check(url, "a step", "the endpoint") == url


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("javascript:alert(1)", "no https URL"),
        ("file:///etc/passwd", "no https URL"),
        ("data:text/html,x", "no https URL"),
        ("ftp://login.example.com/", "no https URL"),
        ("//login.example.com/token", "no https URL"),
        ("login.example.com/token", "no https URL"),
        ("", "no https URL"),
        ("https://", "no valid URL"),
        ("https:///token", "no valid URL"),
        ("https://login.example.com:0/", "no valid URL"),
        ("https://login.example.com:99999/", "no URL"),
        ("https://[::1/", "no URL"),
        ("https://login.example.com/\r\nX: y", "no valid URL"),
        ("https://login.example.com/a b", "no valid URL"),
        ("https://login.example.com\\@evil.org/", "no valid URL"),
        ("https://lögin.example.com/", "no valid URL"),
        ("https://login..example.com/", "no valid URL"),
        ("https://0x7f.1/", "no valid URL"),
        ("https://2130706433/", "no valid URL"),
        ("https://0177.0.0.1/", "no valid URL"),
        ("https://127.1/", "no valid URL"),
        ("https://a/" + "x" * 5000, "no valid URL"),
        ("https://me@login.example.com/", "a user or a fragment"),
        ("https://login.example.com/#x", "a user or a fragment"),
        ("http://login.example.com/token", "not https"),
        ("http://localhost/token", "private network"),
        ("https://localhost/token", "private network"),
        ("https://127.0.0.1/token", "private network"),
        ("https://[::1]/token", "private network"),
        ("https://[::ffff:10.0.0.1]/token", "private network"),
        ("https://169.254.169.254/latest/meta-data", "private network"),
        ("https://10.0.0.1/token", "private network"),
        ("https://192.168.0.1/token", "private network"),
    ],
)
def test_what_a_public_server_may_not_name(url: str, why: str) -> None:
    with pytest.raises(AuthorizationFailed) as caught:
        PUBLIC.check(url, "the metadata", "the token endpoint")
    message = str(caught.value)
    assert message.startswith("Logging in failed at the metadata: the token endpoint is given as ")
    assert why in message
    assert caught.value.step == "the metadata"
    assert message.isprintable() and len(message) < 500


def test_a_server_of_a_private_network_may_name_its_neighbours_and_not_this_machine() -> None:
    assert PRIVATE.check("https://10.0.0.6/token", "s", "w")
    assert PRIVATE.check("http://10.0.0.5:9000/token", "s", "w")  # its own host, which is spoken to without TLS anyway
    for url in ("https://localhost/token", "https://169.254.169.254/", "http://10.0.0.6/token"):
        with pytest.raises(AuthorizationFailed):
            PRIVATE.check(url, "s", "w")


def test_what_a_name_stands_for_is_looked_at_when_it_is_connected_to() -> None:
    assert [PUBLIC.may_connect(address) for address in ("1.1.1.1", "10.0.0.1", "127.0.0.1", "odd")] == [True] + [
        False
    ] * 3
    assert [PRIVATE.may_connect(address) for address in ("1.1.1.1", "10.0.0.1", "127.0.0.1")] == [True, True, False]
    assert [HERE.may_connect(address) for address in ("1.1.1.1", "10.0.0.1", "127.0.0.1")] == [True] * 3


def test_a_server_that_was_found_near_has_to_stay_near() -> None:
    """Else a name that is of this machine for a moment could send us to this machine's ports."""
    assert [HERE.may_stay(address) for address in ("1.1.1.1", "10.0.0.1", "127.0.0.1", "odd")] == [
        False,
        False,
        True,
        False,
    ]
    assert [PRIVATE.may_stay(address) for address in ("1.1.1.1", "10.0.0.1", "127.0.0.1")] == [False, True, True]
    assert [PUBLIC.may_stay(address) for address in ("1.1.1.1", "10.0.0.1")] == [True, True]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("https://a.example/x", "https://A.example:443/y", True),
        ("https://a.example/x", "http://a.example/y", True),
        ("https://a.example:8000/x", "http://a.example:8000/y", True),
        ("http://a.example/x", "https://a.example/y", False),
        ("https://a.example:8443/x", "http://a.example/y", False),
        ("https://b.example/x", "http://a.example/y", False),
        ("http://a.example:81/x", "http://a.example:82/y", False),
    ],
)
def test_a_token_goes_to_the_servers_origin_or_to_the_same_with_tls(one: str, other: str, same: bool) -> None:
    assert same_server(one, other) is same


def test_a_person_may_allow_addresses_of_their_own_network() -> None:
    allowed = Reach("https://mcp.example.com/mcp", Near.PUBLIC, anywhere=True)
    assert allowed.check("https://10.0.0.1/token", "s", "w")
    assert allowed.may_connect("10.0.0.1")
    with pytest.raises(AuthorizationFailed):
        allowed.check("javascript:x", "s", "w")
