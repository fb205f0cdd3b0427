"""From a routed request to its result: the methods of the protocol over what the server offers.

Errors of the protocol leave as `Failure`; errors of a tool are results the model can read; a traceback goes to stderr
and never to the client. This module knows no transport and keeps nothing between requests.

Above: `session`. Below: `registry`, `exchange`, `results`.
"""

from __future__ import annotations

import functools
import inspect
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.errors import MCPError, RequestError
from jupyter_mcp.protocol import modern, uritemplate
from jupyter_mcp.protocol.jsonrpc import INVALID_PARAMS, METHOD_NOT_FOUND
from jupyter_mcp.server import hints, results
from jupyter_mcp.server.context import AsyncContext, Context
from jupyter_mcp.server.failures import Failure, as_failure, complain, raise_if_protocol, sentence, unknown
from jupyter_mcp.server.infer import InvalidArguments
from jupyter_mcp.server.paging import PAGE_SIZE, Entry, InvalidCursor, Joined, page
from jupyter_mcp.server.parking import Parking
from jupyter_mcp.server.questions import InputRequired, UrlRequired
from jupyter_mcp.server.registry import (
    MAX_COMPLETIONS,
    NotFound,
    PromptEntry,
    ResourceEntry,
    Shelf,
    TemplateEntry,
    ToolEntry,
    own_choices,
)
from jupyter_mcp.server.rounds import InvalidState, Ledger, NeedInput, StateKeeper, bind
from jupyter_mcp.server.run import Run
from jupyter_mcp.server.signature import Handler
from jupyter_mcp.server.tasks import ServerTasks, Started, TaskWork
from jupyter_mcp.server.workers import Workers

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from jupyter_mcp.protocol.revisions import Features
    from jupyter_mcp.server.exchange import Exchange


@dataclass
class Offer:
    """Everything a server offers, and what its dispatch needs beside."""

    tools: Shelf[ToolEntry] = field(default_factory=lambda: Shelf[ToolEntry]("tool"))
    resources: Shelf[ResourceEntry] = field(default_factory=lambda: Shelf[ResourceEntry]("resource"))
    templates: Shelf[TemplateEntry] = field(default_factory=lambda: Shelf[TemplateEntry]("resource template"))
    prompts: Shelf[PromptEntry] = field(default_factory=lambda: Shelf[PromptEntry]("prompt"))
    completers: dict[tuple[str, str, str], Handler] = field(default_factory=dict[tuple[str, str, str], Handler])
    keeper: StateKeeper = field(default_factory=StateKeeper)
    parking: Parking = field(default_factory=Parking)
    tasks: ServerTasks = field(default_factory=ServerTasks)
    workers: Workers = field(default_factory=Workers)
    page_size: int = PAGE_SIZE
    more_resources: Callable[[Features], Sequence[Entry]] | None = None


