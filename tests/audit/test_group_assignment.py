"""Whether people can have been put into published groups, against every way to do it; and what the audit says where it cannot tell."""

from __future__ import annotations

import importlib.util
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent.audit import anatomized, group_assignment
from reticent.audit.group_assignment import (
    ASSIGNMENT_EXISTS,
    ASSIGNMENT_UNDECIDED,
    NO_ASSIGNMENT,
    PairTally,
    decide_assignment,
)
from reticent.format.data_writer import write_data
from tests.support.release_folders import resealed


def tally(pairs: list[tuple[int, int]]) -> PairTally:
    first, second = np.array(pairs, np.int64).T
    return PairTally.add_up(first, second, np.ones(len(pairs), np.int64))


def decide(people: list[tuple[int, int]], groups: list[tuple[list[int], list[int]]]) -> str:
    """People are (combination, value), groups have the combinations and the values of their rows."""
    published = [(combination, number) for number, (rows, _) in enumerate(groups) for combination in rows]
    listed = [(number, value) for number, (_, values) in enumerate(groups) for value in values]
    return decide_assignment(tally(published), tally(listed), tally(people))


def exists(people: list[tuple[int, int]], groups: list[tuple[list[int], list[int]]]) -> bool:
    """Every way to give the values of each group to its rows."""
    left = Counter(people)

    def give(number: int, row: int, values: list[int]) -> bool:
        if row == len(groups[number][0]):
            return number + 1 == len(groups) or give(number + 1, 0, groups[number + 1][1])
        for value in set(values):
            person = (groups[number][0][row], value)
            if left[person]:
                left[person] -= 1
                rest = list(values)
                rest.remove(value)
                done = give(number, row + 1, rest)
                left[person] += 1
                if done:
                    return True
        return False

    return give(0, 0, groups[0][1])


def draw_problem(draw: np.random.Generator, forged: int) -> tuple[list, list]:
    """Random people, some of them withheld, in random groups; `forged` exchanges values or rows, or draws groups anew."""
    rows = int(draw.integers(4, 13))
    withheld = int(draw.integers(0, 3))
    combinations = int(draw.integers(1, 6))
    values = int(draw.integers(2, 5))
    people = [(int(draw.integers(combinations)), int(draw.integers(values))) for _ in range(rows + withheld)]
    order = draw.permutation(rows + withheld)[:rows]
    size = int(draw.integers(2, 5))
    groups = [
        ([people[at][0] for at in order[start : start + size]], [people[at][1] for at in order[start : start + size]])
        for start in range(0, rows, size)
    ]
    if forged in (1, 2) and len(groups) > 1:
        one, other = draw.permutation(len(groups))[:2]
        side = forged - 1
        groups[one][side][0], groups[other][side][0] = groups[other][side][0], groups[one][side][0]
    if forged == 3:
        shuffled = iter(draw.permutation([combination for held, _ in groups for combination in held]).tolist())
        groups = [([next(shuffled) for _ in held], values) for held, values in groups]
    return people, groups


@pytest.mark.parametrize("forged", range(4))
def test_an_assignment_is_found_exactly_where_there_is_one(forged):
    draw = np.random.default_rng(forged)
    outcomes = Counter()
    for _ in range(250):
        people, groups = draw_problem(draw, forged)
        there = exists(people, groups)
        outcomes[there] += 1
        assert decide(people, groups) == (ASSIGNMENT_EXISTS if there else NO_ASSIGNMENT), (people, groups)
    assert outcomes[True] > 100 and (forged == 0 or outcomes[False] > 20)


def test_the_exchange_gives_the_same_uncompiled(monkeypatch):
    """The kernel's own text, where no compiler was there."""
    source = Path(group_assignment.__file__).parents[1] / "kernels" / "value_exchanges.py"
    spec = importlib.util.spec_from_file_location("value_exchanges_uncompiled", source)
    plain = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(plain)
    draw = np.random.default_rng(9)
    for _ in range(10):
        combination = draw.integers(0, 6, 120)
        value = draw.integers(0, 5, 120)
        group = deal(value, 3, draw)
        each = np.ones(120, np.int64)
        tallies = [
            PairTally.add_up(*pair, each) for pair in ((combination, group), (group, value), (combination, value))
        ]
        compiled = group_assignment.ValueExchange(group_assignment.AssignmentProblem.from_tallies(*tallies))
        uncompiled = None
        with monkeypatch.context() as patch:
            patch.setattr(group_assignment, "value_exchanges", plain)
            uncompiled = group_assignment.ValueExchange(group_assignment.AssignmentProblem.from_tallies(*tallies))
            found = uncompiled.run(20_000)
        assert compiled.run(20_000) == found
        assert np.array_equal(compiled._rows, uncompiled._rows)


