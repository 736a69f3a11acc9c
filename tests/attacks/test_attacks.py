import json
from math import comb

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent.attacks import ATTACKS, attack
from reticent.attacks.definetti import assign_values
from reticent.attacks.group_reading import compute_group_beliefs, make_families
from reticent.attacks.naive_bayes import compute_beliefs, estimate_conditionals
from reticent.attacks.scoring import TrueValues, compute_wilson_interval, score_guesses
from reticent.attacks.target import make_target, observe
from reticent.cli.main import main
from reticent.engines import local
from reticent.errors import RequestError
from reticent.format.manifest import ColumnEntry
from reticent.labels.adversary_view import build_boxes
from reticent.methods.beta_perturbation import BetaPerturbation
from reticent.methods.burel import Burel
from reticent.models.beta_likeness import BetaLikeness
from tests.support.attack_tables import COLUMNS, people, published
from tests.support.contract_examples import ATTACKED_WITH

REDRAWN = ("matrix", "matrix-learned")  # they are against perturbed releases


def redrawn(frame: pl.DataFrame) -> rt.Release:
    job = rt.Job(columns=COLUMNS, promises=[BetaLikeness(2)], method=rt.BetaPerturbation())
    return rt.publish(job, frame=frame, seed=1)


def exact_release(frame: pl.DataFrame):
    """What an adversary sees of a release that generalizes nothing."""
    entries = [
        ColumnEntry(name="age", role="quasi-identifying", type="numeric"),
        ColumnEntry(name="town", role="quasi-identifying", type="categorical"),
    ]
    cells = local.count_rows(frame.lazy(), COLUMNS).cells
    return make_target(cells, build_boxes(entries, frame.cast({"age": pl.String}), cells))


@pytest.mark.parametrize("name", [name for name, row in ATTACKS.items() if row.needs_source])
def test_every_attack_reports_success_beside_its_baseline(name: str):
    frame = people()
    made = redrawn(frame) if name in REDRAWN else published(frame)
    found = attack(made, frame, name, **ATTACKED_WITH.get(name, {}))
    table = found.to_dict()
    assert list(table)[:8] == ["attack", "targets", "success", "low", "high", "baseline", "worst_posterior", "promised"]
    assert table["attack"] == name
    assert "promise_speaks_of_it" not in table, "the catalogue alone decides that"
    assert table["targets"] == 600 or (
        name in ("singling-out", "downcoding") and table["targets"] > 0
    )  # their targets are ends of ranges, and hidden values
    assert 0 <= table["low"] <= table["success"] <= table["high"] <= 1
    assert 0 < table["worst_posterior"] <= 1
    if name != "corruption":  # a bound on beliefs, not a guess
        assert table["control_low"] <= table["control"] <= table["control_high"]
    assert len(found.guess) == len(found.posterior)


@pytest.mark.parametrize("name", ["naive-bayes", "definetti", "skewness"])
def test_beliefs_are_distributions(name: str):
    frame = people(200)
    view = observe(published(frame), frame)
    belief = compute_beliefs(view) if name == "naive-bayes" else compute_group_beliefs(view)
    assert belief.sum(axis=1) == pytest.approx(1)


def test_beta_bounds_what_the_groups_alone_say():
    frame = people()
    outcome = attack(published(frame, "0.5"), frame, "skewness")
    assert outcome.worst_posterior <= outcome.promised + 1e-9


def test_equation_17_is_normalised():
    frame = people()
    view = observe(published(frame), frame)
    for axis, domain in enumerate(view.quasi):
        assert estimate_conditionals(view, axis, domain.size).sum(axis=0) == pytest.approx(1)


def test_naive_bayes_on_exact_data_is_the_textbook_classifier():
    frame = people(300)
    view = exact_release(frame)
    values = list(view.sensitive.texts)
    for point, belief in zip(view.points[:20], compute_beliefs(view)[:20], strict=True):
        age = int(view.quasi[0].texts[point[0]])
        town = view.quasi[1].texts[point[1]]
        by_hand = []
        for value in values:
            those = frame.filter(pl.col("illness") == value)
            by_hand.append(len(those) / 300 * those["age"].eq(age).mean() * those["town"].eq(town).mean())
        assert belief == pytest.approx(np.array(by_hand) / sum(by_hand))


def anatomized(frame: pl.DataFrame, l: int) -> rt.Release:  # noqa: E741 - the field's own letter
    from reticent.methods.anatomy import Anatomy

    return rt.publish(
        rt.Job(columns=COLUMNS, promises=[rt.ProbabilisticLDiversity(l)], method=Anatomy()), frame=frame, seed=1
    )


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, row in ATTACKS.items()
        if row.needs_source and name not in ("singling-out", "linkability", "downcoding", "overlap", *REDRAWN)
    ],
)
def test_every_attack_on_values_runs_on_an_anatomized_release(name: str):
    frame = people(600, tied=0.5)
    outcome = attack(anatomized(frame, 2), frame, name, **ATTACKED_WITH.get(name, {}))
    assert outcome.targets == 600
    assert 0 <= outcome.low <= outcome.success <= outcome.high <= 1


def test_anatomys_groups_alone_say_no_more_than_one_in_l():
    frame = people(600, tied=0.5)
    outcome = attack(anatomized(frame, 2), frame, "skewness")
    assert outcome.worst_posterior <= outcome.promised == 0.5


def test_definetti_says_more_of_anatomy_than_its_groups_do():
    frame = people(2000, tied=0.6)
    release = anatomized(frame, 2)
    groups = compute_group_beliefs(observe(release, frame))
    blunt = score_guesses("groups", groups, observe(release, frame).truth, None)
    assert attack(release, frame, "definetti").success > blunt.success


