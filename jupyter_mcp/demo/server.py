"""The demo server: one small example of everything a server can offer. Read it from top to bottom.

A function becomes a tool by its decorator; its parameters, their annotations and its docstring become what clients see.
"""

import asyncio
import base64
from typing import Any, Literal, TypedDict

from jupyter_mcp.demo import chart as charts
from jupyter_mcp.demo import data
from jupyter_mcp.demo.data import Forecast, Planet, Units
from jupyter_mcp.server import AsyncContext, Context, Image, NotFound, Server, ToolError, ToolResult, assistant, user

server = Server(
    "jupyter-mcp-demo",
    title="Demo",
    instructions=(
        "A server to learn from. Start with add and weather; table and chart show data and pictures; slow reports "
        "progress; survey goes on as a task; book asks the person a form, join to open a page; summarise asks the "
        "client's model; notes are resources."
    ),
    icons=[
        {
            "src": "data:image/png;base64," + base64.b64encode(charts.icon()).decode(),
            "mimeType": "image/png",
            "sizes": ["16x16"],
        }
    ],
)

READS_ONLY = {"readOnlyHint": True, "openWorldHint": False}


# --- Tools -----------------------------------------------------------------------------------------------------------
# `async def` handlers run on the server's loop: right for what is quick or awaits. `def` handlers run on a thread.


@server.tool(title="Add two numbers", annotations=READS_ONLY)
async def add(a: int | float, b: int | float) -> int | float:
    """Add two numbers.

    Args:
        a: The first number.
        b: The second number.
    """
    return a + b


@server.tool(title="Weather forecast", annotations=READS_ONLY)
async def weather(city: str, units: Units = "celsius", days: int = 3) -> Forecast:
    """Forecast the weather of a city. It is made up, and always the same.

    The result is structured: its schema comes from the dataclass that the function returns.

    Args:
        city: Any city.
        units: The unit of the temperatures.
        days: How many days, 1 to 14.
    """
    if not 1 <= days <= 14:
        raise ToolError(f"days must be from 1 to 14, not {days}.")  # the model reads it and can do better
    return data.forecast(city, units, days)


class Planets(TypedDict):
    """Rows of a table."""

    rows: list[Planet]


@server.tool(title="The planets", annotations=READS_ONLY)
async def table(
    kind: Literal["all", "rocky", "gas giant", "ice giant"] = "all",
    sort_by: Literal["order", "name", "diameter_km", "moons"] = "order",
) -> Planets:
    """List the planets as a table.

    Args:
        kind: Only planets of this kind.
        sort_by: The column to sort by; "order" is the distance from the sun.
    """
    rows = [planet for planet in data.PLANETS if kind in ("all", planet["kind"])]
    if sort_by != "order":
        rows.sort(key=lambda planet: planet[sort_by])
    return {"rows": rows}


@server.tool(title="Bar chart", annotations=READS_ONLY)
def chart(values: list[float] | None = None, labels: list[str] | None = None, title: str = "Moons") -> Image:
    """Draw a bar chart; without values, of the planets' moons.

    Args:
        values: One number for each bar, at most 20.
        labels: One short word for each bar.
        title: Written on top.
    """
    if not values:
        values = [float(planet["moons"]) for planet in data.PLANETS]
        labels = labels or [planet["name"] for planet in data.PLANETS]
    labels = labels or [str(number) for number in range(1, len(values) + 1)]
    if len(values) > 20 or len(labels) != len(values):
        raise ToolError("A chart has at most 20 bars, and as many labels as values.")
    return Image(charts.bar_chart(values, labels, title))


@server.tool(title="A slow job", annotations=READS_ONLY)
def slow(ctx: Context, seconds: float = 3, steps: int = 10) -> str:
    """Take some time and report progress; it can be cancelled.

    Args:
        seconds: How long, up to 600.
        steps: In how many steps, 1 to 1000.
    """
    if not (0 <= seconds <= 600 and 1 <= steps <= 1000):
        raise ToolError("seconds must be from 0 to 600, steps from 1 to 1000.")
    for step in range(1, steps + 1):
        ctx.sleep(seconds / steps)  # ends at once when the client cancels
        ctx.progress(step, steps, f"step {step} of {steps}")
    ctx.log("info", f"slow: {steps} steps done")
    return f"Done: {steps} steps."


# A task goes on after the call was answered, for clients that know tasks; others wait for it as for any tool.


@server.tool(title="Survey the planets", task=True, annotations=READS_ONLY)
async def survey(ctx: AsyncContext, seconds: float = 8, confirm: bool = False) -> str:
    """Visit every planet: a long job that can be left, found again, answered and cancelled.

    Args:
        seconds: How long it takes, up to 600.
        confirm: Ask the person halfway whether to go on.
    """
    if not 0 <= seconds <= 600:
        raise ToolError("seconds must be from 0 to 600.")
    for number, planet in enumerate(data.PLANETS, 1):
        if confirm and number == 5:
            answer = await ctx.elicit("Four planets are done. Visit the giants too?")
            if not answer.accepted:
                return "Surveyed 4 planets."
        await ctx.progress(number, len(data.PLANETS), f"at {planet['name']}")
        await asyncio.sleep(seconds / len(data.PLANETS))
    return f"Surveyed {len(data.PLANETS)} planets."


