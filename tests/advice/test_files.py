"""Advice about files is followed: what is then read is published."""

from __future__ import annotations

import gzip
import os
import shutil
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import reticent as rt
from reticent import memory
from reticent.data import csv, files
from reticent.data.broken_lines import BrokenLine, BrokenLines, require_few_broken_lines
from reticent.errors import OutOfMemory, SourceError, SourceUnreachable
from tests.advice.coverage import Trial, follows
from tests.advice.small_jobs import make_people, publish, publish_file, write_people
from tests.support.command_line import run as run


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """An own folder with people.csv in it."""
    monkeypatch.chdir(tmp_path)
    write_people("people.csv")


def edit(path: str, old: str, new: str, to: str | None = None) -> None:
    """Write a file anew with another text in it."""
    text = Path(path).read_text()
    assert old in text
    Path(to or path).write_text(text.replace(old, new, 1))


@pytest.mark.parametrize(
    "trial",
    [
        Trial("data/csv.py", 'delimiter = ";".', lambda: publish_file(delimiter="::"), lambda: publish_marked(";")),
        Trial(
            "data/csv.py",
            'quote = "\'", or quote = "" for none.',
            lambda: publish_file(quote="''"),
            lambda: [publish_marked(";", "'"), publish_marked(";", "")],
        ),
        Trial("data/csv.py", "another quote.", lambda: publish_file(delimiter="'", quote="'"), publish_file),
        Trial(
            "data/csv.py",
            '"utf-8", "latin-1" or "cp1252".',
            lambda: publish_file(encoding="utf-11"),
            lambda: [publish_file(encoding=encoding) for encoding in ("utf-8", "latin-1", "cp1252")],
        ),
        Trial(
            "data/source.py",
            'encoding = "utf-8".',
            lambda: rt.Source(path="people.csv", encoding=None),
            lambda: rt.Source(path="people.csv", encoding="utf-8"),
        ),
    ],
    ids=str,
)
def test_marks_of_a_csv(trial):
    trial.run()


def publish_marked(delimiter: str, quote: str = '"') -> None:
    make_people().write_csv("marked.csv", separator=delimiter)
    publish_file("marked.csv", delimiter=delimiter, quote=quote)


BROKEN = (
    "mending the line (a blank one is to be removed), the delimiter and quote of [source], or "
    'broken = "set-aside" in [source], which leaves such lines out and counts them.'
)


@follows("data/broken_lines.py", BROKEN)
@pytest.mark.parametrize("fault", ["p04,48\n", "p04,48,Ulm,flu,9\n", "\n"])
def test_a_broken_line(fault):
    edit("people.csv", "p04,", f"{fault}p04,", to="broken.csv")
    with pytest.raises(SourceError, match="Line 6 "):
        publish_file("broken.csv")
    publish_file("broken.csv", broken="set-aside")
    edit("broken.csv", fault, "", to="mended.csv") if fault != "\n" else edit(
        "broken.csv", "\n\n", "\n", to="mended.csv"
    )
    publish_file("mended.csv")


@follows("data/broken_lines.py", BROKEN)
def test_a_delimiter_within_values():
    edit("people.csv", "Ulm,", "Ulm,by the river,", to="semicolons.csv")
    with pytest.raises(SourceError, match="Line 2 "):
        publish_file("semicolons.csv")
    make_people(city=["Ulm,by the river", "Bonn"] * 30).write_csv("semicolons.csv", separator=";", quote_style="never")
    publish_file("semicolons.csv", delimiter=";")


@follows("data/broken_lines.py", BROKEN)
def test_an_open_quote():
    text = Path("people.csv").read_text().replace("Ulm", '"Ulm')
    Path("quotes.csv").write_text(text)
    with pytest.raises(SourceError, match="quote"):
        publish_file("quotes.csv")
    publish_file("quotes.csv", quote="")


