"""Compiled code in threads of its own ends when its caller is interrupted, and gives back what ends before."""

from __future__ import annotations

from time import process_time

import numpy as np
import pytest

from reticent.time_limit import TimeLimitReached, run_within
from reticent.workers import run_in_workers

ENOUGH = 30.0  # CPU seconds after which a worker that nobody stops gives up, so that a test ends


def work_until_stopped(ended: list[str]):
    def run(part: object, worker: int, stop: np.ndarray) -> None:
        began = process_time()
        while not stop[0]:
            if process_time() - began > ENOUGH:
                ended.append("went on")
                return
        ended.append("stopped")

    return run


def test_results_come_in_the_order_of_the_parts():
    assert run_in_workers(lambda part, worker, stop: (part, worker), ["a", "b", "c"]) == [("a", 0), ("b", 1), ("c", 2)]
    assert run_in_workers(lambda part, worker, stop: part, []) == []


@pytest.mark.parametrize("parts", [1, 2])
def test_workers_stop_when_the_time_of_their_caller_is_used(parts):
    ended: list[str] = []
    with pytest.raises(TimeLimitReached):
        run_within(0.1, lambda: run_in_workers(work_until_stopped(ended), range(parts)))
    assert ended == ["stopped"] * parts


def test_one_worker_that_fails_stops_the_others_and_its_error_is_raised():
    ended: list[str] = []
    go_on = work_until_stopped(ended)

    def run(part: int, worker: int, stop: np.ndarray) -> None:
        if part == 1:
            raise ZeroDivisionError("part 1")
        go_on(part, worker, stop)

    with pytest.raises(ZeroDivisionError, match="part 1"):
        run_in_workers(run, [0, 1])
    assert ended == ["stopped"]


def test_short_limits_around_many_workers_leave_nothing_waiting():
    for _ in range(40):
        try:
            run_within(0.002, lambda: [run_in_workers(lambda part, worker, stop: part, range(3)) for _ in range(50)])
        except TimeLimitReached:
            continue
    assert run_in_workers(lambda part, worker, stop: part, range(3)) == [0, 1, 2]
