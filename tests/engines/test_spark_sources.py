"""Whatever Spark reads from, it publishes what `local` publishes of the same rows; what is wrong with them is refused alike."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path
from urllib.parse import unquote, urlsplit

import polars as pl
import pytest

import reticent as rt
from reticent.errors import ColumnError, PromiseUnreachable, SourceError
from tests.support.code_columns import PEOPLE as CODES
from tests.support.release_comparison import rows_of, stated, without_carried
from tests.support.spark_session import spark

pytestmark = [pytest.mark.filterwarnings("ignore::ResourceWarning")]
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
    one = rt.publish(job, seed=3)
    other = rt.publish(job, seed=3, engine=spark())
    assert rows_of(one) == rows_of(other)
    assert stated(one) == stated(other)
    return other


def test_parquet_is_read_as_local_reads_it_whatever_names_and_types_it_has(tmp_path):
    PEOPLE.write_parquet(tmp_path / "people.parquet")
    alike(rt.Source(path=str(tmp_path / "people.parquet"), missing=["?"]))


@pytest.mark.parametrize("empty", ["missing", "value"])
def test_csv_is_read_as_local_reads_it_quoted_and_empty_fields_too(tmp_path, empty):
    (PEOPLE if empty == "missing" else PEOPLE[:12]).write_csv(tmp_path / "people.csv", separator=";")
    text = (tmp_path / "people.csv").read_text()
    (tmp_path / "people.csv").write_text(text.replace(';"";', ";;", 2))
    alike(rt.Source(path=str(tmp_path / "people.csv"), missing=["?"], empty=empty))


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
    with pytest.raises(SourceError, match=r"Of its columns 1 differ \('Age'\)"):
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
    session = spark().scan(rt.Source(), pl.DataFrame({"a": [1]})).rows.session
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


def test_opening_a_catalogue_leaves_nothing_in_the_working_directory():
    session = spark().scan(rt.Source(), pl.DataFrame({"a": [1]})).rows.session
    session.sql("show tables").toArrow()  # whatever asks the catalogue makes its folder
    made = Path(unquote(urlsplit(session.conf.get("spark.sql.warehouse.dir")).path))
    assert made.is_dir()
    assert Path.cwd() not in (made, *made.parents)


@pytest.mark.parametrize("regions", [None, 2])
def test_a_second_release_is_not_joined_with_the_first_because_the_driver_reads_no_rows(regions, tmp_path):
    session = spark().scan(rt.Source(), pl.DataFrame({"a": [1]})).rows.session
    frame = session.createDataFrame([{"q": 20 + at % 8, "s": "abc"[at % 3]} for at in range(48)])
    job = rt.Job(columns={"q": rt.quasi(), "s": rt.sensitive()}, promises=[rt.KAnonymity(3)])
    how = {"frame": frame, "seed": 1, "ledger": tmp_path / "ledger", "engine": replace(spark(), regions=regions)}
    rt.publish(job, to=tmp_path / "first", **how)
    second = rt.publish(job, to=tmp_path / "second", again=True, **how)
    assert any("'first' was not joined with this one: rows are on a cluster" in said for said in second.notices)
    limited = job.at(release=rt.Output(together="1/2"))
    with pytest.raises(PromiseUnreachable, match="rows are on a cluster"):
        rt.publish(limited, to=tmp_path / "third", again=True, **how)
    assert not (tmp_path / "third").exists()


@pytest.mark.parametrize("empty", ["missing", "value"])
def test_batches_are_those_of_local_whatever_they_are_cut_by(empty, tmp_path):
    days = ["2024-03-01", ""]
    rows = [(20 + at % 4, "abc"[at % 3], days[at // 24], date(2024, 3, 1 + at // 24), at // 24) for at in range(48)]
    people = pl.DataFrame(rows, schema=["q", "s", "day", "date", "week"], orient="row")
    people.write_csv(tmp_path / "people.csv", quote_style="necessary")
    people.write_parquet(tmp_path / "people.parquet")
    for name, by in (
        [("people.csv", "day")] if empty == "value" else [("people.parquet", "date"), ("people.parquet", "week")]
    ):
        source = rt.Source(path=str(tmp_path / name), empty=empty)
        columns = {"q": rt.quasi(), "s": rt.sensitive()}
        job = rt.Job(source=source, columns=columns, promises=[rt.KAnonymity(3)], release=rt.Output(undeclared="drop"))
        found = []
        for engine in ("local", spark()):
            to = tmp_path / f"{by} {getattr(engine, 'name', engine)}"
            told = rt.publish_batches(job, by, to, seed=1, ledger=tmp_path / f"ledger {to.name}", engine=engine)
            held = [(one["batch"], one["source_rows"], one["kept"]) for one in told["batches"]]
            found.append((held, [rows_of(rt.open(to / one[0])) for one in held]))
        assert found[0] == found[1] and len(found[0][0]) == 2


def test_a_column_that_spark_cannot_compare_makes_no_batches(tmp_path):
    people = pl.DataFrame({"q": [1, 1, 2, 2] * 6, "s": ["a", "b"] * 12, "x": [0.5, 1.5] * 12})
    job = rt.Job(columns={"q": rt.quasi(), "s": rt.sensitive()}, promises=[rt.KAnonymity(2)])
    with pytest.raises(ColumnError, match="by which Spark makes no batches"):
        rt.publish_batches(job, "x", tmp_path / "out", frame=people, ledger=tmp_path / "ledger", engine=spark())
    with pytest.raises(ColumnError, match="There is no column 'z' to batch by"):
        rt.publish_batches(job, "z", tmp_path / "out", frame=people, ledger=tmp_path / "ledger", engine=spark())
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("regions", [None, 2])
@pytest.mark.parametrize("how", ["grows", "vanishes"])
def test_a_source_that_changes_between_the_two_passes_is_refused_and_nothing_is_kept(how, regions, tmp_path):
    people = pl.DataFrame({"q": [1, 2, 3, 4] * 6, "s": ["a", "b"] * 12, "note": [f"CANARY{at}" for at in range(24)]})
    (tmp_path / "in").mkdir()
    for at in range(2):
        people[at * 12 : at * 12 + 12].write_parquet(tmp_path / "in" / f"{at}.parquet")

    def change(stage: str) -> None:
        if stage == "planning":
            (tmp_path / "in" / "1.parquet").unlink()
            if how == "grows":
                people.write_parquet(tmp_path / "in" / "1.parquet")

    columns = {"q": rt.quasi(), "s": rt.sensitive(), "note": rt.insensitive(acknowledge=True)}
    job = rt.Job(source=str(tmp_path / "in"), columns=columns, promises=[rt.KAnonymity(2)])
    given = {"to": tmp_path / "out", "ledger": tmp_path / "ledger", "engine": replace(spark(), regions=regions)}
    with pytest.raises(SourceError) as refused:
        rt.publish(job, progress=change, **given)
    assert "CANARY" not in str(refused.value)
    assert {path.name for path in tmp_path.iterdir()} <= {"in", "ledger"}


@pytest.mark.parametrize(("ending", "wanted"), [("parquet", "categorical"), ("csv", "numeric")])
def test_text_that_spells_numbers_has_the_type_that_local_gives_it(ending, wanted, tmp_path):
    path = tmp_path / f"people.{ending}"
    (CODES.write_csv if ending == "csv" else CODES.write_parquet)(path)
    columns = {"sex": rt.quasi(), "age": rt.quasi(), "illness": rt.sensitive()}
    release = alike(rt.Source(path=str(path), missing=["18"]), columns)
    assert {entry.name: entry.type for entry in release.columns}["sex"] == wanted
    job = rt.Job(source=str(path), columns=columns, promises=[rt.KAnonymity(3)], release=rt.Output(undeclared="drop"))
    rt.publish_batches(job, "day", tmp_path / "out", seed=1, engine=spark())
    assert {entry.name: entry.type for entry in rt.open(tmp_path / "out" / "d0").columns}["sex"] == wanted


def test_a_link_to_nothing_among_the_parts_is_refused_by_its_name(tmp_path):
    for at in range(3):
        CODES[at * 80 : at * 80 + 80].write_parquet(tmp_path / f"{at}.parquet")
    (tmp_path / "3.parquet").symlink_to("nowhere")
    job = rt.Job(source=str(tmp_path), columns={"sex": rt.quasi()}, promises=[rt.KAnonymity(3)])
    with pytest.raises(SourceError, match=r"3\.parquet among the parts of the source is a link to nothing"):
        rt.publish(job, engine=spark())
