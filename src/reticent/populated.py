"""A population read as the job's own table is: the same marks of missing values, delimiter, encoding and formats.

A promise names the population by its path alone, and a steward's tables come out of one system.  A column that does not read in
the job's format stays as it is, and is refused where it reads as no date or number at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from reticent.job import Job
from reticent.table.cells import Cells
from reticent.table.population import People
from reticent.table.roles import Column
from reticent.table.source import Source, collect, scan
from reticent.table.written import as_stated


def populated(job: Job, columns: Mapping[str, Column], cells: Cells) -> Job:
    """The job with each population that a promise names as a table of typed values; for planning and the audit, never kept."""
    asked: list[Any] = list(job.promises)
    promises = [
        replace(promise, population=_read(job.source, promise.population, columns, cells))
        if hasattr(promise, "population")
        else promise
        for promise in asked
    ]
    return job.at(promises=promises) if any(hasattr(promise, "population") for promise in promises) else job


def _read(source: Source, population: Any, columns: Mapping[str, Column], cells: Cells) -> People:
    lazy = _rows(source, population)
    present = set(lazy.collect_schema().names())
    types = {domain.name: str(domain.dtype) for domain in cells.quasi if domain.name in present}
    rows = collect(lazy.select(list(types)), "Reading the population") if types else lazy.collect()
    formatted = {name: columns[name] for name in types if columns[name].format is not None}
    return People(population, as_stated(rows, formatted, types))


def _rows(source: Source, population: Any) -> pl.LazyFrame:
    if isinstance(population, Source):
        return scan(population)
    if isinstance(population, str | Path):
        return scan(replace(source, path=str(population), url=None, table=None, query=None))
    return scan(Source(missing=source.missing), population)
