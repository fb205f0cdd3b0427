"""`gateway/` and `local/` need pydantic-ai and a model: they run in an environment of their own (`make models`)."""

from __future__ import annotations

from importlib.util import find_spec

collect_ignore = [
    folder for folder, need in (("gateway", "pydantic_ai"), ("local", "xllamacpp")) if not find_spec(need)
]
