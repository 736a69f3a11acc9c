"""Regions by Spark: the rows of the same plan in one place, carried values with their rows, and nothing of size on the driver."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from unittest import mock

import polars as pl
import pytest

import reticent as rt
from tests.support.region_plans import COLUMNS, DROP, KB, QUASI, in_one_place, labelled, small_parts
from tests.support.spark_session import spark

SMALL = {"sample_cells": 600, "bucket_bytes": 20_000, "audit_rows": 500}
pytestmark = [pytest.mark.filterwarnings("ignore::ResourceWarning")]


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    return rt.datasets.load("census", rows=1_200, seed=2).with_row_index("note")


def test_regions_without_carried_columns_are_the_plan_of_one_place_and_audited_alike_in_parts(people, tmp_path):
    job = rt.Job(columns=COLUMNS, promises=KB, release=replace(DROP, part_rows=1_000))
    with small_parts(**SMALL):
        release = rt.publish(
            job,
            frame=people,
            to=tmp_path / "out",
            ledger=tmp_path / "ledger",
            seed=3,
            engine=replace(spark(), regions=4),
        )
    assert labelled(release) == in_one_place(job, people, 4, 3, sample_size=600)
    assert release.manifest.data == ("data-00000.parquet", "data-00001.parquet")
    found = rt.audit(release, source=people, job=job)
    assert found.kept and found.source.passed
    assert release.audited.promises == found.promises and release.audited.exact == found.exact


def test_a_task_that_fails_and_runs_again_changes_no_region_and_no_row_comes_to_the_driver(people, tmp_path):
    """The source's tasks fail at first, after they handed on their rows in another order; what is collected is looked at."""
    from pyspark.sql.classic.dataframe import DataFrame
    from pyspark.sql.readwriter import DataFrameWriter

    job = rt.Job(columns={**COLUMNS, "note": rt.insensitive(acknowledge=True)}, promises=KB)
    session = spark().scan(rt.Source(), pl.DataFrame({"a": [1]})).rows.session
    frame = session.createDataFrame(people.to_arrow().to_pylist()).repartition(2)

    def fails_at_first(batches):
        from pyspark import TaskContext

        held = list(batches)
        if TaskContext.get().attemptNumber() == 0 and TaskContext.get().partitionId() == 1:
            yield from held[::-1]
            raise OSError("the first attempt fails after all of its rows were handed on")
        yield from held

    plans = []
    collected = []
    read = []
    write = DataFrameWriter.parquet
    to_arrow = DataFrame.toArrow
    read_parquet = pl.read_parquet

    def written(self, *given, **how):
        plans.append(self._df._jdf.queryExecution().toString())
        return write(self, *given, **how)

    def seen(self):
        collected.append(to_arrow(self))
        return collected[-1]

    def bucket(*given, **how):
        read.append(len(found := read_parquet(*given, **how)))
        return found

    with (
        small_parts(**SMALL),
        mock.patch.object(DataFrameWriter, "parquet", written),
        mock.patch.object(DataFrame, "toArrow", seen),
        mock.patch.object(DataFrame, "collect", side_effect=AssertionError("rows are collected")),
        mock.patch("reticent.engines.spark.rows.pl.read_parquet", bucket),
    ):
        release = rt.publish(
            job,
            frame=frame.mapInArrow(fails_at_first, frame.schema),
            to=tmp_path / "out",
            ledger=tmp_path / "ledger",
            seed=3,
            engine=replace(spark(), regions=4),
        )
    assert labelled(release) == in_one_place(job, people, 4, 3, sample_size=600)
    shown = ["note", "salary_class"]
    assert Counter(release.frame().select(shown).rows()) == Counter(people.select(shown).rows())
    assert rt.audit(release, source=people, job=job).kept
    assert len(plans) == 4 and all("MapInArrow" in plan and "rand" not in plan.lower() for plan in plans)
    one_by_one = [one for one in collected if "note" in one.column_names or one.num_rows > 100]
    assert not one_by_one  # what parts say, a row each, and how often carried values repeat
    assert len(read) > 1 and max(read) * 2 < len(people)


PHASES = ("reading", "planning", "writing", "writing: numbering rows", "writing: moving rows", "auditing")


@pytest.mark.parametrize("phase", PHASES)
def test_ctrl_c_in_any_phase_of_regions_leaves_nothing(phase, people, tmp_path):
    seen = []

    def stop(stage: str) -> None:
        seen.append(stage)
        if stage == phase:
            raise KeyboardInterrupt

    job = rt.Job(columns={**COLUMNS, "note": rt.insensitive(acknowledge=True)}, promises=KB)
    how = {"frame": people[:120], "to": tmp_path / "out", "ledger": tmp_path / "ledger"}
    with pytest.raises(KeyboardInterrupt):
        rt.publish(job, engine=replace(spark(), regions=2), progress=stop, **how)
    assert {path.name for path in tmp_path.iterdir()} <= {"ledger"}
    assert [stage for stage in PHASES if stage in seen] == list(PHASES[: PHASES.index(phase) + 1])


def test_quasi_identifiers_alone_and_a_csv_are_published_in_regions(people, tmp_path):
    people.select(QUASI).write_csv(tmp_path / "people.csv")
    job = rt.Job(
        source=str(tmp_path / "people.csv"),
        columns={name: rt.quasi() for name in QUASI},
        promises=[rt.KAnonymity(5)],
        release=rt.Output(format="csv"),
    )
    release = rt.publish(
        job, to=tmp_path / "out", ledger=tmp_path / "ledger", seed=3, engine=replace(spark(), regions=3)
    )
    found = rt.audit(release, source=str(tmp_path / "people.csv"), job=job)
    assert found.kept and found.source.passed
    assert release.audited.promises == found.promises
