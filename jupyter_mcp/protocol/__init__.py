"""The protocol as values: no I/O, no clock, no randomness, no environment (layer 0). See docs/architecture.md.

Three shapes, each testable without a loop or a socket: functions of values (jsonrpc, revisions, methods, capabilities,
inbound, salvage, schema, secrets, uritemplate, types), incremental parsers (framing: feed bytes, get items) and
generator flows (probe, modern.rounds: they yield what to send or ask and receive the reply).

Below stand the standard library and pydantic; jsonschema, referencing and uritemplate are imported at first use.
Every other room stands above.
"""
