"""Releases that redraw values, joined: beliefs are those of every outcome written down, and `together` limits them."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import prod

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent.attacks.composition.redrawn_releases import RedrawnReleases
from reticent.errors import PromiseUnreachable, ReticentError
from tests.oracle.corruption import several_tuples
from tests.oracle.perturbed_beliefs import posteriors

DOMAIN = ["w", "x", "y"]


def make_people(rows: int, ages: int, seed: int = 4) -> pl.DataFrame:
    draw = np.random.default_rng(seed)
    return pl.DataFrame({"a": draw.integers(0, ages, rows), "s": draw.choice(DOMAIN, rows, p=[0.5, 0.3, 0.2])})


def publish(people: pl.DataFrame, kind: str, seed: int | None = None, **further):
    if kind == "sampled":
        sensitive = rt.sensitive(domain=DOMAIN)
        promises, method = [rt.RhoGuarantee("0.4", "0.7", "0.5")], rt.PerturbedGeneralization(k=2, **further)
    else:
        sensitive = rt.sensitive()
        promises, method = [rt.BetaLikeness(1)], rt.BetaPerturbation()
    columns = {"a": rt.quasi(), "s": sensitive}
    return rt.publish(rt.Job(columns=columns, promises=promises, method=method), frame=people, seed=seed)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("draws", [("many", "many"), ("one", "many")])
def test_beliefs_from_several_samples_are_the_product_of_what_enumeration_gives(seed, draws):
    people = make_people(11, 4, seed)
    releases = [publish(people, "sampled", 10 * seed + number, draw=draw) for number, draw in enumerate(draws)]
    joined = RedrawnReleases.from_releases(releases, people)
    beliefs = joined.believe()
    assert joined.exact.all()
    odds = Fraction(1)
    for row, (age, own) in enumerate(people.iter_rows()):
        likelihoods = []
        for release in releases:
            p = Fraction(str(release.manifest.own["p"]))
            for label, shown, size in groups_of(release):
                if not label[0] <= age <= label[1]:
                    continue
                others = [value for other, value in people.iter_rows() if label[0] <= other <= label[1]]
                assert len(others) == size
                others.remove(own)
                codes = [DOMAIN.index(value) for value in others]
                likelihoods.append(several_tuples(p, 3, tuple(DOMAIN.index(value) for value in shown), size, codes, ()))
        assert len(likelihoods) == 2
        joint = [prod(parts) for parts in zip(*likelihoods, strict=True)]
        assert beliefs.greatest[row] == pytest.approx(float(max(joint) / sum(joint)))
        for number, parts in enumerate(likelihoods):
            assert beliefs.greatest_alone[number, row] == pytest.approx(float(max(parts) / sum(parts)))
        odds = max(odds, max(joint) / min(joint))
    assert beliefs.odds == pytest.approx(float(odds))
    assert joined.odds.odds is None  # both have a seed
    unseeded = RedrawnReleases.from_releases([publish(people, "sampled") for _ in range(2)], people)
    assert unseeded.believe().odds <= float(unseeded.odds.odds) * (1 + 1e-9)


def groups_of(release):
    """The ends of each label, what its rows show, and its size."""
    frame = release.frame(bounds=True)
    for (low, high), rows in frame.group_by("a_lower", "a_upper"):
        yield (low, high), rows["s"].to_list(), rows["G"][0]


@pytest.mark.parametrize("ages", [40, 3])
def test_beliefs_from_several_perturbed_releases_are_the_product_where_a_row_is_its_persons(ages):
    """Where several people share their quasi-identifiers each release's own posterior is enumerated, and the product is an estimate."""
    people = make_people(16, ages) if ages == 40 else make_people(9, 3)
    releases = [publish(people, "perturbed") for _ in range(2)]
    joined = RedrawnReleases.from_releases(releases, people)
    beliefs = joined.believe()
    manifest = releases[0].manifest
    values = manifest.own["values"]
    prior = [Fraction(str(share)) for share in manifest.own["distribution"]]
    prior = [share / sum(prior) for share in prior]
    matrix = [[Fraction(str(entry)) for entry in row] for row in manifest.own["matrix"]]
    alone = people["a"].is_unique().to_list()
    assert joined.exact.tolist() == alone
    assert any(alone) and not all(alone)
    for row, (age, _) in enumerate(people.iter_rows()):
        shown = [
            [values.index(value) for value in release.frame().filter(pl.col("a") == age)["s"].to_list()]
            for release in releases
        ]
        each = [posteriors([prior] * len(codes), matrix, codes)[0] for codes in shown]
        for number, posterior in enumerate(each):
            assert beliefs.greatest_alone[number, row] == pytest.approx(float(max(posterior)))
        joint = [prod(parts) / share for *parts, share in zip(*each, prior, strict=True)]
        assert beliefs.greatest[row] == pytest.approx(float(max(joint) / sum(joint)))
    assert (joined.bound_greatest(beliefs) >= beliefs.greatest).all()
    assert beliefs.odds <= float(joined.odds.odds) * (1 + 1e-9)


