"""What the demo server talks about: made-up weather, the planets, places, notes. Pure and the same every time."""

import zlib
from dataclasses import dataclass
from typing import Literal, TypedDict

Units = Literal["celsius", "fahrenheit"]
SKIES = ("clear", "partly cloudy", "cloudy", "light rain", "heavy rain", "fog", "snow")


@dataclass
class Day:
    """The forecast of one day."""

    day: int
    sky: str
    low: float
    high: float
    rain_probability: float


@dataclass
class Forecast:
    """A forecast of several days."""

    city: str
    units: Units
    days: list[Day]


def forecast(city: str, units: Units, days: int) -> Forecast:
    """Made-up weather that is always the same for the same city."""
    seed = zlib.crc32(city.strip().casefold().encode())
    warmth = seed % 25 + 4
    found: list[Day] = []
    for day in range(1, days + 1):
        dice = zlib.crc32(f"{seed}/{day}".encode())
        low, spread = warmth + dice % 7 - 3, 4 + dice // 7 % 8
        sky = SKIES[dice // 56 % (len(SKIES) if low < 3 else len(SKIES) - 1)]
        rain = {"light rain": 0.6, "heavy rain": 0.9, "snow": 0.8}.get(sky, dice // 400 % 30 / 100)
        found.append(Day(day, sky, _in(units, low), _in(units, low + spread), rain))
    return Forecast(city, units, found)


def _in(units: Units, celsius: float) -> float:
    return round(celsius * 9 / 5 + 32, 1) if units == "fahrenheit" else float(celsius)


class Planet(TypedDict):
    """One planet."""

    name: str
    kind: Literal["rocky", "gas giant", "ice giant"]
    diameter_km: int
    moons: int
    rings: bool
    year_days: float


PLANETS: tuple[Planet, ...] = (
    {"name": "Mercury", "kind": "rocky", "diameter_km": 4879, "moons": 0, "rings": False, "year_days": 88.0},
    {"name": "Venus", "kind": "rocky", "diameter_km": 12104, "moons": 0, "rings": False, "year_days": 224.7},
    {"name": "Earth", "kind": "rocky", "diameter_km": 12756, "moons": 1, "rings": False, "year_days": 365.2},
    {"name": "Mars", "kind": "rocky", "diameter_km": 6792, "moons": 2, "rings": False, "year_days": 687.0},
    {"name": "Jupiter", "kind": "gas giant", "diameter_km": 142984, "moons": 95, "rings": True, "year_days": 4331.0},
    {"name": "Saturn", "kind": "gas giant", "diameter_km": 120536, "moons": 146, "rings": True, "year_days": 10747.0},
    {"name": "Uranus", "kind": "ice giant", "diameter_km": 51118, "moons": 28, "rings": True, "year_days": 30589.0},
    {"name": "Neptune", "kind": "ice giant", "diameter_km": 49528, "moons": 16, "rings": True, "year_days": 59800.0},
)

LANGUAGES = (
    "c",
    "c++",
    "go",
    "java",
    "javascript",
    "julia",
    "kotlin",
    "python",
    "r",
    "ruby",
    "rust",
    "sql",
    "typescript",
)

CITIES: dict[str, tuple[str, ...]] = {
    "France": ("Lyon", "Marseille", "Nantes", "Paris", "Strasbourg"),
    "Italy": ("Bologna", "Florence", "Milan", "Rome", "Turin", "Venice"),
    "Japan": ("Kyoto", "Nagoya", "Osaka", "Sapporo", "Tokyo"),
    "Spain": ("Barcelona", "Bilbao", "Madrid", "Seville", "Valencia"),
}

FIRST_NOTES: dict[str, str] = {
    "today": "- water the plants\n- read about templates: notes://{day} serves every day\n",
    "monday": "- bring back the library books\n",
    "tuesday": "- bake bread\n",
}

PAGE = "https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation"

# A form with every kind of field that elicitation knows.
BOOKING = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Your name", "minLength": 2, "maxLength": 60},
        "email": {
            "type": "string",
            "title": "E-mail",
            "format": "email",
            "description": "The confirmation goes there.",
        },
        "arrival": {"type": "string", "title": "Arrival", "format": "date"},
        "guests": {"type": "integer", "title": "Guests", "minimum": 1, "maximum": 6, "default": 2},
        "budget": {
            "type": "number",
            "title": "Budget a night",
            "minimum": 0,
            "description": "In euros; cents are fine.",
        },
        "breakfast": {"type": "boolean", "title": "With breakfast", "default": True},
        "room": {
            "type": "string",
            "title": "Room",
            "oneOf": [
                {"const": "single", "title": "Single, to the yard"},
                {"const": "double", "title": "Double, to the street"},
                {"const": "suite", "title": "Suite with a balcony"},
            ],
            "default": "double",
        },
        "extras": {
            "type": "array",
            "title": "Extras",
            "description": "Up to two.",
            "items": {
                "anyOf": [
                    {"const": "bicycle", "title": "A bicycle"},
                    {"const": "late", "title": "Late check-out"},
                    {"const": "cot", "title": "A cot"},
                ]
            },
            "maxItems": 2,
        },
    },
    "required": ["name", "email", "arrival", "guests", "room"],
}
