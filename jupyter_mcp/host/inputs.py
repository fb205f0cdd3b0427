"""The values of `${input:id}`: asked for when a server is connected, kept in this process's memory and nowhere else.

One form asks for all that a server needs; what another server of the same file was given is not asked for again. What
is secret in them is masked wherever it would be shown from then on. They are forgotten when the last server that needs
them is disconnected, or was given them in vain, so that a mistyped one can be corrected.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import ConfigError
from jupyter_mcp.host.questions import Question
from jupyter_mcp.host.specs.inputs import form_of, needed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from jupyter_mcp.host.questioner import Questioner
    from jupyter_mcp.host.redaction import Redactor
    from jupyter_mcp.host.specs import ServerSpec

__all__ = ["InputBook"]


class InputBook:
    """The values that were given, for the servers of one host."""

    def __init__(self, questioner: Questioner, redactor: Redactor) -> None:
        self._questioner = questioner
        self._redactor = redactor
        self._values: dict[tuple[str, str], str] = {}
        self._lock = asyncio.Lock()

    def of(self, spec: ServerSpec) -> dict[str, str]:
        """The values that a spec can be filled with. Never keep or show the result."""
        place = spec.source or ""
        return {name: self._values[place, name] for name in spec.inputs if (place, name) in self._values}

    async def obtain(self, spec: ServerSpec) -> None:
        """Ask for what a spec needs and nobody gave yet; servers that need the same at once ask once.

        Raises:
            ConfigError: the person gave none, or nobody could be asked.
            UsageError: a scripted answer does not fit.
        """
        if not spec.inputs:
            return
        async with self._lock:
            known = self.of(spec)
            missing = [spec.inputs[name] for name in needed(spec) if name in spec.inputs and name not in known]
            if not missing:
                return
            message = f"{spec.name} needs {'a value' if len(missing) == 1 else 'some values'} to be connected."
            params = {"message": message, "requestedSchema": form_of(missing), "source": spec.source or ""}
            question = Question(self._questioner.new_id(), "inputs", spec.name, message, params)
            answer = await self._questioner.inputs(question)
            if answer.action != "accept":
                names = ", ".join(one.title or one.id for one in missing)
                raise ConfigError(
                    f"{spec.name} is not connected: it needs {names}, and no value was given.",
                    file=spec.source,
                    server=spec.name,
                    hint=answer.note,
                )
            self._keep(spec, missing, answer.content or {})

    def forget(self, spec: ServerSpec, others: Iterable[ServerSpec]) -> None:
        """Forget what a server was given, but for what one of the others needs too."""
        place = spec.source or ""
        used = {name for other in others if (other.source or "") == place for name in needed(other)}
        for name in spec.inputs:
            if name not in used:
                self._values.pop((place, name), None)

    def _keep(self, spec: ServerSpec, asked: Iterable[Any], content: Mapping[str, Any]) -> None:
        for one in asked:
            value = content.get(one.id)
            text = "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
            self._values[spec.source or "", one.id] = text
            if one.secret:
                self._redactor.learn([text])
