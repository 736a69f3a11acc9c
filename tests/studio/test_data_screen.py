"""The screen *Data*: every way to open a table, what was read, whose a row is, the first rows, and what is refused."""

from __future__ import annotations

import gzip
import os
import shlex
import sqlite3
from pathlib import Path

import polars as pl
import pytest

from reticent.job.job import Job
from reticent.studio.project import Project
from reticent.studio.screens.data import write_commands
from reticent.studio.table_preview import mask_value
from tests.studio.client import Steward, read_text
from tests.studio.drafts import place_draft, place_evidence, write_people


@pytest.fixture
def clerk(newcomer) -> Steward:
    """A steward in a folder with one table and no job."""
    write_people(newcomer.desk.project.folder / "people.csv")
    return newcomer


def open_people(clerk: Steward, name: str = "people.csv") -> str:
    place_draft(clerk, name)
    return clerk.look("data")


def test_an_empty_folder_says_what_to_do_first(newcomer):
    page = newcomer.look("data")
    assert "There is no table in this folder yet" in page and "Open a table first" in page
    assert 'type="file"' in page


def test_a_file_of_the_folder_is_listed_with_its_size_and_opening_it_drafts_the_job(clerk):
    assert "people.csv" in clerk.look("data")
    page = clerk.press("data", "open", path="people.csv")
    assert "Reading the table" in page or clerk.wait().succeeded
    clerk.wait()
    page = read_text(clerk.look("data"))
    job = Job.read(clerk.desk.job_file.path)
    assert job.columns["person_id"].rows_per_person == 2
    assert ("rows 60" in page and "1.0 kB" in page) or "kB" in page
    assert "person_id: 30 different values in 60 rows; one has 2 rows" in page
    assert clerk.desk.job_file.can_undo


def test_what_was_found_in_the_reading_waits_for_one_yes(clerk):
    page = open_people(clerk)
    assert "CONFIRM: these occur" in clerk.desk.job_file.text
    assert "How the file was read waits for a yes" in page
    page = clerk.press("data", "confirm")
    assert "CONFIRM: these occur" not in clerk.desk.job_file.text and 'id="next"' in page
    assert "CONFIRM: " in clerk.desk.job_file.text, "columns wait still"
    assert Job.read(clerk.desk.job_file.path).source.missing == ("NA",)


def test_an_existing_job_is_replaced_only_after_a_yes_and_undo_brings_it_back(steward):
    before = steward.desk.job_file.text
    write_people(steward.desk.project.folder / "people.csv")
    page = steward.press("data", "open", path="people.csv")
    assert "There is a job already" in page and steward.desk.job_file.text == before
    page = steward.press("data", "answer", answer="keep")
    assert "There is a job already" not in page and steward.desk.job_file.text == before
    steward.press("data", "open", path="people.csv")
    steward.press("data", "answer", answer="draft")
    assert steward.wait().succeeded
    steward.look("data")
    assert "people.csv" in steward.desk.job_file.text
    steward.press("job", "undo", screen="data")
    assert steward.desk.job_file.text == before


def test_a_job_may_read_another_table_and_keep_the_rest(steward):
    folder = steward.desk.project.folder
    (folder / "other.csv").write_bytes((folder / "census.csv").read_bytes())
    steward.press("data", "open", path="other.csv")
    steward.press("data", "answer", answer="source")
    assert steward.job["source"]["path"] == "other.csv" and len(steward.job["columns"]) == 6
    steward.press("data", "answer", answer="source")  # nothing is asked any more
    assert steward.job["source"]["path"] == "other.csv"


def test_an_answer_that_is_none_is_refused(steward):
    steward.press("data", "open", path="census.csv")
    assert "no answer" in steward.press("data", "answer", answer="maybe", status=422)