@follows("data/broken_lines.py", "the delimiter and quote of [source], or exporting the file again.")
def test_too_many_broken_lines_are_not_set_aside():
    make_people(city=["Ulm, river", "Bonn, hill"] * 30).write_csv("semicolons.csv", separator=";", quote_style="never")
    with pytest.raises(SourceError, match="too many to be set aside"):
        publish_file("semicolons.csv", delimiter=",", broken="set-aside")
    publish_file("semicolons.csv", delimiter=";", broken="set-aside")
    publish_file("people.csv", broken="set-aside")


BROKEN_LINE = BrokenLine(2, 0, 10, 3, "too few fields")


@follows(
    "data/broken_lines.py", "the delimiter and quote of [source], exporting the file again, or the file in several."
)
def test_more_broken_lines_than_are_stored():
    path = Path("people.csv")
    with pytest.raises(SourceError, match="at most so many are set aside"):
        require_few_broken_lines(BrokenLines(path, 4, 3_000_000, 100_001, (BROKEN_LINE,)))
    for _ in range(2):
        require_few_broken_lines(BrokenLines(path, 4, 1_500_000, 50_001, (BROKEN_LINE,)))
    publish_file("people.csv", broken="set-aside")


@follows("data/broken_lines.py", "exporting the file again, or the file in several.")
def test_longer_broken_lines_than_are_stored():
    path = Path("people.csv")
    long_line = replace(BROKEN_LINE, end=1 << 28)
    with pytest.raises(SourceError, match="bytes; at most"):
        require_few_broken_lines(BrokenLines(path, 4, 100, 2, (BROKEN_LINE, long_line)))
    for line in (BROKEN_LINE, long_line):
        require_few_broken_lines(BrokenLines(path, 4, 50, 1, (line,)))
    publish_file("people.csv", broken="set-aside")


