"""Spark publishes the quasi-identifiers and sensitive values of `local`, and every row keeps what it carries."""

from __future__ import annotations

import random
from collections import Counter
from functools import partial
from unittest import mock

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import reticent as rt
from reticent import catalogue
from reticent.engines.spark.passthrough import choose_bucket_count
from reticent.errors import JobError, RequestError
from tests.support.engine_jobs import FIRST, SORTED, TURNS, by_local, outcome, tables
from tests.support.method_promise_pairs import drafted
from tests.support.release_comparison import CARRIED, stated, without_carried
from tests.support.spark_session import spark

CHOOSE_BUCKETS = "reticent.engines.spark.passthrough.choose_bucket_count"
pytestmark = [pytest.mark.filterwarnings("ignore::ResourceWarning"), pytest.mark.usefixtures("small_parts")]
TURNED = {"mondrian": "rows withheld, CSV", "burel": "in parts, carried, CSV", "anatomy": "in parts"}
"""What the job of a method has beside it; of the others, carried columns and missing values."""


def assert_alike(one: rt.Release, other: rt.Release) -> None:
    assert without_carried(one) == without_carried(other)
    assert stated(one) == stated(other)
    assert [verdict.kept for verdict in one.audited.promises] == [verdict.kept for verdict in other.audited.promises]


@pytest.mark.parametrize("method", catalogue.METHODS)
def test_every_method_publishes_the_same_values_by_spark_and_carried_ones_stay_with_their_rows(method):
    name = TURNED.get(method, "missing, carried")
    found = by_local(FIRST[method], name)
    if isinstance(found, str):
        draft = drafted(FIRST[method], *TURNS[name])
        with pytest.raises(JobError) as refused:
            rt.publish(draft.job(), frame=draft.frame, seed=11, engine=spark())
        assert str(refused.value) == found
        found = by_local(FIRST[method], "plain")
    release, job, table = found
    other = rt.publish(job, frame=table, seed=11, engine=spark())
    assert_alike(release, other)
    if "visits" in table.columns:
        first = next(iter(other.tables.values()))
        held = dict(zip(table["note"], table["visits"], strict=True))
        assert first["note"].is_unique().all()
        assert all(held[note] == visits for note, visits in first.select(CARRIED).rows())
    assert rt.audit(other, source=table, job=job).source.passed


@pytest.mark.parametrize("partitions", [1, 5])
def test_any_partitioning_and_row_order_give_the_same_values(partitions):
    release, job, table = by_local(FIRST["burel"], "carried")
    session = spark().scan(rt.Source(), pl.DataFrame({"a": [1]})).rows.session
    mixed = table.sample(fraction=1.0, shuffle=True, seed=4)
    frame = session.createDataFrame(mixed.to_arrow().to_pylist()).repartition(partitions)
    assert_alike(release, rt.publish(job, frame=frame, seed=11, engine=spark()))


def test_a_task_that_fails_and_runs_again_loses_and_duplicates_nothing():
    release, job, table = by_local(FIRST["burel"], "carried")
    session = spark().scan(rt.Source(), pl.DataFrame({"a": [1]})).rows.session
    frame = session.createDataFrame(table.to_arrow().to_pylist()).repartition(3)

    def fails_at_first(batches):
        from pyspark import TaskContext

        held = list(batches)
        if TaskContext.get().attemptNumber() == 0 and TaskContext.get().partitionId() == 1:
            held = held[::-1]
            yield from held
            raise OSError("the first attempt fails after all of its rows were handed on")
        yield from held

    failing = frame.mapInArrow(fails_at_first, frame.schema)
    assert_alike(release, rt.publish(job, frame=failing, seed=11, engine=spark()))


def test_no_row_is_collected_and_nothing_is_drawn_by_spark():
    from pyspark.sql.classic.dataframe import DataFrame
    from pyspark.sql.readwriter import DataFrameWriter

    _, job, table = by_local(FIRST["mondrian"], "carried")
    plans = []
    collected = []
    write = DataFrameWriter.parquet
    to_arrow = DataFrame.toArrow

    def written(self, *given, **how):
        plans.append(self._df._jdf.queryExecution().toString())
        return write(self, *given, **how)

    def seen(self):
        collected.append(to_arrow(self))
        return collected[-1]

    with (
        mock.patch.object(DataFrameWriter, "parquet", written),
        mock.patch.object(DataFrame, "toArrow", seen),
        mock.patch.object(DataFrame, "collect", side_effect=AssertionError("rows are collected")),
    ):
        rt.publish(job, frame=table, seed=1, engine=spark())
    assert len(plans) == 2 and all("MapInArrow" in plan and "rand" not in plan.lower() for plan in plans)
    for one in collected:  # combinations or values, each once, and last how many rows have it
        names = one.column_names[:-1] or one.column_names
        assert one.select(names).group_by(names).aggregate([]).num_rows == one.num_rows
    notes = set(table["note"])
    assert not any(notes & set(column.to_pylist()) for one in collected for column in one.columns)


