"""Charts that put things side by side: methods on the frontier of loss and gain, a column before and after, a belief.

As in `plots`: figures in, SVG out, positions across in per cent, labels at their marks, every drawing described in words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from reticent.drawing.plots import format_share
from reticent.drawing.svg import (
    AXIS_ROOM,
    Anchor,
    LinearScale,
    Plot,
    choose_anchor,
    choose_ticks,
    format_number,
    format_percent,
    measure_text,
    shorten_text,
)

FRONTIER_HEIGHT = 300
FRONTIER_TOP = 34.0  # room above the highest mark for its label
DISTRIBUTION_HEIGHT = 150
MAX_METHODS = 5  # that are told apart by colour and marker
LABEL_HEIGHT = 16.0
MARKERS = (
    '<circle r="5.5" class="method-1"/>',
    '<path d="M0 -6.5 L6 4.5 L-6 4.5 Z" class="method-2"/>',
    '<rect x="-4.8" y="-4.8" width="9.6" height="9.6" class="method-3"/>',
    '<path d="M0 -6.5 L6.5 0 L0 6.5 L-6.5 0 Z" class="method-4"/>',
    '<path d="M-2 -6 H2 V-2 H6 V2 H2 V6 H-2 V2 H-6 V-2 H-2 Z" class="method-5"/>',
)
YARDSTICK_MARKER = '<path d="M-5 -5 L5 5 M5 -5 L-5 5" class="yardstick"/>'
MAX_TICK_NAMES = 7
MAX_NAME_PERCENT = 27.0  # of the narrowest screen, for the name of a step
GRADES = (0.05, 0.25, 0.5, 0.75)  # shares of the fullest field from which a field is drawn stronger


@dataclass(frozen=True, slots=True)
class MethodMark:
    """One release that keeps its promises: what it loses and what an adversary gains, each a share from 0 to 1."""

    loss: float
    gain: float
    is_own: bool = False


@dataclass(frozen=True, slots=True)
class MethodSeries:
    """A method with a mark for each promise that was tried, in the order of their strictness."""

    name: str
    marks: tuple[MethodMark, ...]


@dataclass(frozen=True, slots=True)
class Yardstick:
    """What anybody could publish without a method."""

    name: str
    loss: float
    gain: float


@dataclass(slots=True)
class _LabelPlaces:
    """Where letters are already: a label is put where it covers none of them."""

    taken: list[tuple[float, float, float, float]]

    def choose(self, x: float, y: float, text: str) -> tuple[float, Anchor, float]:
        """Choose height, anchor and shift of a label beside a mark; what is chosen is taken."""
        width = measure_text(text)
        places: list[tuple[float, Anchor, float, float]] = [
            (y + 4, "start", 10, x + 2.5),
            (y + 4, "end", -10, x - 2.5 - width),
            (y - 11, "middle", 0, x - width / 2),
            (y + 22, "middle", 0, x - width / 2),
            (y - 14, "start", 10, x + 2.5),
            (y + 20, "start", 10, x + 2.5),
            (y - 14, "end", -10, x - 2.5 - width),
            (y + 20, "end", -10, x - 2.5 - width),
            *(
                place
                for height in (y - 28, y - 45)
                for place in (
                    (height, "middle", 0, x - width / 2),
                    (height, "start", 10, x + 2.5),
                    (height, "end", -10, x - 2.5 - width),
                )
            ),
        ]
        costs = [self._measure_cost(left, height, width) for height, _, _, left in places]
        height, anchor, shift, left = places[costs.index(min(costs))]
        self.take(left, height, width)
        return height, anchor, shift

    def take(self, left: float, baseline: float, width: float) -> None:
        self.taken.append((left, left + width, baseline - LABEL_HEIGHT + 3, baseline + 3))

    def _measure_cost(self, left: float, baseline: float, width: float) -> float:
        right = left + width
        top = baseline - LABEL_HEIGHT + 3
        bottom = baseline + 3
        outside = max(-left, 0) + max(right - 100, 0) + max(-top, 0) + max(bottom - FRONTIER_HEIGHT - FRONTIER_TOP, 0)
        overlap = sum(
            max(min(right, other_right) - max(left, other_left), 0) * max(min(bottom, below) - max(top, above), 0)
            for other_left, other_right, above, below in self.taken
        )
        return outside * 100 + overlap


def draw_frontier(methods: Sequence[MethodSeries], yardsticks: Sequence[Yardstick]) -> str:
    """Draw methods by what is lost (across) and gained (up), a marker and a line each; yardsticks are crosses.

    The mark of the present job is ringed.  Left loses less, lower tells an adversary less.
    """
    gains = [mark.gain for method in methods for mark in method.marks] + [each.gain for each in yardsticks]
    top = max([*gains, 0.02]) * 1.05
    base = FRONTIER_TOP + FRONTIER_HEIGHT
    across = LinearScale(0, 1, left=2.0, right=97.0)

    def find_height(gain: float) -> float:
        return base - FRONTIER_HEIGHT * gain / top

    plot = Plot(base + AXIS_ROOM)
    places = _LabelPlaces([(0.0, 100.0, base - 1, base + AXIS_ROOM)])
    _add_gain_lines(plot, places, top, find_height)
    plot.add_axis(across, [0, 0.2, 0.4, 0.6, 0.8, 1], base, "detail lost of the whole row", format_share)
    for number, method in enumerate(methods):
        points = [(across(mark.loss), find_height(mark.gain)) for mark in method.marks]
        for (x1, y1), (x2, y2) in pairwise(points):
            plot.add_line(x1, y1, x2, y2, f"method-line-{number + 1}")
    for x, y in [(across(mark.loss), find_height(mark.gain)) for method in methods for mark in method.marks]:
        places.taken.append((x - 1.8, x + 1.8, y - 7, y + 7))
    for yardstick in yardsticks:
        x = across(yardstick.loss)
        y = find_height(yardstick.gain)
        places.taken.append((x - 1.8, x + 1.8, y - 7, y + 7))
        _add_marker(plot, x, y, YARDSTICK_MARKER)
    for number, method in enumerate(methods):
        for mark in method.marks:
            _add_marker(plot, across(mark.loss), find_height(mark.gain), MARKERS[number])
    for mark in (mark for method in methods for mark in method.marks if mark.is_own):
        x = across(mark.loss)
        y = find_height(mark.gain)
        plot.add_disc(x, y, 11, "ring")
        places.taken.append((x - 3.2, x + 3.2, y - 12, y + 12))
        height, anchor, shift = places.choose(x, y - 8, "your job")
        plot.add_text(x, height, "your job", "attention-text halo", anchor, 1.4 * shift)
    for method in methods:
        if not method.marks:
            continue
        last = max(method.marks, key=lambda mark: (mark.loss, -mark.gain))
        x = across(last.loss)
        height, anchor, shift = places.choose(x, find_height(last.gain), method.name)
        plot.add_text(x, height, method.name, "strong halo", anchor, shift)
    for yardstick in yardsticks:
        x = across(yardstick.loss)
        height, anchor, shift = places.choose(x, find_height(yardstick.gain), yardstick.name)
        plot.add_text(x, height, yardstick.name, "yardstick-text halo", anchor, shift)
    return plot.render(_describe_frontier(methods, yardsticks))


def draw_before_after(names: Sequence[str], before: Sequence[float], after: Sequence[float], axis_name: str) -> str:
    """Draw how people lie on an axis: in the source as hollow bars, in the release as a line over them.

    `names` are the beginnings of equally wide steps of the axis, `before` and `after` the people in each.
    """
    top = max(*before, *after, 1e-9) * 1.08
    base = 10.0 + DISTRIBUTION_HEIGHT
    step = 100 / len(names)

    def find_height(people: float) -> float:
        return base - DISTRIBUTION_HEIGHT * people / top

    plot = Plot(base + AXIS_ROOM)
    for number, people in enumerate(before):
        plot.add_box(number * step, find_height(people), step, base - find_height(people), "reference")
    for tick in [tick for tick in choose_ticks(0, top, 3) if tick > 0 and tick == int(tick)]:
        plot.add_line(0, find_height(tick), 100, find_height(tick), "grid")
        plot.add_text(100, find_height(tick) - 4, f"{tick:,.0f} people", "tick halo", "end")
    points = [((number + 0.5) * step, find_height(people)) for number, people in enumerate(after)]
    for (x1, y1), (x2, y2) in pairwise(points):
        plot.add_line(x1, y1, x2, y2, "release-line")
    if len(points) == 1:
        plot.add_disc(*points[0], 5, "release")
    plot.add_line(0, base, 100, base, "axis")
    every = max(1, -(-len(names) // MAX_TICK_NAMES))
    shown = range(0, len(names), every)
    for number in shown:
        plot.add_line(number * step, base, number * step, base + 4, "axis")
    plot.add_tick_texts(
        [number * step for number in shown],
        [shorten_text(names[number], MAX_NAME_PERCENT) for number in shown],
        base + 17,
    )
    plot.add_axis_name(axis_name, base)
    return plot.render(f"People by {axis_name} in the source and in the release, in {len(names)} steps.")


def draw_field(
    counts: Sequence[Sequence[float]],
    top: float,
    row_names: Sequence[str],
    column_names: Sequence[str],
    description: str,
) -> str:
    """Draw how people lie over two columns: a field for each pair of steps, stronger where there are more people.

    Of the steps across, the first and the last are named: there is no room for more on a phone.  `top` is the fullest field of all drawings that are compared.
    """
    height = 20.0
    left = 28.0
    step = (100 - left) / len(column_names)
    plot = Plot(len(row_names) * height + 40)
    for row, (name, line) in enumerate(zip(row_names, counts, strict=True)):
        plot.add_text(0, row * height + 15, shorten_text(name, MAX_NAME_PERCENT), "tick")
        for column, people in enumerate(line):
            grade = sum(people > share * top for share in GRADES)
            plot.add_box(left + column * step, row * height + 1, step * 0.96, height - 2, f"exact-{grade}")
    base = len(row_names) * height
    plot.add_text(left, base + 16, shorten_text(column_names[0], MAX_NAME_PERCENT), "tick")
    if len(column_names) > 1:
        plot.add_text(100, base + 16, shorten_text(column_names[-1], MAX_NAME_PERCENT), "tick", "end")
    return plot.render(description)


def draw_beliefs(alone: float, together: float, name: str) -> str:
    """Draw the surest belief about one person: from a release alone, and from all releases of the same people."""
    scale = LinearScale(0, 1, left=0.0, right=100.0)
    plot = Plot(62 + AXIS_ROOM)
    plot.add_axis(scale, [0, 0.2, 0.4, 0.6, 0.8, 1], 62, name, format_share)
    plot.add_line(scale(alone), 44, scale(together), 44, "axis")
    plot.add_disc(scale(alone), 44, 6, "release")
    plot.add_disc(scale(together), 44, 6, "attention")
    plot.add_text(
        scale(alone),
        10,
        f"alone: {format_share(alone)}",
        "strong halo",
        choose_anchor(scale(alone), f"alone: {format_share(alone)}"),
    )
    plot.add_text(
        scale(together),
        28,
        f"together: {format_share(together)}",
        "attention-text halo",
        choose_anchor(scale(together), f"together: {format_share(together)}"),
    )
    return plot.render(
        f"The surest belief is {format_share(alone)} from one release alone, {format_share(together)} together."
    )


def _add_gain_lines(plot: Plot, places: _LabelPlaces, top: float, find_height: Callable[[float], float]) -> None:
    """Add grid lines of the gain, at most four, each with its text at the right end."""
    ticks = [tick for tick in choose_ticks(0, top, 4) if tick > 0]
    for number, tick in enumerate(ticks):
        y = find_height(tick)
        text = f"+{format_number(tick * 100)}"
        if number == len(ticks) - 1:
            text += " points gained"
        plot.add_line(0, y, 100, y, "grid")
        plot.add_text(100, y - 5, text, "tick halo", "end")
        places.take(100 - measure_text(text), y - 5, measure_text(text))


def _add_marker(plot: Plot, x: float, y: float, marker: str) -> None:
    plot.pieces.append(f'<svg x="{format_percent(x)}" y="{format_number(y)}" overflow="visible">{marker}</svg>')


def _describe_frontier(methods: Sequence[MethodSeries], yardsticks: Sequence[Yardstick]) -> str:
    parts = []
    for method in methods:
        marks = ", ".join(f"loss {format_share(mark.loss)} gain {format_share(mark.gain)}" for mark in method.marks)
        parts.append(f"{method.name}: {marks}")
    parts += [f"{each.name}: loss {format_share(each.loss)} gain {format_share(each.gain)}" for each in yardsticks]
    return f"Detail lost and what an adversary gains. {'; '.join(parts)}."
