"""The charts of the studies as SVG: rows of a CSV in, a drawing out, and nothing to install.

`draw_lines` is for a number along the axis, `draw_categories` for what has no order: categories are never joined by lines.
A series has a marker and a dash of its own besides its colour, and its name at its end.  Series that lie on each other are
named together, single points that do are drawn beside each other.  Colours are classes of the drawing's own style, for light and
dark screens; text is measured by its letters, so that nothing is cut.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import pairwise
from math import ceil, floor, log10
from typing import Any

Row = Mapping[str, Any]
Point = tuple[float, float]

WIDTH = 820
MARGIN = 16
TITLE_SIZE = 17
LABEL_SIZE = 13
TICK_SIZE = 12
TITLE_LINE = 23
LABEL_LINE = 17
PLOT_HEIGHT = 270
HEIGHT_OF_LINE = 42  # a chart of many lines is higher
MAX_NAME_LETTERS = 30  # of a line of a series' name
MARK_APART = 9  # pixels between markers that would hide each other
EQUAL_WITHIN = 1.5  # pixels up or down within which two lines are one from end to end
HIDDEN_WITHIN = 7  # pixels up or down at which one marker hides another
SERIES_APART = 10  # pixels between the marks of one category
BOLD = 1.13  # how much wider bold letters are
NARROW = frozenset("iljtfrI.,:;'|!()[]-/ ")
WIDE = frozenset("mwMW%@≈=+")

COLOURS = 5
DASHES = ("", "7 3", "2 3", "10 3 2 3", "5 5", "14 4", "1 4", "6 2 2 2 2 2", "14 3 3 3", "3 6")
SHAPES = (
    "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0z",
    "M0-5.5L5.2 4H-5.2z",
    "M-4-4H4V4H-4z",
    "M0-5.8L5.8 0L0 5.8L-5.8 0z",
    "M-4-4L4 4M4-4L-4 4",
)
PLUS = "M0-5.5V5.5M-5.5 0H5.5"  # the cross of the second round, where others are hollow
STYLE = """
text{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Liberation Sans","DejaVu Sans",sans-serif;font-size:13px;fill:#1c2024}
.title{font-size:17px;font-weight:650}.note,.tick,.axis{fill:#5d656e}.tick{font-size:12px}.head{font-weight:650}
.grid,.leader{stroke:#dad7ce}.base{stroke:#858b92}.c1{fill:#0d5b7a;stroke:#0d5b7a}.c2{fill:#c2560a;stroke:#c2560a}
.c3{fill:#1c8465;stroke:#1c8465}.c4{fill:#9c4a80;stroke:#9c4a80}.c5{fill:#7d6b00;stroke:#7d6b00}.reference{fill:#7d838a;stroke:#7d838a}
.line{fill:none;stroke-width:2}.band{stroke:none;fill-opacity:.16}.mark{stroke-width:1.8}.paper,.hollow{fill:#fdfcf9}
@media (prefers-color-scheme:dark){text{fill:#e9e7e2}.note,.tick,.axis{fill:#a0a6ad}.grid,.leader{stroke:#363c42}.base{stroke:#7d858d}
.c1{fill:#7ec4e1;stroke:#7ec4e1}.c2{fill:#f29a5c;stroke:#f29a5c}.c3{fill:#62cba5;stroke:#62cba5}.c4{fill:#e2a0cb;stroke:#e2a0cb}
.c5{fill:#d8c24c;stroke:#d8c24c}.reference{fill:#949aa1;stroke:#949aa1}.line{fill:none}.band{stroke:none}.paper,.hollow{fill:#15181b}}
"""


@dataclass(frozen=True, slots=True)
class Series:
    """What is drawn with one marker: its names (several where their points are the same) and its points, from the left."""

    names: tuple[str, ...]
    equal: bool
    points: tuple[Point, ...]
    values: tuple[Row, ...]
    number: int
    is_reference: bool = False

    @property
    def colour(self) -> str:
        return "reference" if self.is_reference else f"c{self.number % COLOURS + 1}"

    @property
    def label(self) -> list[str]:
        """The lines of the name: of several names, one below the other."""
        sign = "= " if self.equal else "≈ "
        names = [self.names[0], *(sign + name for name in self.names[1:])]
        return [line for name in names for line in textwrap.wrap(name, MAX_NAME_LETTERS, break_long_words=False)]


@dataclass(frozen=True, slots=True)
class Scale:
    """Where values lie between two places; with `logarithmic` equal ratios are equally wide, and 0 has the first place."""

    marks: tuple[float, ...]
    first: float
    last: float
    logarithmic: bool = False

    def __call__(self, value: float) -> float:
        low, high, share = (self.convert(number) for number in (self.marks[0], self.marks[-1], value))
        return self.first + (share - low) / ((high - low) or 1.0) * (self.last - self.first)

    def convert(self, value: float) -> float:
        if not self.logarithmic:
            return value
        positive = next(mark for mark in self.marks if mark > 0)
        if value <= 0:
            return log10(positive) - 0.5
        return log10(value)


def draw_lines(
    rows: Sequence[Row],
    x: str,
    y: str,
    *,
    title: str,
    note: str,
    x_label: str,
    y_label: str,
    series: str = "method",
    ends: tuple[str, str] | None = None,
    references: Collection[str] = (),
    logarithmic: bool = False,
    doubling: bool = False,
    from_zero: bool = True,
) -> str:
    """Draw the columns `x` and `y` of rows, a line for each entry of `series`.

    `ends` names the columns of a band; `references` are drawn grey and hollow.  `logarithmic` is of the height, `doubling` of the
    width; without `from_zero` the height begins near the least value.
    """
    lines: dict[str, list[Row]] = {}
    for row in rows:
        lines.setdefault(str(row[series]), []).append(row)
    across = sorted({float(row[x]) for row in rows})
    marks = choose_marks(
        [float(row[column]) for row in rows for column in (y, *(ends or ()))], logarithmic, from_zero=from_zero
    )
    head, top = _draw_head(title, f"{note} The scale of the height is logarithmic." if logarithmic else note)
    top += LABEL_LINE
    head.append(_write(MARGIN, top - 2, y_label, "axis"))
    top += 16
    left = MARGIN + max(measure(format_mark(mark), TICK_SIZE) for mark in marks) + 12
    names = [textwrap.wrap(name, MAX_NAME_LETTERS, break_long_words=False) for name in lines]
    bottom = top + max(PLOT_HEIGHT, HEIGHT_OF_LINE * len(names), 12 + LABEL_LINE * sum(map(len, names)))
    height_of = Scale(tuple(marks), bottom, top, logarithmic)
    ordered = {name: sorted(points, key=lambda row: float(row[x])) for name, points in lines.items()}
    joined = _join_equal(
        [
            (name, [(float(row[x]), height_of(float(row[y]))) for row in points], points)
            for name, points in ordered.items()
        ],
        y,
        references,
    )
    right = WIDTH - MARGIN - max(measure(line, LABEL_SIZE) for entry in joined for line in entry.label) - 44
    inner = 20.0 if len(across) > 1 else (right - left) / 2
    place_of = Scale((across[0], across[-1]), left + inner, right - (inner if len(across) == 1 else 10), doubling)
    parts = _draw_heights(marks, height_of, left, right)
    parts += _draw_places(across, place_of, bottom)
    parts.append(_write(right, bottom + 42, x_label, "axis", "end"))
    drawn = _spread_points([_move(entry, place_of) for entry in joined])
    if ends is not None:
        parts += [_draw_band(entry, x, ends, place_of, height_of) for entry in drawn]
    parts += [_draw_line(entry) for entry in drawn]
    parts += [_draw_mark(point, entry) for entry in drawn for point in entry.points]
    parts += _draw_names(drawn, right + 14, top, bottom)
    described = f"{y_label} by {x_label}: " + "; ".join(
        f"{' and '.join(entry.names)} {_describe_ends(entry, x, y)}" for entry in drawn
    )
    return _finish(title, described, [*head, *parts], bottom + 56)


def draw_categories(
    rows: Sequence[Row],
    category: str,
    value: str,
    *,
    title: str,
    note: str,
    value_label: str,
    series: str = "method",
    group: str | None = None,
    ends: tuple[str, str] | None = None,
    references: Collection[str] = (),
    logarithmic: bool = False,
) -> str:
    """Draw a mark for each row: its category down, under the heading of its group, its value across.

    Series have a marker each, named above the drawing; `ends` names the columns of the ranges.
    """
    names = list(dict.fromkeys(str(row[series]) for row in rows))
    numbers = _number_series(names, references)
    key = {name: Series((name,), False, (), (), numbers[name], name in references) for name in names}
    places: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        places.setdefault((str(row[group]) if group else "", str(row[category])), []).append(row)
    marks = choose_marks([float(row[column]) for row in rows for column in (value, *(ends or ()))], logarithmic)
    head, top = _draw_head(title, f"{note} The scale across is logarithmic." if logarithmic else note)
    if len(names) > 1:
        drawn_key, top = _draw_key(list(key.values()), top)
        head += drawn_key
    left = MARGIN + 12 + max(measure(place, LABEL_SIZE) for _, place in places) + (16 if group else 0)
    right = WIDTH - MARGIN - measure(format_mark(marks[-1]), TICK_SIZE) / 2 - 4
    place_of = Scale(tuple(marks), left + 8, right, logarithmic)
    top += 12
    step = max(24.0, SERIES_APART * len(names) + 9.0)
    down = float(top)
    earlier = ""
    parts: list[str] = []
    for (heading, name), entries in places.items():
        if heading != earlier:
            down += 24
            behind = measure(heading, LABEL_SIZE * BOLD)
            parts.append(f'<rect class="paper" x="{MARGIN}" y="{down - 20:.1f}" width="{behind:.1f}" height="18"/>')
            parts.append(_write(MARGIN, down - 6, heading, "head"))
            earlier = heading
        middle = down + step / 2
        parts.append(_write(left - 10, middle + 4.5, name, anchor="end"))
        parts.append(f'<line class="grid" x1="{left:.1f}" x2="{right:.1f}" y1="{down:.1f}" y2="{down:.1f}"/>')
        for row in entries:
            entry = key[str(row[series])]
            height = middle + (names.index(entry.names[0]) - (len(names) - 1) / 2) * SERIES_APART
            if ends is not None:
                low, high = (place_of(float(row[column])) for column in ends)
                dash = _format_dash(entry)
                parts.append(f'<path class="line {entry.colour}"{dash} d="M{low:.1f} {height:.1f}H{high:.1f}"/>')
            parts.append(_draw_mark((place_of(float(row[value])), height), entry))
        down += step
    grid = []
    for mark in marks:
        place = place_of(mark)
        grid.append(f'<line class="grid" x1="{place:.1f}" x2="{place:.1f}" y1="{top:.1f}" y2="{down:.1f}"/>')
    parts += _draw_places(marks, place_of, down)
    parts.append(_write(right + 4, down + 42, value_label, "axis", "end"))
    described = f"{value_label}: " + "; ".join(
        f"{' '.join(filter(None, place))}: "
        + ", ".join(f"{row[series]} {format_mark(float(row[value]))}" for row in entries)
        for place, entries in places.items()
    )
    return _finish(title, described, [*head, *grid, *parts], down + 56)


def average_runs(rows: Iterable[Row], x: str, y: str, series: str = "method", group: str | None = None) -> list[Row]:
    """Average the rows of each series, `x` and group, which are runs with different seeds: the mean of `y`, its least and most."""
    columns = [series, x] if group is None else [group, series, x]
    runs: dict[tuple[Any, ...], list[float]] = {}
    for row in rows:
        runs.setdefault(tuple(row[column] for column in columns), []).append(float(row[y]))
    return [
        {**dict(zip(columns, place, strict=True)), y: sum(run) / len(run), "least": min(run), "most": max(run)}
        for place, run in runs.items()
    ]


def choose_marks(values: Sequence[float], logarithmic: bool, *, from_zero: bool = True) -> list[float]:
    """Choose round numbers, from at or below the least value to at or above the greatest; 0 is one but for logarithms."""
    if logarithmic:
        positive = [value for value in values if value > 0]
        zero = [0.0] if len(positive) < len(values) else []
        low, high = floor(log10(min(positive)) + 1e-9), ceil(log10(max(positive)) - 1e-9)
        if high - low > 2:
            every = ceil((high - low) / 5)
            return zero + [10.0**power for power in range(high - every * ceil((high - low) / every), high + 1, every)]
        fine = [factor * 10.0**power for power in range(low, max(high, low + 1) + 1) for factor in (1, 2, 5)]
        first = max(place for place, mark in enumerate(fine) if mark <= min(positive) * (1 + 1e-9))
        last = min(place for place, mark in enumerate(fine) if mark >= max(positive) * (1 - 1e-9))
        return zero + [float(f"{mark:.6g}") for mark in fine[first : max(last, first + 1) + 1]]
    zero = [0.0] if from_zero else []
    low, high = min([*zero, *values]), max([*zero, *values])
    rough = ((high - low) or 1) / 4
    power = 10.0 ** floor(log10(rough))
    step = next(power * times for times in (1, 2, 2.5, 5, 10) if power * times >= rough * 0.999)
    first = floor(low / step + 1e-9)
    return [step * number for number in range(first, max(ceil(high / step - 1e-9), first + 1) + 1)]


def format_mark(value: float) -> str:
    return f"{value:,.6g}" if abs(value) < 1e6 else f"{value / 1e6:,.6g} million"


def measure(text: str, size: float) -> float:
    """Return about how many pixels a text takes in the widest font of the style, so rather too many than too few."""
    return size * sum(
        0.38 if letter in NARROW else 0.88 if letter in WIDE else 0.7 if letter.isupper() else 0.63 for letter in text
    )


def find_lowest(
    rows: Iterable[Row], x: str, y: str, *, series: str = "method", excluding: Collection[str] = ()
) -> tuple[str, int, int]:
    """Find which series is lowest most often: its name, at how many values of `x`, and of how many."""
    by_place: dict[float, dict[str, list[float]]] = {}
    for row in rows:
        if str(row[series]) not in excluding:
            by_place.setdefault(float(row[x]), {}).setdefault(str(row[series]), []).append(float(row[y]))
    winners = [min(means, key=lambda name: sum(means[name]) / len(means[name])) for means in by_place.values()]
    name = max(dict.fromkeys(winners), key=winners.count)
    return name, winners.count(name), len(winners)


def say_lowest(rows: Iterable[Row], x: str, y: str, does: str, place: str, *, excluding: Collection[str] = ()) -> str:
    """Say which series is lowest and where: `does` is what it then does, `place` what one value of `x` is."""
    name, times, of = find_lowest(rows, x, y, excluding=excluding)
    return f"{name} {does} at every {place}" if times == of else f"{name} {does} at {times} of {of} points"


def say_range(rows: Iterable[Row], y: str, form: Callable[[float], str] = lambda value: f"{value:.3g}") -> str:
    """Say between which values a column lies."""
    values = [float(row[y]) for row in rows]
    low, high = form(min(values)), form(max(values))
    return low if low == high else f"{low} to {high}"


def _draw_head(title: str, note: str) -> tuple[list[str], float]:
    """Draw the title and what is drawn, broken into lines; return the parts and where they end."""
    parts = []
    down = 12.0
    for text, style, size, step in (
        (title, "title", TITLE_SIZE * BOLD, TITLE_LINE),
        (note, "note", LABEL_SIZE, LABEL_LINE),
    ):
        for line in wrap_text(text, WIDTH - 2 * MARGIN, size):
            down += step
            parts.append(_write(MARGIN, down - 4, line, style))
    return parts, down + 6


def wrap_text(text: str, width: float, size: float) -> list[str]:
    """Break a text into lines that are narrower than `width` pixels."""
    lines: list[str] = []
    for word in text.split():
        if lines and measure(f"{lines[-1]} {word}", size) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def _draw_heights(marks: Sequence[float], height_of: Scale, left: float, right: float) -> list[str]:
    parts = []
    for mark in marks:
        height = height_of(mark)
        style = "base" if mark == marks[0] else "grid"
        parts.append(f'<line class="{style}" x1="{left:.1f}" x2="{right:.1f}" y1="{height:.1f}" y2="{height:.1f}"/>')
        parts.append(_write(left - 8, height + 4, format_mark(mark), "tick", "end"))
    return parts


def _draw_places(values: Sequence[float], place_of: Scale, bottom: float) -> list[str]:
    """Write the values along an axis, but for those that have no room."""
    parts = []
    taken = float("-inf")
    for value in values:
        text = format_mark(value)
        half = measure(text, TICK_SIZE) / 2
        place = place_of(value)
        if place - half > taken:
            taken = place + half + 6
            parts.append(_write(place, bottom + 20, text, "tick", "middle"))
    return parts


def _number_series(names: Sequence[str], references: Collection[str]) -> dict[str, int]:
    """Give markers to series in their order, references apart."""
    others = [name for name in names if name not in references]
    return {name: others.index(name) if name in others else len(others) + number for number, name in enumerate(names)}


def _join_equal(
    placed: Sequence[tuple[str, list[Point], Sequence[Row]]], y: str, references: Collection[str]
) -> list[Series]:
    """Make series of the lines, whose points are `x` and height; those that would hide each other from end to end become one with several names."""
    joined: list[Series] = []
    numbers = _number_series([name for name, *_ in placed], references)
    for name, points, values in placed:
        for index, other in enumerate(joined):
            if len(points) == len(other.points) and all(
                point[0] == earlier[0] and abs(point[1] - earlier[1]) < EQUAL_WITHIN
                for point, earlier in zip(points, other.points, strict=True)
            ):
                same = all(float(row[y]) == float(known[y]) for row, known in zip(values, other.values, strict=True))
                joined[index] = replace(other, names=(*other.names, name), equal=other.equal and same)
                break
        else:
            joined.append(Series((name,), True, tuple(points), tuple(values), numbers[name], name in references))
    return joined


def _move(entry: Series, place_of: Scale) -> Series:
    return replace(entry, points=tuple((place_of(place), height) for place, height in entry.points))


def _spread_points(lines: Sequence[Series]) -> list[Series]:
    """Move points that hide each other beside each other, as far as the room between two places allows."""
    places = sorted({point[0] for line in lines for point in line.points})
    room = min((after - before for before, after in pairwise(places)), default=60.0)
    moved: dict[tuple[int, float], float] = {}
    for place in places:
        here = sorted(
            (point[1], number) for number, line in enumerate(lines) for point in line.points if point[0] == place
        )
        clusters: list[list[tuple[float, int]]] = []
        for height, number in here:
            if clusters and height - clusters[-1][-1][0] < HIDDEN_WITHIN:
                clusters[-1].append((height, number))
            else:
                clusters.append([(height, number)])
        for cluster in clusters:
            step = min(MARK_APART, 0.75 * room / len(cluster))
            for order, (_, number) in enumerate(sorted(cluster, key=lambda entry: entry[1])):
                moved[number, place] = (order - (len(cluster) - 1) / 2) * step
    return [
        replace(line, points=tuple((place + moved[number, place], height) for place, height in line.points))
        for number, line in enumerate(lines)
    ]


def _draw_band(entry: Series, x: str, ends: tuple[str, str], place_of: Scale, height_of: Scale) -> str:
    low, high = ([(place_of(float(row[x])), height_of(float(row[end]))) for row in entry.values] for end in ends)
    outline = " ".join(f"{place:.1f},{height:.1f}" for place, height in [*high, *reversed(low)])
    return f'<polygon class="{entry.colour} band" points="{outline}"/>'


def _format_dash(entry: Series) -> str:
    dash = "3 4" if entry.is_reference else DASHES[entry.number % len(DASHES)]
    return f' stroke-dasharray="{dash}"' if dash else ""


def _draw_line(entry: Series) -> str:
    path = " ".join(f"{place:.1f},{height:.1f}" for place, height in entry.points)
    return f'<polyline class="{entry.colour} line"{_format_dash(entry)} points="{path}"/>'


def _draw_mark(point: Point, entry: Series) -> str:
    """Draw a marker: filled in the first round of shapes, hollow in the second and for what is a reference."""
    second = entry.number >= COLOURS or entry.is_reference
    shape = SHAPES[entry.number % COLOURS]
    if shape == SHAPES[-1] and second:
        shape = PLUS
    style = f"{entry.colour} mark{' hollow' if second else ''}"
    return f'<path class="{style}" transform="translate({point[0]:.1f} {point[1]:.1f})" d="{shape}"/>'


def _draw_names(lines: Sequence[Series], left: float, top: float, bottom: float) -> list[str]:
    """Write each series' name beside its last point, with its marker; moved where another name is there."""
    ordered = sorted(lines, key=lambda line: line.points[-1][1])
    starts: list[float] = []
    lowest = float(top)
    for line in ordered:
        starts.append(max(line.points[-1][1] - 0.5 * LABEL_LINE * len(line.label), lowest))
        lowest = starts[-1] + LABEL_LINE * len(line.label)
    highest = bottom + 8
    for number in range(len(starts) - 1, -1, -1):
        starts[number] = min(starts[number], highest - LABEL_LINE * len(ordered[number].label))
        highest = starts[number]
    parts = []
    for start, line in zip(starts, ordered, strict=True):
        place, height = line.points[-1]
        middle = start + 0.5 * LABEL_LINE * len(line.label)
        parts.append(f'<path class="leader line" d="M{place + 8:.1f} {height:.1f}L{left:.1f} {middle:.1f}"/>')
        parts.append(_draw_mark((left + 8, middle), line).replace(" mark", " mark key", 1))
        parts += [
            _write(left + 20, start + LABEL_LINE * (number + 1) - 4.5, text) for number, text in enumerate(line.label)
        ]
    return parts


def _draw_key(entries: Sequence[Series], top: float) -> tuple[list[str], float]:
    """Draw the marks of the series with their names, in as many lines as they need."""
    parts = []
    left = float(MARGIN)
    down = top + 14
    for entry in entries:
        width = 18 + measure(entry.names[0], LABEL_SIZE) + 18
        if left > MARGIN and left + width > WIDTH - MARGIN:
            left = MARGIN
            down += LABEL_LINE + 4
        parts.append(_draw_mark((left + 6, down - 4.5), entry).replace(" mark", " mark key", 1))
        parts.append(_write(left + 18, down, entry.names[0]))
        left += width
    return parts, down + 2


def _describe_ends(entry: Series, x: str, y: str) -> str:
    first, last = entry.values[0], entry.values[-1]
    said = f"{format_mark(float(first[y]))} at {format_mark(float(first[x]))}"
    return said if first is last else f"{said}, {format_mark(float(last[y]))} at {format_mark(float(last[x]))}"


def _write(left: float, baseline: float, text: str, style: str = "", anchor: str = "start") -> str:
    styled = f' class="{style}"' if style else ""
    anchored = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text x="{left:.1f}" y="{baseline:.1f}"{styled}{anchored}>{escape(text, quote=False)}</text>'


def _finish(title: str, described: str, parts: Sequence[str], height: float) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {ceil(height)}" role="img" aria-labelledby="title description">\n'
        f'<title id="title">{escape(title, quote=False)}</title>\n<desc id="description">{escape(described, quote=False)}</desc>\n<style>{STYLE}</style>\n'
        f'<rect class="paper" width="{WIDTH}" height="{ceil(height)}" rx="6"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )
