"""One release has one loss: check, plan, sweep, publish, audit, report and compare give the same figure, to the last digit."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import reticent as rt
from reticent.errors import JobError
from reticent.report.blocks import format_value
from tests.oracle.release_loss import release_loss
from tests.support.loss_jobs import draw_job, draw_table

JOBS = 96


def publish_random_job(number: int, folder: Path) -> tuple[rt.Job, pl.DataFrame, rt.Release] | None:
    """Publish the job of a number; None where the table cannot keep its promise."""
    rng = random.Random(number)
    job = draw_job(rng)
    frame = draw_table(rng, rng.choice([30, 120, 300]))
    try:
        return job, frame, rt.publish(job, frame=frame, seed=number, to=folder, ledger=folder.with_suffix(".ledger"))
    except (rt.PromiseUnreachable, JobError):
        return None


def read_rows(folder: Path) -> list[dict[str, Any]]:
    """The rows of a release folder, read by no code of ours."""
    if (folder / "data.csv").exists():
        return pl.read_csv(folder / "data.csv", infer_schema=False).to_dicts()
    return pl.read_parquet(folder / "data.parquet").to_dicts()


@pytest.mark.parametrize("start", range(0, JOBS, 16))
def test_every_way_to_the_loss_of_a_release_gives_the_same_figure(start, tmp_path):
    published = 0
    for number in range(start, start + 16):
        made = publish_random_job(number, tmp_path / f"release-{number}")
        if made is None:
            continue
        published += 1
        job, frame, release = made
        audited = release.audited.utility
        loss = (audited["ail"], dict(audited["ail_by_column"]))
        checked = rt.check(job, frame=frame, methods=[], seed=number)
        own = checked.methods[0]
        assert (own.ail, dict(own.ail_by_column)) == loss
        if checked.explained.by_column:
            assert dict(checked.explained.by_column) == loss[1]
        again = rt.audit(release.folder).utility
        assert (again["ail"], dict(again["ail_by_column"])) == loss
        facts = rt.report(release).json()
        assert format_value(loss[0]) in facts
        if release.kind == "generalized":
            planned = rt.plan(job, frame=frame, seed=number)
            assert (planned.loss, planned.loss_by_column) == loss
            measured = rt.measure(planned)
            assert (measured["ail"], measured["ail_by_column"]) == loss
        exact, by_column = release_loss(
            json.loads((release.folder / "manifest.json").read_text()), read_rows(release.folder)
        )
        assert loss[0] == pytest.approx(float(exact), abs=1e-12)
        assert loss[1] == pytest.approx({name: float(share) for name, share in by_column.items()}, abs=1e-12)
    assert published > 8


@pytest.mark.parametrize("method", [rt.Mondrian(), rt.Burel()], ids=lambda method: method.name)
def test_compare_and_sweep_show_the_loss_of_the_release(method):
    frame = draw_table(random.Random(7), 300)
    job = rt.Job(
        columns={
            "age": rt.quasi(),
            "zip": rt.quasi(type="categorical", hierarchy={"build": "prefixes"}),
            "work": rt.quasi(),
            "s": rt.sensitive(),
        },
        promises=[rt.BetaLikeness(2)],
        method=method,
        release=rt.Output(undeclared="drop"),
    )
    loss = rt.publish(job, frame=frame, seed=5).audited.utility["ail"]
    compared = rt.compare(job, frame=frame, attacks=[], classification=False, seed=5)
    assert compared.rows[0]["loss"]["ail"] == loss
    swept = rt.sweep(job, frame=frame, seed=5, beta=[2]).frame()
    assert swept["loss"].to_list() == swept["ail"].to_list() == [loss]
    checked = rt.check(job, frame=frame, methods=["mondrian", "burel"], seed=5)
    for summary in checked.methods:
        by_other = job.at(method=summary.method)
        assert summary.ail == rt.publish(by_other, frame=frame, seed=5).audited.utility["ail"]


def test_numbers_in_bands_print_bands_under_a_method_that_prints_sets():
    frame = draw_table(random.Random(1), 300).drop_nulls()
    job = rt.Job(
        columns={
            "age": rt.quasi(hierarchy={"build": "intervals", "width": [5, 20]}),
            "town": rt.quasi(),
            "s": rt.sensitive(),
        },
        promises=[rt.KAnonymity(5)],
        method=rt.Mondrian(labels="sets"),
        release=rt.Output(undeclared="drop"),
    )
    release = rt.publish(job, frame=frame, seed=1)
    assert release.audited.kept
    assert not any(label.startswith("{") for label in release.frame()["age"])
