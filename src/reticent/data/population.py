"""A population: the table that a release's people were drawn from, read for k-map and never published.

`locate_values` places another table's values on this table's domains, so that it can be computed whom a label covers
there. A value lies between two codes: `down` is the greatest code whose value is not above it, `up` the least whose
value is not below it; both are its code where the domain has it. A label that covers the codes lo .. hi covers the
value iff lo <= down and up <= hi. A value that the domain does not contain (and one outside its range) lies in no
span of codes, only under `*`, for which `Domain.find_covered_codes` gives -1 .. size. A number or date beyond a
declared top or bottom is placed at the bound, as it would be published.

A promise names its population by a path alone, and a steward's tables come out of one system; so `read_population`
reads it as the job's own table is read, with the same null values, delimiter, encoding and formats. A population's
column that does not read in the job's format stays as it is, and is refused if it reads as no date or number at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from reticent.data.cells import COUNT_COLUMN
from reticent.data.columns import Column, clip_values, quasi, require_supported_types
from reticent.data.csv import suggest_column
from reticent.data.declared_withholding import has_values, list_complete_columns
from reticent.data.domain import BandDomain, Domain, RangeDomain
from reticent.data.parsing import parse_dates, parse_numbers, parse_texts, to_comparable
from reticent.data.source import Source, collect_frame, scan_source, with_spellings
from reticent.data.text_formats import parse_stated
from reticent.errors import ColumnError, pluralize, quote_list


@dataclass(frozen=True, eq=False)
class LoadedPopulation:
    """A population that was read, and the name that the promise gives it."""

    named: Any
    rows: pl.DataFrame


def read_population(
    source: Source,
    population: Any,
    columns: Mapping[str, Column],
    domains: Sequence[Domain],
    table: str = "population",
) -> LoadedPopulation:
    """Read the values that a population has in the columns of these domains, as the job's own `source` is read.

    `table` is what errors call it.
    """
    lazy = _scan_like_source(source, population)
    present = lazy.collect_schema().names()
    _require_columns([domain.name for domain in domains], present, lazy, table)
    types = {domain.name: str(domain.dtype) for domain in domains}
    rows = collect_frame(lazy.select(list(types)), f"Reading the {table}")
    formatted = {name: columns[name] for name in types if columns[name].format is not None}
    people = parse_stated(rows, formatted, types)
    complete_names = [name for name in list_complete_columns(columns) if name in types]
    if complete_names:  # nobody who is published can be somebody without a value there
        people = people.filter(has_values(people.schema, complete_names))
    return LoadedPopulation(population, people)


def scan_population(population: Any) -> pl.LazyFrame:
    """Scan the people lazily, from a path, a `Source` or a frame."""
    if isinstance(population, LoadedPopulation):
        return population.rows.lazy()
    if isinstance(population, Path | str):
        return scan_source(Source(path=str(population)))
    if isinstance(population, Source):
        return scan_source(population)
    return scan_source(Source(), population)


def count_population(population: Any, names: Sequence[str]) -> tuple[pl.DataFrame, np.ndarray]:
    """Return the distinct combinations of these columns, and how many people have each."""
    lazy = scan_population(population)
    schema = lazy.collect_schema()
    _require_columns(names, schema.names(), lazy)
    require_supported_types(schema, {name: quasi() for name in names})
    table = collect_frame(lazy.group_by(names).len(name=COUNT_COLUMN), "Counting the population")
    return table.drop(COUNT_COLUMN), table[COUNT_COLUMN].to_numpy().astype(np.int64)


def _require_columns(
    names: Sequence[str], present: Sequence[str], lazy: pl.LazyFrame, table: str = "population"
) -> None:
    """Refuse a population, or another such table, without one of the columns."""
    lacking = [name for name in names if name not in present]
    if lacking:
        raise ColumnError(
            f"The {table} table lacks {pluralize(len(lacking), 'quasi-identifying column' if table == 'population' else 'column')}: "
            f"{quote_list(lacking)}.",
            attempt=suggest_column(lacking[0], present, lazy),
        )


def locate_values(domain: Domain, series: pl.Series) -> tuple[np.ndarray, np.ndarray]:
    """Return (down, up) of each value, int32."""
    series = to_comparable(domain.name, series)
    raw = series.unique().drop_nulls()
    if isinstance(domain, RangeDomain) and domain.kind in ("numeric", "date"):
        down, up = _locate_between(domain, raw)
    else:
        down = _find_codes(domain, raw)
        up = np.where(down < 0, domain.size, down)
    null_down = domain.null_code if domain.null else -1
    null_up = domain.null_code if domain.null else domain.size
    return _spread_codes(series, raw, down, null_down), _spread_codes(series, raw, up, null_up)


def _scan_like_source(source: Source, population: Any) -> pl.LazyFrame:
    if isinstance(population, Source):
        return scan_source(population)
    if isinstance(population, str | Path):
        return scan_source(replace(source, path=str(population), url=None, table=None, query=None))
    return scan_source(with_spellings(Source(missing=source.missing), source.spellings), population)


def _locate_between(domain: RangeDomain, raw: pl.Series) -> tuple[np.ndarray, np.ndarray]:
    """Return (down, up) of numbers or dates, which may lie between the domain's."""
    domain_values = parse_texts(list(domain.texts), domain.dtype)
    values = parse_numbers(domain.name, raw) if domain.kind == "numeric" else parse_dates(domain.name, raw)
    if domain.kind == "numeric" and not (domain_values.dtype.is_integer() and values.dtype.is_integer()):
        domain_values = domain_values.cast(pl.Float64)
        values = values.cast(pl.Float64)
    elif domain.kind == "date" and domain_values.dtype != values.dtype:
        raise ColumnError(
            f"Column {domain.name!r} holds {domain_values.dtype} in one table and {values.dtype} in the other.",
            attempt="the same type in both.",
        )
    elif domain_values.dtype != values.dtype:
        domain_values = domain_values.cast(pl.Int64)
        values = values.cast(pl.Int64)
    values = clip_values(domain.name, domain.ends, values)
    up = domain_values.search_sorted(values, "left").to_numpy()
    down = domain_values.search_sorted(values, "right").to_numpy().astype(np.int64) - 1
    return down.astype(np.int32), np.where(up == len(domain_values), domain.size, up).astype(np.int32)


def _find_codes(domain: Domain, raw: pl.Series) -> np.ndarray:
    """Return the code of each value, -1 if the domain lacks it.

    Under a hierarchy of numbers values are compared as numbers.
    """
    texts: list = raw.cast(pl.String).to_list()
    code_of_value = {text: code for code, text in enumerate(domain.texts)}
    if isinstance(domain, BandDomain) and domain.kind == "numeric":
        code_of_value = {position: code for code, position in enumerate(domain.positions.tolist())}
        texts = parse_numbers(domain.name, raw).cast(pl.Float64).to_list()
    return np.array([code_of_value.get(text, -1) for text in texts], np.int32)


def _spread_codes(series: pl.Series, raw: pl.Series, codes: np.ndarray, null: int) -> np.ndarray:
    """Return the code of each row, from the codes of its distinct values and that of null."""
    if not len(raw):
        return np.full(len(series), null, np.int32)
    coded = series.replace_strict(raw, pl.Series(codes, dtype=pl.Int32), default=None, return_dtype=pl.Int32)
    return coded.fill_null(null).to_numpy()
