"""Decision trees from perturbed releases: better than guessing, near what exact rows give, and at home in scikit-learn."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent import datasets

sklearn = pytest.importorskip("sklearn", reason="needs the extra `stats`")
from reticent.utility.mining import ReconstructingTree, optimistic, pessimistic  # noqa: E402
from reticent.utility.mining.tree import PerturbedClasses, encode_people  # noqa: E402

CLASSES = {"low": range(15), "high": range(15, 50)}
NAMES = ["age", "gender", "education", "work_class", "salary_class"]


@pytest.fixture(scope="module")
def people():
    found = datasets.load("sal", rows=24_000, seed=3).select(NAMES)
    return found.head(20_000), found.tail(4_000)


@pytest.fixture(scope="module")
def release(people):
    order = [str(i) for i in range(50)]
    job = rt.Job(
        columns={**{name: rt.quasi() for name in NAMES[:-1]}, "salary_class": rt.sensitive(order=order)},
        promises=[rt.DeltaGrowth("0.99", "0.1")],
        method=rt.PerturbedGeneralization(k=4, p="0.6"),
    )
    return rt.publish(job, frame=people[0], seed=1)


def error(tree, test) -> float:
    return 1 - tree.score(test, test["salary_class"])


def test_a_tree_from_the_release_goes_most_of_the_way_from_guessing_to_exact_rows(people, release):
    train, test = people
    frame = release.frame()
    tree = ReconstructingTree(release.manifest, CLASSES).fit(frame, frame["salary_class"])
    known, truth = ((one["salary_class"].to_numpy() >= 15).astype(int) for one in people)
    best, encoding = optimistic(train.drop("salary_class"), known, 4)
    noise, other = pessimistic(train.drop("salary_class"), known, {i: int(i >= 15) for i in range(50)}, 4)
    ideal = np.mean(best.predict(encode_people(test.drop("salary_class"), encoding)) != truth)
    useless = np.mean(noise.predict(encode_people(test.drop("salary_class"), other)) != truth)
    guess = min(truth.mean(), 1 - truth.mean())
    assert error(tree, test) <= guess - 0.5 * (guess - ideal)
    assert useless > guess - 0.1


def test_expectation_maximisation_scores_splits_too(people, release):
    frame = release.frame()
    tree = ReconstructingTree(release.manifest, CLASSES, by="em", columns=["age", "education"], max_depth=3)
    shares = tree.fit(frame, frame["salary_class"]).predict_proba(people[1])
    assert shares.min() >= 0
    assert np.allclose(shares.sum(axis=1), 1)
    assert error(tree, people[1]) < 0.45


def test_reconstruction_inverts_what_perturbation_does(release):
    classes = PerturbedClasses.from_categories(release.manifest, CLASSES)
    assert np.allclose(classes.matrix @ classes.contribution, classes.indicator)
    counts = np.linspace(10, 500, 50)
    assert np.allclose((counts @ classes.matrix) @ classes.contribution, counts @ classes.indicator)
    fitted = classes.maximize_likelihood((counts @ classes.matrix)[None])[0]
    assert np.allclose(fitted, counts @ classes.indicator, rtol=0.05)


def test_scikit_learn_selects_models_with_it(release):
    from sklearn.base import clone
    from sklearn.model_selection import GridSearchCV, cross_val_score

    frame = release.frame()
    tree = ReconstructingTree(release.manifest, CLASSES, columns=["age", "education"], max_depth=2)
    assert clone(tree).get_params()["max_depth"] == 2
    X = frame.drop("salary_class")
    y = frame["salary_class"].to_numpy()
    assert len(cross_val_score(tree, X, y, cv=3, error_score="raise")) == 3
    found = GridSearchCV(tree, {"max_depth": [1, 3]}, cv=2, error_score="raise").fit(X, y)
    assert found.best_params_["max_depth"] in (1, 3)
    assert set(found.predict(X)) <= {"low", "high"}


def test_it_learns_from_perturbed_releases_of_beta_perturbation(people):
    train, test = people
    job = rt.Job(
        columns={**{name: rt.quasi() for name in NAMES[:-1]}, "salary_class": rt.sensitive()},
        promises=[rt.BetaLikeness(20)],
        method=rt.BetaPerturbation(),
    )
    release = rt.publish(job, frame=train, seed=1)
    frame = release.frame()
    tree = ReconstructingTree(release.manifest, CLASSES, max_depth=4).fit(frame, frame["salary_class"])
    assert error(tree, test) < 0.42


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({"categories": {"low": range(5)}}, "leave out 45"),
        ({"categories": CLASSES, "columns": ["height"]}, "no quasi-identifier"),
        ({"categories": CLASSES, "by": "guess"}, "not known"),
    ],
)
def test_what_cannot_be_mined_is_refused(release, how, says):
    frame = release.frame()
    with pytest.raises(rt.RequestError, match=says):
        ReconstructingTree(release.manifest, **how).fit(frame, frame["salary_class"])


def test_a_release_with_values_as_they_were_needs_no_reconstruction(people):
    job = rt.Job(
        columns={**{name: rt.quasi() for name in NAMES[:-1]}, "salary_class": rt.sensitive()},
        promises=[rt.KAnonymity(5)],
    )
    release = rt.publish(job, frame=people[0].head(500), seed=1)
    with pytest.raises(rt.RequestError, match="nothing to reconstruct"):
        PerturbedClasses.from_categories(release.manifest, CLASSES)


def test_counts_weigh_by_g_and_bounds_are_exact_for_quasi_identifiers(people, release):
    train = people[0]
    frame = release.frame(bounds=True)
    chosen = pl.col("age_upper") <= 40
    exact = release.count(chosen)
    groups = frame.unique(NAMES[:-1])
    assert exact.estimate == exact.lower == exact.upper == groups.filter(chosen)["G"].sum()
    assert release.count().estimate == len(train)
    values = list(range(15))
    found = release.count(values=values)
    truth = train["salary_class"].is_in(values).sum()
    assert abs(found.estimate - truth) < 5 * found.std_error
    assert abs(release.count(values=values, by="em").estimate - truth) < 5 * found.std_error
    with pytest.raises(rt.RequestError, match="was perturbed"):
        release.count(pl.col("salary_class") == 3)


def test_standard_errors_hold_over_many_releases_and_sums_are_unbiased():
    from reticent.estimate.question import Question
    from reticent.release.kind import reader_for

    rng = np.random.default_rng(4)
    table = pl.DataFrame({"a": rng.integers(0, 40, 400), "s": rng.integers(0, 5, 400)})
    job = rt.Job(
        columns={"a": rt.quasi(), "s": rt.sensitive(order=list("01234"))},
        promises=[rt.DeltaGrowth("0.9", "0.6")],
        method=rt.PerturbedGeneralization(k=4, p="0.5"),
    )
    releases = [rt.publish(job, frame=table, seed=run) for run in range(40)]
    found = [release.count(values=[1, 2]) for release in releases]
    truth = table["s"].is_in([1, 2]).sum()
    inside = np.mean([abs(one.estimate - truth) <= 2 * one.std_error for one in found])
    assert inside >= 0.85
    read = reader_for("sampled")
    sums = [read.estimate(r.tables, r.manifest, Question(aggregate="sum")) for r in releases]
    assert abs(np.mean([one.estimate for one in sums]) - table["s"].sum()) < 5 * np.mean(
        [one.std_error for one in sums]
    ) / np.sqrt(40)
    mean = read.estimate(releases[0].tables, releases[0].manifest, Question(aggregate="avg"))
    assert abs(mean.estimate - table["s"].mean()) < 5 * mean.std_error
