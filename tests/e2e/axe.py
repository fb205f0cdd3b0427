"""axe-core in a page: what would keep somebody from using a card. It is taken from the labextension's npm packages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.lab import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Page

SOURCE = ROOT / "labextension" / "node_modules" / "axe-core" / "axe.min.js"
OURS = (
    *(".jmcp", ".jupyter-mcp", ".jmcp-expired"),
    *(".jmcp-panel", ".jmcp-prompt", ".jmcp-prompts", ".jmcp-status-item"),
)
RUN = """async ours => {
    const found = await window.axe.run({ include: ours }, { resultTypes: ['violations'] });
    return found.violations
        .filter(one => ['serious', 'critical'].includes(one.impact))
        .flatMap(one => one.nodes.map(node =>
            `${one.impact} ${one.id}: ${node.html.slice(0, 160)} | ${node.failureSummary.slice(0, 220)}`
        ));
}"""


def violations(page: Page) -> list[str]:
    """What axe calls serious or critical in our part of the page, a line for each element."""
    if not SOURCE.is_file():
        pytest.skip("axe-core is not installed (make labextension)")
    if not page.evaluate("() => !!window.axe"):
        page.evaluate(SOURCE.read_text(encoding="utf-8"))
    there: list[str] = [kind for kind in OURS if page.locator(kind).count()]
    assert there, "nothing of ours is on the page"
    found: list[Any] = page.evaluate(RUN, [[kind] for kind in there])
    return [str(one) for one in found]
