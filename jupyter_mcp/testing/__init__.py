"""Helpers for people who test servers and notebooks."""
