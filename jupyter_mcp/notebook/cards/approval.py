"""May this be done? Server, tool, its own words about itself, why it asks, what is sent, and how long a yes holds.

The arguments can be changed before anything runs, in the tool's own form or as JSON; what stands under "You will send"
is what is sent, to the last character. What a client of ours wants is shown the same way and cannot be changed. A
server that a project names is asked about in the same frame: its command to the letter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.host import approvals, visible
from jupyter_mcp.notebook.cards import kit, queue
from jupyter_mcp.notebook.cards.argumentform import ArgumentForm
from jupyter_mcp.notebook.cards.question import QuestionCard
from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.approvals import about_piece
from jupyter_mcp.notebook.render.text import count

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["ApprovalCard"]

FOLD_CHARACTERS = 3_000
"""Arguments longer than this are folded; all of them are in the fold."""

_UNTIL = {
    "session": "until this kernel ends",
    "notebook": "in this notebook, also tomorrow",
    "project": "for everybody who works in this project: it is written to its policy file",
}


class ApprovalCard(QuestionCard):
    """Allow once or for longer, deny with a reason, or close it without a choice."""

    folds = True

    def _body(self) -> list[Any]:
        self._editor: ArgumentForm | None = None
        self._allowing: list[Any] = []
        self._sends = kit.markup("")
        self._editor_place = kit.column([])
        about = about_piece(self.question, live=True)
        parts = [kit.markup(about.html, exact=True)] if about is not None else []
        if self.question.kind != "server":
            parts += [self._sends, self._editor_place]
        self._change = kit.widgets.ToggleButton(
            False, description="Change", tooltip="Change the arguments before anything runs", layout={"width": "auto"}
        )
        kit.watch(self._change, self._open_editor)
        return parts

    def _foot(self) -> list[Any]:
        longer = self._for_client() if approvals.client(self.question) else self._for_longer()
        once = self._allow("Start once" if self._starts else "Allow once", "once", "Do it this one time", "primary")
        deny = self.action("Deny", lambda: self._deny(), "danger", "Do not do it; your reason goes along")
        cancel = self.action("Cancel", lambda: self.answer("cancel"), "", "Close the question without a choice (Esc)")
        self._reason = kit.widgets.Text(
            description="Reason",
            placeholder="reason for a no (optional)",
            tooltip=self._reads_reason(),
            layout={"width": "290px"},
        )
        self._deny_all = self.action("Deny all", self._deny_every, "danger", "Deny everything that waits here")
        kit.hide(self._deny_all, True)
        change = [self._change] if self._changeable else []
        if self.question.draft is not None and self._changeable:
            self._change.value = True
        self._refresh()
        return [once, *longer, *change, deny, cancel, kit.row([self._reason], "jmcp-control"), self._deny_all]

    # --- what is asked -----------------------------------------------------------------------------------------------

    @property
    def leave_for(self) -> str:
        return self.question.server

    @property
    def _changeable(self) -> bool:
        return self.question.kind == "approval" and approvals.schema(self.question) is not None

    @property
    def _starts(self) -> bool:
        return self.question.kind == "server" and not approvals.is_network(self.question)

    def _warnings(self) -> Sequence[str]:
        hidden = visible.unseen([approvals.arguments(self.question), self.question.params.get("words")])
        said = list(super()._warnings())
        if hidden:
            more = f" and {len(hidden) - 4} more" if len(hidden) > 4 else ""
            said.append(f"it holds characters that cannot be seen: {', '.join(hidden[:4])}{more}.")
        return [*said, *self.question.problems.values()]

    def _reads_reason(self) -> str:
        begun = {"model": "The model", "server": "The server", "app": "The app"}
        reader = approvals.client(self.question) or begun.get(str(self.question.params.get("origin")), "")
        return f"{reader} gets to read it" if reader and self.question.kind != "server" else "Kept in the journal"

    # --- how long ----------------------------------------------------------------------------------------------------

    def _allow(self, label: str, scope: str, tip: str, look: str = "") -> Any:
        made = self.action(label, lambda: self._accept(scope), look, tip)
        self._allowing.append(made)
        return made

    def _for_longer(self) -> list[Any]:
        what = approvals.opening(self.question)[1]
        verb = "Start" if self._starts else "Allow"
        return [
            self._allow(f"{verb} {approvals.FOR[scope]}", scope, f"Do not ask again for {what} {_UNTIL[scope]}")
            for scope in approvals.scopes(self.question)
            if scope != "once"
        ]

    def _for_client(self) -> list[Any]:
        """A client's name is its own word, so a yes to it ends with this kernel."""
        full = approvals.opening(self.question)[1]
        never = self.action(
            "Never", lambda: self._deny("never"), "danger", f"Deny, and deny {full} from now on: a rule"
        )
        if "session" not in approvals.scopes(self.question):
            return [never]
        who = approvals.client(self.question)
        again = f"Do not ask again for {full} until this kernel ends"
        client = f"Do not ask again while the client calls itself {who!r}, until this kernel ends"
        return [
            self._allow("Allow this client", "client", client),
            self._allow("Allow in this notebook", "session", again),
            never,
        ]

    # --- the arguments -----------------------------------------------------------------------------------------------

    def _open_editor(self) -> None:
        """The tool's form, made when somebody wants it; closed again, what was asked about is what is sent."""
        if self._change.value:
            given = (self.question.draft or {}).get("arguments", approvals.arguments(self.question))
            self._editor = ArgumentForm(approvals.schema(self.question), self._refresh, given)
            parts = [self._editor.root, kit.row([self._editor.switch])]
            self._editor_place.children = tuple(parts)
            if self._made:
                self.card.wire(self._editor_place)
        else:
            self._editor = None
            self._editor_place.children = ()
        self._refresh()

    def _sent(self) -> tuple[Mapping[str, Any] | None, str]:
        """What a yes would send, or why it cannot be sent."""
        return self._editor.read() if self._editor is not None else (approvals.arguments(self.question), "")

    def _refresh(self) -> None:
        values, problem = self._sent()
        if self._editor is not None:
            problem = self._editor.problem or problem
        for made in self._allowing:
            made.disabled = values is None or self._answered is not None
        if self.question.kind == "server":
            return
        self.say(problem, "error" if problem and self._editor is not None and self._editor.as_json else "plain")
        if values is not None:
            kit.paint(self._sends, self._picture(values), exact=True)

    def _picture(self, values: Mapping[str, Any]) -> str:
        if approvals.client(self.question):
            return "".join(_titled(visible.marked(name), _whole(values[name])) for name in values)
        same = visible.same(values, approvals.arguments(self.question))
        title = f"You will send to {self.question.server}" + ("" if same else ", changed by you")
        return _titled(title, visible.exact(values)) if values else html.note(html.muted(f"{title}: no arguments"))

    # --- answers -----------------------------------------------------------------------------------------------------

    def _accept(self, scope: Any) -> None:
        values, _ = self._sent()
        if values is None:
            self._refresh()
            return
        if self._editor is not None:
            self._editor.lock(True)
        changed = not visible.same(values, approvals.arguments(self.question))
        self.answer("accept", content={"arguments": dict(values)} if changed else None, scope=_said(scope))

    def _deny(self, scope: Any = "") -> None:
        self.answer("decline", remark=self._reason.value.strip() or None, scope=scope)

    def _deny_every(self) -> None:
        remark = self._reason.value.strip() or None
        for card in queue.of_server(self.question.server):
            if isinstance(card, ApprovalCard):
                card.answer("decline", remark=remark)

    def _brief(self) -> str:
        given = approvals.arguments(self.question)
        return visible.exact(given) if given else visible.marked(self.question.params.get("command") or "")

    def stand(self, standing: queue.Standing) -> None:
        super().stand(standing)
        self._deny_all.description = f"Deny all {standing.alike} from {visible.marked(self.question.server)}"
        kit.hide(self._deny_all, standing.alike < 2)


def _said(scope: str) -> str:
    return "" if scope == "once" else scope


def _titled(title: str, text: str) -> str:
    """A text with a heading; a long one is a fold that holds all of it."""
    head = html.muted(html.escape(title))
    if len(text) <= FOLD_CHARACTERS:
        return html.note(head) + html.pre(text)
    size = html.muted(html.escape(f"{count(len(text), 'character')} in {count(text.count(chr(10)) + 1, 'line')}"))
    return html.details(f"{head} — {size}", html.pre(text))


def _whole(value: Any) -> str:
    return visible.marked(value, lines=True) if isinstance(value, str) else visible.exact(value)
