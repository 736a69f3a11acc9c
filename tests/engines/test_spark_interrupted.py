"""Ctrl-C and faults in every phase of a publication by Spark: the old release or none, no rows left on disk, no job left running."""

from __future__ import annotations

import os
import signal
import threading
import time
from dataclasses import replace

import pytest

import reticent as rt
from tests.support.engine_tables import people
from tests.support.spark_session import spark

pytestmark = [pytest.mark.filterwarnings("ignore::ResourceWarning")]
PHASES = ("reading", "planning", "writing", "writing: drawing outcomes", "writing: moving rows", "auditing")


@pytest.mark.parametrize("phase", PHASES)
def test_ctrl_c_in_any_phase_leaves_nothing(phase, carrying, tmp_path):
    def stop(stage: str) -> None:
        if stage == phase:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rt.publish(carrying, frame=people(60), to=tmp_path / "out", engine=spark(), progress=stop)
    assert not list(tmp_path.iterdir())


@pytest.fixture
def interruptible():
    """Ctrl-C interrupts, also where whoever started the tests ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_while_tasks_run_cancels_them_and_leaves_nothing(job, tmp_path, tmp_path_factory, interruptible, caplog):
    session = spark().scan(rt.Source(), people(60)).rows.session
    frame = session.createDataFrame(people(60).to_arrow().to_pylist())
    begun = tmp_path_factory.mktemp("begun") / "begun"
    name = str(begun)

    def slowly(batches):
        import time
        from pathlib import Path

        Path(name).touch()
        time.sleep(3600)
        yield from batches

    def press() -> None:
        while not begun.exists():
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=press, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        rt.publish(job, frame=frame.mapInArrow(slowly, frame.schema), to=tmp_path / "out", engine=spark())
    assert not session.sparkContext.statusTracker().getActiveStageIds()
    assert not list(tmp_path.iterdir())
    assert not caplog.records  # whoever presses Ctrl-C needs no traceback of it


@pytest.mark.parametrize("regions", [None, 2])
def test_a_full_disk_of_an_executor_ends_with_74_and_leaves_nothing(regions, job, tmp_path):
    session = spark().scan(rt.Source(), people(60)).rows.session
    frame = session.createDataFrame(people(60).to_arrow().to_pylist())

    def fills(batches):
        for batch in batches:
            raise OSError(28, f"No space left on device {batch.to_pylist()[0]}")
        yield from ()

    engine = replace(spark(), regions=regions)
    ledger = tmp_path / "ledger"
    with pytest.raises(rt.ReticentError, match="is full") as found:
        rt.publish(job, frame=frame.mapInArrow(fills, frame.schema), to=tmp_path / "out", engine=engine, ledger=ledger)
    assert found.value.exit_code == 74
    assert "p000" not in str(found.value)
    assert not list(tmp_path.iterdir())


def test_a_task_that_always_fails_leaves_nothing_and_quotes_nothing(carrying, tmp_path):
    session = spark().scan(rt.Source(), people(60)).rows.session
    frame = session.createDataFrame(people(60).to_arrow().to_pylist())

    def fails(batches):
        for batch in batches:
            raise ValueError(f"CANARY {batch.to_pylist()[0]}")
        yield from ()

    with pytest.raises(rt.ReticentError) as found:
        rt.publish(carrying, frame=frame.mapInArrow(fails, frame.schema), to=tmp_path / "out", engine=spark())
    assert "CANARY" not in str(found.value) and "p000" not in str(found.value)
    assert not list(tmp_path.iterdir())
