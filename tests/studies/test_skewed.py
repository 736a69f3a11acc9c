"""The study of paper 2: its figures can be made, and say what its README says of them."""

from __future__ import annotations

import csv
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from reticent.methods.anatomy import find_piece_starts
from studies.seeds import SEEDS
from studies.skewed.charts import draw_charts
from studies.skewed.dealing import cut_pieces, learn
from studies.skewed.figures import FIGURES, SHARED, linear, violated, zipf
from studies.skewed.real_tables import measure_kinds
from studies.skewed.run import FIGURES as ALL_FIGURES
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
def test_a_third_of_a_hundred_small_samples_violates_6_eligibility_by_every_seed():
    violations = {
        row["seed"]: row["violations"] for row in FIGURES["5"]() if row["sample %"] == 0.5 and row["method"] == "l = 6"
    }
    assert set(violations) == set(SEEDS)
    assert (min(violations.values()), max(violations.values())) == (33, 38)


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


def test_linear_counts_violate_eligibility_at_fewer_l_than_zipf_counts():
    violating = {
        name: [level for level in range(2, 21) if violated(counts, level)]
        for name, counts in (("linear", linear(0.1)), ("Zipf", zipf(1.0)))
    }
    assert violating["linear"][0] == 6 > violating["Zipf"][0] == 4
    assert set(violating["linear"]) < set(violating["Zipf"])


@adult
def test_occupation_is_the_least_skewed_of_adults_columns():
    greatest_share: dict[str, float] = {}
    for row in FIGURES["4"]():
        greatest_share[row["method"]] = max(row["share"], greatest_share.get(row["method"], 0))
    assert min(greatest_share, key=greatest_share.get) == "occupation"
    assert greatest_share["occupation"] == pytest.approx(0.134, abs=0.0005)


def test_of_small_counts_calibrated_gives_away_under_independent_records_what_safe_does_not():
    found = {(row["records"], row["method"]): row["posterior"] for row in ALL_FIGURES["priors-growing"]()}
    for records in (53, 212):
        assert found[records, "safe, records"] == found[records, "calibrated, uniform"] == pytest.approx(1 / 3)
        assert found[records, "calibrated, records"] > 0.9
    assert found[212, "calibrated, records"] > 0.99


def test_of_a_real_columns_counts_eligible_withholds_least_and_safe_most():
    """Causes of death as the study counts them: the table need not be there."""
    counts = [82597, 57162, 52966, 12387, 12371, 7336, 7272, 5827, 3236, 1919]
    withheld = {row["method"]: row["withheld"] for row in measure_kinds("deaths-cause", counts, 3)}
    assert withheld == {"eligible": 2359, "unsafe": 28059, "calibrated": 33460.4, "safe": 33827}


def test_who_knows_that_pieces_of_the_curve_were_dealt_learns_what_random_groups_do_not_tell():
    assert learn((2, 2, 2), 2, "random").worst == Fraction(1, 2)
    told = learn((2, 2, 2), 2, "hilbert")
    assert told.worst == 1 and told.exceeding == Fraction(3, 5)


@pytest.mark.parametrize("number", range(40))
def test_the_adversary_cuts_the_curve_as_anatomy_does(number):
    draw = np.random.default_rng(number)
    level = int(draw.integers(2, 4))
    values = tuple(draw.integers(0, 4, int(draw.integers(2 * level, 40))).tolist())
    starts = find_piece_starts(np.array(values), 4, level).tolist()
    if level * max(Counter(values).values()) <= len(values):
        assert [first for first, _ in cut_pieces(values, level)] == starts[:-1]


def test_a_chart_tells_its_lines_apart_without_colour_and_names_them_at_their_ends():
    rows = [{column: str(value) for column, value in row.items()} for row in FIGURES["linear-l"]()]
    [chart] = draw_charts("linear-l", rows).values()
    methods = {row["method"] for row in rows}
    assert all(f">{method}</text>" in chart for method in methods)
    assert chart.count("stroke-dasharray") == len(methods) - 1
    assert "share of the rows" in chart and "l-eligibility" in chart
