"""A form that a server asks for: validated as one types, reviewed before it is sent, three answers kept apart."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from jupyter_mcp.host import forms
from jupyter_mcp.host.validation import as_form
from jupyter_mcp.notebook.cards import kit
from jupyter_mcp.notebook.cards.form import Form, missing_text
from jupyter_mcp.notebook.cards.question import QuestionCard
from jupyter_mcp.notebook.render import html

__all__ = ["ElicitationCard", "InputsCard"]

_HIDDEN = "••••••"


class ElicitationCard(QuestionCard):
    """The form, exactly what will be sent, and Submit / Decline / Cancel.

    A question without fields is a confirmation. The remark beside Decline stays in this kernel's journal.
    """

    def _body(self) -> list[Any]:
        whole = _told_apart(forms.model(as_form(self.question.params.get("requestedSchema"))))
        fields = whole.parts
        known = {field.name for field in fields}
        self._form = Form(whole, self._refresh, self.question.problems)
        if self.question.draft:  # what was right need not be written again
            self._form.load(forms.draft(whole, self.question.draft))
        self._review = kit.markup("")
        self._submit = self.action("Submit" if fields else "Confirm", self._send, "primary", "Send these values")
        unknown = [text for name, text in self.question.problems.items() if name not in known]
        if unknown:
            self.say(" ".join(unknown), "error")
        self._refresh()
        return [self._form.root, self._review]

    def _foot(self) -> list[Any]:
        self._remark = kit.widgets.Text(
            description="Remark",
            placeholder="remark with a decline (optional, not sent)",
            layout={"width": "290px"},
        )
        decline = self.action("Decline", self._decline, "danger", "Say no; the server is told so")
        cancel = self.action("Cancel", lambda: self.answer("cancel"), "", "Close the question without a choice")
        self._remark_row = kit.row([self._remark], "jmcp-control")
        return [self._submit, decline, cancel, self._remark_row]

    def _refresh(self) -> None:
        form = self._form
        missing = missing_text(form)
        self._submit.disabled = bool(missing) or self._answered is not None
        if not form.fields:
            return
        self.say(missing)
        hidden = {field.name for field in form.fields if field.secret}
        values = {name: _HIDDEN if name in hidden else value for name, value in form.values.items()}
        shown = json.dumps(values, ensure_ascii=False, indent=2) if values else "{}"
        title = f"You will send to {html.escape(self.question.server)}" + (" (not complete yet)" if missing else "")
        kit.paint(self._review, html.note(html.muted(title)) + html.pre(shown))

    def _send(self) -> None:
        if not self._form.complete:
            self._refresh()
            return
        self._form.lock(True)
        self.answer("accept", content=dict(self._form.values))

    def _decline(self) -> None:
        self.answer("decline", remark=self._remark.value.strip() or None)


class InputsCard(ElicitationCard):
    """The values that a server's configuration asks for, to connect it. What is typed is shown nowhere again."""

    def _foot(self) -> list[Any]:
        cancel = self.action("Cancel", lambda: self.answer("cancel"), "", "Do not connect this server")
        return [self._submit, cancel]

    def _refresh(self) -> None:
        missing = missing_text(self._form)
        self._submit.disabled = bool(missing) or self._answered is not None
        self.say(missing)


def _told_apart(whole: forms.Node) -> forms.Node:
    """Two fields with one title get their names added, so that "Still needed" tells them apart; no field is added."""
    named = zip(whole.parts, forms.labels(whole.parts), strict=True)
    parts = tuple(field if field.label == label else replace(field, title=label) for field, label in named)
    return replace(whole, inside=forms.Inside(parts=lambda: parts), open=False)
