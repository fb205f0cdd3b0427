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

# A 3 x 5 font: five octal digits a glyph, one for each row, one bit for each pixel.
_FONT = {
    "0": "75557", "1": "26227", "2": "71747", "3": "71717", "4": "55711", "5": "74717", "6": "74757", "7": "71122",
    "8": "75757", "9": "75717", "A": "25755", "B": "65656", "C": "34443", "D": "65556", "E": "74647", "F": "74644",
    "G": "34553", "H": "55755", "I": "72227", "J": "11152", "K": "55655", "L": "44447", "M": "57755", "N": "65555",
    "O": "25552", "P": "65644", "Q": "25563", "R": "65655", "S": "34216", "T": "72222", "U": "55557", "V": "55552",
    "W": "55775", "X": "55255", "Y": "55222", "Z": "71247", "-": "00700", ".": "00002", "+": "02720", "%": "51245",
}  # fmt: skip
_SCALE = 2
_GLYPH = 4 * _SCALE  # width of a glyph with its gap


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
            for row, bits in enumerate(_FONT.get(character, "")):
                for column in range(3):
                    if int(bits, 8) >> (2 - column) & 1:
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
    slot = max(48, min(96, 640 // len(values)))
    width, height, top, bottom = slot * len(values) + 32, 240, 44, 206
    canvas = Canvas(width, height)
    canvas.text(width // 2, 14, title[: (width - 16) // _GLYPH])
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
        canvas.text(centre, end - 14 if value >= 0 else end + 4, f"{value:.4g}"[:letters])
        canvas.text(centre, bottom + 14, label[:letters])
    canvas.fill(16, zero, width - 16, zero + 2, INK)
    return canvas.png()


def icon() -> bytes:
    """The demo's own icon: three bars, 16 x 16."""
    canvas = Canvas(16, 16)
    for left, height, colour in ((2, 5, LINE), (6, 12, BAR), (10, 8, INK)):
        canvas.fill(left, 14 - height, left + 3, 14, colour)
    return canvas.png()
