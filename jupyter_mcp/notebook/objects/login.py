"""As whom a server knows this notebook: what `login` and `whoami` return."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jupyter_mcp.host.auth.logins import Who

__all__ = ["Login"]


class Login:
    """A login, without its secrets. It is true when something lets this notebook in.

    Attributes:
        server: the server's name here. url: of it.
        how: "login" (OAuth), "token" (given when it was asked for), "header" (--bearer, --header), "nobody".
        issuer: the authorization server.
        client_id: who we are there.
        scopes: what was granted.
        expires_at: seconds since 1970 when the access token ends; None when that was not said.
        renews: it is renewed without a person.
        bound: it is of no use to whoever steals it (DPoP).
        kept: where it is kept, in words.
    """

    def __init__(self, who: Who) -> None:
        self.server, self.url, self.how = who.server, who.url, who.how
        self.issuer = who.issuer
        self.client_id = who.client_id
        self.scopes = who.scopes
        self.expires_at = who.expires_at
        self.renews = who.renews
        self.bound = who.bound
        self.kept = who.kept

    def __bool__(self) -> bool:
        return self.how != "nobody"

    def __repr__(self) -> str:
        from jupyter_mcp.notebook.render.text import flat

        name = self.server
        if self.how == "header":
            return f"{name}: let in by a header of yours."
        if self.how == "token":
            return f"{name}: let in by a token that you gave; it is kept in {self.kept}."
        if self.how == "nobody":
            return f"{name}: not logged in."
        parts = [
            f"as {flat(self.client_id, 120)}",
            f"for {', '.join(flat(one, 80) for one in self.scopes)}" if self.scopes else "",
            "renewed by itself" if self.renews else self._holds(),
            "bound to a key of this computer" if self.bound else "",
            f"kept in {self.kept}" if self.kept else "",
        ]
        return f"{name}: logged in at {flat(self.issuer, 200)} {'; '.join(filter(None, parts))}."

    def __mcp_view__(self) -> Any:
        from jupyter_mcp.notebook.render.views import NoteView

        return NoteView(repr(self), "good" if self else "plain")

    def _holds(self) -> str:
        """For how long the access token is good, in words; "" when that was not said."""
        if self.expires_at is None:
            return ""
        left = self.expires_at - time.time()
        if left <= 0:
            return "its time is up"
        for size, word in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
            if left >= size:
                count = int(left // size)
                return f"for {count} {word}{'s' if count != 1 else ''}"
        return "for less than a minute"
