"""The study of label styles: its rows are made as the CSVs in the repository say, and the CSVs show what the docs say of them."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import reticent as rt
from reticent import catalogue
from studies.beta_likeness import tables
from studies.seeds import SEEDS
from studies.what_else import attacks, labels, table

RESULTS = Path(__file__).resolve().parents[2] / "studies" / "what_else" / "results"


def rows(name: str) -> dict[tuple[str, str], dict[str, float]]:
    with (RESULTS / f"labels-{name}.csv").open(newline="") as file:
        return {
            (row.pop("method"), row.pop("labels")): {key: float(value) for key, value in row.items()}
            for row in csv.DictReader(file)
        }


@pytest.mark.parametrize("name", ["adult30k", "acs100k"])
@pytest.mark.parametrize("style", ["padded 2", "snapped 3"])
def test_ages_are_hidden_for_fifteen_percent_more_loss_at_most(name, style):
    for method in ("mosaic", "mondrian"):
        found = rows(name)[method, style]
        tight = rows(name)[method, "tight"]
        assert tight["isolated"] > tight["control"] + 0.1
        assert found["isolated"] <= found["control"] + 0.02
        assert found["more than tight"] <= 0.15
    assert rows("adult30k")["mosaic", style]["AIL"] < 0.0234  # what ARX's local recoding loses there


@pytest.mark.parametrize("table", ["adult30k", "acs100k", "census", "teachers", "deaths", "time-use"])
def test_pads_of_a_share_hide_ends_for_fifteen_percent_more_loss_on_every_table(table):
    for method in ("mosaic", "mondrian"):
        found = rows(table)[method, "padded 2, share 0.34"]
        assert found["isolated"] <= found["control"] + 0.02 and found["more than tight"] <= 0.15, method
        assert found["certain"] < rows(table)[method, "tight"]["certain"]


def test_a_row_is_made_of_one_plan_and_one_attack():
    found = list(labels.rows(*labels.patients(600), labels.BY_DEFAULT))
    assert [(row["method"], row["labels"]) for row in found] == [
        (method, style) for method in ("mosaic", "mondrian") for style in ("tight", "snapped")
    ]
    for tight, snapped in zip(found[::2], found[1::2], strict=True):
        assert (
            tight["isolated"] > 0.9 > 0.2 > snapped["isolated"]
            and snapped["AIL"] > tight["AIL"]
            and snapped["certain"] == 0
        )


def kept(name: str) -> list[dict[str, str]]:
    with (RESULTS / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def test_two_releases_at_l_3_make_a_value_certain_whatever_the_second_is():
    for row in kept("joins-adult30k"):
        assert float(row["worst_alone"]) < 0.3334 and float(row["worst_posterior"]) > 0.99 and float(row["half"]) > 0.05
        assert abs(float(row["believed"]) - float(row["success"])) < 0.03 and float(row["success"]) > float(
            row["control"]
        )


def test_overlapping_boxes_keep_promises_for_assignments_and_do_not_come_true_beyond_them_for_tables():
    for row in kept("overlaps-adult30k"):
        assert float(row["worst_posterior"]) <= float(row["worst_group"])
        if row["tables_right"] and row["promised"]:
            assert float(row["tables_worst"]) > float(row["promised"]) >= float(row["tables_right_low"])


def test_a_row_of_the_study_of_attacks_has_what_was_reached_beside_its_control_or_why_not():
    few, columns = tables.census(400)
    named = {"method": "mondrian", "promise": "k = 5"}
    made = attacks.released(few, columns, rt.KAnonymity(5), rt.Mondrian())
    found = attacks.measured(made, few, "inference", {}, named)
    assert found["attack"] == "inference" and found["targets"] == 400 and not found["why"]
    assert found["control_low"] <= found["control"] <= found["control_high"]
    refused = attacks.released(few, columns, rt.ProbabilisticLDiversity(3), rt.Anatomy())
    found = attacks.measured(refused, few, "linkability", {}, named)
    assert found["success"] == "" and "quasi-identifiers as they are" in found["why"]


@pytest.mark.parametrize("name", attacks.TABLES)
@pytest.mark.parametrize("letter", attacks.LINES)
def test_guesses_against_a_promise_are_of_five_seeds(name, letter):
    found = kept(f"by-{letter}-{name.replace(' ', '-')}")
    guesses = {(row[letter], row["method"]) for row in found}
    assert {(row[letter], row["method"], int(row["seed"])) for row in found} == {
        (*guess, seed) for guess in guesses for seed in SEEDS
    }


def test_a_seed_deals_the_values_of_a_control():
    few, columns = tables.census(400)
    controls = [
        [row["right"] for row in attacks.by("beta", few, columns, seed) if row["method"] == "control"]
        for seed in (1, 2)
    ]
    assert controls[0] and controls[0] != controls[1]


def test_the_study_tries_every_attack_there_is():
    assert set(attacks.ATTACKS) == set(catalogue.ATTACKS)
    assert set(attacks.FILES_ALONE) == {name for name, row in catalogue.ATTACKS.items() if not row.needs_source}


@pytest.mark.parametrize("name", attacks.TABLES)
def test_every_attack_was_tried_on_every_method_and_promise_of_every_table(name):
    found = {(row["method"], row["promise"], row["attack"]): row for row in table.saved(name)}
    for promise in attacks.PROMISES:
        for method, (_, kept) in attacks.METHODS.items():
            if promise[0] in kept and (method, promise, "") not in found:  # the method cannot keep it of this table
                rows = [found[method, promise, attack] for attack in attacks.ATTACKS]
                assert all(bool(row["success"]) != bool(row["why"]) for row in rows)
                assert sum(bool(row["success"]) for row in rows) >= 2
    for row in found.values():
        if row["success"]:
            assert float(row["low"]) <= float(row["success"]) <= float(row["high"])
        if row["control"]:
            assert float(row["control_low"]) <= float(row["control"]) <= float(row["control_high"])


@pytest.mark.parametrize("name", attacks.TABLES)
@pytest.mark.parametrize("letter", attacks.LINES)
def test_every_table_has_its_charts(name, letter):
    assert "<svg" in (RESULTS / f"by-{letter}-{name.replace(' ', '-')}.svg").read_text(encoding="utf-8")


def test_the_readme_prints_the_files():
    assert table.printed() in table.README.read_text(encoding="utf-8")
