"""`python -m jupyter_mcp.demo`."""

from jupyter_mcp.demo.server import server

if __name__ == "__main__":
    server.run_stdio()
