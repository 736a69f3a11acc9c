"""Learners taught by a release: near the people themselves where a release says much, at the baseline where it says nothing."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent import catalogue
from reticent.engines import local
from reticent.utility import classification
from reticent.utility.classification import (
    MAX_CLASSES,
    OTHERS,
    Encoder,
    make_classes,
    make_examples_from_cells,
    make_examples_from_view,
)
from reticent.utility.loss import compute_row_loss

pytest.importorskip("sklearn", reason="needs the extra `stats`")
from reticent.compare.metrics import ComparisonSetting
from reticent.utility.classification import score_release

COLUMNS = {"age": rt.quasi(), "town": rt.quasi(), "ill": rt.sensitive()}
KINDS = {
    "generalized": ([rt.KAnonymity(5)], rt.Mondrian()),
    "anatomized": ([rt.ProbabilisticLDiversity(2)], rt.Anatomy()),
    "transformed": ([rt.PPrivacy("source")], rt.Distribution(group_by=["town"])),
    "perturbed": ([rt.BetaLikeness(2)], rt.BetaPerturbation()),
    "sampled": ([rt.DeltaGrowth("0.9", "0.6")], rt.PerturbedGeneralization(k=4, p="0.8")),
}


def people(rows: int = 1_500) -> pl.DataFrame:
    """Who is old is ill in another way, seven times in eight; so is who lives in town b."""
    rng = np.random.default_rng(3)
    age = rng.integers(20, 60, rows)
    town = rng.integers(0, 2, rows)
    ill = np.where(rng.random(rows) < 0.875, (age >= 40) * 2 + town, rng.integers(0, 4, rows))
    return pl.DataFrame({"age": age, "town": np.array(list("ab"))[town], "ill": [f"v{one}" for one in ill]})


@pytest.fixture(scope="module")
def setting() -> ComparisonSetting:
    return ComparisonSetting(people(), 1, 1, (), True, lambda stage: None, len(people()))


def job(kind: str) -> rt.Job:
    promises, method = KINDS[kind]
    return rt.Job(
        columns={**COLUMNS, "ill": rt.sensitive(order=[f"v{n}" for n in range(4)])}, promises=promises, method=method
    )


@pytest.mark.parametrize(("kind", "least"), [("generalized", 0.75), ("anatomized", 0.5), ("perturbed", 0.6)])
def test_learners_do_better_than_the_baseline_where_a_release_says_something(setting, kind, least):
    release = rt.publish(job(kind), frame=setting.training_rows(1), seed=1)
    exam = setting.exam(job(kind), 1)
    assert max(exam.score_ideal().values()) > 0.8 > 0.4 > exam.baseline
    assert max(score_release(release, exam).values()) > least


@pytest.mark.parametrize("kind", KINDS)
def test_redrawn_values_teach_the_reconstruction_tree_and_groups_the_others(setting, kind):
    """How well it does on many sampled rows: tests/utility/test_mining.py."""
    release = rt.publish(job(kind), frame=setting.training_rows(1), seed=1)
    found = score_release(release, setting.exam(job(kind), 1))
    redrawn = kind in ("perturbed", "sampled")
    assert set(found) == {name for name, row in catalogue.LEARNERS.items() if row.reconstructs == redrawn}
    assert all(0 <= told <= 1 for told in found.values())


def test_people_who_are_asked_about_are_in_no_release(setting):
    exam = setting.exam(job("generalized"), 1)
    assert exam.known.rows + exam.asked.rows == len(setting.frame)
    assert exam.asked.rows == len(exam.people) == 300
    assert len(setting.training_rows(1)) == exam.known.rows
    assert (
        pl.concat([setting.training_rows(1), exam.people.select(setting.frame.columns).cast(setting.frame.schema)])
        .sort(pl.all())
        .equals(setting.frame.sort(pl.all()))
    )


def test_an_example_of_a_box_is_the_mean_of_what_it_covers():
    frame = pl.DataFrame({"age": [20, 30, 40, 60] * 5, "town": list("abcc") * 5, "ill": list("xyxy") * 5})
    release = rt.publish(rt.Job(columns=COLUMNS, promises=[rt.KAnonymity(20)]), frame=frame)
    cells = local.count_rows(frame.lazy(), COLUMNS).cells
    encoder = Encoder(cells)
    classes = make_classes(cells.sensitive[0], cells.totals(0))
    (box,) = make_examples_from_view(release.sight(cells), encoder, classes).places
    assert box[0] == pytest.approx(np.mean([0, 0.25, 0.5, 1]))
    assert sorted(box[1:]) == pytest.approx([1 / 3] * 3)
    exact = make_examples_from_cells(cells, encoder, classes)
    assert exact.people.sum() == 20 and exact.places[:, 0].tolist() == [0, 0.25, 0.5, 1]


def test_many_values_become_few_classes():
    ages = pl.DataFrame({"q": [1] * 40, "s": list(range(40))})
    numbers = local.count_rows(ages.lazy(), {"q": rt.quasi(), "s": rt.sensitive()}).cells
    halves = make_classes(numbers.sensitive[0], numbers.totals(0))
    assert halves.names == ("below 20", "20 and above") and np.bincount(halves.of).tolist() == [20, 20]
    tree = [[f"leaf{n}", f"family{n % 3}", "*"] for n in range(12)]
    words = pl.DataFrame({"q": [1] * 12, "s": [f"leaf{n}" for n in range(12)]})
    families = local.count_rows(words.lazy(), {"q": rt.quasi(), "s": rt.sensitive(hierarchy=tree)}).cells
    found = make_classes(families.sensitive[0], families.totals(0))
    assert sorted(found.names) == ["family0", "family1", "family2"]
    missing = pl.DataFrame({"q": [1, 1, 1], "s": ["a", "b", None]})
    with_null = local.count_rows(missing.lazy(), {"q": rt.quasi(), "s": rt.sensitive(missing="category")}).cells
    assert make_classes(with_null.sensitive[0], with_null.totals(0)).names == ("a", "b", "missing")


@pytest.mark.parametrize("kind", KINDS)
def test_the_loss_of_a_row_is_by_hand(kind):
    frame = people(300)
    release = rt.publish(job(kind), frame=frame, seed=1)
    cells = local.count_rows(frame.lazy(), job(kind).columns).cells
    found = release.audited.to_dict()
    lost = compute_row_loss(release, found, cells)
    if kind == "generalized":
        assert lost == pytest.approx(sum(found["utility"]["ail_by_column"].values()) / 3)
    elif kind == "perturbed":
        assert lost == pytest.approx((1 - found["utility"]["retention"]) / 3)
    elif kind == "anatomized":
        held = release.tables["sensitive"]
        sizes = held.group_by("group").agg(pl.col("count").sum().alias("size"))
        own = held.join(sizes, on="group").select((pl.col("count") ** 2 / pl.col("size")).sum()).item() / 300
        assert lost == pytest.approx((1 - own) / 3)
    elif kind == "sampled":
        labels = found["utility"]["ail_by_column"]
        shown = len(release.frame()) / 300
        assert lost == pytest.approx(1 - shown * (1 - (sum(labels.values()) + 0.2) / 3))
    else:
        share = frame["ill"].value_counts(normalize=True)["proportion"]
        assert 0 < lost < 1 / 3 and share.sum() == pytest.approx(1)


def test_a_learner_is_taught_on_one_thread(setting, monkeypatch):
    """Several wait for each other most of the time, and what is learned would depend on how many there are."""
    from sklearn.naive_bayes import MultinomialNB
    from threadpoolctl import threadpool_info

    seen: list[int] = []
    fit = MultinomialNB.fit

    def watched(self, *given, **named):
        seen.extend(pool["num_threads"] for pool in threadpool_info())
        return fit(self, *given, **named)

    monkeypatch.setattr(MultinomialNB, "fit", watched)
    setting.exam(job("generalized"), 1).score_ideal()
    assert seen and set(seen) == {1}


def many_codes(rows: int = 600, codes: int = 300) -> pl.DataFrame:
    """People of whom half have one of ten frequent codes, and the others one of many."""
    rng = np.random.default_rng(4)
    code = np.where(rng.random(rows) < 0.5, rng.integers(0, 10, rows), rng.integers(0, codes, rows))
    code[:codes] = np.arange(codes)
    return pl.DataFrame({"age": 20 + rng.integers(0, 40, rows), "town": ["a"] * rows, "ill": [f"c{n}" for n in code]})


def test_beyond_so_many_classes_the_least_frequent_share_one():
    cells = local.count_rows(many_codes().lazy(), COLUMNS).cells
    classes = make_classes(cells.sensitive[0], cells.totals(0))
    assert len(classes.names) == MAX_CLASSES and classes.names.count(OTHERS) == 1
    rows = classes.sum_by_class(cells.totals(0).astype(float))
    alone = np.delete(rows, classes.names.index(OTHERS))
    joined = cells.totals(0)[classes.of == classes.names.index(OTHERS)]
    assert rows.sum() == 600 and alone.min() >= joined.max()


def test_of_more_lines_than_a_learner_has_time_for_some_are_drawn():
    """Everybody with the shares of all codes: a line for each person and class."""
    cells = local.count_rows(many_codes().lazy(), COLUMNS).cells
    classes = make_classes(cells.sensitive[0], cells.totals(0))
    encoder = Encoder(cells)
    examples = make_examples_from_cells(cells, encoder, classes)
    lines, held, weight = examples.expand(examples.places, 50, np.random.default_rng(1))
    assert len(lines) == len(held) == len(weight) == 50
    assert (weight > 0).all()
    everything, _, people_taught = examples.expand(examples.places, 10**9, np.random.default_rng(1))
    assert people_taught.sum() == 600 and len(everything) > 50
    max_work = 50 * examples.places.shape[1] * len(classes.names)
    assert len(classification.decision_tree(examples, examples, max_work)) == len(examples.people)


def test_learners_say_nothing_of_their_own(recwarn):
    cells = local.count_rows(many_codes(320).lazy(), COLUMNS).cells
    classes = make_classes(cells.sensitive[0], cells.totals(0))
    encoder = Encoder(cells)
    examples = make_examples_from_cells(cells, encoder, classes)
    for learner in (
        classification.naive_bayes,
        classification.logistic_regression,
        classification.decision_tree,
        classification.random_forest,
    ):
        learner(examples, examples)
    assert not recwarn.list
