"""The quickstart as a person runs it: top to bottom, filling the form of its booking cell by hand."""

from __future__ import annotations

import pytest

from tests.e2e.lab import CURRENT, ROOT, Browser, LabServer
from tests.e2e.test_forms import fill, submit

QUICKSTART = ROOT / "notebooks" / "quickstart.ipynb"


@pytest.mark.parametrize("kernel", ["6.31.0", pytest.param(CURRENT, marks=pytest.mark.slow)])
def test_every_cell_runs_and_the_booking_is_filled_by_hand(browser: Browser, lab: LabServer, kernel: str) -> None:
    if not lab.has_kernel(kernel):
        pytest.skip(f"ipykernel {kernel} is not in build/kernels (python scripts/kernels.py)")
    name = lab.copy(QUICKSTART, kernel)
    notebook = browser.open(name)
    sources = [cell.source for cell in lab.read(name).cells]
    kinds = [cell.cell_type for cell in lab.read(name).cells]
    booked = False
    for index, source in enumerate(sources):
        if kinds[index] != "code":
            continue
        notebook.run(index)
        if "demo.book" in source and not booked:
            notebook.button("Submit", index).wait_for()
            fill(notebook, index)
            submit(notebook, index)
            booked = True
        notebook.wait_done(index)
    assert booked
    text = "\n".join(notebook.text(index) for index in range(len(sources)))
    assert "Ada Lovelace" in text
    notebook.save()
    assert (lab.notebooks / name).stat().st_size < 300_000, "what is saved stays small"
    for index in range(0, len(sources), 8):
        notebook.screenshots(f"quickstart-{kernel}-{index:02}", index)
