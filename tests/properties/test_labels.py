"""For random tables, promises, methods and styles of labels: releases keep what they promise and cover their rows, by the oracle."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import reticent as rt
from tests.oracle import measures
from tests.oracle.groups import histograms
from tests.oracle.row_matching import is_covering
from tests.support.random_jobs import (
    frame_of,
    job_of,
    oracle_columns,
    published_rows,
    requests,
    source_rows,
    whole_table_keeps,
)
from tests.support.strategies import Table, for_the_oracle

QUICK = settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))
STYLES = {
    "numeric": [
        "tight",
        "snapped",
        {"style": "snapped", "step": 3},
        {"style": "padded", "width": 2},
        {"style": "padded", "width": 2, "share": 0.5},
    ],
    "date": [
        "tight",
        "snapped",
        {"style": "snapped", "step": "month"},
        {"style": "padded", "width": 20},
        {"style": "padded", "width": 20, "share": 0.2},
    ],
    "categorical": ["nodes", "sets"],
    "ordinal": ["tight"],
}
METHODS = {
    "mondrian": rt.Mondrian(),
    "mondrian, sets": rt.Mondrian(labels="sets"),
    "mosaic": rt.Mosaic(effort="quick"),
}


def styled(
    table: Table, promises: list[dict], method: str, draw: st.DataObject, *, seed: int | None = None
) -> rt.Release:
    """A release whose columns each have a style of their own; a style that does not fit the column's values is left out."""
    job = job_of(table, promises, METHODS[method])
    columns = dict(job.columns)
    for name in table.quasi:
        asked = replace(columns[name], labels=draw.draw(st.sampled_from(STYLES[table.columns[name]["kind"]])))
        try:
            rt.count(
                job.at(columns={name: asked, "s": columns["s"]}, promises=[rt.KAnonymity(1)]), frame=frame_of(table)
            )
        except rt.RequestError:
            continue
        columns[name] = asked
    return rt.publish(job.at(columns=columns), frame=frame_of(table), seed=seed)


@QUICK
@given(requests(missing_sensitive=True, awkward=True), st.sampled_from(sorted(METHODS)), st.data())
def test_a_release_with_any_labels_keeps_its_promises_and_covers_its_rows(request, method, draw):
    table, promises = request
    assume(whole_table_keeps(table, promises))
    try:
        release = styled(table, promises, method, draw)
    except rt.JobError:
        assume(False)  # a promise that this method does not keep
    except rt.PromiseUnreachable as error:
        said = str(error)
        assert "with these labels" in said  # a refusal is one of the right outcomes
        return
    rows = published_rows(release, table)
    assert measures.all_hold(histograms(rows), for_the_oracle(table, promises))
    assert is_covering(source_rows(table), rows, oracle_columns(table))
    found = rt.audit(release.folder, source=frame_of(table))
    assert found.kept and found.source.passed
