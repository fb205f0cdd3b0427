"""The grammar of a magic line: words, options, `key=value` pairs, one JSON object. Pure text in, values out.

    VERB [--option [value]] word… [key=value | key:=JSON]… [;] [# comment]
    VERB [--option [value]] word… {"one": "JSON object"} [--option]… [;]

RULES
 1. Words are separated by white space; single and double quotes group, as in a shell. A backslash is an ordinary
    character except before white space, a quote, `#` or `;` (outside quotes) and before `"`, `\\`, `$` or a backtick
    (in double quotes). On Windows it is ordinary everywhere but in `\\"`, so paths survive.
 2. A word that starts with `#` ends the line. A bare `;` at the very end hides the card. Neither counts in JSON.
 3. Where a verb takes a JSON object, a word that starts with `{` begins it; nothing in it is expanded.
 4. The value of a pair that starts with `{` or `[` reaches to the matching bracket, white space and quotes included.
 5. `--` ends the options. A command (`connect`) takes everything from its first word on; after anything else (a URL,
    an object) options may follow. So that word is read when it comes: it may stand for a URL (`{url}`).

What a value means (a notebook object, a number, text) is not decided here: see `namespace` and `host.arguments`.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import UsageError
from jupyter_mcp.host.wording import decode_json, is_url, nearest, shorten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jupyter_mcp.host.arguments import Reader, Typed

_KEY = re.compile(r"[^\s=:/\"'{}\[\]?&-][^\s=:/\"'{}\[\]?&]*")
_OPENING = {"{": "}", "[": "]", "(": ")"}


@dataclass(frozen=True, slots=True)
class Word:
    """One word.

    Attributes:
        text: without its quotes.
        raw: as typed.
        start, end: where it stands in the line (0-based, end excluded).
        equals: for a pair, the length of its key in `text`; None for a plain word.
        forced: the pair was written `key:=JSON`.
        bare: it does not start with a quote (a quoted word is never an option or a comment).
        typed: what it stands for, where the grammar had to know.
    """

    text: str
    raw: str
    start: int
    end: int
    equals: int | None = None
    forced: bool = False
    bare: bool = True
    typed: Typed | None = None

    @property
    def key(self) -> str:
        return self.text[: self.equals]

    @property
    def value(self) -> str:
        return self.text if self.equals is None else self.text[self.equals :]


@dataclass(frozen=True, slots=True)
class Option:
    """`--name` (a flag) or `--name VALUE` when `metavar` is given; `repeat` when it may come several times."""

    name: str
    metavar: str | None = None
    help: str = ""
    repeat: bool = False
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Grammar:
    """What a verb's line may hold besides words."""

    options: tuple[Option, ...] = ()
    pairs: bool = False
    json: bool = False
    command: bool = False

    def option(self, name: str) -> Option | None:
        return next((option for option in self.options if option.name == name), None)


@dataclass(slots=True)
class Line:
    """A parsed line. `options` maps a name without dashes to its values (flags: an empty list)."""

    words: list[Word] = field(default_factory=list[Word])
    options: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    pairs: list[Word] = field(default_factory=list[Word])
    body: dict[str, Any] | None = None
    silent: bool = False
    help: bool = False

    def flag(self, name: str) -> bool:
        return name in self.options

    def last(self, name: str) -> str | None:
        values = self.options.get(name)
        return values[-1] if values else None


def split_verb(line: str) -> tuple[str, str]:
    """The verb and the rest of the line (`""` when there is none; a comment or `;` alone is no verb)."""
    scanner = Scanner(line)
    if scanner.at_end():
        return "", line[scanner.position :]
    if line[scanner.position] == ";":
        return "", line[scanner.position :]
    word = scanner.word()
    if word.text.endswith(";") and scanner.at_end():
        return word.text[:-1], ";"
    return word.text, line[scanner.position :]


def parse(line: str, grammar: Grammar, *, windows: bool | None = None, read: Reader | None = None) -> Line:
    """Read what follows the verb. Raises `UsageError` (without `usage`; the caller knows it).

    Args:
        line: the text.
        grammar: what it may hold.
        windows: whether backslashes are those of Windows; None is this system.
        read: looks up what a word stands for; without it every word is its text.
    """
    return _Parser(line, grammar, windows, read).run()


