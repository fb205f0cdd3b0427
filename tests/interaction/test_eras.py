"""Which era is spoken when the server speaks both."""

from __future__ import annotations

import sys

import pytest

from jupyter_mcp.host.host import Host
from jupyter_mcp.host.specs import ServerSpec

pytestmark = pytest.mark.anyio

DEMO = [sys.executable, "-m", "jupyter_mcp.demo"]


@pytest.mark.parametrize(("era", "spoken"), [("auto", "modern"), ("modern", "modern"), ("legacy", "legacy")])
async def test_a_server_of_both_eras_is_met_in_the_one_that_was_asked_for(era: str, spoken: str) -> None:
    host = Host()
    try:
        assert (await host.connect(ServerSpec.parse("it", DEMO, era=era))).era == spoken
    finally:
        await host.aclose()


async def test_insisting_on_an_era_once_does_not_last() -> None:
    host = Host()
    try:
        assert (await host.connect(ServerSpec.parse("it", DEMO, era="legacy"))).era == "legacy"
        assert (await host.connect(ServerSpec.parse("it", DEMO))).era == "modern"
    finally:
        await host.aclose()
