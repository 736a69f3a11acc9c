"""Joining with a release of an earlier state of the table: people left it, came to it or were corrected since.

The oracle enumerates every table that fits both releases, for an adversary who knows everybody's quasi-identifiers then and now, and
who it was that left or changed.
"""

from __future__ import annotations

import random
from fractions import Fraction

import polars as pl
import pytest

import reticent as rt
from reticent.attacks import attack
from reticent.attacks.composition.alignment import align_releases
from reticent.attacks.composition.attack import attack_aligned_releases
from reticent.errors import RequestError
from tests.oracle.composition import joined

VALUES = ["u", "v", "w"]
COLUMNS = {"age": rt.quasi(numeric=True), "zip": rt.quasi(numeric=True), "s": rt.sensitive()}


def people(draw: random.Random, many: int) -> list[tuple[int, int, str]]:
    return [(draw.randint(20, 29), draw.randint(0, 9), draw.choice(VALUES)) for _ in range(many)]


def frame_of(rows) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=["age", "zip", "s"], orient="row")


def published(rows, weight: float, k: int = 2):
    method = rt.Mondrian(weights={"age": weight})
    job = rt.Job(columns=COLUMNS, promises=[rt.KAnonymity(k)], method=method)
    return rt.publish(job, frame=frame_of(rows))


def groups_of(release, persons):
    """(members, counts) of each group, by the labels alone; `persons` are (number, age, zip).  None where labels overlap."""
    held = {}
    shown = release.frame(bounds=True).select("age_lower", "age_upper", "zip_lower", "zip_upper", "s")
    for *box, value in shown.iter_rows():
        held.setdefault(tuple(box), [0] * len(VALUES))[VALUES.index(value)] += 1
    groups = []
    for (low, high, first, last), counts in held.items():
        inside = frozenset(n for n, age, code in persons if low <= age <= high and first <= code <= last)
        groups.append((inside, tuple(counts)))
    members = [number for inside, _ in groups for number in inside]
    return groups if len(members) == len(set(members)) and all(len(m) == sum(c) for m, c in groups) else None


def beliefs_by_oracle(then, now, everybody: int):
    """Posteriors of all (numbered) persons from both releases; None where labels overlap."""
    releases = [groups_of(release, persons) for release, persons in (then, now)]
    return None if None in releases else joined(everybody, len(VALUES), releases)


def greatest(found, rows):
    """The greatest belief about each row's person that was found exactly; None where it was not counted."""
    together, outcome = found
    point = {}
    for number, (age, code) in enumerate(sorted({(age, code) for age, code, _ in rows})):
        point[age, code] = number
    assert len(point) == len(together.people)
    return [max(outcome.exact[point[row[:2]]]) if point[row[:2]] in outcome.exact else None for row in rows]


def laid(first, others, rows):
    together = align_releases([first, *others], frame_of(rows))
    return together, attack_aligned_releases(together)


LIMITS = [Fraction(1, 3), Fraction(1, 2), Fraction(2, 3), Fraction(9, 10)]


def test_beliefs_over_people_who_stayed_are_those_of_all_tables_that_fit():
    """Of people who left the adversary knows who they were, and nothing of their values."""
    counted = 0
    for seed in range(20):
        draw = random.Random(seed)
        before = people(draw, 7)
        gone = set(draw.sample(range(7), draw.randint(1, 2)))
        after = [row for number, row in enumerate(before) if number not in gone]
        earlier = published(before, 1)
        later = published(after, 5)
        persons = [(number, row[0], row[1]) for number, row in enumerate(before)]
        staying = [one for one in persons if one[0] not in gone]
        truth = beliefs_by_oracle((earlier, persons), (later, staying), 7)
        if truth is None:
            continue
        found = laid(later, [earlier], after)
        assert found[1].details["departed"] == len(gone)
        for exact, (number, *_) in zip(greatest(found, after), staying, strict=True):
            if exact is not None:
                assert exact == max(truth[number])
                counted += 1
        for limit in LIMITS:
            above = sum(max(truth[number]) > limit for number, *_ in staying)
            assert found[1].count_people_above(limit) >= above
    assert counted > 20


