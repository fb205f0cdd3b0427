"""The way to an HTTP server: what breaks and whether it may have run, redirects, TLS, proxies, sockets, URLs."""

from __future__ import annotations

import asyncio
import base64
import re
import shutil
import socket
import ssl
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.errors import ConnectionFailed, ConnectionLost
from jupyter_mcp.transport.base import Refused
from jupyter_mcp.transport.http import HttpOptions, HttpTransport
from jupyter_mcp.transport.http.streams import plain
from jupyter_mcp.transport.http.ways import proxy_for
from tests.fakes.http import FakeHttp, Reply, Request, copy
from tests.transport.recorder import Recorder
from tests.transport.web import legacy, opened

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

pytestmark = pytest.mark.anyio

TOKEN = {"Authorization": "Bearer secret-token"}


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


async def fine(request: Request, reply: Reply) -> None:
    await reply.result({})


async def failure(url: str, options: HttpOptions | None = None) -> Exception:
    """Why one request gets no answer."""
    async with opened(url, options) as (transport, web):
        await transport.send(legacy("tools/call", 1))
        return await web.failure(1)


async def answered(url: str, options: HttpOptions | None = None) -> None:
    """One request gets its answer."""
    async with opened(url, options) as (transport, web):
        await transport.send(legacy("tools/call", 1))
        await web.answer(1)


# --- what may have run -----------------------------------------------------------------------------------------------


async def test_a_request_that_the_server_read_and_dropped_may_have_run() -> None:
    async def script(request: Request, reply: Reply) -> None:
        reply.drop()

    async with FakeHttp(script) as fake:
        error = await failure(fake.url)
    assert isinstance(error, ConnectionLost) and error.may_have_run
    assert "without an answer" in str(error) and error.__cause__ is not None
    assert "https://" in str(error.hint), "what a server that speaks TLS only does with plain HTTP"
    assert len(fake.requests) == 1  # and is not sent again behind our back


async def test_a_request_whose_connection_was_reset_may_have_run() -> None:
    async def script(request: Request, reply: Reply) -> None:
        reply.reset()

    async with FakeHttp(script) as fake:
        error = await failure(fake.url)
    assert isinstance(error, ConnectionLost) and error.may_have_run
    assert len(fake.requests) == 1


