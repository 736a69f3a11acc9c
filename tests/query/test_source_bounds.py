"""Guaranteed bounds hold for the people of the source, whatever was withheld, coded, rounded or missing.

RETICENT_QUERIES=all asks more than 100,000 questions (`make queries`); the suite asks a sample.
"""

from __future__ import annotations

import os
import shutil
import sys

import numpy as np
import pytest

import reticent as rt
from tests.query import mixed_tables, questions

FULL = os.environ.get("RETICENT_QUERIES") == "all"
RELEASES = int(os.environ.get("RETICENT_QUERIES_RELEASES", 50 if FULL else 3))  # of each kind
CONDITIONS = 16 if FULL else 6  # of each release, each with six aggregates or a question by groups
MOST_COMBINATIONS = 300  # of two columns of GROUP BY
MOST_LINES = 2_000  # of a question by groups
SEED = int(os.environ.get("RETICENT_QUERIES_SEED", 5))


@pytest.fixture(autouse=True)
def literals_of_days(monkeypatch):
    monkeypatch.setattr(questions, "literal", questions.make_literal_of_days(questions.literal))


def asked_in(drawn, text):
    """The answers; none where the question is refused, by name."""
    try:
        found = drawn.release.query(text)
    except rt.RequestError:
        return []
    return found if isinstance(found, list) else [found]


def check_aggregates(rng, drawn, condition) -> int:
    column = drawn.numbers[rng.integers(len(drawn.numbers))] if drawn.numbers else None
    named = ["COUNT(*)", "COUNT(1)"]
    if column is not None:
        named += [f"{name.upper()}({column})" for name in questions.AGGREGATES]
    if drawn.dates:
        dated = drawn.dates[rng.integers(len(drawn.dates))]
        named += [f"MIN({dated})", f"MAX({dated.upper()})"]
    where = "" if condition is None else f" WHERE {questions.sql(condition)}"
    checked = 0
    for aggregate in named:
        name = aggregate.split("(")[0].lower()
        of = None if aggregate in ("COUNT(*)", "COUNT(1)") else aggregate.split("(")[1].removesuffix(")").lower()
        true = mixed_tables.truth(name, of, condition, drawn.rows)
        text = f"SELECT {aggregate} FROM release{where}"
        for answer in asked_in(drawn, text):
            assert mixed_tables.holds_between(answer, true), (drawn.kind, text, answer, true, drawn.release.folder)
            assert (
                answer.lower is not None
                or answer.upper is not None
                or answer.estimate is None
                or answer.note
                or answer.std_error is not None
            ), (text, answer)
            checked += 1
    return checked


def pick_order(rng, by) -> str:
    term = ["n", *by, "1"][rng.integers(len(by) + 2)]
    return term + ["", " DESC", " DESC NULLS FIRST"][rng.integers(3)]


def check_groups(rng, drawn, condition) -> int:
    """Every line, by what it is called; the last is of all rows that no other line is of."""
    by = [drawn.columns[at] for at in rng.permutation(len(drawn.columns))[:2]]
    combinations = np.prod([len({row[name] for row in drawn.rows}) for name in by])
    if rng.random() < 0.7 or combinations > MOST_COMBINATIONS:
        by = by[:1]
    column = drawn.numbers[rng.integers(len(drawn.numbers))] if drawn.numbers and rng.random() < 0.5 else None
    name = "count" if column is None else questions.AGGREGATES[rng.integers(len(questions.AGGREGATES))]
    where = "" if condition is None else f" WHERE {questions.sql(condition)}"
    listed = ", ".join(by)
    places = ", ".join(str(place) for place in range(1, len(by) + 1)) if rng.random() < 0.3 else listed
    text = f"SELECT {listed}, {name.upper()}({column or '*'}) AS n FROM release{where} GROUP BY {places}"
    limit = None
    if rng.random() < 0.4:
        text += f" ORDER BY {pick_order(rng, by)}"
        limit = int(rng.integers(1, 12)) if rng.random() < 0.5 else None
        text += "" if limit is None else f" LIMIT {limit}"
    answers = asked_in(drawn, text)
    left_out = limit is not None and len(answers) == limit
    if len(answers) > MOST_LINES:
        return 0
    left = dict(enumerate(drawn.rows))
    for answer in answers:
        here = [
            at
            for at, row in left.items()
            if answer.rest or all(mixed_tables.has_key(row, key, answer.keys[key], drawn) for key in by)
        ]
        true = mixed_tables.truth(name, column, condition, [left.pop(at) for at in here])
        assert mixed_tables.holds_between(answer, true), (drawn.kind, text, answer, true, drawn.release.folder)
    if answers and not left_out:  # a row that is in no line meets the condition nowhere
        rest = mixed_tables.truth("count", column, condition, list(left.values()))
        assert not rest, (drawn.kind, text, answers, left)
    return len(answers)


@pytest.mark.parametrize("kind", mixed_tables.KINDS)
def test_no_guaranteed_bound_misses_what_the_source_answers(kind, tmp_path):
    rng = np.random.default_rng([SEED, mixed_tables.KINDS.index(kind)])
    releases = checked = attempts = withheld = 0
    while releases < RELEASES:
        attempts += 1
        assert attempts < 20 * RELEASES, "most of the jobs that are drawn are refused"
        folder = tmp_path / f"release{attempts}"
        drawn = mixed_tables.draw(rng, kind, folder)
        if drawn is None:
            continue
        releases += 1
        withheld += drawn.release.manifest.withheld > 0
        constants = mixed_tables.constants_for(rng, drawn)
        for _ in range(CONDITIONS):
            condition = None if rng.random() < 0.15 else questions.condition(rng, constants, ordered=True, usual=True)
            checked += check_aggregates(rng, drawn, condition)
            checked += check_groups(rng, drawn, condition)
        shutil.rmtree(folder)
    assert checked >= RELEASES * CONDITIONS * 3
    assert withheld or RELEASES < 20 or kind in ("transformed", "sampled")
    sys.stdout.write(f"{kind}: {checked:,} answers of {releases:,} releases, {withheld:,} with withheld rows\n")
