"""The corruption attack: on releases, from lists of people, and by Monte Carlo over the whole of publish and attack."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent.attacks.corruption import LinkingSituation, _read_manifest_counts, are_unmasked
from reticent.cli.main import main
from reticent.errors import RequestError
from tests.oracle.corruption import several_tuples

RNG = np.random.default_rng(5)
TABLE = pl.DataFrame({"id": np.arange(120), "a": RNG.integers(0, 30, 120), "s": RNG.choice(list("wxyz"), 120)})
JOB = rt.Job(
    columns={"id": rt.identifying(), "a": rt.quasi(), "s": rt.sensitive(domain=list("wxyz"))},
    promises=[rt.RhoGuarantee("0.2", "0.5", "0.3")],
    method=rt.PerturbedGeneralization(k=4),
)


@pytest.fixture(scope="module", params=["one", "many"])
def release(tmp_path_factory, request):
    job = JOB.at(method=rt.PerturbedGeneralization(k=4, draw=request.param))
    return rt.open(rt.publish(job, frame=TABLE, seed=1).save(tmp_path_factory.mktemp("x") / "release", again=True))


def attack(release, **how):
    return rt.attack(release, TABLE, "corruption", lambda_="0.3", **how).to_dict()


def test_the_worst_attack_stays_within_what_is_promised(release):
    found = attack(release)
    assert found["targets"] == 120
    assert found["worst_posterior"] <= found["promised"] == 0.5
    assert found["worst_posterior"] <= found["bound"] <= found["bound_theorem2"]
    assert found["worst_growth"] <= found["growth_bound"] <= found["growth_bound_theorem3"]
    assert 0 < found["h"] < 1
    assert {"attack", "targets", "success", "low", "high", "baseline", "worst_posterior", "promised"} <= set(found)


def test_the_search_is_the_exact_posterior_of_its_worst_victim(release):
    """Everyone else corrupted: the driver's figure is the maximum of Bayes' rule over all victims, outcomes enumerated."""
    found = attack(release)
    frame = release.frame(bounds=True)
    p = Fraction(str(release.manifest.own["p"]))
    domain = release.manifest.own["domain"]
    worst = Fraction(0)
    for (low, high), rows in frame.group_by("a_lower", "a_upper"):
        held = TABLE.filter(pl.col("a").is_between(low, high))["s"].to_list()
        assert rows["G"].unique().to_list() == [len(held)]
        shown = tuple(domain.index(value) for value in rows["s"])
        for victim in range(len(held)):
            others = tuple(domain.index(v) for i, v in enumerate(held) if i != victim)
            likelihood = several_tuples(p, len(domain), shown, len(held), others, ())
            greatest = max(likelihood)
            assert greatest / min(likelihood) <= 1 + Fraction(len(shown), len(held)) * p / ((1 - p) / len(domain))
            w = Fraction(1, 5)  # of the likeliest value; the rest is believed of the least likely
            worst = max(worst, w * greatest / (w * greatest + (1 - w) * min(likelihood)))
    assert found["worst_posterior"] == pytest.approx(float(worst), abs=1e-12)


def test_who_knows_less_learns_less(release):
    everyone = attack(release)
    none = attack(release, external=TABLE.drop("s"))
    some = attack(release, corrupted=TABLE.head(60))
    assert some["worst_posterior"] <= everyone["bound"]
    assert none["worst_posterior"] <= everyone["worst_posterior"]
    extraneous = pl.DataFrame({"id": np.arange(200, 260), "a": np.arange(60) % 30})
    longer = pl.concat([TABLE.drop("s"), extraneous])
    assert attack(release, external=longer)["worst_posterior"] <= everyone["bound"]


def test_one_victim_is_attacked_alone(release):
    found = attack(release, victim="id=17")
    assert found["targets"] == 1
    assert found["worst_posterior"] <= attack(release)["worst_posterior"]


def test_a_victim_whose_value_was_learned_is_not_attacked(release):
    with pytest.raises(RequestError, match="among the corrupted"):
        attack(release, corrupted=TABLE.head(60), victim="id=17")
    assert attack(release, corrupted=TABLE.head(60), victim="id=77")["targets"] == 1
    extraneous = TABLE.head(3).with_columns(s=pl.lit(None, dtype=pl.String))
    with pytest.raises(RequestError, match="among the corrupted"):
        attack(release, external=TABLE.drop("s"), corrupted=extraneous, victim="id=1")


def test_a_lambda_that_is_left_out_is_one_that_a_prior_over_few_values_can_have(release):
    left_out = rt.attack(release, TABLE, "corruption").to_dict()
    assert left_out == rt.attack(release, TABLE, "corruption", lambda_="0.25").to_dict()
    with pytest.raises(RequestError, match="no prior over the domain is as even") as refused:
        rt.attack(release, TABLE, "corruption", lambda_="0.1")
    assert refused.value.attempt == "--lambda 0.25 or more, or leaving it out."


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({"external": TABLE.head(50)}, "does not cover the release"),
        ({"external": TABLE.drop("a")}, "lacks 1 column"),
        ({"corrupted": TABLE.with_columns(id=pl.col("id") + 500).head(3)}, "not on the external list"),
        ({"corrupted": TABLE.drop("s")}, "lacks 1 column"),
        ({"victim": "id=999"}, "0 people"),
        ({"victim": "name=Bob"}, "named by columns"),
        ({"corrupted": TABLE.with_columns(s=pl.lit(None, dtype=pl.String))}, "Nobody is left|contradicts"),
        ({"rho1": "1.5"}, "below 1"),
    ],
)
def test_lists_that_do_not_fit_are_refused(release, how, says):
    with pytest.raises(RequestError, match=says):
        attack(release, **how)


def test_no_protection_is_possible_against_who_knows_already(release):
    with pytest.raises(rt.ReticentError, match="no protection is possible"):
        rt.attack(release, TABLE, "corruption", lambda_=1)


@pytest.mark.parametrize("method", [rt.Mondrian(), rt.Anatomy()])
def test_releases_that_show_values_fall_to_corruption(method):
    """Lemma 2, and lemma 1 beside it."""
    promise = rt.ProbabilisticLDiversity(2)
    columns = {"id": rt.identifying(), "a": rt.quasi(), "s": rt.sensitive()}
    shown = rt.publish(rt.Job(columns=columns, promises=[promise], method=method), frame=TABLE, seed=1)
    found = rt.attack(shown, TABLE, "corruption").to_dict()
    assert (found["success"], found["worst_posterior"]) == (1.0, 1.0)
    assert found["predicate_prior"] <= 1 == found["predicate_posterior"]


def test_a_random_sample_of_a_generalized_table_falls_too():
    """End of section III: whoever has a value that the sample shows as often as people of the group have it."""
    rng = np.random.default_rng(2)
    true = rng.integers(0, 3, (200, 4))
    sampled = rng.binomial(true, 0.5)
    surely = are_unmasked(sampled, true)
    assert 0.1 < (true * surely).sum() / true.sum() < 0.9
    assert not are_unmasked(np.zeros_like(true), true)[true > 1].any()


def test_the_distribution_of_a_perturbed_release_tells_who_knows_everybody_else_the_last_value():
    """Its promise is about who knows the overall distribution; whoever subtracts everybody else from it has the victim's value."""
    columns = {"id": rt.identifying(), "a": rt.quasi(), "s": rt.sensitive()}
    shown = rt.publish(
        rt.Job(columns=columns, promises=[rt.BetaLikeness(2)], method=rt.BetaPerturbation()), frame=TABLE, seed=1
    )
    found = rt.attack(shown, TABLE, "corruption").to_dict()
    assert (found["success"], found["worst_posterior"], found["promised"]) == (1.0, 1.0, None)
    listed = shown.manifest.own["values"]
    assert _read_manifest_counts(shown.manifest) == {value: TABLE["s"].eq(value).sum() for value in listed}


