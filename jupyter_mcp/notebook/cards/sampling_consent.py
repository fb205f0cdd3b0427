"""May a model be asked this? Everything that it would be sent, who it is and why, and what may be changed.

What stands under "The model will be sent" is what it is sent: masked as long as that is switched on, with the person's
changes. The person may write the answer instead. Nothing is asked of any model before the button is pressed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.host.sampling import request
from jupyter_mcp.notebook.cards import kit
from jupyter_mcp.notebook.cards.question import QuestionCard
from jupyter_mcp.notebook.cards.sampling_edit import RequestEditor, area
from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.sampling import parameters_html, request_html
from jupyter_mcp.notebook.render.text import count, flat

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jupyter_mcp.host.questions import SamplingOffer

__all__ = ["ConsentCard"]

_LIMITS = {"calls": "answers", "tokens": "tokens", "per_minute": "a minute"}
_ALWAYS = {"session": "Always in this kernel", "notebook": "Always in this notebook"}


class ConsentCard(QuestionCard):
    """Ask the model once or from now on, write it oneself, refuse."""

    folds = True

    @property
    def _offer(self) -> SamplingOffer:
        assert self.question.offer is not None
        return self.question.offer

    def _body(self) -> list[Any]:
        self._complete = False
        self._asking: list[Any] = []
        self._editor: RequestEditor | None = None
        self._sent = kit.markup("")
        self._masks = kit.tick(
            f"Mask what looks secret ({count(self._offer.masks, 'place')}) before the model sees it",
            on=True,
            tip="What is masked reads ••• below",
        )
        kit.watch(self._masks, self._refresh)
        kit.hide(self._masks, not self._offer.masks)
        self._editing = kit.column([])
        self._own = area("Your answer", "", rows=4)
        kit.watch(self._own, self._refresh)
        self._own_row = kit.row([self._own], "jmcp-control")
        kit.hide(self._own_row, True)
        return [
            kit.row([kit.markup("<b>Answered by</b>"), self._models()], "jmcp-control"),
            kit.markup(html.muted(html.escape(self._why()))),
            kit.markup("<b>The model will be sent</b>"),
            self._sent,
            self._masks,
            kit.markup(parameters_html(self.question.params)),
            self._editing,
            self._own_row,
            self._allowance(),
        ]

    def _models(self) -> Any:
        names = [(flat(name, 80), name) for name in self._offer.models]
        self._model = kit.widgets.Dropdown(
            options=names, value=self._offer.model, description="Model", layout={"width": "auto"}
        )
        kit.watch(self._model, self._refresh)
        return self._model

    def _why(self) -> str:
        passed = [text for text in self._offer.unable.values() if text not in self._offer.why]
        return ". ".join(text.rstrip(".") for text in (self._offer.why, *passed)) + "."

    def _allowance(self) -> Any:
        """What "always" allows; shown when somebody wants it."""
        self._limits: dict[str, Any] = {}
        row: list[Any] = [kit.markup("Without asking, at most")]
        for name, words in _LIMITS.items():
            made = kit.widgets.BoundedIntText(
                self._offer.allowance.get(name, 1), min=1, max=10**9, description=words, layout={"width": "100px"}
            )
            self._limits[name] = made
            row += [made, kit.markup(words)]
        longer = [
            self._ask(_ALWAYS[scope], scope, f"Do not ask again for {self.question.server}; %mcp policy takes it back")
            for scope in self._offer.scopes
            if scope in _ALWAYS
        ]
        self._always = kit.column([kit.row(row, "jmcp-control"), kit.row(longer)], "jmcp-group")
        kit.hide(self._always, True)
        return self._always

    def _foot(self) -> list[Any]:
        once = self._ask(
            f"Ask {flat(self._offer.model, 40)}", "once", "Send this to the model, this one time", "primary"
        )
        self._once = once
        longer = self._toggle("Always", "Let the model answer this server without asking", self._always)
        kit.hide(longer, not any(scope in _ALWAYS for scope in self._offer.scopes))
        self._change = self._toggle("Change", "Change what the model is sent", self._editing, self._open_editor)
        own = self._toggle("Write it myself", "Answer the server yourself; no model is asked", self._own_row)
        self._send_own = self.action("Send my answer", self._send, "primary", "Send this to the server")
        refuse = self.action("Refuse", lambda: self.answer("decline"), "danger", "Say no; the server is told so")
        cancel = self.action("Cancel", lambda: self.answer("cancel"), "", "Close the question without a choice (Esc)")
        self._complete = True
        if (self.question.draft or {}).keys() & {"systemPrompt", "messages", "maxTokens"}:
            self._change.value = True
        self._refresh()
        return [once, longer, self._change, own, self._send_own, refuse, cancel]

    def _warnings(self) -> Sequence[str]:
        return [*super()._warnings(), *self._offer.ignored, *self.question.problems.values()]

    # --- parts -------------------------------------------------------------------------------------------------------

    def _ask(self, label: str, scope: str, tip: str, look: str = "") -> Any:
        made = self.action(label, lambda: self._agree(scope), look, tip)
        self._asking.append(made)
        return made

    def _toggle(self, label: str, tip: str, shown: Any, opened: Any = None) -> Any:
        made = kit.widgets.ToggleButton(False, description=label, tooltip=tip, layout={"width": "auto"})

        def switched() -> None:
            if opened is not None and made.value:
                opened()
            kit.hide(shown, not made.value)
            self._refresh()

        return kit.watch(made, switched)

    def _open_editor(self) -> None:
        if self._editor is None:
            given = request.edited(self.question.params, self.question.draft or {})
            self._editor = RequestEditor(given, self._refresh)
            self._editing.children = (self._editor.root,)
            if self._made:
                self.card.wire(self._editing)

    def _changes(self) -> dict[str, Any]:
        drafted = {key: value for key, value in (self.question.draft or {}).items() if key in request.EDITABLE}
        return {**drafted, **(self._editor.edits() if self._editor is not None else {})}

    def _refresh(self) -> None:
        if not self._complete:
            return
        own = self._own_row.layout.display != "none"
        kit.hide(self._send_own, not own)
        self._send_own.disabled = not self._own.value.strip() or self._answered is not None
        self._once.description = f"Ask {flat(self._model.value, 40)}"
        changes = self._changes()
        problems = request.edit_problems(self.question.params, changes)
        for made in self._asking:
            made.disabled = bool(problems) or self._answered is not None
        self.say(" ".join(problems.values()), "error")
        if not problems:
            kit.paint(self._sent, request_html(self._seen(changes)), exact=True)

    def _seen(self, changes: dict[str, Any]) -> Any:
        """What the model would be sent."""
        if not changes:
            return self._offer.masked if self._masks.value else self.question.params
        given = request.edited(self.question.params, changes)
        return request.masked(given, self._offer.clean)[0] if self._masks.value else given

    # --- answers -----------------------------------------------------------------------------------------------------

    def _agree(self, scope: Any) -> None:
        content = self._changes()
        if self._model.value != self._offer.model:
            content["model"] = self._model.value
        if not self._masks.value:
            content["redact"] = False
        if scope != "once":
            content["allowance"] = {name: int(made.value) for name, made in self._limits.items()}
        self.answer("accept", content=content or None, scope="" if scope == "once" else scope)
        self.say(f"{self._model.value} is asked.")

    def _send(self) -> None:
        if self._own.value.strip():
            self.answer("accept", content={"text": self._own.value})
