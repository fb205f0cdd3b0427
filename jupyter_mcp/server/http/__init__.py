"""A server over HTTP, on tornado: both eras at one URL, and the old HTTP+SSE transport when asked for.

`guard` decides who may speak at all, `guarded` is what every handler has of it, `handler` takes one request apart,
`streams` is the way back of one request, `sessions` is what the legacy era remembers, `endpoint` holds all of them
together and ends them, `running` listens. The rest of the server knows nothing of this room; tornado is imported at
first use.
"""
