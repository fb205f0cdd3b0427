"""One row of servers.toml, played: install folder found, started, connected, listed, called, refused, closed.

Used by scripts/interop.py (every row) and by the tests (the core set). What a row means is written in servers.toml.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import subprocess
import time
import uuid
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.errors import ConnectionFailed, MCPError, RequestError, UsageError
from jupyter_mcp.host.host import Host
from jupyter_mcp.host.specs import ServerSpec
from tests.interop.launch import free_port, listening, marked
from tests.interop.programs import commands

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from jupyter_mcp.host.entry import ServerEntry

KINDS = ("tools", "resources", "templates", "prompts")
LIMIT = 180.0  # seconds for one row
MARK = "JUPYTER_MCP_INTEROP"  # in the environment of all that a row starts
NAME = "it"
Row = dict[str, Any]


class NotInstalled(Exception):
    """What a row needs is not there."""


class Wrong(Exception):
    """A row did not go as it says."""


@dataclass
class Played:
    """What came of a row; `as_json` is its row of build/interop.json.

    Attributes:
        era, after: what was found out, and what it turned out to be by the first call.
        counts: how many of each kind there were.
        call: how the call ended, in words.
        seconds: for start (a server that listens), connect, list and call.
        problem: what went wrong, or None.
    """

    name: str
    transport: str = ""
    era: str = ""
    after: str = ""
    revision: str = ""
    server: str = ""
    counts: dict[str, int] = field(default_factory=dict[str, int])
    call: str = ""
    seconds: dict[str, float] = field(default_factory=dict[str, float])
    problem: str | None = None

    @property
    def ok(self) -> bool:
        return self.problem is None

    @property
    def total(self) -> float:
        return sum(self.seconds.values())

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "ok": self.ok,
            "transport": self.transport,
            "era": self.era,
            "era_after_a_call": self.after,
            "revision": self.revision,
            "server": self.server,
            **{kind: self.counts.get(kind) for kind in KINDS},
            "call": self.call,
            "seconds": {key: round(value, 2) for key, value in self.seconds.items()},
            "problem": self.problem,
        }


def prepare(work: Path) -> Path:
    """Fill a folder with something of each kind to read: what `{work}` means."""
    work.mkdir(parents=True, exist_ok=True)
    (work / "a.txt").write_text("hello\nworld\n", encoding="utf-8")
    (work / "a.html").write_text("<html><body><h1>Title</h1></body></html>", encoding="utf-8")
    database = sqlite3.connect(work / "t.db")
    with database:
        database.execute("create table cities (name text, pop integer)")
        database.executemany("insert into cities values (?, ?)", [("Paris", 2_100_000), ("Oslo", 700_000)])
    database.close()
    repository(work / "repo")
    return work


def repository(folder: Path) -> Path:
    """A git repository with one commit that is the same everywhere."""
    folder.mkdir()
    person = {"NAME": "Ada", "EMAIL": "ada@example.org", "DATE": "2026-01-02T03:04:05Z"}
    identity = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in person.items()}
    environment = {**os.environ, **identity, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    (folder / "poem.txt").write_text("first line\n", encoding="utf-8")
    for command in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "A first line"]):
        subprocess.run(["git", *command], cwd=folder, env=environment, check=True, timeout=30)
    return folder


async def play(name: str, row: Row, home: Path, work: Path) -> Played:
    """Play a row; whatever goes wrong is in the outcome, never raised.

    Args:
        name, row: the row.
        home: the folder it is installed in (scripts/more_servers.py knows).
        work: an empty folder that it may fill.
    """
    played = Played(name, transport="http" if "url" in row else "stdio")
    mark = uuid.uuid4().hex
    try:
        async with asyncio.timeout(LIMIT):
            prepare(work)
            await (breaks if "breaks" in row else works)(played, row, Place(home, work, mark))
        await gone(mark)
    except TimeoutError:
        played.problem = f"not done within {LIMIT:.0f} s"
    except Exception as problem:
        played.problem = f"{type(problem).__name__}: {problem}"
    return played


@dataclass(frozen=True)
class Place:
    """What the placeholders of a row mean."""

    home: Path
    work: Path
    mark: str

    @property
    def bin(self) -> Path:
        return commands(self.home)

    def command(self, row: Row, port: int) -> list[str]:
        """The row's command. Raises `NotInstalled`."""
        words: list[str] = row["command"]
        program, *arguments = words
        found = shutil.which(program, path=str(self.bin))
        if found is None:
            raise NotInstalled(f"{program} is not in {self.bin}")
        return [found, *(self.filled(argument, port) for argument in arguments)]

    def environment(self, row: Row, port: int) -> dict[str, str]:
        """The row's variables; the Node that was installed beside a server is the one that runs it."""
        path = f"{self.bin}{os.pathsep}{os.environ.get('PATH', '')}"
        return {"PATH": path, **self.filled(row.get("env", {}), port), MARK: self.mark}

    def filled(self, value: Any, port: int = 0) -> Any:
        """The same with its placeholders filled, at any depth."""
        if isinstance(value, str):
            text = value.replace("{work}", str(self.work)).replace("{port}", str(port))
            return text.replace("{chromium}", browser()) if "{chromium}" in text else text
        if isinstance(value, list):
            return [self.filled(item, port) for item in cast("list[Any]", value)]
        if isinstance(value, dict):
            return {key: self.filled(item, port) for key, item in cast("Row", value).items()}
        return value


def browser() -> str:
    """The Chromium that whoever runs us has found. Raises `NotInstalled`."""
    if not os.environ.get("CHROMIUM"):
        raise NotInstalled("no Chromium: set CHROMIUM=…")
    return os.environ["CHROMIUM"]


