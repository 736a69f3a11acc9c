"""For random tables, roles, hierarchies and promises: a release keeps what it promised, by the oracle's own count.

Nothing here asks the product whether it kept its word: groups, labels and promises are read by tests/oracle alone.
"""

from __future__ import annotations

from collections import Counter

import polars as pl
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import reticent as rt
from reticent import registry
from tests.oracle import measures
from tests.oracle.covering import is_covering
from tests.oracle.groups import histograms, overall, rows_of
from tests.oracle.labels import describe
from tests.properties.strategies import Table, conjunctions, for_the_oracle, tables

UNHURRIED = settings(deadline=None, max_examples=250, suppress_health_check=list(HealthCheck))


def frame_of(table: Table) -> pl.DataFrame:
    types = {"numeric": pl.Float64, "date": pl.Date}
    return pl.DataFrame(
        {
            name: pl.Series([row[name] for row in table.rows], dtype=types.get(column["kind"], pl.String), strict=False)
            for name, column in table.columns.items()
        }
    )


def job_of(table: Table, promises: list[dict], method: object = None, **options: object) -> rt.Job:
    columns = {
        name: rt.Column(
            column["role"],
            type=column["kind"],
            hierarchy=column["hierarchy"],
            order=column["order"],
            missing="category" if column["role"] == "sensitive" else "refuse",
            acknowledge=True,
        )
        for name, column in table.columns.items()
    }
    return rt.Job(columns=columns, promises=[registry.make_promise(p) for p in promises], method=method, **options)


def oracle_columns(table: Table) -> list:
    described = []
    for name in table.quasi:
        column = table.columns[name]
        described.append(describe(column["kind"], table.column(name), column["hierarchy"], column["order"]))
    return described


def published_rows(release: rt.Release, table: Table) -> list[tuple]:
    return rows_of(release.frame().to_dicts(), table.quasi, table.sensitive)


def source_rows(table: Table) -> list[tuple]:
    return [
        (
            tuple(
                float(row[q]) if table.columns[q]["kind"] == "numeric" and row[q] is not None else row[q]
                for q in table.quasi
            ),
            row["s"],
        )
        for row in table.rows
    ]


@st.composite
def requests(draw: st.DrawFn, **shape: object) -> tuple[Table, list[dict]]:
    table = draw(tables(**shape))
    promises = draw(conjunctions(hierarchical=table.columns["s"]["hierarchy"] is not None))
    return table, promises


def whole_table_keeps(table: Table, promises: list[dict]) -> bool:
    group = Counter(row["s"] for row in table.rows)
    return measures.all_hold([group], for_the_oracle(table, promises))


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