def test_monte_carlo_over_publish_and_attack_agrees_with_the_exact_posterior():
    """A victim with a prior, published again and again: of the releases that show y, as many have the victim at y as the attack says.

    The attack is told what the adversary believes beforehand of the value that is shown (rho1), and nothing of the victim.
    """
    others = ["y", "z", "y", "z"]
    prior = {"y": "0.7", "z": "0.3"}
    job = rt.Job(
        columns={"id": rt.identifying(), "a": rt.quasi(), "s": rt.sensitive()},
        promises=[rt.DeltaGrowth("0.9", "0.8")],
        method=rt.PerturbedGeneralization(k=5, p="0.5", domain=["y", "z"]),
    )
    rng = np.random.default_rng(11)
    hits = {"y": [], "z": []}
    said = {"y": set(), "z": set()}
    for run in range(300):
        value = "y" if rng.random() < float(prior["y"]) else "z"
        table = pl.DataFrame({"id": range(5), "a": [1, 2, 3, 4, 5], "s": [value, *others]})
        release = rt.publish(job, frame=table, seed=run)
        shown = release.frame()["s"][0]
        found = rt.attack(release, table, "corruption", victim="id=0", lambda_="0.8", rho1=prior[shown])
        hits[shown].append(value == shown)
        said[shown].add(found.worst_posterior)
    for at, shown in enumerate("yz"):
        assert len(said[shown]) == 1  # what the victim has makes no difference to what the adversary computes
        posterior = said[shown].pop()
        n = len(hits[shown])
        exact = LinkingSituation(Fraction(1, 2), 2, at, 5, (0, 1, 0, 1)).posterior([Fraction(7, 10), Fraction(3, 10)])[
            at
        ]
        assert posterior == pytest.approx(float(exact), abs=1e-12)
        assert abs(np.mean(hits[shown]) - posterior) < 4 * np.sqrt(posterior * (1 - posterior) / n)


