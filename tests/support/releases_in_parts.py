"""Releases of every kind, whole and in parts of a few rows."""

from __future__ import annotations

from functools import cache

import polars as pl

import reticent as rt
from reticent import catalogue
from tests.support import method_promise_pairs
from tests.support.honest_releases import PAIRS
from tests.support.method_promise_pairs import drafted

KINDS = list(catalogue.KINDS)
FORMATS = {"parquet": (), "csv": (method_promise_pairs.as_csv,)}


def turns(kind: str, format: str) -> tuple[method_promise_pairs.Turn, ...]:
    return (
        *(() if kind == "sampled" else (method_promise_pairs.carry,)),
        *FORMATS[format],
    )  # a sampled release carries nothing


@cache
def released(
    kind: str, format: str = "parquet", part_rows: int | None = None, engine: str = "local"
) -> tuple[rt.Release, pl.DataFrame]:
    """A release of a kind, whole or in parts, and the table that it is of."""
    pair = next(pair for pair in method_promise_pairs.pairs() if (pair.method, pair.promise) == PAIRS[kind])
    draft = drafted(pair, *turns(kind, format))
    draft.output["part_rows"] = part_rows
    return rt.publish(draft.job(), frame=draft.frame, seed=5, engine=engine), draft.frame
