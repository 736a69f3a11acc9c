"""Odds of releases that redraw values: bounds of each, and of several together, hold in every outcome that is enumerated."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent.attacks.composition.release_odds import ReleaseOdds, bound_belief, bound_release_odds, multiply_odds
from reticent.errors import JobError, PromiseUnreachable
from tests.oracle import corruption as oracle

DOMAIN = ["w", "x", "y", "z"]


def make_people(rows: int = 120) -> pl.DataFrame:
    draw = np.random.default_rng(5)
    return pl.DataFrame({"id": np.arange(rows), "a": draw.integers(0, 30, rows), "s": draw.choice(DOMAIN, rows)})


PEOPLE = make_people()


def make_job(kind: str, odds=None, p="0.3") -> rt.Job:
    columns = {"id": rt.identifying(), "a": rt.quasi(), "s": rt.sensitive(domain=DOMAIN)}
    if kind == "sampled":
        promises, method = [rt.RhoGuarantee("0.2", "0.5", "0.3")], rt.PerturbedGeneralization(k=4, p=p)
    elif kind == "perturbed":
        columns["s"] = rt.sensitive()
        promises, method = [rt.BetaLikeness(1)], rt.BetaPerturbation()
    else:
        columns["s"] = rt.sensitive()
        promises, method = [rt.KAnonymity(4)], None
    return rt.Job(columns=columns, promises=promises, method=method, release=rt.Output(odds_at_most=odds))


@pytest.mark.parametrize(("first", "second"), [("1/2", "1/2"), ("1/3", "3/5"), ("1/4", "1/10")])
def test_odds_of_two_releases_multiply_by_at_most_the_product_and_some_outcome_reaches_it(first, second):
    """Three people, k = 3, two values, the others known or not: every pair of outcomes of two independent releases."""
    domain, size = 2, 3
    shares = [Fraction(first), Fraction(second)]
    rho = [1 + p / (size * (1 - p) / domain) for p in shares]
    even = [Fraction(1, 2)] * 2
    known = [[Fraction(int(x == value)) for x in range(domain)] for value in range(domain)]
    greatest = Fraction(0)
    for others in product([*known, even], repeat=size - 1):
        # Of unknown people both releases see the same values: every table is weighed, and both are drawn from it.
        likelihood: dict[tuple, list[Fraction]] = {}
        for values in product(range(domain), repeat=size - 1):
            weight = others[0][values[0]] * others[1][values[1]]
            if not weight:
                continue
            certain = [known[value] for value in values]
            outcomes = [oracle.joint(p, domain, [even, *certain], lambda _: [tuple(range(size))], 0) for p in shares]
            for one, other in product(*outcomes):
                here = likelihood.setdefault((one, other), [Fraction(0)] * domain)
                for x in range(domain):
                    here[x] += weight * outcomes[0][one][x] * outcomes[1][other][x] * 4
        for chances in likelihood.values():
            greatest = max(greatest, chances[0] / chances[1], chances[1] / chances[0])
    assert greatest == rho[0] * rho[1]


def test_a_belief_is_bounded_by_its_odds():
    for prior, odds in product([Fraction(1, 10), Fraction(1, 2)], [Fraction(1), Fraction(3), Fraction(20)]):
        after = bound_belief(prior, odds)
        assert after / (1 - after) == prior / (1 - prior) * odds


def test_the_odds_of_a_sampled_release_are_those_of_its_p_and_k():
    manifest = rt.publish(make_job("sampled"), frame=PEOPLE).manifest
    p = Fraction(str(manifest.own["p"]))
    assert bound_release_odds(manifest).odds == 1 + p / (4 * (1 - p) / 4)


def test_the_odds_of_a_perturbed_release_are_the_greatest_ratio_in_a_column_of_its_matrix():
    manifest = rt.publish(make_job("perturbed"), frame=PEOPLE).manifest
    matrix = [[Fraction(str(chance)) for chance in row] for row in manifest.own["matrix"]]
    ratios = [row[v] / other[v] for v in range(len(matrix)) for row, other in product(matrix, repeat=2) if other[v]]
    assert bound_release_odds(manifest).odds == max(ratios)


def test_a_release_that_shows_values_has_no_odds():
    found = bound_release_odds(rt.publish(make_job("generalized"), frame=PEOPLE).manifest)
    assert found.odds is None and "generalized" in found.why


def test_two_seeded_releases_may_share_their_draws():
    parts = [ReleaseOdds(Fraction(2), seeded=True), ReleaseOdds(Fraction(3))]
    assert multiply_odds(parts).odds == 6
    assert multiply_odds([parts[0], parts[0]]).odds is None


@pytest.fixture
def ledger(tmp_path):
    return tmp_path / "ledger"


@pytest.mark.parametrize("kind", ["sampled", "perturbed"])
def test_the_ledger_adds_up_the_odds_and_refuses_beyond_the_budget(kind, tmp_path, ledger):
    own = bound_release_odds(rt.publish(make_job(kind), frame=PEOPLE).manifest).odds
    budget = own**2 * Fraction(11, 10)
    for number in range(2):
        release = rt.publish(
            make_job(kind, budget), frame=PEOPLE, to=tmp_path / f"r{number}", ledger=ledger, again=True
        )
    assert any("of the budget of" in notice for notice in release.notices)
    with pytest.raises(PromiseUnreachable, match="Odds multiply over releases"):
        rt.publish(make_job(kind, budget), frame=PEOPLE, to=tmp_path / "r2", ledger=ledger, again=True)
    assert not (tmp_path / "r2").exists()
    greater = rt.publish(make_job(kind, budget * own), frame=PEOPLE, to=tmp_path / "r2", ledger=ledger, again=True)
    assert greater.folder.exists()


def test_one_release_beyond_the_budget_is_refused_with_nothing_written(tmp_path, ledger):
    with pytest.raises(PromiseUnreachable, match="odds_at_most"):
        rt.publish(make_job("sampled", "1.01"), frame=PEOPLE, to=tmp_path / "r", ledger=ledger)
    assert not (tmp_path / "r").exists()


def test_an_earlier_release_that_is_gone_or_shows_values_leaves_no_budget(tmp_path, ledger):
    rt.publish(make_job("generalized"), frame=PEOPLE, to=tmp_path / "shown", ledger=ledger)
    with pytest.raises(PromiseUnreachable, match="shows what people have"):
        rt.publish(make_job("sampled", 1000), frame=PEOPLE, to=tmp_path / "r", ledger=ledger, again=True)
    (tmp_path / "shown").rename(tmp_path / "elsewhere")
    with pytest.raises(PromiseUnreachable, match="not where it was put"):
        rt.publish(make_job("sampled", 1000), frame=PEOPLE, to=tmp_path / "r", ledger=ledger, again=True)
    assert not (tmp_path / "r").exists()


def test_a_method_that_publishes_values_takes_no_budget_of_odds():
    with pytest.raises(JobError, match="values that are redrawn"):
        rt.publish(make_job("generalized", 20), frame=PEOPLE)


@pytest.mark.parametrize("bad", [0, "0.5", -1, "x", float("nan"), True])
def test_what_is_no_factor_is_refused(bad):
    with pytest.raises((JobError, rt.ReticentError)):
        make_job("sampled", bad)
