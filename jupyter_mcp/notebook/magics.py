"""`%mcp` and `%%mcp`: read the line, do what the verb does, show what comes of it.

IPython runs these functions; the grammar is `lineparse`'s, the verbs are `verbs`', showing is `showing`'s, and all of
them are imported with the first line that is typed. Loading the extension loads this file only.

`output_can_be_silenced` is not used on purpose: IPython would look for the `;` with Python's tokenizer, which stumbles
over an apostrophe in a body, and would drop the value. A trailing `;` is the grammar's here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from IPython.core.magic import Magics, line_cell_magic, magics_class, needs_local_scope, no_var_expand

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jupyter_mcp.notebook.use import Use
    from jupyter_mcp.notebook.verbs.base import Invocation, Verb

__all__ = ["MCPMagics", "run_line"]


@magics_class
class MCPMagics(Magics):
    """The magics of the extension."""

    @line_cell_magic
    @no_var_expand
    @needs_local_scope
    def mcp(self, line: str, cell: str | None = None, local_ns: Mapping[str, Any] | None = None) -> Any:
        """The Model Context Protocol: connect servers, see what they offer, call their tools.

        %mcp help           all verbs
        %mcp help call      one of them
        """
        from jupyter_mcp.notebook.use import use_of_value

        shell: Any = self.shell
        return run_line(line, cell, shell.user_ns, local_ns, use_of_value())


def run_line(
    line: str,
    cell: str | None,
    user_ns: Mapping[str, Any],
    local_ns: Mapping[str, Any] | None,
    use: Use,
) -> Any:
    """One line (and body): parse, do, show. Raises `UsageError` with the verb's usage, and what the verb raises."""
    from jupyter_mcp.errors import UsageError
    from jupyter_mcp.notebook import showing, waiting
    from jupyter_mcp.notebook.namespace import Namespace

    showing.prepare()
    names = Namespace(user_ns, local_ns)
    verb, rest = _verb(line)
    try:
        call = _read(verb, rest, cell, names, use)
    except UsageError as error:
        error.usage = error.usage or verb.usage_line
        if verb.grammar.command:  # what is quoted of the line may be a key that was meant for the server
            from jupyter_mcp.protocol.secrets import redact

            error.message = redact(error.message)
        raise
    with waiting.expecting(call.shown):
        value: Any = _help(verb) if call.line.help else verb.run(call)
    return showing.show(value, call.use, silent=call.line.silent)


def _verb(line: str) -> tuple[Verb, str]:
    from jupyter_mcp.notebook import verbs
    from jupyter_mcp.notebook.lineparse import split_verb

    name, rest = split_verb(line)
    if not name:
        return verbs.OVERVIEW, rest
    if name in ("--help", "-h"):
        return verbs.find("help"), rest
    return verbs.find(name), rest


def _read(verb: Verb, rest: str, cell: str | None, names: Any, use: Any) -> Invocation:
    from jupyter_mcp.errors import UsageError
    from jupyter_mcp.notebook.lineparse import parse
    from jupyter_mcp.notebook.verbs.base import Invocation

    line = parse(rest, verb.grammar, read=names.read)
    if not line.help:
        if verb.most is not None and len(line.words) > verb.most:
            extra = line.words[verb.most].raw
            raise UsageError(f"{verb.name or '%mcp'} does not take {extra!r} here.")
        if cell is not None and not verb.body:
            raise UsageError(f"{verb.name or '%mcp'} takes no body; write it on one line, with a single %.")
    return Invocation(verb, line, names, cell, use)


def _help(verb: Verb) -> Any:
    from jupyter_mcp.notebook.verbs.help import page

    return page(verb)
