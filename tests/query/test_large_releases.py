"""A question to a large release is answered from the columns that it needs, with the same numbers as from all of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import reticent as rt
from reticent.format.data_files import ROW_COUNT_COLUMN
from reticent.query import QueryOptions, ask
from reticent.query.run import find_asked_columns
from reticent.release.kind import read_needed, reader_for
from tests.support import repeated_releases

QUESTIONS = [
    "SELECT COUNT(*) FROM release",
    "SELECT COUNT(*) FROM release WHERE age BETWEEN 25 AND 41 AND pay > 20",
    "SELECT AVG(age), SUM(age), MIN(age), MAX(age) FROM release WHERE town = 'a' OR age > 50",
    "SELECT AVG(pay), SUM(pay) FROM release WHERE town = 'a' OR age > 50",
    "SELECT AVG(age), SUM(pay), COUNT(pay) FROM release WHERE pay > 20",
    "SELECT MIN(pay), MAX(pay) FROM release WHERE age > 30",
    "SELECT town, COUNT(*) FROM release GROUP BY town",
    "SELECT town, SUM(pay) FROM release GROUP BY town",
    "SELECT pay, AVG(age) FROM release WHERE age IS NOT NULL GROUP BY pay",
    "SELECT COUNT(*) FROM release WHERE age IS NULL OR ward = 'N'",
    "SELECT COUNT(age) FROM release WHERE weight > 60.5",
]
COLUMNS = {
    "age": rt.quasi(numeric=True, domain=[0, 99]),
    "town": rt.quasi(),
    "pay": rt.sensitive(type="numeric"),
    "ward": rt.insensitive(),
    "weight": rt.insensitive(round_to=0.5),
}
JOBS = {
    "generalized": ([rt.KAnonymity(5)], None),
    "perturbed": ([rt.BetaLikeness(4)], rt.BetaPerturbation()),
    "anatomized": ([rt.ProbabilisticLDiversity(2)], rt.Anatomy()),
    "transformed": ([rt.PPrivacy("source")], rt.Distribution()),
}


def people(rows: int) -> pl.DataFrame:
    return repeated_releases.people(rows).with_columns(
        age=pl.when(pl.int_range(rows) % 37 == 0).then(None).otherwise("age"),
        ward=pl.Series(["N", "S"] * (rows // 2)),
        weight=50 + pl.int_range(rows) % 40 / 2,
    )


def job(kind: str, **output) -> rt.Job:
    promises, method = JOBS[kind]
    release = rt.Output(**output)
    return rt.Job(columns=COLUMNS, promises=promises, release=release, **({"method": method} if method else {}))


def answers_of(tables, manifest, question) -> list | str:
    """The answers, or the words that refuse the question."""
    try:
        found = ask(tables, manifest, question, QueryOptions())
    except rt.RequestError as error:
        return error.what
    return found if isinstance(found, list) else [found]


def require_same_answers(found: list | str, wanted: list | str, question: str) -> None:
    if isinstance(wanted, str):
        assert found == wanted, question
        return
    assert [one.keys for one in found] == [one.keys for one in wanted]
    for one, other in zip(found, wanted, strict=True):
        assert (one.lower, one.upper, one.note) == (other.lower, other.upper, other.note), question
        assert one.estimate == pytest.approx(other.estimate), question
        assert one.std_error == pytest.approx(other.std_error), question
        assert one.interval == pytest.approx(other.interval), question
        assert (one.published is None) == (other.published is None), question
        if one.published is not None:
            assert one.published.estimate == pytest.approx(other.published.estimate), question


def _count_values(tables) -> int:
    return sum(table.height * table.width for table in tables.values())


@pytest.mark.parametrize("file_format", ["parquet", "csv"])
@pytest.mark.parametrize(
    ("kind", "output"),
    [
        ("generalized", {}),
        ("generalized", {"suppress_at_most": 0.2}),
        ("perturbed", {}),
        ("anatomized", {}),
        ("transformed", {}),
    ],
    ids=str,
)
def test_the_columns_needed_give_the_answers_of_all_of_them(tmp_path, file_format, kind, output):
    release = rt.publish(job(kind, format=file_format, **output), frame=people(400), to=tmp_path / "release", seed=1)
    for question in QUESTIONS:
        needed = reader_for(kind).list_needed_columns(
            release.manifest, find_asked_columns([question], release.manifest)
        )
        found = read_needed(release.folder, release.manifest, needed)
        assert _count_values(found) < _count_values(release.tables)
        require_same_answers(
            answers_of(found, release.manifest, question),
            answers_of(release.tables, release.manifest, question),
            question,
        )


@pytest.mark.parametrize("kind", ["perturbed", "anatomized", "transformed"])
def test_distinct_rows_are_counted_where_the_sensitive_column_is_not_asked_about(kind):
    release = rt.publish(job(kind), frame=people(400), seed=1)
    question = "SELECT town, COUNT(*) FROM release WHERE ward = 'N' GROUP BY town"
    needed = reader_for(kind).list_needed_columns(release.manifest, find_asked_columns([question], release.manifest))
    (table,) = read_needed(release.folder, release.manifest, needed).values()
    assert sorted(table.columns) == [ROW_COUNT_COLUMN, "town", "ward"]
    assert len(table) == people(400).select("town", "ward").n_unique() and table[ROW_COUNT_COLUMN].sum() == 400


@pytest.mark.parametrize("kind", ["anatomized", "transformed"])
def test_of_groups_only_the_columns_asked_about_are_read(kind):
    release = rt.publish(job(kind), frame=people(400), seed=1)

    def files(question):
        needed = reader_for(kind).list_needed_columns(
            release.manifest, find_asked_columns([question], release.manifest)
        )
        return {
            name: sorted(table.columns) for name, table in read_needed(release.folder, release.manifest, needed).items()
        }

    counted = files("SELECT COUNT(*) FROM release WHERE age > 30 AND pay > 20")
    assert counted["quasi"] == ["age", "group"] and sorted(counted) == ["quasi", "sensitive"]
    summed = files("SELECT SUM(pay) FROM release WHERE age > 30")
    assert sorted(summed) == sorted(release.tables)


@pytest.mark.parametrize("kind", ["generalized", "perturbed"])
@pytest.mark.parametrize("file_format", ["parquet", "csv"])
def test_rows_that_are_nearly_all_distinct_are_read_and_not_counted(kind, file_format):
    release = rt.publish(job(kind, format=file_format), frame=people(400), seed=1)
    for question in QUESTIONS:
        needed = reader_for(kind).list_needed_columns(
            release.manifest, find_asked_columns([question], release.manifest)
        )
        found = read_needed(release.folder, release.manifest, needed, max_values=3, min_rows_alike=100)
        assert ROW_COUNT_COLUMN not in found["data"].columns or len(found["data"]) <= 4
        require_same_answers(
            answers_of(found, release.manifest, question),
            answers_of(release.tables, release.manifest, question),
            question,
        )


@pytest.mark.parametrize("kind", list(JOBS))
def test_a_large_release_is_never_read_whole_for_questions(tmp_path, kind):
    rt.publish(job(kind), frame=people(400), to=tmp_path / "release", seed=1)
    small = rt.open(tmp_path / "release")
    large = rt.open(tmp_path / "release")
    questions = [one for one in QUESTIONS if "MIN(pay)" not in one]
    wanted = [small.query(question) for question in questions], small.measure(questions, people(400))
    large._max_rows_read = 100
    found = [large.query(question) for question in questions], large.measure(questions, people(400))
    assert "tables" not in large.__dict__
    for one, other, question in zip(found[0], wanted[0], questions, strict=True):
        require_same_answers(*(some if isinstance(some, list) else [some] for some in (one, other)), question)
    assert [line.get("true") for line in found[1]] == [line.get("true") for line in wanted[1]]
    assert [line["estimate"] for line in found[1]] == pytest.approx([line["estimate"] for line in wanted[1]])


MEMORY_PROGRAM = """
import sys
from pathlib import Path
import reticent as rt

