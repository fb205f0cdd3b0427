"""Connecting to a URL from a line, a body and Python: options, secrets, advice; both eras and the old transport."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.errors import ConnectionFailed, MCPError, UsageError
from jupyter_mcp.server import Server
from tests.notebook.conftest import Cells, echo_server
from tests.notebook.web import listening

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from jupyter_mcp.server.http.running import Running

TOKEN = "t0ken-of-the-test-5f2c91"


@pytest.fixture(scope="module")
def web() -> Iterator[Running]:
    with listening(echo_server(), token=TOKEN, sse=True) as running:
        yield running


@pytest.fixture
def shell(cells: Cells, web: Running, monkeypatch: pytest.MonkeyPatch) -> Cells:
    monkeypatch.setenv("ECHO_KEY", TOKEN)
    return cells


def everything(shell: Cells) -> str:
    """All that was shown, said and logged."""
    said = [str(bundle) for bundle in shell.shown] + shell.errors
    shell.run("%mcp log\n%mcp trace\n%mcp activity\n%mcp servers")
    return "\n".join([*said, *map(str, shell.shown)])


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_a_url_is_connected_by_a_line_and_used_like_any_other_server(shell: Cells, web: Running, era: str) -> None:
    server = shell.run(f"%mcp connect w {web.url} --bearer ${{ECHO_KEY}} --era {era} --timeout 20")
    assert (server.state, server.era) == ("ready", era)
    assert f"address: {web.url}" in shell.text
    assert "Note" not in shell.text, "nothing is odd about a key from the environment and a loopback address"
    assert shell.run("%mcp call w.add a=1 b=2").text == "3"
    assert TOKEN not in everything(shell)


def test_options_may_stand_before_the_url_too(shell: Cells, web: Running) -> None:
    assert shell.run(f"%mcp connect w --bearer ${{ECHO_KEY}} {web.url}").state == "ready"


@pytest.mark.parametrize(
    "line",
    [
        "web {url} --bearer {token}",
        "web $url --bearer $token",
        'web "{url}" --header "Authorization: Bearer ${ECHO_KEY}" --era legacy',
        "web {urls.pop()} --bearer {token}",  # what is looked up is looked up once
        "web ${ECHO_URL} --bearer ${ECHO_KEY}",
        "--bearer {token} web {url}",
    ],
)
def test_options_may_follow_what_stands_for_a_url(
    shell: Cells, web: Running, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ECHO_URL", web.url)
    shell.run(f"url, urls, token = {web.url!r}, [{web.url!r}], {TOKEN!r}")
    assert shell.run(f"%mcp connect {line}").state == "ready"
    assert TOKEN not in everything(shell)


def test_options_may_follow_an_object_but_not_a_command_in_a_variable(shell: Cells) -> None:
    shell.run("from jupyter_mcp.server import Server; here = Server('here'); command = 'no-such-command'")
    assert shell.run("%mcp connect here $here --era legacy").era == "legacy"
    with pytest.raises(ConnectionFailed, match="no-such-command"):  # --era is the command's own
        shell.run("%mcp connect there $command --era legacy")
    with pytest.raises(UsageError, match="urrl"):
        shell.run("%mcp connect there $urrl --bearer x")


def test_lines_of_a_body_may_hold_notebook_objects(shell: Cells, web: Running) -> None:
    shell.run(f"url, token = {web.url!r}, {TOKEN!r}\nfrom jupyter_mcp.server import Server\nhere = Server('here')")
    shell.run("%%mcp connect\none: {url} --bearer {token}\ntwo: $here\nthree: $here --era legacy")
    found: Any = shell.run("import jupyter_mcp; {s.name: s.state for s in jupyter_mcp.servers.values()}")
    assert found == {"one": "ready", "two": "ready", "three": "ready"}


@pytest.mark.parametrize("written", ["Authorization=Bearer ${ECHO_KEY}", "Authorization: Bearer ${ECHO_KEY}"])
def test_a_header_is_written_with_an_equals_sign_or_as_curl_does(shell: Cells, web: Running, written: str) -> None:
    assert shell.run(f'%mcp connect w {web.url} --header "{written}" --header X-Day=monday').state == "ready"
    assert TOKEN not in everything(shell)


def test_python_takes_the_same(shell: Cells, web: Running) -> None:
    shell.run(f"import jupyter_mcp as mcp; s = mcp.connect('w', '{web.url}', bearer='${{ECHO_KEY}}', era='modern')")
    assert shell["s"].tools.add(a=1).text == "2"


def test_lines_of_a_body_take_the_options_and_json_takes_headers(shell: Cells, web: Running) -> None:
    shell.run(f"%%mcp connect\none: {web.url} --bearer ${{ECHO_KEY}} --era legacy  # with options\ntwo: {web.url}")
    assert "one" in shell.text
    assert "401" in shell.text, "the other one costs itself only"
    entry = {"type": "streamable-http", "url": web.url, "headers": {"Authorization": "Bearer ${ECHO_KEY}"}}
    shell.run("%%mcp connect\n" + json.dumps({"mcpServers": {"three": entry}}))
    servers: Any = shell.run("import jupyter_mcp; {s.name: s.era for s in jupyter_mcp.servers.values() if s.era}")
    assert servers == {"one": "legacy", "three": "modern"}


def test_a_body_does_not_take_what_only_the_line_can_do(shell: Cells, web: Running) -> None:
    with pytest.raises(Exception, match="--from does not go into a body"):
        shell.run(f"%%mcp connect\none: {web.url} --from x.json")


def test_the_old_transport_is_asked_for_and_marked_as_deprecated(shell: Cells, web: Running) -> None:
    url = web.url.replace("/mcp", "/sse")
    server = shell.run(f"%mcp connect w {url} --bearer ${{ECHO_KEY}} --transport sse")
    assert server.state == "ready"
    assert shell.run("%mcp call w.add a=1").text == "2"
    shell.run("%mcp servers")
    assert "HTTP+SSE" in shell.text
    shell.run("%mcp log w")
    assert "deprecated since 2025-03-26" in shell.text


def test_a_key_that_is_typed_is_masked_everywhere_and_a_better_way_is_named(shell: Cells, web: Running) -> None:
    shell.run(f"%mcp connect w {web.url} --bearer {TOKEN}")
    assert "The value of Authorization stands in the notebook itself" in shell.text
    assert "--bearer ${NAME}" in shell.text
    assert TOKEN not in everything(shell)


@pytest.mark.parametrize(
    ("line", "advised"),
    [
        ("%mcp connect w {url} --bearer {token}", False),
        ("import jupyter_mcp as mcp; s = mcp.connect('w', url, bearer=token); s", False),
        ("%%mcp connect\nw: {url} --bearer {token}", False),
        (f"key = {TOKEN!r}\n%mcp connect w $url --bearer $key", True),
        (f"import jupyter_mcp as mcp; s = mcp.connect('w', url, bearer={TOKEN!r}); s", True),
        (f"%%mcp connect\nw: {{url}} --bearer {TOKEN}", True),
    ],
)
def test_a_key_that_does_not_stand_in_the_notebook_is_not_said_to(
    shell: Cells, web: Running, line: str, advised: bool
) -> None:
    shell.put(url=web.url, token=TOKEN)
    shell.run("None")
    shell.run(line)
    shell.run("%mcp log w")
    assert ("stands in the notebook itself" in shell.text) == advised


def test_a_wrong_key_is_one_line_that_says_how_to_give_one(shell: Cells, web: Running) -> None:
    wrong = "wr0ng-" + TOKEN
    with pytest.raises(ConnectionFailed) as failed:
        shell.run(f"%mcp connect w {web.url} --bearer {wrong}")
    assert failed.value.status == 401
    assert "does not take the token it was given" in str(failed.value) and "--bearer" in str(failed.value)
    with pytest.raises(ConnectionFailed, match="give it a token with --bearer"):
        shell.run(f"%mcp connect w {web.url}")
    assert wrong not in everything(shell) + str(failed.value)


@pytest.mark.parametrize(
    "line", ['--header "Authorization" ', "--header =x", '--header "two words=sk-abcdefgh12345678"', "--header ''"]
)
def test_a_header_that_is_none_is_refused_without_quoting_it(shell: Cells, web: Running, line: str) -> None:
    with pytest.raises(UsageError, match="--header is NAME=VALUE"):
        shell.run(f"%mcp connect w {web.url} {line}")
    assert "sk-abcdefgh" not in "".join(shell.errors)


def test_a_mistake_in_the_line_does_not_quote_its_keys(shell: Cells) -> None:
    with pytest.raises(UsageError, match="not closed"):
        shell.run("%mcp connect w https://x.example/mcp --bearer 'sk-abcdefgh12345678")
    assert "sk-abcdefgh" not in "".join(shell.errors)


# --- the way there ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("--proxy none", "no proxy"),
        ("--max-event 1M", ""),
        ("--transport http --timeout 5", ""),
    ],
)
def test_the_way_is_given_on_the_line(shell: Cells, web: Running, line: str, said: str) -> None:
    shell.run(f"%mcp connect w {web.url} --bearer ${{ECHO_KEY}} {line}")
    assert said in shell.text
    assert shell.run("%mcp call w.add a=1").text == "2"


def test_a_proxy_that_is_not_there_is_named(shell: Cells, web: Running) -> None:
    with pytest.raises(ConnectionFailed):
        shell.run(f"%mcp connect w {web.url} --bearer ${{ECHO_KEY}} --proxy http://me:pr0xy-s3cr3t@127.0.0.1:9")
    assert "pr0xy-s3cr3t" not in everything(shell)


@pytest.mark.parametrize("line", ["--socket {here}/no.sock", "--ca {here}/no.pem", "--cert {here}/no.pem"])
def test_a_file_that_is_not_there_is_one_line(shell: Cells, web: Running, tmp_path: Path, line: str) -> None:
    url = web.url.replace("http:", "https:") if "--c" in line else web.url
    with pytest.raises(MCPError) as failed:
        shell.run(f"%mcp connect w {url} {line.format(here=tmp_path)}")
    assert "no.pem" in str(failed.value) or "no.sock" in str(failed.value)
    assert len(shell.errors) == 1


@pytest.mark.parametrize("line", ["--socket x", "--insecure", "--proxy none", "--max-event 5M", "--bearer x"])
def test_what_is_for_urls_does_not_go_with_a_command(shell: Cells, line: str) -> None:
    with pytest.raises(UsageError, match="does not go with it"):
        shell.run(f"%mcp connect w {line} some-command")


def test_a_certificate_that_is_not_checked_is_warned_of(shell: Cells) -> None:
    with pytest.raises(ConnectionFailed):
        shell.run("%mcp connect w https://127.0.0.1:9/mcp --insecure")
    shell.run("%mcp log w")
    assert "certificate of 127.0.0.1 is not checked" in shell.text


# --- reading what may be kept ----------------------------------------------------------------------------------------


def test_what_a_server_lets_be_kept_is_asked_for_again_only_when_fresh_is_wanted(cells: Cells) -> None:
    reads: list[int] = []
    server = Server("kept")

    @server.resource("count://reads", ttl_ms=60_000)
    def count() -> str:
        reads.append(1)
        return str(len(reads))

    with listening(server, token=False) as running:
        cells.run(f"%mcp connect k {running.url} --era modern")
        assert [cells.run(f"%mcp read k count://reads {flag}").text for flag in ("", "", "--fresh", "")] == list("1122")
        cells.run("import jupyter_mcp as mcp; k = mcp.servers.k")
        assert cells.run("k.read('count://reads').text, k.read('count://reads', fresh=True).text") == ("2", "3")
        assert cells.run("k.resources['count://reads'].read(fresh=True).text") == "4"


def test_a_template_may_have_a_variable_of_that_name(cells: Cells) -> None:
    server = Server("named")

    @server.resource("x://{fresh}")
    def x(fresh: str) -> str:
        return fresh

    cells.put(named=server)
    cells.run("%mcp connect n $named\nimport jupyter_mcp as mcp")
    assert cells.run("mcp.servers.n.read('x://{fresh}', fresh='air').text") == "air"
