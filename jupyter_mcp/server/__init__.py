"""A server of one's own (layer 2)."""
