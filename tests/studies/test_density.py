"""The study of where people lie within their labels: what is written down is whole, and is what the docs say."""

from __future__ import annotations

import csv
from statistics import median

import pytest

from studies.density import run, tables
from studies.density.charts import draw_charts
from studies.density.joint import PAIRS
from tests.support.repository import ROOT


def read_rows(name: str) -> list[dict[str, str]]:
    with (run.RESULTS / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def find_median(table: str, method: str, workload: str, density: str, measure: str) -> float:
    wanted = (table, method, workload, density)
    return median(
        float(row[measure])
        for row in read_rows("answers")
        if (row["table"], row["method"], row["workload"], row["density"]) == wanted
    )


def test_every_table_method_and_seed_is_measured_with_both_densities():
    measured = {tuple(row[name] for name in ("table", "method", "seed", "density")) for row in read_rows("answers")}
    wanted = {(t, m, str(s), d) for t in tables.NAMES for m in run.METHODS for s in run.SEEDS for d in run.DENSITIES}
    assert measured == wanted


def test_the_default_is_the_better_one_in_most_cases_and_with_codes():
    pairs = [(table, method) for table in tables.NAMES for method in run.METHODS]
    errors = [[find_median(*pair, "all", density, "median_error") for density in run.DENSITIES] for pair in pairs]
    assert sum(likely < even for even, likely in errors) >= 18
    assert max(likely / even for even, likely in errors) < 1.34
    for method in ("mondrian", "mosaic", "perturbed-generalization"):
        even, likely = (abs(find_median("adult", method, "codes", density, "bias")) for density in run.DENSITIES)
        assert likely < even / 3


def test_the_chart_is_drawn_from_the_rows():
    assert draw_charts("answers", read_rows("answers"))["answers"] == (run.RESULTS / "answers.svg").read_text(
        encoding="utf-8"
    )


def test_the_study_says_what_was_measured():
    page = (ROOT / "studies" / "density" / "README.md").read_text(encoding="utf-8")
    for table in tables.NAMES:
        for method in run.METHODS:
            even, likely = (
                f"{find_median(table, method, 'all', density, 'median_error'):.3f}".removeprefix("0")
                for density in run.DENSITIES
            )
            assert f"| {table} | {method} | all | {even} | {likely} |" in page


def test_both_columns_together_are_measured_beside_each_alone():
    measured = {(row["table"], row["columns"], row["density"]) for row in read_rows("joint")}
    assert {(table, " and ".join(columns)) for table, *columns in PAIRS} == {row[:2] for row in measured}
    assert {row[2] for row in measured} == {"even", "each alone", "both together", "as answered"}


@pytest.mark.skipif(not tables.REAL.is_dir(), reason="the public tables are not here")
def test_the_study_runs_on_few_rows():
    rows = list(run.measure_answers(["deaths"], seeds=(1,), rows=400, number=4))
    assert {row["method"] for row in rows} == set(run.METHODS) and len(rows) == 2 * len(run.METHODS)
