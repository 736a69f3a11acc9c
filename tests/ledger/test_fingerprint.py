"""The ledger knows rows again by what they are: whatever their order, format, source or output folder."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import polars as pl
import pytest

import reticent as rt
from reticent.errors import AlreadyPublished
from reticent.ledger.ledger import Ledger
from tests.support.ledger_tables import COLUMNS, job, people


@pytest.fixture
def published(tmp_path) -> pl.DataFrame:
    """The first release, from a CSV file."""
    frame = people()
    frame.write_csv(tmp_path / "people.csv")
    rt.publish(job(tmp_path / "people.csv"), to=tmp_path / "one")
    return frame


def as_parquet(frame: pl.DataFrame, folder: Path) -> dict:
    frame.write_parquet(folder / "people.parquet")
    return {"job": job(folder / "people.parquet")}


def as_csv_written_otherwise(frame: pl.DataFrame, folder: Path) -> dict:
    moved = frame.select("illness", pl.col("age").cast(pl.Float64), "born", "zip", "name").sample(
        fraction=1, shuffle=True
    )
    moved.write_csv(folder / "other.csv", separator=";")
    return {"job": job(folder / "other.csv")}


WAYS = {
    "as Parquet": as_parquet,
    "as another CSV": as_csv_written_otherwise,
    "reordered": lambda frame, folder: {"job": job(), "frame": frame.reverse()},
    "as pandas": lambda frame, folder: {"job": job(), "frame": frame.to_pandas()},
    "as Arrow": lambda frame, folder: {"job": job(), "frame": frame.to_arrow()},
    "lazily": lambda frame, folder: {"job": job(), "frame": frame.lazy()},
    "with midnights": lambda frame, folder: {
        "job": job(),
        "frame": frame.with_columns(pl.col("born").cast(pl.Datetime)),
    },
    "as text": lambda frame, folder: {"job": job(), "frame": frame.cast(pl.String)},
    "coded at the top": lambda frame, folder: {"job": job(columns=COLUMNS | {"age": rt.quasi(top=60)}), "frame": frame},
}


@pytest.mark.parametrize("way", WAYS)
def test_the_same_rows_are_known_again(published, tmp_path, way):
    with pytest.raises(AlreadyPublished, match=r"The same rows were published before.*'one'"):
        rt.publish(**WAYS[way](published, tmp_path), to=tmp_path / "elsewhere" / "two")
    assert not (tmp_path / "elsewhere").exists()


def test_a_table_of_a_database_is_known_again(published, tmp_path):
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(tmp_path / "p.db")) as connection:
        published.to_pandas().assign(born=published["born"].cast(pl.String).to_list()).to_sql("people", connection)
    source = rt.Source(url=f"sqlite:///{tmp_path}/p.db", table="people")
    with pytest.raises(AlreadyPublished, match="The same rows"):
        rt.publish(job(source), to=tmp_path / "two")


NEAR = {
    "one row fewer": lambda frame: frame.head(299),
    "one row more": lambda frame: pl.concat([frame, people(1, 9)]),
    "a third of the rows": lambda frame: frame.head(100),
    "grown to twice the size": lambda frame: pl.concat([frame, people(300, 2)]),
    "a fifth of the people exchanged": lambda frame: pl.concat([frame.head(240), people(60, 2)]),
    "an age corrected in each tenth row": lambda frame: frame.with_columns(
        age=pl.when(pl.int_range(300) % 10 == 0).then(0).otherwise("age")
    ),
}


@pytest.mark.parametrize("way", NEAR)
def test_most_of_the_rows_are_known_again(published, tmp_path, way):
    with pytest.raises(AlreadyPublished, match=r"Most of these rows were published before.*\n.*About [0-9]+ %"):
        rt.publish(job(), frame=NEAR[way](published), to=tmp_path / "two")


def test_the_same_people_with_other_columns_are_known_again(published, tmp_path):
    fewer = {name: COLUMNS[name] for name in ("age", "zip", "illness")}
    with pytest.raises(AlreadyPublished, match="Most of these rows"):
        rt.publish(job(columns=fewer), frame=published, to=tmp_path / "fewer")
    more = COLUMNS | {"ward": rt.quasi()}
    with pytest.raises(AlreadyPublished, match="Most of these rows"):
        rt.publish(job(columns=more), frame=published.with_columns(ward=pl.int_range(300) % 7), to=tmp_path / "more")
    other = {name: COLUMNS[name] for name in ("age", "zip")} | {"income": rt.sensitive()}
    income = published.with_columns(income=pl.int_range(300) % 50)
    with pytest.raises(AlreadyPublished, match="Most of these rows"):
        rt.publish(job(columns=other), frame=income, to=tmp_path / "other")


def test_strangers_are_not_taken_for_the_same_people(published, tmp_path):
    rt.publish(job(), frame=people(seed=2), to=tmp_path / "two")
    few_values = {"age": rt.quasi(), "illness": rt.sensitive()}
    for seed in (3, 4, 5):
        rt.publish(job(columns=few_values), frame=people(5_000, seed), to=tmp_path / str(seed))
    assert [entry["repeats"] for entry in Ledger.open().read_entries()] == [[]] * 5


def test_a_table_of_few_distinct_rows_that_lacks_one_row_is_known_again(tmp_path):
    few_values = {"age": rt.quasi(), "illness": rt.sensitive()}
    frame = people(5_000, 3)
    rt.publish(job(columns=few_values), frame=frame, to=tmp_path / "one")
    with pytest.raises(AlreadyPublished, match="Most of these rows"):
        rt.publish(job(columns=few_values), frame=frame.head(4_999), to=tmp_path / "two")


def test_a_frame_s_release_is_recorded_when_it_is_saved(tmp_path):
    frame = people().to_pandas()
    assert isinstance(frame, pd.DataFrame)
    release = rt.publish(job(), frame=frame)
    assert Ledger.open().read_entries() == []
    release.save(tmp_path / "one")
    assert [entry["release"] for entry in Ledger.open().read_entries()] == ["one"]
    with pytest.raises(AlreadyPublished):
        release.save(tmp_path / "two")
    with pytest.raises(AlreadyPublished):
        rt.publish(job(), frame=frame).save(tmp_path / "two")
    release.save(tmp_path / "two", again=True)
    first, second = Ledger.open().read_entries()
    assert second["repeats"] == [first["digest"]]
    assert "'one'" in (tmp_path / "reticent-owner/two/README.md").read_text()
