"""The demo server a newcomer learns from: `python -m jupyter_mcp.demo` serves it on stdin and stdout.

`server.py` is meant to be read from top to bottom: one small example of everything a server can offer. `data.py` holds
what it talks about, `chart.py` draws its picture. All results are the same every time: no clock, no randomness.

Only `jupyter_mcp.server` is used, as any author would.
"""
