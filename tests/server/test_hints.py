"""What an author says beyond the offer: how long results keep, for whom, and which extensions there are."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_mcp.errors import UsageError
from jupyter_mcp.server import AsyncContext, Server
from jupyter_mcp.server.hints import CACHEABLE
from tests.server.talk import EVERYTHING, Talk

pytestmark = pytest.mark.anyio
OLD, NEW = "2025-11-25", "2026-07-28"
EXTENSION = "org.example/notes"


def make(**options: Any) -> Server:
    server = Server("hints", **options)

    @server.tool
    async def settings(ctx: AsyncContext) -> Any:
        return {"settings": ctx.extension(EXTENSION)}

    @server.resource("a://plain")
    async def plain() -> str:
        return "plain"

    @server.resource("a://kept", ttl_ms=60_000, cache_scope="public")
    async def kept() -> str:
        return "kept"

    @server.resource("b://{name}", ttl_ms=7)
    async def named(name: str) -> str:
        return name

    @server.prompt
    async def hello() -> str:
        return "hello"

    return server


async def hints(talk: Talk, method: str, **params: Any) -> tuple[Any, Any]:
    result = await talk.request(method, params)
    return result.get("ttlMs"), result.get("cacheScope")


async def test_every_result_that_may_be_kept_says_how_long_and_for_whom():
    async with Talk(make(ttl_ms=500, cache_scope="public"), NEW) as talk:
        for method in CACHEABLE:
            params = {"uri": "a://plain"} if method == "resources/read" else {}
            assert await hints(talk, method, **params) == (500, "public"), method
        for method in ("tools/call", "prompts/get"):
            name = "settings" if method == "tools/call" else "hello"
            assert await hints(talk, method, name=name) == (None, None), method


async def test_a_method_and_a_resource_may_have_hints_of_their_own():
    server = make(ttl_ms={"tools/list": 1, "resources/read": 2}, cache_scope={"tools/list": "public"})
    async with Talk(server, NEW) as talk:
        assert await hints(talk, "tools/list") == (1, "public")
        assert await hints(talk, "prompts/list") == (0, "private")
        assert await hints(talk, "resources/read", uri="a://plain") == (2, "private")
        assert await hints(talk, "resources/read", uri="a://kept") == (60_000, "public")
        assert await hints(talk, "resources/read", uri="b://x") == (7, "private")


async def test_older_revisions_have_no_hints():
    async with Talk(make(ttl_ms=500), OLD) as talk:
        for method, params in (("tools/list", {}), ("resources/read", {"uri": "a://kept"})):
            assert await hints(talk, method, **params) == (None, None)


@pytest.mark.parametrize(
    "options",
    [
        {"ttl_ms": -1},
        {"ttl_ms": 1.5},
        {"ttl_ms": True},
        {"ttl_ms": {"tools/call": 1}},
        {"cache_scope": "everyone"},
        {"cache_scope": {"ping": "public"}},
        {"extensions": {"no-prefix": {}}},
        {"extensions": {"a/b/c": {}}},
        {"replay": "never"},
    ],
)
def test_odd_values_are_refused_where_they_are_written(options: dict[str, Any]):
    with pytest.raises(UsageError):
        make(**options)
    with pytest.raises(UsageError):
        Server("x").add_resource("a://b", lambda: "", name="b", ttl_ms=-1)


@pytest.mark.parametrize("revision", [OLD, NEW])
async def test_an_extension_is_declared_and_the_clients_settings_are_told(revision: str):
    server = make(extensions={EXTENSION: {"colours": ["red"]}})
    cases: list[tuple[Any, Any]] = [
        ({"deep": {"x": 1}}, {"deep": {"x": 1}}),
        (True, {}),
        ([], {}),
        (False, None),
        (None, None),
    ]
    for declared, told in cases:
        capabilities = {**EVERYTHING, "extensions": {EXTENSION: declared}}
        async with Talk(server, revision, capabilities=capabilities) as talk:
            said = talk.initialized if revision == OLD else await talk.request("server/discover")
            assert said["capabilities"]["extensions"] == {EXTENSION: {"colours": ["red"]}}
            assert (await talk.call("settings"))["structuredContent"] == {"settings": told}
    oddities: list[Any] = [[], True, "x", None, {"other/one": {}}]
    for odd in oddities:
        async with Talk(server, revision, capabilities={"extensions": odd}) as talk:
            expected: Any = {} if odd is True else None
            assert (await talk.call("settings"))["structuredContent"] == {"settings": expected}
    async with Talk(make(), revision) as talk:
        said = talk.initialized if revision == OLD else await talk.request("server/discover")
        assert "extensions" not in said["capabilities"]


async def test_lists_are_the_same_in_the_order_of_registration_for_everyone():
    server = make()
    async with Talk(server, NEW) as talk, Talk(server, NEW, capabilities={}) as other:
        for method in ("tools/list", "resources/list", "resources/templates/list", "prompts/list"):
            assert await talk.request(method) == await other.request(method)
        uris = [one["uri"] for one in (await talk.request("resources/list"))["resources"]]
        assert uris == ["a://plain", "a://kept"]
