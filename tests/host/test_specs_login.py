"""Who logs in to a server, and how, as a person writes it: options, files, what is shown and saved of it."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_mcp.errors import ConfigError, MCPError, UsageError
from jupyter_mcp.host.policy.servers import project_server
from jupyter_mcp.host.specs import ServerSpec, read_config
from jupyter_mcp.host.specs.inputs import needed
from jupyter_mcp.host.specs.saving import written

URL = "https://mcp.example/mcp"
SECRET = "s3cret-Zq9-of-the-client"


def spec(**options: Any) -> ServerSpec:
    return ServerSpec.parse("docs", URL, **options)


def entry(oauth: Any, key: str = "oauth") -> Any:
    [found] = read_config({"mcpServers": {"docs": {"url": URL, key: oauth}}})
    return found


def test_a_client_with_its_secret_from_the_environment() -> None:
    written_spec = spec(oauth_client_id="me", oauth_client_secret="${SECRET}", oauth_scopes="a b")
    filled = written_spec.expanded({"SECRET": SECRET})
    settings = filled.login.settings()
    assert (settings.client_id, settings.client_secret, settings.scopes, settings.grant) == (
        "me",
        SECRET,
        ("a", "b"),
        None,
    )
    assert (
        SECRET
        not in f"{written_spec!r}{written_spec.describe()}{filled!r}{filled.describe()}{filled.login!r}{settings!r}"
    )
    assert "client: me" in written_spec.describe()


def test_nothing_said_is_a_login_by_whoever_is_there() -> None:
    settings = spec().login.settings()
    assert (settings.client_id, settings.scopes, settings.grant) == (None, None, None)
    assert "(" not in spec().describe()


@pytest.mark.parametrize("grant", ["client-credentials", "client_credentials"])
def test_client_credentials_need_an_id_and_a_proof(grant: str) -> None:
    assert spec(oauth_client_id="me", oauth_client_secret="x", oauth_grant=grant).login.settings().grant is not None
    with pytest.raises(UsageError, match="client credentials need"):
        spec(oauth_grant=grant)
    with pytest.raises(UsageError, match="client credentials need"):
        spec(oauth_client_id="me", oauth_grant=grant)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"oauth_client_secret": "x"}, "without its id"),
        ({"oauth_client_id": ""}, "is a text"),
        ({"oauth_client_id": 7}, "is a text"),
        ({"oauth_scopes": []}, "words"),
        ({"oauth_scopes": ["a", 1]}, "words"),
        ({"oauth_grant": "implicit"}, "person or client-credentials"),
        ({"oauth_client": "x"}, "no option oauth_client"),
    ],
)
def test_a_slip_is_said(options: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        spec(**options)


def test_a_command_has_nothing_to_log_in_to() -> None:
    with pytest.raises(UsageError, match="oauth_client_id does not go with it"):
        ServerSpec.parse("here", "some-server", oauth_client_id="me")


@pytest.mark.parametrize(
    ("table", "key"),
    [
        ({"clientId": "me", "clientSecret": "${S}", "scopes": ["a"], "issuer": "https://issuer.example"}, "oauth"),
        ({"CLIENT_ID": "me", "CLIENT_SECRET": "${S}", "scopes": ["a"], "issuer": "https://issuer.example"}, "auth"),
    ],
)
def test_files_say_it_in_their_own_spellings(table: dict[str, Any], key: str) -> None:
    login = entry(table, key).login
    assert (login.client_id, login.client_secret, login.scopes, login.issuer) == (
        "me", "${S}", ("a",), "https://issuer.example",
    )  # fmt: skip


@pytest.mark.parametrize("odd", [{"clientId": 7}, {"grant": "password"}, {"clientSecret": "x"}])
def test_a_file_that_says_it_wrongly_costs_that_server_only(odd: Any) -> None:
    found = read_config({"mcpServers": {"docs": {"url": URL, "oauth": odd}, "other": {"url": URL}}})
    assert isinstance(found[0], ConfigError)
    assert not isinstance(found[1], MCPError)


@pytest.mark.parametrize("other", [True, "yes", None, [], 3])
def test_what_others_mean_by_oauth_is_left_alone(other: Any) -> None:
    assert entry(other).login == spec().login


def test_what_is_saved_has_no_secret_and_is_read_back() -> None:
    before = spec(
        oauth_client_id="me", oauth_client_secret=SECRET, oauth_scopes="a b", oauth_grant="client-credentials"
    )
    saved = written(before).entry
    assert SECRET not in str(saved)
    [again] = read_config({"mcpServers": {"docs": saved}})
    assert not isinstance(again, MCPError)
    assert (again.login.client_id, again.login.scopes, again.login.grant) == ("me", ("a", "b"), "client-credentials")
    assert again.login.client_secret.startswith("${")


def test_a_project_that_changes_who_logs_in_is_asked_about_again() -> None:
    one = project_server(entry({"clientId": "me"})).fingerprint
    assert one != project_server(entry({"clientId": "you"})).fingerprint
    assert one != project_server(entry({"clientId": "me", "issuer": "https://evil.example"})).fingerprint
    assert one == project_server(entry({"clientId": "me"})).fingerprint


def test_an_input_in_it_is_asked_for() -> None:
    assert needed(entry({"clientId": "me", "clientSecret": "${input:secret}"})) == ["secret"]
