"""What a protected resource says of itself, and to whoever it refuses: as functions of values."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.errors import ConnectionFailed, UsageError
from jupyter_mcp.server.authorization import Access
from jupyter_mcp.server.authorization.protection import Protection
from jupyter_mcp.server.authorization.urls import canonical, same_resource, wrong_url
from jupyter_mcp.server.http.guard import Refusal

if TYPE_CHECKING:
    from collections.abc import Sequence

pytestmark = pytest.mark.anyio
RESOURCE = "https://notes.example/mcp"
SECRET = "the-token-that-nobody-may-see"


class Known:
    """A verifier that knows one token."""

    issuers: Sequence[str] = ("https://login.example",)

    def __init__(self, **access: Any) -> None:
        given: dict[str, Any] = {"subject": "ada", "audience": (RESOURCE,), "scopes": frozenset({"notes:read"})}
        self.access = Access(**{**given, **access})

    async def verify(self, token: str) -> Access | None:
        if token == "unreachable":
            raise ConnectionFailed("The issuer is away.")
        return self.access if token == SECRET else None


def protection(verifier: Known | None = None, **options: Any) -> Protection:
    given: dict[str, Any] = {"resource": RESOURCE, "scopes": ["notes:read"], **options}
    return Protection(verifier or Known(), **given)


async def refused(one: Protection, *authorizations: str) -> Refusal:
    found = await one.admit(authorizations)
    assert isinstance(found, Refusal)
    assert SECRET not in found.text + found.challenge
    return found


WHERE = 'resource_metadata="https://notes.example/.well-known/oauth-protected-resource/mcp"'


async def test_a_good_token_is_let_in():
    found = await protection().admit([f"Bearer {SECRET}"])
    assert isinstance(found, Access) and found.subject == "ada"
    assert isinstance(await protection().admit([f"bearer   {SECRET} "]), Access)


async def test_who_brings_no_token_is_told_where_to_get_one_and_of_no_error():
    found = await refused(protection())
    assert (found.status, found.challenge) == (401, f'Bearer scope="notes:read", {WHERE}')


async def test_a_token_that_is_none_is_called_so():
    found = await refused(protection(), "Bearer invented")
    assert found.status == 401 and found.challenge.startswith('Bearer error="invalid_token", error_description="The ')
    assert WHERE in found.challenge and 'scope="notes:read"' in found.challenge


@pytest.mark.parametrize(
    "authorizations",
    [
        ["Bearer"],
        ["Bearer "],
        ["Basic YTpi"],
        [SECRET],
        ["Bearer two words"],
        ['Bearer "quoted"'],
        ["Bearer \xe9"],
        ["Bearer " + "x" * 20_000],
        [f"Bearer {SECRET}", f"Bearer {SECRET}"],
    ],
)
async def test_what_is_no_bearer_header_is_called_malformed(authorizations: list[str]):
    found = await refused(protection(), *authorizations)
    assert found.status == 400 and 'error="invalid_request"' in found.challenge


@pytest.mark.parametrize(
    "audience", [(), ("https://other.example/mcp",), ("https://notes.example/mcp/more",), ("notes",)]
)
async def test_a_token_for_somebody_else_is_no_token_here(audience: tuple[str, ...]):
    found = await refused(protection(Known(audience=audience)), f"Bearer {SECRET}")
    assert found.status == 401 and "issued for another server" in found.challenge


@pytest.mark.parametrize(
    "audience", ["https://notes.example/mcp/", "HTTPS://Notes.example/mcp", "https://notes.example:443/mcp"]
)
async def test_one_resource_may_be_written_in_more_than_one_way(audience: str):
    known = Known(audience=("https://other.example", audience))
    assert isinstance(await protection(known).admit([f"Bearer {SECRET}"]), Access)


async def test_a_provider_may_know_the_server_by_a_name_of_its_own():
    named = protection(Known(audience=("api://notes",)), audiences=["api://notes"])
    assert isinstance(await named.admit([f"Bearer {SECRET}"]), Access)
    await refused(protection(Known(), audiences=["api://notes"]), f"Bearer {SECRET}")


async def test_a_token_whose_time_is_over_is_none_whatever_its_verifier_says():
    over = protection(Known(expires_at=time.time() - 1))
    assert (await refused(over, f"Bearer {SECRET}")).status == 401


async def test_a_token_that_allows_too_little_is_told_what_it_needs():
    found = await refused(protection(Known(scopes=frozenset({"other"}))), f"Bearer {SECRET}")
    assert found.status == 403
    assert 'error="insufficient_scope"' in found.challenge and 'scope="notes:read"' in found.challenge


async def test_an_issuer_that_cannot_be_asked_is_no_reason_to_throw_a_token_away():
    found = await refused(protection(), "Bearer unreachable")
    assert (found.status, found.challenge) == (503, "")


# --- what a message asks for


def calling(name: object, method: str = "tools/call") -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"name": name}}


SCOPED = {"add_*": ["notes:write"], "drop": ["notes:write", "notes:admin"]}


@pytest.mark.parametrize(
    ("message", "needs"),
    [
        (calling("read_notes"), None),
        (calling("add_note"), "notes:read notes:write"),
        (calling("drop"), "notes:read notes:write notes:admin"),
        ([calling("read_notes"), calling("add_note")], "notes:read notes:write"),
        (calling("add_note", "prompts/get"), None),
        (calling(["add_note"]), None),
        ({"method": "tools/call"}, None),
        ({"method": "tools/call", "params": ["add_note"]}, None),
        ([], None),
        ("add_note", None),
        ([[calling("add_note")]], None),
    ],
)
def test_calling_a_tool_may_need_more_also_in_a_batch(message: object, needs: str | None):
    found = protection(tool_scopes=SCOPED).check_messages(Known().access, message)
    if needs is None:
        assert found is None
    else:
        assert found is not None and found.status == 403 and f'scope="{needs}"' in found.challenge


def test_a_token_that_allows_it_may_call_it():
    access = Known(scopes=frozenset({"notes:read", "notes:write"})).access
    assert protection(tool_scopes=SCOPED).check_messages(access, calling("add_note")) is None


# --- metadata


def test_the_metadata_says_what_a_client_needs():
    one = protection(tool_scopes=SCOPED, name="Notes", documentation="https://notes.example/help")
    assert one.metadata() == {
        "resource": RESOURCE,
        "authorization_servers": ["https://login.example"],
        "bearer_methods_supported": ["header"],
        "scopes_supported": ["notes:read", "notes:write", "notes:admin"],
        "resource_name": "Notes",
        "resource_documentation": "https://notes.example/help",
    }
    assert protection(scopes_supported=["only"]).metadata()["scopes_supported"] == ["only"]
    assert "scopes_supported" not in protection(scopes=[]).metadata()


@pytest.mark.parametrize(
    ("resource", "url"),
    [
        ("https://notes.example", "https://notes.example/.well-known/oauth-protected-resource"),
        ("https://notes.example/", "https://notes.example/.well-known/oauth-protected-resource"),
        ("https://notes.example/a/mcp/", "https://notes.example/.well-known/oauth-protected-resource/a/mcp"),
        ("http://127.0.0.1:8000/mcp", "http://127.0.0.1:8000/.well-known/oauth-protected-resource/mcp"),
        ("http://[::1]:8000/mcp", "http://[::1]:8000/.well-known/oauth-protected-resource/mcp"),
    ],
)
def test_the_metadata_is_before_the_path_of_the_resource(resource: str, url: str):
    assert protection(resource=resource).metadata_url == url


@pytest.mark.parametrize(
    "resource",
    [
        "notes.example/mcp",
        "ftp://notes.example/mcp",
        "http://notes.example/mcp",
        "https://notes.example/mcp?x=1",
        "https://notes.example/mcp#x",
        "https://ada@notes.example/mcp",
        'https://notes.example/"mcp',
        "https://notes.example/m cp",
        "https://notes.example:port/mcp",
        "https://[::1/mcp",
        "https:///mcp",
        "",
    ],
)
def test_what_is_no_address_of_a_resource_is_refused(resource: str):
    with pytest.raises(UsageError, match="URL of the endpoint"):
        protection(resource=resource)


@pytest.mark.parametrize(
    "options",
    [
        {"scopes": ["two words"]},
        {"scopes": ['quo"ted']},
        {"scopes": [""]},
        {"scopes": "notes:read"},
        {"tool_scopes": {"add": ["a\nb"]}},
        {"audiences": "api://notes"},
    ],
)
def test_what_cannot_stand_in_a_header_is_refused(options: dict[str, Any]):
    with pytest.raises(UsageError):
        protection(**options)


def test_a_verifier_that_names_no_issuer_leaves_clients_nowhere_to_go():
    known = Known()
    known.issuers = ()
    with pytest.raises(UsageError, match="names no issuer"):
        protection(known)


# --- who it is


def test_a_person_stays_the_same_when_their_token_is_refreshed_and_is_not_named():
    one = Access("ada@example.org", "notebook", "https://login.example", expires_at=1.0)
    two = Access("ada@example.org", "notebook", "https://login.example", expires_at=2.0, scopes=frozenset({"more"}))
    assert one.principal == two.principal and "ada" not in one.principal
    others = [
        Access("bob@example.org", "notebook", "https://login.example"),
        Access("ada@example.org", "other", "https://login.example"),
        Access("ada@example.org", "notebook", "https://other.example"),
        Access("", "ada@example.orgnotebook", "https://login.example"),
    ]
    assert len({one.principal, *(other.principal for other in others)}) == 5


def test_what_an_issuer_says_of_a_person_is_not_in_a_repr():
    access = Access("ada", claims={"email": "ada@example.org"})
    assert "example.org" not in repr(access)


# --- addresses


def test_addresses_are_compared_as_they_are_meant():
    assert canonical("HTTPS://Notes.Example:443/") == "https://notes.example"
    assert same_resource("http://[::1]:80/mcp/", "http://[::1]/mcp")
    assert not same_resource("https://notes.example/MCP", "https://notes.example/mcp"), "paths are what they are"
    assert not same_resource("api://notes/", "api://notes")
    assert wrong_url("https://notes.example/mcp") == "" == wrong_url("http://localhost:1/x")


# --- whose tokens are taken


@pytest.mark.parametrize(
    ("claims", "let_in"),
    [
        ({}, True),
        ({"sub": "bob"}, False),
        ({"sub": "bob", "email": "ada@example.org", "email_verified": True}, True),
        ({"sub": "bob", "email": "ada@example.org", "email_verified": "true"}, False),
        ({"sub": "bob", "email": "ada@example.org"}, False),
        ({"sub": "bob", "preferred_username": "ada", "name": "ada"}, False),
    ],
)
async def test_only_who_is_named_is_let_in_by_what_they_cannot_choose_themselves(claims: dict[str, Any], let_in: bool):
    known = Known(subject=claims.get("sub", "ada"), claims=claims)
    found = await protection(known, users=["ada", "ada@example.org"]).admit([f"Bearer {SECRET}"])
    assert isinstance(found, Access) is let_in
    if isinstance(found, Refusal):
        assert (found.status, found.challenge) == (403, ""), "another login would not help"
