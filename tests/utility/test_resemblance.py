"""Marginals and association: known by hand, exact where a release is, and the same formula for every kind."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent.engines import local
from reticent.utility.query_error import find_averaged_axis, measure_average_errors, measure_count_errors
from reticent.utility.resemblance import compute_cramers_v, measure_resemblance
from reticent.utility.workload import answer_from_view, make_answerer
from tests.support import repeated_releases

KINDS = {
    "generalized": ([rt.KAnonymity(5)], rt.Mondrian()),
    "anatomized": ([rt.ProbabilisticLDiversity(2)], rt.Anatomy()),
    "transformed": ([rt.PPrivacy("source")], rt.Distribution(group_by=["town"])),
    "perturbed": ([rt.BetaLikeness(2)], rt.BetaPerturbation()),
    "sampled": (
        [rt.DeltaGrowth("0.9", "0.6")],
        rt.PerturbedGeneralization(k=4, p="0.5", domain=repeated_releases.PAYS),
    ),
}


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    return repeated_releases.people(400)


def made(kind: str, frame: pl.DataFrame):
    promises, method = KINDS[kind]
    release = rt.publish(
        rt.Job(columns=repeated_releases.COLUMNS, promises=promises, method=method), frame=frame, seed=1
    )
    cells = local.count_rows(frame.lazy(), repeated_releases.COLUMNS).cells
    return release, cells, make_answerer(release.tables, release.manifest, cells)


def test_cramers_v_of_tables_that_are_known():
    assert compute_cramers_v(np.array([[10.0, 0], [0, 30]])) == pytest.approx(1)
    assert compute_cramers_v(np.array([[10.0, 20], [30, 60]])) == pytest.approx(0)
    assert compute_cramers_v(np.array([[30.0, 10], [10, 30]])) == pytest.approx(0.5)
    assert compute_cramers_v(np.array([[5.0, 5.0]])) == 0
    assert compute_cramers_v(np.array([[10.0, -3], [0, 30]])) == pytest.approx(1)


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_kind_publishes_exactly_is_distributed_as_in_the_source(kind, frame):
    _, cells, ask = made(kind, frame)
    found = measure_resemblance(ask, cells)
    exact = ["age", "town"] if kind in ("anatomized", "transformed", "perturbed") else []
    exact += ["pay"] if kind in ("generalized", "anatomized") else []
    for name in exact:
        assert found["marginals"][name] == pytest.approx(0, abs=1e-9)
    assert all(0 <= one <= 1 for one in found["marginals"].values())
    pair = next(one for one in found["association"] if one["columns"] == ["age", "town"])
    if "age" in exact:
        assert pair["after"] == pytest.approx(pair["before"])


@pytest.mark.parametrize("kind", KINDS)
def test_questions_are_answered_by_the_estimator_of_the_kind(kind, frame):
    _, cells, ask = made(kind, frame)
    counts = measure_count_errors(ask, cells, 1, queries=60)
    averages = measure_average_errors(ask, cells, 1)
    assert counts["queries"] > 50 and counts["median"] >= 0
    assert [line["dimension"] for line in counts["by_dimension"]] == [1, 2]
    assert averages["column"] == "pay" and 0 <= averages["median"] <= 1


def test_a_release_that_changes_nothing_has_no_error(frame):
    """One group for every combination of quasi-identifiers."""
    from reticent.labels.adversary_view import GroupMembers

    cells = local.count_rows(frame.lazy(), repeated_releases.COLUMNS).cells
    points, at = np.unique(cells.codes, axis=0, return_inverse=True)
    counts = np.zeros((len(points), cells.sensitive[0].size))
    np.add.at(counts, (at.reshape(-1), cells.values[:, 0]), cells.counts)
    ask = answer_from_view(GroupMembers(points, np.arange(len(points)), counts.sum(axis=1), counts))
    assert measure_count_errors(ask, cells, 1)["mean"] == pytest.approx(0, abs=1e-9)
    assert measure_average_errors(ask, cells, 1)["mean"] == pytest.approx(0, abs=1e-9)
    found = measure_resemblance(ask, cells)
    assert found["marginal_error"] == pytest.approx(0, abs=1e-9)
    assert found["association_error"] == pytest.approx(0, abs=1e-9)


def test_an_average_equals_what_sql_says_of_the_release(frame):
    """AVG by value counts is AVG of the release: compared with `release.query` on one question."""
    release, cells, ask = made("anatomized", frame)
    from reticent.utility.workload import NO_RANGE, Workload

    values = cells.sensitive[0].size
    lower = np.zeros((values, 3), np.int32)
    upper = np.full((values, 3), NO_RANGE, np.int32)
    town = cells.quasi[1].texts.index("a")
    lower[:, 1] = upper[:, 1] = town
    lower[:, 2] = upper[:, 2] = np.arange(values)
    counts = ask(Workload(lower, upper))
    places = np.array([float(text) for text in cells.sensitive[0].texts])
    answer = release.query("SELECT AVG(pay) FROM release WHERE town = 'a'")
    assert float(counts @ places / counts.sum()) == pytest.approx(answer.estimate)


def test_averages_are_of_the_sensitive_column_or_else_of_the_first_with_numbers():
    frame = pl.DataFrame({"a": ["x", "y"] * 6, "n": list(range(12)), "s": list("pqr") * 4})
    columns = {"a": rt.quasi(), "n": rt.quasi(), "s": rt.sensitive()}
    assert find_averaged_axis(local.count_rows(frame.lazy(), columns).cells) == 1
    columns = {"a": rt.quasi(), "s": rt.quasi(), "n": rt.sensitive()}
    assert find_averaged_axis(local.count_rows(frame.lazy(), columns).cells) == 2
    words = {"a": rt.quasi(), "s": rt.sensitive()}
    cells = local.count_rows(frame.select("a", "s").lazy(), words).cells
    assert (
        find_averaged_axis(cells) is None and measure_average_errors(lambda asked: asked.exact(cells), cells, 1) is None
    )
