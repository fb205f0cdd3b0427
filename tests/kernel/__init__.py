"""Tests of the kernel room."""
