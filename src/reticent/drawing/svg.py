"""Pieces of a drawing: a plot that collects lines, boxes, discs and texts, scales, and ticks at round numbers.

Positions across are per cent of the drawing's width, positions down are pixels, and so are letters.  So a drawing is as
wide as its column on a phone, a desk and paper, and its text keeps its size.  Colours are classes of the style sheet:
dark mode and paper need no other drawing, and no element has a `style` of its own, which a strict page would refuse.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Literal

Anchor = Literal["start", "middle", "end"]
TICK_LENGTH = 4
TICK_TEXT_DROP = 17
AXIS_NAME_DROP = 36
AXIS_ROOM = 42
"""How far below an axis its ticks, their texts and its name are, and the room that all take."""
SHORTEST_STEP = 1e-300
LETTER_PERCENT = 2.0
WIDE_LETTERS = frozenset("mwMW@%")
MARGIN_PERCENT = 3.0
DESK_SHARE = 0.5
"""How wide a letter is on the narrowest screen, in per cent of the drawing; which letters are wider; how far a text may
reach into the page's margin; and how wide a text is on a desk, as a share of that.  Nothing is measured in fonts."""


def format_number(number: float) -> str:
    """Format a coordinate with two digits at most, the same on every machine."""
    return f"{number:.2f}".rstrip("0").rstrip(".") or "0"


def format_percent(number: float) -> str:
    return f"{format_number(number)}%"


def measure_text(text: str) -> float:
    """Return about how wide a text is on the narrowest screen, in per cent of the drawing."""
    return LETTER_PERCENT * sum(map(_weigh_letter, text))


def shorten_text(text: str, percent: float = 100.0) -> str:
    """Cut a text to a width on the narrowest screen; what is cut ends in dots."""
    if measure_text(text) <= percent:
        return text
    kept = text
    while kept and measure_text(f"{kept}\u2026") > percent:
        kept = kept[:-1]
    return f"{kept}\u2026"


def choose_anchor(x: float, text: str) -> Anchor:
    """Choose the anchor of a text at a mark: its middle, or the end that keeps it within the screen."""
    half = measure_text(text) / 2
    if x - half < -MARGIN_PERCENT:
        return "start"
    return "end" if x + half > 100 + MARGIN_PERCENT else "middle"


def choose_tick_classes(places: Sequence[float], texts: Sequence[str]) -> list[str | None]:
    """Choose the class of each tick's text, from the left: none where two would meet.

    Every other text of many, and one that would meet another on a narrow screen, is `roomy`: only a wider screen shows it.
    """
    classes: list[str | None] = []
    right_on_phone = right_on_desk = -math.inf
    for number, (x, text) in enumerate(zip(places, texts, strict=True)):
        anchor = choose_anchor(x, text)
        left, right = _find_ends(x, measure_text(text), anchor)
        desk_left, desk_right = _find_ends(x, measure_text(text) * DESK_SHARE, anchor)
        if desk_left < right_on_desk:
            classes.append(None)
            continue
        is_roomy = (number % 2 == 1 and len(texts) > 4) or left < right_on_phone
        classes.append("tick roomy" if is_roomy else "tick")
        right_on_desk = desk_right + LETTER_PERCENT * DESK_SHARE
        right_on_phone = right_on_phone if is_roomy else right + LETTER_PERCENT
    return classes


def _weigh_letter(letter: str) -> float:
    if unicodedata.east_asian_width(letter) in "WF":
        return 2.0
    if letter in WIDE_LETTERS:
        return 1.6
    return 1.25 if letter.isupper() else 1.0


def _find_ends(x: float, width: float, anchor: Anchor) -> tuple[float, float]:
    left = x - {"start": 0.0, "middle": width / 2, "end": width}[anchor]
    return left, left + width


@dataclass(frozen=True)
class LinearScale:
    """Positions across for numbers from `low` to `high`; with `logarithmic`, equal ratios are equally wide."""

    low: float
    high: float
    left: float = 0.0
    right: float = 100.0
    logarithmic: bool = False

    def __call__(self, number: float) -> float:
        low, high, value = (self._convert(end) for end in (self.low, self.high, number))
        if high == low:
            return (self.left + self.right) / 2
        return self.left + (self.right - self.left) * (value - low) / (high - low)

    def _convert(self, number: float) -> float:
        return math.log(number) if self.logarithmic else number