def test_the_driver_reads_what_executors_wrote_bucket_by_bucket(tmp_path):
    release, job, table = by_local(FIRST["mondrian"], "carried")
    read = pl.read_parquet
    sizes = []

    def bucket(*given, **how):
        sizes.append(len(found := read(*given, **how)))
        return found

    with (
        mock.patch(CHOOSE_BUCKETS, partial(choose_bucket_count, bucket_bytes=4_000)),
        mock.patch("reticent.engines.spark.passthrough.pl.read_parquet", bucket),
    ):
        other = rt.publish(job, frame=table, seed=11, engine=spark())
    assert_alike(release, other)
    assert len(sizes) > 4 and max(sizes) * 2 < len(table)


def test_long_carried_texts_are_read_back_as_executors_wrote_them():
    """Of more than 256 KB in a page."""
    draw = random.Random(7)
    notes = [draw.randbytes(250).hex() for _ in range(1_500)]
    table = pl.DataFrame({"q": [at % 3 for at in range(1_500)], "s": ["a", "b"] * 750, "note": notes})
    columns = {"q": rt.quasi(), "s": rt.sensitive(), "note": rt.insensitive(acknowledge=True)}
    other = rt.publish(rt.Job(columns=columns, promises=[rt.KAnonymity(5)]), frame=table, engine=spark())
    assert Counter(other.frame().select("s", "note").rows()) == Counter(table.select("s", "note").rows())


def test_sorted_kinds_are_sorted_across_buckets():
    release, job, table = by_local(FIRST["anatomy"], "carried")
    with mock.patch(CHOOSE_BUCKETS, partial(choose_bucket_count, bucket_bytes=8_000)):
        other = rt.publish(job, frame=table, seed=11, engine=spark())
    assert release.kind in SORTED
    first = next(iter(release.tables))
    order = release.tables[first].drop(CARRIED)
    assert other.tables[first].drop(CARRIED).equals(order)


@settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck))
@given(table=tables, partitions=st.integers(1, 4), seed=st.integers(0, 9))
def test_random_tables_in_random_partitions_are_published_alike(table, partitions, seed):
    frame = pl.DataFrame(table, schema={"q": pl.Int8, "s": pl.String, "text": pl.String, "number": pl.Float64})
    near = {name: rt.insensitive(acknowledge=True) for name in ("text", "number")}
    job = rt.Job(
        columns={"q": rt.quasi(), "s": rt.sensitive(), **near},
        promises=[rt.ProbabilisticLDiversity("3/2")],
        method="anatomy",
    )
    one = outcome(job, frame, seed, "local")
    other = outcome(job, frame, seed, spark())
    if isinstance(one, str) or isinstance(other, str):
        assert one == other
        return
    for name, held in one.tables.items():
        plain = [column for column in held.columns if column not in near]
        assert Counter(held.select(plain).rows()) == Counter(other.tables[name].select(plain).rows())
    own = [column for column in ("q", *near) if column in next(iter(other.tables.values())).columns]
    published = next(iter(other.tables.values())).select(own)
    assert not Counter(published.rows()) - Counter(frame.select(own).rows())


def test_another_master_than_the_active_sessions_is_refused():
    job = rt.Job(columns={"q": rt.quasi()}, promises=[rt.KAnonymity(2)])
    rt.count(job, frame=pl.DataFrame({"q": [1, 1]}), engine=spark())
    with pytest.raises(RequestError, match="is active"):
        rt.count(job, frame=pl.DataFrame({"q": [1, 1]}), engine=rt.Spark(master="local[7]"))


def test_check_counts_by_spark_and_says_what_it_says_of_the_same_rows_here(carrying, table):
    one, other = (
        rt.check(carrying, frame=table, methods=[], engine=engine).to_dict(show_values=True)
        for engine in ("local", spark())
    )
    assert one == other
    assert one["carried"][0]["association"]["illness"] == 1
