"""What may follow on a `%mcp` line or in a body, from the table of verbs and the connections' cached lists.

Nothing here waits and nothing is asked of a server, except that the values of prompt arguments and template variables
are fetched in the background (`fetched`) and offered at the next Tab.
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import UsageError
from jupyter_mcp.host.wants import wants
from jupyter_mcp.host.wording import is_url
from jupyter_mcp.notebook import verbs
from jupyter_mcp.notebook.fetched import fetched
from jupyter_mcp.notebook.lineparse import Scanner, Word
from jupyter_mcp.protocol.shapes import as_list, mapping_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from jupyter_mcp.host.catalogue import Catalogue, Offer, OfferKind
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
    if not typed or typed[0].text not in ("call", "answer"):
        return Suggestions(ours=False)
    words = [word.text for word in typed[1:] if word.equals is None and not word.text.startswith("-")]
    offer = _offer("tool", words)
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
        self.waiting = None
        open_options = True
        for word in self.typed:
            option = verb.grammar.option(word.text[2:]) if word.text.startswith("--") else None
            if self.waiting is not None:
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
        if not self.verb.grammar.command or len(self.words) < 2:
            return False
        target = self.words[1]  # completion evaluates nothing: an object may be a URL
        return not is_url(target) and target[0] not in "${"

    def _option_value(self, option: Any) -> Suggestions:
        if option.choices:
            return starting(self.fragment, ((choice, "value") for choice in option.choices))
        if option.name == "except":
            last = self.fragment.rpartition(",")[2]  # the one that is being typed
            return starting(last, ((name, "variable") for name in _variables()))
        if option.name == "server":
            return starting(self.fragment, ((name, "server") for name in _servers()))
        return Suggestions(self.fragment, ours=option.metavar != "FILE" and option.metavar != "FOLDER")

    def _word(self) -> Suggestions:
        kinds = self.verb.completes
        place = len(self.words)
        many = bool(kinds) and kinds[-1] == "*"
        kind = kinds[min(place, len(kinds) - 2)] if many else kinds[place] if place < len(kinds) else ""
        wanted = kinds[0] if kinds else ""
        if wanted in ("tool", "prompt", "resource"):
            return self._offered(wanted)
        return starting(self.fragment, self._named(kind))

    def _named(self, kind: str) -> Iterator[Item]:
        """The names of a kind that the line does not have yet."""
        if kind == "server":
            yield from ((name, "server") for name in _servers() if name not in self.words)
        elif kind in ("task", "server or task"):
            yield from self._named("server" if kind != "task" else "")
            yield from ((task.key, "task") for task in _tasks())
        elif kind == "variable":
            yield from ((name, "variable") for name in _variables() if name not in self.words)
        elif kind == "verb":
            yield from ((name, "verb") for name in verbs.table())
        elif kind == "new" and not self.words:
            yield from ((name, "server") for name in ("demo",) if name not in _servers())
        elif kind == "answer":
            yield from ((word, "value") for word in ("accept", "decline", "cancel", "clear"))
        elif kind == "policy":
            yield from ((word, "value") for word in ("why", "reset"))
        elif kind in ("pattern", "tool"):
            yield from ((f"{name}.*", "pattern") for name in _servers() if kind == "pattern")
            yield from ((offer.full_name, "tool") for offer in _offers("tool"))
        elif kind == "running":
            yield from ((call.name, "call") for call in _running())
            yield from ((task.key, "task") for task in _tasks() if not task.done)

    def _offered(self, kind: Any) -> Suggestions:
        """A tool, prompt or resource, then its arguments."""
        if not self.words:
            return starting(self.fragment, _names(kind))
        first = self.words[0]
        offer = _resource(self.words) if kind == "resource" else _offer(kind, self.words)
        if offer is None and len(self.words) == 1 and first in _servers():
            kinds: tuple[Any, ...] = ("resource", "template") if kind == "resource" else (kind,)
            return starting(self.fragment, ((o.name, k) for k in kinds for o in _offers(k, first)))
        if offer is None or self.verb.name in ("watch", "unwatch"):
            return Suggestions(self.fragment)
        if self.verb.name == "complete":
            names = _argument_names(offer)
            return starting(self.fragment, ((name, "argument") for name in names))
        return self._argument(offer)

    def _argument(self, offer: Offer) -> Suggestions:
        key, equals, value = self.fragment.partition("=")
        key = key.removesuffix(":")
        if not equals:
            given = set(self.pairs)
            return starting(
                self.fragment, ((f"{name}=", "argument") for name in _argument_names(offer) if name not in given)
            )
        if offer.kind != "tool":
            found = fetched.values(offer, key, _unquote(value), self.pairs)
        else:
            schema = mapping_of(offer.item.get("inputSchema"))
            found = [_plain(v) for v in values_of(mapping_of(schema.get("properties")).get(key), schema)]
        return starting(value, ((_quote(text), "value") for text in found), plain=_unquote(value))


# --- the cached lists ------------------------------------------------------------------------------------------------


def _host() -> Any:
    """The host, if there is one; completion never makes one."""
    state = sys.modules.get("jupyter_mcp.runtime.state")
    return None if state is None else state.existing_host()


def _variables() -> list[str]:
    """The variables that may be served."""
    from jupyter_mcp.kernel.exposure import exposed
    from jupyter_mcp.runtime import frontend

    shell = frontend.shell()
    return [] if shell is None else list(exposed(shell.user_ns, baseline=shell.user_ns_hidden).names)


def _servers() -> list[str]:
    host = _host()
    return [] if host is None else list(host.servers)


def _offers(kind: OfferKind, server: str | None = None) -> list[Offer]:
    host = _host()
    if host is None or (server is not None and server not in host.servers):
        return []
    catalogue: Catalogue = host.catalogue
    return catalogue.offers(kind, server)


def _offer(kind: OfferKind, words: Sequence[str]) -> Offer | None:
    """The tool or prompt that the words name so far."""
    if not words:
        return None
    servers = _servers()
    if len(words) > 1 and words[0] in servers:
        return next((offer for offer in _offers(kind, words[0]) if offer.name == words[1]), None)
    server, dot, name = words[0].partition(".")
    if dot and server in servers:
        found = [offer for offer in _offers(kind, server) if offer.name == name]
    else:
        found = [offer for offer in _offers(kind) if offer.name == words[0]]
    return found[0] if len(found) == 1 else None


def _resource(words: Sequence[str]) -> Offer | None:
    """The template that the words name (a resource has no arguments)."""
    server = words[0] if words[0] in _servers() else None
    if server is not None and len(words) == 1:
        return None
    uri = words[1] if server is not None else words[0]
    return next((offer for offer in _offers("template", server) if offer.name == uri), None)


def _names(kind: Any) -> Iterator[Item]:
    """Every name a tool, prompt or resource can be called by, bare ones where they are unique."""
    if kind == "resource":
        servers = _servers()
        yield from ((name, "server") for name in servers if len(servers) > 1)
        for one in ("resource", "template"):
            yield from ((offer.name, one) for offer in _offers(one))
        return
    offers = _offers(kind)
    count: dict[str, int] = {}
    for offer in offers:
        count[offer.name] = count.get(offer.name, 0) + 1
    yield from ((offer.full_name, kind) for offer in offers)
    yield from ((offer.name, kind) for offer in offers if count[offer.name] == 1)


def _argument_names(offer: Offer) -> list[str]:
    if offer.kind == "tool":
        return list(mapping_of(mapping_of(offer.item.get("inputSchema")).get("properties")))
    if offer.kind == "template":
        from jupyter_mcp.protocol import uritemplate

        return list(uritemplate.variables(offer.name))
    found = [mapping_of(one) for one in as_list(offer.item.get("arguments"))]
    return [str(one["name"]) for one in found if "name" in one]


def _running() -> Iterable[Any]:
    module = sys.modules.get("jupyter_mcp.notebook.objects.call")
    return [] if module is None else module.running()


def _tasks() -> Iterable[Any]:
    """Newest first."""
    module = sys.modules.get("jupyter_mcp.notebook.objects.task")
    return [] if module is None else reversed(module.kept())


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
