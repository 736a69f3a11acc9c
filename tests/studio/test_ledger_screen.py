"""The screen *Ledger*: releases over time, people in several of them, what they tell together, and withdrawing."""

from __future__ import annotations

import logging
import os
import re
import shlex
import shutil
from pathlib import Path

import polars as pl
import pytest

import reticent as rt
from reticent import datasets
from reticent.cli.commands import build_parser
from reticent.ledger.shared_people import count_shared_people
from reticent.studio.screens import ledger
from reticent.studio.time_line import DrawnRelease, choose_moments, draw_time_line, read_seconds
from tests.studio.client import Steward, read_text

SCREEN = "ledger"
JOB = """
[source]
path = "people.csv"

[columns]
person = { role = "identifying" }
age = { role = "quasi-identifying", type = "numeric" }
education = { role = "quasi-identifying", type = "numeric" }
salary_class = { role = "sensitive", type = "numeric" }

[[promise]]
model = "k-anonymity"
k = 10
"""
MARKUP = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def register(tmp_path_factory) -> Path:
    """A project of 600 people with two releases: of the first 500, and of 100 of them and 100 others."""
    folder = tmp_path_factory.mktemp("register")
    people = datasets.load("census", rows=600, seed=1).select("age", "education", "salary_class")
    people = people.with_columns(pl.format("P-{}", pl.int_range(1000, 1600)).alias("person"))
    people.write_csv(folder / "people.csv")
    (folder / "job.toml").write_text(JOB)
    job = rt.Job.read(folder / "job.toml")
    book = folder / "book"
    rt.publish(job, to=folder / "first", frame=people.head(500), seed=1, ledger=book)
    rt.publish(job, to=folder / "second", frame=people.slice(400), seed=2, ledger=book, again=True)
    return folder


@pytest.fixture
def owner(register, tmp_path, monkeypatch) -> Steward:
    """A steward at the desk of that project, with a ledger of their own to withdraw in."""
    shutil.copytree(register / "book", tmp_path / "book")
    monkeypatch.setenv("RETICENT_LEDGER", str(tmp_path / "book"))
    return Steward(register)


def find_digest(name: str) -> str:
    return next(release.digest for release in rt.releases() if release.release == name)


def test_without_a_ledger_the_screen_says_where_one_would_be(newcomer):
    page = newcomer.look(SCREEN)
    assert "The ledger knows no release yet" in page and os.environ["RETICENT_LEDGER"] in page
    assert not Path(os.environ["RETICENT_LEDGER"]).exists(), "looking makes none"
    assert "no such release" in newcomer.press(SCREEN, "withdraw", digest="ab", reason="x", copies="out", status=422)


def test_a_damaged_ledger_is_said_in_place(owner, tmp_path):
    (tmp_path / "book" / "ledger.jsonl").write_text("{broken\n")
    page = owner.look(SCREEN)
    assert 'role="alert"' in page and "ledger.jsonl" in page


def test_releases_are_listed_and_drawn_with_the_people_they_share(owner):
    page = owner.look(SCREEN)
    words = read_text(page)
    assert "1 of 2 releases is of people who were published before" in words
    assert "first, 500 rows" in page and "second, 200 rows" in page and page.count("<circle") == 2
    assert re.search(r"in 1 release\b.*?500.*?in 2 releases.*?100", words)
    assert "Counted by the column person, over 2 releases" in words
    assert "reticent withdraw" in page and "reticent releases --person -" in page


def test_people_are_counted_over_the_releases_that_count(owner, tmp_path):
    book = tmp_path / "book"
    shared = count_shared_people(book)
    assert shared.people == {1: 500, 2: 100} and shared.releases == 2 and shared.unknown == 0
    rt.withdraw(find_digest("second"), reason="a mistake", never_handed_out=True)
    assert count_shared_people(book).people == {1: 500}
    assert count_shared_people(book, max_people=499) is None
    assert count_shared_people(tmp_path / "none") is None


def test_releases_without_identifying_columns_count_nobody(steward, tmp_path, monkeypatch):
    job = rt.Job.read(steward.desk.job_file.path)
    monkeypatch.setenv("RETICENT_LEDGER", str(tmp_path / "book"))
    rt.publish(job, to=steward.desk.project.folder / "release", seed=1)
    assert count_shared_people(tmp_path / "book") is None
    page = steward.look(SCREEN)
    assert "No identifying column was noted" in page and "What do they tell together?" not in page


