"""Sources of several files, packed files and other encodings: the same rows, whatever they are in, read a part at a time."""

from __future__ import annotations

import gzip
from collections import Counter

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reticent as rt
from reticent.data import csv
from reticent.data.source import Source, collect_frame, scan_source
from reticent.errors import SourceError, SourceUnreachable
from tests.support.engine_tables import people
from tests.support.release_comparison import assert_same, in_pieces

TABLE = people(300)
JOB = rt.Job(
    columns={
        "person": rt.identifying(),
        "age": rt.quasi(),
        "city": rt.quasi(),
        "illness": rt.sensitive(),
        "note": rt.insensitive(acknowledge=True),
    },
    promises=[rt.KAnonymity(5)],
)


def zstd(text: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as out:
        out.write(text)
    return sink.getvalue().to_pybytes()


def in_folder(folder, parts=3):
    for at, part in enumerate(TABLE.iter_slices(len(TABLE) // parts)):
        part.write_parquet(folder / f"part-{at:05d}.parquet")
    (folder / "_SUCCESS").touch()
    (folder / ".part.crc").write_bytes(b"x")
    return folder


def in_csvs(folder, parts=3):
    for at, part in enumerate(TABLE.iter_slices(len(TABLE) // parts)):
        part.write_csv(folder / f"day-{at}.csv")
    return folder / "day-*.csv"


def packed(pack, ending):
    def made(folder):
        (folder / f"people.csv{ending}").write_bytes(pack(TABLE.write_csv().encode()))
        return folder / f"people.csv{ending}"

    return made


def in_packed_parts(folder):
    for at, part in enumerate(TABLE.iter_slices(100)):
        (folder / f"day-{at}.csv.gz").write_bytes(gzip.compress(part.write_csv().encode()))
    return folder


FORMS = {
    "a folder of Parquet files": in_folder,
    "a pattern of Parquet files": lambda folder: in_folder(folder) / "part-*.parquet",
    "several CSVs": in_csvs,
    "a folder of CSVs": lambda folder: in_csvs(folder).parent,
    "a folder of packed CSVs": in_packed_parts,
    ".csv.gz": packed(gzip.compress, ".gz"),
    ".csv.zst": packed(zstd, ".zst"),
}


@pytest.mark.parametrize("engine", ["local", "stream"])
@pytest.mark.parametrize("form", FORMS)
def test_whatever_files_the_rows_are_in_the_release_is_the_same(form, engine, tmp_path):
    path = FORMS[form](tmp_path)
    with in_pieces():
        found = rt.publish(JOB.at(source=str(path)), seed=3, engine=engine)
    assert_same(rt.publish(JOB, frame=TABLE, seed=3), found)
    assert rt.audit(found, source=str(path), job=JOB).source.passed


def test_folders_of_a_hive_say_the_values_of_a_column(tmp_path):
    for city, part in TABLE.drop_nulls("city").group_by("city"):
        (tmp_path / f"city={city[0]}").mkdir()
        part.drop("city").write_parquet(tmp_path / f"city={city[0]}" / "part.parquet")
    wanted = TABLE.drop_nulls("city")
    found = collect_frame(scan_source(Source(path=str(tmp_path))), "").select(wanted.columns)
    assert Counter(found.rows()) == Counter(wanted.rows())
    assert rt.publish(JOB.at(source=str(tmp_path)), seed=3).manifest.rows == len(wanted)


@pytest.mark.parametrize("engine", ["local", "stream"])
def test_folders_of_a_hive_say_codes_as_a_csv_says_them(engine, tmp_path):
    """A zero before other digits makes a code of them; a declaration makes them numbers, as it does in a CSV."""
    for at, part in TABLE.with_row_index("part").group_by(pl.col("part") % 3):
        place = tmp_path / "in" / f"zip=0050{at[0]}" / f"month=0{at[0] + 1}" / f"year={2020 + at[0]}"
        place.mkdir(parents=True)
        part.drop("part").write_parquet(place / "part.parquet")
    further = {"zip": rt.quasi(), "month": rt.quasi(type="numeric"), "year": rt.quasi()}
    job = JOB.at(source=str(tmp_path / "in"), columns={**JOB.columns, **further})
    domains = {domain.name: domain for domain in rt.count(job, engine=engine).quasi}
    assert domains["zip"].texts == ("00500", "00501", "00502") and domains["zip"].dtype == "String"
    assert domains["month"].texts == ("1", "2", "3") and domains["year"].dtype == "Int64"
    assert rt.publish(job, engine=engine).manifest.rows == len(TABLE)


@pytest.mark.parametrize("engine", ["local", "stream"])
def test_folders_above_a_hive_say_nothing_of_it_and_never_stand_for_a_column(engine, tmp_path):
    root = tmp_path / "run=5" / "people"
    for city, part in TABLE.drop_nulls("city").group_by("city"):
        (root / f"city={city[0]}").mkdir(parents=True)
        part.drop("city").write_parquet(root / f"city={city[0]}" / "part.parquet")
    assert rt.publish(JOB.at(source=str(root)), engine=engine).manifest.rows == TABLE["city"].count()
    root.parent.rename(tmp_path / "age=5")
    with pytest.raises(SourceError, match="a folder that says a value of 'age', which the source has itself"):
        rt.publish(JOB.at(source=str(tmp_path / "age=5" / "people")), engine=engine)


@pytest.mark.parametrize("other", ["", "day=1", "city=a/day=1"])
def test_files_that_a_hive_says_less_of_are_refused(other, tmp_path):
    for place in ("city=Ulm", other):
        (tmp_path / place).mkdir(parents=True, exist_ok=True)
        TABLE.drop("city").write_parquet(tmp_path / place / "part.parquet")
    with pytest.raises(SourceError, match=r"Some files of .* are in folders that say a value of 'city'"):
        rt.publish(JOB.at(source=str(tmp_path)))


@pytest.mark.parametrize("change", ["a column less", "a column more", "another type", "another order"])
@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_files_with_other_columns_are_refused_by_name(change, ending, tmp_path):
    other = {
        "a column less": TABLE.drop("note"),
        "a column more": TABLE.with_columns(more=pl.lit("canary")),
        "another type": TABLE.with_columns(pl.col("age").cast(pl.String)),
        "another order": TABLE.select(reversed(TABLE.columns)),
    }[change]
    for name, frame in (("a", TABLE), ("b", other)):
        getattr(frame, f"write_{ending}")(tmp_path / f"{name}.{ending}")
    if (change, ending) == ("another type", "csv"):
        return  # a CSV has no types
    with pytest.raises(SourceError, match=rf"b\.{ending} has other columns than a\.{ending}") as refused:
        rt.publish(JOB.at(source=str(tmp_path)))
    assert ("'" in str(refused.value)) == (ending == "parquet" and change != "another order")  # a CSV's may be a record


def test_a_folder_of_nothing_or_of_everything_and_a_pattern_of_none_are_refused(tmp_path):
    with pytest.raises(SourceError, match="holds no Parquet, Arrow or CSV file"):
        scan_source(Source(path=str(tmp_path)))
    with pytest.raises(SourceUnreachable, match="names no Parquet, Arrow or CSV file"):
        scan_source(Source(path=str(tmp_path / "*.csv")))
    with pytest.raises(SourceUnreachable):
        scan_source(Source(path=str(tmp_path / "none.csv")))
    TABLE.write_csv(tmp_path / "a.csv")
    TABLE.write_parquet(tmp_path / "b.parquet")
    with pytest.raises(SourceError, match="not of one kind"):
        scan_source(Source(path=str(tmp_path)))


def test_a_pattern_finds_each_file_once_and_none_in_hidden_folders_that_it_does_not_name(tmp_path):
    for place in ("day", "day/_temporary", "day/.old", "_kept"):
        (tmp_path / place).mkdir()
        TABLE.write_csv(tmp_path / place / "a.csv")
    counts = {"**/*.csv": 1, "**/**/a.csv": 1, "_kept/*.csv": 1, "*/_temporary/*.csv": 1, "*/a.csv": 1}
    for pattern, times in counts.items():
        assert len(collect_frame(scan_source(Source(path=str(tmp_path / pattern))), "")) == times * len(TABLE), pattern


@pytest.mark.parametrize("damage", ["cut off", "no archive"])
@pytest.mark.parametrize(("pack", "ending"), [(gzip.compress, ".gz"), (zstd, ".zst")])
def test_a_packed_file_that_is_damaged_is_refused_and_quoted_nowhere(pack, ending, damage, tmp_path):
    text = TABLE.write_csv().encode()
    (tmp_path / f"a.csv{ending}").write_bytes(pack(text)[:-200] if damage == "cut off" else text)
    with pytest.raises(SourceError) as refused:
        rt.publish(JOB.at(source=str(tmp_path / f"a.csv{ending}")))
    assert "flu" not in str(refused.value) and "p00" not in str(refused.value)


fields = st.text(st.characters(codec="latin-1", exclude_characters="\r\x00"), max_size=6)


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(st.tuples(fields, fields), min_size=1, max_size=12),
    part=st.integers(1, 40),
    packing=st.booleans(),
    encoding=st.sampled_from(["latin-1", "utf-16", "utf-8-sig", "cp1252"]),
)
def test_any_encoding_in_any_parts_reads_as_utf_8(tmp_path_factory, rows, part, packing, encoding):
    folder = tmp_path_factory.mktemp("coded")
    frame = pl.DataFrame(rows, schema={"é": pl.String, "b": pl.String}, orient="row")
    text = frame.write_csv(quote_style="always").encode()
    (folder / "plain.csv").write_bytes(text)
    try:
        coded = text.decode().encode(encoding)
    except UnicodeError:
        return  # cp1252 has no such character
    name = folder / ("coded.csv.gz" if packing else "coded.csv")
    name.write_bytes(gzip.compress(coded) if packing else coded)
    dialect = csv.sniff_csv(name, None, '"', encoding)
    rows_read = collect_frame(csv.scan_csv(name, dialect, empty_is_missing=False, chunk_bytes=part), "")
    assert rows_read.equals(collect_frame(scan_source(Source(path=str(folder / "plain.csv"), empty="value")), ""))


def test_a_byte_that_is_not_in_the_encoding_is_refused_with_its_place(tmp_path):
    path = tmp_path / "people.csv"
    path.write_bytes(b"a,b\n" + b"x,y\n" * 400_000 + b"\xff,z\n")
    with pytest.raises(SourceError, match=r"is not ascii \(byte 1600004\)"):
        scan_source(Source(path=str(path), encoding="ascii"))


def test_a_pattern_s_marks_in_a_file_s_own_name_are_its_name(tmp_path):
    for ending, write in (("parquet", TABLE.write_parquet), ("arrow", TABLE.write_ipc), ("csv", TABLE.write_csv)):
        write(tmp_path / f"a[1].{ending}")
        assert len(collect_frame(scan_source(Source(path=str(tmp_path / f"a[1].{ending}"))), "")) == len(TABLE)
