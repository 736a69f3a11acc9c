"""No question ends in a bug of ours: it is answered, or refused in our own words."""

from __future__ import annotations

import os

import pytest

from tests.hostile.questions import QUESTIONS
from tests.support.hostile_cases import Case, faults, run

ALL = os.environ.get("HOSTILE") == "all"
ASKED = {
    "the release": ("query", "out"),
    "as SQL": ("query", "out", "--print-sql", "duckdb"),
    "a database": ("query", "out", "--at", "sqlite:///out.db", "--table", "people"),
}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("questions")
    assert run(folder, Case(lambda folder: None)).code == 0
    assert (
        run(folder, Case(lambda folder: None, 0, ("export", "out", "sqlite:///out.db", "--table", "people"))).code == 0
    )
    return folder


@pytest.mark.parametrize("way", ASKED)
def test_a_hostile_question_is_answered_or_refused(way, place):
    wrong = {}
    for number, (what, question) in enumerate(QUESTIONS.items()):
        if ALL or way == "the release" or number % 3 == 0:
            ran = run(place, Case(lambda folder: None, None, (*ASKED[way], "--", question)))
            if found := faults(ran, None):
                wrong[what] = (found, ran.err[-300:])
    assert not wrong


def test_so_is_a_file_of_questions(place):
    wrong = {}
    for what, question in QUESTIONS.items():
        spoil = Case(
            lambda folder, text=question: (folder / "q.sql").write_text(text), None, ("query", "out", "--file", "q.sql")
        )
        if found := faults(run(place, spoil), None):
            wrong[what] = found
    assert not wrong