def test_definetti_learns_who_is_who_in_pairs():
    """Anatomy with l = 2: each pair holds a young and an old person and both values.  A fair coin would hit half."""
    rng = np.random.default_rng(1)
    pairs = 200
    old = np.tile([0, 1], pairs)
    points = np.column_stack([old, rng.integers(0, 5, 2 * pairs)])
    truth = np.where(rng.random(2 * pairs) < 0.9, old, 1 - old)
    group = np.repeat(np.arange(pairs), 2)
    # a few pairs of one age teach the classifier; the rest are only resolved by it
    points[:40, 0] = np.repeat([0, 1], 20)
    truth[:40] = points[:40, 0]
    counts = np.zeros((pairs, 2), int)
    np.add.at(counts, (group, truth), 1)
    belief = assign_values(points, [2, 5], counts, np.arange(2 * pairs), group, np.ones(2 * pairs))
    assert (belief.argmax(axis=1) == truth).mean() > 0.85


def test_definetti_keeps_each_groups_histogram():
    counts = np.array([[2, 1, 0], [0, 1, 2]])
    group = np.repeat([0, 1], 3)
    points = np.array([[0], [1], [2], [0], [1], [2]])
    belief = assign_values(points, [3], counts, np.arange(6), group, np.ones(6), rounds=60)
    held = np.array([belief[:3].sum(axis=0), belief[3:].sum(axis=0)])
    assert held == pytest.approx(counts, abs=0.2)


def test_families_are_nodes_or_windows():
    tree = local.count_rows(people().lazy(), COLUMNS).cells.sensitive[0]
    assert make_families(tree, 1, None).tolist() == [[1, 0], [1, 0], [0, 1], [0, 1]]
    assert make_families(tree, 1, 3).tolist() == [[1, 0], [1, 1], [1, 1], [0, 1]]


def test_similarity_guesses_a_family():
    frame = people()
    outcome = attack(published(frame), frame, "similarity")
    lungs = frame["illness"].is_in(["flu", "cold"]).mean()
    assert outcome.baseline == pytest.approx(max(lungs, 1 - lungs))
    assert outcome.success >= outcome.baseline - 0.05


def test_similarity_needs_families():
    frame = people()
    columns = {**COLUMNS, "illness": rt.sensitive()}
    release = rt.publish(rt.Job(columns=columns, promises=[BetaLikeness(2)], method=Burel()), frame=frame, seed=1)
    with pytest.raises(RequestError, match="no families"):
        attack(release, frame, "similarity")


@pytest.mark.parametrize(("hits", "targets"), [(0, 10), (3, 10), (10, 10), (480, 1000)])
def test_the_wilson_interval_holds_its_two_ends(hits: int, targets: int):
    """Its ends are the shares from which the observed one is 1.96 standard errors away."""
    low, high = compute_wilson_interval(hits, targets)
    share = hits / targets
    for end in (low, high):
        if 0 < end < 1:
            assert abs(share - end) == pytest.approx(1.959963985 * np.sqrt(end * (1 - end) / targets))
    assert low <= share <= high


def test_the_wilson_interval_covers_about_95_percent():
    covered = 0.0
    for hits in range(41):
        low, high = compute_wilson_interval(hits, 40)
        covered += comb(40, hits) * 0.3**hits * 0.7 ** (40 - hits) * (low <= 0.3 <= high)
    assert 0.93 < covered < 0.98


def test_the_scorer_counts_people_not_points():
    truth = np.array([[8, 2], [0, 10]])
    outcome = score_guesses("any", np.array([[0.6, 0.4], [0.9, 0.1]]), truth, None)
    assert outcome.success == 8 / 20
    assert outcome.baseline == 12 / 20
    assert outcome.worst_posterior == 0.9


def test_an_attack_does_not_read_the_truth():
    frame = people()
    view = observe(published(frame), frame)
    from dataclasses import replace

    from reticent import catalogue

    blind = replace(view, truth=TrueValues.of_table(np.ones_like(view.truth.to_dense())))
    for name in ("naive-bayes", "definetti", "skewness", "similarity"):
        run = catalogue.load_object(catalogue.ATTACKS[name].function)
        assert np.array_equal(run(view).guess, run(blind).guess)


def test_an_unknown_attack_and_another_kind_are_refused():
    frame = people()
    with pytest.raises(RequestError, match="no attack"):
        attack(published(frame), frame, "brute")
    perturbed = rt.publish(
        rt.Job(columns=COLUMNS, promises=[BetaLikeness(1)], method=BetaPerturbation()), frame=frame, seed=1
    )
    with pytest.raises(RequestError, match="perturbed"):
        attack(perturbed, frame, "skewness")
    with pytest.raises(RequestError, match="lacks 1 column"):
        attack(published(frame), frame.drop("town"), "skewness")


def test_the_command_prints_json(tmp_path, capsys):
    frame = people()
    frame.write_csv(tmp_path / "people.csv")
    published(frame).save(tmp_path / "r")
    assert (
        main(["attack", str(tmp_path / "r"), "--source", str(tmp_path / "people.csv"), "--as", "naive-bayes", "--json"])
        == 0
    )
    assert json.loads(capsys.readouterr().out)["attack"] == "naive-bayes"
    assert main(["attack", str(tmp_path / "r"), "--source", str(tmp_path / "people.csv")]) == 0
    assert "definetti" in capsys.readouterr().out
    assert main(["attack", str(tmp_path / "none"), "--source", str(tmp_path / "people.csv")]) == 1
