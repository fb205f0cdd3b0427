"""log, activity, trace: what happened."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from jupyter_mcp.notebook.lineparse import Grammar, Option
from jupyter_mcp.notebook.objects.note import Note
from jupyter_mcp.notebook.verbs.base import Invocation, Verb

if TYPE_CHECKING:
    from jupyter_mcp.notebook.objects.happened import Activity
    from jupyter_mcp.notebook.objects.trace import Trace

_INDEX = re.compile(r"-?[0-9]{1,6}")
_CELL = (
    Option("cell", "N", "the cell that does number N of this table again (0 is the first, -1 or last the last)"),
    Option("python", None, "that cell as Python"),
)
_LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")


def log(call: Invocation) -> Any:
    from jupyter_mcp.notebook import api

    words = call.words
    level = call.option("level")
    if not words and len(api.servers) != 1:
        return api.all_logs(level)
    found = api.log_of(words[0]) if words else api.only_server().log
    return found if level is None else found(level)


def activity(call: Invocation) -> Any:
    from jupyter_mcp.notebook import api

    words = call.words
    if call.option("cell") is not None:
        return _cell(call, api.host.activity if not words else api.host.activity.by(api.server(words[0]).name))
    return api.host.activity if not words else api.host.activity(api.server(words[0]).name)


def trace(call: Invocation) -> Any:
    from jupyter_mcp.notebook import api

    words = call.words
    if (file := call.option("file")) is not None:
        return _file(call, file)
    if call.option("limit") is not None:
        raise call.wrong("--limit goes with --file.")
    found = api.host.trace if not words else api.server(words[0]).trace
    text = call.option("filter")
    if call.line.flag("exchanges"):
        if call.option("export") is not None or call.option("cell") is not None:
            raise call.wrong("--exchanges goes with --filter only.")
        return found.exchanges(text or "")
    if text is not None:
        found = found(text)
    if (file := call.option("export")) is not None:
        found.export(file)
    return found if call.option("cell") is None else _cell(call, found)


def _cell(call: Invocation, found: Activity | Trace) -> Any:
    """The cell that repeats a row, put below where there is somebody to run it."""
    from jupyter_mcp.runtime import frontend

    text = call.option("cell") or ""
    if text != "last" and _INDEX.fullmatch(text) is None:
        raise call.wrong(f"--cell is the number of a row (0 is the first, -1 the last) or last, not {text!r}.")
    python = call.line.flag("python")
    cell = found.cell(python=python) if text == "last" else found.cell(int(text), python=python)
    shell = frontend.shell()
    if shell is not None and call.shown and not frontend.headless():
        shell.set_next_input(cell.text)
    return cell


def _file(call: Invocation, file: str) -> Any:
    from jupyter_mcp.notebook import api

    if call.words or call.option("filter") is not None or call.option("export") is not None:
        raise call.wrong("--file writes everything from now on; it goes with neither SERVER, --filter nor --export.")
    if file == "off":
        stopped = api.host.journal.stop_writing()
        return Note(f"No longer writing to {stopped.name}." if stopped else "Nothing is being written.")
    megabytes = call.number("limit")
    api.host.journal.write_to(file, None if megabytes is None else int(megabytes * 2**20))
    return Note(f"Messages and acts go to {file} from now on; %mcp trace --file off ends it.")


def hide(call: Invocation) -> Any:
    from jupyter_mcp.notebook import api

    journal, words = api.host.journal, call.words
    if not words:
        return journal.hidden
    kind, *named = words
    if kind == "reset" and not named:
        count = journal.unhide()
        return Note(f"{count} {'rule' if count == 1 else 'rules'} taken back; what looks like a secret stays hidden.")
    if kind not in ("key", "header", "pattern") or not named:
        raise call.wrong("hide takes key NAME, header NAME, pattern REGEX, or reset.")
    for what in named:
        journal.hide(**{kind: what})
    return journal.hidden


VERBS = (
    Verb(
        "log",
        "what happened",
        "log [SERVER] [--level L]",
        "What a server (or all of them) wrote to stderr, the log messages, and our notes.",
        log,
        Grammar(options=(Option("level", "L", "from this level on; the server is asked for it too", choices=_LEVELS),)),
        most=1,
        examples=("%mcp log demo", "%mcp log demo --level warning"),
        completes=("server",),
        python=("Server.log",),
    ),
    Verb(
        "activity",
        "what happened",
        "activity [SERVER] [--cell N [--python]]",
        "What was done: who began it, which rule decided, how it ended.",
        activity,
        Grammar(options=_CELL),
        most=1,
        examples=("%mcp activity", "%mcp activity --cell last"),
        completes=("server",),
        python=("host.activity",),
    ),
    Verb(
        "trace",
        "what happened",
        "trace [SERVER] [--filter TEXT] [--exchanges | --export FILE | --cell N [--python]] | trace --file FILE|off"
        " [--limit MB]",
        "The messages to and from servers, secrets redacted.",
        trace,
        Grammar(
            options=(
                Option(
                    "filter",
                    "TEXT",
                    "only these: method: server: status: direction: text: duration> size>, or plain words",
                ),
                Option(
                    "exchanges", None, "a row for each request, with its answer, its rounds and what HTTP did about it"
                ),
                Option("export", "FILE", "write them to a file, one JSON object a line"),
                Option("file", "FILE", "append messages and acts from now on to a file, as they happen; off ends it"),
                Option("limit", "MB", "what that file may have in all (64)"),
                *_CELL,
            )
        ),
        most=1,
        examples=(
            "%mcp trace demo --filter tools/call",
            '%mcp trace --filter "method:tools/call status:error duration>1s"',
            "%mcp trace --exchanges",
            "%mcp trace --export trace.jsonl",
            "%mcp trace --file journal.jsonl",
        ),
        completes=("server",),
        python=("Server.trace", "host.trace", "host.journal"),
    ),
    Verb(
        "hide",
        "what happened",
        "hide [key NAME… | header NAME… | pattern REGEX… | reset]",
        "What is never shown in logs, acts and messages, also of those on record, besides what looks like a secret.",
        hide,
        most=None,
        details=(
            ("key", "values by the name of their key; * and ? stand for any characters"),
            ("header", "values of a header, to the end of its line"),
            ("pattern", "whatever the regular expression finds; in quotes when it has spaces"),
            ("reset", "take back what you said"),
        ),
        examples=("%mcp hide", "%mcp hide key customer_id 'iban*'", "%mcp hide pattern '[A-Z]{2}\\d{6}'"),
        python=("host.journal",),
    ),
)
