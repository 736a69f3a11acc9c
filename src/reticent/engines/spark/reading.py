"""How a batch of Spark's becomes rows as every engine reads them: names, types, missing marks, values as they are declared.

What must be known of a whole column before a value of it can be read (whether all moments are midnights, whether all numbers
are whole) was asked of its distinct values on the driver: a value is then looked up.  Everything else is done row by row, by
the functions that `local` calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from reticent.engines.spark.crossing import received
from reticent.table.carried import rounded
from reticent.table.roles import Column
from reticent.table.source import is_text, marked_missing

ROWS = 1 << 18  # that are read at once


@dataclass(frozen=True, eq=False)
class Reading:
    """`schema` is what the source has; `read` maps values of a column to what they are declared to be."""

    schema: Mapping[str, pl.DataType]
    missing: tuple[str, ...] = ()
    read: Mapping[str, pl.DataFrame] = field(default_factory=dict)  # of two columns, "raw" and "read"
    columns: Mapping[str, Column] = field(default_factory=dict)  # those that are rounded

    def only(self, names: Iterable[str]) -> Reading:
        """The reading of some columns, in that order."""
        wanted = list(names)
        return replace(
            self,
            schema={name: self.schema[name] for name in wanted},
            read={name: frame for name, frame in self.read.items() if name in wanted},
            columns={name: column for name, column in self.columns.items() if name in wanted},
        )

    def frame(self, crossed: pl.DataFrame) -> pl.DataFrame:
        rows = received(crossed, self.schema)
        if self.missing:
            rows = marked_missing(rows.lazy(), rows.schema, self.missing).collect()
        for name, known in self.read.items():
            found = rows.select(raw=pl.col(name)).join(known, on="raw", how="left", maintain_order="left")["read"]
            if found.null_count() != rows[name].null_count():  # a value that was not there when it was asked for
                from reticent.engines.changed import changed

                raise changed()
            rows = rows.with_columns(found.alias(name))
        return rounded(rows.lazy(), self.columns).collect() if self.columns else rows

    def frames(self, batches: Iterable[Any]) -> Iterator[pl.DataFrame]:
        """The rows of a partition, so many at a time."""
        for table in gathered(batches):
            yield self.frame(table)


def gathered(batches: Iterable[Any], most: int = ROWS) -> Iterator[pl.DataFrame]:
    """Record batches as frames of so many rows or a few more."""
    held, rows = [], 0
    for batch in batches:
        held.append(batch)
        rows += batch.num_rows
        if rows >= most:
            yield together(held)
            held, rows = [], 0
    if held:
        yield together(held)


def together(batches: list[Any]) -> pl.DataFrame:
    import pyarrow as pa

    found = pl.from_arrow(pa.Table.from_batches(batches))
    assert isinstance(found, pl.DataFrame)
    return found.with_columns(pl.col(name).cast(pl.String) for name, kind in found.schema.items() if is_text(kind))
