"""`%mcp login`, `logout` and `whoami` in a shell, with an authorization server and a person who is scripted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from jupyter_mcp.errors import AuthorizationFailed, UsageError
from jupyter_mcp.testing.authorization import Browser, InThread

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from jupyter_mcp.host.questions import Question
    from tests.notebook.conftest import Cells


@pytest.fixture(scope="module")
def there() -> Generator[InThread]:
    with InThread() as found:
        yield found


@pytest.fixture
def person(cells: Cells, there: InThread, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Cells:
    """A shell whose person approves every login; logins are kept in a folder of this test."""
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("JUPYTER_MCP_KEYRING", "off")

    def visit(question: Question) -> str:
        Browser(follow=True).open(question.url)
        return "accept"

    cells.put(visit=visit, address=there.url)
    cells.run("import jupyter_mcp as mcp\nmcp.answer(visit, kind='login')")
    return cells


def test_connecting_logs_in_and_whoami_says_as_whom(person: Cells, there: InThread) -> None:
    person.run("%mcp connect docs $address")
    person.run("who = %mcp whoami docs")
    who = person.shell.user_ns["who"]
    assert who
    assert (who.how, who.issuer, who.scopes) == ("login", there.issuer.issuer, ("notes:read",))
    person.run("%mcp whoami docs")
    assert f"docs: logged in at {there.issuer.issuer} as client-" in person.text
    assert len(person.shown) == 1, "it is shown once"
    assert not [secret for secret in there.issuer.book.issued if secret in person.text]


def test_logging_out_says_what_follows_and_reconnecting_logs_in_anew(person: Cells) -> None:
    person.run("%mcp connect docs $address")
    person.run("%mcp logout docs")
    assert "logged out and disconnected" in person.text
    person.run("%mcp logout docs")
    assert "there was no login" in person.text
    assert not person.run("who = %mcp whoami docs\nwho")
    person.run("%mcp reconnect docs")
    assert person.run("import jupyter_mcp as mcp\nmcp.whoami('docs')")


def test_logging_in_anew_connects_what_was_not_connected(person: Cells) -> None:
    person.run("%mcp connect docs $address")
    person.run("%mcp logout docs")
    person.run("%mcp login docs")
    assert "logged in" in person.text
    assert person.run("r = %mcp call docs.read_notes\nr.text").startswith('["Buy milk"')


def test_nobody_there_is_one_line_that_says_what_to_set(cells: Cells, there: InThread) -> None:
    cells.put(address=there.url)
    with pytest.raises(AuthorizationFailed, match="--bearer"):
        cells.run("%mcp connect docs $address")


@pytest.mark.parametrize("verb", ["login", "logout", "whoami"])
def test_a_name_that_is_not_there_is_said(cells: Cells, verb: str) -> None:
    with pytest.raises(UsageError, match="no server 'dosc'"):
        cells.run(f"%mcp {verb} dosc")
    with pytest.raises(UsageError, match="NAME is missing"):
        cells.run(f"%mcp {verb}")


def test_options_of_the_line_become_the_client(person: Cells, there: InThread) -> None:
    there.issuer.book.clients.add("robot-2", secret="the-robots-secret-2", method="client_secret_basic")
    person.put(secret="the-robots-secret-2")
    person.run(
        "%mcp connect robot $address --oauth-client-id robot-2 --oauth-client-secret $secret"
        " --oauth-grant client-credentials --oauth-scope notes:read"
    )
    assert person.run("mcp.whoami('robot')").client_id == "robot-2"
    assert "the-robots-secret-2" not in person.text
