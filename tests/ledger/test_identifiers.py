"""People are known by their identifying values, however their rows were cleaned."""

from __future__ import annotations

import json
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent.errors import AlreadyPublished, RequestError
from reticent.ledger.identifiers import (
    IdentifyingColumn,
    collect_identifiers,
    hash_identifiers,
    normalize_identifiers,
    read_noted_columns,
)
from reticent.ledger.ledger import Ledger
from tests.support.ledger_tables import people

KEY = bytes(range(32))
COLUMNS = {
    "name": rt.identifying(),
    "age": rt.quasi(),
    "zip": rt.quasi(),
    "born": rt.quasi(type="categorical"),
    "illness": rt.sensitive(),
}
CLEANED = {"who": rt.identifying(), "years": rt.quasi(), "area": rt.quasi(), "diagnosis": rt.sensitive()}


def job(columns: dict | None = None) -> rt.Job:
    return rt.Job(columns=columns or COLUMNS, promises=[rt.KAnonymity(5)], release=rt.Output(undeclared="drop"))


def cleaned(table: pl.DataFrame) -> pl.DataFrame:
    """The same people with every column renamed and every value recoded."""
    return table.select(
        pl.col("name").str.to_uppercase().str.replace("-", " ").alias("who"),
        (pl.col("age") // 5 * 5).alias("years"),
        (pl.col("zip") // 1000).cast(pl.String).alias("area"),
        pl.col("illness").replace({"flu": "J11", "cold": "J00", "gout": "M10", "mumps": "B26"}).alias("diagnosis"),
    )


def normalized(*values: object) -> list:
    return normalize_identifiers(pl.Series(values, strict=False)).to_list()


@pytest.mark.parametrize(
    "spellings",
    [
        ("P-0012", "p0012", " P 0012 ", "p.0012"),
        ("Ann-Marie Müller", "ANN MARIE MÜLLER", "annmarie mu\u0308ller"),
        ("007", "7", "7.0", "7."),
        ("2020-01-02", "2020-01-02 00:00:00", "2020-01-02T00:00"),
        ("ＡＢ１２", "ab12"),
        ("000", "0"),
    ],
)
def test_spellings_of_one_identifier_are_the_same(spellings):
    assert len(set(normalized(*spellings))) == 1


def test_types_of_one_identifier_are_the_same():
    assert normalized(12) == normalized("12") == normalized(12.0) == normalized(Decimal("12.00")) == ["12"]
    assert normalized(date(2020, 1, 2)) == normalized(datetime(2020, 1, 2)) == normalized("2020-01-02")
    assert normalize_identifiers(pl.Series(["a"], dtype=pl.Categorical)).to_list() == ["a"]
    assert normalize_identifiers(pl.Series([b"\x01"])).to_list() == ["1"]
    assert normalize_identifiers(pl.Series([[1, 2], None])).to_list() == ["12", None]


def test_what_is_no_identifier_is_missing():
    assert normalized(None, "", " - ", "x") == [None, None, None, "x"]
    assert normalized(float("nan"), 1.5) == [None, "15"]


def test_hashes_need_the_key_and_not_the_column_s_name_but_for_counters():
    def hashed(name: str, text: str, key: bytes = KEY) -> int:
        return int(hash_identifiers(name, [text], key)[0])

    assert hashed("a", "p0012") == hashed("b", "p0012") != hashed("a", "p0012", bytes(32))
    assert hashed("id", "123456") != hashed("row", "123456")
    assert hashed("Patient ID", "123456") == hashed("patient_id", "123456")
    assert hashed("id", "1234567") == hashed("row", "1234567")


def test_cleaned_people_are_known_though_no_row_or_column_is_the_same(tmp_path):
    rt.publish(job(), frame=people(), to=tmp_path / "first")
    with pytest.raises(AlreadyPublished) as refused:
        rt.publish(job(CLEANED), frame=cleaned(people()), to=tmp_path / "second")
    assert "Most of these people were published before: 1 release, last as 'first'" in refused.value.what
    assert "'who', 'name' there, 300 of 300 people" in refused.value.why
    assert not (tmp_path / "second").exists()
    second = rt.publish(job(CLEANED), frame=cleaned(people()), to=tmp_path / "second", again=True)
    assert rt.releases()[-1].repeats == (rt.releases()[0].digest,)
    assert any("'first' was not joined" in notice for notice in second.notices)


def test_strangers_are_accepted(tmp_path):
    rt.publish(job(), frame=people(), to=tmp_path / "first")
    second = rt.publish(job(), frame=people(seed=2), to=tmp_path / "second")
    assert not any("people are also in" in notice for notice in second.notices)


def test_a_few_people_in_common_are_told_and_half_are_refused(tmp_path):
    rt.publish(job(), frame=people(), to=tmp_path / "first")
    few = pl.concat([cleaned(people())[:30], cleaned(people(seed=2))[:270]])
    second = rt.publish(job(CLEANED), frame=few, to=tmp_path / "second")
    assert any(notice.startswith("30 of 300 people are also in 'first'") for notice in second.notices)
    half = pl.concat([cleaned(people())[:150], cleaned(people(seed=3))[:150]])
    with pytest.raises(AlreadyPublished, match="Most of these people"):
        rt.publish(job(CLEANED), frame=half, to=tmp_path / "third")


def test_another_wave_of_the_same_people_is_known_by_any_identifying_column(tmp_path):
    columns = {**COLUMNS, "mail": rt.identifying()}
    table = people().with_columns((pl.col("name") + "@example.org").alias("mail"))
    rt.publish(job(columns), frame=table, to=tmp_path / "first")
    assert rt.releases()[0].people == {"name": 300, "mail": 300}
    wave = cleaned(people()).with_columns(table["mail"].alias("who"))
    with pytest.raises(AlreadyPublished, match="'mail' there"):
        rt.publish(job(CLEANED), frame=wave, to=tmp_path / "second")


def numbered(table: pl.DataFrame, name: str) -> pl.DataFrame:
    return table.drop("name").with_columns(pl.int_range(1, len(table) + 1).alias(name))


def test_row_numbers_of_two_registers_are_not_the_same_people_under_different_names(tmp_path):
    columns = {name: column for name, column in COLUMNS.items() if name != "name"}
    rt.publish(job({"row": rt.identifying(), **columns}), frame=numbered(people(), "row"), to=tmp_path / "first")
    other = numbered(people(seed=2), "id")
    rt.publish(job({"id": rt.identifying(), **columns}), frame=other, to=tmp_path / "second")
    with pytest.raises(AlreadyPublished) as refused:
        rt.publish(
            job({"Row": rt.identifying(), **columns}), frame=numbered(people(seed=3), "Row"), to=tmp_path / "third"
        )
    assert "numbers rows and not people" in refused.value.attempt


def test_first_names_that_strangers_share_are_no_evidence(tmp_path):
    def named(seed: int) -> pl.DataFrame:
        return people(seed=seed).with_columns(pl.Series("name", [f"name{(at * at + seed) % 40}x" for at in range(300)]))

    rt.publish(job(), frame=named(1), to=tmp_path / "first")
    rt.publish(job(), frame=named(2), to=tmp_path / "second")


def test_a_person_with_several_rows_is_one_person(tmp_path):
    visits = pl.concat([people()[:100]] * 3)
    columns = {**COLUMNS, "name": rt.identifying(rows_per_person=3)}
    rt.publish(job(columns), frame=visits, to=tmp_path / "first")
    assert rt.releases()[0].people == {"name": 100}
    with pytest.raises(AlreadyPublished, match="Most of these people"):
        rt.publish(job(CLEANED), frame=cleaned(people()[:100]), to=tmp_path / "second")


def test_missing_identifiers_are_counted_aloud(tmp_path):
    table = people().with_columns(pl.when(pl.int_range(300) < 12).then(None).otherwise("name").alias("name"))
    release = rt.publish(job(), frame=table, to=tmp_path / "first")
    assert any("'name' is missing in 12 rows: the ledger cannot know" in notice for notice in release.notices)


@pytest.mark.parametrize("engine", ["local", "stream"])
@pytest.mark.parametrize("format", ["csv", "parquet", "sqlite"])
def test_people_are_noted_by_engines_on_one_machine_whatever_the_source(tmp_path, engine, format):
    source: dict = {"path": str(tmp_path / f"people.{format}")}
    if format == "csv":
        people().write_csv(source["path"])
    elif format == "parquet":
        people().write_parquet(source["path"])
    else:
        import sqlite3
        from contextlib import closing

        source = {"url": f"sqlite:///{tmp_path}/people.db", "table": "people"}
        with closing(sqlite3.connect(tmp_path / "people.db")) as connection:
            connection.execute("CREATE TABLE people (name, age, zip, born, illness)")
            rows = people().with_columns(pl.col("born").cast(pl.String)).rows()
            connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?)", rows)
            connection.commit()
    rt.publish(job().at(source=rt.Source(**source)), to=tmp_path / "first", engine=engine)
    assert rt.releases()[0].people == {"name": 300}
    with pytest.raises(AlreadyPublished, match="Most of these people"):
        rt.publish(job(CLEANED), frame=cleaned(people()), to=tmp_path / "second")


def test_a_table_of_too_many_rows_is_skipped_aloud():
    collected = collect_identifiers({"name": rt.identifying()}, lambda names: pl.DataFrame(), 300, max_rows=299)
    assert not collected.columns
    assert "300 rows, and values of more than 299 are not held here" in collected.notices[0]


def test_a_temporary_release_notes_its_people_when_it_is_saved(tmp_path):
    release = rt.publish(job(), frame=people())
    release.save(tmp_path / "first")
    assert rt.releases()[0].people == {"name": 300}
    with pytest.raises(AlreadyPublished, match="Most of these people"):
        rt.publish(job(CLEANED), frame=cleaned(people())).save(tmp_path / "second")


def test_batches_note_their_own_people_and_are_asked_about_together(tmp_path):
    table = people().with_columns(pl.Series("day", [f"day{at % 2}" for at in range(300)]))
    rt.publish_batches(job(), "day", tmp_path / "out", frame=table)
    assert [one.people for one in rt.releases()] == [{"name": 150}, {"name": 150}]
    again = cleaned(people()).with_columns(table["day"])
    with pytest.raises(AlreadyPublished, match="Most of these people"):
        rt.publish_batches(job(CLEANED), "day", tmp_path / "more", frame=again)
    rt.withdraw(tmp_path / "out", reason="a trial", never_handed_out=True)
    rt.publish_batches(job(CLEANED), "day", tmp_path / "more", frame=again)


def forget_people(path: Path) -> None:
    """Make the ledger's lines as an older version wrote them."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps({k: v for k, v in line.items() if k != "people"}) + "\n" for line in lines))


def test_an_older_ledger_opens_and_learns_people_when_the_same_rows_come_again(tmp_path):
    rt.publish(job(), frame=people(), to=tmp_path / "first")
    forget_people(Ledger.open().folder / "ledger.jsonl")
    with pytest.raises(AlreadyPublished, match="The same rows"):
        rt.publish(job(), frame=people(), to=tmp_path / "second")
    rt.publish(job(CLEANED), frame=cleaned(people()), to=tmp_path / "cleaned")  # not known yet
    rt.withdraw(tmp_path / "cleaned", reason="a trial", never_handed_out=True)
    rt.publish(job(), frame=people(), to=tmp_path / "second", again=True)
    with pytest.raises(AlreadyPublished, match="2 releases"):
        rt.publish(job(CLEANED), frame=cleaned(people()), to=tmp_path / "third")


def test_the_ledger_holds_no_identifier_and_eight_bytes_for_each(tmp_path):
    rt.publish(job(), frame=people(), to=tmp_path / "first")
    folder = Ledger.open().folder
    content = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert b"p1-1" not in content
    (noted,) = json.loads((folder / "ledger.jsonl").read_text())["people"]
    (part,) = noted["parts"]
    assert (folder / "ledger-sketches" / part).stat().st_size == 8 * 300
    assert (folder / "ledger-sketches" / part).stat().st_mode & 0o777 == 0o600


def test_many_people_are_kept_in_parts_and_found_in_each(tmp_path):
    counted = pl.DataFrame({"name": people()["name"], "rows": [1] * 300})
    hashed = IdentifyingColumn.from_counts("name", counted, declared=False).hash_values(KEY)
    line, files = hashed.pack(KEY, max_part_people=64)
    assert len(line["parts"]) == 5
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    entry = {"people": [json.loads(json.dumps(line))]}
    (noted,) = read_noted_columns(entry, tmp_path / "ledger.jsonl")
    assert hashed.count_common(tmp_path, noted) == 300
    others = pl.DataFrame({"name": people(seed=2)["name"], "rows": [1] * 300})
    assert (
        IdentifyingColumn.from_counts("name", others, declared=False).hash_values(KEY).count_common(tmp_path, noted)
        == 0
    )


def spoil_order(path: Path) -> None:
    path.write_bytes(np.fromfile(path, "<u8")[::-1].tobytes())


@pytest.mark.parametrize(
    "spoil",
    [
        lambda path: path.unlink(),
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(path.read_bytes()[:-3]),
        lambda path: path.write_bytes(path.read_bytes()[:-8]),
        spoil_order,
    ],
    ids=["gone", "empty", "cut", "a person less", "another order"],
)
def test_damaged_hashes_stop_publishing(tmp_path, spoil):
    rt.publish(job(), frame=people(), to=tmp_path / "first")
    (noted,) = json.loads((Ledger.open().folder / "ledger.jsonl").read_text())["people"]
    spoil(Ledger.open().folder / "ledger-sketches" / noted["parts"][0])
    with pytest.raises(RequestError, match="missing or cannot be read"):
        rt.publish(job(CLEANED), frame=cleaned(people()), to=tmp_path / "second")


@pytest.mark.parametrize(
    "change",
    [
        {"parts": ["../../etc/passwd"]},
        {"parts": []},
        {"parts": "x"},
        {"people": -1},
        {"people": 1.5},
        {"once": 10**9},
        {"declared": 1},
        {"column": None},
    ],
)
def test_hostile_lines_about_people_are_refused(tmp_path, change):
    rt.publish(job(), frame=people(), to=tmp_path / "first")
    path = Ledger.open().folder / "ledger.jsonl"
    entry = json.loads(path.read_text())
    entry["people"][0] |= change
    path.write_text(json.dumps(entry) + "\n")
    for call in (rt.releases, lambda: rt.publish(job(), frame=people(seed=2), to=tmp_path / "second")):
        with pytest.raises(RequestError, match=r"ledger\.jsonl is missing or cannot be read"):
            call()


def test_columns_without_a_role_of_identifying_are_not_read():
    def count_values(names: list[str]) -> pl.DataFrame:
        raise AssertionError(names)

    assert not collect_identifiers({"age": rt.quasi()}, count_values, 10).columns
