"""All rows of a person as one victim: what they say together is what enumeration gives, and never above the bound."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import polars as pl
import pytest

import reticent as rt
from tests.oracle.corruption import rows_of_one_person

DOMAIN = 5
SKEW = Fraction(2, 5)
BEFORE = Fraction(3, 10)
PROMISE = rt.RhoGuarantee("0.3", "0.6", "0.4")


def publish(rows: int, seed: int, people: int = 12, **method):
    """A table whose people have several rows, in other places or in the same one, and its release."""
    draw = np.random.default_rng(seed)
    total = people * rows
    table = pl.DataFrame(
        {
            "who": np.repeat(np.arange(people), rows),
            "a": draw.integers(0, 3, total),
            "s": draw.integers(0, DOMAIN, total),
        }
    )
    columns = {
        "who": rt.identifying(rows_per_person=rows),
        "a": rt.quasi(),
        "s": rt.sensitive(domain=[0, DOMAIN - 1]),
    }
    job = rt.Job(columns=columns, promises=[PROMISE], method=rt.PerturbedGeneralization(**method))
    return table, rt.publish(job, frame=table, seed=seed)


def attack(release, table):
    return rt.attack(release, table, "corruption", lambda_=str(SKEW), rho1=str(BEFORE)).to_dict()


def list_situations(table, release):
    """Of each person: what the groups of their rows show, how many of them lie in each, and the values of the others there."""
    shown = {}
    for low, high, value in release.frame(bounds=True).select("a_lower", "a_upper", "s").iter_rows():
        shown.setdefault((low, high), []).append(value)
    for who in table["who"].unique().sort():
        groups = []
        for (low, high), values in shown.items():
            inside = table.filter(pl.col("a").is_between(low, high))
            own = inside.filter(pl.col("who") == who).height
            if own:
                groups.append((tuple(values), own, inside.filter(pl.col("who") != who)["s"].to_list()))
        yield groups


def reach_most(likelihood, groups) -> Fraction:
    """The greatest posterior of any condition that is believed with 3/10 beforehand, no value of a row with more than 2/5.

    Where each row lies in a group of its own the best is one set of values: 3/10 is less than what one may be believed with.
    """
    unshown = []
    for shown, own, _ in groups:
        unshown += [next(value for value in range(DOMAIN) if value not in shown)] * own
    lift = max(likelihood.values()) / likelihood[tuple(unshown)] - 1
    return (BEFORE + BEFORE * lift) / (1 + BEFORE * lift)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("draw", ["one", "many"])
def test_the_worst_person_is_the_one_that_enumeration_finds(seed, draw):
    table, release = publish(2, seed, k=2, draw=draw)
    p = Fraction(str(release.manifest.own["p"]))
    outcome = attack(release, table)
    most = Fraction(0)
    best_apart = Fraction(0)
    for groups in list_situations(table, release):
        likelihood = rows_of_one_person(p, DOMAIN, groups)
        reached = reach_most(likelihood, groups)
        most = max(most, reached)
        if all(own == 1 for _, own, _ in groups):
            best_apart = max(best_apart, reached)
    assert float(best_apart) <= outcome["worst_posterior"] + 1e-12
    assert outcome["worst_posterior"] <= float(most) + 1e-12
    assert outcome["worst_posterior"] <= outcome["bound"] <= 0.6
    assert outcome["worst_growth"] <= outcome["growth_bound"]
    assert outcome["rows_together"] is True


def test_rows_together_tell_more_than_each_of_them_and_reach_the_bound_where_they_are_alike():
    """Two groups of k c rows, each showing what nobody else has: the person whose rows lie in both is believed to have it."""
    table = pl.DataFrame({"who": [0, 0, *range(1, 7)], "a": [0, 9, 0, 0, 0, 9, 9, 9], "s": [0, 0, 1, 1, 1, 1, 1, 1]})
    columns = {"who": rt.identifying(rows_per_person=2), "a": rt.quasi(), "s": rt.sensitive(domain=[0, DOMAIN - 1])}
    job = rt.Job(columns=columns, promises=[PROMISE], method=rt.PerturbedGeneralization(k=2))
    bounds = set()
    for seed in range(400):
        release = rt.publish(job, frame=table, seed=seed)
        frame = release.frame()
        if len(frame) == 2 and frame["s"].to_list() == [0, 0]:
            outcome = attack(release, table)
            assert outcome["worst_posterior"] == pytest.approx(outcome["bound"], abs=1e-6)
            nobody = attack(release, table.drop("who"))
            assert nobody["rows_together"] is False
            assert nobody["worst_posterior"] < outcome["worst_posterior"] - 0.01
            bounds.add(outcome["bound"])
            break
    assert bounds


def test_the_owner_of_more_rows_than_enumeration_takes_is_attacked_within_the_bound():
    table, release = publish(3, 1, people=400, k=4)
    outcome = attack(release, table)
    assert 0.3 < outcome["worst_posterior"] <= outcome["bound"] <= 0.6
    assert outcome["persons"] == 400


def test_one_row_of_a_person_is_attacked_as_it_was():
    table, release = publish(1, 2, k=2)
    assert "rows_together" not in attack(release, table)


def test_of_a_release_with_withheld_rows_who_holds_a_value_twice_is_unmasked_by_both_rows():
    """Three rows hold 2 and one of them is withheld: who knows all but one row of it cannot tell, who knows all but two can."""
    table = pl.DataFrame({"who": [0, 0, *range(1, 10)], "a": [0] * 10 + [900], "s": [2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 2]})
    for naming, unmasked in ((["who"], 10), ([], 8)):
        columns = {"who": rt.identifying(rows_per_person=2), "a": rt.quasi(), "s": rt.sensitive()}
        job = rt.Job(
            columns=columns,
            promises=[rt.KAnonymity(3)],
            method=rt.Mondrian(),
            release=rt.Output(suppress_at_most="0.2"),
        )
        release = rt.publish(job, frame=table, seed=1)
        if release.frame().height == 11:
            pytest.fail("the outlier was not withheld")
        source = table if naming else table.drop("who")
        outcome = rt.attack(release, source, "corruption").to_dict()
        assert round(outcome["success"] * 11) == unmasked


@pytest.mark.parametrize("situation", list(product(range(2), repeat=3)))
def test_likelihoods_are_those_of_every_draw(situation):
    """What a group shows of a person with two rows in it, against all ordered draws."""
    from reticent.attacks.person_rows import GroupTuples

    shown = (0, 1) if situation[0] else (0, 0)
    others = [2, situation[1], 3 * situation[2], 4]
    p = Fraction(1, 3)
    oracle = rows_of_one_person(p, DOMAIN, [(shown, 2, others)])
    holders = {value: others.count(value) for value in range(DOMAIN)}
    holders[2] += 2
    tuples = GroupTuples(
        p,
        DOMAIN,
        np.array([6]),
        np.array([2]),
        np.array([2]),
        lambda group: {value: shown.count(value) for value in shown},
        lambda group: holders,
    )
    alike, shifted = tuples.list_exact_ratios(0, (2, 2))
    nothing = oracle[2, 2]
    assert alike == sorted((oracle[value, value] / nothing for value in set(shown)), reverse=True)
    if len(set(shown)) == 2:
        assert shifted == [oracle[0, 1] / nothing, oracle[1, 0] / nothing]
    assert [list(part) for part in tuples.list_ratios(0, (2, 2))] == [
        pytest.approx([float(ratio) for ratio in part]) for part in (alike, shifted)
    ]
