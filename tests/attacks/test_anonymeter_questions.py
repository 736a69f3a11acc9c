"""The three questions of `anonymeter`: singling out, linkability and inference, under those names."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent.attacks import attack
from reticent.attacks.scoring import compute_excess_risk
from reticent.cli.main import main
from reticent.errors import RequestError

COLUMNS = {"a": rt.quasi(numeric=True), "b": rt.quasi(numeric=True), "c": rt.quasi(), "s": rt.sensitive()}
NAMES = ("singling-out", "linkability", "inference")


def people(rows: int, seed: int, tied: bool = True) -> pl.DataFrame:
    """`tied`: the second number and the sensitive value follow the first."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 60, rows)
    b = (a + rng.integers(0, 6, rows)) % 60 if tied else rng.integers(0, 60, rows)
    s = np.array(list("uvwxyz"))[a // 10] if tied else rng.choice(list("uvwxyz"), rows)
    s = np.where(rng.random(rows) < 0.3, rng.choice(list("uvwxyz"), rows), s)
    return pl.DataFrame({"a": a, "b": b, "c": rng.choice(["f", "m"], rows), "s": s})


def released(frame: pl.DataFrame, method: rt.Method | None = None) -> rt.Release:
    job = rt.Job(columns=COLUMNS, promises=[rt.ProbabilisticLDiversity(2)], method=method or rt.Mondrian())
    return rt.publish(job, frame=frame, seed=1)


@pytest.mark.parametrize("name", NAMES)
def test_each_answers_with_a_control_an_interval_and_the_risk_beyond_it(name):
    frame = people(800, 1)
    found = attack(released(frame), frame, name).to_dict()
    assert found["control_low"] <= found["control"] <= found["control_high"]
    assert found["low"] <= found["success"] <= found["high"]
    assert found["risk"] == compute_excess_risk(found["success"], found["control"]) > 0


def test_where_columns_are_independent_controls_are_at_their_expected_rates():
    frame = people(3_000, 2, tied=False)
    strangers = people(3_000, 5, tied=False)
    release = released(frame, rt.Mosaic(effort="quick"))
    inferred = attack(release, frame, "inference", others=strangers).to_dict()
    assert abs(inferred["control"] - 1 / 6) < 0.03 and abs(inferred["others"] - 1 / 6) < 0.03
    assert inferred["success"] > 0.4, "half of a group of two has each value: what l = 2 allows, and no more"
    linked = attack(release, frame, "linkability").to_dict()
    assert linked["control"] < 0.02 and linked["success"] < 0.2


def test_lists_are_linked_as_often_as_a_loop_over_people_and_groups_says():
    frame = people(300, 3)
    release = released(frame)
    found = attack(release, frame, "linkability", first=["a"])
    groups = release.frame(bounds=True).select("a_lower", "a_upper", "b_lower", "b_upper", "c").unique().rows()

    def narrowest(fits, width):
        able = [(width(group), group) for group in groups if fits(group)]
        least = min(wide for wide, _ in able)
        return {group for wide, group in able if wide == least}

    able = 0
    sure = 0
    held = sorted(set(frame["a"])), sorted(set(frame["b"]))
    for a, b, c, _ in frame.iter_rows():
        one = narrowest(lambda g: g[0] <= a <= g[1], lambda g: sum(g[0] <= v <= g[1] for v in held[0]))  # noqa: B023
        other = narrowest(
            lambda g: g[2] <= b <= g[3] and g[4] in (c, "*"),  # noqa: B023
            lambda g: sum(g[2] <= v <= g[3] for v in held[1]) * (2 if g[4] == "*" else 1),
        )
        able += bool(one & other)
        sure += one == other and len(one) == 1
    assert sure <= round(found.success * found.targets) <= able and able > 0


def test_people_who_are_not_in_the_data_are_the_control_of_inference_where_they_are_known():
    frame = people(800, 1)
    strangers = people(800, 9)
    found = attack(released(frame), frame, "inference", others=strangers).to_dict()
    assert found["others_low"] <= found["others"] <= found["others_high"]
    assert found["risk"] == compute_excess_risk(found["success"], found["others"])
    assert found["worst_posterior"] <= found["promised"] + 1e-12


@pytest.mark.parametrize(
    ("first", "why"), [(["z"], "no quasi-identifier"), (["a", "b", "c"], "at least one"), ([], "at least one")]
)
def test_lists_that_cannot_be_are_refused(first, why):
    frame = people(100, 1)
    with pytest.raises(RequestError, match=why):
        attack(released(frame), frame, "linkability", first=first)


def test_of_exact_quasi_identifiers_there_is_nothing_to_link_and_values_are_inferred():
    frame = people(400, 1, tied=False)
    release = released(frame, rt.Anatomy())
    with pytest.raises(RequestError, match="publishes quasi-identifiers as they are"):
        attack(release, frame, "linkability")
    assert attack(release, frame, "inference").to_dict()["targets"] == 400


@pytest.mark.parametrize("name", NAMES)
def test_the_command_line_answers_under_these_names(name, tmp_path, capsys):
    frame = people(300, 1)
    released(frame).save(tmp_path / "out")
    frame.write_csv(tmp_path / "people.csv")
    words = ["attack", str(tmp_path / "out"), "--source", str(tmp_path / "people.csv"), "--as", name]
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["attack"] == name
    assert main(words) == 0 and f"{name}:" in capsys.readouterr().out