def test_an_uploaded_file_takes_a_new_name_and_overwrites_nothing(clerk):
    folder = clerk.desk.project.folder
    before = (folder / "people.csv").read_bytes()
    clerk.press("data", "upload", files={"file": ("../people.csv", b"age,illness\n" + b"1,flu\n2,mumps\n" * 20)})
    assert clerk.wait().succeeded
    assert (folder / "people.csv").read_bytes() == before
    assert (folder / "people-2.csv").stat().st_mode & 0o777 == 0o600
    assert clerk.job["source"]["path"] == "people-2.csv"


@pytest.mark.parametrize("name", ["evil.sh", "job.toml", ".bashrc", "manifest.json"])
def test_an_upload_that_is_no_table_is_refused_and_leaves_nothing(name, clerk):
    before = sorted(clerk.desk.project.folder.iterdir())
    clerk.press("data", "upload", files={"file": (name, b"x")}, status=422)
    assert sorted(clerk.desk.project.folder.iterdir()) == before


def test_an_upload_without_a_file_is_refused(clerk):
    assert "No file was chosen" in clerk.press("data", "upload", status=422)


def test_an_upload_whose_name_was_taken_meanwhile_overwrites_nothing(clerk, monkeypatch):
    taken = clerk.desk.project.folder / "people.csv"
    before = taken.read_bytes()
    monkeypatch.setattr(Project, "choose_new_name", lambda self, name: taken)
    clerk.press("data", "upload", files={"file": ("a.csv", b"x")}, status=422)
    assert taken.read_bytes() == before


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write everywhere")
def test_a_folder_that_is_not_writable_refuses_an_upload(clerk):
    clerk.desk.project.folder.chmod(0o500)
    try:
        clerk.press("data", "upload", files={"file": ("a.csv", b"x")}, status=422)
    finally:
        clerk.desk.project.folder.chmod(0o700)


@pytest.mark.parametrize("path", ["../secret.csv", "/etc/passwd", "", "a\x00b", "../*.csv", "/etc/*"])
def test_a_file_elsewhere_is_not_opened(path, clerk):
    clerk.press("data", "open", path=path, status=422)
    clerk.press("data", "open-files", pattern=path, status=422)
    assert not clerk.desk.job_file.exists() and not clerk.desk.runs.list_running()


def test_a_link_to_elsewhere_is_not_opened(clerk, tmp_path):
    write_people(tmp_path / "secret.csv")
    (clerk.desk.project.folder / "day-1.csv").symlink_to(tmp_path / "secret.csv")
    assert "day-1.csv" not in clerk.look("data")
    clerk.press("data", "open", path="day-1.csv", status=422)
    clerk.press("data", "open-files", pattern="day-*.csv", status=422)


def test_several_files_are_opened_by_a_pattern(clerk):
    folder = clerk.desk.project.folder
    for day in (1, 2):
        write_people(folder / f"day-{day}.csv", 30)
    assert "No file of the project" in clerk.press("data", "open-files", pattern="week-*.csv", status=422)
    assert "no pattern" in clerk.press("data", "open-files", pattern="people.csv", status=422)
    clerk.press("data", "open-files", pattern="day-*.csv")
    assert clerk.wait().succeeded
    page = read_text(clerk.look("data"))
    assert "rows 60" in page and clerk.job["source"]["path"] == "day-*.csv" and "P0000" in page


def test_a_folder_of_parquet_files_is_listed_and_opened(clerk):
    part = clerk.desk.project.folder / "parts"
    part.mkdir()
    for number in (1, 2):
        pl.read_csv(clerk.desk.project.folder / "people.csv").write_parquet(part / f"{number}.parquet")
    assert "2 files in a folder" in clerk.look("data")
    clerk.press("data", "open", path="parts")
    assert clerk.wait().succeeded
    page = read_text(clerk.look("data"))
    assert "rows 120" in page and "P0000" in page


@pytest.fixture
def database(clerk) -> Path:
    path = clerk.desk.project.folder / "people.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE people (age INTEGER, illness TEXT)")
        connection.executemany(
            "INSERT INTO people VALUES (?, ?)", [(n % 40, ("flu", "mumps")[n % 2]) for n in range(90)]
        )
    return path


