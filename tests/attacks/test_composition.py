"""Joining releases: beliefs are those of enumeration, one release says what it says alone, and joining says more."""

from __future__ import annotations

import json
import os
import random
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent.attacks import attack
from reticent.attacks.composition.alignment import align_single_release
from reticent.attacks.composition.attack import attack_aligned_releases, attack_by_composition
from reticent.attacks.composition.joint_beliefs import (
    ReleasePart,
    compute_balanced_beliefs,
    compute_exact_beliefs,
    compute_product_beliefs,
)
from reticent.attacks.group_membership import GroupMembership
from reticent.attacks.target import observe
from reticent.cli.main import main
from reticent.errors import RequestError
from tests.oracle import composition as oracle

TABLES = int(os.environ.get("RETICENT_TINY_TABLES", "150"))
"""More of them where time allows: 2,000 were equal to the enumeration when this was written (38 CPU seconds)."""
COLUMNS = {"age": rt.quasi(numeric=True), "town": rt.quasi(), "job": rt.quasi(), "s": rt.sensitive()}


def part_of(groups: list[oracle.Group], people: int) -> ReleasePart:
    group = np.empty(people, np.int64)
    for number, (members, _) in enumerate(groups):
        group[list(members)] = number
    order = np.argsort(group, kind="stable")
    who = GroupMembership(order, group[order], np.ones(people), len(groups), people, known=True)
    return ReleasePart(who, np.array([counts for _, counts in groups]))


def tiny(draw: random.Random, releases: int = 2) -> tuple[int, int, list[list[oracle.Group]]]:
    """People, values, and releases of one table with disjoint groups."""
    people = draw.randint(3, 7)
    values = draw.randint(2, 3)
    truth = [draw.randrange(values) for _ in range(people)]
    found = []
    for _ in range(releases):
        of = [draw.randrange(draw.randint(1, 3)) for _ in range(people)]
        members = [frozenset(person for person in range(people) if of[person] == group) for group in sorted(set(of))]
        found.append([(held, tuple(sum(truth[p] == v for p in held) for v in range(values))) for held in members])
    return people, values, found


def test_counted_beliefs_are_those_of_all_tables_that_fit_the_releases():
    draw = random.Random(7)
    apart = 0.0
    for number in range(TABLES):
        people, values, releases = tiny(draw, 2 + number % 2)
        parts = [part_of(release, people) for release in releases]
        wanted = oracle.joined(people, values, releases)
        found = compute_exact_beliefs(parts, np.ones(people, np.int64))
        assert [found[person] for person in range(people)] == wanted
        prior = parts[0].counts.sum(axis=0) / people
        near, _ = compute_balanced_beliefs(parts, np.ones(people, np.int64), prior)
        apart = max(apart, float(np.abs(near - np.array(wanted, float)).max()))
    assert apart > 0


def test_a_certainty_that_only_whole_numbers_give_is_counted_and_not_seen_by_balancing():
    """Why small components are counted: one table fits these three releases, and fractions fit them in many ways."""
    releases = [
        [(frozenset({0, 1, 4, 5}), (1, 3)), (frozenset({2, 3}), (1, 1))],
        [(frozenset({0, 3, 5}), (1, 2)), (frozenset({1, 2, 4}), (1, 2))],
        [(frozenset({0, 1, 2}), (1, 2)), (frozenset({3, 4}), (1, 1)), (frozenset({5}), (0, 1))],
    ]
    parts = [part_of(release, 6) for release in releases]
    counted = compute_exact_beliefs(parts, np.ones(6, np.int64))
    assert [counted[person] for person in range(6)] == oracle.joined(6, 2, releases)
    assert all(max(beliefs) == 1 for beliefs in counted.values())
    assert (
        compute_balanced_beliefs(parts, np.ones(6, np.int64), parts[0].counts.sum(axis=0) / 6)[0].max(axis=1).min()
        < 0.7
    )


def test_balanced_beliefs_about_all_people_of_a_group_add_up_to_what_the_group_publishes():
    draw = random.Random(3)
    for _ in range(20):
        people, _, releases = tiny(draw)
        parts = [part_of(release, people) for release in releases]
        near, moved = compute_balanced_beliefs(parts, np.ones(people, np.int64), parts[0].counts.sum(axis=0) / people)
        assert np.allclose(near.sum(axis=1), 1)
        for release in releases:
            for members, counts in release:
                assert np.allclose(near[list(members)].sum(axis=0), counts, atol=0.05 + people * moved)


def table(rows: int = 600, seed: int = 1) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 60, rows)
    towns = {"town": rng.choice(list("abcdefgh"), rows), "job": rng.choice(list("pqrst"), rows)}
    return pl.DataFrame({"age": age, **towns, "s": rng.choice(list("uvwxyz"), rows)})


def released(method: rt.Method | None = None, frame: pl.DataFrame | None = None, **changes) -> rt.Release:
    given = {"columns": COLUMNS, "promises": [rt.ProbabilisticLDiversity(3)], "method": method or rt.Mondrian()}
    drop = rt.Output(undeclared="drop")
    return rt.publish(
        rt.Job(**{**given, "release": drop, **changes}), frame=table() if frame is None else frame, seed=1
    )