async def test_an_answer_that_breaks_off_may_have_run() -> None:
    async def script(request: Request, reply: Reply) -> None:
        await reply.raw(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{")
        reply.drop()

    async with FakeHttp(script) as fake:
        error = await failure(fake.url)
    assert isinstance(error, ConnectionLost) and error.may_have_run and "middle of its answer" in str(error)


async def test_what_is_no_http_may_have_run() -> None:
    async def script(request: Request, reply: Reply) -> None:
        await reply.raw(b"SSH-2.0-OpenSSH_9.6\r\n\r\n")
        reply.drop()

    async with FakeHttp(script) as fake:
        error = await failure(fake.url)
    assert isinstance(error, ConnectionLost) and error.may_have_run and "not HTTP" in str(error)


async def test_a_refused_connection_cannot_have_run() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    error = await failure(f"http://127.0.0.1:{port}/mcp")
    assert isinstance(error, ConnectionLost) and not error.may_have_run
    assert f"127.0.0.1:{port} refuses connections" in str(error)


async def test_a_name_that_does_not_exist_cannot_have_run(monkeypatch: pytest.MonkeyPatch) -> None:
    async def unknown(*args: Any, **kwargs: Any) -> Any:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", unknown)
    error = await failure("http://nowhere.test/mcp")
    assert isinstance(error, ConnectionLost) and not error.may_have_run
    assert "nowhere.test cannot be found" in str(error)


@pytest.mark.skipif(sys.platform != "linux", reason="needs a kernel whose backlog fills up")
async def test_a_connection_that_does_not_come_about_in_time_cannot_have_run() -> None:
    """A full backlog: the kernel takes no more connections."""
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(0)
        full = [socket.socket() for _ in range(4)]
        try:
            for client in full:
                client.setblocking(False)
                client.connect_ex(deaf.getsockname())
            url = f"http://127.0.0.1:{deaf.getsockname()[1]}/mcp"
            error = await failure(url, HttpOptions(connect_timeout=0.3))
        finally:
            for client in full:
                client.close()
    assert isinstance(error, ConnectionLost) and not error.may_have_run and "within 0.3 s" in str(error)


async def test_a_notification_that_cannot_be_sent_raises() -> None:
    async with FakeHttp(fine) as fake:
        url = fake.url
    async with opened(url) as (transport, _):
        with pytest.raises(ConnectionLost) as caught:
            await transport.send(legacy("notifications/x"))
    assert not caught.value.may_have_run


async def test_a_kept_connection_that_the_server_closed_meanwhile_is_replaced() -> None:
    async def script(request: Request, reply: Reply) -> None:
        await reply.result({})
        reply.drop()

    async with FakeHttp(script) as fake, opened(fake.url) as (transport, web):
        for id in range(5):
            await transport.send(legacy("tools/list", id))
            await web.answer(id)
            await fake.until(lambda: fake.open == 0)
            await asyncio.sleep(0.02)  # the end of the connection reaches us


# --- what is sent along ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "target",
    [
        "/a%2Fb/mcp",
        "/a%2fb/%7Euser/mcp",
        "/mcp?key=a%20b+c&x=%2F&y=1,2",
        "/mcp/",
        "/",
        "/a/../b//mcp",
        "/caf%C3%A9;v=1",
    ],
)
async def test_a_url_is_used_byte_for_byte(target: str) -> None:
    async with FakeHttp(fine, path=target) as fake:
        await answered(fake.url)
    assert fake.requests[0].target == target


async def test_letters_outside_ascii_are_escaped_and_a_fragment_stays_here() -> None:
    async with FakeHttp(fine, path="/café#part") as fake:
        await answered(fake.url)
    assert fake.requests[0].target == "/caf%C3%A9"


async def test_cookies_are_not_kept() -> None:
    async def script(request: Request, reply: Reply) -> None:
        await reply.result({}, set_cookie="sid=1; Path=/")

    async with FakeHttp(script) as fake, opened(fake.url.replace("127.0.0.1", "localhost")) as (transport, web):
        for id in (1, 2):
            await transport.send(legacy("tools/list", id))
            await web.answer(id)
    assert [request.header("Cookie") for request in fake.requests] == [None, None]


async def test_headers_go_with_every_request_and_those_of_the_protocol_are_ours() -> None:
    headers = {"X-Key": "ké", "accept": "text/plain", "MCP-Session-ID": "mine", "user-agent": "me/1", **TOKEN}
    async with FakeHttp(fine) as fake:
        await answered(fake.url, HttpOptions(headers=headers))
    (request,) = fake.requests
    assert request.header("X-Key") == "ké" and request.header("Authorization") == "Bearer secret-token"
    assert request.header("Accept") == "application/json, text/event-stream"
    assert request.header("User-Agent") == "me/1" and request.header("Mcp-Session-Id") is None


async def test_no_credentials_are_taken_from_netrc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login me password hidden\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    async with FakeHttp(fine) as fake:
        await answered(fake.url)
    assert fake.requests[0].header("Authorization") is None


async def test_user_information_in_the_url_becomes_a_header_unless_one_is_given() -> None:
    async with FakeHttp(fine) as fake:
        url = fake.url.replace("//", "//me:p%40ss@")
        await answered(url)
        await answered(url, HttpOptions(headers=TOKEN))
    first, second = fake.requests
    assert base64.b64decode((first.header("Authorization") or "").removeprefix("Basic ")) == b"me:p@ss"
    assert second.header("Authorization") == "Bearer secret-token"
    assert first.header("Host") == f"127.0.0.1:{fake.port}"


@pytest.mark.parametrize(
    ("url", "options"),
    [
        ("ftp://host/x", HttpOptions()),
        ("http:///mcp", HttpOptions()),
        ("http://host:99999/mcp", HttpOptions()),
        ("http://host:port/mcp", HttpOptions()),
        ("http://host/a b", HttpOptions()),
        ("http://host/a\r\nX: y", HttpOptions()),
        ("http://host/a\tb", HttpOptions()),
        ("http://[::1/mcp", HttpOptions()),
        ("no url", HttpOptions()),
        ("https://host/", HttpOptions(socket="/tmp/x")),
        ("http://host/", HttpOptions(headers={"A": "b\r\nX: y"})),
        ("http://host/", HttpOptions(headers={"A b": "c"})),
        ("http://host/", HttpOptions(proxy="ftp://p")),
        ("https://host/", HttpOptions(ca="/no/such/file")),
        ("https://host/", HttpOptions(cert="/no/such/file")),
    ],
)
async def test_what_cannot_work_is_said_before_anything_is_sent(url: str, options: HttpOptions) -> None:
    transport = HttpTransport(url, options)
    with pytest.raises(ConnectionFailed):
        await transport.open(Recorder())
    await transport.close()


# --- redirects -------------------------------------------------------------------------------------------------------


def redirecting(status: int, location: str) -> Callable[[Request, Reply], Awaitable[None]]:
    async def script(request: Request, reply: Reply) -> None:
        if request.target == "/mcp":
            await reply.send(status, location=location)
        else:
            await reply.result({})

    return script


@pytest.mark.parametrize("status", [301, 302, 307, 308])
@pytest.mark.parametrize("location", ["/mcp/", "mcp/", "?there=1", "/a%2Fb#part"])
async def test_a_redirect_within_the_origin_is_followed_with_all_that_was_sent(status: int, location: str) -> None:
    async with FakeHttp(redirecting(status, location)) as fake:
        await answered(fake.url, HttpOptions(headers=TOKEN))
    first, second = fake.requests
    assert (
        second.method == "POST"
        and second.body == first.body
        and second.header("Authorization") == TOKEN["Authorization"]
    )
    assert second.target == {"mcp/": "/mcp/", "?there=1": "/mcp?there=1"}.get(location, location.partition("#")[0])


async def test_a_permanent_redirect_is_remembered_a_temporary_one_is_not() -> None:
    for status, targets in ((308, ["/mcp", "/mcp/", "/mcp/"]), (307, ["/mcp", "/mcp/", "/mcp", "/mcp/"])):
        async with FakeHttp(redirecting(status, "/mcp/")) as fake, opened(fake.url) as (transport, web):
            for id in (1, 2):
                await transport.send(legacy("tools/list", id))
                await web.answer(id)
        assert [request.target for request in fake.requests] == targets


async def test_a_redirect_to_another_origin_is_not_followed_and_named() -> None:
    async with FakeHttp(fine) as other:
        there = f"127.0.0.1:{other.port}/mcp"
        for location, named in (
            (f"http://localhost:{other.port}/mcp", f"localhost:{other.port}/mcp; use that URL"),
            (f"//{there}", f"{there}; use that URL"),
            (f"http://evil:pa55@{there}?a=%2F#b", f" http://{there}?a=%2F; use that URL"),
            ("file:///etc/passwd", "no address: file:///etc/passwd"),
            ("javascript:alert(1)", "no address: javascript:alert(1)"),
            ("http://[::1", "no address: http://[::1"),
            ("https://me:pa55@[x/", "no address: [x/"),
        ):
            async with FakeHttp(redirecting(307, location)) as fake:
                error = await failure(fake.url, HttpOptions(headers=TOKEN))
            assert isinstance(error, Refused) and error.status == 307 and error.advised
            assert named in error.body and "pa55" not in error.body
    assert other.requests == []


async def test_another_name_for_the_same_place_is_another_origin() -> None:
    async def script(request: Request, reply: Reply) -> None:
        await reply.send(307, location=f"http://localhost:{fake.port}/mcp")

    async with FakeHttp(script) as fake:
        error = await failure(fake.url, HttpOptions(headers=TOKEN))
    assert isinstance(error, Refused) and len(fake.requests) == 1


@pytest.mark.parametrize("location", ["/a b", "/a HTTP/1.1 x", "/a\x7fb", "/a?q=x y"])
async def test_a_redirect_cannot_break_the_line_that_it_is_sent_in(location: str) -> None:
    async with FakeHttp(redirecting(307, location)) as fake:
        try:
            await answered(fake.url, HttpOptions(headers=TOKEN))
        except AssertionError:  # a control character in a header is no HTTP to begin with
            assert not location.isprintable()
    for request in fake.requests[1:]:
        assert re.fullmatch(r"/a[!-~]*", request.target), request.target


async def test_user_information_in_a_redirect_is_not_followed() -> None:
    async def script(request: Request, reply: Reply) -> None:
        await reply.send(307, location=f"http://evil:x@{request.header('Host')}/other")

    async with FakeHttp(script) as fake:
        assert isinstance(await failure(fake.url), Refused)
    assert len(fake.requests) == 1


async def test_a_redirect_that_wants_a_page_is_refused_for_a_post() -> None:
    async with FakeHttp(redirecting(303, "/result")) as fake:
        error = await failure(fake.url)
    assert isinstance(error, Refused) and error.status == 303 and len(fake.requests) == 1


async def test_redirects_without_end_end() -> None:
    async def script(request: Request, reply: Reply) -> None:
        await reply.send(307, location=request.target + "x")

    async with FakeHttp(script) as fake:
        error = await failure(fake.url)
    assert isinstance(error, Refused) and "5 times" in error.body and len(fake.requests) == 6


async def test_a_redirect_without_a_target_is_an_answer() -> None:
    async def script(request: Request, reply: Reply) -> None:
        await reply.send(307)

    async with FakeHttp(script) as fake:
        error = await failure(fake.url)
    assert isinstance(error, Refused) and error.status == 307


# --- TLS -------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate for 127.0.0.1 that signs itself, and its key."""
    program = shutil.which("openssl")
    if program is None:
        pytest.skip("no openssl to make a certificate with")
    folder = tmp_path_factory.mktemp("tls")
    cert, key = folder / "cert.pem", folder / "key.pem"
    made = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=test"
    names = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(cert)]
    subprocess.run([program, *made.split(), *names], check=True, capture_output=True)
    return cert, key