class Dispatcher:
    """Answers the requests that need no connection: everything but the handshake, levels and subscriptions."""

    def __init__(self, offer: Offer) -> None:
        self._offer = offer
        self._methods: dict[str, Callable[[Exchange], Any]] = {
            "ping": lambda exchange: {},
            "tools/list": self._list_tools,
            "tools/call": self._call_tool,
            "resources/list": self._list_resources,
            "resources/templates/list": self._list_templates,
            "resources/read": self._read_resource,
            "prompts/list": self._list_prompts,
            "prompts/get": self._get_prompt,
            "completion/complete": self._complete,
            "tasks/get": self._about_task,
            "tasks/update": self._about_task,
            "tasks/cancel": self._about_task,
        }

    def answer(self, exchange: Exchange) -> dict[str, Any] | Awaitable[dict[str, Any]]:
        """The result, at once or later. Raises `Failure` (now, or when awaited)."""
        method = self._methods.get(exchange.method)
        if method is None:
            raise Failure(METHOD_NOT_FOUND, f"Method not found: {exchange.method}")
        return method(exchange)

    def open_ledger(self, exchange: Exchange) -> None:
        """Read `requestState` and `inputResponses` of a retried request. Raises `Failure`."""
        params = exchange.params
        state, responses = params.get("requestState"), params.get("inputResponses")
        if state is None and not responses:
            return
        exchange.ledger = Ledger()
        if state is not None:
            try:
                exchange.ledger = self._offer.keeper.open(state, self._binding(exchange))
            except InvalidState as error:
                raise Failure(INVALID_PARAMS, f"Invalid params: {error}.") from None
        if responses:
            exchange.ledger.receive(cast("Mapping[str, Any]", responses))

    def _binding(self, exchange: Exchange) -> str:
        return bind(exchange.method, exchange.params, exchange.peer.principal)

    # --- lists

    def _list_tools(self, exchange: Exchange) -> dict[str, Any]:
        return self._list(self._offer.tools, "tools", exchange)

    def _list_resources(self, exchange: Exchange) -> dict[str, Any]:
        more = self._offer.more_resources
        return self._list(self._offer.resources, "resources", exchange, more(exchange.features) if more else ())

    def _list_templates(self, exchange: Exchange) -> dict[str, Any]:
        return self._list(self._offer.templates, "resourceTemplates", exchange)

    def _list_prompts(self, exchange: Exchange) -> dict[str, Any]:
        return self._list(self._offer.prompts, "prompts", exchange)

    def _list(self, shelf: Shelf[Any], key: str, exchange: Exchange, more: Sequence[Entry] = ()) -> dict[str, Any]:
        known = shelf.wire(exchange.peer.revision, exchange.features)
        entries = Joined(known, more) if more else known
        try:
            chosen, cursor = page(entries, exchange.params.get("cursor"), key, self._offer.page_size)
        except InvalidCursor as error:
            raise Failure(INVALID_PARAMS, f"Invalid params: {error}.") from None
        return {key: chosen} if cursor is None else {key: chosen, "nextCursor": cursor}

    # --- tools

    async def _call_tool(self, exchange: Exchange) -> dict[str, Any]:
        name = exchange.params["name"]
        tool = self._offer.tools.get(name)
        if tool is None:
            raise Failure(INVALID_PARAMS, unknown("tool", name, self._offer.tools))
        try:
            values = tool.arguments.read(exchange.params.get("arguments") or {})
        except InvalidArguments as error:
            return results.error_result(str(error))
        if tool.task is None:
            return await self.conclude(exchange, tool, self._finish(exchange, tool.handler, values))
        return await self.conclude(exchange, tool, self._as_task(exchange, tool, values))

    async def _as_task(self, exchange: Exchange, tool: ToolEntry, values: Mapping[str, Any]) -> Any:
        """The outcome of a tool that runs as a task where it can; `Started` when it does."""
        tasks = self._offer.tasks
        conclude = functools.partial(self._conclude_task, tool)
        if tool.task == "required":
            tasks.require(exchange)
        if tasks.accepts(exchange) and not tool.asks_first:
            return Started(tasks.start(exchange, self.main(tool.handler, values), conclude))
        value = await self._finish(exchange, tool.handler, values)
        if not isinstance(value, TaskWork):
            return value
        if tasks.accepts(exchange):
            return Started(tasks.start(exchange, self.main(value.handler, {}), conclude))
        return await self._finish(exchange, value.handler, {})

    async def _conclude_task(self, tool: ToolEntry, exchange: Exchange, outcome: Awaitable[Any]) -> dict[str, Any]:
        return await self.conclude(exchange, tool, outcome)

    def _about_task(self, exchange: Exchange) -> dict[str, Any]:
        try:
            return self._offer.tasks.answer(exchange)
        except RequestError as error:
            raise Failure(error.code, error.message, error.data) from None

    async def conclude(self, exchange: Exchange, tool: ToolEntry, outcome: Awaitable[Any]) -> dict[str, Any]:
        """What a tool's handler returned or raised, as the result of the call. Raises `Failure`, `NeedInput`."""
        name = tool.name
        try:
            value = await outcome
            if isinstance(value, Started):
                return value.result
            return results.tool_result(value, exchange.features, tool.output)
        except results.UnusableResult as error:
            complain(f"tool {name!r}: {error}")
            return results.error_result(f"The tool {name} ran, but its result cannot be sent: {error}.")
        except Failure:
            raise
        except Exception as error:
            raise_if_protocol(error, exchange)
            if not isinstance(error, MCPError):
                complain(f"tool {name!r} failed:", error)
            return results.error_result(sentence(error))

    # --- resources

    async def _read_resource(self, exchange: Exchange) -> dict[str, Any]:
        uri: str = exchange.params["uri"]
        entry, values = self._find_resource(uri, exchange)
        try:
            value = await self._finish(exchange, entry.handler, values)
            if value is None:
                raise NotFound(uri)
            contents = results.resource_contents(uri, value, entry.mime_type)
        except (NotFound, FileNotFoundError) as error:
            raise self._no_resource(uri, exchange, str(error)) from None
        except Exception as error:
            raise as_failure(error, exchange, f"resource {uri}") from None
        if exchange.peer.era == "legacy":
            return {"contents": contents}
        # what a person's answer brought is nobody else's
        return {"contents": contents, **(hints.NEVER if _is_retry(exchange) else entry.cache)}

    def _find_resource(self, uri: str, exchange: Exchange) -> tuple[ResourceEntry | TemplateEntry, dict[str, Any]]:
        if resource := self._offer.resources.get(uri):
            return resource, {}
        for template in self._offer.templates.values():
            variables = uritemplate.match(template.template, uri)
            if variables is None:
                continue
            try:
                values = template.arguments.read_texts(variables)
            except InvalidArguments as error:
                raise self._no_resource(uri, exchange, str(error)) from None
            return template, values
        raise self._no_resource(uri, exchange)

    def _no_resource(self, uri: str, exchange: Exchange, reason: str = "") -> Failure:
        why = f" ({reason})" if reason and reason != uri else ""
        return Failure(exchange.features.resource_not_found, f"Resource not found: {uri}{why}", {"uri": uri})

    def readable(self, uri: str) -> bool:
        """Whether there is a resource or a template for this URI."""
        templates = self._offer.templates.values()
        return uri in self._offer.resources or any(
            uritemplate.match(one.template, uri) is not None for one in templates
        )

    # --- prompts

    async def _get_prompt(self, exchange: Exchange) -> dict[str, Any]:
        name = exchange.params["name"]
        prompt = self._offer.prompts.get(name)
        if prompt is None:
            raise Failure(INVALID_PARAMS, unknown("prompt", name, self._offer.prompts))
        try:
            values = prompt.arguments.read_texts(exchange.params.get("arguments") or {})
        except InvalidArguments as error:
            raise Failure(INVALID_PARAMS, str(error)) from None
        try:
            value = await self._finish(exchange, prompt.handler, values)
            return results.prompt_result(value, prompt.labels.description, exchange.features)
        except Exception as error:
            raise as_failure(error, exchange, f"prompt {name}") from None

    # --- completion

    async def _complete(self, exchange: Exchange) -> dict[str, Any]:
        reference: Mapping[str, Any] = exchange.params["ref"]
        argument: Mapping[str, Any] = exchange.params["argument"]
        name, value = argument.get("name"), argument.get("value", "")
        if not isinstance(name, str) or not isinstance(value, str):
            raise Failure(INVALID_PARAMS, "Invalid params: `argument` needs a name and a value, both strings.")
        kind, key, handler = self._referenced(reference)
        completer = self._offer.completers.get((kind, key, name))
        if completer is None:
            parameter = next((one for one in handler.parameters if one.name == name), None)
            choices = own_choices(parameter.annotation) if parameter is not None else []
            return _completion(_matching(choices, value))
        values: dict[str, Any] = {completer.parameters[0].name: value}
        if len(completer.parameters) > 1:
            values[completer.parameters[1].name] = _chosen(exchange)
        try:
            found = await self._run(Run(exchange), completer, values)
        except Exception as error:
            raise as_failure(error, exchange, f"completion of {name}") from None
        return _completion([str(item) for item in found or ()])

    def _referenced(self, reference: Mapping[str, Any]) -> tuple[str, str, Handler]:
        kind, name, uri = reference.get("type"), reference.get("name"), reference.get("uri")
        if kind == "ref/prompt" and isinstance(name, str):
            if prompt := self._offer.prompts.get(name):
                return "prompt", name, prompt.handler
            raise Failure(INVALID_PARAMS, unknown("prompt", name, self._offer.prompts))
        if kind == "ref/resource" and isinstance(uri, str):
            for template in self._offer.templates.values():
                if template.template == uri or uritemplate.match(template.template, uri) is not None:
                    return "template", template.template, template.handler
            if resource := self._offer.resources.get(uri):
                return "resource", uri, resource.handler
            raise Failure(INVALID_PARAMS, f"Unknown resource template: {uri}")
        raise Failure(
            INVALID_PARAMS,
            'Invalid params: `ref` is {"type": "ref/prompt", "name"} or {"type": "ref/resource", "uri"}.',
        )

    # --- handlers

    async def _run(self, run: Run, handler: Handler, values: Mapping[str, Any]) -> Any:
        """Call a handler: `async def` here, `def` on a thread."""
        if handler.is_async:
            try:
                return await handler.call(values, AsyncContext(run) if handler.context else None)
            except SystemExit as error:
                # It must not end the server.
                raise RuntimeError(f"the handler ended with {error!r}").with_traceback(error.__traceback__) from None
        call = functools.partial(handler.call, values, Context(run) if handler.context else None)
        value = await self._offer.workers.run(call, run.loop)
        return await value if inspect.isawaitable(value) else value

    def main(self, handler: Handler, values: Mapping[str, Any]) -> Callable[[Run], Awaitable[Any]]:
        """What a run does: call the handler until it has its result, asking what it wants to know."""

        async def to_the_end(run: Run) -> Any:
            while True:
                run.check_pages()
                try:
                    value = await self._run(run, handler, values)
                except BaseExceptionGroup as several:
                    raise _only_questions(several) or several from None
                except UrlRequired as wanted:
                    await run.send_to(wanted)
                    continue
                if not isinstance(value, InputRequired):
                    return value
                await run.by_hand(value)

        return to_the_end

    async def _finish(self, exchange: Exchange, handler: Handler, values: Mapping[str, Any]) -> Any:
        """The outcome of a handler for a request.

        Raises:
            NeedInput: modern: this round ends with questions.
        """
        try:
            if handler.context is None or exchange.ask_client is not None:
                return await self.main(handler, values)(Run(exchange))
            return await self._round(exchange, handler, values)
        finally:
            exchange.over = True

    async def _round(self, exchange: Exchange, handler: Handler, values: Mapping[str, Any]) -> Any:
        """Modern: go on with the handler that waits for this request's answers, or begin anew."""
        parking = self._offer.parking
        try:
            run = parking.take(exchange, handler)
        except InvalidState as error:
            raise Failure(INVALID_PARAMS, f"Invalid params: {error}.") from None
        run = run or parking.new(exchange, handler, self.main(handler, values))
        try:
            return await run.round()
        finally:
            if run.done or run.cancelled:
                parking.release(run)

    def paused(self, exchange: Exchange, need: NeedInput) -> dict[str, Any]:
        """The input_required result of a round that ended with questions."""
        requests = {key: one.request() for key, one in need.questions.items()}
        asked = {key: one.digest for key, one in need.questions.items()}
        keeper, parking, ledger = self._offer.keeper, self._offer.parking, exchange.ledger or Ledger()
        held = parking.hold(need.run, keeper.seconds) if need.run is not None else None
        try:
            state = keeper.seal(ledger, asked, self._binding(exchange), held=held)
        except BaseException:
            if held is not None:
                parking.expire(held)  # nobody will hear of it
            raise
        return modern.input_required(requests, state)


