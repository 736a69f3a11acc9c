"""A predicate and a prior of the adversary's own: posteriors are those that the oracle enumerates, and stay within the bounds."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent.attacks.stated_belief import confide, find_worst_prior
from reticent.cli.main import main
from reticent.errors import RequestError
from tests.oracle import corruption as oracle

DOMAIN = [10, 20, 30, 40]
RNG = np.random.default_rng(5)
TABLE = pl.DataFrame({"id": np.arange(60), "a": RNG.integers(0, 12, 60), "pay": RNG.choice(DOMAIN, 60)})
JOB = rt.Job(
    columns={"id": rt.identifying(), "a": rt.quasi(), "pay": rt.sensitive(domain=DOMAIN)},
    promises=[rt.RhoGuarantee("0.2", "0.5", "0.3")],
    method=rt.PerturbedGeneralization(k=4, draw="one"),
)
PRIOR = {"10": "0.4", "20": "0.3", "30": "0.2", "40": "0.1"}


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    return rt.open(rt.publish(JOB, frame=TABLE, seed=1).save(tmp_path_factory.mktemp("x") / "release"))


def attack(release, **options):
    if "prior" not in options:
        options = {"lambda_": "0.3", **options}
    return rt.attack(release, TABLE, "corruption", **options).to_dict()


def list_groups(release):
    """Each group by its labels: the value that it shows, and its people."""
    for row in release.frame(bounds=True).iter_rows(named=True):
        people = TABLE.filter(pl.col("a").is_between(row["a_lower"], row["a_upper"]))
        assert len(people) == row["G"]
        yield DOMAIN.index(row["pay"]), people


def enumerate_worst(release, prior_of, predicate) -> tuple[Fraction, Fraction]:
    """The greatest posterior of a predicate over all victims, everyone else corrupted, and the prior it began from."""
    p = Fraction(str(release.manifest.own["p"]))
    worst = (Fraction(-1), Fraction(0))
    for y, people in list_groups(release):
        values = [DOMAIN.index(value) for value in people["pay"]]
        for victim, person in enumerate(people["id"].to_list()):
            prior = prior_of(person)
            others = [value for place, value in enumerate(values) if place != victim]
            after = oracle.with_extraneous(p, len(DOMAIN), y, prior, others, [], len(values))
            reached = sum(after[x] for x in predicate)
            worst = max(worst, (reached, sum(prior[x] for x in predicate)))
    return worst


def make_prior(weights: dict[str, str]) -> list[Fraction]:
    return [Fraction(weights[str(value)]) for value in DOMAIN]


@pytest.mark.parametrize(
    ("predicate", "places"), [("pay >= 30", [2, 3]), ("pay IN (10, 40)", [0, 3]), ("NOT pay = 20", [0, 2, 3])]
)
def test_a_stated_prior_and_predicate_give_the_posterior_that_is_enumerated(release, predicate, places):
    table = pl.DataFrame({"value": list(PRIOR), "probability": [float(share) for share in PRIOR.values()]})
    found = attack(release, predicate=predicate, prior=table)
    posterior, before = enumerate_worst(release, lambda _: make_prior(PRIOR), places)
    assert found["predicate_posterior"] == found["worst_posterior"] == float(posterior)
    assert found["predicate_prior"] == float(before)
    assert found["predicate_values"] == len(places)
    assert found["worst_posterior"] <= found["bound"] <= found["bound_theorem2"]
    assert found["worst_growth"] <= found["growth_bound"]


@pytest.mark.parametrize("form", ["long", "wide"])
def test_each_person_may_have_a_prior_of_their_own(release, form, tmp_path):
    skewed = {"10": "0.1", "20": "0.1", "30": "0.1", "40": "0.7"}
    who = [3, 17, 40]
    if form == "long":
        rows = [{"id": person, "pay": int(value), "belief": float(p)} for person in who for value, p in skewed.items()]
    else:
        rows = [{"id": person, **{value: float(p) for value, p in skewed.items()}} for person in who]
    pl.DataFrame(rows).write_csv(tmp_path / "prior.csv")
    found = attack(release, predicate="pay = 40", prior=str(tmp_path / "prior.csv"))
    even = [Fraction(1, 4)] * 4
    posterior, before = enumerate_worst(release, lambda person: make_prior(skewed) if person in who else even, [3])
    assert (found["predicate_posterior"], found["predicate_prior"]) == (float(posterior), float(before))


def test_a_uniform_prior_is_the_even_one(release):
    found = attack(release, predicate="pay > 10", prior="uniform")
    posterior, before = enumerate_worst(release, lambda _: [Fraction(1, 4)] * 4, [1, 2, 3])
    assert (found["predicate_posterior"], found["predicate_prior"]) == (float(posterior), float(before))


def test_without_a_predicate_the_value_that_gains_most_is_asked_about(release):
    found = attack(release, prior="uniform")
    worst = max(enumerate_worst(release, lambda _: [Fraction(1, 4)] * 4, [x])[0] for x in range(4))
    assert found["worst_posterior"] == float(worst)
    assert found["predicate_values"] is None


def test_a_predicate_alone_is_believed_by_the_worst_prior_within_lambda_and_rho1(release):
    p = Fraction(str(release.manifest.own["p"]))
    found = attack(release, predicate="pay >= 30", lambda_="0.4", rho1="0.2")
    worst = Fraction(0)
    for y, people in list_groups(release):
        values = [DOMAIN.index(value) for value in people["pay"]]
        for victim in range(len(values)):
            others = [value for place, value in enumerate(values) if place != victim]
            for first in range(21):  # all priors on a grid of hundredths that believe in the predicate with rho1
                inside = [Fraction(first, 100), Fraction(20 - first, 100)]
                prior = [Fraction(2, 5), Fraction(2, 5), *inside]
                after = oracle.with_extraneous(p, 4, y, prior, others, [], len(values))
                worst = max(worst, after[2] + after[3])
    assert found["worst_posterior"] == float(worst)
    assert found["predicate_prior"] == 0.2
    assert found["worst_posterior"] <= attack(release, lambda_="0.4", rho1="0.2")["worst_posterior"]


def test_one_victim_is_asked_about_with_what_is_known_of_others(release):
    found = attack(release, victim="id=17", predicate="pay = 40", prior="uniform")
    assert found["targets"] == 1
    assert found["worst_posterior"] <= attack(release, predicate="pay = 40", prior="uniform")["worst_posterior"]


def test_several_tuples_of_a_group_are_weighed_together():
    table = pl.DataFrame({"id": np.arange(16), "a": np.repeat([1, 2], 8), "pay": RNG.choice(DOMAIN, 16)})
    method = rt.PerturbedGeneralization(k=4, draw="many")
    job = rt.Job(columns=JOB.columns, promises=JOB.promises, method=method)
    released = rt.publish(job, frame=table, seed=3)
    found = rt.attack(released, table, "corruption", predicate="pay >= 30", prior="uniform").to_dict()
    p = Fraction(str(released.manifest.own["p"]))
    even = [Fraction(1, 4)] * 4
    worst = Fraction(0)
    for key, rows in released.frame(bounds=True).partition_by("a_lower", "a_upper", as_dict=True).items():
        values = [DOMAIN.index(value) for value in table.filter(pl.col("a").is_between(*key))["pay"]]
        shown = tuple(DOMAIN.index(value) for value in rows["pay"])
        assert len(shown) > 1
        for victim in range(len(values)):
            others = [value for place, value in enumerate(values) if place != victim]
            likelihood = oracle.several_tuples(p, 4, shown, len(values), others, [])
            joint = [even[x] * likelihood[x] for x in range(4)]
            worst = max(worst, sum(joint[2:]) / sum(joint))
    assert found["predicate_posterior"] == pytest.approx(float(worst), rel=1e-9)
    assert found["worst_posterior"] <= found["bound"]


@pytest.mark.parametrize("seed", range(30))
def test_confidence_is_bayes_rule_over_any_lifts(seed):
    rng = np.random.default_rng(seed)
    weights = [Fraction(int(w), 7) for w in rng.integers(0, 9, 5)]
    weights[0] += 1
    prior = [w / sum(weights) for w in weights]
    lifts = {int(x): Fraction(int(rng.integers(1, 50)), 11) for x in rng.choice(5, 2, replace=False)}
    predicate = rng.random(5) < 0.5
    found = confide(prior, lifts, predicate)
    joint = [w * (1 + lifts.get(x, 0)) for x, w in enumerate(prior)]
    assert found.posterior == sum(joint[x] for x in np.flatnonzero(predicate)) / sum(joint)
    assert found.prior == sum(prior[x] for x in np.flatnonzero(predicate))


@pytest.mark.parametrize("seed", range(20))
def test_no_skewed_prior_on_a_grid_is_worse_than_the_worst(seed):
    rng = np.random.default_rng(seed)
    lifts = {
        int(x): Fraction(int(rng.integers(1, 50)), 11) for x in rng.choice(4, int(rng.integers(1, 4)), replace=False)
    }
    predicate = np.array([True, True, False, False])
    skew, rho1 = Fraction(4, 10), Fraction(3, 10)
    worst = find_worst_prior(4, lifts, predicate, skew, rho1)
    assert sum(worst) == 1 and max(worst) <= skew
    reached = confide(worst, lifts, predicate).posterior
    for first in range(4):
        for third in range(2, 5):
            prior = [Fraction(n, 10) for n in (first, 3 - first, third, 7 - third)]
            if max(prior) <= skew:
                assert confide(prior, lifts, predicate).posterior <= reached


def test_a_release_that_shows_values_makes_a_predicate_certain():
    columns = {"id": rt.identifying(), "a": rt.quasi(), "pay": rt.sensitive()}
    shown = rt.publish(rt.Job(columns=columns, promises=[rt.KAnonymity(4)]), frame=TABLE)
    table = pl.DataFrame({"value": list(PRIOR), "probability": [float(share) for share in PRIOR.values()]})
    found = attack(shown, predicate="pay = 40", prior=table)
    assert (found["predicate_prior"], found["predicate_posterior"], found["worst_growth"]) == (0.1, 1.0, 0.9)
    with pytest.raises(RequestError, match="for sampled releases"):
        attack(shown, predicate="pay = 40", prior=table.with_columns(id=3))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"predicate": "a > 3"}, "no column 'a'"),
        ({"predicate": "pay > 0"}, "Every value"),
        ({"predicate": "pay > 40"}, "No value"),
        ({"predicate": "pay >"}, "no SQL that is understood"),
        ({"predicate": ""}, "one condition"),
        ({"predicate": "pay = 10; pay = 20"}, "one condition"),
        ({"predicate": "SELECT 1"}, "not understood"),
        ({"predicate": "1 = 1"}, "says nothing"),
        ({"predicate": "pay = 10", "prior": "uniform", "rho1": "0.2"}, "lambda and rho1 are not taken"),
        ({"prior": pl.DataFrame({"value": [10], "probability": [1.5]})}, "no number from 0 to 1"),
        ({"prior": pl.DataFrame({"value": [10, 20], "probability": [0.7, 0.7]})}, "add up to 1.4"),
        ({"prior": pl.DataFrame({"value": DOMAIN, "probability": [0.1] * 4})}, "add up to 0.4"),
        ({"prior": pl.DataFrame({"value": [10, 10], "probability": [0.1, 0.2]})}, "twice"),
        ({"prior": pl.DataFrame({"value": [11], "probability": [0.1]})}, "not in the release's domain"),
        ({"prior": pl.DataFrame({"colour": ["red"]})}, "cannot be read"),
        (
            {
                "prior": pl.DataFrame(
                    {"value": [], "probability": []}, schema={"value": pl.Int64, "probability": pl.Float64}
                )
            },
            "no rows",
        ),
        ({"prior": pl.DataFrame({"id": [999], "value": [10], "probability": [0.5]})}, "not on the list"),
        ({"prior": pl.DataFrame({"shoe": [1], "value": [10], "probability": [0.5]})}, "'shoe'"),
        ({"prior": pl.DataFrame({"id": [1, 1], "10": [0.5, 0.5]})}, "two rows"),
        ({"prior": "nowhere.csv"}, "nowhere.csv"),
        ({"prior": pl.DataFrame({"id": [1], "10": [0.5]}), "corrupted": TABLE.head(5)}, "who the victim is"),
    ],
)
def test_what_is_no_predicate_and_no_prior_is_refused(release, options, message):
    with pytest.raises(rt.ReticentError) as raised:
        attack(release, **options)
    assert message in str(raised.value)


def test_the_command_takes_both(release, tmp_path, capsys):
    TABLE.write_csv(tmp_path / "people.csv")
    (tmp_path / "prior.csv").write_text("value,probability\n10,0.4\n20,0.3\n30,0.2\n40,0.1\n")
    words = ["attack", str(release.folder), "--source", str(tmp_path / "people.csv"), "--as", "corruption"]
    own = ["--predicate", "pay >= 30", "--prior", str(tmp_path / "prior.csv")]
    assert main([*words, *own, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["predicate_prior"] == 0.3 and found["predicate_posterior"] > 0.3
    assert main([*words, *own]) == 0
    assert "believed with 0.300000 beforehand" in capsys.readouterr().out
