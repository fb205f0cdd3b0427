"""The background thread, the waiting cell and the pump (layer 3)."""
