"""Bounded views of objects, which run none of their code."""
