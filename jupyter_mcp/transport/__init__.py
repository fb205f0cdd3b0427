"""What carries messages: stdio, memory (layer 1)."""
