"""Icons: which one is shown, what counts as a picture, and that asking for one tells nobody anything new."""

from __future__ import annotations

import base64
import shutil
import ssl
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.demo.chart import icon as demo_icon
from jupyter_mcp.host.icons import MAX_BYTES, checked, choose, fetch, from_data, same_origin
from jupyter_mcp.host.specs import ServerSpec
from tests.fakes.http import FakeHttp, Reply, Request

if TYPE_CHECKING:
    from pathlib import Path

PNG = demo_icon()
DATA = f"data:image/png;base64,{base64.b64encode(PNG).decode()}"
LARGE = b"\x89PNG\r\n\x1a\n" + b"x" * MAX_BYTES
SVG = b'<?xml version="1.0"?>\n<!-- a -->\n<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'


# --- which one -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "source",
    [
        "http://host/a.png",
        "javascript:alert(1)",
        "file:///etc/passwd",
        "data:text/html,<svg>",
        "blob:https://host/1",
        "https://",
        "//host/a.png",
        f"data:image/png,{'x' * 200_001}",
        7,
        None,
    ],
)
def test_nothing_but_https_and_pictures_in_data_is_shown(source: object) -> None:
    assert choose([{"src": source}]) is None


ODD: list[object] = [None, "https://h/a.png", {}, [None, 3, {"mimeType": "image/png"}]]


@pytest.mark.parametrize("odd", [*ODD, [{"src": DATA, "mimeType": "text/html"}]])
def test_odd_fields_are_no_icons(odd: object) -> None:
    assert choose(odd) is None


def test_what_comes_along_goes_before_what_is_fetched_and_light_before_dark() -> None:
    far, dark = {"src": "https://h/a.png"}, {"src": DATA, "theme": "dark"}
    light = {"src": f"{DATA}#light", "theme": "light"}
    assert choose([far, dark, light]) == light["src"]
    assert choose([far, dark]) == dark["src"]
    assert choose([far]) == far["src"]


# --- what counts as a picture ----------------------------------------------------------------------------------------


def test_the_first_bytes_say_what_it_is_whatever_it_claims() -> None:
    assert from_data(DATA.replace("image/png", "image/svg+xml")) == ("image/png", PNG)
    assert from_data(f"data:image/png;base64,{base64.b64encode(SVG).decode()}") == ("image/svg+xml", SVG)
    assert from_data("data:image/svg+xml,%3Csvg%3E%3C/svg%3E") == ("image/svg+xml", b"<svg></svg>")


@pytest.mark.parametrize(
    "data",
    [b"", b"<html><svg></svg></html>", b"MZ\x90", b"<svgx>", LARGE, b"%PDF-1.4"],
)
def test_what_is_no_picture_or_too_large_is_none(data: bytes) -> None:
    assert checked(data) is None


@pytest.mark.parametrize("source", ["data:image/png;base64,***", "data:image/png", "data:,", "image/png"])
def test_a_data_address_that_is_broken_is_none(source: str) -> None:
    assert from_data(source) is None


# --- from where ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "same"),
    [
        ("https://h/a.png", True),
        ("https://h:443/a.png", True),
        ("https://H/a.png", True),
        ("https://h:444/a.png", False),
        ("https://other/a.png", False),
        ("https://h.other/a.png", False),
        ("https://me@h/a.png", False),
        ("http://h/a.png", False),
        ("https://[", False),
    ],
)
def test_the_origin_of_the_server_is_the_only_one(source: str, same: bool) -> None:
    assert same_origin(source, "https://h/mcp") is same


def test_a_server_without_tls_has_no_origin_to_fetch_from() -> None:
    assert not same_origin("https://h/a.png", "http://h/mcp")
    assert not same_origin("http://h/a.png", "http://h/mcp")


@pytest.mark.anyio
async def test_nothing_is_fetched_for_a_server_that_is_a_command_or_of_another_origin() -> None:
    assert await fetch("https://127.0.0.1:1/a.png", ServerSpec.parse("x", "some-command")) is None
    assert await fetch("https://127.0.0.1:1/a.png", ServerSpec.parse("x", "https://127.0.0.1:2/mcp")) is None


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


async def fetched(certificate: tuple[Path, Path], script: Any, **options: Any) -> tuple[Any, list[Request]]:
    """What is had of the origin's /icon, and what was asked of it."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(*certificate)
    async with FakeHttp(script, path="/icon", tls=context) as fake:
        spec = ServerSpec.parse("x", fake.url.replace("/icon", "/mcp"), ca=str(certificate[0]), proxy="none", **options)
        return await fetch(fake.url, spec), fake.requests


@pytest.mark.anyio
async def test_a_picture_of_the_servers_own_origin_is_fetched_without_its_credentials(
    certificate: tuple[Path, Path],
) -> None:
    async def script(request: Request, reply: Reply) -> None:
        await reply.send(200, PNG, Set_Cookie="a=b")

    found, requests = await fetched(certificate, script, headers={"X-Key": "hidden"}, bearer="hidden")
    assert found == ("image/png", PNG)
    [request] = requests
    assert not any("hidden" in str(request.header(name)) for name in ("X-Key", "Authorization", "Cookie"))


@pytest.mark.anyio
async def test_a_redirect_to_another_origin_is_not_followed(certificate: tuple[Path, Path]) -> None:
    async def script(request: Request, reply: Reply) -> None:
        await reply.send(302, Location="https://elsewhere.example/a.png")

    found, requests = await fetched(certificate, script)
    assert found is None
    assert len(requests) == 1


@pytest.mark.anyio
@pytest.mark.parametrize(("status", "body"), [(404, PNG), (200, b"<html>"), (200, LARGE)])
async def test_what_is_not_a_picture_of_a_decent_size_is_left_out(
    certificate: tuple[Path, Path], status: int, body: bytes
) -> None:
    async def script(request: Request, reply: Reply) -> None:
        await reply.send(status, body)

    found, _ = await fetched(certificate, script)
    assert found is None
