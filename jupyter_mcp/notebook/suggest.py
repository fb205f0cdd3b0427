"""What may follow on a `%mcp` line or in a body, from the table of verbs and the connections' cached lists.

Nothing here waits and nothing is asked of a server, except that the values of prompt arguments and template variables
are fetched in the background (`fetched`) and offered at the next Tab.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import UsageError
from jupyter_mcp.host.wants import wants
from jupyter_mcp.host.wording import is_url
from jupyter_mcp.notebook import listed, verbs
from jupyter_mcp.notebook.fetched import fetched
from jupyter_mcp.notebook.lineparse import Scanner, Word
from jupyter_mcp.protocol.shapes import as_list, mapping_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from jupyter_mcp.host.catalogue import Offer
    from jupyter_mcp.notebook.verbs.base import Verb

__all__ = ["Item", "Suggestions", "for_body", "for_line", "starting", "values_of"]

Item = tuple[str, str]
_QUOTES = "\"'"


@dataclass
class Suggestions:
    """
    Attributes:
        fragment: the typed text that an item replaces.
        items: (text, kind) pairs, the likeliest first.
        ours: nobody else can know better (file names are left to IPython).
    """

    fragment: str = ""
    items: list[Item] = field(default_factory=list[Item])
    ours: bool = True


def for_line(rest: str, *, cell: bool = False) -> Suggestions:
    """What may follow `rest`, the line after `%mcp` up to the cursor."""
    typed, fragment = _split(rest, pairs=False)
    if not typed:
        names = [name for name, verb in verbs.table().items() if verb.body or not cell]
        return starting(fragment, ((name, "verb") for name in names))
    try:
        verb = verbs.find(typed[0].text)
    except UsageError:
        return Suggestions(fragment)
    after = rest[typed[0].end :]
    if verb.grammar.json and "{" in after and _in_json(after):
        return Suggestions(fragment, ours=False)
    return _Line(verb, after).suggestions()


def for_body(first: str, text: str) -> Suggestions:
    """What may follow in the body of `%%mcp call` (prompt names its arguments in the same way)."""
    typed, _ = _split(first + " ", pairs=True)
    if typed and typed[0].text == "ask":
        from jupyter_mcp.notebook import suggest_ask

        return suggest_ask.for_question(text)
    if not typed or typed[0].text not in ("call", "answer"):
        return Suggestions(ours=False)
    words = [word.text for word in typed[1:] if word.equals is None and not word.text.startswith("-")]
    offer = listed.offer_of("tool", words)
    schema = mapping_of(offer.item.get("inputSchema") if offer is not None else None)
    properties = mapping_of(schema.get("properties"))
    line = text.rsplit("\n", 1)[-1]
    if (found := re.search(r'[{,]\s*"(?P<key>[^"\\]*)$', text)) is not None:
        return starting(found["key"], ((name, "argument") for name in properties))
    if (found := re.search(r'"(?P<name>[^"\\]+)"\s*:\s*(?P<value>"?[^",{}\[\]\s]*)$', text)) is not None:
        values = [json.dumps(value) for value in values_of(properties.get(found["name"]), schema)]
        return starting(found["value"], ((value, "value") for value in values))
    if text.lstrip().startswith("{"):
        return Suggestions(ours=False)
    if (found := re.match(r"\s*(?P<name>[^:]+?)\s*:\s+(?P<value>.*)$", line)) is not None:
        values = [_plain(value) for value in values_of(properties.get(found["name"]), schema)]
        return starting(found["value"], ((value, "value") for value in values))
    key = line.lstrip()
    given = {row.split(":", 1)[0].strip() for row in text.split("\n")[:-1]}
    return starting(key, ((f"{name}: ", "argument") for name in properties if name not in given))


class _Line:
    """The words behind a verb, up to the one that is being typed."""

    def __init__(self, verb: Verb, rest: str) -> None:
        self.verb = verb
        self.typed, self.fragment = _split(rest, pairs=verb.grammar.pairs)
        self.words: list[str] = []
        self.pairs: dict[str, str] = {}
        self.used: set[str] = set()
        self.values: dict[str, str] = {}
        self.waiting = None
        open_options = True
        for word in self.typed:
            option = verb.grammar.option(word.text[2:]) if word.text.startswith("--") else None
            if self.waiting is not None:
                self.values[self.waiting.name] = word.text
                self.waiting = None
            elif word.text == "--" and word.bare:
                open_options = False
            elif option is not None and open_options and not self._in_command():
                self.used.add(option.name)
                self.waiting = option if option.metavar else None
            elif word.equals is not None:
                self.pairs[word.key] = word.value
            else:
                self.words.append(word.text)

    def suggestions(self) -> Suggestions:
        if self.waiting is not None:
            return self._option_value(self.waiting)
        if self._in_command():
            return Suggestions(self.fragment, ours=False)
        if self.fragment.startswith("-"):
            options = [o for o in self.verb.grammar.options if o.name not in self.used or o.repeat]
            return starting(self.fragment, ((f"--{name}", "option") for name in [*(o.name for o in options), "help"]))
        return self._word()

    def _in_command(self) -> bool:
        if not self.verb.grammar.command or len(self.words) < 2 or "from" in self.used:
            return False
        target = self.words[1]  # completion evaluates nothing: an object may be a URL
        return not is_url(target) and target[0] not in "${"

    def _option_value(self, option: Any) -> Suggestions:
        if option.choices:
            return starting(self.fragment, ((choice, "value") for choice in option.choices))
        if self.verb.name == "ask":
            from jupyter_mcp.notebook import suggest_ask

            found = suggest_ask.for_option(option.name, self.fragment)
            return Suggestions(self.fragment) if found is None else found
        if option.name == "embeddings":
            return starting(self.fragment, ((name, "model") for name in listed.embedding_models()))
        if option.name == "except":
            last = self.fragment.rpartition(",")[2]  # the one that is being typed
            return starting(last, ((name, "variable") for name in listed.variables()))
        if option.name == "server":
            return starting(self.fragment, ((name, "server") for name in listed.servers()))
        return Suggestions(self.fragment, ours=option.metavar != "FILE" and option.metavar != "FOLDER")

    def _word(self) -> Suggestions:
        if "from" in self.values:
            return self._of_file()
        kinds = self.verb.completes
        place = len(self.words)
        many = bool(kinds) and kinds[-1] == "*"
        kind = kinds[min(place, len(kinds) - 2)] if many else kinds[place] if place < len(kinds) else ""
        wanted = kinds[0] if kinds else ""
        if wanted in ("tool", "prompt", "resource"):
            return self._offered(wanted)
        return starting(self.fragment, self._named(kind))

    def _of_file(self) -> Suggestions:
        """The servers of the configuration file that stands on the line."""
        names = listed.in_file(self.values["from"])
        return starting(self.fragment, ((name, "server") for name in names if name not in self.words))

    def _named(self, kind: str) -> Iterator[Item]:
        """The names of a kind that the line does not have yet."""
        if kind == "server":
            yield from ((name, "server") for name in listed.servers() if name not in self.words)
        elif kind in ("task", "server or task"):
            yield from self._named("server" if kind != "task" else "")
            yield from ((task.key, "task") for task in listed.tasks())
        elif kind == "variable":
            yield from ((name, "variable") for name in listed.variables() if name not in self.words)
        elif kind == "verb":
            yield from ((name, "verb") for name in verbs.table())
        elif kind == "new" and not self.words:
            yield from ((name, "server") for name in ("demo",) if name not in listed.servers())
        elif kind == "model" and not self.words:
            yield from ((name, "model") for name in listed.models())
        elif kind == "answer":
            yield from ((word, "value") for word in ("accept", "decline", "cancel", "clear"))
        elif kind == "policy":
            yield from ((word, "value") for word in ("why", "accept", "reset"))
        elif kind in ("pattern", "tool"):
            yield from ((f"{name}.*", "pattern") for name in listed.servers() if kind == "pattern")
            yield from ((offer.full_name, "tool") for offer in listed.offers("tool"))
        elif kind == "running":
            yield from ((call.name, "call") for call in listed.running())
            yield from ((task.key, "task") for task in listed.tasks() if not task.done)

    def _offered(self, kind: Any) -> Suggestions:
        """A tool, prompt or resource, then its arguments."""
        if not self.words:
            return starting(self.fragment, listed.names(kind))
        first = self.words[0]
        offer = listed.template_of(self.words) if kind == "resource" else listed.offer_of(kind, self.words)
        if offer is None and len(self.words) == 1 and first in listed.servers():
            kinds: tuple[Any, ...] = ("resource", "template") if kind == "resource" else (kind,)
            return starting(self.fragment, ((o.name, k) for k in kinds for o in listed.offers(k, first)))
        if offer is None or self.verb.name in ("watch", "unwatch"):
            return Suggestions(self.fragment)
        if self.verb.name == "complete":
            names = listed.argument_names(offer)
            return starting(self.fragment, ((name, "argument") for name in names))
        return self._argument(offer)

    def _argument(self, offer: Offer) -> Suggestions:
        key, equals, value = self.fragment.partition("=")
        key = key.removesuffix(":")
        if not equals:
            given = set(self.pairs)
            return starting(
                self.fragment, ((f"{name}=", "argument") for name in listed.argument_names(offer) if name not in given)
            )
        if offer.kind != "tool":
            found = fetched.values(offer, key, _unquote(value), self.pairs)
        else:
            schema = mapping_of(offer.item.get("inputSchema"))
            found = [_plain(v) for v in values_of(mapping_of(schema.get("properties")).get(key), schema)]
        return starting(value, ((_quote(text), "value") for text in found), plain=_unquote(value))


def values_of(schema: Any, root: Mapping[str, Any]) -> list[Any]:
    """Values worth offering for an argument: choices, true and false, the default, examples."""
    want = wants(schema, root)
    known = mapping_of(schema)
    if want.choices is not None:
        return list(want.choices)
    if "boolean" in want.types:
        return [True, False]
    default = [known["default"]] if known.get("default") is not None else []
    return [*default, *as_list(known.get("examples"))]


# --- text ------------------------------------------------------------------------------------------------------------


def _split(text: str, *, pairs: bool) -> tuple[list[Word], str]:
    """The finished words and the raw text of the unfinished one."""
    scanner = Scanner(text, tolerant=True)
    words: list[Word] = []
    while not scanner.at_end():
        words.append(scanner.word(pairs=pairs, brackets=False))
    if scanner.position < len(text):  # behind a comment there is nothing to complete
        return [], text[scanner.position :]
    if words and words[-1].end == len(text) and not text[-1:].isspace():
        return words[:-1], words[-1].raw
    if words and words[-1].end == len(text):
        return words[:-1], words[-1].raw
    return words, ""


def _in_json(text: str) -> bool:
    return re.search(r"(?:^|\s)\{", text) is not None


def starting(fragment: str, items: Iterable[Item], *, plain: str | None = None) -> Suggestions:
    """The items that go on from the fragment, in any case; exact case first. Opening quotes do not count."""
    start = (fragment if plain is None else plain).lstrip(_QUOTES)
    lowered = start.lower()
    found = [item for item in dict.fromkeys(items) if item[0].lstrip(_QUOTES).lower().startswith(lowered)]
    found.sort(key=lambda item: not item[0].lstrip(_QUOTES).startswith(start))
    return Suggestions(fragment, found)


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _quote(text: str) -> str:
    if text and not re.search(r"[\s'\"#;]", text):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _unquote(text: str) -> str:
    return text[1:] if text[:1] in ("'", '"') else text