def choose_ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Choose round numbers from `low` to `high`, at most about `most`: multiples of 1, 2 or 5 times a power of ten.

    An axis too short for a power of ten that a double can hold has its beginning alone.
    """
    rough = (high - low) / most
    if not rough >= SHORTEST_STEP:
        return [low]
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [float(f"{number * step:.12g}") for number in range(first, last + 1)]


def choose_log_ticks(low: float, high: float) -> list[float]:
    """Choose 1, 2 and 5 times powers of ten from `low` to `high`, or powers of ten alone where there are many."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    factors = (1, 2, 5) if len(powers) <= 5 else (1,)
    return [
        factor * 10.0**power
        for power in powers
        for factor in factors
        if low <= factor * 10.0**power <= high * (1 + 1e-9)
    ]


@dataclass
class Plot:
    """A drawing that grows piece by piece and is rendered once; what is added later lies above what was added before."""

    height: float
    pieces: list[str] = field(default_factory=list)

    def add_line(self, x1: float, y1: float, x2: float, y2: float, classes: str) -> None:
        self.pieces.append(
            f'<line x1="{format_percent(x1)}" y1="{format_number(y1)}" x2="{format_percent(x2)}" '
            f'y2="{format_number(y2)}" class="{classes}"/>'
        )

    def add_box(self, x: float, y: float, width: float, height: float, classes: str) -> None:
        self.pieces.append(
            f'<rect x="{format_percent(x)}" y="{format_number(y)}" width="{format_percent(width)}" '
            f'height="{format_number(height)}" class="{classes}"/>'
        )

    def add_disc(self, x: float, y: float, radius: float, classes: str) -> None:
        self.pieces.append(
            f'<circle cx="{format_percent(x)}" cy="{format_number(y)}" r="{format_number(radius)}" class="{classes}"/>'
        )

    def add_text(
        self, x: float, y: float, text: str, classes: str = "", anchor: Anchor = "start", shift: float = 0
    ) -> None:
        """Add a text at a point; `shift` moves it across by pixels, away from the mark that it names."""
        anchored = "" if anchor == "start" else f' text-anchor="{anchor}"'
        shifted = f' dx="{format_number(shift)}"' if shift else ""
        styled = f' class="{classes}"' if classes else ""
        self.pieces.append(
            f'<text x="{format_percent(x)}" y="{format_number(y)}"{anchored}{shifted}{styled}>{escape(text)}</text>'
        )

    def add_axis(
        self,
        scale: Callable[[float], float],
        ticks: Sequence[float],
        y: float,
        name: str,
        format_tick: Callable[[float], str],
        grid_top: float | None = None,
    ) -> None:
        """Add a horizontal axis: its line, ticks with texts, the name at its end, and grid lines up to `grid_top`."""
        self.add_line(0, y, 100, y, "axis")
        for x in map(scale, ticks):
            if grid_top is not None:
                self.add_line(x, grid_top, x, y, "grid")
            self.add_line(x, y, x, y + TICK_LENGTH, "axis")
        self.add_tick_texts([scale(tick) for tick in ticks], [format_tick(tick) for tick in ticks], y + TICK_TEXT_DROP)
        self.add_axis_name(name, y)

    def add_axis_name(self, name: str, y: float) -> None:
        """Add the name of an axis below its right end, cut where the narrowest screen has no room for it."""
        self.add_text(100, y + AXIS_NAME_DROP, shorten_text(name), "tick", "end")

    def add_tick_texts(self, places: Sequence[float], texts: Sequence[str], y: float) -> None:
        """Add the texts of ticks, as many as there is room for, within the screen."""
        for x, text, classes in zip(places, texts, choose_tick_classes(places, texts), strict=True):
            if classes is not None:
                self.add_text(x, y, text, classes, choose_anchor(x, text))

    def add_label(
        self, x: float, y: float, text: str, classes: str, gap: float = 7, right: float = 100 + MARGIN_PERCENT
    ) -> None:
        """Add a text beside the mark at `x`: right of it up to `right`, or left of it, or, where neither has room, at an end."""
        width = measure_text(text)
        apart = gap / 3  # pixels, in per cent of the narrowest drawing
        if x + apart + width <= right:
            self.add_text(x, y, text, classes, shift=gap)
        elif x - apart - width >= -MARGIN_PERCENT:
            self.add_text(x, y, text, classes, "end", shift=-gap)
        elif x < 50:
            self.add_text(0, y, shorten_text(text), classes)
        else:
            self.add_text(min(right, 100), y, shorten_text(text, min(right, 100)), classes, "end")

    def render(self, description: str) -> str:
        """Render the drawing with a description for those who hear the page."""
        return (
            f'<svg class="plot" height="{format_number(self.height)}" role="img" aria-label="{escape(description)}">'
            f"{''.join(self.pieces)}</svg>"
        )

    def render_hidden(self) -> str:
        """Render the drawing for the eye alone, beside a text that says the same."""
        return (
            f'<svg class="plot" height="{format_number(self.height)}" aria-hidden="true">{"".join(self.pieces)}</svg>'
        )
