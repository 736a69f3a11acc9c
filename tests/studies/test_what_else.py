"""The study of label styles: its rows are made as the CSVs in the repository say, and the CSVs show what the docs say of them."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import reticent as rt
from studies.beta_likeness import tables
from studies.what_else import attacks, labels

RESULTS = Path(__file__).resolve().parents[2] / "studies" / "what_else" / "results"


def rows(table: str) -> dict[tuple[str, str], dict[str, float]]:
    with (RESULTS / f"labels-{table}.csv").open(newline="") as file:
        return {
            (row.pop("method"), row.pop("labels")): {key: float(value) for key, value in row.items()}
            for row in csv.DictReader(file)
        }


@pytest.mark.parametrize("table", ["adult30k", "acs100k"])
@pytest.mark.parametrize("style", ["padded 2", "snapped 3"])
def test_ages_are_hidden_for_fifteen_percent_more_loss_at_most(table, style):
    for method in ("mosaic", "mondrian"):
        found, tight = rows(table)[method, style], rows(table)[method, "tight"]
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


def test_a_row_of_the_study_of_attacks_has_what_was_reached_beside_its_control():
    few, columns = tables.census(400)
    made = attacks.released(few, columns, rt.KAnonymity(5), rt.Mondrian())
    found = list(attacks.measured(made, few, "inference", {}, {"method": "mondrian", "promise": "k = 5"}))
    assert found[0]["attack"] == "inference" and found[0]["targets"] == 400
    assert found[0]["control_low"] <= found[0]["control"] <= found[0]["control_high"]
    refused = attacks.released(few, columns, rt.ProbabilisticLDiversity(3), rt.Anatomy())
    assert not list(attacks.measured(refused, few, "linkability", {}, {"method": "anatomy", "promise": "l = 3"}))
