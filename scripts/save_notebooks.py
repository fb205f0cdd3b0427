"""Run the notebooks and save what they show (make save-notebooks), after a change that is meant to change it.

They run headless, as `make notebooks` and any reader's CI do. What would differ from run to run (execution times, the
interpreter's version) is left out; read the difference before committing it.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

notebooks: Any = nbformat  # has no types
FOLDER = Path(__file__).resolve().parents[1] / "notebooks"
METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
CELL_LIMIT = 120  # seconds


def run(path: Path) -> None:
    """Run one notebook in its folder and write it back. Raises nbclient's `CellExecutionError` when a cell fails."""
    notebook = notebooks.read(path, as_version=4)
    NotebookClient(
        notebook,
        timeout=CELL_LIMIT,
        kernel_name="python3",
        record_timing=False,
        resources={"metadata": {"path": str(FOLDER)}},
        extra_arguments=["--IPKernelApp.log_level=ERROR"],
    ).execute()
    notebook.metadata = METADATA
    notebooks.write(notebook, path)
    print(f"{path.name}: {sum(cell.cell_type == 'code' for cell in notebook.cells)} cells")


def main() -> None:
    named = [Path(name) for name in sys.argv[1:]]
    for path in named or sorted(FOLDER.glob("*.ipynb")):
        run(path)


if __name__ == "__main__":
    main()