def test_a_database_is_opened_and_its_rows_are_read_only_where_asked(clerk, database):
    clerk.press("data", "open-database", url="sqlite:///people.db", table="people")
    assert clerk.wait().succeeded
    page = clerk.look("data")
    assert "rows 90" in read_text(page) and "Read the first rows" in page
    assert clerk.job["source"] == {"url": "sqlite:///people.db", "table": "people"}
    page = clerk.press("data", "rows", rows="5", read="yes")
    assert "The first 5 rows" in read_text(page) and "mumps" in page
    assert "single" in clerk.look("columns")


def test_a_query_of_a_database_is_opened(clerk, database):
    clerk.press(
        "data", "open-database", url="sqlite:///people.db", query="SELECT age, illness FROM people WHERE age > 3"
    )
    assert clerk.wait().succeeded
    assert "query" in clerk.job["source"]
    page = clerk.press("data", "rows", rows="5", read="yes")
    assert "The first 5 rows" in read_text(page)


@pytest.mark.parametrize(
    "fields",
    [
        {"url": "people.db", "table": "people"},
        {"url": "sqlite:///people.db"},
        {"url": "sqlite:///people.db", "table": "a", "query": "SELECT 1"},
        {"url": "sqlite:////etc/passwd", "table": "people"},
        {"url": "sqlite:///../people.db", "table": "people"},
        {"url": "oracle://host/x", "table": "people"},
        {"url": "postgresql://me:secret@host/x", "table": "people"},
    ],
)
def test_an_address_with_a_password_or_of_a_file_elsewhere_is_refused(fields, clerk):
    page = clerk.press("data", "open-database", status=422, **fields)
    assert "secret" not in page and not clerk.desk.job_file.exists()


def test_a_failed_draft_says_why_and_writes_no_job(clerk):
    (clerk.desk.project.folder / "broken.parquet").write_bytes(b"no parquet")
    clerk.press("data", "open", path="broken.parquet")
    assert not clerk.wait().succeeded
    page = clerk.look("data")
    assert 'role="alert"' in page and not clerk.desk.job_file.exists()
    clerk.press("data", "open", path="people.csv")
    assert clerk.wait().succeeded
    assert 'role="alert"' not in clerk.look("data")


def test_a_job_made_by_hand_is_counted_by_a_press_of_the_page(steward):
    page = steward.look("data")
    assert "were not counted yet" in page and 'hx-trigger="load, submit"' in page
    steward.press("data", "count")
    assert steward.wait().succeeded
    page = steward.look("data")
    assert "rows 2,000" in read_text(page) and "were not counted yet" not in page
    steward.desk.job_file.set_field(["method", "name"], "mosaic")
    assert "rows 2,000" in read_text(steward.look("data")), "an edit of the method is none of the source"


def test_evidence_is_counted_anew_where_the_source_changes(clerk):
    open_people(clerk)
    write_people(clerk.desk.project.folder / "people.csv", 80)
    assert "were not counted yet" in clerk.look("data")
    place_evidence(clerk, "people.csv")
    assert "rows 80" in read_text(clerk.look("data"))


def test_counting_without_a_source_is_refused(newcomer):
    newcomer.press("data", "count", status=422)
    newcomer.press("data", "reading", status=422)


def test_texts_that_mean_missing_are_ticked_and_typed(clerk):
    open_people(clerk)
    clerk.press("data", "missing", mark=["NA"], more="Ulm")
    assert clerk.job["source"]["missing"] == ["NA", "Ulm"]
    clerk.press("data", "missing")
    assert "missing" not in clerk.job["source"]
    clerk.press("data", "missing", mark=[f"m{n}" for n in range(300)], status=422)


