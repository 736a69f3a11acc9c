"""`audit`, `risk` and `attack` read the source as `publish` did: a good release is never called broken for how it is read."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import pytest

import reticent as rt
from tests.support.command_line import people

LATIN = '[source]\npath = "people.txt"\ndelimiter = "|"\nencoding = "latin-1"\nmissing = ["NA", "unbekannt"]\n'


@pytest.fixture
def published(run, place):
    """A release of a table with its own delimiter, encoding and texts that mean missing."""
    rows = people()
    for at in range(0, 60, 6):
        rows[at][1], rows[at + 1][1], rows[at][2] = "NA", "unbekannt", "Köln"
    text = "\n".join(["person|age|city|illness", *map("|".join, rows)]) + "\n"
    (place / "people.txt").write_bytes(text.encode("latin-1"))
    with open("city.csv", "a", encoding="utf-8") as handle:
        handle.write("Köln;west;*\n")
    place.job(('[source]\npath = "people.csv"\n', LATIN))
    ran = run("publish", "job.toml", "-o", "release")
    assert ran.code == 0, ran.err
    return place


CALLS = {
    "audit": ("audit", "release", "--source", "people.txt", "--json"),
    "risk": ("risk", "release", "--source", "people.txt", "--json"),
    "attack": ("attack", "release", "--source", "people.txt", "--as", "naive-bayes", "--json"),
    "background": (
        "attack",
        "release",
        "--source",
        "people.txt",
        "--as",
        "background",
        "--bandwidth",
        "0.3",
        "--t",
        "0.2",
        "--json",
    ),
}
OPTIONS = ("--delimiter", "|", "--encoding", "latin-1", "--missing", "NA", "--missing", "unbekannt")


@pytest.mark.parametrize("name", CALLS)
def test_the_owner_s_job_the_job_and_the_options_give_the_same_answer(run, published, name):
    by_owner = run(*CALLS[name])
    assert by_owner.code == 0, by_owner.err + by_owner.out
    shutil.rmtree("reticent-owner")
    by_job = run(*CALLS[name], "--job", "job.toml")
    by_options = run(*CALLS[name], *OPTIONS)
    answers = [json.loads(ran.out) for ran in (by_owner, by_job, by_options)]
    for answer in answers:
        answer.pop("identity", None) if isinstance(answer, dict) else None  # the owner's note is gone with the folder
    assert answers[0] == answers[1] == answers[2]
    plainly = run(*CALLS[name])
    assert plainly.code in (1, 4), plainly.out + plainly.err


def test_a_source_read_otherwise_is_a_failed_comparison_and_no_broken_promise(run, published):
    shutil.rmtree("reticent-owner")
    ran = run("audit", "release", "--source", "people.txt", "--delimiter", "|", "--encoding", "latin-1", "--json")
    found = json.loads(ran.out)
    assert (ran.code, found["verdict"]) == (4, "differs")
    assert all(promise["kept"] for promise in found["promises"])


def test_the_library_reads_it_so_too(published):
    assert rt.audit("release", source="people.txt").verdict == "kept"
    assert "2 texts mean missing" in rt.audit("release", source="people.txt").notes[-1]
    release = rt.publish(rt.Job.read("job.toml"))
    assert rt.audit(release, source="people.txt").verdict == "kept"
    assert rt.attack("release", "people.txt", "naive-bayes").targets == 200


def test_a_frame_of_a_job_with_missing_texts_is_read_as_it_was_published(place):
    import polars as pl

    frame = pl.DataFrame(people(), schema=["person", "age", "city", "illness"], orient="row")
    frame = frame.with_columns(pl.when(pl.int_range(200) % 7 == 0).then(pl.lit("NA")).otherwise("age").alias("age"))
    place.job(('path = "people.csv"', 'missing = ["NA"]'))
    rt.publish(rt.Job.read("job.toml"), frame=frame, to="release")
    assert rt.audit("release", source=frame).verdict == "kept"


def test_a_database_is_compared_by_its_address(run, place):
    with sqlite3.connect("people.db") as connection:
        connection.execute("CREATE TABLE people (person, age INTEGER, city, illness)")
        connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", people())
    connection.close()
    url = f"sqlite:///{place / 'people.db'}"
    place.job(('path = "people.csv"', f'url = "{url}"\nquery = "SELECT * FROM people WHERE age > 25"'))
    assert run("publish", "job.toml", "-o", "release").code == 0
    assert run("audit", "release", "--source", url).code == 0
    assert run("risk", "release", "--source", url).code == 0
    assert run("attack", "release", "--source", url, "--as", "naive-bayes").code == 0
    assert run("audit", "release", "--source", url, "--table", "people").code == 4
    assert run("audit", "release", "--source", url.replace("people.db", "gone.db")).code == 6


def test_the_releases_of_batches_are_read_by_the_job_of_all(run, published):
    text = Path("people.txt").read_bytes().decode("latin-1").splitlines()
    lines = [f"{line}|{'day' if at == 0 else at % 2}" for at, line in enumerate(text)]
    Path("people.txt").write_bytes(("\n".join(lines) + "\n").encode("latin-1"))
    published.job(
        ('[source]\npath = "people.csv"\n', LATIN),
        ('illness = "sensitive"\n', 'illness = "sensitive"\nday = "insensitive"\n'),
    )
    ran = run("publish", "job.toml", "-o", "days", "--batch-by", "day", "--again")
    assert ran.code == 0, ran.err
    halves = [line for line in lines if line.endswith(("|1", "|day"))]
    Path("half.txt").write_bytes(("\n".join(halves) + "\n").encode("latin-1"))
    assert run("audit", "days/1", "--source", "half.txt").code == 0


@pytest.mark.parametrize("name", ["audit", "risk", "attack"])
def test_options_of_a_source_without_a_source_are_refused(run, published, name):
    words = ("--as", "naive-bayes") if name == "attack" else ()
    ran = run(name, "release", "--delimiter", "|", *words)
    assert ran.code == 1
    assert "--source" in ran.err


def test_a_plain_file_is_read_by_the_same_options(run, published):
    words = ("people.txt", "--quasi", "age,city", "--json", *OPTIONS)
    assert json.loads(run("risk", *words).out) == json.loads(
        run("risk", "people.txt", "--quasi", "age,city", "--json", "--job", "job.toml").out
    )
    assert run("audit", *words, "--sensitive", "illness").code == 0


def test_automation_can_tell_what_went_wrong_by_the_exit_code(run, published):
    def kind(*words):
        ran = run(*words, "--json")
        return ran.code, json.loads(ran.out)["error"]["kind"]

    assert kind("publish", "job.toml", "-o", "other") == (5, "AlreadyPublished")
    assert kind("publish", "job.toml", "-o", "release") == (1, "OutputExists")
    assert kind("publish", "job.toml") == (1, "UsageError")
    assert kind("audit", "release", "--source", "city.csv") == (4, "ComparisonFailed")
    Path("people.txt").unlink()
    assert kind("publish", "job.toml", "-o", "other") == (6, "SourceUnreachable")
    assert kind("check", "job.toml") == (6, "SourceUnreachable")
    assert kind("audit", "release", "--source", "gone.txt") == (6, "SourceUnreachable")
    published.job(
        ('path = "people.csv"', 'url = "postgresql://nobody@127.0.0.1:9/x?connect_timeout=2"\ntable = "people"')
    )
    assert kind("check", "job.toml") == (6, "SourceUnreachable")
