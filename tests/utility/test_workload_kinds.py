"""A workload's answers, kind by kind, beside what the release itself answers to the same questions in SQL."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent.engines import local
from reticent.kernels import expected_counts
from reticent.utility import query_error
from reticent.utility import workload as utility_workload
from reticent.utility.workload import NO_RANGE, SampledRows, Workload
from tests.support import repeated_releases

METHODS = {
    "anatomized": ([rt.ProbabilisticLDiversity(2)], rt.Anatomy()),
    "transformed": ([rt.PPrivacy("uniform")], rt.Distribution(group_by=["town"])),
    "sampled": (
        [rt.DeltaGrowth("0.9", "0.6")],
        rt.PerturbedGeneralization(k=4, p="0.5", domain=repeated_releases.PAYS),
    ),
}


def asked(workload: Workload, cells, q: int) -> str:
    parts = []
    for axis, domain in enumerate((*cells.quasi, cells.sensitive[0])):
        low = workload.lower[q, axis]
        high = workload.upper[q, axis]
        if high != NO_RANGE:
            texts = domain.texts[low : high + 1]
            listed = ", ".join(repr(text) if domain.name == "town" else text for text in texts)
            parts.append(f"{domain.name} IN ({listed})")
    return "SELECT COUNT(*) FROM release WHERE " + " AND ".join(parts)


def laid(kind: str):
    promises, method = METHODS[kind]
    frame = repeated_releases.people(300).with_columns(age=pl.col("age").sort() // 2)  # every age of the range occurs
    release = rt.publish(
        rt.Job(columns=repeated_releases.COLUMNS, promises=promises, method=method), frame=frame, seed=1
    )
    return release, frame, local.count_rows(frame.lazy(), repeated_releases.COLUMNS).cells


@pytest.mark.parametrize("kind", METHODS)
def test_a_workload_is_answered_as_the_release_answers_in_sql(kind: str):
    release, _, cells = laid(kind)
    workload = Workload.draw(cells, predicates=2, selectivity=0.2, queries=25, rng=np.random.default_rng(1))
    if kind == "sampled":
        found = workload.sampled(SampledRows.from_frame(release.tables["data"], release.manifest), cells)
    else:
        found = workload.matched(release.sight(cells))
    density = "even" if kind in ("generalized", "sampled") else None  # as workloads spread rows
    here = [release.query(asked(workload, cells, q), density=density).estimate for q in range(len(workload))]
    assert found == pytest.approx(here, abs=1e-6)


def test_errors_are_told_by_dimension_and_by_selectivity():
    release, frame, cells = laid("anatomized")
    for predicates in (1, 2):
        workload = Workload.draw(
            cells, predicates=predicates, selectivity=0.2, queries=80, rng=np.random.default_rng(1)
        )
        true = workload.exact(cells)
        found = workload.matched(release.sight(cells))
        (line,) = utility_workload.group_errors_by_dimension(workload, found, true)
        assert line == {"dimension": predicates, **utility_workload.summarize_errors(found, true)}
        parts = utility_workload.group_errors_by_selectivity(found, true, len(frame))
        assert sum(part["queries"] for part in parts) == (true > 0).sum() == line["queries"]
        weighed = sum(part["mean"] * part["queries"] for part in parts) / line["queries"]
        assert weighed == pytest.approx(line["mean"])


def test_the_width_of_guaranteed_ranges_is_a_share_of_the_span():
    release, _, _ = laid("transformed")
    answers = [release.query(f"SELECT AVG(pay) FROM release WHERE age < {age}") for age in (0, 15, 20, 40)]
    found = utility_workload.range_errors(answers, 40)
    assert len(found) == 3  # of nobody there is no mean
    assert found == pytest.approx([(one.upper - one.lower) / 40 for one in answers[1:]])
    assert (found >= 0).all() and (found <= 1).all()


@pytest.mark.parametrize("kind", METHODS)
def test_guaranteed_ranges_of_averages_are_those_that_the_release_gives_in_sql(kind: str):
    release, _, cells = laid(kind)
    found = query_error.measure_average_ranges(release.tables, release.manifest, cells, seed=3, queries=12)
    if kind == "sampled":  # of redrawn values nothing is guaranteed but that they are in the domain
        assert found["median"] == 1.0
    workload = Workload.draw(cells, predicates=2, selectivity=0.1, queries=12, rng=np.random.default_rng(3))
    free = np.full(len(workload), NO_RANGE)
    workload = Workload(workload.lower, np.column_stack([workload.upper[:, :-1], free]).astype(np.int32))
    said = [asked(workload, cells, q).replace("COUNT(*)", "AVG(pay)") for q in range(len(workload))]
    widths = utility_workload.range_errors([release.query(one) for one in said], 40)
    assert found == {
        "column": "pay",
        "queries": len(widths),
        "median": pytest.approx(np.median(widths)),
        "mean": pytest.approx(np.mean(widths)),
    }


def test_the_kernel_counts_as_a_loop_does():
    rng = np.random.default_rng(2)
    points = rng.integers(0, 4, (2, 30)).astype(np.int32)
    expected = rng.random((30, 5))
    until = np.concatenate([np.zeros((30, 1)), np.cumsum(expected, axis=1)], axis=1)
    lower = np.array([[1, 0, 1], [0, 2, 0]], np.int32)
    upper = np.array([[3, -1, 3], [2, 3, 4]], np.int32)
    found = np.empty(2)
    expected_counts.sum_expected_counts(points, until, lower, upper, found)
    for q in range(2):
        inside = [
            p for p in range(30) if all(upper[q, j] < 0 or lower[q, j] <= points[j, p] <= upper[q, j] for j in range(2))
        ]
        total = sum(expected[p, lower[q, 2] : upper[q, 2] + 1].sum() for p in inside)
        assert found[q] == pytest.approx(total)