def test_a_file_is_read_otherwise_where_the_steward_says_so(clerk):
    folder = clerk.desk.project.folder
    (folder / "people.csv").write_bytes("name;würde\n1;flu\n2;mumps\n".encode("latin-1"))
    clerk.press("data", "open", path="people.csv")
    clerk.wait()
    assert clerk.job["source"]["encoding"] == "latin-1" and "würde" in clerk.look("data")
    clerk.press("data", "reading", delimiter=";", quote="'", encoding="cp1252", empty="value")
    assert clerk.job["source"] == {
        "path": "people.csv",
        "delimiter": ";",
        "quote": "'",
        "encoding": "cp1252",
        "empty": "value",
    }
    assert 'value="cp1252"' in clerk.look("data")
    clerk.press("data", "reading", delimiter="tab", quote='"', encoding="utf-8", empty="missing")
    assert clerk.job["source"] == {"path": "people.csv", "delimiter": "\t"}
    assert 'role="alert"' in clerk.look("data"), "the first rows are not UTF-8"
    before = clerk.desk.job_file.text
    clerk.press("data", "reading", encoding="no-such-encoding", status=422)
    assert clerk.desk.job_file.text == before


def test_broken_lines_are_shown_and_set_aside_or_refused(clerk, hospital_file):
    (clerk.desk.project.folder / "hospital.csv").write_bytes(hospital_file)
    page = read_text(open_people(clerk, "hospital.csv"))
    assert "broken lines of" in page and "set aside: not looked at" in page
    clerk.press("data", "broken", broken="refuse")
    assert clerk.job["source"]["broken"] == "refuse"
    clerk.press("data", "broken", broken="set-aside")
    assert clerk.job["source"]["broken"] == "set-aside"
    clerk.press("data", "broken", broken="guess", status=422)


def test_whose_a_row_is_is_chosen(clerk):
    open_people(clerk)
    clerk.press("data", "person", column="person_id", rows_per_person="1", beyond="withhold")
    column = Job.read(clerk.desk.job_file.path).columns["person_id"]
    assert (column.rows_per_person, column.beyond) == (1, "withhold")
    assert "rows beyond are withheld" in clerk.look("data")
    clerk.press("data", "person", column="city", rows_per_person="3")
    columns = Job.read(clerk.desk.job_file.path).columns
    assert columns["city"].rows_per_person == 3 and columns["city"].role == "identifying"
    assert columns["person_id"].rows_per_person is None and columns["person_id"].beyond == "refuse"
    page = clerk.press("data", "person", column="")
    assert "Every row is a person" in page and "But person_id repeats" in read_text(page)
    clerk.press("data", "person", column="nobody", rows_per_person="3", status=422)
    clerk.press("data", "person", column="person_id", rows_per_person="many", status=422)


def test_the_first_rows_are_masked_on_request(clerk):
    open_people(clerk)
    assert "P0000" in clerk.look("data")
    page = clerk.press("data", "rows", rows="20", masked="yes")
    assert "P0000" not in page and "x9999" in page and "The first 20 rows" in read_text(page)
    assert "P0000" in clerk.press("data", "rows", rows="7")
    assert mask_value("A1-b") == "x9-x" and mask_value(None) is None


def test_a_packed_file_shows_its_first_rows_and_a_damaged_one_says_so(clerk):
    folder = clerk.desk.project.folder
    (folder / "packed.csv.gz").write_bytes(gzip.compress((folder / "people.csv").read_bytes()))
    assert "P0000" in open_people(clerk, "packed.csv.gz")
    (folder / "packed.csv.gz").write_bytes(gzip.compress((folder / "people.csv").read_bytes())[:100])
    assert 'role="alert"' in clerk.look("data")


def test_a_long_file_shows_its_beginning_alone(clerk):
    folder = clerk.desk.project.folder
    (folder / "people.csv").write_text("age,illness\n" + "30,flu\n" * 100_000)
    clerk.desk.job_file.write('[source]\npath = "people.csv"\n[columns]\nage = "quasi-identifying"\n')
    assert "The first 5 rows" in read_text(clerk.look("data"))


