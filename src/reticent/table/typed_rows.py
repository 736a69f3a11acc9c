"""Rows with their columns as declared: dates and numbers read as they are written, carried numbers rounded."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from reticent.table import carried
from reticent.table.roles import Column
from reticent.table.written import as_declared


def typed(lazy: pl.LazyFrame, columns: Mapping[str, Column]) -> pl.LazyFrame:
    return carried.rounded(carried.as_declared(as_declared(lazy, columns), columns), columns)
