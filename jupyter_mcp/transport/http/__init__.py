"""MCP over HTTP, the client's side: Streamable HTTP of both eras.

`transport` speaks it, `streams` reads its event streams, `wire` moves the bytes and is the one place that knows the
HTTP library, `options` is what a person may set, `ways` the proxy and the certificates that follow from it. Importing
this package imports no HTTP library; opening a transport does.
"""

from jupyter_mcp.transport.http.options import HttpOptions
from jupyter_mcp.transport.http.transport import HttpTransport

__all__ = ["HttpOptions", "HttpTransport"]
