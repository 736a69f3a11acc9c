"""The study of paper 3: its figures can be made, and say what its README says of them."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from studies.background.figures import SHARED
from studies.background.run import FIGURES

RESULTS = Path(__file__).resolve().parents[2] / "studies" / "background" / "results"
adult = pytest.mark.skipif(not (SHARED / "adult.csv").exists(), reason="../shared/data/adult.csv is not there")


def saved(name: str) -> list[dict[str, str]]:
    with open(RESULTS / f"{name}.csv", newline="", encoding="utf-8") as handle:
        return list(csv.DictReader(handle))


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_has_a_table_and_a_chart(name):
    assert saved(name)
    assert (RESULTS / f"{name}.svg").stat().st_size > 500


def test_the_private_table_has_nobody_above_t_at_its_own_bandwidth():
    rows = [row for row in saved("1b") if row["method"] == "(B,t)-privacy"]
    assert [row["risk above t"] for row in rows] == ["0"] * 4


def test_balanced_is_nearer_to_exact_than_omega_for_every_group_size():
    error = {(row["N"], row["method"]): float(row["average distance error"]) for row in saved("2")}
    assert all(error[size, "balanced"] < error[size, "omega"] < 0.1 for size in {size for size, _ in error})


def test_the_best_predictor_is_held_to_t_only_by_releases_made_against_them():
    risk = {(row["method"], float(row["t"])): float(row["most"]) for row in saved("auto")}
    for (method, t), worst in risk.items():
        assert worst <= t if method.endswith("auto") else worst > t


def test_balanced_inference_leaves_exact_inference_no_more_than_omega_does_at_little_loss():
    rows = {(row["method"], row["t"]): row for row in saved("inference")}
    for (method, t), balanced in rows.items():
        if method.endswith("balanced"):
            omega = rows[method.replace("balanced", "omega"), t]
            assert float(balanced["people above t"]) <= float(omega["people above t"])
            assert float(balanced["loss"]) <= 1.1 * float(omega["loss"])


def test_bucketized_releases_answer_counts_better_than_generalized_ones():
    error = {(row["method"], row["t"]): float(row["median count error"]) for row in saved("bucketized")}
    for (method, t), bucketized in error.items():
        if method.endswith("anatomy"):
            assert bucketized < error[method.replace("anatomy", "mondrian"), t]


@adult
def test_a_figure_made_again_is_the_one_that_was_saved():
    from studies.background.figures import mean_of_priors

    again = {float(row["b"]): float(row["largest difference"]) for row in mean_of_priors()}
    for row in saved("mean-of-priors"):
        assert again[float(row["b"])] == pytest.approx(float(row["largest difference"]), rel=1e-4, abs=1e-12)
