"""The study of advice: what `rt.advise` says is what the full comparison ranks first, or level with it."""

from __future__ import annotations

import csv

import pytest

from studies.choosing import run
from studies.choosing.run import FIGURES, PARTS, PROMISES, RESULTS, TABLES
from tests.support.repository import ROOT

DONE = [table for table in TABLES if (RESULTS / f"advice-{table}.csv").is_file()]
"""The tables whose full run is written down."""


def rows(name: str) -> list[dict[str, str]]:
    with (RESULTS / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("table", DONE)
def test_every_purpose_has_a_line(table):
    asked = {(row["promise"], row["purpose"]) for row in rows(f"advice-{table}")}
    assert asked <= {(promise, purpose) for promise in PROMISES for purpose in FIGURES}
    assert asked >= {(promise, purpose) for promise, _ in asked for purpose in PARTS["questions"]}


@pytest.mark.parametrize("table", DONE)
def test_advice_names_what_the_full_comparison_ranks_first_or_one_within_its_spread(table):
    for row in (row for row in rows(f"advice-{table}") if row["advised"]):
        assert row["advised"] in row["full level"].split(), row
        assert row["full"] in row["level"].split(), row


@pytest.mark.parametrize("table", DONE)
def test_advice_from_a_part_names_it_or_says_that_it_may_overtake(table):
    for row in rows(f"advice-{table}"):
        assert row["full"] in [*row["part level"].split(), *row["may overtake"].split()], row


@pytest.mark.parametrize("table", DONE)
def test_the_first_of_the_full_comparison_is_the_best_figure_of_its_table(table):
    full = [row for row in rows(f"full-{table}") if row["kind"] and row["reached"] == "True"]
    for row in rows(f"advice-{table}"):
        figure = FIGURES[row["purpose"]]
        held = {one["name"]: float(one[figure]) for one in full if one["promise"] == row["promise"] and one[figure]}
        best = max(held, key=held.__getitem__) if figure == "accuracy" else min(held, key=held.__getitem__)
        assert held[row["full"]] == held[best]  # of equal figures either


def test_the_page_about_choosing_says_what_the_study_found():
    assert DONE
    page = (ROOT / "docs" / "choosing.md").read_text(encoding="utf-8")
    for table in DONE:
        for row in rows(f"advice-{table}"):
            cells = (table, row["promise"], row["purpose"], row["full"], row["advised"] or "-", row["from a part"])
            assert "| " + " | ".join(cells) + " |" in page, cells


def test_the_study_is_made_of_two_comparisons_and_one_piece_of_advice_for_each_purpose(tmp_path):
    pytest.importorskip("sklearn", reason="needs the extra `stats`")
    frame, columns = run.tables.census(400)
    few = {name: columns[name] for name in ("age", "education", "salary_class")}
    (promised, other), how = PROMISES, {"rows": 300, "runs": 1, "methods": ["mondrian", "beta-perturbation", "anatomy"]}
    for part, promise in (("questions", promised), ("learning", promised), ("questions", other)):
        full, advice = run.studied(frame, few, promised=[promise], parts=[part], **how)
        assert [row["purpose"] for row in advice] == list(PARTS[part])
        run.save(tmp_path / "full.csv", full, "name")
        run.save(tmp_path / "advice.csv", advice, "purpose")
    written = run.written(tmp_path / "full.csv")
    assert {row["name"] for row in written} >= {"mondrian", "anatomy", "columns apart", "source as it is"}
    first = written[0]
    assert first["promise"] == promised and first["accuracy"] and first["count_error low"] <= first["count_error high"]
    asked = [(row["promise"], row["purpose"]) for row in run.written(tmp_path / "advice.csv")]
    assert asked == [
        *((promised, purpose) for purpose in FIGURES),
        *((other, purpose) for purpose in PARTS["questions"]),
    ]