@pytest.mark.parametrize("method", [rt.Mondrian(), rt.Mosaic(effort="quick"), rt.Anatomy()], ids=lambda m: m.name)
def test_of_one_release_it_is_that_release_s_own_posterior(method):
    release = released(method)
    shown = observe(release, table())
    found = attack_by_composition(release, table())
    assert np.array_equal(found.belief, align_single_release(shown).parts[0].own(shown.prior))
    assert found.to_dict()["releases"] == 1
    assert found.worst_posterior <= 1 / 3 + 1e-9 and found.to_dict()["exceeds"] == 0


def test_a_release_joined_with_itself_says_no_more_when_it_is_balanced_and_the_product_rule_claims_more():
    together = align_single_release(observe(released(rt.Mondrian(labels="sets")), table()))
    twice = [together.parts[0]] * 2
    own = together.parts[0].own(together.prior)
    assert np.allclose(compute_balanced_beliefs(twice, together.people, together.prior)[0], own, atol=1e-3)
    assert compute_product_beliefs(twice, together.prior).max() > own.max() + 0.05


def test_two_releases_say_more_than_either_promised_and_beliefs_come_true_as_often_as_they_say():
    first = released()
    second = released(rt.Mondrian(weights={"age": 4}))
    found = attack(first, table(), "composition", joined=[second]).to_dict()
    assert found["worst_alone"] <= 1 / 3 < found["worst_posterior"] and found["exceeds"] > 0
    assert found["half"] > found["half_alone"] == 0
    assert found["low"] > found["control_high"] and found["success"] > found["alone"]
    assert found["low"] - 0.02 < found["believed"] < found["high"] + 0.02


def test_releases_with_other_columns_hierarchies_and_kinds_are_laid_over_the_same_people():
    first = released(columns={name: COLUMNS[name] for name in ("age", "job", "s")})
    towns = [[town, "early" if town < "e" else "late", "*"] for town in "abcdefgh"]
    ills = [[value, "one" if value in "uxz" else "two", "*"] for value in "zyxwvu"]
    columns = {"town": rt.quasi(hierarchy=towns), "age": rt.quasi(numeric=True), "s": rt.sensitive(hierarchy=ills)}
    second = released(rt.Anatomy(), columns=columns)
    found = attack_by_composition(first, table(), joined=[second])
    assert found.targets == 600 and found.details["releases"] == 2
    swapped = attack_by_composition(second, table(), joined=[first])
    assert swapped.details["worst_alone"] == found.details["worst_alone"]


def test_a_limit_is_compared_exactly_where_beliefs_were_counted():
    groups = [(frozenset({0, 1}), (1, 1)), (frozenset({2, 3}), (1, 1))]
    parts = [part_of(groups, 4)] * 2
    assert compute_exact_beliefs(parts, np.ones(4, np.int64))[0] == [Fraction(1, 2), Fraction(1, 2)]
    shown = align_single_release(observe(released(), table()))
    one = attack_aligned_releases(shown)
    assert one.count_people_above(Fraction(1)) == 0 and one.count_people_above(Fraction(1, 10)) == one.targets


def test_releases_that_the_ledger_notes_as_of_different_rows_are_refused_unless_forced(tmp_path):
    first = released()
    second = released(frame=table(seed=2), method=rt.Mondrian(weights={"age": 4}))
    first.save(tmp_path / "first")
    second.save(tmp_path / "second")
    with pytest.raises(RequestError, match="were made from different rows") as caught:
        attack(tmp_path / "first", table(), "composition", joined=[tmp_path / "second"])
    assert "600 rows" in str(caught.value) and "force" in str(caught.value)
    assert (
        attack(tmp_path / "first", table(), "composition", joined=[tmp_path / "second"], force_join=True).targets == 600
    )


def test_releases_that_no_ledger_knows_are_refused_where_they_publish_more_than_the_source_has():
    with pytest.raises(RequestError, match="made from other data"):
        attack(released(), table(), "composition", joined=[released(frame=table(700, seed=3))])


def test_a_table_of_another_tool_is_not_joined():
    with pytest.raises(RequestError, match="the manifest of a release folder"):
        attack(table(), table(), "composition", quasi=["age"], sensitive=["s"])
    with pytest.raises(RequestError, match="Releases are joined as folders"):
        attack(released(), table(), "composition", joined=[table()])


def test_the_command_line_joins_releases_and_says_how(tmp_path, capsys):
    table().write_csv(tmp_path / "people.csv")
    released().save(tmp_path / "first")
    released(rt.Mondrian(weights={"age": 4})).save(tmp_path / "second", again=True)
    words = [
        "attack",
        str(tmp_path / "first"),
        "--source",
        str(tmp_path / "people.csv"),
        "--with",
        str(tmp_path / "second"),
    ]
    assert main([*words, "--as", "composition", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["releases"] == 2
    assert main([*words, "--as", "composition"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "joined with 1 other release," in said and "No promise speaks of several releases." in said
    assert main([*words, "--as", "skewness"]) == 1
    assert "--with and --force-join are for --as composition" in capsys.readouterr().err


def test_a_plan_is_attacked_alone_and_not_by_who_reads_files():
    plan = rt.plan(rt.Job(columns=COLUMNS, promises=[rt.KAnonymity(5)], method=rt.Mondrian()), frame=table(), seed=1)
    assert attack(plan, name="composition").to_dict()["releases"] == 1
    with pytest.raises(RequestError, match="A plan is attacked alone"):
        attack(plan, name="composition", joined=[released()])
    with pytest.raises(RequestError, match="reads a release's files"):
        attack(plan, name="corruption")
