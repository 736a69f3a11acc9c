"""Runs that ended, put on a desk without a child: states of a screen that would take seconds to reach."""

from __future__ import annotations

from typing import Any, cast

from reticent.studio.desk import Desk
from reticent.studio.runs import Run, RunStage


def add_finished_run(
    desk: Desk,
    key: str,
    result: Any,
    *,
    exit_code: int | None = 0,
    words: tuple[str, ...] = (),
    is_cancelled: bool = False,
) -> Run:
    """Put a run on the desk that ended with this result; without an exit code it still runs."""
    run = Run(words, key, cast("Any", None))
    run.result = result
    run.exit_code = exit_code
    run.is_cancelled = is_cancelled
    run.ended = None if exit_code is None else run.began + 1
    run.stages.append(RunStage("planning", 0.1, 0.5))
    desk.runs._runs[run.id] = run
    return run
