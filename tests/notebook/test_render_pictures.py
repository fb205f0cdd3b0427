"""Pictures that a server puts into a text, where they are of no use as letters."""

from __future__ import annotations

import re

from jupyter_mcp.host.result import Result
from jupyter_mcp.notebook.render import bundle
from tests.notebook.test_render import b64, png, text


def test_a_picture_in_a_text_is_shown_as_one_between_its_words() -> None:
    words = f"Before\n![plot](data:image/png;base64,{b64(png(5, 4))})\nafter"
    image = {"type": "image", "data": b64(png()), "mimeType": "image/png"}
    result = Result({"content": [image, text(words)]}, server="s", tool="t")
    shown = bundle(result)
    assert re.sub(r"\d+ bytes", "N bytes", shown["text/plain"]).splitlines() == [
        "s.t",
        "[image/png, 4 × 3, N bytes; .images[0] holds it]",
        "Before",
        "",
        "[image/png, 5 × 4, N bytes; .images[1] holds it]",
        "",
        "after",
    ]
    assert shown["text/html"].count('<img src="data:image/png;base64,') == 2
    assert [one.data for one in result.images] == [png(), png(5, 4)]
    assert result.text == words


def test_what_only_says_that_it_is_a_picture_stays_text() -> None:
    words = f"data:image/png;base64,{'A' * 80}"
    result = Result({"content": [text(words)]}, server="s", tool="t")
    assert words in bundle(result)["text/plain"]
    assert "<img" not in bundle(result)["text/html"]
    assert not result.images