@pytest.fixture
def locked_key(certificate: tuple[Path, Path], tmp_path: Path) -> Path:
    """The key of that certificate, encrypted."""
    program = shutil.which("openssl")
    assert program is not None
    locked = tmp_path / "locked.pem"
    command = [program, "ec", "-in", str(certificate[1]), "-aes256", "-passout", "pass:hidden", "-out", str(locked)]
    subprocess.run(command, check=True, capture_output=True)
    return locked


def tls_server(certificate: tuple[Path, Path], ask: bool = False) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(*certificate)
    if ask:
        context.load_verify_locations(certificate[0])
        context.verify_mode = ssl.CERT_REQUIRED
    return context


async def test_an_unknown_certificate_is_refused_with_the_way_out(certificate: tuple[Path, Path]) -> None:
    async with FakeHttp(fine, tls=tls_server(certificate)) as fake:
        error = await failure(fake.url)
    assert isinstance(error, ConnectionLost) and not error.may_have_run
    assert re.search("self.signed", str(error)) and "ca=FILE" in str(error)
    assert fake.requests == []


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "does not speak TLS. Its URL may begin with http://"),
        (b"", "Does it speak TLS? If not, its URL begins with http://."),
    ],
)
async def test_tls_with_a_server_that_speaks_none_names_the_other_scheme(answer: bytes, said: str) -> None:
    held: list[asyncio.StreamWriter] = []

    async def plain_http(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        held.append(writer)
        await reader.read(1)
        writer.write(answer)

    async with await asyncio.start_server(plain_http, "127.0.0.1", 0) as listening:
        url = f"https://127.0.0.1:{listening.sockets[0].getsockname()[1]}/mcp"
        error = await failure(url, HttpOptions(connect_timeout=0.3))
        for writer in held:
            writer.close()
    assert isinstance(error, ConnectionLost) and not error.may_have_run
    assert said in str(error)


@pytest.mark.parametrize(
    ("body", "said"), [(b"<p>Not&nbsp;here &amp; gone</p>", "Not here & gone"), (b"a &lt; b", "a &lt; b")]
)
def test_a_page_is_read_as_a_person_would(body: bytes, said: str) -> None:
    assert plain(body) == said


async def test_a_certificate_of_ones_own_authority_is_trusted(certificate: tuple[Path, Path]) -> None:
    async with FakeHttp(fine, tls=tls_server(certificate)) as fake:
        await answered(fake.url, HttpOptions(ca=str(certificate[0])))


async def test_insecure_checks_nothing(certificate: tuple[Path, Path]) -> None:
    async with FakeHttp(fine, tls=tls_server(certificate)) as fake:
        await answered(fake.url.replace("127.0.0.1", "localhost"), HttpOptions(insecure=True))


async def test_a_certificate_for_another_name_is_refused(certificate: tuple[Path, Path]) -> None:
    async with FakeHttp(fine, tls=tls_server(certificate)) as fake:
        url = fake.url.replace("127.0.0.1", "localhost")
        error = await failure(url, HttpOptions(ca=str(certificate[0])))
    assert isinstance(error, ConnectionLost) and not error.may_have_run and "localhost" in str(error)


async def test_our_own_certificate_is_shown(certificate: tuple[Path, Path]) -> None:
    cert, key = str(certificate[0]), str(certificate[1])
    async with FakeHttp(fine, tls=tls_server(certificate, ask=True)) as fake:
        await answered(fake.url, HttpOptions(ca=cert, cert=(cert, key)))
        error = await failure(fake.url, HttpOptions(ca=cert))
    assert isinstance(error, ConnectionLost)


async def test_an_encrypted_key_asks_nobody_at_the_terminal(certificate: tuple[Path, Path], locked_key: Path) -> None:
    transport = HttpTransport("https://127.0.0.1/", HttpOptions(cert=(str(certificate[0]), str(locked_key))))
    with pytest.raises(ConnectionFailed, match="cannot be used"):
        await transport.open(Recorder())


async def test_tls_with_a_server_that_speaks_plain_http_is_an_error_and_no_hang(certificate: tuple[Path, Path]) -> None:
    del certificate
    async with FakeHttp(fine) as fake:
        error = await failure(fake.url.replace("http:", "https:"), HttpOptions(connect_timeout=2))
    assert isinstance(error, ConnectionLost) and not error.may_have_run


# --- proxies and sockets ---------------------------------------------------------------------------------------------


async def proxy(request: Request, reply: Reply) -> None:
    """A proxy: answers plain requests itself, tunnels the rest."""
    if request.method == "CONNECT":
        await reply.tunnel("127.0.0.1", int(request.target.rpartition(":")[2]))
    else:
        await reply.result({"by": "proxy"})


@pytest.mark.parametrize("how", ["option", "HTTP_PROXY", "ALL_PROXY"])
async def test_a_proxy_is_used_by_option_and_by_environment(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with FakeHttp(proxy, path="") as between:
        options = HttpOptions(proxy=between.url) if how == "option" else HttpOptions()
        if how != "option":
            monkeypatch.setenv(how, between.url)
        await answered("http://server.test:81/a%2Fb", options)
    (request,) = between.requests
    assert request.target == "http://server.test:81/a%2Fb" and request.header("Host") == "server.test:81"


async def test_the_environment_may_exempt_a_host_and_none_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    async with FakeHttp(fine) as fake:
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
        await answered(fake.url, HttpOptions(proxy=None))
        assert isinstance(await failure("http://server.test/"), ConnectionLost)
        assert proxy_for("http://server.test/", HttpOptions())[0] == "http://127.0.0.1:9"
        monkeypatch.setenv("NO_PROXY", "server.test")
        assert proxy_for("http://server.test/", HttpOptions())[0] is None


@pytest.mark.parametrize("name", ["HTTP_PROXY", "ALL_PROXY"])
async def test_no_proxy_of_the_environment_sees_what_is_for_this_machine(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with FakeHttp(proxy, path="") as between, FakeHttp(fine) as fake:
        monkeypatch.setenv(name, between.url)
        await answered(fake.url, HttpOptions(headers=TOKEN))
        for host in ("localhost", "LOCALHOST.", "nb.localhost", "127.8.8.8", "[::1]"):
            assert proxy_for(f"http://{host}:1/", HttpOptions())[0] is None, host
        for host in ("localhost.test", "127.0.0.1.test", "10.0.0.1", "0.0.0.0"):
            assert proxy_for(f"http://{host}:1/", HttpOptions())[0] is not None, host
        assert proxy_for(fake.url, HttpOptions(proxy=between.url))[0] == between.url  # a person may ask for it
    assert not between.requests


async def test_the_proxys_password_goes_to_the_proxy_only(certificate: tuple[Path, Path]) -> None:
    async with FakeHttp(proxy, path="") as between, FakeHttp(fine, tls=tls_server(certificate)) as fake:
        through = between.url.replace("//", "//me:pw@")
        await answered(fake.url, HttpOptions(proxy=through, ca=str(certificate[0]), headers=TOKEN))
        await answered("http://server.test/mcp", HttpOptions(proxy=through))
    connect, plain = between.requests
    assert (connect.method, connect.target) == ("CONNECT", f"127.0.0.1:{fake.port}")
    for request in (connect, plain):
        assert request.header("Proxy-Authorization") == "Basic " + base64.b64encode(b"me:pw").decode()
    assert connect.header("Authorization") is None
    assert fake.requests[0].header("Proxy-Authorization") is None
    assert fake.requests[0].header("Authorization") == TOKEN["Authorization"]


async def test_the_proxys_password_does_not_follow_an_upgrade_to_the_server(certificate: tuple[Path, Path]) -> None:
    async def between(request: Request, reply: Reply) -> None:
        if request.method == "CONNECT":
            await reply.tunnel("127.0.0.1", fake.port)
        else:
            await reply.send(308, location="https://127.0.0.1/mcp")

    async with FakeHttp(between, path="") as way, FakeHttp(fine, tls=tls_server(certificate)) as fake:
        options = HttpOptions(proxy=way.url.replace("//", "//me:pw@"), ca=str(certificate[0]), headers=TOKEN)
        await answered("http://127.0.0.1/mcp", options)
    assert way.requests[0].header("Proxy-Authorization") is not None
    assert fake.requests[0].header("Proxy-Authorization") is None
    assert fake.requests[0].header("Authorization") == TOKEN["Authorization"]


async def test_a_proxy_that_refuses_or_is_not_there_means_it_cannot_have_run(certificate: tuple[Path, Path]) -> None:
    del certificate

    async def refuse(request: Request, reply: Reply) -> None:
        await reply.send(403)

    async with FakeHttp(refuse, path="") as between:
        error = await failure("https://server.test/mcp", HttpOptions(proxy=between.url.replace("//", "//me:hidden@")))
    assert isinstance(error, ConnectionLost) and not error.may_have_run and "HTTP 403" in str(error)
    error = await failure("http://server.test/mcp", HttpOptions(proxy="http://me:hidden@127.0.0.1:9"))
    assert isinstance(error, ConnectionLost) and not error.may_have_run
    assert "http://127.0.0.1:9" in str(error) and "hidden" not in str(error)


@pytest.mark.skipif(sys.platform == "win32", reason="no Unix sockets")
async def test_a_unix_socket_is_connected_to_instead_of_the_host(tmp_path: Path) -> None:
    path = str(tmp_path / "mcp.sock")
    options = HttpOptions(socket=path, proxy="http://127.0.0.1:9", headers=TOKEN)
    async with FakeHttp(fine, unix=path) as fake:
        await answered("http://localhost/a%2Fb", options)
    assert fake.requests[0].target == "/a%2Fb" and fake.requests[0].header("Host") == "localhost"
    error = await failure("http://localhost/mcp", HttpOptions(socket=str(tmp_path / "none.sock")))
    assert isinstance(error, ConnectionLost) and not error.may_have_run and "none.sock" in str(error)


class Socks5:
    """A SOCKS5 proxy that asks for name and password and tunnels to one port."""

    def __init__(self, port: int, verdict: int = 0) -> None:
        self.port = port
        self.verdict = verdict
        self.asked: list[bytes] = []

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readexactly((await reader.readexactly(2))[1])
            writer.write(b"\x05\x02")
            for _ in range(2):  # name and password
                part = await reader.readexactly(2 if not self.asked else 1)
                self.asked.append(await reader.readexactly(part[-1]))
            writer.write(b"\x01\x00")
            head = await reader.readexactly(5)
            self.asked.append(await reader.readexactly(head[4] + 2))
            writer.write(bytes([5, self.verdict, 0, 1, 0, 0, 0, 0, 0, 0]))
            if self.verdict == 0:
                await self._tunnel(reader, writer)
        finally:
            writer.close()

    async def _tunnel(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", self.port)
        ways = [asyncio.ensure_future(copy(reader, back)), asyncio.ensure_future(copy(there, writer))]
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        for way in ways:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)
        back.close()


@pytest.mark.parametrize("verdict", [0, 2])
async def test_a_socks_proxy_is_used_and_looks_up_the_name(verdict: int) -> None:
    pytest.importorskip("aiohttp_socks", reason="the optional package aiohttp-socks is not installed")
    async with FakeHttp(fine) as fake:
        proxy = Socks5(fake.port, verdict)
        server = await asyncio.start_server(proxy, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        options = HttpOptions(proxy=f"socks5h://me:pw@127.0.0.1:{port}")
        try:
            if verdict == 0:
                await answered("http://server.test:8000/mcp", options)
            else:
                error = await failure("http://server.test:8000/mcp", options)
                assert isinstance(error, ConnectionLost) and not error.may_have_run and "SOCKS" in str(error)
        finally:
            server.close()
    assert proxy.asked == [b"me", b"pw", b"server.test" + (8000).to_bytes(2, "big")]


async def test_a_socks_proxy_without_the_package_for_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "aiohttp_socks", None)
    with pytest.raises(ConnectionFailed, match="aiohttp-socks"):
        await HttpTransport("http://server.test/", HttpOptions(proxy="socks5://127.0.0.1:9")).open(Recorder())
