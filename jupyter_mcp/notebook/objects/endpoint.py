"""`Endpoint`: this notebook as a server, as a person holds it. Thin over `kernel.serving`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import ConnectionFailed, UsageError
from jupyter_mcp.notebook.objects import setups
from jupyter_mcp.notebook.objects.act import get_host

if TYPE_CHECKING:
    from collections.abc import Callable

    from jupyter_mcp.kernel.provider import Provider
    from jupyter_mcp.kernel.serving import Serving
    from jupyter_mcp.kernel.visitors import Act, Visitor

__all__ = ["Endpoint"]


class Endpoint:
    """This notebook, served. Made by `mcp.serve`; its repr and its picture hold neither port nor token.

    `mcp.connect("me", endpoint)` makes the notebook a client of itself (`%mcp connect me --self`).
    """

    def __init__(self, serving: Serving) -> None:
        self.serving = serving

    @property
    def name(self) -> str:
        """The notebook's name in addresses: `notebook://<name>/variables`."""
        return self.serving.slug

    @property
    def url(self) -> str:
        """Where it listens, on this machine only; "" when it was stopped."""
        return self.serving.url

    @property
    def token(self) -> str:
        """What clients must bring, as `Authorization: Bearer …`; "" when it was stopped."""
        return self.serving.token

    @property
    def alive(self) -> bool:
        """Whether it is served."""
        return self.serving.alive

    @property
    def clients(self) -> list[Visitor]:
        """Who came, the last one first: `.name`, `.version`, `.first`, `.last`, `.requests`."""
        return self.serving.clients

    def config(self, client: str = "claude-code", *, http: bool = False) -> str:
        """What to tell a client so that it reaches this notebook.

        Args:
            client: "claude-code" (a line for a terminal), "mcp.json", "cursor", "vscode" or "codex" (their files).
            http: the URL and the token instead of the bridge's command. Printed, it shows the token; its repr masks it.

        Raises:
            UsageError: no such client is known, or the notebook is no longer served.
        """
        recipe = setups.find(client)
        if not self.alive:
            raise UsageError("This notebook is no longer served.", hint="Serve it again: %mcp serve")
        if http:
            return recipe.text_with_token(self.name, self.url, self.token)
        return recipe.text(self.name, setups.agent_command(self.name))

    def stop(self) -> None:
        """Serve no longer; those who listen are told. Port and token are given up. Nothing happens the second time."""
        self.serving.stop()
        self._tell()

    # --- being this notebook's own server: what `connect` does with an object

    @property
    def described(self) -> str:
        """What it is to a person."""
        return f"this notebook, served as {self._now().slug}"

    def check(self) -> None:
        """Raises ConnectionFailed when the notebook is not served any more."""
        if not self._now().alive:
            raise ConnectionFailed("This notebook is no longer served.", hint="Serve it again: %mcp serve")

    async def serve(self, transport: Any) -> None:
        """Serve one connection within this process, until the notebook is no longer served."""
        await self._now().serve_here(transport)

    def _now(self) -> Serving:
        """The notebook as it is served now: after a stop it may be served anew, also under another name."""
        from jupyter_mcp.kernel import serving

        return serving.current() or self.serving

    def on_change(self, listener: Callable[[], object]) -> Callable[[], object]:
        """For cards: call `listener()` when somebody came, something was read, or it was stopped, on any thread.

        What it returns ends that.
        """
        listeners = self.serving.book.visitors.on_event
        listeners.append(listener)

        def end() -> None:
            if listener in listeners:
                listeners.remove(listener)

        return end

    def _tell(self) -> None:
        for listener in list(self.serving.book.visitors.on_event):
            listener()

    def __mcp_view__(self) -> Any:
        from jupyter_mcp.kernel import functions
        from jupyter_mcp.notebook.render.views import EndpointView

        book = self.serving.book
        seen = book.exposed()
        return EndpointView(
            name=self.name,
            notebook=book.identity.notebook,
            active=self.alive,
            command=setups.shell_line(setups.bridge_command(self.name)),
            names=seen.names,
            hidden=seen.hidden,
            chosen=bool(book.choice.names),
            functions=[entry.name for entry in functions.book().tools()],
            allow_code=book.choice.allow_code,
            code=_code(self.name) if book.choice.allow_code else "",
            outside=_outside(self.serving.provider),
            clients=[(one.name, one.version) for one in reversed(self.clients)],
            acts=[(act.client, act.kind, act.what, _outcome(act)) for act in book.reads()],
        )

    def __repr__(self) -> str:
        if not self.alive:
            return f"<Endpoint {self.name} (stopped)>"
        return f"<Endpoint {self.name}: {len(self.clients)} clients; .config(…) says how to connect>"


_CHANGING = {"execute_code": "running code", "set_variable": "setting variables"}


def _code(slug: str) -> str:
    """What becomes of clients' code as things are: by what was approved, and by rules."""
    said = {tool: _decided(slug, tool) for tool in _CHANGING}
    if len(set(said.values())) == 1:
        return next(iter(said.values()))
    return "; ".join(f"{_CHANGING[tool]}: {what}" for tool, what in said.items())


def _decided(slug: str, tool: str) -> str:
    from jupyter_mcp.host.policy import Deed

    policy = get_host().policy

    def verdict(client: str = "") -> str:
        return str(policy.decide(Deed(slug, "tools/call", tool, {}, "server", client=client)).verdict)

    general = verdict()
    if general == "deny":
        return "never: a rule of yours denies it (%mcp policy)"
    if general == "go":
        return "without asking you, as you allowed (%mcp policy)"
    named = [one.client for one in policy.approvals if (one.server, one.name) == (slug, tool) and one.client]
    free = [client for client in dict.fromkeys(named) if verdict(client) == "go"]
    asked = f"each time you are asked first, but not by {', '.join(free)}" if free else "each time you are asked first"
    if any(rule.effect != "ask" and rule.where and rule.is_about(slug, tool) for rule in policy.rules):
        return f"{asked}, and not where a rule of yours decides (%mcp policy)"
    return asked


def _outside(provider: Provider | None) -> str:
    """Who may come from elsewhere."""
    if provider is None:
        return ""
    from jupyter_mcp.kernel.provider import EVERYBODY

    who = "whoever" if EVERYBODY in provider.users else f"{', '.join(provider.users)}, when they"
    verb = "has" if EVERYBODY in provider.users else "have"
    return f"{who} {verb} an access token of {provider.issuer} for {provider.resource}"


def _outcome(act: Act) -> str:
    return act.outcome if act.outcome or act.ok or act.kind == "refused" else "failed"
