"""What stricter costs: the detail that is lost at each step of a promise's parameter, all curves on one scale."""

from __future__ import annotations

from collections.abc import Sequence

from reticent.drawing.plots import format_share
from reticent.drawing.svg import AXIS_ROOM, Plot, choose_anchor, choose_ticks

CURVE_HEIGHT = 150
CURVE_TOP = 26.0
FIRST_STEP_PERCENT = 4.0
LAST_STEP_PERCENT = 86.0  # per cent; the rest is for the numbers of the scale
MAX_PEOPLE_DRAWN = 60
PEOPLE_IN_ROW = 20


def draw_cost_curve(
    steps: Sequence[str], losses: Sequence[float | None], unreached: Sequence[bool], current: int, top: float, name: str
) -> str:
    """Draw the loss at each step, from the loosest to the strictest, on a scale from 0 to `top`.

    A step that was not planned yet has no mark; one out of reach has a warm one at the top.  Neighbours that are both
    known are joined.
    """
    base = CURVE_TOP + CURVE_HEIGHT
    width = (LAST_STEP_PERCENT - FIRST_STEP_PERCENT) / max(len(steps) - 1, 1)

    def find_height(loss: float) -> float:
        return base - CURVE_HEIGHT * loss / top

    plot = Plot(base + AXIS_ROOM)
    for tick in choose_ticks(0, top, 4):
        plot.add_line(0, find_height(tick), 100, find_height(tick), "grid" if tick else "axis")
        if tick:
            plot.add_text(100, find_height(tick) - 4, format_share(tick), "tick halo", "end")
    places = [FIRST_STEP_PERCENT + width * number for number in range(len(steps))]
    if losses[current] is not None or unreached[current]:
        plot.add_line(places[current], CURVE_TOP, places[current], base, "guide")
    for number in range(1, len(steps)):
        before, after = losses[number - 1], losses[number]
        if before is not None and after is not None:
            plot.add_line(places[number - 1], find_height(before), places[number], find_height(after), "release-line")
    for number, loss in enumerate(losses):
        if loss is not None:
            plot.add_disc(places[number], find_height(loss), 6 if number == current else 4, "release")
        elif unreached[number]:
            plot.add_disc(places[number], CURVE_TOP, 4, "attention")
    plot.add_tick_texts(places, steps, base + 17)
    if any(unreached):
        first = unreached.index(True)
        _add_mark_text(plot, places[first], CURVE_TOP - 10, "out of reach", "attention-text halo")
    loss = losses[current]
    if loss is not None:
        _add_mark_text(plot, places[current], find_height(loss) - 10, f"now: {format_share(loss)}", "strong halo")
    plot.add_axis_name(name, base)
    known = sum(loss is not None for loss in losses)
    return plot.render(f"Detail lost by {name}, at {known} of {len(steps)} steps; now {steps[current]}.")


def draw_people(count: int) -> str:
    """Draw so many people as discs, the one who is looked for among them; of many, the first MAX_PEOPLE_DRAWN."""
    drawn = min(count, MAX_PEOPLE_DRAWN)
    columns = min(drawn, PEOPLE_IN_ROW)
    plot = Plot(4 + 16 * -(-drawn // columns))
    for number in range(drawn):
        x = 3 + (number % columns) * (94 / PEOPLE_IN_ROW)
        plot.add_disc(x, 10 + 16 * (number // columns), 5, "release")
    return plot.render(f"{count:,} people who read the same.")


def _add_mark_text(plot: Plot, x: float, y: float, text: str, classes: str) -> None:
    plot.add_text(x, y, text, classes, choose_anchor(x, text))
