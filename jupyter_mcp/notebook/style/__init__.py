"""The look of cards: one sheet from the files of this folder, in the order of `PARTS`.

`tokens.css` names what everything else, components too, takes its colours and measures from; those come from the page's
own variables (`--jp-*`), so cards follow its theme, and from fallbacks where a page has none. No file loads anything.
Who puts the sheet on the page: `cards.kit.root`.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import resources

__all__ = ["PARTS", "sheet"]

PARTS = ("tokens", "cards", "controls", "forms", "access")


@cache
def sheet() -> str:
    """All of it as CSS, without comments and the blanks that only a reader needs."""
    text = "".join(resources.files(__name__).joinpath(f"{part}.css").read_text("utf-8") for part in PARTS)
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    return re.sub(r"\s*\n\s*", "\n", text).strip()
