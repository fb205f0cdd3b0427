"""A server's question as a dialogue in text: field by field, then a look over all of it, then send.

Used where there are no widgets: a terminal, a console front end, the mode "stdin". It reads and writes through two
functions it is given, so it is tested without a terminal; what is typed is judged by `host.forms`, as in the widget
forms.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.host import urls
from jupyter_mcp.host.forms import (
    UNSET,
    FieldError,
    Node,
    by_field,
    collect,
    constraints,
    labels,
    model,
    parse,
)
from jupyter_mcp.host.questions import Answer, Question
from jupyter_mcp.protocol.framing import printable
from jupyter_mcp.protocol.shapes import mapping_of
from jupyter_mcp.runtime.approving import ApprovalDialogue, Others
from jupyter_mcp.runtime.sampling_dialogue import SamplingDialogue, plain

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Dialogue"]

_HELP = """\
  Enter    keeps the default in [brackets] or leaves an optional field out
  :skip    leave this field out        :back    the field before
  :decline [remark]    an explicit no; the remark stays in your journal
  :cancel  no answer at all            A text that begins with a colon is written with two.
  Several entries are separated by commas, or written as a JSON array; a backslash at the end continues the line."""
_LINE = 2000
_CHOICES_SHOWN = 30


class _Decided(Exception):
    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.action)
        self.answer = answer


class _Back(Exception):
    pass


@dataclass
class Dialogue:
    """Asks one question after the other.

    Attributes:
        read: shows a prompt and returns the line that was typed; may raise EOFError and KeyboardInterrupt.
        read_secret: the same without echo.
        say: shows one line.
        others: what waits besides a question.
        exact: shows one line to the letter, when the person says `show`; `say` may mask what is secret.
    """

    read: Callable[[str], str]
    say: Callable[[str], object]
    read_secret: Callable[[str], str] | None = field(default=None)
    others: Callable[[Question], Others] = field(default=lambda question: Others())
    exact: Callable[[str], object] | None = field(default=None)

    def tell(self, question: Question) -> None:
        """A page was agreed to and its server goes on by itself: say where it is and what ends the waiting."""
        self.say(f"Open it in your browser:\n  {_address(question)}")
        self.say(f"{question.server} goes on when it knows that you are done; an interrupt ends the call.")

    def ask(self, question: Question) -> Answer:
        """Put the question. The end of input is a cancel; a KeyboardInterrupt is the caller's."""
        leave = question.kind in ("approval", "server")
        if question.step == "consent" and not leave:
            self._head(question)
        ask = {"elicitation": self._form, "inputs": self._form, "url": self._url, "sampling": self._sampling}
        ask["login"] = self._login
        try:
            return ask.get(question.kind, self._approval)(question)
        except _Decided as decided:
            return decided.answer
        except EOFError:
            self.say("(end of input: cancelled)")
            return Answer("cancel")

    # --- the kinds ----------------------------------------------------------------------------------------------------

    def _form(self, question: Question) -> Answer:
        whole = model(question.params.get("requestedSchema") or {})
        form = list(whole.parts)
        names = labels(form)
        raws: dict[str, Any] = {}
        if form:
            self.say("Enter keeps the default in [brackets]; :help tells the rest.")
            self._walk(form, names, raws)
        while True:
            found, wrong = collect(whole, raws)
            values = dict(mapping_of(found))
            problems = by_field(wrong)
            for one, label in zip(form, names, strict=True):
                if one.name in problems:
                    self.say(f"  {label}: {problems[one.name]}")
            for index, (one, label) in enumerate(zip(form, names, strict=True), 1):
                shown = "(left out)" if one.name not in values else _shown(one, values[one.name])
                self.say(f"  {index}. {printable(label, 80)}: {shown}")
            typed = self._line(
                "Send this? [y]es, a number to change it, :decline, :cancel: "
                if not problems
                else "A number to change it, :decline, :cancel: "
            )
            if typed.isdecimal() and 1 <= int(typed) <= len(form):
                self._one(form[int(typed) - 1], names[int(typed) - 1], raws)
            elif typed.lower() in ("", "y", "yes") and not problems:
                return Answer("accept", content=values)

    def _url(self, question: Question) -> Answer:
        if question.step == "retry":
            self.say(f"Open it in your browser:\n  {_address(question)}")
            self._line(f"Press Enter when you are done there, and {question.server} is asked again (or :cancel): ")
            return Answer("accept")
        address = urls.read(question.params.get("url"))
        self.say("It wants you to open a page in your browser, outside this program:")
        self.say(f"  site     {address.site}{f'  (reads {address.reads})' if address.reads else ''}")
        self.say(f"  address  {_address(question)}")
        if address.refusal is not None:
            self.say(f"! {address.refusal}")
            return self._no("It is not opened. [n]o (decline), :cancel: ")
        return self._yes_or_no("Open it? [y]es, [n]o, :cancel: ")

    def _login(self, question: Question) -> Answer:
        self.say(f"Log in for {printable(question.server, 40)} in your browser:\n  {_address(question)}")
        scopes = [printable(str(one), 80) for one in question.params.get("scopes") or ()]
        if scopes:
            self.say(f"It asks for: {', '.join(scopes)}")
        if question.problems:
            self.say(f"! {' '.join(question.problems.values())}")
        prompt = "Press Enter when you are done there, or paste the address you came to (:cancel gives up): "
        typed = self._line(prompt, secret=True)  # its code is for one use, and what is typed may be saved
        return Answer("accept", {"redirect": typed} if typed else None)

    def _approval(self, question: Question) -> Answer:
        return ApprovalDialogue(question, self._line, self.say, self.others(question), self.exact).ask()

    def _sampling(self, question: Question) -> Answer:
        return SamplingDialogue(question, self._line, self.say, self.exact).ask()

    # --- fields ------------------------------------------------------------------------------------------------------

    def _walk(self, form: list[Node], names: list[str], raws: dict[str, Any]) -> None:
        index = 0
        while index < len(form):
            try:
                self._one(form[index], names[index], raws)
                index += 1
            except _Back:
                index = max(0, index - 1)

    def _one(self, one: Node, label: str, raws: dict[str, Any]) -> None:
        if one.kind == "object" and one.parts:
            self._group(one, label, raws)
            return
        self._describe(one)
        current = raws.get(one.name, one.default)
        default = "" if current is UNSET else f" [{_shown(one, current)}]"
        prompt = f"{printable(label, 80)}{'' if one.required else ' (optional)'}{default}: "
        while True:
            try:
                raws[one.name] = self._value(one, prompt, current)
                return
            except FieldError as error:
                self.say(f"  {error}")

    def _value(self, one: Node, prompt: str, current: Any) -> Any:
        typed = self._line(prompt, secret=one.secret, skippable=not one.required)
        if typed is UNSET:
            return UNSET
        if typed == "":
            if current is UNSET and one.required:
                raise FieldError(
                    f"It is required{'' if one.kind != 'text' else '; an empty text is written as two quotes'}."
                )
            return current
        if typed == '""' and one.kind in ("text", "multiline"):
            typed = ""
        while one.kind in ("multiline", "array") and typed.endswith("\\"):
            typed = typed[:-1] + "\n" + self._line("… ")
        if one.kind == "array" and "\n" not in typed and not typed.lstrip().startswith("["):
            typed = "\n".join(part.strip() for part in typed.split(","))
        return parse(one, typed)

    def _group(self, one: Node, label: str, raws: dict[str, Any]) -> None:
        if not one.required and self._line(f"Fill in {printable(label, 80)}? [y/N]: ").lower() not in ("y", "yes"):
            raws[one.name] = UNSET
            return
        before = raws.get(one.name)
        inner = dict(cast("dict[str, Any]", before)) if isinstance(before, dict) else {}
        parts = list(one.parts)
        self._walk(parts, [f"{label}, {part}" for part in labels(parts)], inner)
        raws[one.name] = inner

    def _describe(self, one: Node) -> None:
        about = " · ".join(part for part in (printable(one.description, 300), printable(constraints(one), 300)) if part)
        if about:
            self.say(f"  {about}")
        if one.kind in ("choice", "const", "multichoice"):
            for index, (name, _) in enumerate(one.choices[:_CHOICES_SHOWN], 1):
                self.say(f"  {index}) {printable(name, 120)}")
            if len(one.choices) > _CHOICES_SHOWN:
                self.say(f"  … {len(one.choices) - _CHOICES_SHOWN} more")

    # --- lines -------------------------------------------------------------------------------------------------------

    def _line(self, prompt: str, *, secret: bool = False, skippable: bool = False) -> Any:
        """One typed line; commands are carried out, UNSET stands for `:skip`."""
        read = self.read_secret if secret and self.read_secret is not None else self.read
        while True:
            typed = read(prompt)
            if not typed.startswith(":"):
                return typed
            if typed.startswith("::"):
                return typed[1:]
            word, _, rest = typed[1:].strip().partition(" ")
            if word == "skip" and skippable:
                return UNSET
            self._command(word, rest.strip())

    def _command(self, word: str, rest: str) -> None:
        match word:
            case "decline":
                raise _Decided(Answer("decline", remark=rest or None))
            case "cancel":
                raise _Decided(Answer("cancel"))
            case "back":
                raise _Back
            case "skip":
                self.say("  This cannot be left out.")
            case _:
                self.say(_HELP)

    def _yes_or_no(self, prompt: str) -> Answer:
        while True:
            match self._line(prompt).strip().lower():
                case "y" | "yes":
                    return Answer("accept")
                case "n" | "no":
                    return Answer("decline")
                case _:
                    continue

    def _no(self, prompt: str) -> Answer:
        while self._line(prompt).strip().lower() not in ("", "n", "no"):
            continue
        return Answer("decline")

    def _head(self, question: Question) -> None:
        cause = question.cause
        during = f" (during {question.server}.{printable(cause.name, 80)})" if cause is not None else ""
        self.say(f"{question.server} asks{during}: {plain(question.message)}")
        if question.warning:
            self.say(f"! {question.warning}")
        for name, problem in question.problems.items():
            self.say(f"! {printable(name, 80)}: {problem}")


def _shown(one: Node, value: Any) -> str:
    if one.secret:
        return "••••"
    for label, known in one.choices:
        if type(known) is type(value) and known == value:
            return printable(label, 80)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return printable(text, 200) or '""'


def _address(question: Question) -> str:
    """The whole address: a part of it could not be judged."""
    return printable(str(question.params.get("url") or ""), urls.MAX_URL)
