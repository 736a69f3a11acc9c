"""Spark publishes the quasi-identifiers and sensitive values of `local`, and every row keeps what it carries."""

from __future__ import annotations

from collections import Counter
from unittest import mock

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import reticent as rt
from reticent import catalogue
from reticent.errors import ColumnError, JobError, RequestError, SourceError
from tests.contract.pairs import drafted
from tests.engines.clusters import one_worker, spark
from tests.engines.sameness import rows_of, stated
from tests.engines.test_sameness import FIRST, SORTED, TURNS, by_local, outcome, tables

pytestmark = [one_worker, pytest.mark.filterwarnings("ignore::ResourceWarning")]
CARRIED = ("note", "visits")


def without_carried(release: rt.Release) -> dict[str, Counter]:
    """The multiset of rows of each file, carried columns left out."""
    return {name: Counter(frame.drop(CARRIED, strict=False).rows()) for name, frame in release.tables.items()}


def assert_alike(one: rt.Release, other: rt.Release) -> None:
    assert without_carried(one) == without_carried(other)
    assert stated(one) == stated(other)
    assert [verdict.kept for verdict in one.audited.promises] == [verdict.kept for verdict in other.audited.promises]


@pytest.mark.parametrize("method", catalogue.METHODS)
def test_every_method_publishes_the_same_values_by_spark_and_carried_ones_stay_with_their_rows(method):
    name = "rows withheld, CSV" if method == "mondrian" else "missing, carried"
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
    session = spark().scan(rt.Source(), pl.DataFrame({"a": [1]})).session
    mixed = table.sample(fraction=1.0, shuffle=True, seed=4)
    frame = session.createDataFrame(mixed.to_arrow().to_pylist()).repartition(partitions)
    assert_alike(release, rt.publish(job, frame=frame, seed=11, engine=spark()))


def test_a_task_that_fails_and_runs_again_loses_and_duplicates_nothing():
    release, job, table = by_local(FIRST["burel"], "carried")
    session = spark().scan(rt.Source(), pl.DataFrame({"a": [1]})).session
    frame = session.createDataFrame(table.to_arrow().to_pylist()).repartition(3)

    def fails_at_first(batches):
        from pyspark import TaskContext

        held = list(batches)
        if TaskContext.get().attemptNumber() == 0:
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
    plans, collected = [], []
    write, to_arrow = DataFrameWriter.parquet, DataFrame.toArrow

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
    assert all(not {"c2", "note"} & set(one.column_names) or "times" in one.column_names for one in collected)
    notes = set(table["note"])
    assert not any(notes & set(column.to_pylist()) for one in collected for column in one.columns)


def test_the_driver_reads_what_executors_wrote_bucket_by_bucket(tmp_path):
    release, job, table = by_local(FIRST["mondrian"], "carried")
    read, sizes = pl.read_parquet, []

    def bucket(*given, **how):
        sizes.append(len(found := read(*given, **how)))
        return found

    with (
        mock.patch("reticent.engines.spark.carrying.BYTES", 4_000),
        mock.patch("reticent.engines.spark.carrying.pl.read_parquet", bucket),
    ):
        other = rt.publish(job, frame=table, seed=11, engine=spark())
    assert_alike(release, other)
    assert len(sizes) > 4 and max(sizes) * 2 < len(table)


def test_sorted_kinds_are_sorted_across_buckets():
    release, job, table = by_local(FIRST["anatomy"], "carried")
    with mock.patch("reticent.engines.spark.carrying.BYTES", 8_000):
        other = rt.publish(job, frame=table, seed=11, engine=spark())
    assert release.kind in SORTED
    first = next(iter(release.tables))
    order = release.tables[first].drop(CARRIED)
    assert other.tables[first].drop(CARRIED).equals(order)


PEOPLE = pl.DataFrame(
    {
        "Age": pl.Series([20, 21, 22, 23] * 6, dtype=pl.UInt8),
        "age": ["x", "y"] * 12,
        "a.b `c": ['Ulm, "old"', "Bonn\nnorth", "", "Kiel "] * 6,
        "day": ["01/02/2020", "11/12/2021"] * 12,
        "ill": ["flu", "gout", "?"] * 8,
        "seen": pl.Series(range(24), dtype=pl.Datetime("us")),
        "weight": [0.5 * at for at in range(24)],
    }
)
COLUMNS = {
    "Age": rt.quasi(),
    "age": rt.quasi(),
    "a.b `c": rt.insensitive(),
    "day": rt.quasi(format="%m/%d/%Y"),
    "ill": rt.sensitive(missing="category"),
    "seen": rt.insensitive(acknowledge=True),
    "weight": rt.insensitive(round_to=2),
}


def alike(source: rt.Source, columns=COLUMNS) -> rt.Release:
    """What Spark publishes of a source, seen to have the rows and the manifest that `local` makes of the same source."""
    job = rt.Job(source=source, columns=columns, promises=[rt.KAnonymity(3)], release=rt.Output(undeclared="drop"))
    one, other = rt.publish(job, seed=3), rt.publish(job, seed=3, engine=spark())
    assert rows_of(one) == rows_of(other)
    assert stated(one) == stated(other)
    return other


def test_parquet_is_read_as_local_reads_it_whatever_names_and_types_it_has(tmp_path):
    PEOPLE.write_parquet(tmp_path / "people.parquet")
    alike(rt.Source(path=str(tmp_path / "people.parquet"), missing=["?"]))