@asynccontextmanager
async def spec_of(row: Row, place: Place, played: Played | None = None) -> AsyncGenerator[ServerSpec]:
    """How to reach the row's server, which runs meanwhile if it is one that listens; no option beyond what it needs."""
    port = free_port() if "url" in row else 0
    command, env = place.command(row, port), place.environment(row, port)
    if "url" not in row:
        yield ServerSpec.parse(NAME, command, env=env, cwd=str(place.work))
        return
    url = place.filled(row["url"], port)
    running = ExitStack()
    try:
        start = listening(command, url, env={**os.environ, **env}, cwd=place.work)
        server = await asyncio.to_thread(running.enter_context, start)
        if played:
            played.seconds["start"] = server.seconds
        yield ServerSpec.parse(NAME, url)
    finally:
        await asyncio.to_thread(running.close)


async def works(played: Played, row: Row, place: Place) -> None:
    """A server that starts: everything there is to try."""
    async with spec_of(row, place, played) as spec:
        host = Host(roots=[place.work])
        try:
            began = time.monotonic()
            entry = await host.connect(spec)
            began = lap(played, "connect", began)
            found_out(played, entry, row)
            await lists(played, host, entry, row)
            began = lap(played, "list", began)
            await calls(played, host, row, place)
            lap(played, "call", began)
            expect("era after the call", entry.era, row.get("after", row["era"]))
            played.after = entry.era or ""
            await refuses(host, row, place)
        finally:
            await host.aclose()
        if row.get("both"):
            await speaks(spec, "legacy" if row["era"] == "modern" else "modern")


async def breaks(played: Played, row: Row, place: Place) -> None:
    """A server that cannot start: what is said about it."""
    host = Host()
    try:
        async with spec_of(row, place) as spec:
            await host.connect(spec)
    except ConnectionFailed as problem:
        if row["breaks"] not in str(problem):
            raise Wrong(f"{row['breaks']!r} is not said: {problem}") from None
        played.call = f"says: {row['breaks']}"
    else:
        raise Wrong("it started")
    finally:
        await host.aclose()


def lap(played: Played, what: str, began: float) -> float:
    played.seconds[what] = time.monotonic() - began
    return time.monotonic()


def expect(what: str, found: Any, wanted: Any) -> None:
    if found != wanted:
        raise Wrong(f"{what}: {found!r}, not {wanted!r}")


def found_out(played: Played, entry: ServerEntry, row: Row) -> None:
    assert entry.connection is not None
    played.transport = entry.connection.link.transport.kind if entry.connection.link else ""
    played.era, played.revision = entry.era or "", entry.revision or ""
    played.server = f"{entry.info.get('name', '')} {entry.info.get('version', '')}".strip()
    expect("state", entry.state, "ready")
    expect("transport", played.transport, row.get("transport", "http" if "url" in row else "stdio"))
    expect("era", played.era, row["era"])


async def lists(played: Played, host: Host, entry: ServerEntry, row: Row) -> None:
    assert entry.connection is not None
    for kind in KINDS:
        listing = await entry.connection.list(kind)
        if listing.problems:
            raise Wrong(f"{kind}: {listing.problems[0]}")
        played.counts[kind] = len(listing.items)
    if played.counts["tools"] < row["tools"] or not host.catalogue.tools(NAME):
        raise Wrong(f"{played.counts['tools']} tools, not {row['tools']}")


async def calls(played: Played, host: Host, row: Row, place: Place) -> None:
    """The good call. What needs more than this machine may fail, if the server itself says so and lives on."""
    arguments = place.filled(row.get("arguments", {}))
    try:
        result = await host.call_tool(NAME, row["tool"], arguments, check=False)
    except RequestError as problem:
        if "needs" not in row:
            raise
        played.call = f"error {problem.code}: it needs {row['needs']}"
    else:
        if "needs" not in row:
            expect("is_error", result.is_error, bool(row.get("fails")))
        if row["says"] not in result.text:
            raise Wrong(f"{row['says']!r} is not in {result.text[:200]!r}")
        if "columns" in row:
            expect("columns", list(result.df().columns), row["columns"])
        played.call = "an error, as it should" if row.get("fails") else "answered"
        if result.is_error and "needs" in row:
            played.call = f"an error: it needs {row['needs']}"
    if "needs" in row:
        expect("state after the call", host.servers[NAME].state, "ready")
        await host.servers[NAME].connection.list("tools")  # type: ignore[union-attr]


async def refuses(host: Host, row: Row, place: Place) -> None:
    """The wrong call never leaves."""
    if "wrong" not in row:
        return
    try:
        await host.call_tool(NAME, row["tool"], place.filled(row["wrong"]))
    except UsageError as refused:
        if row["tool"] not in str(refused):
            raise Wrong(f"the refusal does not name {row['tool']}: {refused}") from None
    else:
        raise Wrong("a wrong argument was not refused")


async def speaks(spec: ServerSpec, era: str) -> None:
    """The other era, insisted on."""
    host = Host()
    try:
        entry = await host.connect(replace(spec, era=era))
        expect("era when insisted on", (entry.state, entry.era), ("ready", era))
        assert entry.connection is not None
        if not (await entry.connection.list("tools")).items:
            raise Wrong(f"no tools in the {era} era")
    except MCPError as problem:
        raise Wrong(f"the {era} era: {problem}") from problem
    finally:
        await host.aclose()


async def gone(mark: str) -> None:
    """No process is left of what the row started."""
    deadline = time.monotonic() + 5
    while left := await asyncio.to_thread(marked, mark):
        if time.monotonic() > deadline:
            raise Wrong(f"still running: {left[0]}")
        await asyncio.sleep(0.1)
