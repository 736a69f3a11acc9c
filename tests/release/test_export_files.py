"""A release is copied to CSV files or to Excel whole, with its types, or not at all; the copy says that it is one."""

from __future__ import annotations

import csv
import json
import os
import sqlite3
import sys
import zipfile
from contextlib import closing
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import polars as pl
import pytest

import reticent as rt
from reticent.cli.main import main
from reticent.errors import DiskError, OutputExists, SourceError
from reticent.release import export_files
from reticent.release.bundle import compute_digest
from reticent.release.export import open_export_tables

FROZEN = Path(__file__).parents[1] / "fixtures" / "formats" / "0.1.0" / "releases"
FOLDERS = sorted(path for path in FROZEN.iterdir() if path.name.endswith("-parquet"))
ROWS = 60
FRAME = pl.DataFrame(
    {
        "age": [20 + number % 30 for number in range(ROWS)],
        "zip": ["00501", "00502", "10115"] * 20,
        "illness": ["flu", "cold", "gout", "acne"] * 15,
        "text": [None, "", "=1+1", "-5", "@x", "a\nb", 'q"q', "00501", " ", "NULL"] * 6,
        "day": [date(2024, 2, 29), None, date(1900, 3, 1)] * 20,
        "old": [date(1850, 1, 1), date(2024, 1, 1), None] * 20,
        "moment": [datetime(2024, 1, 1, 12, 30, 15, 250_000), None] * 30,
        "fine": [datetime(2024, 1, 1, 12, 30, 15, 250_001), None] * 30,
        "flag": [True, False, None] * 20,
        "amount": [1.5, -2.25, None] * 20,
        "odd": [float("nan"), 1.0, float("inf")] * 20,
        "large": [10**15, 1, None] * 20,
        "price": [Decimal("1.10"), None, Decimal("2.00")] * 20,
    }
)
COLUMNS = {
    "age": rt.quasi(numeric=True),
    "zip": rt.quasi(),
    "illness": rt.sensitive(),
    **{name: rt.insensitive(acknowledge=True) for name in FRAME.columns[3:]},
}
ABOUT = {"title": "Visits, 2024", "publisher": "=HYPERLINK(1)", "recipients": ["a", "b"]}


@pytest.fixture
def release(tmp_path):
    job = rt.Job(columns=COLUMNS, promises=[rt.KAnonymity(5)], about=ABOUT)
    return rt.publish(job, frame=FRAME, to=tmp_path / "release", seed=1, ledger=tmp_path / "ledger")


def read_sheet(path: Path, name: str) -> list[list[object]]:
    fastexcel = pytest.importorskip("fastexcel")
    sheet = fastexcel.read_excel(path).load_sheet(name, header_row=None, dtypes="string")
    return [list(row) for row in sheet.to_polars().rows()]


def test_a_text_of_a_csv_file_is_in_quotes_and_a_null_an_empty_field(release, tmp_path):
    assert release.to_csv(tmp_path / "copy") == ["data.csv", "README.md", "release-manifest.json"]
    assert sorted(os.listdir(tmp_path / "copy")) == ["README.md", "data.csv", "release-manifest.json"]
    text = (tmp_path / "copy" / "data.csv").read_text(encoding="utf-8")
    assert '"00501"' in text and ',"",' in text and ",," in text
    rows = list(csv.DictReader(text.splitlines(keepends=True)))
    published = release.frame()
    assert [row["zip"] for row in rows] == published["zip"].to_list()
    guarded = ["'=1+1" if text == "=1+1" else "'@x" if text == "@x" else (text or "") for text in published["text"]]
    assert [row["text"] for row in rows] == guarded, "formulas are guarded, and a number such as -5 is none"
    back = pl.read_csv(tmp_path / "copy" / "data.csv", infer_schema=False)
    assert back["text"].null_count() == published["text"].null_count()
    assert back["text"].eq("").sum() == published["text"].eq("").sum() > 0
    assert back["day"].drop_nulls()[0] in ("2024-02-29", "1900-03-01")


