"""One connection to one server, over both eras (layer 2)."""
