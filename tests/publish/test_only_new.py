"""`publish --only-new` leaves out people whom the ledger knows, and the owner's audit leaves the same people out."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import reticent as rt
from reticent.errors import AlreadyPublished, ColumnError, RequestError
from reticent.ledger.exclusions import LEFT_OUT_FILE
from reticent.ledger.ledger import Ledger
from reticent.ledger.paths import resolve_notes_folder
from reticent.ledger.source_options import resolve_source, resolve_table
from tests.support import ledger_tables
from tests.support.ledger_tables import job_of_named_people as job
from tests.support.ledger_tables import people


def grown() -> pl.DataFrame:
    """The people of the first table, with another spelling and other values, and as many others."""
    known = people().with_columns(pl.col("name").str.to_uppercase(), pl.col("age") + 1)
    return pl.concat([known, people(seed=2)])


@pytest.fixture
def first(tmp_path) -> Path:
    rt.publish(job(), frame=people(), to=tmp_path / "first")
    return tmp_path / "first"


@pytest.mark.parametrize("engine", ["local", "stream"])
@pytest.mark.parametrize("source", ["frame", "csv", "parquet"])
def test_only_people_whom_the_ledger_does_not_know_are_published(tmp_path, first, engine, source):
    frame = None
    path = tmp_path / f"grown.{source}"
    if source == "frame":
        frame = grown()
    elif source == "csv":
        grown().write_csv(path)
    else:
        grown().write_parquet(path)
    asked = job(None if source == "frame" else path)
    second = rt.publish(asked, frame=frame, to=tmp_path / "second", only_new=True, engine=engine)
    assert second.manifest.rows == 300
    assert any(notice.startswith("300 rows of people whom the ledger knows by 'name'") for notice in second.notices)
    assert any("nobody in it is in those" in notice for notice in second.notices)
    assert rt.releases()[-1].people == {"name": 300}
    assert rt.releases()[-1].repeats == ()
    audited = rt.audit(second.folder, source=grown() if source == "frame" else path)
    assert audited.kept and audited.verdict == "kept", str(audited)
    assert any("without the people whom the ledger knew" in note for note in audited.notes)


def test_a_recipient_s_audit_leaves_nobody_out(tmp_path, first, monkeypatch):
    second = rt.publish(job(), frame=grown(), to=tmp_path / "second", only_new=True)
    assert rt.audit(second.folder, source=people(seed=2)).verdict == "kept"
    monkeypatch.setenv("RETICENT_LEDGER", str(tmp_path / "another"))
    assert rt.audit(second.folder, source=grown()).verdict != "kept"


@pytest.mark.parametrize("spoil", ["content", "another release", "no line", "link"])
def test_a_planted_list_of_people_left_out_counts_for_nothing(tmp_path, first, spoil):
    second = rt.publish(job(), frame=grown(), to=tmp_path / "second", only_new=True)
    path = resolve_notes_folder(second.folder) / LEFT_OUT_FILE
    content = path.read_bytes()
    if spoil == "content":
        path.write_bytes(content[:-8] + bytes(8))
    elif spoil == "another release":
        line, _, words = content.partition(b"\n")
        path.write_bytes(json.dumps(json.loads(line) | {"release": "0" * 64}).encode() + b"\n" + words)
    elif spoil == "no line":
        path.write_bytes(b"[" * 100_000)
    else:
        path.rename(tmp_path / "moved")
        path.symlink_to(tmp_path / "moved")
    assert rt.audit(second.folder, source=grown()).verdict != "kept"


def test_everybody_known_is_refused_and_nobody_known_is_published_whole(tmp_path, first):
    with pytest.raises(AlreadyPublished, match="Nobody in this table is new"):
        rt.publish(job(), frame=people(), to=tmp_path / "second", only_new=True)
    assert not (tmp_path / "second").exists()
    third = rt.publish(job(), frame=people(seed=2), to=tmp_path / "third", only_new=True)
    assert third.manifest.rows == 300
    assert any(notice.startswith("0 rows of people whom") for notice in third.notices)
    assert rt.audit(third.folder, source=people(seed=2)).verdict == "kept"


def test_people_of_a_release_that_was_never_handed_out_are_new(tmp_path, first):
    rt.withdraw(first, reason="copies are out")
    with pytest.raises(AlreadyPublished):
        rt.publish(job(), frame=people(), to=tmp_path / "second", only_new=True)
    rt.withdraw(first, reason="none is", never_handed_out=True)
    assert rt.publish(job(), frame=people(), to=tmp_path / "second", only_new=True).manifest.rows == 300


def test_rows_that_name_nobody_are_left_out_and_counted(tmp_path, first):
    blank = pl.concat(
        [
            grown(),
            people(seed=3)[:9].with_columns(pl.lit(None).alias("name")),
            people(seed=4)[:3].with_columns(pl.lit(" - ").alias("name")),
        ]
    )
    second = rt.publish(job(), frame=blank, to=tmp_path / "second", only_new=True)
    assert second.manifest.rows == 300
    assert any(notice.startswith("12 rows without a value of 'name'") for notice in second.notices)
    assert rt.audit(second.folder, source=blank).verdict == "kept"


def test_a_column_that_declares_persons_decides(tmp_path):
    columns = {"number": rt.identifying(rows_per_person=1)}

    def numbered(seed: int, start: int) -> pl.DataFrame:
        return people(seed=seed).with_columns(
            pl.Series("number", [f"n{at + start:08}" for at in range(300)]), pl.lit("Ann").alias("name")
        )

    rt.publish(job(**columns), frame=numbered(1, 0), to=tmp_path / "first")
    second = rt.publish(job(**columns), frame=numbered(2, 290), to=tmp_path / "second", only_new=True)
    assert second.manifest.rows == 290


def test_several_identifying_columns_know_a_person_by_any(tmp_path):
    columns = {"mail": rt.identifying()}

    def with_mail(table: pl.DataFrame) -> pl.DataFrame:
        return table.with_columns((pl.col("name") + "@example.org").alias("mail"))

    rt.publish(job(**columns), frame=with_mail(people()), to=tmp_path / "first")
    mixed = with_mail(grown()).with_columns(
        pl.when(pl.int_range(600) < 150)
        .then(pl.lit("new ") + pl.int_range(600).cast(pl.String))
        .otherwise("name")
        .alias("name"),
        pl.when(pl.int_range(600).is_between(150, 299))
        .then(pl.lit("new ") + pl.int_range(600).cast(pl.String))
        .otherwise("mail")
        .alias("mail"),
    )
    assert rt.publish(job(**columns), frame=mixed, to=tmp_path / "second", only_new=True).manifest.rows == 300


def test_releases_whose_people_were_not_noted_are_named(tmp_path, first):
    path = Ledger.open().folder / "ledger.jsonl"
    entry = json.loads(path.read_text())
    del entry["people"]
    path.write_text(json.dumps(entry) + "\n")
    second = rt.publish(job(), frame=people(seed=2), to=tmp_path / "second", only_new=True)
    assert any("knows no people, only rows, such as 'first'" in notice for notice in second.notices)


def test_requests_that_cannot_know_who_is_new_are_refused(tmp_path):
    nameless = ledger_tables.job()
    with pytest.raises(ColumnError, match="No column is identifying"):
        rt.publish(nameless, frame=people(), to=tmp_path / "first", only_new=True)
    with pytest.raises(RequestError, match="no ledger is asked"):
        rt.publish(job(), frame=people(), only_new=True)
    with pytest.raises(RequestError, match="on a cluster"):
        rt.publish(job(), frame=people(), to=tmp_path / "first", only_new=True, engine=rt.Spark())


def test_attacks_and_reports_are_about_those_who_were_published(tmp_path, first):
    second = rt.publish(job(), frame=grown(), to=tmp_path / "second", only_new=True)
    assert rt.attack(second, source=grown(), name="naive-bayes").targets == 300


def test_a_population_is_read_whole_and_the_source_is_not(tmp_path, first):
    second = rt.publish(job(), frame=grown(), to=tmp_path / "second", only_new=True)
    assert resolve_table(second, grown())[1].height == 600
    assert resolve_source(second, grown())[1].collect().height == 300
    assert rt.audit(second.folder, population=grown()).kept