def test_releases_of_the_same_people_are_joined_by_a_child(owner):
    known = rt.releases()
    assert known[1].repeats == (known[0].digest,)
    assert "What do they tell together?" in owner.look(SCREEN)
    owner.press(SCREEN, "join", digest=known[1].digest)
    run = owner.wait()
    assert run.succeeded, run.error
    page = owner.look(SCREEN)
    assert "Together with first" in read_text(page) and "the surest belief is" in read_text(page)
    assert "cannot be joined" in owner.press(SCREEN, "join", digest=known[0].digest, status=422)


def test_a_person_is_found_without_being_named_anywhere(owner, caplog):
    caplog.set_level(logging.DEBUG)
    page = owner.press(SCREEN, "person", person="p 1450")
    assert "is in the rows of 2 releases" in read_text(page)
    for text in (page, caplog.text, repr(owner.desk.memory)):
        assert "1450" not in text
    assert "is in the rows of 1 release." in read_text(owner.press(SCREEN, "person", person="P-1001"))
    assert "of no release" in read_text(owner.press(SCREEN, "person", person=MARKUP))
    assert "The person asked about" not in owner.press(SCREEN, "forget")
    for person in ("", "x" * 501):
        assert "1 to 500 letters" in owner.press(SCREEN, "person", person=person, status=422)


def test_a_release_is_withdrawn_with_a_reason_and_what_became_of_copies(owner, register):
    digest = find_digest("first")
    refused = owner.press(SCREEN, "withdraw", digest=digest, reason="x", status=422)
    assert "Whether a copy ever left is not said" in refused
    assert "The reason is empty" in owner.press(SCREEN, "withdraw", digest=digest, reason=" ", copies="out", status=422)
    assert rt.releases()[0].withdrawal is None
    page = owner.press(SCREEN, "withdraw", digest=digest, reason=f"wrong {MARKUP}", copies="out")
    assert "It still counts: copies may be out" in page and MARKUP not in page and "withdrawn" in page
    page = owner.press(SCREEN, "withdraw", digest=digest, reason="no copy left", copies="never")
    assert "no longer counts" in page and "reference-hollow" in page
    assert not rt.releases()[0].counts and (register / "first").is_dir()


def test_the_owners_notes_are_shown_in_a_frame(owner, register):
    page = owner.look(SCREEN)
    address = re.search(r'src="([^"]*notes\?digest=[0-9a-f]{64})"', page)
    response = owner.client.get(address[1].replace("&amp;", "&"))
    assert "never to be handed out" in response.text
    assert response.headers["content-security-policy"].startswith("sandbox")
    assert owner.view(SCREEN, "notes", digest="ab").status_code == 422


def test_a_ledger_of_releases_elsewhere_is_listed_and_nothing_of_them_is_read(register, owner, tmp_path):
    (tmp_path / "other").mkdir()
    other = Steward(tmp_path / "other")
    page = other.look(SCREEN)
    assert "first, 500 rows" in page and "Your notes on" not in page and "What do they tell together?" not in page
    digest = find_digest("second")
    assert "no notes" in other.view(SCREEN, "notes", digest=digest).text
    assert "cannot be joined" in other.press(SCREEN, "join", digest=digest, status=422)


def test_the_commands_are_those_of_the_command_line(owner):
    parser = build_parser()
    for line in ledger.write_commands(owner.desk).shell.splitlines():
        words = shlex.split(line)
        parser.commands[words[1]].make_context(words[1], words[2:])
    exec(ledger.write_commands(owner.desk).python, {"print": lambda *values: None})


def test_a_time_line_names_days_or_hours_and_survives_odd_moments():
    assert read_seconds("no moment") == 0.0 and read_seconds("2026-01-01T00:00:00") == 1767225600.0
    assert choose_moments(5, 5) == [5] and len(choose_moments(0, 86_400 * 30)) == 4
    assert len(choose_moments(0, 86_400)) == 2 and len(choose_moments(0, 60)) == 2
    first = DrawnRelease(0.0, "x" * 60, (), True)
    drawing = draw_time_line([first, DrawnRelease(86_400.0 * 9, MARKUP, (0,), False)])
    assert "1970-01-10" in drawing and MARKUP not in drawing and "…" in drawing and drawing.count("guide") == 2
    assert "time (UTC)" in draw_time_line([first])