@pytest.mark.parametrize("kind", ["sampled", "perturbed"])
def test_the_attack_joins_releases_of_redrawn_values(kind):
    """Draws are fresh here, as bounds are of releases without a seed: only what holds for all draws is asserted."""
    people = make_people(300, 60)
    first, second = publish(people, kind), publish(people, kind)
    outcome = rt.attack(first, people, "composition", joined=[second]).to_dict()
    assert 1 <= outcome["odds"] <= outcome["odds_bound"] * (1 + 1e-9)
    assert outcome["odds_alone"] <= outcome["odds_bound"] * (1 + 1e-9)
    assert outcome["rule"] == "product of likelihood ratios"
    assert outcome["control"] is not None and outcome["releases"] == 2
    once = rt.attack(first, people, "composition", joined=[second, publish(people, kind)]).to_dict()
    assert once["odds_bound"] > outcome["odds_bound"]


@pytest.mark.parametrize("kind", ["sampled", "perturbed"])
def test_two_releases_may_tell_more_than_the_more_telling_one(kind):
    """Not in every draw: what a second release shows of a person may speak against the first.  These draws are fixed."""
    people = make_people(300, 60)
    first, second = (publish(people, kind, seed) for seed in (1, 2))
    outcome = rt.attack(first, people, "composition", joined=[second]).to_dict()
    assert outcome["worst_posterior"] > outcome["worst_alone"]
    assert outcome["odds"] > outcome["odds_alone"]
    assert outcome["odds_bound"] is None  # of releases with a seed nothing is bounded: whoever has it draws them again


def test_beliefs_are_right_as_often_as_they_say():
    """Values of the domain are equally likely beforehand: over the people of many tables the mean belief is the share of hits."""
    hits, believed = 0, 0.0
    for number in range(30):
        draw = np.random.default_rng(number)
        people = pl.DataFrame({"a": draw.integers(0, 40, 120), "s": draw.choice(DOMAIN, 120)})
        outcome = rt.attack(
            publish(people, "sampled"), people, "composition", joined=[publish(people, "sampled")]
        ).to_dict()
        hits += round(outcome["success"] * outcome["targets"])
        believed += outcome["believed"] * outcome["targets"]
    assert abs(hits - believed) < 5 * (believed * 0.6) ** 0.5


@pytest.mark.parametrize("kind", ["sampled", "perturbed"])
def test_releases_of_redrawn_values_are_not_joined_over_other_people(kind):
    people = make_people(300, 60)
    with pytest.raises(ReticentError, match="this source has other people"):
        rt.attack(publish(people, kind), people.head(290), "composition", joined=[publish(people, kind)])


def test_releases_of_both_kinds_are_not_joined():
    people = make_people(300, 60)
    with pytest.raises(ReticentError):
        rt.attack(publish(people, "sampled"), people, "composition", joined=[publish(people, "perturbed")])


