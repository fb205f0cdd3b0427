"""Images by their first bytes, base64 as servers write it."""

from __future__ import annotations

import base64

import pytest

# pyright: reportPrivateUsage=false
from jupyter_mcp.host.media import Image, decode_base64, pictures_in, sniff_image

PNG = b"\x89PNG\r\n\x1a\n" + b"rest"


@pytest.mark.parametrize(
    "text",
    [
        "AAEC_-8=",
        "AAEC/+8=",
        "AAEC/+8",
        "AAEC\n/+8=\n",
        "data:image/png;base64,AAEC/+8=",
    ],
)
def test_base64_is_read_in_every_spelling(text: str):
    assert decode_base64(text) == b"\x00\x01\x02\xff\xef"


@pytest.mark.parametrize("text", [None, 5, "!!!", "A"])
def test_what_is_no_base64_gives_no_bytes(text: object):
    assert decode_base64(text) == b""


def test_the_first_bytes_decide_and_not_the_declared_type():
    assert Image(PNG, "image/jpeg")._repr_png_() == PNG
    assert Image(PNG, "image/jpeg")._repr_jpeg_() is None
    assert Image(b"<svg onload=alert(1)>", "image/png")._repr_png_() is None
    assert sniff_image(b"\xff\xd8\xff\xe0") == "image/jpeg"


def test_gif_and_webp_show_by_their_mime_type():
    gif = b"GIF89a..."
    assert Image(gif, "image/gif")._repr_mimebundle_()["image/gif"] == base64.b64encode(gif).decode()
    assert "image/webp" in Image(b"RIFF\0\0\0\0WEBPVP8 ", "x")._repr_mimebundle_()
    assert Image(b"<svg/>", "image/svg+xml")._repr_mimebundle_() == {}


def test_a_repr_holds_no_bytes():
    assert repr(Image(PNG, "image/png")) == "<Image image/png, 12 bytes>"


def test_pictures_in_a_text_are_found_when_they_are_pictures():
    png = base64.b64encode(PNG * 5).decode()
    text = f"Here: ![a plot](data:image/png;base64,{png}) and data:image/png;base64,{'A' * 60}."
    ((begin, end, data),) = pictures_in(text)
    assert (text[:begin], text[end : end + 4]) == ("Here: ", " and")
    assert data == PNG * 5
    assert pictures_in("data:image/png, no base64") == []
