"""For random tables, roles, hierarchies and promises: a release keeps what it promised, by the oracle's own count.

Nothing here asks the product whether it kept its word: groups, labels and promises are read by tests/oracle alone.
"""

from __future__ import annotations

from collections import Counter

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import reticent as rt
from tests.oracle import measures
from tests.oracle.groups import histograms, overall
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

UNHURRIED = settings(deadline=None, max_examples=250, suppress_health_check=list(HealthCheck))


@UNHURRIED
@given(requests(missing_sensitive=True, awkward=True))
def test_every_release_keeps_its_promises_by_the_oracles_count(request):
    table, promises = request
    try:
        release = rt.publish(job_of(table, promises), frame=frame_of(table))
    except rt.PromiseUnreachable:
        assert not whole_table_keeps(table, promises)
        return
    rows = published_rows(release, table)
    assert measures.all_hold(histograms(rows), for_the_oracle(table, promises))
    assert Counter(value for _, value in rows) == Counter(row["s"] for row in table.rows)
    assert is_covering(source_rows(table), rows, oracle_columns(table))


@settings(UNHURRIED, max_examples=60)
@given(requests(missing_sensitive=True, carried=True))
def test_carried_columns_stay_with_their_sensitive_value(request):
    table, promises = request
    assume(whole_table_keeps(table, promises))
    frame = rt.publish(job_of(table, promises), frame=frame_of(table)).frame()
    assert Counter(zip(frame["s"], frame["c"], strict=True)) == Counter((row["s"], row["c"]) for row in table.rows)


@settings(UNHURRIED, max_examples=60)
@given(requests(missing_sensitive=True), st.randoms(use_true_random=False))
def test_permuting_the_input_rows_changes_no_release(request, chance):
    table, promises = request
    assume(whole_table_keeps(table, promises))
    shuffled = Table(chance.sample(table.rows, len(table.rows)), table.columns, table.sensitive, table.quasi)
    first, second = (rt.publish(job_of(table, promises), frame=frame_of(t), seed=1) for t in (table, shuffled))
    assert Counter(published_rows(first, table)) == Counter(published_rows(second, table))


@settings(UNHURRIED, max_examples=60)
@given(requests(missing_sensitive=False))
def test_the_audit_agrees_with_the_oracle_on_every_measure(request):
    table, promises = request
    assume(whole_table_keeps(table, promises))
    release = rt.publish(job_of(table, promises), frame=frame_of(table))
    groups = histograms(published_rows(release, table))
    found = rt.audit(release.folder).to_dict()
    assert found["kept"] is True
    assert found["rows"] == sum(overall(groups).values())
    assert found["groups"] == len(groups)
    assert found["achieved"]["k-anonymity"] == measures.k_anonymity(groups)
    assert found["achieved"]["distinct-l-diversity"] == measures.distinct_l(groups)


@settings(UNHURRIED, max_examples=80)
@given(requests(missing_sensitive=True, carried=True, most_rows=60))
def test_the_audit_finds_every_published_row_in_its_source(request):
    table, promises = request
    assume(whole_table_keeps(table, promises))
    release = rt.publish(job_of(table, promises), frame=frame_of(table))
    found = rt.audit(release.folder, source=frame_of(table))
    assert found.source.unmatched == 0
