"""The study of paper 4: its figures can be made, and say what its README says of them."""

from __future__ import annotations

import csv

import pytest

from studies.distribution.data import SHARED, adult, correlated, uncorrelated
from studies.distribution.errors import errors, naive, publish
from studies.distribution.figures import FIGURES
from studies.distribution.run import RESULTS, save
from studies.results import read_rows
from studies.seeds import SEEDS

OF_ONE_SEED = {"totals-count", "totals-count-exact", "totals-avg", "totals-avg-exact"}  # it may only shrink

needs_adult = pytest.mark.skipif(not (SHARED / "adult.csv").exists(), reason="../shared/data/adult.csv is not there")


@needs_adult
def test_adult_is_the_table_of_section_6_up_to_its_greatest_value():
    frame = adult()
    assert (len(frame), frame["loss"].n_unique(), frame["loss"].min(), frame["loss"].max()) == (1427, 89, 155, 4356)


def test_sa_only_is_better_where_correlated_and_qi_sa_where_not():
    for frame, better in ((uncorrelated(3000), "qi-sa"), (correlated(3000), "sa-only")):
        found = {within: errors(publish(frame, within=within), frame, (5,))[5] for within in ("sa-only", "qi-sa")}
        assert min(found, key=found.get) == better
        assert max(found.values()) <= naive(frame, (5,))[5] * 1.2


def test_a_figure_is_saved_as_table_and_chart(tmp_path):
    save(tmp_path, "10")
    rows = list(csv.DictReader((tmp_path / "10.csv").read_text().splitlines()))
    assert {row["method"] for row in rows} == {"SA-only (2)", "SA-only (3)", "QI-SA (2)", "QI-SA (3)"}
    assert (tmp_path / "10.svg").read_text().startswith("<svg")


def test_every_figure_has_its_results_by_five_seeds_but_for_those_listed():
    listed = set()
    for name in FIGURES:
        rows = read_rows(RESULTS / f"{name}.csv")
        if "seed" in rows[0]:
            assert {int(row["seed"]) for row in rows} == set(SEEDS), name
        else:
            listed.add(name)
    assert listed == OF_ONE_SEED
    for name in FIGURES:
        assert (RESULTS / f"{name}.svg").exists()


def test_a_release_but_for_hilbert_is_the_same_with_every_seed():
    frame = uncorrelated(400)
    for within in ("sa-only", "qi-sa"):
        first, second = (publish(frame, within=within, seed=seed) for seed in (1, 2))
        assert all(first.tables[name].equals(second.tables[name]) for name in ("quasi", "bounds")), within
