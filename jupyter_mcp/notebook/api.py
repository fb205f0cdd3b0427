"""The public functions (`import jupyter_mcp as mcp`): thin names over the host, waiting for what they begin.

The magics stand on the same functions; `aio` has the awaitable twins. Public names are listed in the package's
`__init__`; the others here serve the magics.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from jupyter_mcp.errors import MCPError, UsageError
from jupyter_mcp.notebook import showing
from jupyter_mcp.notebook.configuring import discover as discover
from jupyter_mcp.notebook.configuring import from_source, name_of
from jupyter_mcp.notebook.configuring import save as save
from jupyter_mcp.notebook.deciding import allow as allow
from jupyter_mcp.notebook.deciding import answer as answer
from jupyter_mcp.notebook.deciding import ask_first as ask_first
from jupyter_mcp.notebook.deciding import deny as deny
from jupyter_mcp.notebook.deciding import disable as disable
from jupyter_mcp.notebook.deciding import enable as enable
from jupyter_mcp.notebook.objects.act import Act, get_host, look_around
from jupyter_mcp.notebook.objects.collections import KINDS
from jupyter_mcp.notebook.objects.host import NotebookHost
from jupyter_mcp.notebook.objects.policy import PolicyRules
from jupyter_mcp.notebook.objects.servers import Servers, server_of
from jupyter_mcp.notebook.objects.table import Listing
from jupyter_mcp.notebook.waiting import waiting, watched

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from jupyter_mcp.host.catalogue import OfferKind
    from jupyter_mcp.host.policy import Origin
    from jupyter_mcp.notebook.objects.conversation import Conversation
    from jupyter_mcp.notebook.objects.endpoint import Endpoint
    from jupyter_mcp.notebook.objects.items import Item
    from jupyter_mcp.notebook.objects.server import Server

T = TypeVar("T")
F = TypeVar("F", bound="Callable[..., Any]")

servers = Servers()
host = NotebookHost()
policy = PolicyRules()

showing.prepare()  # whoever has these objects wants to see them


# --- connections -----------------------------------------------------------------------------------------------------


def connect(
    name: str,
    *target: Any,
    env: Mapping[str, str | None] | Sequence[str] | None = None,
    inherit_env: bool | None = None,
    cwd: str | Path | None = None,
    headers: Mapping[str, str] | None = None,
    bearer: str | None = None,
    oauth_client_id: str | None = None,
    oauth_client_secret: str | None = None,
    oauth_private_key: str | Path | None = None,
    oauth_issuer: str | None = None,
    oauth_scopes: str | Sequence[str] | None = None,
    oauth_grant: str | None = None,
    era: str | None = None,
    transport: str | None = None,
    socket: str | Path | None = None,
    proxy: str | None = None,
    ca: str | Path | None = None,
    cert: str | Path | tuple[str, str] | None = None,
    insecure: bool | None = None,
    max_event: int | str | None = None,
    timeout: float | None = None,
    roots: Sequence[str | Path] | None = None,
    trust: bool | None = None,
    sandbox: Any = None,
) -> Server:
    """Connect to a server.

    Args:
        name: how this notebook calls it: letters, digits, `-` and `_`, at most 32. `demo` alone is the bundled server.
        target: a command and its arguments, or both in one string as in a shell; a URL; or a server object.
        env: variables for the process; a None value passes your own variable of that name.
        inherit_env: pass the whole environment instead of a safe few.
        cwd: the folder the command starts in.
        headers, bearer: for a URL; `${X}` is the environment. Without them a server that wants a login gets one.
        oauth_client_id, oauth_client_secret: who we are to the authorization server, where somebody registered us.
        oauth_private_key: a file with a key (PEM, JWK) that signs for us instead of a secret.
        oauth_issuer: the authorization server that the client id belongs to.
        oauth_scopes: what to ask for instead of what the server says.
        oauth_grant: "person" (a browser: the default) or "client-credentials" (nobody is there).
        era: "auto", "legacy" or "modern".
        transport: "auto", "stdio", "http" or "sse".
        socket: for a URL: the Unix socket to connect to instead of its host.
        proxy: for a URL: the proxy's own URL, "env" (`HTTPS_PROXY` and the like: the default) or "none".
        ca: for a URL: a file of certificates to trust instead of the system's.
        cert: for a URL: our own certificate, a file that holds its key too, or the two files.
        insecure: for a URL: do not check the server's certificate.
        max_event: for a URL: bytes that one message of a stream may have ("64M" is the default).
        timeout: seconds a request may take without progress.
        roots: folders this server is told about.
        trust: believe what its tools say of themselves, so that a model may call those that only read without asking.
        sandbox: for a command: True starts it in a sandbox, in which it can write only in its roots and has no network;
            or `{"network": True, "write": […], "deny_read": […], "deny_write": […]}`. It is not started where there is
            no sandbox to be had (bubblewrap on Linux, seatbelt on macOS).

    Raises:
        UsageError: the name, target or an option makes no sense.
        ConnectionFailed: it could not be started or reached; what it wrote to stderr is in `.stderr`.
    """
    options = {
        "env": env,
        "inherit_env": inherit_env,
        "cwd": cwd,
        "headers": headers,
        "bearer": bearer,
        "oauth_client_id": oauth_client_id,
        "oauth_client_secret": oauth_client_secret,
        "oauth_private_key": None if oauth_private_key is None else str(oauth_private_key),
        "oauth_issuer": oauth_issuer,
        "oauth_scopes": oauth_scopes,
        "oauth_grant": oauth_grant,
        "era": era,
        "transport": transport,
        "socket": socket,
        "proxy": proxy,
        "ca": ca,
        "cert": cert,
        "insecure": insecure,
        "max_event": max_event,
        "timeout": timeout,
        "roots": roots,
        "trust": trust,
        "sandbox": sandbox,
    }
    return waiting(connecting(name, target, options))


def connecting(name: str, target: Sequence[Any], options: Mapping[str, Any]) -> Act[Server]:
    """The act of connecting."""
    from jupyter_mcp.host.specs import ServerSpec
    from jupyter_mcp.notebook.typed import looked_through

    given = {key: value for key, value in options.items() if value is not None}
    what: Any = None if not target else target[0] if len(target) == 1 else list(target)
    [spec] = looked_through([ServerSpec.parse(name, what, **given)])

    async def start() -> Server:
        entry = await get_host().connect(spec)
        await look_around([entry])
        return server_of(entry)

    return Act(f"connecting {name}", start, "it is not connected")


def connect_all(source: str | Path | Mapping[str, Any], *, only: Iterable[str] | None = None) -> Servers:
    """Connect the servers of a configuration, in parallel.

    Args:
        source: a file (`.mcp.json`, `.vscode/mcp.json`, a registry's `server.json` …), its text, or a mapping
            `{"mcpServers": {…}}`. A file that is not your own (see `discover`) asks before a server is started.
        only: names of the entries to connect; None is all but those that were switched off (`disable`).

    Returns:
        those that are connected; `.problems` of it holds what went wrong with the others.

    Raises:
        ConfigError: the configuration cannot be read.
        MCPError: nothing at all could be connected.
    """
    return waiting(connecting_all(source, only))


def connecting_all(source: str | Path | Mapping[str, Any], only: Iterable[str] | None) -> Act[Servers]:
    """The act of connecting all servers of a configuration."""
    return connecting_specs(*from_source(source, only), named=only is not None)


def connecting_specs(entries: Sequence[Any], origin: Origin = "person", *, named: bool = True) -> Act[Servers]:
    """The act of connecting some specs; an entry that could not be read is a problem of the result.

    Args:
        entries: the specs, or what is wrong with them.
        origin: who vouches for them.
        named: the person named each; otherwise those that were switched off are left out.
    """
    from jupyter_mcp.notebook.typed import looked_through

    names = [name_of(entry) for entry in entries]
    known = looked_through(entries)

    async def start() -> Servers:
        found: list[Any] = await get_host().connect_many(known, origin=origin, named=named)
        problems = [one for one in found if isinstance(one, MCPError)]
        if problems and len(problems) == len(found):
            if len(problems) == 1:
                raise problems[0]
            told = "; ".join(f"{name}: {problem}" for name, problem in zip(names, problems, strict=True))
            raise MCPError(f"None of the {len(problems)} servers could be connected: {told}")
        await look_around([one for one in found if not isinstance(one, MCPError)])
        return Servers(names, problems)

    return Act(f"connecting {', '.join(names)}", start, "%mcp servers shows which are connected")


def disconnect(name: str) -> None:
    """Close a server; its process ends. Raises `UsageError` when there is none of that name."""
    disconnecting(name).now()


def disconnecting(name: str) -> Act[None]:
    """The act of closing a server."""

    async def start() -> None:
        await get_host().disconnect(name)

    return Act(f"disconnecting {name}", start)


# --- this notebook as a server ---------------------------------------------------------------------------------------


def serve(
    *names: str,
    name: str | None = None,
    exclude: Sequence[str] = (),
    allow_code: bool = False,
    issuer: str | None = None,
    resource: str = "",
    users: Sequence[str] = (),
    scopes: Sequence[str] = (),
    port: int = 0,
) -> Endpoint:
    """Serve this notebook to MCP clients: its variables, plots and functions, also while a cell runs.

    It listens on 127.0.0.1 and wants a token. Called again it says anew what may be seen; clients stay connected.

    Args:
        names: only these variables; all public ones when there are none. Modules, `_names` and secrets never are.
        name: what the notebook is called in addresses, instead of its file's name. Said again without names it shows
            no more than before.
        exclude: not these variables.
        allow_code: clients may ask to run code and to set variables; the person is asked each time.
        issuer: an identity provider: whoever it has given an access token for `resource` may come too, if they are one
            of `users` ("*": anybody) and the token allows the `scopes`. For notebooks behind a proxy.
        resource: the notebook's URL as clients outside use it.
        users: subjects of tokens (`sub`), or verified mail addresses.
        scopes: what a token must allow.
        port: where to listen, so that the proxy knows.

    Raises:
        UsageError: there is no shell whose variables could be served, or no such variable, or it is a secret; or what
            is said of the provider cannot be.
        ConnectionFailed: it cannot listen.
        ConfigError: the file that others find it by cannot be written.
    """
    from jupyter_mcp.runtime import frontend

    shell = frontend.shell()
    if shell is None:
        raise UsageError("There is no notebook here to serve.", hint="A server of one's own: jupyter_mcp.server.Server")
    from jupyter_mcp.kernel import serving
    from jupyter_mcp.notebook.objects.endpoint import Endpoint

    provider = None
    if issuer is not None:
        from jupyter_mcp.kernel.provider import Provider

        provider = Provider(issuer, resource, tuple(users), tuple(scopes), port)
    elif resource or users or scopes or port:
        raise UsageError("resource, users, scopes and port are for a notebook with an issuer.")
    return Endpoint(serving.serve(shell, names, name, exclude, allow_code, provider))


def view(kind: type | str) -> Callable[[F], F]:
    """Say how objects of a class show themselves to clients: `@mcp.view(MyType)`.

    The function is called with the object and what is wanted (`rows`, `path`, `format` …), on a thread beside the main
    one. It returns a text, bytes, data for JSON, or another object to show instead; that is bounded and masked.

    Args:
        kind: the class, or its name "module.Class" when its library need not be loaded yet.
    """
    from jupyter_mcp.kernel import views

    def decorate(function: F) -> F:
        views.register(kind, function)
        return function

    return decorate


def endpoint() -> Endpoint | None:
    """What this notebook is served as right now, or None."""
    serving = sys.modules.get("jupyter_mcp.kernel.serving")
    found = None if serving is None else serving.current()
    if found is None:
        return None
    from jupyter_mcp.notebook.objects.endpoint import Endpoint

    return Endpoint(found)


# --- conversations ---------------------------------------------------------------------------------------------------


def ask(
    question: str,
    *,
    servers: Sequence[str] | None = None,
    tools: Sequence[str] | None = None,
    context: Any = None,
    auto_context: bool = False,
    new: bool = False,
    max_rounds: int | None = None,
    model: Any = None,
    system: str | None = None,
) -> Conversation:
    """Ask the configured model (see `mcp.model`), with what the servers offer as its tools.

    The next question goes on with the same conversation. Each call of the model is asked about unless a rule allows it.

    Args:
        question: the question. `@server:uri` in it attaches a resource; a line `/server.prompt key=value` puts a
            prompt's messages before it.
        servers: only tools of these servers, from now on; by default of all. An empty list is no tools.
        tools: only these tools, from now on: `server.tool` or `tool`, with * and ?.
        context: what goes along: objects of the notebook in a list, or a mapping of names and objects.
        auto_context: propose resources that fit the question; the person chooses.
        new: begin a new conversation.
        max_rounds: how often the model may be asked for this question (12); in the last round it can call no tool.
        model: a configured model's name, or a `Model`, instead of the default one.
        system: instructions of your own for this conversation.

    Raises:
        NoModel: no model is configured.
        UsageError: nothing is asked, or a server, prompt or variable that is named is not there.
        UnsupportedContent: the model cannot take what goes along.
        ProviderError: the model's provider failed; the conversation can go on.
    """
    from jupyter_mcp.notebook.cards import live_answer
    from jupyter_mcp.notebook.objects.conversation import asking

    def make(on_event: Any) -> Act[Conversation]:
        return asking(
            question,
            servers=servers,
            tools=tools,
            context=context,
            auto_context=auto_context,
            new=new,
            max_rounds=max_rounds,
            model=model,
            system=system,
            on_event=on_event,
        )

    return watched("the answer", make, live_answer)


# --- programs --------------------------------------------------------------------------------------------------------


def run(awaitable: Awaitable[T]) -> T:
    """Wait for a coroutine in ordinary code, also inside a running loop (it runs on this package's own loop)."""

    async def start() -> T:
        return await awaitable

    return Act(getattr(awaitable, "__qualname__", "the awaitable"), start).now()


# --- for the magics --------------------------------------------------------------------------------------------------


def server(name: str) -> Server:
    """The connected server of that name. Raises `UsageError` with the nearest name."""
    return servers[name]


def log_of(name: str) -> Any:
    """The log of a server, also of one that was disconnected."""
    return server_of(get_host().find(name)).log


def all_logs(level: str | None) -> Listing:
    """What all servers said, in the order of time."""
    said = [(line, entry.name) for entry in get_host().servers.values() for line in entry.lines(level)]
    said.sort(key=lambda one: one[0].time)
    rows = [(name, line.source, line.level, line.text) for line, name in said]
    return Listing("log", "Log of all servers", ("server", "source", "level", "text"), rows, empty="nothing said yet")


def only_server() -> Server:
    """The server when there is just one. Raises `UsageError`."""
    names = list(servers)
    if len(names) == 1:
        return servers[names[0]]
    if not names:
        no_servers()
    raise UsageError(f"Which server? There are {', '.join(names)}.")


def no_servers() -> NoReturn:
    raise UsageError("No server is connected.", hint="Connect one first: %mcp connect demo")


def find(kind: OfferKind, text: str, server: str | None = None) -> Item:
    """The tool, prompt, resource or template a person means. Raises `UsageError` with the nearest names."""

    async def start() -> Item:
        entry, item = await get_host().resolve(kind, text, server)
        make: Any = KINDS[f"{kind}s"]._make  # pyright: ignore[reportPrivateUsage]
        return make(server_of(entry), item)

    return Act(f"looking up {text}", start).now()


def knows(kind: OfferKind, name: str) -> bool:
    """Whether a cached list has such an item."""
    return any(offer.name == name for offer in get_host().catalogue.offers(kind))


def fitting_servers(uri: str) -> list[str]:
    """Servers with a template that fits the URI, by the cached lists."""
    from jupyter_mcp.protocol import uritemplate

    offers = get_host().catalogue.templates()
    fitting = [o.server for o in offers if o.name == uri or uritemplate.match(o.name, uri) is not None]
    return list(dict.fromkeys(fitting))


def answers_table() -> Listing:
    """The scripted answers, without their values."""
    rows = [(line,) for line in host.answers.describe()]
    return Listing("answers", "Scripted answers", ("answer",), rows, empty="none: questions are put to the person")
