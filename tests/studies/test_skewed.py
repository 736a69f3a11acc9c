"""The study of paper 2: its figures can be made, and say what its README says of them."""

from __future__ import annotations

import csv

import pytest

from studies.skewed.figures import FIGURES, SHARED, zipf
from studies.skewed.run import save

adult = pytest.mark.skipif(not (SHARED / "adult.csv").exists(), reason="../shared/data/adult.csv is not there")


def table(name: str) -> dict[tuple[float, str], float]:
    rows = list(FIGURES[name]())
    x, _, value, *_ = rows[0]
    return {(float(row[x]), str(row["method"])): float(row[value]) for row in rows}


def test_zipf_counts_are_rounded_to_the_nearest_whole_number():
    assert zipf(1.0).sum() == 3_598
    assert zipf(1.0)[:6].tolist() == [1000, 500, 333, 250, 200, 167]


@pytest.mark.parametrize("name", ["8a", "8b"])
def test_on_zipf_counts_the_methods_are_in_order(name):
    found = table(name)
    for x in {x for x, _ in found}:
        assert found[x, "unsafe D"] <= found[x, "calibrated (ours)"] <= found[x, "safe D"] <= found[x, "suppress all"]


def test_unsafe_falls_from_l_4_to_6_and_rises_to_10():
    found = table("8b")
    rates = [found[level, "unsafe D"] for level in range(4, 11)]
    assert rates[0] > rates[1] > rates[2] < rates[3] < rates[4] < rates[5] < rates[6]


@adult
def test_thirty_eight_of_a_hundred_small_samples_violate_6_eligibility():
    assert table("5")[0.5, "l = 6"] == 38


def test_only_r_suppression_and_unsafe_exceed_the_bound_exactly():
    for row in FIGURES["posterior-small"]():
        if row["method"] in ("safe D", "calibrated (ours)"):
            assert row["posterior"] <= row["bound"]
            assert row["withheld posterior"] <= row["bound"]


def test_on_zipf_counts_every_posterior_is_exact_and_only_r_suppression_and_unsafe_exceed_the_bound():
    for row in FIGURES["posterior-zipf"]():
        if row["method"] == "1 / l":
            continue
        assert row["how"] == "exact" and row["attacked"] == row["releases"]
        assert (row["posterior"] > row["bound"]) == (row["method"] in ("unsafe D", "R-suppression"))
        if row["method"] in ("safe D", "calibrated (ours)"):
            assert row["withheld high"] <= row["bound"]


def test_a_figure_becomes_a_table_and_a_chart(tmp_path):
    save(tmp_path, "8b")
    with open(tmp_path / "8b.csv", newline="", encoding="utf-8") as handle:
        assert len(list(csv.DictReader(handle))) == 40
    assert (tmp_path / "8b.svg").read_text(encoding="utf-8").startswith("<svg")