def _is_retry(exchange: Exchange) -> bool:
    """Whether the request brings answers of an earlier round."""
    return exchange.params.get("requestState") is not None or bool(exchange.params.get("inputResponses"))


def _only_questions(several: BaseExceptionGroup[BaseException]) -> NeedInput | None:
    """The questions of a handler's TaskGroup, asked in one round; None when something else went wrong too."""
    questions, others = several.split(NeedInput)
    if questions is None or others is not None:
        return None
    leaves: list[BaseException] = [questions]
    merged = NeedInput({})
    while leaves:
        one = leaves.pop(0)
        if isinstance(one, NeedInput):
            merged.questions.update(one.questions)
        elif isinstance(one, BaseExceptionGroup):
            leaves.extend(cast("BaseExceptionGroup[BaseException]", one).exceptions)
    return merged


def _chosen(exchange: Exchange) -> dict[str, Any]:
    """The arguments chosen so far, where the revision tells them."""
    context = exchange.params.get("context")
    if not exchange.features.completion_context or not isinstance(context, dict):
        return {}
    chosen = cast("dict[str, Any]", context).get("arguments")
    return cast("dict[str, Any]", chosen) if isinstance(chosen, dict) else {}


def _matching(choices: list[str], prefix: str) -> list[str]:
    """Those that begin with the prefix, then those that hold it."""
    wanted = prefix.casefold()
    first = [choice for choice in choices if choice.casefold().startswith(wanted)]
    return first + [choice for choice in choices if wanted in choice.casefold() and choice not in first]


def _completion(values: list[str]) -> dict[str, Any]:
    distinct = list(dict.fromkeys(values))
    shown = distinct[:MAX_COMPLETIONS]
    return {"completion": {"values": shown, "total": len(distinct), "hasMore": len(distinct) > len(shown)}}