class Scanner:
    """Cuts a line into words. `tolerant` lets an open quote reach to the end (for completion)."""

    def __init__(self, line: str, *, windows: bool | None = None, tolerant: bool = False) -> None:
        self.line = line
        self.position = 0
        self.tolerant = tolerant
        self._windows = os.name == "nt" if windows is None else windows

    def at_end(self) -> bool:
        """Skip white space; true at the end of the line or at a comment."""
        while self.position < len(self.line) and self.line[self.position].isspace():
            self.position += 1
        return self.position >= len(self.line) or self.line[self.position] == "#"

    def word(self, *, pairs: bool = False, brackets: bool = False) -> Word:
        """The word at the position, which must not be at its end."""
        line, start, text = self.line, self.position, ""
        equals: int | None = None
        forced = False
        if brackets and line[start] in "{[" and (end := self._bracket(start)) is not None:
            return self._take(start, end)
        while self.position < len(line) and not line[self.position].isspace():
            char = line[self.position]
            if char in "'\"":
                text += self._quoted(char)
            elif char == "\\" and not self._windows and self._next() in " \t'\"#;":
                text += self._next()
                self.position += 2
            elif char == "=" and pairs and equals is None and _KEY.fullmatch(key := text.removesuffix(":")):
                forced = text.endswith(":") and line[self.position - 1] == ":"
                text, equals = key, len(key)
                self.position += 1
                end = self._value_end(forced)
                if end is not None:
                    text += line[self.position : end]
                    self.position = end
            else:
                text += char
                self.position += 1
        raw = line[start : self.position]
        return Word(text, raw, start, self.position, equals, forced, bare=raw[0] not in "'\"")

    def json_object(self) -> dict[str, Any]:
        """The JSON object that starts here; the position moves behind it."""
        received = self.line[self.position :].rstrip()
        value, length = decode_json(received, "the arguments")
        self.position += length
        return value

    def _take(self, start: int, end: int) -> Word:
        self.position = end
        return Word(self.line[start:end], self.line[start:end], start, end)

    def _next(self) -> str:
        return self.line[self.position + 1 : self.position + 2] or "\0"

    def _quoted(self, quote: str) -> str:
        """The text of a quoted part; the position moves behind its closing quote."""
        start = self.position
        self.position += 1
        text = ""
        while self.position < len(self.line):
            char = self.line[self.position]
            if char == quote:
                self.position += 1
                return text
            if char == "\\" and quote == '"' and self._next() in ('"' if self._windows else '"\\$`'):
                if self._windows and '"' not in self.line[self.position + 2 :]:
                    text += "\\"  # "C:\dir\": the path ends in a backslash, the quote closes it
                    self.position += 1
                    continue
                text += self._next()
                self.position += 2
                continue
            text += char
            self.position += 1
        if self.tolerant:
            return text
        raise UsageError(f"the quote at column {start + 1} is not closed: {shorten(self.line[start:])}")

    def _value_end(self, forced: bool) -> int | None:
        """Where a value that starts with a bracket (or any forced JSON) ends; None for an ordinary word."""
        first = self.line[self.position : self.position + 1]
        if forced and first == '"':
            try:
                return json.JSONDecoder().raw_decode(self.line, self.position)[1]
            except ValueError:
                return None
        return self._bracket(self.position) if first and first in "{[" else None

    def _bracket(self, start: int) -> int | None:
        """Behind the bracket that matches the one at `start`, if the word can end there."""
        end = matching(self.line, start)
        if end is None:
            return None
        rest = self.line[end:]
        after = rest.removeprefix(";").lstrip()
        if not rest or rest[0].isspace() or (rest[0] == ";" and (not after or after[0] == "#")):
            return end
        return None


