"""`python -m jupyter_mcp.cli`."""

import sys

from jupyter_mcp.cli import main

if __name__ == "__main__":
    sys.exit(main())
