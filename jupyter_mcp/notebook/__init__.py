"""Magics, cards and the public Python API (layer 4)."""
