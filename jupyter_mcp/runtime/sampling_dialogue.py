"""Sampling as a dialogue in text: the twin of the sampling cards, for a terminal and the mode "stdin".

May this be sent to a model, and may its answer be sent to the server; or the person writes the answer. What is printed
stays in a notebook, so what looks like a secret is masked until it is asked for.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from jupyter_mcp.host.questions import Answer
from jupyter_mcp.protocol import secrets
from jupyter_mcp.protocol.framing import printable
from jupyter_mcp.protocol.shapes import as_list, is_list, is_mapping, mapping_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from jupyter_mcp.host.questions import Question, SamplingOffer
    from jupyter_mcp.host.sampling.live import LiveReply

__all__ = ["SamplingDialogue", "plain"]

_LINE = 2000
_POLL = 0.2  # seconds between looks at an answer that is being written; an interrupt comes through in between
_CONSENT_HELP = """\
  y              ask the model, this once
  a [calls=N tokens=N per_minute=N]   and do not ask again in this kernel, within these limits (b: in this notebook)
  w              write the answer yourself        m NAME   another model
  e              write the request anew, as one JSON object
  mask           mask what looks secret, or do not          show     all of it, with what looks like a secret
  n              no; the server is told so        :cancel  no choice at all"""
_REVIEW_HELP = """\
  y  send it     e  write it anew     n  no; the server is told so     show  with what looks like a secret"""


class SamplingDialogue:
    """One step of one request.

    Args:
        question: what is asked.
        line: shows a prompt and returns what was typed; commands that begin with a colon are carried out below it.
        say: shows one line.
        exact: the same to the letter; `say` by default.
    """

    def __init__(
        self,
        question: Question,
        line: Callable[[str], str],
        say: Callable[[str], object],
        exact: Callable[[str], object] | None = None,
    ) -> None:
        self._question = question
        self._line = line
        self._say = say
        self._exact = exact or say
        self._content: dict[str, Any] = dict(question.draft or {})

    def ask(self) -> Answer:
        """Show it and wait for an answer."""
        if self._question.live is not None:
            return self._review(self._question.live)
        if self._question.offer is not None:
            return self._consent(self._question.offer)
        self._show(masked=False)
        return Answer("accept", content={"text": self._write()})

    def _write(self) -> str:
        self._say("Write the answer; a line with a single dot ends it (:decline, :cancel).")
        lines: list[str] = []
        while (typed := self._line("> ")) != ".":
            lines.append(typed)
        return "\n".join(lines)

    # --- may a model be asked ----------------------------------------------------------------------------------------

    def _consent(self, offer: SamplingOffer) -> Answer:
        self._say(f"  {printable(offer.model, 80)} would answer: {printable(offer.why, 200)}")
        for text in (*offer.unable.values(), *offer.ignored):
            self._say(f"  ! {printable(text, 300)}")
        self._show()
        self._tell_limits(offer)
        while True:
            word, _, rest = self._line(self._prompt(offer)).strip().partition(" ")
            answer = self._consented(word.lower(), rest.strip(), offer)
            if answer is not None:
                return answer

    def _prompt(self, offer: SamplingOffer) -> str:
        model = printable(str(self._content.get("model") or offer.model), 80)
        longer = "[a]lways, " if "session" in offer.scopes else ""
        return f"Ask {model}? [y]es, {longer}[w]rite it yourself, [e]dit, [m]odel, mask, show, [n]o, :cancel: "

    def _consented(self, word: str, rest: str, offer: SamplingOffer) -> Answer | None:
        """What a line answers; None when it did something else."""
        scopes = {"a": "session", "always": "session", "b": "notebook"}
        if word in ("y", "yes"):
            return Answer("accept", content=self._content or None)
        if word in ("n", "no"):
            return Answer("decline", remark=rest or None)
        if word in ("w", "write"):
            return Answer("accept", content={"text": self._write()})
        if word in scopes and scopes[word] in offer.scopes:
            return self._always(scopes[word], rest, offer)
        if word in ("m", "model"):
            self._pick(rest, offer)
        elif word in ("e", "edit"):
            self._edit()
        elif word == "mask":
            self._content["redact"] = not self._content.get("redact", True)
            masked = self._content["redact"]
            self._say(f"  What looks secret is {'masked' if masked else 'sent as it is'}.")
        elif word == "show":
            self._show(masked=False)
        elif word:
            self._say(_CONSENT_HELP)
        return None

    def _always(self, scope: Any, rest: str, offer: SamplingOffer) -> Answer | None:
        allowance = dict(offer.allowance)
        for part in rest.split():
            name, _, number = part.partition("=")
            if name not in allowance or not number.isdecimal() or int(number) < 1:
                self._say(f"  {printable(part, 80)} is no limit; there are {', '.join(allowance)}, each a number.")
                return None
            allowance[name] = int(number)
        return Answer("accept", content={**self._content, "allowance": allowance}, scope=scope)

    def _pick(self, name: str, offer: SamplingOffer) -> None:
        fitting = [model for model in offer.models if name and name.lower() in model.lower()]
        if len(fitting) == 1:
            self._content["model"] = fitting[0]
        else:
            self._say(f"  There are {', '.join(printable(model, 80) for model in offer.models)}.")

    def _edit(self) -> None:
        """The request anew; what does not fit is said, and nothing is changed."""
        from jupyter_mcp.host.sampling import request

        params = request.edited(self._question.params, self._content)
        self._say(json.dumps({key: params[key] for key in request.EDITABLE if key in params}, ensure_ascii=False))
        given = self._json("JSON of what is to be another (Enter: leave it): ")
        if given is None:
            return
        if not is_mapping(given):
            self._say("  That is no JSON object.")
            return
        wrong = request.edit_problems(self._question.params, {**self._content, **given})
        if wrong:
            self._say("  " + " ".join(wrong.values()))
            return
        self._content |= given
        self._show()

    # --- may the answer be sent --------------------------------------------------------------------------------------

    def _review(self, live: LiveReply) -> Answer:
        self._follow(live)
        if live.reply is None:
            return Answer("cancel", by="model", remark=live.problem)
        content = list(live.reply.content)
        changed = False
        while True:
            word = self._line("Send it? [y]es, [e]dit, show, [n]o, :cancel: ").strip().lower()
            if word in ("y", "yes"):
                return Answer("accept", content={"content": content} if changed else None)
            if word in ("n", "no"):
                return Answer("decline")
            if word in ("e", "edit"):
                content, changed = self._anew(content), True
            elif word == "show":
                self._say(_shown(content))
            elif word:
                self._say(_REVIEW_HELP)

    def _follow(self, live: LiveReply) -> None:
        """Print the answer line by line as it is written."""
        self._say(f"{printable(live.model, 80)} is writing …")
        told, note = 0, ""
        while not live.wait(_POLL):
            whole = live.text.splitlines()[:-1]
            for text in whole[told:]:
                self._say(f"  {plain(secrets.redact_text(text))}")
            told = max(told, len(whole))
            if live.note and live.note != note:
                note = live.note
                self._say(f"  ({printable(note, 200)})")
        if live.reply is None:
            self._say(f"! {plain(live.problem)}")
            return
        for text in live.text.splitlines()[told:]:
            self._say(f"  {plain(secrets.redact_text(text))}")
        others = [block for block in live.reply.content if block.get("type") != "text"]
        if others:
            self._say(_shown(secrets.redact(others)))

    def _anew(self, content: list[Any]) -> list[Any]:
        if all(mapping_of(block).get("type") == "text" for block in content):
            return [{"type": "text", "text": self._write()}]
        given = self._json("The blocks as a JSON list (Enter: leave them): ")
        if given is not None and not is_list(given):
            self._say("  That is no JSON list.")
        return given if is_list(given) else content

    # --- showing and typing ------------------------------------------------------------------------------------------

    def _show(self, *, masked: bool = True) -> None:
        from jupyter_mcp.host.sampling import request

        params: Mapping[str, Any] = request.edited(self._question.params, self._content)
        clean = self._question.offer.clean if self._question.offer is not None else secrets.redact
        masks = 0
        if masked:
            params, masks = request.masked(params, clean)
        say = self._say if masked else self._exact
        if params.get("systemPrompt"):
            say(f"system: {plain(params['systemPrompt'])}")
        for role, text in _messages(params):
            say(f"{role}: {text}")
        if masks:
            self._say(f"  (masked: {masks}; show prints it, mask switches whether the model sees it)")

    def _tell_limits(self, offer: SamplingOffer) -> None:
        params = self._question.params
        tools = [str(mapping_of(tool).get("name")) for tool in as_list(params.get("tools"))]
        listed = f"; it may ask the server to run {', '.join(printable(tool, 60) for tool in tools)}" if tools else ""
        self._say(f"  at most {params.get('maxTokens')} tokens{listed}")
        usual = ", ".join(f"{name} {number}" for name, number in offer.allowance.items())
        if "session" in offer.scopes:
            self._say(f"  always: at most {usual}")

    def _json(self, prompt: str) -> Any:
        """What was typed, None for nothing or for what is no JSON."""
        typed = self._line(prompt)
        while typed.endswith("\\"):
            typed = typed[:-1] + self._line("… ")
        if not typed.strip():
            return None
        try:
            return json.loads(typed)
        except ValueError as error:
            self._say(f"  This is no JSON: {error}")
            return None


def plain(value: Any) -> str:
    """A server's words, several lines allowed, nothing that could move the cursor."""
    return "\n".join(printable(line, _LINE) for line in str(value or "").splitlines()[:100])


def _shown(content: Any) -> str:
    return plain(json.dumps(content, ensure_ascii=False, indent=1, default=str))


def _messages(params: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for message in as_list(params.get("messages")):
        content: Any = mapping_of(message).get("content")
        for block in content if is_list(content) else [content]:
            yield str(mapping_of(message).get("role", "user")), _block(block)


def _block(block: Any) -> str:
    if is_mapping(block) and "text" in block:
        return plain(block["text"])
    kind = mapping_of(block).get("type")
    if kind in ("tool_use", "tool_result"):
        return _shown(block)
    return f"({printable(str(kind or 'content'), 40)}, not shown)"
