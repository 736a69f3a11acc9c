"""Random tables as jobs, and their releases as the oracle takes them."""

from __future__ import annotations

from collections import Counter

import polars as pl
from hypothesis import strategies as st

import reticent as rt
from reticent import registry
from tests.oracle import measures
from tests.oracle.groups import rows_of
from tests.oracle.labels import describe
from tests.support.strategies import Table, conjunctions, for_the_oracle, tables


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
