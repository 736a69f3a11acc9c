"""Honest releases, one of each kind and format: what forgers start from."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path

import polars as pl

from tests.support import method_promise_pairs
from tests.support.method_promise_pairs import Pair

PAIRS = {
    "generalized": ("mondrian", "beta-likeness"),
    "anatomized": ("anatomy", "probabilistic-l-diversity"),
    "perturbed": ("beta-perturbation", "beta-likeness"),
    "transformed": ("distribution", "p-privacy"),
    "sampled": ("perturbed-generalization", "rho-guarantee"),
}
"""A method and a promise for each kind."""


@cache
def _pair(kind: str) -> Pair:
    return next(pair for pair in method_promise_pairs.pairs() if (pair.method, pair.promise) == PAIRS[kind])


def release(kind: str, target: Path, format: str = "parquet", *, cut: bool = False) -> Path:
    """A copy of the kind's release, at `target`; `cut` into parts, which `small_parts` allows."""
    turns = (
        *((method_promise_pairs.as_csv,) if format == "csv" else ()),
        *((method_promise_pairs.cut,) if cut else ()),
    )
    made = method_promise_pairs.released(_pair(kind), *turns)[0]
    shutil.copytree(made.folder, target)
    target.chmod(0o755)
    return target


def source(kind: str) -> pl.DataFrame:
    return method_promise_pairs.released(_pair(kind))[1]
