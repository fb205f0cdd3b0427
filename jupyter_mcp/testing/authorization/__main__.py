"""An authorization server and a protected server in a process of their own, until stdin is closed.

    python -m jupyter_mcp.testing.authorization

The first line on stdout is JSON: `{"url": …, "issuer": …}`. For tests that drive a real browser or another program.
"""

from __future__ import annotations

import json
import sys

from jupyter_mcp.testing.authorization.protected import InThread


def main() -> None:
    """Serve until nobody holds the other end of stdin."""
    with InThread() as there:
        sys.stdout.write(json.dumps({"url": there.url, "issuer": there.issuer.issuer}) + "\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    main()
