"""What servers send and kernels cannot carry, in a real kernel: shown all the same, without a warning, nothing lost."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests import fakes
from tests.runtime.kernels import LiveKernel, live_kernel

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def kernel() -> Iterator[LiveKernel]:
    with live_kernel(setup="%load_ext jupyter_mcp\nimport jupyter_mcp as mcp") as started:
        command, args = fakes.command()
        started.run(f"fake = mcp.connect('fake', {[command, *args]!r}, era='legacy')")
        yield started


def call(kernel: LiveKernel, body: str, *, end: str = "") -> Any:
    line = '{"jsonrpc":"2.0","id":"$ID",' + body + "}"
    return kernel.finish(kernel.start(f"fake.tools.raw(lines=[{line!r}]){end}"))


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        ('"content":[],"structuredContent":{"sd":NaN,"max":Infinity,"min":-Infinity}', "min: -Infinity"),
        ('"content":[{"type":"text","text":"x","_meta":{"n":NaN}}]', "x"),
        ('"content":[{"type":"text","text":"half \\ud83d"}],"structuredContent":{"\\udc00":"\\ud800"}', "half �"),
        ('"content":[],"structuredContent":[1e999,{"rows":[{"a":NaN}]}]', "Infinity"),
    ],
)
def test_a_result_is_shown_without_a_word_of_the_kernel(kernel: LiveKernel, content: str, shown: str) -> None:
    run = call(kernel, '"result":{' + content + "}")
    assert run.error is None
    assert run.text == "", "jupyter_client warns of what it cannot carry"
    assert shown in run.displays[0]


@pytest.mark.parametrize(
    "body",
    [
        '"error":{"code":1,"message":"half \\ud83d \\u001b[31mred"}',
        '"result":{"isError":true,"content":[{"type":"text","text":"half \\ud83d red"}]}',
    ],
)
def test_an_error_is_shown_too(kernel: LiveKernel, body: str) -> None:
    run = call(kernel, body)
    assert run.error is not None and "half ?" in run.error
    assert len(run.traceback) == 1 and "\x1b" not in run.traceback[0]
    assert run.text == ""


def test_the_json_side_of_a_display_is_json(kernel: LiveKernel) -> None:
    run = call(kernel, '"result":{"content":[],"structuredContent":{"sd":NaN,"t":"\\ud800"}}')
    shown = [*run.of("display_data"), *run.of("execute_result")][0]["data"]["application/vnd.jupyter-mcp+json"]
    assert json.loads(json.dumps(shown, allow_nan=False))["structuredContent"] == {"sd": "NaN", "t": "?"}
