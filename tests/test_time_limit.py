"""A limit on CPU seconds ends any loop, and gives back what ends before it."""

from __future__ import annotations

import sys
import threading
from time import process_time

import pytest

import reticent as rt
from reticent.release.bundle import read_manifest
from reticent.time_limit import TimeLimitReached, _Watch, run_within
from tests.support import contract_examples


def loop_for_ever() -> None:
    while True:
        pass


def swallow_for_ever() -> None:
    while True:
        try:
            loop_for_ever()
        except Exception:  # what a careless method does
            continue


def test_what_ends_in_time_is_given_back():
    assert run_within(60, lambda: "planned") == "planned"
    with pytest.raises(ZeroDivisionError):
        run_within(60, lambda: 1 / 0)


@pytest.mark.parametrize("endless", [loop_for_ever, swallow_for_ever])
def test_an_endless_loop_is_ended_when_its_time_is_used(endless):
    with pytest.raises(TimeLimitReached):
        run_within(0.05, endless)


def test_without_time_nothing_is_begun():
    begun: list[int] = []
    with pytest.raises(TimeLimitReached):
        run_within(0, lambda: begun.append(1))
    assert not begun


def test_limits_within_limits_end_their_own_computation_only():
    def inner() -> str:
        with pytest.raises(TimeLimitReached):
            run_within(0.05, loop_for_ever)
        return "went on"

    assert run_within(60, inner) == "went on"
    with pytest.raises(TimeLimitReached):
        run_within(0.05, lambda: run_within(60, loop_for_ever))


def test_a_limit_holds_in_a_thread_that_is_not_the_main_one():
    reached: list[bool] = []

    def limited() -> None:
        try:
            run_within(0.05, loop_for_ever)
        except TimeLimitReached:
            reached.append(True)

    thread = threading.Thread(target=limited)
    thread.start()
    thread.join()
    assert reached == [True]


def test_a_limit_that_was_kept_does_not_interrupt_what_comes_after():
    for _ in range(200):
        try:
            run_within(0.0005, lambda: sum(range(4_000)))
        except TimeLimitReached:
            continue
    assert sum(range(1_000_000)) == 499_999_500_000


def test_a_watch_whose_computation_was_left_raises_nothing():
    """As when a limit around it ends a computation before it could stop its own watch."""

    def leave_the_watch() -> _Watch:
        watch = _Watch(0.02, sys._getframe())
        watch.start()
        return watch

    watch = leave_the_watch()
    ends = process_time() + 0.2
    while process_time() < ends:
        pass
    assert not watch.fired


def test_a_tracer_works_after_a_limit_was_reached():
    """As coverage and debuggers have one: an exception that was taken back held them at one step for ever."""
    with pytest.raises(TimeLimitReached):
        run_within(0.02, loop_for_ever)
    steps: list[str] = []
    before = sys.gettrace()
    sys.settrace(lambda frame, event, argument: steps.append(event))
    try:
        (lambda: None)()
    finally:
        sys.settrace(before)
    assert steps


def test_a_limit_that_ends_while_a_manifest_is_checked_does_not_call_the_release_damaged(monkeypatch):
    job = rt.Job(columns=contract_examples.columns("illness"), promises=[rt.KAnonymity(3)])
    release = rt.publish(job, frame=contract_examples.people())
    with monkeypatch.context() as patch:
        patch.setattr("reticent.format.manifest.parse_dtype", lambda text: loop_for_ever())
        with pytest.raises(TimeLimitReached):
            run_within(0.05, lambda: read_manifest(release.folder))
    assert read_manifest(release.folder).kind == "generalized"
