"""The demo server a newcomer learns from."""
