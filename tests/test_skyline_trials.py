"""Skylines that `check` tries: one t at every bandwidth of a grid, what it costs, and whether it asks for anything."""

from __future__ import annotations

import json
import tomllib
from decimal import Decimal

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent.cli.main import main
from reticent.job.parse import parse_job
from reticent.models.background_knowledge.bt_privacy import BANDWIDTH_GRID

COLUMNS = {"age": rt.quasi(), "sex": rt.quasi(), "disease": rt.sensitive()}


def make_people(rows: int = 600) -> pl.DataFrame:
    rng = np.random.default_rng(4)
    age = rng.integers(20, 80, rows)
    names = np.array(["flu", "cancer", "asthma", "ulcer", "gout"])
    disease = names[np.minimum((age - 20) // 15 + rng.integers(0, 2, rows), 4)]
    return pl.DataFrame({"age": age, "sex": rng.choice(["F", "M"], rows), "disease": disease})


PEOPLE = make_people()


def check(*promises, frame=PEOPLE, columns=COLUMNS, **options):
    result = rt.check(rt.Job(columns=columns, promises=[*promises]), frame=frame, **options)
    return result, [advice for advice in result.advice if advice["about"] == "skyline"]


def paste(text: str) -> rt.Job:
    """Return a job of the pasted promise."""
    promises = tomllib.loads(text, parse_float=Decimal)["promise"]
    table = {"columns": {"age": "quasi", "sex": "quasi", "disease": "sensitive"}, "promise": promises}
    return parse_job({"source": {"path": "people.csv"}, **table})


def get_trial(advice, t):
    return next(trial for trial in advice["trials"] if trial["t"] == t)


def test_the_proposed_skyline_holds_one_t_at_every_bandwidth_of_the_grid():
    _, (advice,) = check(rt.KAnonymity(3), rt.BTPrivacy(0.3, 0.2))
    assert advice["t"] == 0.2
    assert [point["t"] for point in advice["points"]] == [0.2] * len(BANDWIDTH_GRID)
    assert [point["bandwidth"] for point in advice["points"]][-1] == "whole"


def test_the_pasted_skyline_is_accepted_loses_what_was_said_and_is_kept():
    _, (advice,) = check(rt.KAnonymity(3), rt.BTPrivacy(0.3, 0.2))
    pasted = paste(advice["paste"])
    job = rt.Job(columns=COLUMNS, promises=[rt.KAnonymity(3), *pasted.promises])
    planned = rt.plan(job, frame=PEOPLE)
    assert planned.loss == pytest.approx(get_trial(advice, 0.2)["ail"], rel=1e-12)
    verdict = rt.audit(rt.publish(job, frame=PEOPLE, seed=1), source=PEOPLE).promises[1]
    assert verdict.kept
    assert max(verdict.achieved["t"]) <= 0.2


def test_the_proposed_skyline_asks_for_more_than_the_plan_without_it_gives():
    _, (advice,) = check(rt.KAnonymity(3), rt.BTPrivacy(0.3, 0.2))
    without = rt.publish(rt.Job(columns=COLUMNS, promises=[rt.KAnonymity(3)]), frame=PEOPLE, seed=1)
    expected = paste(advice["paste"]).promises
    verdict = rt.audit(without, source=PEOPLE, promises=[*expected]).promises[-1]
    assert not verdict.kept
    assert verdict.achieved["t"] == pytest.approx([point["risk_without"] for point in advice["grid"]])


def test_a_t_that_the_plan_keeps_without_being_asked_is_said_to_ask_for_nothing():
    _, (advice,) = check(rt.KAnonymity(3), rt.BTPrivacy(0.3, 1))
    assert get_trial(advice, 1.0)["binds"] is False
    assert "asks for nothing" in advice["why"]
    assert advice["t"] < 1
    assert get_trial(advice, advice["t"])["binds"]


def test_without_another_promise_the_table_as_it_is_tells_whether_a_t_binds():
    _, (advice,) = check(rt.BTPrivacy(0.3, 0.4))
    assert all(point["risk_without"] > 0 for point in advice["grid"])
    assert get_trial(advice, 0.4)["binds"]


def test_where_the_own_t_is_out_of_reach_the_next_greater_one_is_proposed():
    result, (advice,) = check(rt.BTPrivacy(0.3, "0.0001"))
    assert not result.reachable
    assert not get_trial(advice, 0.0001)["reachable"]
    reached = [trial["t"] for trial in advice["trials"] if trial["reachable"] and trial["binds"]]
    assert advice["t"] == min(reached)
    assert "not reachable" in advice["why"]


def test_more_risk_allowed_never_loses_more():
    _, (advice,) = check(rt.KAnonymity(3), rt.BTPrivacy(0.3, 0.2))
    losses = [trial["ail"] for trial in advice["trials"] if trial["reachable"]]
    assert losses == sorted(losses, reverse=True)
    assert losses[0] > losses[-1]


def test_a_job_that_holds_the_skyline_already_is_told_so():
    points = [{"bandwidth": bandwidth, "t": 0.2} for bandwidth in BANDWIDTH_GRID]
    _, (advice,) = check(rt.KAnonymity(3), rt.Skyline(points=points))
    assert advice["why"] == "The job holds this skyline already."


def test_of_a_skyline_the_least_t_is_held_everywhere():
    _, (advice,) = check(rt.Skyline(points=[{"bandwidth": 0.3, "t": 0.4}, {"bandwidth": "whole", "t": 0.25}]))
    assert advice["own_t"] == advice["t"] == 0.25


def test_what_else_the_promise_says_stays_in_the_pasted_one():
    distances = {"disease": {"values": ["flu", "cancer", "asthma", "ulcer", "gout"], "rows": make_distance_rows()}}
    promise = rt.BTPrivacy(
        0.3,
        0.2,
        smoothing=0.9,
        posterior="balanced",
        base="e",
        kernel="triangular",
        distances=distances,
        column="disease",
    )
    _, (advice,) = check(promise)
    (pasted,) = paste(advice["paste"]).promises
    for name in ("smoothing", "posterior", "base", "kernel", "distances", "column"):
        assert getattr(pasted, name) == getattr(promise, name)


def test_each_promise_about_background_knowledge_has_its_own_trials():
    people = PEOPLE.with_columns(drug=pl.col("disease").str.slice(0, 1))
    columns = {**COLUMNS, "drug": rt.sensitive()}
    promises = [rt.BTPrivacy(0.3, 0.3, column="disease"), rt.BTPrivacy(0.5, 0.4, column="drug")]
    _, advice = check(*promises, frame=people, columns=columns)
    assert [proposal["column"] for proposal in advice] == ["disease", "drug"]
    assert [proposal["own_t"] for proposal in advice] == [0.3, 0.4]


def test_a_job_without_such_a_promise_tries_no_skyline():
    _, advice = check(rt.KAnonymity(3))
    assert advice == []


def test_what_there_was_no_time_for_is_said_and_not_proposed():
    _, (advice,) = check(rt.BTPrivacy(0.3, 0.2), budget=0.0001)
    assert {trial["reachable"] for trial in advice["trials"]} == {None}
    assert advice["paste"] == ""
    assert advice["points"] == []
    assert "no time" in advice["why"]
    json.dumps(advice)


def test_the_command_prints_the_loss_by_t_and_the_skyline_to_paste(capsys, tmp_path):
    PEOPLE.write_csv(tmp_path / "people.csv")
    (tmp_path / "job.toml").write_text(
        f'[source]\npath = "{tmp_path}/people.csv"\n[columns]\nage = "quasi"\nsex = "quasi"\ndisease = "sensitive"\n'
        '[[promise]]\nmodel = "bt-privacy"\nbandwidth = 0.3\nt = 0.4\n'
    )
    assert main(["check", str(tmp_path / "job.toml")]) == 0
    printed = capsys.readouterr().out
    assert "One t against every adversary of the grid of bandwidths, for 'disease'" in printed
    assert '{ bandwidth = "whole", t = 0.4 },' in printed


def make_distance_rows():
    return [["0" if row == column else "7/8" for column in range(5)] for row in range(5)]