def test_csv_is_read_as_local_reads_it(tmp_path):
    PEOPLE.write_csv(tmp_path / "people.csv", separator=";")
    alike(rt.Source(path=str(tmp_path / "people.csv"), missing=["?"]))


def test_a_folder_of_parquet_files_is_one_table(tmp_path):
    for at in range(3):
        PEOPLE[at * 8 : at * 8 + 8].write_parquet(tmp_path / f"{at}.parquet")
    job = rt.Job(columns=COLUMNS, promises=[rt.KAnonymity(3)])
    one = rt.publish(job, frame=PEOPLE, seed=3)
    other = rt.publish(job.at(source=str(tmp_path)), seed=3, engine=spark())
    assert without_carried(one) == without_carried(other)


def test_parts_with_different_types_are_refused_by_column_and_nothing_is_written(tmp_path):
    (tmp_path / "in").mkdir()
    PEOPLE.write_parquet(tmp_path / "in" / "a.parquet")
    PEOPLE.with_columns(pl.col("Age").cast(pl.Int64)).write_parquet(tmp_path / "in" / "b.parquet")
    job = rt.Job(source=str(tmp_path / "in"), columns=COLUMNS, promises=[rt.KAnonymity(3)])
    with pytest.raises(SourceError, match="different columns or types: 'Age'"):
        rt.publish(job, to=tmp_path / "out", engine=spark())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in"]


def test_a_row_with_a_field_too_many_is_refused_without_its_values(tmp_path):
    (tmp_path / "people.csv").write_text("q,s\n1,flu\n2,CANARY,3\n" * 3)
    columns = {"q": rt.quasi(), "s": rt.sensitive()}
    job = rt.Job(source=str(tmp_path / "people.csv"), columns=columns, promises=[rt.KAnonymity(2)])
    with pytest.raises(SourceError) as refused:
        rt.publish(job, to=tmp_path / "out", engine=spark())
    assert "CANARY" not in str(refused.value)
    assert not (tmp_path / "out").exists()


def test_a_value_that_does_not_read_as_declared_is_refused_as_by_local():
    broken = PEOPLE.with_columns(day=pl.lit("CANARY"))
    job = rt.Job(columns=COLUMNS, promises=[rt.KAnonymity(3)])
    said = []
    for engine in ("local", spark()):
        with pytest.raises(ColumnError) as refused:
            rt.publish(job, frame=broken, engine=engine)
        said.append(str(refused.value))
    assert said[0] == said[1] and "CANARY" not in said[0]


def test_tables_of_a_catalogue_and_behind_jdbc_are_read():
    session = spark().scan(rt.Source(), pl.DataFrame({"a": [1]})).session
    frame = session.createDataFrame([{"q": 20 + at % 4, "s": "abc"[at % 3]} for at in range(24)])
    frame.createOrReplaceGlobalTempView("people")
    url = "jdbc:derby:memory:reticent;create=true"
    frame.write.jdbc(url, "people", properties={"driver": "org.apache.derby.iapi.jdbc.AutoloadedDriver"})
    job = rt.Job(columns={"q": rt.quasi(), "s": rt.sensitive()}, promises=[rt.KAnonymity(3)])
    held = job.at(source=rt.Source(table="global_temp.people"))
    behind = rt.Job(
        source=rt.Source(url=url, table="people"),
        columns={"q": rt.quasi(), "s": rt.sensitive()},
        promises=[rt.KAnonymity(3)],
    )
    one, other = (rt.publish(asked, seed=1, engine=spark()) for asked in (held, behind))
    assert rows_of(one) == rows_of(other)


@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
@given(table=tables, partitions=st.integers(1, 4), seed=st.integers(0, 9))
def test_random_tables_in_random_partitions_are_published_alike(table, partitions, seed):
    frame = pl.DataFrame(table, schema={"q": pl.Int8, "s": pl.String, "text": pl.String, "number": pl.Float64})
    near = {name: rt.insensitive(acknowledge=True) for name in ("text", "number")}
    job = rt.Job(
        columns={"q": rt.quasi(), "s": rt.sensitive(), **near},
        promises=[rt.ProbabilisticLDiversity("3/2")],
        method="anatomy",
    )
    one, other = outcome(job, frame, seed, "local"), outcome(job, frame, seed, spark())
    if isinstance(one, str) or isinstance(other, str):
        assert one == other
        return
    for name, held in one.tables.items():
        plain = [column for column in held.columns if column not in near]
        assert Counter(held.select(plain).rows()) == Counter(other.tables[name].select(plain).rows())
    own = [column for column in ("q", *near) if column in next(iter(other.tables.values())).columns]
    published = next(iter(other.tables.values())).select(own)
    assert not Counter(published.rows()) - Counter(frame.select(own).rows())


def test_check_by_spark_is_refused_before_data_is_read():
    job = rt.Job(columns={"q": rt.quasi()}, promises=[rt.KAnonymity(2)])
    with pytest.raises(JobError, match="publishes, and does not check"):
        rt.check(job, frame=pl.DataFrame({"q": [1, 1]}), engine="spark")


def test_another_master_than_the_active_sessions_is_refused():
    job = rt.Job(columns={"q": rt.quasi()}, promises=[rt.KAnonymity(2)])
    rt.count(job, frame=pl.DataFrame({"q": [1, 1]}), engine=spark())
    with pytest.raises(RequestError, match="is active"):
        rt.count(job, frame=pl.DataFrame({"q": [1, 1]}), engine=rt.Spark(master="local[7]"))
