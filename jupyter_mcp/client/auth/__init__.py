"""Logging in to MCP servers over HTTP: OAuth 2.1 as the specification has it, at every revision.

    OAuth(url, settings=…, visit=…, store=…, name=…)      what `HttpOptions.authorization` takes

Flows are generators without network, clock or browser (`flow` is the whole, `discovery`, `registration`, `authorize`,
`tokens`, `stepup` its parts, `clientcredentials`, `enterprise`, `workload` other grants, `dpop` bound tokens); `driver`
does what they ask for. What a server sends is untrusted: `addresses` says where a login may go.

Importing this package loads no HTTP library and no library for signing; a first login does.
Source: spec 2025-03-26 to 2026-07-28 "Authorization", and the extensions named in each module.
"""

from __future__ import annotations
