"""`check --budget N` ends with its budget whatever a method or a promise does, and names what it did not measure."""

from __future__ import annotations

import json
from importlib import import_module
from time import process_time

import polars as pl
import pytest

import reticent as rt
from reticent.loss_explanation import LossExplanation
from reticent.methods.mondrian import Mondrian
from reticent.methods.suppression.stage import Suppression
from reticent.time_limit import run_within
from tests.support.attack_tables import people

CHECK = import_module("reticent.check")  # `rt.check` is its function
JOB_OF_VISITS = """
[source]
path = "visits.csv"

[columns]
age = { role = "quasi-identifying", type = "numeric" }
town = { role = "quasi-identifying" }
illness = { role = "sensitive" }
person = { role = "identifying", rows_per_person = 3 }

[[promise]]
model = "k-anonymity"
k = 5

[method]
name = "mondrian"
"""
COLUMNS = {"age": rt.quasi(numeric=True), "town": rt.quasi(), "illness": rt.sensitive()}


def job(*promises, **changes) -> rt.Job:
    return rt.Job(columns=COLUMNS, promises=list(promises) or [rt.KAnonymity(5)]).at(**changes)


def plan_for_ever(self, cells, promises, rng, **given):
    while True:
        pass


@pytest.fixture
def impatient(monkeypatch):
    """Whatever `check` times has half a CPU second at most."""
    monkeypatch.setattr(CHECK, "run_within", lambda seconds, function: run_within(min(seconds, 0.5), function))


def test_a_plan_that_does_not_end_leaves_the_verdict_open_and_says_so(monkeypatch, impatient):
    monkeypatch.setattr(Mondrian, "plan", plan_for_ever)
    found = rt.check(job(), frame=people(), budget=0.5, methods=[])
    assert found.reachable is None and found.to_dict()["reachable"] is None
    assert "No plan of all 600 rows within" in found.methods[0].why
    assert "may or may not be reachable" in found._repr_html_()


def test_where_all_cells_take_too_long_some_are_planned_and_the_rows_are_named(monkeypatch, impatient):
    planned = Mondrian.plan

    def plan_few(self, cells, promises, rng, **given):
        if cells.rows > 300:
            plan_for_ever(self, cells, promises, rng)
        return planned(self, cells, promises, rng, **given)

    monkeypatch.setattr(Mondrian, "plan", plan_few)
    found = rt.check(job(), frame=people(), budget=3, methods=[])
    assert found.reachable is None
    assert (
        f"On one cell in {CHECK.SAMPLE_STRIDES[0]}" in found.methods[0].why
        and "is reachable with a loss of" in found.methods[0].why
    )


def test_another_method_that_does_not_end_is_named_as_unplanned(monkeypatch, impatient):
    monkeypatch.setattr(rt.Burel, "plan", plan_for_ever)
    found = rt.check(job(rt.BetaLikeness(4)), frame=people(), budget=1.5)
    assert found.reachable
    assert "burel" in found.unplanned


def test_advice_that_does_not_end_is_named_among_the_warnings(monkeypatch, impatient):
    monkeypatch.setattr(Suppression, "advice", lambda cells, promises: plan_for_ever(None, cells, promises, None))
    found = rt.check(job(), frame=people(60), budget=2, methods=[])
    assert any("Not measured, for want of time: advice on promises" in said for said in found.warnings)


def test_the_command_says_that_it_does_not_know_and_ends_with_2(run, place, monkeypatch, impatient):
    monkeypatch.setattr(Mondrian, "plan", plan_for_ever)
    ran = run("check", "job.toml", "--budget", "0", "--methods", "mondrian")
    assert ran.code == 2 and "is not known: there was no time to plan" in ran.out
    found = json.loads(run("check", "job.toml", "--budget", "0", "--methods", "mondrian", "--json").out)
    assert found["reachable"] is None


def test_promises_that_there_was_no_time_to_try_are_counted(run, place):
    ran = run("check", "job.toml", "--methods", "mondrian", "--budget", "0")
    assert "not tried, for want of time; --budget SECONDS gives more." in ran.out


def test_a_budget_is_that_of_the_command_and_not_of_the_process_it_runs_in(run, place):
    """A program that has computed for long before may call the command."""
    ends = process_time() + 0.5
    while process_time() < ends:
        pass
    before = process_time()
    ran = run("check", "job.toml", "--methods", "mondrian", "--budget", str(before))
    assert "k-anonymity: k = 2" in ran.out


def test_other_methods_leave_time_to_say_why_the_loss_is_what_it_is(monkeypatch):
    monkeypatch.setattr(rt.Burel, "plan", plan_for_ever)
    found = rt.check(job(rt.KAnonymity(5), rt.BetaLikeness(4)), frame=people(), budget=2)
    assert "burel" in found.unplanned
    assert found.explained.changes and not found.explained.skipped


def test_methods_that_are_named_leave_time_to_say_why_however_long_they_take(monkeypatch):
    planned = rt.Burel.plan

    def plan_late(self, cells, promises, rng, **given):
        ends = process_time() + 4.2  # more than is there for comparing and explaining
        while process_time() < ends:
            pass
        return planned(self, cells, promises, rng, **given)

    monkeypatch.setattr(rt.Burel, "plan", plan_late)
    found = rt.check(job(rt.KAnonymity(5), rt.BetaLikeness(4)), frame=people(), methods=["burel"])
    assert [summary.method for summary in found.methods] == ["mondrian", "burel"]
    assert found.explained.changes and not found.explained.skipped


def visits() -> tuple[dict[str, rt.Column], pl.DataFrame]:
    """Columns and rows of people of whom each has two rows."""
    frame = people().with_columns(person=(pl.int_range(0, pl.len()) // 2).cast(pl.String))
    return {**COLUMNS, "person": rt.identifying(rows_per_person=3)}, frame


def test_promises_that_take_long_leave_time_to_try_withheld_rows(monkeypatch):
    def spend_all_time(cells, promises, by_column, trials):
        while trials.left():
            pass
        return LossExplanation(by_column)

    columns, frame = visits()
    frame = frame.with_columns(town=pl.when(pl.int_range(0, pl.len()) % 20 != 0).then("town"))
    monkeypatch.setattr(CHECK, "explain_loss", spend_all_time)
    found = rt.check(job(columns=columns, method=Mondrian()), frame=frame, budget=2, methods=[])
    assert found.withholding.trials and not found.withholding.skipped
    assert all(trial.ail is not None for trial in found.withholding.trials)


def test_rows_that_there_was_no_time_to_withhold_are_told(run, place):
    _, frame = visits()
    frame.write_csv(place / "visits.csv")
    (place / "visits.toml").write_text(JOB_OF_VISITS, encoding="utf-8")
    words = ("check", "visits.toml", "--methods", "mondrian", "--budget", "0")
    assert "What withholding rows would do to the loss was not tried" in run(*words).out
    assert json.loads(run(*words, "--json").out)["withholding"]["skipped"] > 0
