"""The same server on the official SDK 2.x, over HTTP; run in the SDK's own environment. It prints its URL."""

from __future__ import annotations

import logging
import socket

import uvicorn
from sdk_server import server

if __name__ == "__main__":
    logging.disable(logging.INFO)
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(1024)
    port = listener.getsockname()[1]
    print(f"http://127.0.0.1:{port}/mcp", flush=True)
    config = uvicorn.Config(server.streamable_http_app(), host="127.0.0.1", port=port, log_level="error")
    uvicorn.Server(config).run(sockets=[listener])
