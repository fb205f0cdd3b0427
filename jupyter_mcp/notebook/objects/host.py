"""`mcp.host`: what the host of this kernel knows and decides, as an object of the notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.notebook.objects.act import get_host
from jupyter_mcp.notebook.objects.happened import Activity
from jupyter_mcp.notebook.objects.offered import Catalogue
from jupyter_mcp.notebook.objects.policy import PolicyRules
from jupyter_mcp.notebook.objects.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Iterable

    from jupyter_mcp.host.answers import AnswerBook
    from jupyter_mcp.models.base import Model
    from jupyter_mcp.notebook.objects.conversation import Conversation
    from jupyter_mcp.notebook.objects.journal import NotebookJournal
    from jupyter_mcp.notebook.objects.models import Models
    from jupyter_mcp.notebook.objects.roots import RootsTable


class NotebookHost:
    """The host of this kernel."""

    @property
    def catalogue(self) -> Catalogue:
        """Everything that is offered."""
        return Catalogue()

    @property
    def policy(self) -> PolicyRules:
        return PolicyRules()

    @property
    def activity(self) -> Activity:
        """What was done and asked."""
        return Activity.of(get_host().journal.acts())

    @property
    def trace(self) -> Trace:
        """The messages on the wire."""
        return Trace.of(get_host().journal.entries())

    @property
    def journal(self) -> NotebookJournal:
        """Where what happened is written besides, and what is never shown of it."""
        from jupyter_mcp.notebook.objects.journal import NotebookJournal

        return NotebookJournal()

    @property
    def model(self) -> Model | None:
        """The model that answers; None when there is none. `mcp.model` configures one."""
        return self.models.default

    @property
    def models(self) -> Models:
        """The models that are configured, and those that could be."""
        from jupyter_mcp.notebook.objects.models import Models

        return Models()

    @property
    def conversation(self) -> Conversation | None:
        """What became of the last question of `ask`, also of one that was interrupted; None when there is none yet."""
        from jupyter_mcp.notebook.objects.conversation import last

        return last()

    @property
    def answers(self) -> AnswerBook:
        """The scripted answers."""
        return get_host().answers

    @property
    def roots(self) -> RootsTable:
        """What servers are told about our folders; set it to folders or file:// URIs, or `.add` and `.remove` one."""
        from jupyter_mcp.notebook.objects.roots import RootsTable

        return RootsTable()

    @roots.setter
    def roots(self, folders: Iterable[Any]) -> None:
        self.roots.set(folders)

    def __repr__(self) -> str:
        names = ["catalogue", "policy", "activity", "trace", "journal", "roots", "models", "conversation", "answers"]
        return f"<host of this kernel: {', '.join(f'.{name}' for name in names)}>"
