"""A real kernel that is served, and a client of it over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.kernel.caller import Caller

if TYPE_CHECKING:
    from tests.runtime.kernels import LiveKernel

SERVE = """
from jupyter_mcp.kernel import serving
S = serving.serve(get_ipython())
print(S.url, S.token, S.slug)
"""


class Served:
    """A kernel that is served, and a client of it."""

    def __init__(self, kernel: LiveKernel) -> None:
        self.kernel = kernel
        self.callers: list[Caller] = []
        self.again()

    def client(self, token: str = "", **options: Any) -> Caller:
        """Another client, closed at the end."""
        self.callers.append(Caller(self.url, token or self.token, **options))
        return self.callers[-1]

    def close(self) -> None:
        for caller in self.callers:
            caller.close()

    def again(self) -> None:
        """Serve (once more)."""
        self.url, self.token, self.slug = self.kernel.run(SERVE).text.split()
        self.caller = self.client()

    def uri(self, rest: str) -> str:
        return f"notebook://{self.slug}/{rest}"

    def text(self, rest: str) -> str:
        return self.caller.read(self.uri(rest))["text"]

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return self.caller.call(tool, notebook=self.slug, **arguments)
