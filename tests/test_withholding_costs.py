"""What `check` says of missing values and of people with many rows: losses that publishing confirms, and lines to paste."""

from __future__ import annotations

import random
import tomllib

import polars as pl
import pytest

import reticent as rt
from reticent.check import check


def visits(persons=300, *, most=9, seed=4):
    """One person in fifty has `most` visits, the others up to three; every fortieth birth year is missing."""
    draw = random.Random(seed)
    rows = []
    for person in range(persons):
        for _ in range(most if person % 50 == 7 else draw.randrange(1, 4)):
            born = None if draw.random() < 0.025 else draw.randrange(1930, 2010)
            rows.append((f"p{person}", born, draw.choice(["m", "f"]), draw.choice("abcd")))
    return pl.DataFrame(rows, schema=["name", "born", "sex", "illness"], orient="row")


def job(*, limit=9, **changes):
    columns = {
        "name": rt.identifying(rows_per_person=limit),
        "born": rt.quasi(domain=[1900, 2020]),
        "sex": rt.quasi(),
        "illness": rt.sensitive(),
    }
    return rt.Job(columns=columns | changes, promises=rt.KAnonymity(4))


def pasted(job_now: rt.Job, trial) -> rt.Job:
    lines = tomllib.loads("\n".join(trial.paste))
    return job_now.at(columns={**job_now.columns, **lines})


def test_missing_values_and_many_rows_are_tried_with_their_loss():
    frame = visits()
    costs = check(job(), frame=frame, methods=[]).withholding
    sorts = {trial.about for trial in costs.trials}
    assert sorts == {"missing", "rows_per_person"}
    missing = next(trial for trial in costs.trials if trial.about == "missing")
    assert missing.columns == ("born",) and missing.withheld == frame["born"].null_count()
    times = frame.group_by("name").len()["len"]
    for trial in costs.trials:
        if trial.about == "rows_per_person":
            assert trial.withheld == (times.cast(pl.Int64) - trial.rows_per_person).clip(lower_bound=0).sum()
    assert all(trial.ail is not None for trial in costs.trials)
    assert {trial.about for trial in costs.best} == sorts  # both lower the loss here


def test_what_is_to_be_pasted_is_accepted_and_loses_what_was_said():
    frame = visits()
    costs = check(job(), frame=frame, methods=[]).withholding
    for trial in costs.trials:
        changed = pasted(job(), trial)
        release = rt.publish(changed, frame=frame)
        assert release.manifest.withheld == trial.withheld
        assert check(changed, frame=frame, methods=[]).methods[0].ail == pytest.approx(trial.ail, abs=0.02)
        assert rt.audit(release, source=frame, job=changed).kept


def test_a_pasted_line_keeps_what_the_column_declared():
    frame = visits().with_columns(illness=pl.when(pl.int_range(pl.len()) % 20 != 3).then("illness"))
    declared = job(
        illness=rt.sensitive(
            missing="category", hierarchy=[["a", "x", "*"], ["b", "x", "*"], ["c", "y", "*"], ["d", "y", "*"]]
        )
    )
    costs = check(declared, frame=frame, methods=[]).withholding
    trial = next(trial for trial in costs.trials if trial.columns == ("illness",))
    changed = pasted(declared, trial).columns["illness"]
    assert changed.missing == "withhold" and changed.hierarchy is not None
    both = next(trial for trial in costs.trials if len(trial.columns) == 2)
    assert set(pasted(declared, both).columns) == set(declared.columns)


def test_nothing_is_tried_where_nothing_is_missing_and_nobody_has_several_rows():
    frame = visits(most=1).drop_nulls().unique("name")
    costs = check(job(limit=1), frame=frame, methods=[]).withholding
    assert not costs.trials and not costs.skipped


def test_a_limit_that_nobody_reaches_is_told():
    frame = visits()
    result = check(job(limit=20), frame=frame, methods=[])
    sentence = next(warning for warning in result.warnings if "nobody has more than 9" in warning)
    assert "rows_per_person = 9" in sentence
    assert not any("nobody has more than" in warning for warning in check(job(), frame=frame, methods=[]).warnings)


def test_a_promise_that_cannot_do_with_drawn_rows_is_not_told_to_draw():
    frame = visits(80)
    asked = job().at(promises=rt.BTPrivacy(bandwidth=0.5, t=0.9))
    costs = check(asked, frame=frame, methods=[]).withholding
    assert {trial.about for trial in costs.trials} <= {"missing"}


def test_kinds_without_a_loss_try_nothing():
    frame = visits(80)
    asked = job().at(promises=rt.ProbabilisticLDiversity(2), method="anatomy")
    assert not check(asked, frame=frame, methods=[]).withholding.trials


def test_the_json_has_the_trials():
    report = check(job(), frame=visits(), methods=[]).to_dict()
    assert set(report["withholding"]) == {"base", "trials", "skipped"}
    assert {"about", "columns", "withheld", "ail", "paste", "rows_per_person"} == set(
        report["withholding"]["trials"][0]
    )
