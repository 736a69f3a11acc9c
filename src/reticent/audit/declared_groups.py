"""Are the groups of a transformed release those that its manifest declares?

The method's `group_by` and `within` say which rows are in one group: rows that agree in some columns, or in bands of them; within
these all rows, each combination of quasi-identifiers, or stretches of a curve.  Quasi-identifiers are published as they are, so
the files show it without the source.  The groups of `group_by = "mondrian"` are not made again: what is checked of them is
that combinations are not divided and that none is too small.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from reticent.audit.grouping import Numbered, combined, number
from reticent.errors import BundleDamaged, some
from reticent.release.guaranteed import GROUP
from reticent.release.numbers import fraction
from reticent.release.shape import Misshapen

MONDRIAN, DEFAULT_K = "mondrian", 10
ROWS, TIMES, LAST = "\x00rows", "\x00times", "\x00last"


def count_combinations(rows: pl.DataFrame, quasi: Sequence[str], times: np.ndarray | None = None) -> pl.DataFrame:
    """Count the rows of each combination of quasi-identifiers, if every combination is in one group.

    Returns one row for each combination: the quasi-identifiers, the group and ROWS.
    """
    each = pl.Series(TIMES, np.ones(len(rows), np.int64) if times is None else times)
    found = (
        rows.select(*quasi, GROUP)
        .with_columns(each)
        .group_by(quasi)
        .agg(
            pl.col(GROUP).min(),
            pl.col(GROUP).max().alias(LAST),
            pl.col(TIMES).sum().alias(ROWS),
        )
    )
    divided = int((found[GROUP] != found[LAST]).sum())
    if divided:
        raise _contradiction(
            f"People who agree in every quasi-identifier are in one group, and {some(divided, 'combination', 'is', 'are')} in several."
        )
    return found.drop(LAST)


def require_declared_groups(combinations: pl.DataFrame, rows: np.ndarray, method: Mapping[str, Any]) -> None:
    """Refuse groups that contradict the method's `group_by`, `within`, `size` and `k`.

    Parameters: each combination with its group, the rows of each group, and the method's parameters.
    """
    within = method.get("within", "sa-only")
    group_by = method.get("group_by")
    group = combinations[GROUP].to_numpy().astype(np.int64)
    if within == "qi-sa" and len(group) != len(rows):
        raise _contradiction(
            f"Each combination of quasi-identifiers is a group, by the manifest; there are {len(group):,} in {len(rows):,} groups."
        )
    if group_by == MONDRIAN:
        least = int(fraction(method.get("k") or DEFAULT_K))
        small = int((rows < least).sum())
        if within == "sa-only" and small:
            raise _contradiction(f"{some(small, 'group', 'has', 'have')} fewer than {least} rows, which k declares.")
        return
    keys, parts = _declared_parts(combinations, group_by)
    lowest = np.full(len(rows), parts)
    highest = np.full(len(rows), -1)
    np.minimum.at(lowest, group, keys)
    np.maximum.at(highest, group, keys)
    mixed = int((lowest != highest).sum())
    if mixed:
        raise _contradiction(
            f"{some(mixed, 'group', 'has', 'have')} rows of several of the parts that group_by declares."
        )
    groups = np.bincount(lowest, minlength=parts)
    allowed = np.ones(parts, np.int64)
    if within == "qi-sa":
        return
    if within == "hilbert":
        if method.get("size") is None:
            return
        in_part = np.bincount(lowest, weights=rows, minlength=parts).astype(np.int64)
        allowed = np.maximum(in_part // int(fraction(method["size"])), 1)
    divided = int((groups > allowed).sum())
    if divided:
        raise _contradiction(
            f"{some(divided, 'part', 'is', 'are')} divided into more groups than group_by, within and size allow."
        )


def _declared_parts(combinations: pl.DataFrame, group_by: Any) -> tuple[np.ndarray, int]:
    """The part of each combination, by the columns and bands that the manifest declares; how many parts there are."""
    if group_by is None:
        return np.zeros(len(combinations), np.int64), 1
    if isinstance(group_by, str):
        bands: Mapping[str, Sequence[Any]] = {group_by: ()}
    elif isinstance(group_by, Mapping):
        bands = group_by
    else:
        bands = dict.fromkeys(group_by, ())
    if not bands or not set(bands) <= set(combinations.columns) - {GROUP}:
        raise _contradiction("The manifest groups by columns that are no quasi-identifiers.")
    columns = [_number_parts(combinations[name], edges) for name, edges in bands.items()]
    parts, keys = combined(columns, len(combinations))
    return keys, parts


def _number_parts(values: pl.Series, edges: Sequence[Any]) -> Numbered:
    """A column in its values, or in bands of numbers from an edge up to the next; a missing value is a part of its own."""
    if not edges:
        return number(values)
    try:
        ends = np.array([float(fraction(edge)) for edge in edges])
    except (Misshapen, TypeError, ValueError, ArithmeticError):
        raise _contradiction("The manifest groups by bands whose edges are no numbers.") from None
    places = values.cast(pl.Float64, strict=False).fill_nan(None)
    band = np.searchsorted(ends, places.fill_null(0.0).to_numpy(), side="right")
    band[places.is_null().to_numpy()] = len(ends) + 1
    return number(pl.Series(band))


def _contradiction(why: str) -> BundleDamaged:
    return BundleDamaged(
        "The groups of the release are not those that its manifest declares.",
        why=why,
        attempt="getting the folder again from its publisher.",
    )
