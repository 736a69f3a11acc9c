"""Runs: children of the command line, with stages, results, failures, cancelling, and an end with the studio."""

from __future__ import annotations

import time

import pytest

from reticent.errors import DiskError
from reticent.studio.attack_queue import AttackQueue, QueuedAttack
from reticent.studio.runs import RunLimits, Runs

SLEEPER = ("-c", "import sys, time; print('{}', flush=True); time.sleep(60)")


@pytest.fixture
def runs(tmp_path):
    runs = Runs(tmp_path)
    yield runs
    runs.end_all()


def wait(run):
    until = time.monotonic() + 60
    while run.is_running and time.monotonic() < until:
        time.sleep(0.02)
    return run


def script(text: str) -> tuple[str, str]:
    return ("-c", text)


def test_stages_shares_and_the_result_of_a_child_are_read(runs):
    text = (
        "import json, sys\n"
        "print(json.dumps({'stage': 'reading', 'done': 0.1}), file=sys.stderr)\n"
        "print(json.dumps({'stage': 'planning', 'done': 0.5}), file=sys.stderr)\n"
        "print('reticent: a warning', file=sys.stderr)\n"
        "print(json.dumps({'exit_code': 0}), file=sys.stderr)\n"
        "print(json.dumps({'answer': 42}))"
    )
    run = wait(runs.start([], "key", program=script(text)))
    assert run.succeeded and run.outcome == "done" and run.result == {"answer": 42}
    assert [stage.name for stage in run.stages] == ["reading", "planning"]
    assert run.done == 0.5 and run.seconds_left is None and list(run.messages) == ["a warning"]
    assert runs.find("key") is run and runs.get(run.id) is run
    assert runs.find_result("key") == {"answer": 42} and runs.find_result("other") is None


def test_the_words_of_a_failure_are_those_of_the_command(runs):
    text = "import json; print(json.dumps({'error': {'what': 'No.', 'try': 'this.'}})); raise SystemExit(2)"
    run = wait(runs.start([], "key", program=script(text)))
    assert run.outcome == "unreachable" and run.error == {"what": "No.", "try": "this."}
    assert runs.find_result("key") is None
    silent = wait(runs.start([], "silent", program=script("raise SystemExit(9)")))
    assert silent.outcome == "failed" and "9" in silent.error["what"]
    loud = wait(runs.start([], "loud", program=script("import sys; sys.exit('reticent: it broke')")))
    assert loud.error == {"what": "it broke"}
    text = wait(runs.start([], "text", program=script('print(\'{"error": "plain"}\'); raise SystemExit(1)')))
    assert text.error == {"what": "plain"}


def test_the_same_work_is_not_started_twice_while_it_runs(runs):
    first = runs.start([], "key", program=SLEEPER)
    assert runs.start([], "key", program=SLEEPER) is first
    assert runs.list_running() == [first] and first.seconds_left is None and first.outcome == "running"
    first.cancel()
    wait(first)
    first.cancel()
    assert first.outcome == "cancelled"
    assert runs.start([], "key", program=script("print(1)")) is not first


def test_a_child_that_does_not_end_is_killed(tmp_path):
    runs = Runs(tmp_path, limits=RunLimits(seconds_to_end=0.2))
    text = "import signal, time; signal.signal(signal.SIGINT, signal.SIG_IGN); print(flush=True); time.sleep(60)"
    run = runs.start([], "key", program=script(text))
    time.sleep(0.3)
    run.cancel()
    assert wait(run).exit_code == 137 or run.exit_code == 130


def test_all_children_end_with_the_studio(tmp_path):
    runs = Runs(tmp_path)
    children = [runs.start([], str(number), program=SLEEPER) for number in range(3)]
    runs.end_all()
    assert all(child.process.poll() is not None for child in children)


def test_results_are_bounded_in_number_and_size(tmp_path):
    runs = Runs(tmp_path, limits=RunLimits(finished_runs=3, result_bytes=10))
    first = wait(runs.start([], "0", program=script("print('1' * 20)")))
    assert first.succeeded and first.result is None
    for number in range(1, 6):
        wait(runs.start([], str(number), program=script("pass")))
    assert runs.get(first.id) is None


def test_a_child_that_cannot_be_started_is_refused_with_the_reason(tmp_path):
    folder = tmp_path / "gone"
    runs = Runs(folder)
    with pytest.raises(DiskError, match="could not be started: No such file"):
        runs.start(["audit"], "key")
    with pytest.raises(DiskError, match="NUL"):
        Runs(tmp_path).start(["audit", "a\x00b"], "key")
    assert runs.find("key") is None


def test_attacks_that_cannot_be_started_are_forgotten_and_the_reason_is_kept(tmp_path):
    queue = AttackQueue(Runs(tmp_path / "gone"))
    queue.add([QueuedAttack(name, ("audit",), name) for name in ("one", "two")])
    until = time.monotonic() + 60
    while queue.is_active and time.monotonic() < until:
        time.sleep(0.02)
    assert not queue.is_active and queue.waiting == [] and queue.current is None
    assert queue.failure is not None and "could not be started" in queue.failure.what
