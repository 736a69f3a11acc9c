"""Broken lines of a messy export, by Spark."""

from __future__ import annotations

import reticent as rt
from tests.cli.test_messy_export import JOB, ROWS
from tests.support.messy_hospital import count_broken_lines, write_messy_hospital
from tests.support.spark_session import spark


def test_spark_sets_the_same_lines_aside(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_messy_hospital(tmp_path / "hospital.csv", ROWS)
    (tmp_path / "job.toml").write_text(JOB, encoding="utf-8")
    job = rt.Job.read(tmp_path / "job.toml")
    release = rt.publish(job, seed=1, engine=spark())
    local = rt.publish(job, seed=1)
    assert release.set_aside == local.set_aside == count_broken_lines(ROWS)
    assert sorted(release.frame().rows(), key=str) == sorted(local.frame().rows(), key=str)