def test_the_copy_says_what_it_is_and_is_opened_by_nobody_as_a_release(release, tmp_path):
    release.to_csv(tmp_path / "copy")
    readme = " ".join((tmp_path / "copy" / "README.md").read_text(encoding="utf-8").split())
    assert readme.startswith(
        "# Visits, 2024 **A copy, which no audit has read: what is audited is the release folder.**"
    )
    assert release.digest in readme and "apostrophe" in readme and "`manifest.json`" not in readme
    assert "rt.open" not in readme, "it would refuse the copy"
    stated = tmp_path / "copy" / "release-manifest.json"
    assert stated.read_bytes() == (release.folder / "manifest.json").read_bytes()
    with pytest.raises(rt.ReticentError, match=r"no manifest\.json"):
        rt.open(tmp_path / "copy")
    assert compute_digest(release.folder) == release.digest and rt.audit(release.folder).kept


def test_an_excel_file_has_each_table_with_its_types_and_what_excel_cannot_hold_as_text(release, tmp_path):
    assert release.to_excel(tmp_path / "copy.xlsx", bounds=True) == ["README", "data", "manifest"]
    fastexcel = pytest.importorskip("fastexcel")
    back = fastexcel.read_excel(tmp_path / "copy.xlsx").load_sheet("data").to_polars()
    published = release.frame(bounds=True)
    assert back.columns == published.columns
    assert back["zip"].dtype == back["text"].dtype == pl.String
    assert back["zip"].to_list() == published["zip"].to_list()
    assert back["day"].cast(pl.Date).to_list() == published["day"].to_list()
    assert back["moment"].dt.cast_time_unit("us").to_list() == published["moment"].to_list()
    assert back["flag"].dtype == pl.Boolean and back["flag"].to_list() == published["flag"].to_list()
    assert back["amount"].to_list() == published["amount"].to_list()
    assert back["age_lower"].to_list() == published["age_lower"].to_list()
    for name in ("old", "fine", "odd", "large", "price"):
        assert back[name].to_list() == published[name].cast(pl.String).to_list(), name
    lines = " ".join(str(row[0]) for row in read_sheet(tmp_path / "copy.xlsx", "README"))
    assert "# Visits, 2024" in lines and release.digest in lines
    assert all(f"'{name}'" in lines for name in ("old", "fine", "odd", "large", "price")) and "'day'" not in lines
    stated = "\n".join(str(row[0]) for row in read_sheet(tmp_path / "copy.xlsx", "manifest"))
    assert json.loads(stated)["about"] == ABOUT


def test_no_cell_of_an_excel_file_is_a_formula_and_a_null_is_no_cell(release, tmp_path):
    release.to_excel(tmp_path / "copy.xlsx")
    with zipfile.ZipFile(tmp_path / "copy.xlsx") as archive:
        sheets = [archive.read(name).decode() for name in archive.namelist() if "worksheets/sheet" in name]
        everything = b"".join(archive.read(name) for name in archive.namelist())
    assert len(sheets) == 3 and not any("<f>" in sheet or "<f " in sheet or "hyperlink" in sheet for sheet in sheets)
    data = sheets[1]
    nulls = sum(release.frame()[name].null_count() for name in release.frame().columns)
    assert data.count("<c r=") == (ROWS + 1) * FRAME.width - nulls, "an empty text is a cell"
    assert b"=1+1" in everything and str(release.folder).encode() not in everything