class _Parser:
    def __init__(self, line: str, grammar: Grammar, windows: bool | None, read: Reader | None) -> None:
        self.grammar = grammar
        self.read = read
        self.scanner = Scanner(line, windows=windows)
        self.result = Line()
        self.options_open = True

    def run(self) -> Line:
        while not self.scanner.at_end():
            self._item()
        return self.result

    def _item(self) -> None:
        scanner, result = self.scanner, self.result
        if self._semicolon():
            return
        if self.grammar.json and scanner.line[scanner.position] == "{":
            self._body()
            return
        command = self._in_command()
        word = self._strip_semicolon(scanner.word(pairs=self.grammar.pairs and not command, brackets=not command))
        if self.options_open and word.bare and not command and word.text.startswith("-") and len(word.text) > 1:
            self._option(word)
        elif word.equals is not None:
            self._pair(word)
        elif result.body is not None:
            raise UsageError(f"only options may follow the JSON object, not {word.raw!r}")
        else:
            result.words.append(self._meant(word))

    def _meant(self, word: Word) -> Word:
        """The target of a command line, looked up: what it stands for decides whose the next words are."""
        if self.read is None or not self.grammar.command or len(self.result.words) != 1:
            return word
        return replace(word, typed=self.read(word.text))

    def _semicolon(self) -> bool:
        """Consume a `;` that stands alone at the end."""
        scanner = self.scanner
        if scanner.line[scanner.position] != ";":
            return False
        ahead = Scanner(scanner.line)
        ahead.position = scanner.position + 1
        if not ahead.at_end():
            return False
        scanner.position = len(scanner.line)
        self.result.silent = True
        return True

    def _in_command(self) -> bool:
        """True when the words that come belong to the server's own command line."""
        words = self.result.words
        if not self.grammar.command or len(words) < 2:
            return False
        target = words[1].typed
        meant = words[1].text if target is None or not target.is_object else target.value
        return not self.options_open or (isinstance(meant, str) and not is_url(_filled(meant)))

    def _body(self) -> None:
        if self.result.body is not None or self.result.pairs:
            raise UsageError("arguments are key=value pairs or ONE JSON object, not both")
        self.result.body = self.scanner.json_object()

    def _pair(self, word: Word) -> None:
        if self.result.body is not None:
            raise UsageError("arguments are key=value pairs or ONE JSON object, not both")
        self.result.pairs.append(word)

    def _strip_semicolon(self, word: Word) -> Word:
        if not word.raw.endswith(";") or not word.text.endswith(";") or word.raw == ";":
            return word
        ahead = Scanner(self.scanner.line)
        ahead.position = word.end
        if not ahead.at_end() or word.raw.endswith("\\;"):
            return word
        self.result.silent = True
        return Word(word.text[:-1], word.raw[:-1], word.start, word.end - 1, word.equals, word.forced, word.bare)

    def _option(self, word: Word) -> None:
        if word.text == "--":
            self.options_open = False
            return
        if word.text in {"--help", "-h"}:
            self.result.help = True
            return
        name, equals, value = word.text.removeprefix("--").partition("=")
        option = self.grammar.option(name) if word.text.startswith("--") else None
        if option is None:
            raise _unknown_option(word.text.partition("=")[0], self.grammar.options)
        values = self.result.options.setdefault(name, [])
        if option.metavar is None:
            if equals:
                raise UsageError(f"--{name} takes no value")
            return
        if values and not option.repeat:
            raise UsageError(f"there may be only one --{name}")
        values.append(self._checked(option, value if equals else self._option_value(option)))

    def _option_value(self, option: Option) -> str:
        if self.scanner.at_end():
            raise UsageError(f"{option.metavar} is missing after --{option.name}")
        return self._strip_semicolon(self.scanner.word(brackets=True)).text

    def _checked(self, option: Option, value: str) -> str:
        if option.choices and value not in option.choices:
            raise UsageError(f"--{option.name} is one of {', '.join(option.choices)}, not {value!r}")
        return value


def _filled(target: str) -> str:
    """What a target that begins with a variable of the environment (`${URL}`) stands for."""
    if not target.startswith("${"):
        return target
    from jupyter_mcp.host.specs.expand import peek

    return peek(target)


def _unknown_option(text: str, options: Sequence[Option]) -> UsageError:
    names = [f"--{option.name}" for option in options]
    near = nearest(text, [*names, "--help"])
    if near:
        return UsageError(f"no option {text} here; did you mean {near}?")
    known = ", ".join(names) or "none but --help"
    return UsageError(f"no option {text} here (options: {known})")


def matching(text: str, start: int) -> int | None:
    """The index behind the bracket that closes the one at `start`; brackets in quoted strings do not count."""
    expected: list[str] = []
    position = start
    while position < len(text):
        char = text[position]
        if char in _OPENING:
            expected.append(_OPENING[char])
        elif char in ")]}":
            if not expected or char != expected.pop():
                return None
            if not expected:
                return position + 1
        elif char in "'\"":
            closing = _string_end(text, position)
            if closing is None:
                return None
            position = closing
        position += 1
    return None


def _string_end(text: str, start: int) -> int | None:
    position = start + 1
    while position < len(text):
        if text[position] == "\\":
            position += 1
        elif text[position] == text[start]:
            return position
        position += 1
    return None
