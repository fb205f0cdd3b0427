"""A server wants the person to log in: which server, whose page, for what; a link, and two other ways.

The person's own click opens the page, in a tab of its own. The card goes on by itself when the browser comes back to
this machine, or to the Jupyter Server; whose browser ended elsewhere pastes its address; who has a token gives that.
What is typed is shown nowhere again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.host import urls
from jupyter_mcp.notebook.cards import kit
from jupyter_mcp.notebook.cards.question import QuestionCard
from jupyter_mcp.notebook.render.addresses import link_piece, page_name
from jupyter_mcp.notebook.render.questions import login_piece

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jupyter_mcp.host.questions import Answer

__all__ = ["LoginCard"]


class LoginCard(QuestionCard):
    """The card."""

    def _body(self) -> list[Any]:
        self._address = urls.read(self.question.url)
        parts = [kit.markup(login_piece(self.question).html)]
        if (link := link_piece(self._address, css="jmcp-open")) is not None:
            parts.append(kit.markup(link.html))
        self._pasted = _line("The address the browser came to", "http://127.0.0.1:…/callback?code=…", secret=False)
        self._token = _line("A token", "kept in memory only", secret=True)
        parts.append(self._other_ways())
        self._words()
        return parts

    def _other_ways(self) -> Any:
        """The two other ways; folded until they are wanted, open where no browser comes back by itself."""
        use_token = self.action("Use this token", self._give_token, "", f"Send it to {self.question.server}")
        token = kit.column([self._token, kit.row([use_token])])
        wanted = bool(self.question.problems) or self.question.params.get("place") == "paste"
        use = self.action("Use this address", self._give_address, "", "Go on with what the browser was sent here with")
        note = kit.markup(
            "If the browser ends on a page that cannot be shown, because it runs on another machine: "
            "copy that page's address from the browser's bar.",
            "jmcp-help",
        )
        inside = kit.column([note, self._pasted, kit.row([use]), token])
        kit.hide(inside, not wanted)
        fold = kit.widgets.ToggleButton(wanted, description="The browser did not come back, or I have a token")
        fold.layout.width = "auto"
        kit.watch(fold, lambda: kit.hide(inside, not fold.value))
        return kit.column([kit.row([fold]), inside])

    def _words(self) -> None:
        problems = " ".join(self.question.problems.values())
        if problems:
            self.say(problems, "error")
        else:
            site = page_name(self._address)
            self.say(f"Log in at {site} only if you expected it. The cell goes on when the browser comes back.")

    def _warnings(self) -> Sequence[str]:
        return self._address.warnings

    def _foot(self) -> list[Any]:
        tip = f"Do not log in; what waits for {self.question.server} ends"
        return [self.action("Cancel", lambda: self.answer("cancel"), "", tip)]

    def _give_address(self) -> None:
        self._give("redirect", self._pasted, "There is no address yet.")

    def _give_token(self) -> None:
        self._give("token", self._token, "There is no token yet.")

    def _give(self, name: str, field: Any, missing: str) -> None:
        given = field.value.strip()
        if not given:
            self.say(missing, "error")
            return
        field.value = ""
        self.answer("accept", content={name: given})

    def close(self, answer: Answer | None) -> None:
        """Leave the record, which holds nothing of what was typed."""
        self._pasted.value = self._token.value = ""
        super().close(answer)


def _line(label: str, example: str, *, secret: bool) -> Any:
    kind = kit.widgets.Password if secret else kit.widgets.Text
    made = kind(description=label, placeholder=example, style={"description_width": "auto"})
    made.layout.width = "100%"
    return made
