"""The charts of our pages: figures in, SVG out.

Three roles of colour, by classes of the style sheet: `reference` (grey, hollow) is what anybody knows without the
release, `release` (filled) is what the release says, `attention` (warm, with a word) is the worst case.  Labels stand at
their marks, axes have names, and each drawing is described in words.  Nothing is measured in fonts: the same figures
give the same bytes on every machine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from reticent.drawing.svg import (
    AXIS_ROOM,
    LinearScale,
    Plot,
    choose_anchor,
    choose_log_ticks,
    choose_ticks,
    format_number,
    measure_text,
    shorten_text,
)

MAX_GROUP_DOTS = 300
DOT_COLUMNS = 42
DOT_STEP = 6.6
DOT_RADIUS = 2.9
BAR_HEIGHT = 18
RANGE_AREA_HEIGHT = 210
MAX_DRAWN_RANGES = 150
SHARE_BAR_HEIGHT = 30
COMPARISON_HEIGHT = 200
COMPARISON_WIDTH = 88.0  # per cent; the rest is for the numbers of its axis
MAX_NAME_PERCENT = 32.0  # of the narrowest screen, for the name of a value
HISTOGRAM_HEIGHT = 150
ANSWER_HEIGHT = 36
SPARK_WIDTH = 96
SPARK_HEIGHT = 30


def format_count(number: float) -> str:
    return f"{number:,.0f}" if float(number).is_integer() else f"{number:,.6g}"


def format_share(share: float) -> str:
    """Format a share as per cent, with a no-break space; small shares keep one digit."""
    percent = share * 100
    if 0 < percent < 0.1:
        return "under 0.1\u00a0%"
    return f"{percent:.1f}\u00a0%" if percent < 10 and round(percent, 1) % 1 else f"{percent:.0f}\u00a0%"


def draw_group_sizes(sizes: Sequence[int], promised: int | None, unit: str) -> str:
    """Draw every group on a logarithmic axis of its size, a dot each, or bars where there are many groups.

    `promised` is the least size that a promise allows, drawn as a line that no group may be left of.
    """
    ordered = sorted(sizes)
    low = min(ordered[0], promised or ordered[0])
    high = max(ordered[-1], promised or 0, low * 2)
    scale = LinearScale(low, high, left=4.0, right=98.0, logarithmic=True)
    columns = Counter(_find_dot_column(scale, size) for size in ordered)
    tallest = max(columns.values())
    as_dots = len(ordered) <= MAX_GROUP_DOTS
    area = tallest * DOT_STEP if as_dots else HISTOGRAM_HEIGHT
    base = 50 + area
    plot = Plot(base + AXIS_ROOM)
    plot.add_axis(scale, choose_log_ticks(low, high), base, f"{unit}, on a logarithmic axis", format_count)
    column_width = (98.0 - 4.0) / DOT_COLUMNS
    middle = ordered[len(ordered) // 2]
    if promised is not None:
        plot.add_line(scale(promised), 2, scale(promised), base, "guide")
    label = f"half of the groups: {middle:,} or more" if len(ordered) > 1 else f"the one group: {middle:,}"
    is_centred = choose_anchor(scale(middle), label) == "middle"
    plot.add_line(scale(middle), 38 if is_centred else 22, scale(middle), base, "guide")
    for column, groups in sorted(columns.items()):
        left = 4.0 + column * column_width
        if as_dots:
            for level in range(groups):
                plot.add_disc(left + column_width / 2, base - 5 - level * DOT_STEP, DOT_RADIUS, "release")
        else:
            height = groups / tallest * area
            plot.add_box(left, base - height, column_width * 0.86, height, "release")
    if promised is not None:
        plot.add_label(scale(promised), 12, f"promised: {promised:,} or more", "strong halo")
    if is_centred:
        plot.add_text(scale(middle), 32, label, "halo", "middle")
    else:
        plot.add_label(scale(middle), 32, label, "halo")
    if not as_dots:
        plot.add_text(100, base - area - 4, f"tallest bar: {tallest:,} groups", "tick halo", "end")
    return plot.render(
        f"Sizes of {len(ordered):,} groups, from {ordered[0]:,} to {ordered[-1]:,}; the middle one has {middle:,}."
        if len(ordered) > 1
        else f"One group of the size {middle:,}."
    )


def draw_ranges(ranges: Sequence[tuple[float, float, float]], name: str, width_of_value: float = 0.0) -> str:
    """Draw published ranges (low, high, rows) on the axis of their column, from the top down in the order given.

    A band is as thick as the range has rows, and stronger where it is more exact.  `width_of_value` is the width that one
    value has on the axis: 1 for whole numbers, so that a range of one value is seen.
    """
    low = min(start for start, _, _ in ranges)
    high = max(end for _, end, _ in ranges) + width_of_value
    scale = LinearScale(low, high)
    rows = sum(count for _, _, count in ranges)
    plot = Plot(RANGE_AREA_HEIGHT + AXIS_ROOM)
    plot.add_axis(
        scale, choose_ticks(low, high - width_of_value), RANGE_AREA_HEIGHT, name, format_axis_number, grid_top=0
    )
    top = 0.0
    for start, end, count in ranges:
        height = count / rows * RANGE_AREA_HEIGHT
        share = (end - start + width_of_value) / (high - low) if high > low else 0.0
        width = scale(end + width_of_value) - scale(start)
        plot.add_box(scale(start), top, width, max(height, 0.35), grade_exactness(share))
        top += height
    return plot.render(f"{len(ranges):,} bands of ranges of {name}, from {format_count(low)} to {format_count(high)}.")


def sort_ranges(ranges: Sequence[tuple[float, float, int]]) -> list[tuple[float, float, int]]:
    """Sort ranges by their middle, of equal ones the narrower first."""
    return sorted(ranges, key=lambda entry: (entry[0] + entry[1], entry[1] - entry[0]))


def merge_thin_ranges(ranges: Sequence[tuple[float, float, int]]) -> list[tuple[float, float, int]]:
    """Put neighbours that are too thin to be seen together, so that a drawing has at most about MAX_DRAWN_RANGES bands.

    The band of several ranges has their mean ends.
    """
    if len(ranges) <= MAX_DRAWN_RANGES:
        return list(ranges)
    rows = sum(count for _, _, count in ranges)
    bands: list[tuple[float, float, int]] = []
    pending: list[tuple[float, float, int]] = []
    for entry in ranges:
        pending.append(entry)
        count = sum(part[2] for part in pending)
        if count * MAX_DRAWN_RANGES >= rows:
            bands.append(_average_range(pending, count))
            pending = []
    if pending:
        bands.append(_average_range(pending, sum(part[2] for part in pending)))
    return bands


def grade_exactness(share: float) -> str:
    """Return the class of a band by the share of its axis that it covers: `exact-4` is the most exact, `exact-1` the least."""
    for limit, grade in ((0.08, 4), (0.2, 3), (0.4, 2)):
        if share <= limit:
            return f"exact-{grade}"
    return "exact-1"


def draw_bar(share: float, classes: str = "release") -> str:
    """Draw one bar of a table of bars, from 0 to 1 of its width; the number stands in a cell beside it."""
    plot = Plot(BAR_HEIGHT)
    plot.add_line(0, -4, 0, BAR_HEIGHT + 4, "axis")
    plot.add_box(0, 3, max(share * 100, 0.15), BAR_HEIGHT - 6, classes)
    return plot.render_hidden()


def draw_pair(before: float, after: float) -> str:
    """Draw two bars, each from 0 to 1 of the width: what was before, hollow, above what is now, filled."""
    plot = Plot(24)
    plot.add_line(0, -3, 0, 27, "axis")
    if before:
        plot.add_box(0, 2, max(before * 100, 0.15), 8, "reference")
    if after:
        plot.add_box(0, 13, max(after * 100, 0.15), 9, "release")
    return plot.render_hidden()


def draw_shares(shares: Sequence[tuple[float, str]]) -> str:
    """Draw shares that add up to one as parts of one bar, each with its class; a part says its share where there is room."""
    plot = Plot(SHARE_BAR_HEIGHT)
    left = 0.0
    for share, classes in shares:
        if share <= 0:
            continue
        width = share * 100
        plot.add_box(left, 0, max(width - 0.25, 0.15) if left + width < 99.9 else width, SHARE_BAR_HEIGHT, classes)
        if width >= 14:
            plot.add_text(left, SHARE_BAR_HEIGHT / 2 + 4.5, format_share(share), f"on-{classes}", shift=7)
        left += width
    return plot.render_hidden()


def draw_comparison(names: Sequence[str], whole: Sequence[float], group: Sequence[float], name: str) -> str:
    """Draw the shares of everybody as hollow bars and those of one group as discs on stems, value by value.

    The value at which the group exceeds everybody the most is labelled.
    """
    top = max(max(whole), max(group)) * 1.12 or 1.0
    base = 24.0 + COMPARISON_HEIGHT

    def find_height(share: float) -> float:
        return base - COMPARISON_HEIGHT * share / top

    plot = Plot(base + AXIS_ROOM)
    ticks = [tick for tick in choose_ticks(0, top, 4) if tick > 0]
    for tick in ticks:
        plot.add_line(0, find_height(tick), 100, find_height(tick), "grid")
        plot.add_text(100, find_height(tick) - 4, format_share(tick), "tick halo", "end")
    step = COMPARISON_WIDTH / len(names)
    for number, share in enumerate(whole):
        plot.add_box(
            number * step + step * 0.12, find_height(share), step * 0.76, base - find_height(share), "reference"
        )
    for number, share in enumerate(group):
        middle = number * step + step / 2
        plot.add_line(middle, find_height(share), middle, base, "attention-line")
        plot.add_disc(middle, find_height(share), 5, "attention")
    middles = [number * step + step / 2 for number in range(len(names))]
    plot.add_tick_texts(middles, [shorten_text(value_name, MAX_NAME_PERCENT) for value_name in names], base + 17)
    plot.add_line(0, base, 100, base, "axis")
    plot.add_axis_name(name, base)
    most = max(range(len(group)), key=lambda number: group[number] - whole[number])
    label = f"this group: {format_share(group[most])}"
    numbers = max((measure_text(format_share(tick)) for tick in ticks), default=0.0)
    place = most * step + step / 2
    plot.add_label(place, find_height(group[most]) - 9, label, "attention-text halo", 0, right=99 - numbers)
    return plot.render(
        f"Shares by {name}: of everybody, and of one group, which has {format_share(group[most])} at {names[most]}."
    )


def draw_attack(
    success: float,
    control: float | None,
    top: float,
    interval: tuple[float, float] | None = None,
    guessing: float | None = None,
) -> str:
    """Draw what an attack reaches as a filled disc, and what its control reaches as a hollow one, on an axis from 0 to `top`.

    `guessing` is what the most frequent value reaches if it is guessed of everybody: an upright line.
    """
    scale = LinearScale(0, top)
    plot = Plot(40)
    for tick in choose_ticks(0, top, 4):
        plot.add_line(scale(tick), 0, scale(tick), 40, "grid")
    if guessing is not None:
        plot.add_line(scale(guessing), 9, scale(guessing), 31, "reference-line")
    if control is not None:
        plot.add_line(scale(control), 20, scale(success), 20, "axis")
        plot.add_disc(scale(control), 20, 5, "reference-hollow")
    if interval is not None:
        plot.add_line(scale(interval[0]), 20, scale(min(interval[1], top)), 20, "release-line")
    plot.add_disc(scale(success), 20, 5.5, "release")
    return plot.render_hidden()


def draw_attack_axis(top: float) -> str:
    """Draw the ticks above a column of attacks."""
    scale = LinearScale(0, top)
    plot = Plot(24)
    ticks = choose_ticks(0, top, 4)
    plot.add_tick_texts([scale(tick) for tick in ticks], [format_share(tick) for tick in ticks], 14)
    return plot.render_hidden()


def draw_answer(
    scale: LinearScale,
    estimate: float | None,
    lower: float | None,
    upper: float | None,
    *,
    interval: tuple[float, float] | None = None,
    truth: float | None = None,
) -> str:
    """Draw one answer: a thin line from the least to the greatest possible value, a thick one over the interval, the
    estimate as a filled disc, and the true answer, where it is known, as a hollow one.

    A line that ends in dots has no end there.
    """
    plot = Plot(ANSWER_HEIGHT)
    middle = ANSWER_HEIGHT / 2
    for tick in choose_ticks(scale.low, scale.high, 4):
        plot.add_line(_place(scale, tick), 0, _place(scale, tick), ANSWER_HEIGHT, "grid")
    numbers = [number for number in (lower, estimate, upper) if number is not None]
    if numbers:
        plot.add_line(_place(scale, min(numbers)), middle, _place(scale, max(numbers)), middle, "bounds-line")
        if lower is None:
            plot.add_line(0, middle, _place(scale, min(numbers)), middle, "guide")
        if upper is None:
            plot.add_line(_place(scale, max(numbers)), middle, 100, middle, "guide")
    for end in (lower, upper):
        if end is not None:
            plot.add_line(_place(scale, end), middle - 6, _place(scale, end), middle + 6, "bounds-line")
    if interval is not None:
        plot.add_line(_place(scale, interval[0]), middle, _place(scale, interval[1]), middle, "interval-line")
    if estimate is not None:
        plot.add_disc(_place(scale, estimate), middle, 5.5, "release")
    if truth is not None:
        plot.add_disc(_place(scale, truth), middle, 4.5, "reference-hollow")
    return plot.render_hidden()


def draw_answer_axis(scale: LinearScale, format_tick: Callable[[float], str] = format_count) -> str:
    """Draw the ticks above a column of answers."""
    plot = Plot(24)
    ticks = choose_ticks(scale.low, scale.high, 4)
    plot.add_tick_texts([_place(scale, tick) for tick in ticks], [format_tick(tick) for tick in ticks], 14)
    return plot.render_hidden()


def choose_answer_scale(numbers: Sequence[float]) -> LinearScale:
    """Choose the scale of some answers: from 0 where they lie near it, with room at both ends."""
    low = min(numbers, default=0.0)
    high = max(numbers, default=1.0)
    room = (high - low) * 0.04 or abs(high) * 0.04 or 1.0
    if 0 <= low <= (high - low) or not numbers:
        return LinearScale(0.0, high + room, left=1.5, right=98.5)
    return LinearScale(low - room, high + room, left=1.5, right=98.5)


def draw_spark(values: Sequence[float], classes: str = "exact-3") -> str:
    """Draw a distribution of the size of a word."""
    top = max(values, default=0) or 1
    width = SPARK_WIDTH / max(len(values), 1)
    pieces = []
    for number, value in enumerate(values):
        height = max(value / top * SPARK_HEIGHT, 0.8) if value else 0
        pieces.append(
            f'<rect x="{format_number(number * width)}" y="{format_number(SPARK_HEIGHT - height)}" '
            f'width="{format_number(max(width - 1, 0.8))}" height="{format_number(height)}" class="{classes}"/>'
        )
    return (
        f'<svg class="spark" width="{SPARK_WIDTH}" height="{SPARK_HEIGHT}" aria-hidden="true">{"".join(pieces)}'
        f'<line x1="0" x2="{SPARK_WIDTH}" y1="{SPARK_HEIGHT}" y2="{SPARK_HEIGHT}" class="axis"/></svg>'
    )


def format_axis_number(number: float) -> str:
    """Format a tick: whole numbers from 10,000 on with commas, years and smaller ones without."""
    if float(number).is_integer():
        return f"{number:,.0f}" if abs(number) >= 10_000 else f"{number:.0f}"
    return f"{number:.6g}"


def _place(scale: LinearScale, number: float) -> float:
    """Return where a number stands, or the nearer end of the drawing."""
    return min(max(scale(number), 0.0), 100.0)


def _find_dot_column(scale: LinearScale, size: int) -> int:
    position = (scale(size) - scale.left) / (scale.right - scale.left)
    return min(DOT_COLUMNS - 1, int(position * DOT_COLUMNS))


def _average_range(ranges: Sequence[tuple[float, float, int]], rows: int) -> tuple[float, float, int]:
    low = sum(start * count for start, _, count in ranges) / rows
    high = sum(end * count for _, end, count in ranges) / rows
    return low, high, rows
