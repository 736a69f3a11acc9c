"""Progress of a run: words for the current stage, and the share of the whole that is done, if it is known.

A `ProgressEvent` is a text, so that a callback that only prints needs to know nothing of shares.  Shares are rough:
what stages took on a few tables, except where something is counted (sweeps, batches, attacks, a budget of seconds).

The text is for logs, which travel: it has words of ours, names of methods and attacks, and counts of what is done, and
never what a release reveals.  That goes into `finding`, which only a live terminal shows.
"""

from __future__ import annotations

from collections.abc import Callable

ProgressCallback = Callable[[str], None]


class ProgressEvent(str):
    """The current stage; `done` is the share of the run, 0 to 1, that was done before it.

    `finding` is what was found so far, for the person at the keyboard; no log and no pipe gets it.
    """

    done: float | None
    finding: str

    def __new__(cls, words: str, done: float | None = None, finding: str = "") -> ProgressEvent:
        step = super().__new__(cls, words)
        step.done = None if done is None else min(max(done, 0.0), 1.0)
        step.finding = finding
        return step


def format_duration(seconds: float) -> str:
    """Format a duration for people: 8 s, 2 min, 3 h."""
    if seconds < 60:
        return f"{max(round(seconds), 1)} s"
    return f"{round(seconds / 60)} min" if seconds < 3600 else f"{seconds / 3600:.1f} h"


def fraction_done(step: str) -> float | None:
    return getattr(step, "done", None)


def get_finding(step: str) -> str:
    return getattr(step, "finding", "")


def scale_progress(progress: ProgressCallback, start: float, end: float) -> ProgressCallback:
    """Report the progress of a part of a run as that of the whole; a part without a share of its own reports none."""

    def report_scaled(step: str) -> None:
        done = fraction_done(step)
        progress(ProgressEvent(step, None if done is None else start + done * (end - start), get_finding(step)))

    return report_scaled
