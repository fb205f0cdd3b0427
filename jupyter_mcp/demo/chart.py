"""A bar chart as a PNG, with nothing but zlib and struct: the demo shall run where no plotting library is."""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

Colour = tuple[int, int, int]

WHITE: Colour = (255, 255, 255)
INK: Colour = (68, 68, 68)
LINE: Colour = (208, 208, 208)
BAR: Colour = (33, 117, 191)
BELOW: Colour = (192, 80, 60)

# A 5 x 7 font: seven rows a glyph, two hexadecimal digits each, one bit for each pixel.
_FONT = {
    "A": "0e11111f111111", "B": "1e11111e11111e", "C": "0e11101010110e", "D": "1c12111111121c", "E": "1f10101e10101f",
    "F": "1f10101e101010", "G": "0e11101711110f", "H": "1111111f111111", "I": "0e04040404040e", "J": "0702020202120c",
    "K": "11121418141211", "L": "1010101010101f", "M": "111b1515111111", "N": "11111915131111", "O": "0e11111111110e",
    "P": "1e11111e101010", "Q": "0e11111115120d", "R": "1e11111e141211", "S": "0f10100e01011e", "T": "1f040404040404",
    "U": "1111111111110e", "V": "11111111110a04", "W": "1111111515150a", "X": "11110a040a1111", "Y": "1111110a040404",
    "Z": "1f01020408101f", "0": "0e11131519110e", "1": "040c040404040e", "2": "0e11010204081f", "3": "1f02040201110e",
    "4": "02060a121f0202", "5": "1f101e0101110e", "6": "0608101e11110e", "7": "1f010204080808", "8": "0e11110e11110e",
    "9": "0e11110f01020c", "-": "0000001f000000", ".": "00000000000c0c", "+": "0004041f040400", "%": "18190204081303",
}  # fmt: skip
_SCALE = 2
_GLYPH = 6 * _SCALE  # width of a glyph with its gap
_LINE = 7 * _SCALE  # height of a glyph


class Canvas:
    """A picture of `width` x `height` pixels."""

    def __init__(self, width: int, height: int, background: Colour = WHITE) -> None:
        self.width = width
        self.height = height
        self._rows = [bytearray(bytes(background) * width) for _ in range(height)]

    def fill(self, left: int, top: int, right: int, bottom: int, colour: Colour) -> None:
        """Fill a rectangle; right and bottom are outside it. What lies outside the picture is cut off."""
        left, right = max(0, left), min(self.width, right)
        if right > left:
            for y in range(max(0, top), min(self.height, bottom)):
                self._rows[y][3 * left : 3 * right] = bytes(colour) * (right - left)

    def text(self, centre: int, top: int, words: str, colour: Colour = INK) -> None:
        """Write capitals, digits and - . + % around a centre; other characters are blanks."""
        left = centre - (len(words) * _GLYPH - _SCALE) // 2
        for at, character in enumerate(words.upper()):
            for row, bits in enumerate(bytes.fromhex(_FONT.get(character, ""))):
                for column in range(5):
                    if bits >> (4 - column) & 1:
                        x, y = left + at * _GLYPH + column * _SCALE, top + row * _SCALE
                        self.fill(x, y, x + _SCALE, y + _SCALE, colour)

    def png(self) -> bytes:
        """The picture as a PNG file (8 bit RGB)."""
        header = struct.pack(">IIBBBBB", self.width, self.height, 8, 2, 0, 0, 0)
        pixels = zlib.compress(b"".join(b"\0" + bytes(row) for row in self._rows), 9)
        return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"IDAT", pixels) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def bar_chart(values: Sequence[float], labels: Sequence[str], title: str = "") -> bytes:
    """Draw one bar for each value, with its label below it and its value at its end.

    Args:
        values: finite numbers, at least one; bars of negative ones hang below the line.
        labels: as many; long ones are cut.
        title: written on top.
    """
    slot = max(56, min(95, 760 // len(values)))
    width, height, top, bottom = slot * len(values) + 32, 264, 54, 212
    canvas = Canvas(width, height)
    canvas.text(width // 2, 10, title[: (width - 16) // _GLYPH])
    highest, lowest = max(0.0, *values), min(0.0, *values)
    span = (highest - lowest) or 1.0
    zero = top + round((bottom - top) * highest / span)
    for fraction in (0.25, 0.5, 0.75, 1.0):
        y = bottom - round((bottom - top) * fraction)
        canvas.fill(16, y, width - 16, y + 1, LINE)
    letters = (slot - 4) // _GLYPH
    for at, (value, label) in enumerate(zip(values, labels, strict=True)):
        centre = 16 + at * slot + slot // 2
        end = zero - round((bottom - top) * value / span)
        canvas.fill(
            centre - slot // 3, min(end, zero), centre + slot // 3, max(end, zero), BAR if value >= 0 else BELOW
        )
        canvas.text(centre, end - _LINE - 4 if value >= 0 else end + 4, f"{value:.4g}"[:letters])
        canvas.text(centre, bottom + _LINE + 12, label[:letters])
    canvas.fill(16, zero, width - 16, zero + 2, INK)
    return canvas.png()


def icon() -> bytes:
    """The demo's own icon: three bars, 16 x 16."""
    canvas = Canvas(16, 16)
    for left, height, colour in ((2, 5, LINE), (6, 12, BAR), (10, 8, INK)):
        canvas.fill(left, 14 - height, left + 3, 14, colour)
    return canvas.png()
