"""The study of advice: what `rt.advise` says from a part of a table is what the whole ranks first, or level, but for two."""

from __future__ import annotations

import csv

import pytest

from studies.choosing import run
from studies.choosing.run import FIGURES, PROMISES, RESULTS, TABLES
from tests.house.repository import ROOT

DONE = [table for table in TABLES if (RESULTS / f"advice-{table}.csv").is_file()]
"""The tables whose full run is written down."""

MISSED = {"adult": {("beta-likeness 4", "counts"), ("beta-likeness 4", "sharing-rows")}}
"""Where 3,000 rows advise another method than all rows do: the ranking changes with the number of rows."""


def rows(name: str) -> list[dict[str, str]]:
    with (RESULTS / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("table", DONE)
def test_advice_from_a_part_names_what_the_full_comparison_ranks_first_but_where_it_is_said(table):
    advice = rows(f"advice-{table}")
    assert {(row["promise"], row["purpose"]) for row in advice} == {(p, q) for p in PROMISES for q in FIGURES}
    missed = {(row["promise"], row["purpose"]) for row in advice if row["full"] not in row["level"].split()}
    assert missed == MISSED.get(table, set())


@pytest.mark.parametrize("table", DONE)
def test_the_first_of_the_full_comparison_is_the_best_figure_of_its_table(table):
    full = [row for row in rows(f"full-{table}") if row["kind"] and row["reached"] == "True"]
    for row in rows(f"advice-{table}"):
        figure = FIGURES[row["purpose"]]
        held = {one["name"]: float(one[figure]) for one in full if one["promise"] == row["promise"] and one[figure]}
        best = max(held, key=held.__getitem__) if figure == "accuracy" else min(held, key=held.__getitem__)
        assert row["full"] == best


def test_the_page_about_choosing_says_what_the_study_found():
    assert DONE
    page = (ROOT / "docs" / "choosing.md").read_text(encoding="utf-8")
    for table in DONE:
        for row in rows(f"advice-{table}"):
            line = f"| {table} | {row['promise']} | {row['purpose']} | {row['full']} | {row['advised']} |"
            assert line in page, line


def test_the_study_is_made_of_one_comparison_and_one_piece_of_advice_for_each_purpose():
    pytest.importorskip("sklearn", reason="needs the extra `stats`")
    frame, columns = run.tables.census(400)
    few = {name: columns[name] for name in ("age", "education", "salary_class")}
    full, advice = run.studied(frame, few, rows=300, runs=1, methods=["mondrian", "beta-perturbation", "anatomy"])
    assert len(advice) == len(PROMISES) * len(FIGURES)
    assert {row["name"] for row in full} >= {"mondrian", "anatomy", "columns apart", "source as it is"}
