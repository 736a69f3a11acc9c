"""The study of paper 3: its figures can be made, and say what its README says of them."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from studies.background.figures import FIGURES, SHARED

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


@adult
def test_a_figure_made_again_is_the_one_that_was_saved():
    from studies.background.figures import mean_of_priors

    again = {float(row["b"]): float(row["largest difference"]) for row in mean_of_priors()}
    for row in saved("mean-of-priors"):
        assert again[float(row["b"])] == pytest.approx(float(row["largest difference"]), rel=1e-4, abs=1e-12)
