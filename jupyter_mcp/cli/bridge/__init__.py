"""The bridge: an MCP server on stdin and stdout that stands for a live notebook.

An agent starts it with its own configuration, which then needs no port and no token. To the agent it is a server of its
own, in both eras: it answers before there is a notebook, and outlives the notebook's kernel. To the notebook it is a
client of the modern era over HTTP. RULES

- `choosing` says which notebook is meant; it never takes one that is merely somewhere on this machine.
- `notebooks` finds it, holds the way to it, finds it again, and tells the agent when it is another one now.
- `relay` takes each request there and back; `shaping` writes what comes back as an older client can read it.
- `offline` answers while there is none.
"""