@follows("data/csv.py", "saving it with line ends of LF or CRLF.")
@pytest.mark.parametrize("copies", [1, csv.MAX_HEADER_BYTES // 900])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_lines_that_end_with_cr(copies, line_end):
    text = Path("people.csv").read_text()
    Path("people.csv").write_bytes((text.replace("\n", "\r") * copies).encode())
    with pytest.raises(SourceError, match=r"CR alone|16,777,216 bytes"):
        publish_file()
    Path("people.csv").write_bytes(text.replace("\n", line_end).encode())
    publish_file()


@follows("data/csv.py", 'the file\'s encoding, e.g. encoding = "latin-1".')
def test_a_header_of_another_encoding():
    text = Path("people.csv").read_text().replace("city", "größe")
    Path("people.csv").write_bytes(text.encode("latin-1"))
    columns = {"größe": "quasi-identifying", "city": None}
    with pytest.raises(SourceError, match="header"):
        publish_file(columns=columns)
    publish_file(columns=columns, encoding="latin-1")


@follows("data/csv.py", "the delimiter and quote of [source].")
def test_a_header_of_one_long_name():
    width = 400
    others = {f"{'x' * 350}{number}": ["1"] * 60 for number in range(width)}
    make_people(**others).write_csv("people.csv")
    with pytest.raises(SourceError, match="header"):
        publish(source={"path": "people.csv", "delimiter": ";"}, release={"undeclared": "drop"})
    publish(source={"path": "people.csv", "delimiter": ","}, release={"undeclared": "drop"})


@follows("data/csv.py", "a header line with a different name for each column.")
def test_a_file_without_a_header(run):
    text = Path("people.csv").read_text()
    Path("people.csv").write_text(text.split("\n", 1)[1])
    assert "header" in run("init", "people.csv").err
    Path("people.csv").write_text(text)
    assert run("init", "people.csv").code == 0


@follows("data/csv.py", "the quote of [source], or mending the file.")
def test_a_quote_that_swallows_lines():
    lines = Path("people.csv").read_text().splitlines()
    whole = "\n".join(lines)
    lines[3] = lines[3].replace("Kiel", "'Kiel")
    lines[32] = lines[32].replace("Jena", "Jena'")
    Path("people.csv").write_text("\n".join(lines))
    with pytest.raises(SourceError, match="A quote that is not closed"):
        csv._require_record_size(Path("people.csv"), csv.MAX_RECORD_BYTES + 1)
    publish_file(quote='"', encoding="latin-1")
    Path("people.csv").write_text(whole)
    publish_file(quote="'", encoding="latin-1")


@follows("data/files.py", "what it gives, saved to a file.")
def test_advice_about_a_pipe_is_accepted():
    os.mkfifo("pipe.csv")
    with pytest.raises(SourceError, match="no regular file"):
        publish_file("pipe.csv")
    publish_file("people.csv")


@follows("data/files.py", "a path relative to the working directory or to the job file.")
def test_a_file_that_is_not_there(run):
    Path("jobs").mkdir()
    shutil.copy("people.csv", "jobs/other.csv")
    job = '[source]\npath = "{}"\n[columns]\nname = "identifying"\nage = "quasi-identifying"\n' + (
        'city = "quasi-identifying"\nillness = "sensitive"\n[[promise]]\nmodel = "k-anonymity"\nk = 3\n'
    )
    Path("jobs/job.toml").write_text(job.format("peple.csv"))
    assert run("publish", "jobs/job.toml", "-o", "release").code == 6
    for number, path in enumerate(("people.csv", "other.csv")):
        Path("jobs/job.toml").write_text(job.format(path))
        assert run("publish", "jobs/job.toml", "-o", f"release-{number}", "--again").code == 0, path


@follows("data/files.py", "a link to the source from elsewhere, or another place for it.")
def test_a_folder_that_says_a_value_of_a_column():
    write_people("age=30/parts/city=Ulm/part.parquet")
    parts = "age=30/parts"
    drop = {"source": {"path": parts}, "release": {"undeclared": "drop"}}
    frame = make_people().drop("city")
    frame.write_parquet("age=30/parts/city=Ulm/part.parquet")
    with pytest.raises(SourceError, match="lies in a folder"):
        publish(**drop)
    Path("link").symlink_to(Path(parts).absolute())
    publish(**{**drop, "source": {"path": "link"}})
    Path(parts).rename("elsewhere")
    publish(**{**drop, "source": {"path": "elsewhere"}})


@follows("data/files.py", "files with the same columns and types.")
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_files_of_other_columns(suffix):
    write_people(f"parts/first.{suffix}")
    write_people(f"parts/second.{suffix}", wage=[1] * 60)
    with pytest.raises(SourceError, match="other columns"):
        publish_file("parts")
    write_people(f"parts/second.{suffix}", name=[f"q{row}" for row in range(60)])
    publish_file("parts")


@follows("data/files.py", "copying it again from where it was made, or writing it again.")
def test_a_damaged_parquet_file():
    write_people("people.parquet")
    whole = Path("people.parquet").read_bytes()
    Path("people.parquet").write_bytes(whole[:4] + bytes(200) + whole[204:])
    with pytest.raises(SourceError, match="damaged"):
        publish_file("people.parquet")
    Path("people.parquet").write_bytes(whole)
    publish_file("people.parquet")


@follows("data/files.py", "a machine with more memory, or --engine stream.")
def test_a_file_that_claims_more_rows_than_fit(monkeypatch):
    rows = memory.SMALL_TABLE_BYTES // files.MIN_ROW_BYTES + 1
    pl.select(age=pl.repeat(30, rows, dtype=pl.Int8)).write_parquet("people.parquet")
    job = rt.Job(source="people.parquet", columns={"age": rt.quasi()}, promises=rt.KAnonymity(3))
    with monkeypatch.context() as machine:
        machine.setattr(memory, "get_available_memory", lambda: 10)
        with pytest.raises(OutOfMemory, match="claims"):
            rt.count(job)
        assert rt.count(job, engine="stream").rows == rows
    assert rt.count(job).rows == rows


@follows("memory.py", "a greater limit, or --engine stream.")
def test_a_file_that_a_limit_of_addresses_has_no_room_for(monkeypatch):
    rows = memory.SMALL_TABLE_BYTES // memory.BYTES_PER_TEXT_BYTE // 3 + 1
    Path("people.csv").write_text("age\n" + "30\n" * rows)
    job = rt.Job(source="people.csv", columns={"age": rt.quasi()}, promises=rt.KAnonymity(3))
    with monkeypatch.context() as limit:
        limit.setattr(memory, "get_addresses_left", lambda: memory.RESERVED_ADDRESS_BYTES)
        with pytest.raises(OutOfMemory, match="ulimit"):
            rt.count(job)
        assert rt.count(job, engine="stream").rows == rows
    assert rt.count(job).rows == rows


@follows("data/files.py", "a file, or a folder of Parquet files.")
def test_a_folder_without_data():
    Path("notes").mkdir()
    Path("notes/read.me").write_text("nothing")
    with pytest.raises(SourceError, match="is a folder"):
        publish_file("notes")
    with pytest.raises(SourceUnreachable, match="The pattern"):
        publish_file("nothing*.csv")
    publish_file("people.csv")
    write_people("parts/one.parquet")
    publish_file("parts")


@follows("data/files.py", "a pattern that names some of them, such as *.parquet.")
def test_a_folder_of_several_kinds():
    write_people("parts/one.parquet")
    write_people("parts/two.csv")
    with pytest.raises(SourceError, match="not of one kind"):
        publish_file("parts")
    publish_file("parts/*.parquet")


@follows("data/files.py", 'another encoding, e.g. encoding = "latin-1".')
def test_a_file_of_another_encoding_than_declared():
    Path("people.csv").write_bytes(Path("people.csv").read_text().replace("Ulm", "Köln").encode("latin-1"))
    with pytest.raises(SourceError, match="is not ascii"):
        publish_file(encoding="ascii")
    publish_file(encoding="latin-1")


@follows("data/files.py", "all files in folders of the same columns, or a pattern that names some of them.")
def test_some_files_in_folders_of_a_column():
    frame = make_people().drop("city")
    for place in ("parts/city=Ulm", "parts"):
        Path(place).mkdir(exist_ok=True, parents=True)
        frame.write_parquet(f"{place}/part.parquet")
    with pytest.raises(SourceError, match="in folders that say a value of 'city'"):
        publish_file("parts")
    publish_file("parts/*.parquet", columns={"city": None})
    Path("parts/city=Bonn").mkdir()
    Path("parts/part.parquet").rename("parts/city=Bonn/part.parquet")
    publish(frame=None, source={"path": "parts"})


@follows("data/files.py", "the right to read it, or a pattern that names the other parts.")
def test_a_folder_that_may_not_be_opened(monkeypatch):
    for part in ("first", "second"):
        write_people(f"parts/{part}/people.csv")
    with monkeypatch.context() as rights:
        rights.setattr(files.os, "access", lambda place, mode: "first" not in str(place))
        with pytest.raises(SourceUnreachable, match="cannot be opened"):
            publish_file("parts/*/people.csv")
        publish_file("parts/s*/people.csv")
    publish_file("parts/*/people.csv")


@follows("data/files.py", "putting the file there, removing it, or a pattern that names the other parts.")
def test_a_link_to_nothing():
    write_people("parts/first.csv")
    Path("parts/second.csv").symlink_to("absent.csv")
    with pytest.raises(SourceError, match="link to nothing"):
        publish_file("parts")
    publish_file("parts/f*.csv")
    shutil.copy("people.csv", "parts/absent.csv")
    publish_file("parts")
    Path("parts/absent.csv").unlink()
    Path("parts/second.csv").unlink()
    publish_file("parts")


@follows("data/files.py", "packing it again.")
def test_a_packed_file_that_is_cut_off():
    packed = gzip.compress(Path("people.csv").read_bytes())
    Path("people.csv.gz").write_bytes(packed[:-40])
    with pytest.raises(SourceError, match="unpacked"):
        publish_file("people.csv.gz")
    Path("people.csv.gz").write_bytes(packed)
    publish_file("people.csv.gz")
