"""Broken lines of a messy export, by Spark."""

from __future__ import annotations

import reticent as rt
from tests.support.messy_hospital import FEW_ROWS, JOB_OF_FEW_ROWS, count_broken_lines, write_messy_hospital
from tests.support.spark_session import spark


def test_spark_sets_the_same_lines_aside(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_messy_hospital(tmp_path / "hospital.csv", FEW_ROWS)
    (tmp_path / "job.toml").write_text(JOB_OF_FEW_ROWS, encoding="utf-8")
    job = rt.Job.read(tmp_path / "job.toml")
    release = rt.publish(job, seed=1, engine=spark())
    local = rt.publish(job, seed=1)
    assert release.set_aside == local.set_aside == count_broken_lines(FEW_ROWS)
    assert sorted(release.frame().rows(), key=str) == sorted(local.frame().rows(), key=str)
