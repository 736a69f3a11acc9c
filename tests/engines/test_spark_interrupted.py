"""Ctrl-C and faults in every phase of a publication by Spark: the old release or none, no rows left on disk, no job left running."""

from __future__ import annotations

import os
import signal
import threading

import polars as pl
import pytest

import reticent as rt
from tests.engines.clusters import one_worker, spark
from tests.engines.conftest import people

pytestmark = [one_worker, pytest.mark.filterwarnings("ignore::ResourceWarning")]
PHASES = ("reading", "planning", "writing", "writing: drawing outcomes", "writing: moving rows", "auditing")


def context():
    return spark().scan(rt.Source(), pl.DataFrame({"a": [1]})).session.sparkContext


@pytest.mark.parametrize("phase", PHASES)
def test_ctrl_c_in_any_phase_leaves_nothing(phase, carrying, tmp_path):
    def stop(stage: str) -> None:
        if stage == phase:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rt.publish(carrying, frame=people(60), to=tmp_path / "out", engine=spark(), progress=stop)
    assert not list(tmp_path.iterdir())


def test_ctrl_c_while_tasks_run_cancels_them_and_leaves_nothing(job, tmp_path):
    session = spark().scan(rt.Source(), people(60)).session
    frame = session.createDataFrame(people(60).to_arrow().to_pylist())

    def slowly(batches):
        import time

        time.sleep(300)
        yield from batches

    running = context()
    begun = threading.Event()

    def press() -> None:
        for _ in range(600):
            tracker = running.statusTracker()
            if any(tracker.getStageInfo(at).numActiveTasks for at in tracker.getActiveStageIds()):
                begun.set()
                os.kill(os.getpid(), signal.SIGINT)
                return
            threading.Event().wait(0.1)

    pressing = threading.Thread(target=press, daemon=True)
    pressing.start()
    with pytest.raises(KeyboardInterrupt):
        rt.publish(job, frame=frame.mapInArrow(slowly, frame.schema), to=tmp_path / "out", engine=spark())
    pressing.join()
    assert begun.is_set()
    assert not running.statusTracker().getActiveStageIds()
    assert not list(tmp_path.iterdir())


def test_a_task_that_always_fails_leaves_nothing_and_quotes_nothing(carrying, tmp_path):
    session = spark().scan(rt.Source(), people(60)).session
    frame = session.createDataFrame(people(60).to_arrow().to_pylist())

    def fails(batches):
        for batch in batches:
            raise ValueError(f"CANARY {batch.to_pylist()[0]}")
        yield from ()

    with pytest.raises(rt.ReticentError) as found:
        rt.publish(carrying, frame=frame.mapInArrow(fails, frame.schema), to=tmp_path / "out", engine=spark())
    assert "CANARY" not in str(found.value) and "p000" not in str(found.value)
    assert not list(tmp_path.iterdir())
