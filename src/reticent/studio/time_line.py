"""The ledger's time line: a row for each release, a disc at its day, and lines to the earlier releases of the same people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from reticent.drawing.svg import AXIS_ROOM, LinearScale, Plot

ROW_HEIGHT = 32
DISC_RADIUS = 6
LABEL_RISE = 5  # above the line that leads to earlier releases
MAX_LABEL_LETTERS = 26
MAX_TICKS = 4
SECONDS_OF_DAY = 86_400


@dataclass(frozen=True, slots=True)
class DrawnRelease:
    """A release as the time line draws it: when, its label, the rows of the earlier ones, and whether it counts."""

    seconds: float
    label: str
    earlier: tuple[int, ...]
    counts: bool


def read_seconds(moment: str) -> float:
    """Read a moment of the ledger as seconds; one that is none is the beginning of time."""
    try:
        read = datetime.fromisoformat(moment)
    except ValueError:
        return 0.0
    return (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()


def draw_time_line(releases: Sequence[DrawnRelease]) -> str:
    """Draw releases from the top down, the earliest first; hollow is what was withdrawn and never handed out."""
    low = min(release.seconds for release in releases)
    high = max(release.seconds for release in releases)
    scale = LinearScale(low, high, left=4.0, right=96.0)
    base = ROW_HEIGHT * len(releases)
    plot = Plot(base + AXIS_ROOM)
    ticks = choose_moments(low, high)
    pattern = "%Y-%m-%d" if high - low >= SECONDS_OF_DAY else "%H:%M"
    unit = "day" if high - low >= SECONDS_OF_DAY else f"time (UTC) on {format_moment(low, '%Y-%m-%d')}"
    plot.add_axis(scale, ticks, base, unit, lambda seconds: format_moment(seconds, pattern), grid_top=0)
    for row, release in enumerate(releases):
        y = (row + 0.6) * ROW_HEIGHT
        for earlier in release.earlier:
            x = scale(releases[earlier].seconds)
            plot.add_line(x, (earlier + 0.6) * ROW_HEIGHT, x, y, "guide")
            plot.add_line(x, y, scale(release.seconds), y, "guide")
    for row, release in enumerate(releases):
        y = (row + 0.6) * ROW_HEIGHT
        x = scale(release.seconds)
        plot.add_disc(x, y, DISC_RADIUS, "release" if release.counts else "reference-hollow")
        label = release.label if len(release.label) <= MAX_LABEL_LETTERS else f"{release.label[:MAX_LABEL_LETTERS]}…"
        plot.add_label(x, y - LABEL_RISE, label, "halo", 12)
    joined = sum(1 for release in releases if release.earlier)
    return plot.render(
        f"{len(releases):,} releases from {format_moment(low, '%Y-%m-%d')} to {format_moment(high, '%Y-%m-%d')}; "
        f"{joined:,} of people who were published before."
    )


def choose_moments(low: float, high: float) -> list[float]:
    """Choose moments for the axis: the first, the last, and some between them where days are told apart."""
    if high <= low:
        return [low]
    span = high - low
    steps = MAX_TICKS - 1 if span >= (MAX_TICKS - 1) * SECONDS_OF_DAY or span < SECONDS_OF_DAY else 1
    if span < 120 * steps:
        steps = 1
    return [low + span * step / steps for step in range(steps + 1)]


def format_moment(seconds: float, pattern: str) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime(pattern)