def deal(values: np.ndarray, size: int, draw: np.random.Generator) -> np.ndarray:
    """The group of each row, as Anatomy deals rows of sorted values."""
    order = draw.permutation(len(values))
    order = order[np.argsort(values[order], kind="stable")]
    group = np.empty(len(values), np.int64)
    group[order] = np.arange(len(values)) % (len(values) // size)
    return group


@pytest.mark.parametrize(("combinations", "size"), [(1_500, 5), (300, 2), (4, 5), (30, 4)])
def test_honest_groups_of_thousands_have_an_assignment_and_random_ones_have_none(combinations, size):
    draw = np.random.default_rng(size)
    rows = 3_000 if combinations > 100 else 6_000
    combination = draw.integers(0, combinations, rows)
    value = (combination + draw.integers(0, 12, rows)) % 40
    group = deal(value, size, draw)
    each = np.ones(rows, np.int64)
    listed = PairTally.add_up(group, value, each)
    held = PairTally.add_up(combination, value, each)
    assert decide_assignment(PairTally.add_up(combination, group, each), listed, held) == ASSIGNMENT_EXISTS
    if combinations > 4:
        anew = PairTally.add_up(combination, draw.permutation(group), each)
        assert decide_assignment(anew, listed, held) == NO_ASSIGNMENT


SIX = pl.DataFrame({"age": [1, 1, 2, 3, 3, 3], "illness": list("acbabb")})


def publish_six(groups: list[tuple[list[int], str]]) -> rt.Release:
    """A release of six people, with these groups in place of those that were published."""
    columns = {"age": rt.quasi(), "illness": rt.sensitive()}
    job = rt.Job(columns=columns, promises=[rt.ProbabilisticLDiversity(2)], method=rt.Anatomy())
    release = rt.publish(job, frame=SIX, seed=1)
    number = {"group": pl.Int32, "count": pl.Int32}
    rows = [(age, at) for at, (ages, _) in enumerate(groups) for age in ages]
    held = [(at, value, 1) for at, (_, values) in enumerate(groups) for value in values]
    quasi = pl.DataFrame(rows, schema=["age", "group"], orient="row").cast({"group": pl.Int32})
    sensitive = pl.DataFrame(held, schema=["group", "illness", "count"], orient="row").cast(number)
    write_data(release.folder / "quasi.parquet", quasi, "parquet")
    write_data(release.folder / "sensitive.parquet", sensitive, "parquet")
    resealed(release.folder)
    return release


def test_a_group_that_lists_a_value_of_nobody_in_it_is_refused_though_each_value_and_each_age_occurs():
    release = publish_six([([1, 3], "ab"), ([2, 3], "bc"), ([1, 3], "ab")])
    found = rt.audit(release.folder, source=SIX)
    assert found.verdict == "differs" and found.source.to_dict()["assignment"] == NO_ASSIGNMENT
    assert "cannot have been put into these groups" in str(found)
    honest = publish_six([([1, 3], "ab"), ([2, 3], "ab"), ([1, 3], "bc")])
    assert rt.audit(honest.folder, source=SIX).verdict == "kept"


def test_what_could_not_be_decided_is_said_and_not_called_kept(monkeypatch):
    draw = np.random.default_rng(3)
    people = pl.DataFrame({"age": draw.integers(1, 4, 60), "illness": draw.choice(list("abcd"), 60)})
    job = rt.Job(
        columns={"age": rt.quasi(), "illness": rt.sensitive()},
        promises=[rt.ProbabilisticLDiversity(2)],
        method=rt.Anatomy(),
    )
    release = rt.publish(job, frame=people, seed=1)
    assert rt.audit(release.folder, source=people).kept is True
    monkeypatch.setattr(anatomized, "decide_assignment", partial(decide_assignment, max_rows=1))
    found = rt.audit(release.folder, source=people)
    assert found.kept is None and found.verdict == "undecided"
    assert found.source.to_dict()["assignment"] == ASSIGNMENT_UNDECIDED
    assert "could not be decided" in str(found) and "could not be completed" in str(found)


def test_people_who_were_withheld_may_hold_what_is_left():
    """Of the two people with combination 0 one is published, and either may be."""
    people = [(0, 0), (0, 1), (1, 0), (1, 1), (1, 1)]
    assert decide(people, [([0, 1], [0, 1]), ([1, 1], [0, 1])]) == ASSIGNMENT_EXISTS
    assert decide(people, [([0, 1], [1, 1]), ([1, 1], [1, 1])]) == NO_ASSIGNMENT
