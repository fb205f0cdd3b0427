"""Whether a server is told that we answer requests for sampling, and with tools; and that we show its pages.

Told is what somebody could do: a model that is configured, a person who can be asked, a script; a front end that draws
widgets. A person, a script or a front end that was there once counts as there, so that a question answered by a last
script does not change what was agreed. It is looked at whenever a connection is made or used, so it loads no model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from jupyter_mcp.host.policy import Deed

if TYPE_CHECKING:
    from collections.abc import Callable

    from jupyter_mcp.host.answers import AnswerBook
    from jupyter_mcp.host.policy import Policy
    from jupyter_mcp.host.questions import QuestionUI
    from jupyter_mcp.models.book import ModelBook

__all__ = ["Abilities", "Advertised"]

_METHOD = "sampling/createMessage"


@dataclass(frozen=True, slots=True)
class Abilities:
    """
    Attributes:
        sampling: requests are answered.
        tools: also those that bring tools for the model.
        apps: pages of tools are shown.
    """

    sampling: bool = False
    tools: bool = False
    apps: bool = False


class Advertised:
    """What each server is told.

    Args:
        models: those that are configured, or None where no book was needed yet.
        ui: who asks the person, or None.
    """

    def __init__(
        self,
        policy: Policy,
        answers: AnswerBook,
        models: Callable[[], ModelBook | None],
        ui: Callable[[], QuestionUI | None],
    ) -> None:
        self._policy = policy
        self._answers = answers
        self._models = models
        self._ui = ui
        self._person = False
        self._pages = False
        self._scripted: set[str] = set()

    def of(self, server: str) -> Abilities:
        """What this server is told now."""
        if self._policy.decide(Deed(server, _METHOD, _METHOD, {}, "server")).verdict == "deny":
            return Abilities(apps=self._shown())
        book = self._models()
        models = [model for model in book.configured.values() if model.name != "human"] if book is not None else []
        sampling = bool(models) or self._anybody() or self._script(server)
        return Abilities(sampling, sampling and any("tools" in model.supports for model in models), self._shown())

    def _anybody(self) -> bool:
        if not self._person and (ui := self._ui()) is not None:
            reachable = getattr(ui, "reachable", None)
            self._person = reachable is None or bool(reachable())
        return self._person

    def _shown(self) -> bool:
        if not self._pages and (ui := self._ui()) is not None:
            shows = getattr(ui, "shows_apps", None)
            self._pages = shows is not None and bool(shows())
        return self._pages

    def _script(self, server: str) -> bool:
        if server not in self._scripted and self._answers.may_answer("sampling", server):
            self._scripted.add(server)
        return server in self._scripted
