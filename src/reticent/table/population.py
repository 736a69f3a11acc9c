"""A population: the table that a release's people were drawn from, read for k-map and never published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from reticent.errors import ColumnError, listed, some
from reticent.table.codec import COUNT
from reticent.table.header import known
from reticent.table.roles import quasi
from reticent.table.source import Source, collect, scan
from reticent.table.supported import refuse_unsupported


@dataclass(frozen=True, eq=False)
class People:
    """A population that was read, and what the promise calls it."""

    named: Any
    rows: pl.DataFrame


def population_rows(population: Any) -> pl.LazyFrame:
    """The people, lazily, from a path, a `Source` or a frame."""
    if isinstance(population, People):
        return population.rows.lazy()
    if isinstance(population, Path | str):
        return scan(Source(path=str(population)))
    return scan(population) if isinstance(population, Source) else scan(Source(), population)


def combinations(population: Any, names: Sequence[str]) -> tuple[pl.DataFrame, np.ndarray]:
    """The distinct combinations of these columns, and how many people have each."""
    lazy = population_rows(population)
    schema = lazy.collect_schema()
    lacking = [name for name in names if name not in schema]
    if lacking:
        raise ColumnError(
            f"The population table lacks {some(len(lacking), 'quasi-identifying column')}: {listed(lacking)}.",
            attempt=known(lacking[0], schema.names(), lazy),
        )
    refuse_unsupported(schema, {name: quasi() for name in names})
    table = collect(lazy.group_by(names).len(name=COUNT), "Counting the population")
    return table.drop(COUNT), table[COUNT].to_numpy().astype(np.int64)
