"""The authorization server that is shipped for tests keeps the rules of OAuth, over real HTTP."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

import pytest
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application, RequestHandler

from jupyter_mcp.errors import ConnectionFailed, MCPError, UsageError
from jupyter_mcp.testing.authorization import (
    AuthorizationServer,
    Browser,
    InThread,
    Rules,
    authorization_server,
    notes,
    protected_server,
)
from tests.testing.authorization.client import REDIRECT, OAuthClient, http, read

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

pytestmark = pytest.mark.anyio
RESOURCE = "http://127.0.0.1:1/mcp"


@asynccontextmanager
async def issuing(**options: Any) -> AsyncGenerator[tuple[AuthorizationServer, OAuthClient]]:
    """A server that issues tokens for one resource, and a client of it."""
    async with authorization_server(**options) as server:
        server.book.resources.append(RESOURCE)
        yield server, OAuthClient(server, RESOURCE)


# --- metadata


@pytest.mark.parametrize("path", ["", "/tenant/one"])
async def test_the_metadata_is_where_its_issuer_says(path: str):
    async with issuing(path=path) as (server, client):
        origin = server.issuer.removesuffix(path)
        said = read(await http(f"{origin}/.well-known/oauth-authorization-server{path}"))
        assert said["issuer"] == server.issuer
        assert said["code_challenge_methods_supported"] == ["S256"]
        assert said["token_endpoint"] == f"{server.issuer}/token"
        assert (await client.enter())["token_type"] == "Bearer"


async def test_the_rules_are_in_the_metadata_and_a_test_can_put_anything_over_it():
    rules = Rules(
        registration=False, pkce=False, iss="unsupported", client_id_documents=False, refresh="offline_access"
    )
    rules.metadata = {"token_endpoint": "javascript:alert(1)", "response_types_supported": None}
    async with issuing(rules=rules) as (server, _):
        said = server.metadata()
        assert not {"registration_endpoint", "code_challenge_methods_supported", "response_types_supported"} & set(said)
        assert "client_id_metadata_document_supported" not in said
        assert "authorization_response_iss_parameter_supported" not in said
        assert (said["token_endpoint"], said["scopes_supported"][-1]) == ("javascript:alert(1)", "offline_access")


@pytest.mark.parametrize("path", ["tenant", "/tenant/"])
async def test_a_path_that_is_none_is_refused(path: str):
    with pytest.raises(UsageError):
        async with authorization_server(path=path):
            pass


# --- the whole way


async def test_a_person_who_approves_lets_the_client_in():
    async with issuing() as (server, client):
        registered = await client.register()
        assert registered["client_id"] and "client_secret" not in registered
        back = await client.approve(scope="notes:read notes:write")
        assert (back["state"], back["iss"]) == (client.state, server.issuer)
        tokens = await client.redeem(back["code"])
        assert tokens["scope"] == "notes:read notes:write"
        said = server.book.introspect(tokens["access_token"])
        assert (said["active"], said["sub"], said["aud"], said["client_id"]) == (True, "ada", RESOURCE, client.id)
        assert {tokens["access_token"], tokens["refresh_token"], back["code"], client.verifier} <= server.book.issued


async def test_a_person_who_says_no_sends_the_client_back_without_a_code():
    async with issuing() as (_, client):
        await client.register()
        back = await client.approve(press="decline")
        assert (back["error"], "code" in back, back["state"]) == ("access_denied", False, client.state)


async def test_a_page_is_good_for_one_decision():
    async with issuing() as (server, client):
        await client.register()
        wish = server.book.wish(
            {"redirect_uri": REDIRECT, "response_type": "code", "resource": RESOURCE}
            | {"code_challenge": "c" * 43, "code_challenge_method": "S256"},
            next(iter(server.book.clients)),
        )
        request = server.ask(wish)
        form = {"request": request, "decision": "approve"}
        assert (await http(f"{server.issuer}/decision", form=form)).code == 303
        assert (await http(f"{server.issuer}/decision", form=form)).code == 400


async def test_what_a_client_calls_itself_is_text_on_the_page():
    async with issuing() as (_, client):
        await client.register(client_name="<script>alert(1)</script>")
        page = (await http(client.address())).body.decode()
        assert "&lt;script&gt;" in page and "<script" not in page
        assert "Approve" in page and "Decline" in page


# --- what is wrong with a request for authorization


@pytest.mark.parametrize(
    "wrong",
    [
        {"redirect_uri": "https://evil.example/"},
        {"redirect_uri": REDIRECT + "/more"},
        {"redirect_uri": "http://localhost:9/callback"},
        {"redirect_uri": ""},
        {"client_id": "nobody"},
    ],
)
async def test_nobody_is_sent_to_an_address_that_is_not_the_clients(wrong: dict[str, str]):
    async with issuing() as (_, client):
        await client.register()
        answer = await http(client.address(**wrong))
        assert (answer.code, answer.headers.get("Location")) == (400, None)
        with pytest.raises(MCPError, match="no button to press"):
            await client.approve(**wrong)


async def test_a_question_with_an_address_is_an_address_too():
    @dataclass
    class Question:
        url: str

    async with issuing() as (_, client):
        await client.register()
        back = await Browser().visit(Question(client.address()))
        assert back.startswith(REDIRECT)


async def test_the_port_of_a_loopback_redirect_is_not_looked_at():
    async with issuing() as (_, client):
        await client.register()
        back = await Browser().visit(client.address(redirect_uri="http://127.0.0.1:4711/callback"))
        assert urlsplit(back).port == 4711


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"code_challenge": ""}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": ""}, "invalid_request"),
        ({"scope": "everything"}, "invalid_scope"),
        ({"resource": "http://127.0.0.1:2/mcp"}, "invalid_target"),
        ({"resource": ""}, "invalid_target"),
        ({"response_type": "token"}, "unsupported_response_type"),
    ],
)
async def test_what_else_is_wrong_goes_to_the_client(wrong: dict[str, str], error: str):
    async with issuing() as (server, client):
        await client.register()
        back = await client.approve(**wrong)
        assert (back["error"], back["state"], back["iss"]) == (error, client.state, server.issuer)


@pytest.mark.parametrize(
    ("iss", "said"), [("wrong", "https://another-issuer.example"), ("none", None), ("unsupported", None)]
)
async def test_the_issuer_in_a_redirect_is_as_the_rules_have_it(iss: Any, said: str | None):
    async with issuing(rules=Rules(iss=iss)) as (server, client):
        await client.register()
        assert (await client.approve()).get("iss") == said
        promised = "authorization_response_iss_parameter_supported" in server.metadata()
        assert promised is (iss != "unsupported")


# --- codes


async def test_a_code_that_is_used_again_ends_what_came_of_it():
    async with issuing() as (server, client):
        await client.register()
        code = (await client.approve())["code"]
        tokens = await client.redeem(code)
        assert (await client.redeem(code))["error"] == "invalid_grant"
        assert server.book.introspect(tokens["access_token"]) == {"active": False}
        assert (await client.refresh(tokens["refresh_token"]))["error"] == "invalid_grant"


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"code_verifier": "x" * 43}, "invalid_grant"),
        ({"redirect_uri": "http://127.0.0.1:10/callback"}, "invalid_grant"),
        ({"resource": "http://127.0.0.1:2/mcp"}, "invalid_target"),
    ],
)
async def test_a_stolen_code_is_good_for_nothing(wrong: dict[str, str], error: str):
    async with issuing() as (_, client):
        await client.register()
        code = (await client.approve())["code"]
        assert (await client.redeem(code, **wrong))["error"] == error


async def test_a_code_is_no_good_for_another_client_and_not_for_long():
    rules = Rules()
    async with issuing(rules=rules) as (server, client):
        await client.register()
        code = (await client.approve())["code"]
        other = OAuthClient(server, RESOURCE, verifier=client.verifier)
        await other.register()
        assert (await other.redeem(code))["error"] == "invalid_grant"
        assert "access_token" in await client.redeem(code)
        rules.code_seconds = -1
        assert (await client.redeem((await client.approve())["code"]))["error"] == "invalid_grant"


# --- refreshing and ending


async def test_a_refresh_token_is_good_once_and_its_second_use_ends_the_grant():
    async with issuing() as (server, client):
        first = await client.enter()
        second = await client.refresh(first["refresh_token"])
        assert second["refresh_token"] != first["refresh_token"]
        assert (await client.refresh(first["refresh_token"]))["error"] == "invalid_grant"
        assert (await client.refresh(second["refresh_token"]))["error"] == "invalid_grant"
        assert server.book.live == []


async def test_without_rotation_a_refresh_token_stays():
    async with issuing(rules=Rules(rotate=False)) as (_, client):
        first = await client.enter()
        assert "refresh_token" not in await client.refresh(first["refresh_token"])
        assert "access_token" in await client.refresh(first["refresh_token"])


@pytest.mark.parametrize(
    ("rule", "scope", "given"),
    [
        ("always", "notes:read", True),
        ("never", "notes:read", False),
        ("offline_access", "notes:read", False),
        ("offline_access", "notes:read offline_access", True),
    ],
)
async def test_refresh_tokens_are_given_as_the_rules_have_it(rule: Any, scope: str, given: bool):
    async with issuing(rules=Rules(refresh=rule)) as (_, client):
        assert ("refresh_token" in await client.enter(scope=scope)) is given


async def test_a_refresh_gives_no_more_than_was_granted():
    async with issuing() as (_, client):
        tokens = await client.enter(scope="notes:read")
        assert (await client.refresh(tokens["refresh_token"], scope="notes:write"))["error"] == "invalid_scope"


async def test_a_revoked_refresh_token_takes_its_access_token_along_and_strangers_revoke_nothing():
    async with issuing() as (server, client):
        tokens = await client.enter()
        stranger = OAuthClient(server, RESOURCE)
        await stranger.register()
        form = {"token": tokens["refresh_token"], "client_id": stranger.id}
        assert (await http(f"{server.issuer}/revoke", form=form)).code == 200
        assert server.book.live == [tokens["access_token"]]
        assert (await http(f"{server.issuer}/revoke", form=form | {"client_id": client.id})).code == 200
        assert server.book.live == []


async def test_a_test_can_end_tokens_and_grants():
    async with issuing() as (server, client):
        tokens = await client.enter()
        server.book.end_access_tokens()
        assert server.book.live == []
        refreshed = await client.refresh(tokens["refresh_token"])
        assert server.book.live == [refreshed["access_token"]]
        server.book.end_grants()
        assert (await client.refresh(refreshed["refresh_token"]))["error"] == "invalid_grant"


# --- clients


async def test_a_confidential_client_proves_itself_as_it_registered():
    async with issuing() as (server, client):
        await client.register(token_endpoint_auth_method="client_secret_basic")
        code = (await client.approve())["code"]
        client.secret, secret = "", client.secret
        assert (await client.redeem(code))["error"] == "invalid_client"
        assert (await client.redeem(code, client_secret=secret))["error"] == "invalid_client"
        client.secret = secret
        assert "access_token" in await client.redeem(code)
        assert secret in server.book.issued


@pytest.mark.parametrize(
    ("said", "error"),
    [
        ({"redirect_uris": ["javascript:alert(1)"]}, "invalid_redirect_uri"),
        ({"redirect_uris": ["http://evil.example/"]}, "invalid_redirect_uri"),
        ({"redirect_uris": ["https://example.org/#fragment"]}, "invalid_redirect_uri"),
        ({"redirect_uris": []}, "invalid_redirect_uri"),
        ({"grant_types": ["password"]}, "invalid_client_metadata"),
        ({"token_endpoint_auth_method": "tls"}, "invalid_client_metadata"),
    ],
)
async def test_a_registration_that_is_not_in_order_is_refused(said: dict[str, Any], error: str):
    async with issuing() as (server, client):
        assert (await client.register(**said))["error"] == error
        assert len(server.book.clients) == 0


async def test_without_registration_only_known_clients_come_in():
    async with issuing(rules=Rules(registration=False)) as (server, client):
        assert (await client.register())["error"] == "access_denied"
        server.book.clients.add("known", redirects=[REDIRECT])
        client.id = "known"
        assert "access_token" in await client.enter()


async def test_a_client_acts_for_itself_with_its_secret_only():
    async with issuing() as (server, client):
        server.book.clients.add("robot", secret="s3cret-of-the-robot")
        client.id, client.secret = "robot", "s3cret-of-the-robot"
        form = {"grant_type": "client_credentials", "scope": "notes:read", "resource": RESOURCE}
        tokens = await client.token(**form)
        assert server.book.introspect(tokens["access_token"])["sub"] == "robot"
        assert "refresh_token" not in tokens
        client.secret = "wrong"
        assert (await client.token(**form))["error"] == "invalid_client"
        server.book.clients.add("public")
        client.id, client.secret = "public", ""
        assert (await client.token(**form))["error"] == "unauthorized_client"


async def test_a_url_is_a_client_id_when_its_document_says_so():
    document: dict[str, Any] = {}

    class Document(RequestHandler):
        def get(self) -> None:
            cast("Any", self).finish(json.dumps(document))

    web = HTTPServer(Application([("/client.json", Document)]))
    sockets = bind_sockets(0, "127.0.0.1")
    web.add_sockets(sockets)
    id = f"http://127.0.0.1:{sockets[0].getsockname()[1]}/client.json"
    try:
        async with issuing() as (server, client):
            client.id = id
            document.update(client_id="https://other.example/client.json", redirect_uris=[REDIRECT])
            assert (await http(client.address())).code == 400
            document.update(client_id=id, client_name="By document")
            assert "access_token" in await client.enter()
            assert next(iter(server.book.clients)).name == "By document"
    finally:
        web.stop()


async def test_a_document_is_not_fetched_where_only_an_attacker_would_have_it():
    async with issuing() as (_, client):
        client.id = "http://internal.example/client.json"
        answer = await http(client.address())
        assert answer.code == 400 and "not https" in answer.body.decode()


# --- who asks about tokens


async def test_only_resource_servers_may_ask_about_tokens():
    async with issuing() as (server, client):
        tokens = await client.enter()
        verifier = server.verifier()
        access = await verifier.verify(tokens["access_token"])
        assert access is not None and access.subject == "ada" and access.audience == (RESOURCE,)
        assert await verifier.verify("invented") is None
        assert await verifier.verify(tokens["refresh_token"]) is None, "a refresh token is no access token"
        answer = await http(f"{server.issuer}/introspect", form={"token": tokens["access_token"]})
        assert answer.code == 401
        server.resource_secrets.clear()
        with pytest.raises(ConnectionFailed, match="status 401"):
            await verifier.verify(tokens["access_token"])


async def test_a_name_that_stands_twice_is_refused():
    async with issuing() as (server, _):
        answer = await http(f"{server.issuer}/token", method="POST", body="grant_type=a&grant_type=b")
        assert read(answer)["error"] == "invalid_request"


async def test_what_came_is_on_record_without_secrets():
    async with issuing() as (server, client):
        await client.enter()
        assert server.seen == ["POST /register", "GET /authorize", "POST /decision", "POST /token"]


# --- the protected server


async def test_a_protected_server_wants_a_token_of_its_issuer():
    async with authorization_server() as issuer, protected_server(notes(), issuer) as url:
        refused = await http(url, method="POST", body="{}")
        assert refused.code == 401
        tokens = await OAuthClient(issuer, url).enter()
        headers = {"Authorization": f"Bearer {tokens['access_token']}", "Content-Type": "application/json"}
        assert (await http(url, method="POST", body="{}", headers=headers)).code == 400, "in, and {} is no message"
    assert issuer.book.resources == []


@pytest.mark.parametrize("path", ["", "/tenant"])
async def test_signed_tokens_are_checked_by_the_keys_of_their_issuer(path: str):
    rules = Rules(signed=True)
    async with authorization_server(rules=rules, path=path) as issuer, protected_server(notes(), issuer) as url:
        tokens = await OAuthClient(issuer, url).enter()
        assert tokens["access_token"].count(".") == 2 and tokens["access_token"] in issuer.book.issued
        headers = {"Authorization": f"Bearer {tokens['access_token']}", "Content-Type": "application/json"}
        assert (await http(url, method="POST", body="{}", headers=headers)).code == 400, "in, and {} is no message"
        assert issuer.seen[-2:] == [f"GET /.well-known/oauth-authorization-server{path}", f"GET {path}/keys"]
        issuer.book.signer.renew()
        forged = await OAuthClient(issuer, url).enter()
        headers["Authorization"] = f"Bearer {forged['access_token']}"
        assert (await http(url, method="POST", body="{}", headers=headers)).code == 401, "of a key that is not known"


def test_both_run_on_a_thread_while_the_test_blocks():
    with InThread(rules=Rules(token_seconds=5)) as there:
        assert there.issuer.rules.token_seconds == 5
        with pytest.raises(MCPError, match="This client is not known here"):
            Browser().open(f"{there.issuer.issuer}/authorize?client_id=nobody")
    there.stop()


def test_a_thread_that_cannot_listen_says_so():
    with InThread() as there, pytest.raises(ConnectionFailed):
        InThread(issuer_options={"port": urlsplit(there.issuer.issuer).port}).start()


def test_both_run_in_a_process_until_nobody_holds_it():
    command = [sys.executable, "-m", "jupyter_mcp.testing.authorization"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdin is not None
        said = json.loads(process.stdout.readline())
        assert said["url"].endswith("/mcp") and said["issuer"].startswith("http://127.0.0.1:")
        process.stdin.close()
        assert process.wait(20) == 0