@pytest.mark.parametrize("kind", ["value", "place", "several"])
def test_nobody_stands_above_a_limit_unnoticed_where_people_were_corrected(kind):
    """Wherever the releases and the table show every change."""
    tried = 0
    for seed in range(20):
        draw = random.Random(f"{kind} {seed}")
        before = people(draw, 6)
        after = list(before)
        changed = draw.sample(range(6), 2 if kind == "several" else 1)
        numbers = list(
            range(6)
        )  # of each row now: whom the oracle takes for a person of their own where the value is new
        everybody = 6
        for number in changed:
            age, code, value = before[number]
            if kind == "place" or (kind == "several" and draw.random() < 0.5):
                after[number] = (draw.randint(20, 29), draw.randint(0, 9), value)
            else:
                after[number] = (age, code, draw.choice([other for other in VALUES if other != value]))
                numbers[number] = everybody
                everybody += 1
        changes = len(changed)
        if kind == "several" and draw.random() < 0.5:
            changes += 1
            left = draw.choice([number for number in range(6) if number not in changed])
            after = after[:left] + after[left + 1 :]
            numbers = numbers[:left] + numbers[left + 1 :]
        earlier = published(before, 1)
        later = published(after, 5)
        then = [(number, row[0], row[1]) for number, row in enumerate(before)]
        now = [(number, row[0], row[1]) for number, row in zip(numbers, after, strict=True)]
        truth = beliefs_by_oracle((earlier, then), (later, now), everybody)
        if truth is None:
            continue
        outcome = laid(later, [earlier], after)[1]
        if outcome.details["departed"] < changes:
            continue  # one left a group and another with the same value came to it: no release shows that
        for limit in LIMITS:
            assert outcome.count_people_above(limit) >= sum(max(truth[number]) > limit for number in numbers)
        tried += 1
    assert tried >= 8


def table(rows=400, seed=1, values="uvwxyz"):
    draw = random.Random(seed)
    return [(draw.randint(20, 60), draw.randint(0, 9), draw.choice(values)) for _ in range(rows)]


def corrected(rows, at, row):
    return [*rows[:at], row, *rows[at + 1 :]]


CHANGED = {
    "one left": lambda rows: rows[1:],
    "one was corrected": lambda rows: corrected(rows, 0, (*rows[0][:2], "x" if rows[0][2] != "x" else "y")),
    "one has another age": lambda rows: corrected(rows, 0, (rows[0][0] + 17, *rows[0][1:])),
    "one has a value that is new": lambda rows: corrected(rows, 0, (*rows[0][:2], "new")),
    "one came and one left": lambda rows: [*rows[1:], (33, 3, "u")],
    "one is of an age beyond all others": lambda rows: corrected(rows, 0, (99, *rows[0][1:])),
}


@pytest.mark.parametrize(
    ("what", "method"),
    [
        *((what, "mondrian") for what in CHANGED),
        ("one left", "anatomy"),
        ("one was corrected", "mosaic"),
        ("one left", "mosaic"),
        ("one has another age", "anatomy"),
        ("one was corrected", "anatomy"),
    ],
)
def test_a_release_of_an_earlier_state_is_joined_and_a_limit_is_judged(tmp_path, what, method):
    """Each value of the earlier table but one occurs often; the removed row's is the only one of its kind."""
    before = [(40, 5, "rare"), *table(150)]
    after = CHANGED[what](before)
    promise = rt.ProbabilisticLDiversity(2)
    methods = {"mondrian": rt.Mondrian(), "anatomy": rt.Anatomy(), "mosaic": rt.Mosaic(effort="quick")}
    job = rt.Job(columns=COLUMNS, promises=[promise], method=methods[method])
    rt.publish(job, frame=frame_of(before), to=tmp_path / "first")
    second = rt.publish(job, frame=frame_of(after), to=tmp_path / "second", again=True)
    said = [line for line in second.notices if "'first'" in line]
    assert len(said) == 1
    assert said[0].startswith("Joined with 'first'")
    assert "of nobody in this table any more" in said[0]
    limited = rt.Job(columns=COLUMNS, promises=[promise], method=methods[method], release=rt.Output(together=1))
    rt.publish(limited, frame=frame_of(after), to=tmp_path / "third", again=True)
    found = attack(tmp_path / "second", frame_of(after), "composition", joined=[tmp_path / "first"])
    assert found.targets == len(after)
    assert found.to_dict()["departed"] >= 1


def test_without_a_ledger_people_who_changed_are_told_from_other_people():
    before = table()
    earlier = published(before, 1, k=4)
    after = corrected(before[3:], 5, (*before[8][:2], "u" if before[8][2] != "u" else "v"))
    frame = frame_of(after)
    later = published(after, 5, k=4)
    assert attack(later, frame, "composition", joined=[earlier]).to_dict()["departed"] >= 3
    with pytest.raises(RequestError, match="made from other data"):
        attack(later, frame, "composition", joined=[published(table(seed=2), 1, k=4)])


def test_nothing_departed_where_releases_are_of_the_same_rows():
    rows = table()
    found = attack(published(rows, 5, k=4), frame_of(rows), "composition", joined=[published(rows, 1, k=4)]).to_dict()
    assert (found["departed"], found["unbounded"]) == (0, 0)
