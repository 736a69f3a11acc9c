"""Another table's values placed on this table's domains, so that labels can be asked whom they cover there.

A value lies between two codes: `down` is the greatest code whose value is not above it, `up` the least whose value
is not below it; both are its code where the domain has it.  A label that covers the codes lo .. hi covers the value
iff lo <= down and up <= hi.  A value the domain does not know (and one outside its range) lies in no span of codes,
only under `*`, which `Domain.covered` gives as -1 .. size.  A number or date beyond a declared top or bottom stands
at the bound, as it would if it were published.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from reticent.errors import ColumnError
from reticent.table.banded import BandDomain
from reticent.table.domain import Domain, RangeDomain
from reticent.table.ends import clipped
from reticent.table.parsing import comparable, dates, numbers
from reticent.table.types import typed


def place(domain: Domain, series: pl.Series) -> tuple[np.ndarray, np.ndarray]:
    """(down, up) of each value, int32."""
    series = comparable(domain.name, series)
    raw = series.unique().drop_nulls()
    if isinstance(domain, RangeDomain) and domain.kind in ("numeric", "date"):
        down, up = _between(domain, raw)
    else:
        code = _codes(domain, raw)
        down, up = code, np.where(code < 0, domain.size, code)
    null = (domain.null_code, domain.null_code) if domain.null else (-1, domain.size)
    return _spread(series, raw, down, null[0]), _spread(series, raw, up, null[1])


def _between(domain: RangeDomain, raw: pl.Series) -> tuple[np.ndarray, np.ndarray]:
    known = typed(list(domain.texts), domain.dtype)
    found = numbers(domain.name, raw) if domain.kind == "numeric" else dates(domain.name, raw)
    if domain.kind == "numeric" and not (known.dtype.is_integer() and found.dtype.is_integer()):
        known, found = known.cast(pl.Float64), found.cast(pl.Float64)
    elif domain.kind == "date" and known.dtype != found.dtype:
        raise ColumnError(
            f"Column {domain.name!r} holds {known.dtype} in one table and {found.dtype} in the other.",
            attempt="the same type in both.",
        )
    elif known.dtype != found.dtype:
        known, found = known.cast(pl.Int64), found.cast(pl.Int64)
    found = clipped(domain.name, domain.ends, found)
    up = known.search_sorted(found, "left").to_numpy()
    down = known.search_sorted(found, "right").to_numpy().astype(np.int64) - 1
    return down.astype(np.int32), np.where(up == len(known), domain.size, up).astype(np.int32)


def _codes(domain: Domain, raw: pl.Series) -> np.ndarray:
    """The code of each value that the domain knows, -1 of others; under a hierarchy of numbers they are compared as numbers."""
    texts: list = raw.cast(pl.String).to_list()
    known = {text: code for code, text in enumerate(domain.texts)}
    if isinstance(domain, BandDomain) and domain.kind == "numeric":
        known = {position: code for code, position in enumerate(domain.positions.tolist())}
        texts = numbers(domain.name, raw).cast(pl.Float64).to_list()
    return np.array([known.get(text, -1) for text in texts], np.int32)


def _spread(series: pl.Series, raw: pl.Series, codes: np.ndarray, null: int) -> np.ndarray:
    if not len(raw):
        return np.full(len(series), null, np.int32)
    coded = series.replace_strict(raw, pl.Series(codes, dtype=pl.Int32), default=None, return_dtype=pl.Int32)
    return coded.fill_null(null).to_numpy()