def read_status(field):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1e3 for line in lines if line.startswith(field + ":"))

release = rt.open(sys.argv[1])
release._max_rows_read = int(sys.argv[2])
before = read_status("VmRSS")
Path("/proc/self/clear_refs").write_text("5")
release.query("SELECT COUNT(*) FROM release WHERE age > 30 AND pay > 20")
print(read_status("VmHWM") - before)
"""


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="this system does not tell peaks of memory")
def test_columns_that_are_not_asked_about_cost_no_memory(tmp_path):
    """Of 100,000 rows with thirty carried columns of texts, a question about two columns reads two, and the group."""
    rows = 100_000
    notes = [f"note_{at}" for at in range(30)]
    frame = pl.concat([repeated_releases.people(1000)] * (rows // 1000)).with_columns(
        ((pl.int_range(rows) * 7919 + at) % 100_003).cast(pl.String).add(" is a text of a carried column").alias(name)
        for at, name in enumerate(notes)
    )
    columns = {**repeated_releases.COLUMNS, **dict.fromkeys(notes, rt.insensitive(acknowledge=True))}
    promises, method = JOBS["anatomized"]
    rt.publish(rt.Job(columns=columns, promises=promises, method=method), frame=frame, to=tmp_path / "release", seed=1)

    def measure_megabytes(max_rows_read: int) -> float:
        command = [sys.executable, "-c", MEMORY_PROGRAM, str(tmp_path / "release"), str(max_rows_read)]
        return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    assert measure_megabytes(1) < measure_megabytes(10**9) / 2