def test_two_copies_of_a_release_have_the_same_bytes(release, tmp_path):
    for name in ("one", "two"):
        release.to_excel(tmp_path / f"{name}.xlsx")
        release.to_csv(tmp_path / name)
    assert (tmp_path / "one.xlsx").read_bytes() == (tmp_path / "two.xlsx").read_bytes()
    for file in os.listdir(tmp_path / "one"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_every_kind_is_copied_releases_of_earlier_versions_too(folder, tmp_path):
    release = rt.open(folder)
    release.to_csv(tmp_path / "copy", bounds=True)
    sheets = release.to_excel(tmp_path / "copy.xlsx", bounds=True)
    assert sheets == ["README", *release.tables, "manifest"]
    fastexcel = pytest.importorskip("fastexcel")
    for number, (name, table) in enumerate(release.tables.items()):
        expected = release.frame(bounds=True) if number == 0 else table
        back = pl.read_csv(tmp_path / "copy" / f"{name}.csv", schema=expected.schema)
        assert back.equals(expected), name
        sheet = fastexcel.read_excel(tmp_path / "copy.xlsx").load_sheet(name).to_polars()
        assert sheet.shape == expected.shape and sheet.columns == expected.columns
    readme = (tmp_path / "copy" / "README.md").read_text(encoding="utf-8")
    assert all(f"`{name}.csv`" in readme for name in release.tables) and ".parquet" not in readme
    assert "What is promised" in readme and "release.count(" not in readme and "docs/" not in readme


def write_sheets(release, path: Path, limits: export_files.SheetLimits) -> list[str]:
    tables = open_export_tables(release.folder, release.manifest)
    return export_files.write_excel_file(path, tables, release.manifest, "{}", release.digest, limits)


def test_more_rows_columns_or_letters_than_a_sheet_has_are_refused_with_the_numbers(release, tmp_path):
    limits = export_files.SheetLimits()
    assert (limits.rows, limits.columns) == (1_048_576, 16_384)
    message = r"has 60 rows, one of them for the names; the table 'data' has 60 or more"
    with pytest.raises(rt.RequestError, match=message) as refused:
        write_sheets(release, tmp_path / "copy.xlsx", export_files.SheetLimits(rows=ROWS))
    assert "folder of CSV files" in str(refused.value)
    with pytest.raises(rt.RequestError, match="12 columns, and the table 'data' has 13"):
        write_sheets(release, tmp_path / "copy.xlsx", export_files.SheetLimits(columns=12))
    assert not (tmp_path / "copy.xlsx").exists()
    write_sheets(release, tmp_path / "fits.xlsx", export_files.SheetLimits(rows=ROWS + 1, columns=13))
    frame = FRAME.select("age", "illness").with_columns(note=pl.lit("\U0001f600" * 16_384))
    job = rt.Job(columns={"age": "quasi", "illness": "sensitive", "note": "insensitive"}, promises=[rt.KAnonymity(5)])
    with pytest.raises(rt.RequestError, match=r"32,767 characters.*'note'"):
        rt.publish(job, frame=frame, seed=1).to_excel(tmp_path / "copy.xlsx")
    assert not (tmp_path / "copy.xlsx").exists()


def test_nothing_is_replaced_without_force_and_with_it_nothing_but_exports(release, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("x")
    (tmp_path / "file.xlsx").write_text("x")
    with pytest.raises(OutputExists):
        release.to_csv(tmp_path / "mine")
    with pytest.raises(OutputExists, match="no export"):
        release.to_csv(tmp_path / "mine", force=True)
    with pytest.raises(OutputExists):
        release.to_excel(tmp_path / "file.xlsx")
    assert (tmp_path / "mine" / "thesis.txt").read_text() == (tmp_path / "file.xlsx").read_text() == "x"
    release.to_excel(tmp_path / "file.xlsx", force=True)
    release.to_csv(tmp_path / "copy")
    (tmp_path / "copy" / "data.csv").write_text("old")
    with pytest.raises(OutputExists):
        release.to_csv(tmp_path / "copy")
    release.to_csv(tmp_path / "copy", force=True)
    assert (tmp_path / "copy" / "data.csv").read_text() != "old"
    other = rt.publish(rt.Job(columns={"age": "quasi"}, promises=[rt.KAnonymity(5)]), frame=FRAME.select("age"), seed=1)
    other.save(tmp_path / "other", ledger=tmp_path / "ledger")
    with pytest.raises(OutputExists, match="no export"):
        release.to_csv(tmp_path / "other", force=True)
    for target in (release.folder, release.folder / "copy", release.folder.parent):
        with pytest.raises(rt.RequestError):
            release.to_csv(target, force=True)
    with pytest.raises(rt.RequestError, match="lies in the release"):
        release.to_excel(release.folder / "copy.xlsx")
    assert rt.audit(release.folder).kept


@pytest.mark.parametrize("form", ["csv", "xlsx"])
def test_a_copy_that_fails_leaves_the_old_one_and_nothing_else(form, release, tmp_path, monkeypatch):
    target = tmp_path / "place" / ("copy" if form == "csv" else "copy.xlsx")
    write = release.to_csv if form == "csv" else release.to_excel
    write(target)
    before = (target / "data.csv").read_bytes() if form == "csv" else target.read_bytes()

    def fail(*arguments):
        raise OSError(28, os.strerror(28))

    name = "_render_copy_readme" if form == "csv" else "_write_rows"
    monkeypatch.setattr(export_files, name, fail)
    with pytest.raises(DiskError, match="No space left"):
        write(target, force=True)
    assert os.listdir(tmp_path / "place") == [target.name]
    assert ((target / "data.csv").read_bytes() if form == "csv" else target.read_bytes()) == before
    with pytest.raises(DiskError):
        write(target.with_name("new" + target.suffix))
    assert os.listdir(tmp_path / "place") == [target.name]


def test_without_the_extra_it_is_said_what_to_install(release, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)
    with pytest.raises(SourceError, match=r"pip install 'reticent\[excel\]'"):
        release.to_excel(tmp_path / "copy.xlsx")
    assert not (tmp_path / "copy.xlsx").exists()
    release.to_csv(tmp_path / "copy")


def run(capsys, *words: str) -> tuple[int, str, str]:
    code = main(["export", "release", *words])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_the_command_writes_what_its_target_names(release, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    code, out, _ = run(capsys, "copy")
    assert code == 0 and out.startswith("Wrote 60 rows to copy: data.csv, README.md, release-manifest.json.")
    assert "what is audited is the release folder" in out
    code, out, _ = run(capsys, "copy.xlsx", "--bounds", "--json")
    assert code == 0 and json.loads(out) == {
        "release": "release",
        "target": "copy.xlsx",
        "sheets": ["README", "data", "manifest"],
        "rows": ROWS,
        "digest": release.digest,
    }
    code, out, _ = run(capsys, "copy", "--force", "--json")
    assert code == 0 and json.loads(out)["files"] == ["data.csv", "README.md", "release-manifest.json"]
    code, out, _ = run(capsys, "sqlite:///w.db", "--table", "visits", "--json")
    assert code == 0 and json.loads(out)["tables"] == ["visits", "visits_manifest", "visits_about"]
    with closing(sqlite3.connect("w.db")) as connection:
        rows = connection.execute("SELECT * FROM visits_about").fetchall()
    assert rows == [("title", "Visits, 2024"), ("publisher", "=HYPERLINK(1)"), ("recipients", "a"), ("recipients", "b")]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["copy"], "exists"),
        (["new.csv"], "folder of CSV files"),
        (["new.xls"], ".xlsx"),
        (["new.db"], "sqlite:///new.db"),
        (["release/copy"], "lies in the release"),
        (["new", "--table", "x"], "--table names a table of a database"),
        (["sqlite:///w.db"], "--table people"),
        (["sqlite:/w.db"], "--table people"),
        (["sqlite:///w.db", "--table", "x", "--force"], "never replaced"),
    ],
)
def test_another_target_is_refused_with_what_to_write_instead(words, message, release, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "copy").mkdir()
    before = sorted(os.listdir(tmp_path))
    code, out, err = run(capsys, *words)
    assert code == 1 and message in err and out == ""
    assert sorted(os.listdir(tmp_path)) == before