@server.tool(title="Book a room", annotations={"readOnlyHint": False, "destructiveHint": False})
async def book(city: str, ctx: AsyncContext) -> ToolResult:
    """Book a room in a city; the person fills in the form. Nothing is booked in truth.

    Args:
        city: Where.
    """
    answer = await ctx.elicit(f"A room in {city}: please fill in the booking.", data.BOOKING)
    if not answer.accepted:
        words = {"decline": "the person declined", "cancel": "nobody answered"}[answer.action]
        return ToolResult(f"No room was booked in {city}: {words}.", structured={"booked": False, "city": city})
    booking: dict[str, Any] = answer.data
    guests, room = booking["guests"], booking["room"]
    text = (
        f"Booked in {city} for {booking['name']}: a {room} from {booking['arrival']}, {guests} guest{'s'[: guests > 1]}"
    )
    if booking.get("breakfast"):
        text += ", with breakfast"
    if extras := booking.get("extras"):
        text += ", and " + " and ".join(extras)
    return ToolResult(text + ".", structured={"booked": True, "city": city, **booking})


@server.tool(title="Join the guest book", annotations={"readOnlyHint": False, "destructiveHint": False})
async def join(ctx: AsyncContext) -> str:
    """Send the person to a page, as for a sign-in: here to one of the protocol's own. Nothing is sent there."""
    if not ctx.can("elicitation", "url"):
        return f"Please open {data.PAGE} in a browser; this client cannot ask you to."
    answer = await ctx.elicit_url("Please read how servers send people to pages.", data.PAGE)
    words = {"accept": "agreed to open the page", "decline": "did not want to", "cancel": "did not answer"}
    return f"The person {words[answer.action]}."


@server.tool(title="Summarise a text", annotations=READS_ONLY)
async def summarise(text: str, ctx: AsyncContext, sentences: int = 1) -> str:
    """Summarise a text with the client's own model.

    Args:
        text: What to summarise.
        sentences: How long the summary may be.
    """
    plural = "s" if sentences > 1 else ""
    reply = await ctx.sample(f"Summarise in {sentences} sentence{plural}:\n\n{text}", max_tokens=200 * sentences)
    return reply.text


@server.tool(title="Fail", annotations=READS_ONLY)
async def fail(message: str = "This tool always fails.") -> str:
    """Report an error, to see how errors look.

    Args:
        message: The error's text.
    """
    raise ToolError(message)


# --- Resources -------------------------------------------------------------------------------------------------------
# A fixed URI is a resource; a URI with {variables} is a template, whose variables are the function's parameters.

notes = dict(data.FIRST_NOTES)


@server.resource("notes://today", title="Today's note", mime_type="text/markdown")
async def today() -> str:
    """What is to be done today."""
    return notes["today"]


@server.resource("notes://{day}", title="The note of a day", mime_type="text/markdown")
async def note(day: str) -> str:
    """What is to be done on a day.

    Args:
        day: Its name, such as monday.
    """
    if day not in notes:
        raise NotFound(f"no note for {day}")
    return notes[day]


@server.completion(note, "day")
async def days(prefix: str) -> list[str]:
    """The days that have a note."""
    return [day for day in sorted(notes) if day.startswith(prefix.lower())]


@server.resource("demo://icon.png", title="The icon of this server")
async def icon() -> bytes:
    """A small picture, to see a binary resource."""
    return charts.icon()


@server.tool(title="Add a note", annotations={"readOnlyHint": False, "destructiveHint": False, "openWorldHint": False})
async def add_note(day: str, text: str) -> str:
    """Add a line to the note of a day; whoever watches the resource is told.

    Args:
        day: A day's name, such as monday.
        text: The line.
    """
    day = day.strip().lower()
    if not day.isalpha():
        raise ToolError("A day's name has only letters.")
    notes[day] = notes.get(day, "") + f"- {text}\n"
    server.resource_updated(f"notes://{day}")
    count = notes[day].count("\n")
    return f"The note of {day} has {count} line{'' if count == 1 else 's'} now."


# --- Prompts ---------------------------------------------------------------------------------------------------------
# A prompt returns the messages to begin a conversation with. Its arguments can complete, also from one another.


@server.prompt(title="Review code")
async def review(language: str, code: str = "") -> list[Any]:
    """Review code for mistakes and style.

    Args:
        language: The programming language.
        code: The code; left out, the conversation asks for it.
    """
    wish = user(
        f"Please review this {language} code for mistakes and style. Name the line, the problem and a better way."
    )
    if code:
        return [wish, user(f"```{language}\n{code}\n```")]
    return [wish, assistant(f"Gladly. Please show me the {language} code.")]


@server.completion(review, "language")
async def languages(prefix: str) -> list[str]:
    """Programming languages."""
    return [language for language in data.LANGUAGES if language.startswith(prefix.lower())]


@server.prompt(title="Plan a trip")
async def trip(country: str, city: str, days: int = 3) -> str:
    """Plan a few days in a city.

    Args:
        country: Where to.
        city: Which city; its completion knows the country.
        days: How many days.
    """
    plural = "s" if days != 1 else ""
    return f"Plan {days} day{plural} in {city}, {country}: one idea for each morning, afternoon and evening."


@server.completion(trip, "country")
async def countries(prefix: str) -> list[str]:
    """The countries we know."""
    return [country for country in data.CITIES if country.lower().startswith(prefix.lower())]


@server.completion(trip, "city")
async def cities(prefix: str, chosen: dict[str, str]) -> list[str]:
    """Cities of the country that was chosen before, or of all."""
    known = data.CITIES.get(chosen.get("country", ""))
    every = known if known is not None else tuple(city for group in data.CITIES.values() for city in group)
    return [city for city in every if city.lower().startswith(prefix.lower())]