def publish_column(people: pl.DataFrame, kind: str, column: str, **declared):
    """Publish with `column` as the sensitive one; other columns but `a` are left out."""
    sampled = kind == "sampled"
    job = rt.Job(
        columns={"a": rt.quasi(), column: rt.sensitive(**declared)},
        promises=[rt.RhoGuarantee("0.4", "0.7", "0.5")] if sampled else [rt.BetaLikeness(1)],
        method=rt.PerturbedGeneralization(k=2) if sampled else rt.BetaPerturbation(),
    )
    return rt.publish(job, frame=people.select("a", column))


@pytest.mark.parametrize("kind", ["sampled", "perturbed"])
def test_releases_of_other_columns_are_not_multiplied(kind):
    people = make_people(300, 60).with_columns(t=pl.col("s").reverse())
    declared = {"domain": DOMAIN} if kind == "sampled" else {}
    first, second = (publish_column(people, kind, column, **declared) for column in ("s", "t"))
    with pytest.raises(ReticentError, match="one column, the same in all of them"):
        rt.attack(first, people, "composition", joined=[second])


@pytest.mark.parametrize("kind", ["sampled", "perturbed"])
def test_releases_of_other_values_of_a_column_are_not_multiplied(kind):
    """Rounded in one of them: what a tuple shows there is no value of the other."""
    draw = np.random.default_rng(5)
    people = pl.DataFrame({"a": draw.integers(0, 60, 300), "wage": draw.integers(1, 4, 300)})
    declared, coarser = {"domain": [1, 3]}, {"domain": [1, 5]}
    if kind == "perturbed":
        declared, coarser = {}, {"top": 2}
    first = publish_column(people, kind, "wage", **declared)
    second = publish_column(people, kind, "wage", **coarser)
    with pytest.raises(ReticentError, match="redraw other values of 'wage'"):
        rt.attack(first, people, "composition", joined=[second])


def save_again(
    people: pl.DataFrame,
    folder,
    limit: str | None,
    seed: int | None = None,
    kind: str = "sampled",
    domain: list[str] = DOMAIN,
):
    promises = [rt.RhoGuarantee("0.4", "0.7", "0.5")] if kind == "sampled" else [rt.BetaLikeness(1)]
    method = rt.PerturbedGeneralization(k=2) if kind == "sampled" else rt.BetaPerturbation()
    sensitive = rt.sensitive(domain=domain) if kind == "sampled" else rt.sensitive()
    job = rt.Job(
        columns={"id": rt.identifying(), "a": rt.quasi(), "s": sensitive},
        promises=promises,
        method=method,
        release=rt.Output(together=limit),
    )
    return rt.publish(job, frame=people.with_row_index("id"), to=folder, again=True, seed=seed)


def test_together_limits_what_releases_of_redrawn_values_say_and_writes_nothing_beyond(tmp_path):
    people = make_people(300, 60)
    save_again(people, tmp_path / "first", None)
    second = save_again(people, tmp_path / "second", "0.999")
    joined = RedrawnReleases.from_releases([rt.open(tmp_path / "first"), second], people)
    assert joined.bound_greatest(joined.believe()).max() < 0.999
    with pytest.raises(PromiseUnreachable, match="something is believed of"):
        save_again(people, tmp_path / "third", "0.4")
    assert sorted(path.name for path in tmp_path.iterdir() if path.name in ("first", "second", "third")) == [
        "first",
        "second",
    ]


def test_together_is_refused_where_draws_may_be_the_same_or_kinds_differ(tmp_path):
    people = make_people(300, 60)
    save_again(people, tmp_path / "first", None, seed=1)
    with pytest.raises(PromiseUnreachable, match="may share their draws"):
        save_again(people, tmp_path / "second", "0.999", seed=1)
    with pytest.raises(PromiseUnreachable, match="others of their kind"):
        save_again(people, tmp_path / "second", "0.999", kind="perturbed")
    with pytest.raises(PromiseUnreachable, match="redraw other values of 's'"):
        save_again(people, tmp_path / "second", "0.999", domain=[*DOMAIN, "z"])
    assert not (tmp_path / "second").exists()
    assert Counter(path.name for path in tmp_path.iterdir())["first"] == 1