@pytest.mark.parametrize(
    "text",
    [
        "[source\n",
        '[source]\npath = "gone.csv"\n[columns]\nage = "qi"\n',
        'source = "people.csv"\n',
        "source = 3\ncolumns = 4\npromise = 5\n",
        '[source]\npath = "/etc/passwd"\n',
        '[source]\npath = "people.csv"\nmissing = "NA"\nencoding = 3\n',
        '[source]\nurl = "postgresql://me:secret@host/x"\ntable = "people"\n',
        '[columns]\nage = "quasi-identifying"\n',
        '[source]\npath = "people.csv"\nbroken = "set-aside"\ndelimiter = "#"\n[columns]\n"a*" = { role = "id", rows_per_person = 2 }\n',
    ],
)
def test_a_job_of_any_kind_is_shown_and_kept(text, clerk):
    clerk.desk.job_file.write(text)
    page = clerk.look("data")
    assert "Was your file read as you meant it?" in page
    clerk.press("data", "rows", rows="5", read="yes")
    assert clerk.desk.job_file.text == text
    clerk.look("columns")


def test_a_job_whose_address_has_a_password_starts_nothing(clerk):
    clerk.desk.job_file.write('[source]\nurl = "postgresql://me:secret@host/x"\ntable = "people"\n')
    clerk.press("data", "count", status=422)
    assert not list(clerk.desk.runs._runs)


def test_markup_in_names_and_values_is_shown_as_text(clerk):
    hostile = "<img src=x onerror=alert(1)>"
    folder = clerk.desk.project.folder
    rows = "".join(f'{n % 7},"{hostile}",flu{n % 2}\n' for n in range(40))
    rows = rows.replace(f'"{hostile}"', f'"{hostile}!"')
    (folder / "people.csv").write_text(f'age,"{hostile}",illness\n{rows}')
    page = open_people(clerk)
    assert "<img" not in page and "&lt;img" in page
    assert "<img" not in clerk.look("columns")


def test_the_command_of_the_screen_runs_and_drafts_the_same_job(clerk, run_in_folder):
    open_people(clerk)
    before = Job.read(clerk.desk.job_file.path)
    lines = write_commands(clerk.desk)
    run_in_folder(shlex.split(lines.shell)[1:], clerk.desk.project.folder)
    assert Job.read(clerk.desk.job_file.path).columns == before.columns
    previous = Path.cwd()
    os.chdir(clerk.desk.project.folder)
    try:
        exec(compile(lines.python, "lines", "exec"), {})
    finally:
        os.chdir(previous)


@pytest.fixture
def run_in_folder(monkeypatch):
    from reticent.cli.main import main

    def run(words: list[str], folder: Path) -> None:
        monkeypatch.chdir(folder)
        assert main(words) == 0

    return run


def test_a_database_that_goes_away_is_said_in_place_and_the_job_is_kept(clerk, database):
    clerk.press("data", "open-database", url="sqlite:///people.db", table="people")
    assert clerk.wait().succeeded
    before = clerk.desk.job_file.text
    database.unlink()
    page = clerk.press("data", "rows", rows="5", read="yes")
    assert 'role="alert"' in page and "Try " in page
    assert "Internal" not in page and "bug of ours" not in page
    clerk.press("data", "count")
    assert not clerk.wait().succeeded
    assert 'role="alert"' in clerk.look("data")
    assert clerk.desk.job_file.text == before and not database.exists(), "asking does not make an empty one"


def test_a_file_that_vanishes_is_said_in_place_and_the_job_is_kept(steward):
    before = steward.desk.job_file.text
    (steward.desk.project.folder / "census.csv").unlink()
    page = steward.look("data")
    assert 'role="alert"' in page and "Try " in page
    for name in ("columns", "hierarchies", "promise", "compare", "publish"):
        assert "bug of ours" not in steward.look(name)
    assert steward.desk.job_file.text == before
