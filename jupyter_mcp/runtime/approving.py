"""Leave to act as a dialogue in text: the twin of the approval card, for a terminal and the mode "stdin".

It shows what the card shows: who wants what and why, what a server says of itself, what leaves the notebook, the
arguments whole. One letter answers; the arguments can be written anew as JSON before anything runs. What is printed
stays in a notebook, so what looks like a secret is masked until it is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from jupyter_mcp.host import approvals, visible
from jupyter_mcp.host.forms import FieldError, parse_json
from jupyter_mcp.host.questions import Answer
from jupyter_mcp.protocol import secrets
from jupyter_mcp.protocol.shapes import is_mapping
from jupyter_mcp.runtime.state import existing_host

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from jupyter_mcp.host.questions import Question

__all__ = ["ApprovalDialogue", "Others"]

Scope = Literal["", "once", "session", "notebook", "project", "user", "client", "never"]
_SCOPES: Mapping[str, tuple[str, str]] = {
    "session": ("s", "this [s]ession"),
    "notebook": ("b", "this note[b]ook"),
    "project": ("p", "this [p]roject"),
}
_HELP = """\
  y        yes, this once                s b p    yes, for longer (those that are offered)
  n        no; words after it are the reason, which whoever began it gets to read
  e        write the arguments anew, as one JSON object; a backslash at the end continues the line
  show     all of it, with what looks like a secret
  :cancel  no choice at all"""


class Others(NamedTuple):
    """The questions that wait besides.

    Attributes:
        waiting: how many there are, this one included.
        alike: how many of these ask for leave for the same server, this one included.
        deny: answers the others of that server.
    """

    waiting: int = 1
    alike: int = 1
    deny: Callable[[Answer], object] | None = None


class ApprovalDialogue:
    """One approval, or whether one server may be started.

    Args:
        question: what is asked.
        line: shows a prompt and returns what was typed; commands that begin with a colon are carried out below it.
        say: shows one line.
        others: what waits besides.
        exact: shows one line to the letter; `say` by default.
    """

    def __init__(
        self,
        question: Question,
        line: Callable[[str], str],
        say: Callable[[str], object],
        others: Others,
        exact: Callable[[str], object] | None = None,
    ) -> None:
        self._question = question
        self._line = line
        self._say = say
        self._exact = exact or say
        self._others = others
        draft = (question.draft or {}).get("arguments")
        self._sent: Mapping[str, Any] = draft if is_mapping(draft) else approvals.arguments(question)

    def ask(self) -> Answer:
        """Show it and wait for an answer."""
        self._describe()
        self._show()
        while True:
            typed = self._line(self._prompt()).strip()
            word, _, rest = typed.partition(" ")
            answer = self._answer(word.lower(), rest.strip())
            if answer is not None:
                return answer

    def _answer(self, word: str, rest: str) -> Answer | None:
        """What a line answers; None when it did something else."""
        accepts = dict(self._yes())
        if word in accepts:
            changed = not visible.same(self._sent, approvals.arguments(self._question))
            content = {"arguments": dict(self._sent)} if changed else None
            return Answer("accept", content=content, scope=accepts[word])
        if word in ("n", "no"):
            return Answer("decline", remark=rest or None)
        if word == "never" and approvals.client(self._question):
            return Answer("decline", remark=rest or None, scope="never")
        if word in ("d", "deny") and self._others.alike > 1 and self._others.deny is not None:
            answer = Answer("decline", remark=rest or None)
            self._others.deny(answer)
            return answer
        if word in ("e", "edit") and self._changeable:
            self._edit()
        elif word == "show":
            self._show(masked=False)
        elif word:
            self._say(_HELP)
        return None

    # --- what is asked -----------------------------------------------------------------------------------------------

    def _describe(self) -> None:
        question = self._question
        where = f"(1 of {self._others.waiting} questions) " if self._others.waiting > 1 else ""
        self._say(where + "".join(approvals.opening(question)))
        if question.warning:
            self._say(f"! {question.warning}")
        if said := approvals.title(question):
            self._say(f"  {visible.marked(question.server)} calls it “{said}”")
        hints = approvals.hints(question)
        if hints:
            self._say(f"  {', '.join(one.text for one in hints)}: {approvals.hints_are(question)}")
        if why := approvals.reason(question):
            self._say(f"  asked because: {why}")
        for line in approvals.leaves(question):
            self._say(f"  leaves the notebook: {line}")
        hidden = visible.unseen([approvals.arguments(question), question.params.get("words")])
        if hidden:
            self._say(f"! It holds characters that cannot be seen: {', '.join(hidden)}")
        for problem in question.problems.values():
            self._say(f"! {visible.marked(problem)}")

    def _show(self, *, masked: bool = True) -> None:
        """What a yes is for, whole."""
        say = self._say if masked else self._exact
        hide = masked and not visible.same(_masked(dict(self._sent)), self._sent)
        if self._question.kind == "server":
            hide = self._show_start(say, masked)
        elif approvals.client(self._question):
            self._show_texts(say, hide)
        elif self._question.cause is None or approvals.schema(self._question) is not None or self._sent:
            self._show_json(say, hide)
        if hide:
            self._say(f"  ({secrets.MASK} hides what looks like a secret; “show” shows it)")

    def _show_start(self, say: Callable[[str], object], masked: bool) -> bool:
        rows = approvals.starting(self._question)
        shown = [(label, str(_masked(text)) if masked else text) for label, text in rows]
        for label, text in shown:
            say(f"  {label.ljust(9)}  {text}")
        return shown != rows

    def _show_json(self, say: Callable[[str], object], hide: bool) -> None:
        sent = _masked(dict(self._sent)) if hide else self._sent
        changed = not visible.same(self._sent, approvals.arguments(self._question))
        self._say(f"  you will send{', changed by you' if changed else ''}:")
        for line in visible.exact(sent).splitlines():
            say(f"    {line}")

    def _show_texts(self, say: Callable[[str], object], hide: bool) -> None:
        """What a client of ours wants, each argument as a text of its own."""
        for name, value in (_masked(dict(self._sent)) if hide else self._sent).items():
            self._say(f"  {visible.marked(name)}:")
            text = value if isinstance(value, str) else visible.exact(value)
            for line in visible.marked(text, lines=True).split("\n"):
                say(f"    {line}")

    # --- answers -----------------------------------------------------------------------------------------------------

    @property
    def _changeable(self) -> bool:
        return self._question.kind == "approval" and approvals.schema(self._question) is not None

    def _yes(self) -> list[tuple[str, Scope]]:
        """The words that allow it, and for how long."""
        offered = approvals.scopes(self._question)
        words: list[tuple[str, Scope]] = [("y", ""), ("yes", "")]
        if approvals.client(self._question):
            longer: list[tuple[str, Scope]] = [
                ("c", "client"),
                ("client", "client"),
                ("a", "session"),
                ("always", "session"),
            ]
            return [*words, *(longer if "session" in offered else [])]
        for scope in offered:
            if scope != "once":
                words.append((_SCOPES[scope][0], scope))
                words.append((scope, scope))
        return words

    def _prompt(self) -> str:
        verb = (
            "Start it" if self._question.kind == "server" and not approvals.is_network(self._question) else "Allow it"
        )
        offered = approvals.scopes(self._question)
        if approvals.client(self._question):
            longer = ["this [c]lient", "[a]lways in this notebook"] if "session" in offered else []
            choices = ["[y]es once", *longer, "[n]o", "never"]
        else:
            choices = ["[y]es once", *(_SCOPES[scope][1] for scope in offered if scope != "once")]
            choices += ["[e]dit"] if self._changeable else []
            choices += ["[n]o [reason]"]
        if self._others.alike > 1 and self._others.deny is not None:
            choices.append(f"[d]eny all {self._others.alike} from {visible.marked(self._question.server)}")
        return f"{verb}? {', '.join(choices)}, :cancel: "

    def _edit(self) -> None:
        """The arguments anew; what is no JSON object changes nothing."""
        typed = self._line("Arguments as JSON (Enter keeps them): ")
        while typed.endswith("\\"):
            typed = typed[:-1] + "\n" + self._line("… ")
        if not typed.strip():
            return
        try:
            value: Any = parse_json(typed)
        except FieldError as error:
            self._say(f"  {error}")
            return
        if not is_mapping(value):
            self._say("  The arguments have to be one JSON object.")
            return
        self._sent = value
        self._show()


def _masked(value: Any) -> Any:
    """Without what looks like a secret, and what was given to a server as one."""
    host = existing_host()
    return secrets.redact(value) if host is None else host.redactor.clean(value)
