"""The command line, `jupyter-mcp-host`."""
