"""The build hook: wheels and sdists carry the built labextension.

An editable install carries none: `make setup` links it (scripts/labextension.py), so that a change of it shows at the
next build, and a clone without Node can be worked on. An sdist has it built, so that nobody who installs needs Node.
"""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any, TypeAlias

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

BUILDER = "jupyter-builder>=1.2,<2"


Hook: TypeAlias = BuildHookInterface[Any]


class LabextensionHook(Hook):
    """Builds it when it is not, and puts it where Jupyter looks."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """What a build needs; nothing when it is built already."""
        return [BUILDER] if self._part().stale() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before it packs."""
        if version == "editable":
            return
        part = self._part()
        if part.stale():
            reason = part.no_node()
            if reason is not None:
                raise RuntimeError(
                    f"the labextension is not built yet, and {reason}: install Node {part.NODE} or newer"
                )
            part.build()
        if self.target_name == "wheel":
            share = f"share/jupyter/labextensions/{part.NAME}"
            build_data["shared_data"][str(part.BUILT)] = share
            build_data["shared_data"][str(self._install(part.NAME))] = f"{share}/install.json"

    def _part(self) -> Any:
        """scripts/labextension.py, which is no package."""
        path = Path(self.root) / "scripts" / "labextension.py"
        spec = importlib.util.spec_from_file_location("labextension", path)
        assert spec is not None and spec.loader is not None
        part = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(part)
        return part

    def _install(self, name: str) -> Path:
        """How Jupyter says it can be uninstalled."""
        path = Path(self.root) / "build" / "labextension-install.json"
        path.parent.mkdir(exist_ok=True)
        said = {
            "packageManager": "python",
            "packageName": name,
            "uninstallInstructions": f"pip uninstall {name}",
        }
        path.write_text(json.dumps(said, indent=2), encoding="utf-8")
        return path