def test_the_command_answers_every_key(release, tmp_path, capsys):
    TABLE.write_csv(tmp_path / "table.csv")
    TABLE.drop("s").write_csv(tmp_path / "list.csv")
    TABLE.head(20).write_csv(tmp_path / "known.csv")
    given = [
        "attack",
        str(release.folder),
        "--source",
        str(tmp_path / "table.csv"),
        "--as",
        "corruption",
        "--lambda",
        "0.3",
        "--json",
    ]
    lists = [
        "--external",
        str(tmp_path / "list.csv"),
        "--corrupted",
        str(tmp_path / "known.csv"),
        "--victim",
        "id=100",
        "--rho1",
        "0.2",
    ]
    for more in ([], lists):
        assert main([*given, *more]) == 0
        found = json.loads(capsys.readouterr().out)
        assert {"worst_growth", "bound", "bound_theorem2", "h", "worst_posterior", "promised", "baseline"} <= set(found)
    assert main([*given[:5], "skewness", "--lambda", "0.3"]) == 1
    assert main(given[:-1]) == 0
    assert "theorem 2" in capsys.readouterr().out


@pytest.mark.parametrize("kind", ["generalized", "anatomized", "transformed", "perturbed"])
def test_lists_of_people_are_refused_where_everyone_else_is_taken_to_be_corrupted(kind, tmp_path):
    from tests.support import repeated_releases
    from tests.support.query_methods import publish_by

    release = publish_by(kind, tmp_path / "release")
    people = repeated_releases.people(200)
    for options in ({"external": people}, {"corrupted": people.head(3)}, {"victim": "age=30"}):
        with pytest.raises(RequestError, match="sampled releases; of any other everyone but the victim"):
            rt.attack(release, people, "corruption", **options)
