"""A command opens the files of its source no more often than it has to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import reticent as rt
from reticent.data.source import Source
from reticent.job.draft import draft_job
from tests.house.measure import PATIENTS, Trace, trace_publish

MAX_OPENS = 3
"""Is there a byte, what does the first line hold, and is every row as wide as it: Polars reads the rows itself."""


def test_publishing_opens_a_csv_three_times_at_most():
    assert 0 < trace_publish().opened <= MAX_OPENS


def make_job(folder: Path, *promises: Any) -> rt.Job:
    columns = {"name": rt.identifying(), "age": rt.quasi(), "city": rt.quasi(), "disease": rt.insensitive()}
    return rt.Job(source=folder / "patients.csv", columns=columns, promises=[rt.KAnonymity(3), *promises])


def publish(folder: Path, *promises: Any, **options: Any) -> rt.Release:
    return rt.publish(
        make_job(folder, *promises), to=folder / "release", ledger=folder / "ledger", force=True, again=True, **options
    )


CALLS: dict[str, Callable[[Path], object]] = {
    "a draft": lambda folder: draft_job(Source(path=str(folder / "patients.csv"))),
    "a check": lambda folder: rt.check(make_job(folder)),
    "a plan": lambda folder: rt.plan(make_job(folder)),
    "publishing carried columns": publish,
    "publishing as a stream": lambda folder: publish(folder, engine="stream"),
    "publishing people of a population": lambda folder: publish(folder, rt.KMap(3, population=folder / "people.csv")),
}


@pytest.mark.parametrize("name", CALLS)
def test_other_calls_open_a_csv_no_more_often(tmp_path, name):
    for file in ("patients.csv", "people.csv"):
        (tmp_path / file).write_text(PATIENTS, encoding="utf-8")
    traces = [Trace(tmp_path / "patients.csv"), Trace(tmp_path / "people.csv")]
    for trace in traces:
        trace.is_on = True
    try:
        CALLS[name](tmp_path)
    finally:
        for trace in traces:
            trace.is_on = False
    assert 0 < traces[0].opened <= MAX_OPENS and traces[1].opened <= MAX_OPENS


def test_an_audit_and_questions_with_the_source_open_it_no_more_often(tmp_path):
    source = tmp_path / "patients.csv"
    source.write_text(PATIENTS, encoding="utf-8")
    release = publish(tmp_path)
    for call in (
        lambda: rt.audit(release.folder, source=source),
        lambda: release.measure(["SELECT COUNT(*) FROM release WHERE age > 30"], source),
    ):
        source.touch()
        trace = Trace(source)
        trace.run(call)
        assert 0 < trace.opened <= MAX_OPENS
