"""The protocol as values: no I/O, no clock, no randomness (layer 0). See docs/architecture.md."""
