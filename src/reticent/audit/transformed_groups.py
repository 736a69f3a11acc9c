"""Checks of the groups of a transformed release: are they those that its manifest declares, and what are their names?

The method's `group_by` and `within` declare which rows are in one group: rows that agree in some columns, or in bands
of them; within these all rows, each combination of quasi-identifiers, or stretches of a curve. Quasi-identifiers are
published as they are, so the files show it without the source. The groups of `group_by = "mondrian"` are not
recomputed: only that combinations are not divided and that none is too small is checked.

Groups have names, so that a promise that names targets by group can be compared with them (`name_groups`). A group is
named by its values, such as North, or North / F where two columns make it; a band of numbers prints as 18 to 40.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

from reticent.audit.groups import NumberedColumn, combine_columns, number_values
from reticent.catalogue import METHODS
from reticent.errors import BundleDamaged, pluralize
from reticent.estimate.guaranteed_bounds import GROUP_COLUMN
from reticent.format.data_files import count_distinct_rows
from reticent.format.manifest import Manifest
from reticent.format.schema_checks import MisshapenValue, parse_fraction

MONDRIAN_METHOD = "mondrian"
ROWS_COLUMN = "\x00rows"
MULTIPLICITY_COLUMN = "\x00times"
LAST_COLUMN = "\x00last"
MISSING_NAME = "missing"


def count_combinations(rows: pl.DataFrame, quasi: Sequence[str], times: np.ndarray | None = None) -> pl.DataFrame:
    """Count the rows of each combination of quasi-identifiers, if every combination is in one group.

    Returns one row for each combination: the quasi-identifiers, the group and ROWS_COLUMN.
    """
    multiplicity = pl.Series(MULTIPLICITY_COLUMN, np.ones(len(rows), np.int64) if times is None else times)
    combinations = (
        rows.select(*quasi, GROUP_COLUMN)
        .with_columns(multiplicity)
        .group_by(quasi)
        .agg(
            pl.col(GROUP_COLUMN).min(),
            pl.col(GROUP_COLUMN).max().alias(LAST_COLUMN),
            pl.col(MULTIPLICITY_COLUMN).sum().alias(ROWS_COLUMN),
        )
    )
    divided = int((combinations[GROUP_COLUMN] != combinations[LAST_COLUMN]).sum())
    if divided:
        raise _make_contradiction(
            f"People who agree in every quasi-identifier are in one group, and {pluralize(divided, 'combination', 'is', 'are')} in several."
        )
    return combinations.drop(LAST_COLUMN)


def require_declared_groups(combinations: pl.DataFrame, rows: np.ndarray, method: Mapping[str, Any]) -> None:
    """Refuse groups that contradict the method's `group_by`, `within`, `size` and `k`.

    Parameters: each combination with its group, the rows of each group, and the method's parameters.
    """
    within = method.get("within", "sa-only")
    group_by = method.get("group_by")
    group = combinations[GROUP_COLUMN].to_numpy().astype(np.int64)
    if within == "qi-sa" and len(group) != len(rows):
        raise _make_contradiction(
            f"Each combination of quasi-identifiers is a group, by the manifest; there are {len(group):,} in {len(rows):,} groups."
        )
    if group_by == MONDRIAN_METHOD:
        min_rows = int(parse_fraction(method.get("k") or METHODS["distribution"].fields["k"].implied))
        small = int((rows < min_rows).sum())
        if within == "sa-only" and small:
            raise _make_contradiction(
                f"{pluralize(small, 'group', 'has', 'have')} fewer than {min_rows} rows, which k declares."
            )
        return
    keys, parts = _find_declared_parts(combinations, group_by)
    lowest = np.full(len(rows), parts)
    highest = np.full(len(rows), -1)
    np.minimum.at(lowest, group, keys)
    np.maximum.at(highest, group, keys)
    mixed = int((lowest != highest).sum())
    if mixed:
        raise _make_contradiction(
            f"{pluralize(mixed, 'group', 'has', 'have')} rows of several of the parts that group_by declares."
        )
    groups = np.bincount(lowest, minlength=parts)
    allowed = np.ones(parts, np.int64)
    if within == "qi-sa":
        return
    if within == "hilbert":
        if method.get("size") is None:
            return
        in_part = np.bincount(lowest, weights=rows, minlength=parts).astype(np.int64)
        allowed = np.maximum(in_part // int(parse_fraction(method["size"])), 1)
    divided = int((groups > allowed).sum())
    if divided:
        raise _make_contradiction(
            f"{pluralize(divided, 'part', 'is', 'are')} divided into more groups than group_by, within and size allow."
        )


def find_named_targets(manifest: Manifest) -> Mapping[str, Any] | None:
    """Return the targets that P-privacy names by group; None where it names none."""
    for promise in manifest.promises:
        target = promise.parameters.get("target")
        if promise.name == "p-privacy" and isinstance(target, Mapping) and "groups" in target:
            return target["groups"]
    return None


def name_groups(files: Any, schema: Any, manifest: Manifest) -> dict[int, str] | None:
    """Name each group; return nothing for one group of all rows.

    Return None where values of its columns can be written in several ways, or no column makes it.
    """
    columns = find_group_columns(manifest)
    if columns is None:
        return None
    if not columns:
        return {}
    frame = count_distinct_rows(files, schema, only=[*columns, GROUP_COLUMN])[0]
    parts = []
    for name, edges in columns.items():
        texts = _format_name_parts(frame[name], edges)
        if texts is None:
            return None
        parts.append(texts)
    names = [" / ".join(row) for row in zip(*parts, strict=True)]
    return dict(zip(frame[GROUP_COLUMN].to_list(), names, strict=True))


def find_group_columns(manifest: Manifest) -> dict[str, Sequence[Any]] | None:
    """Find the columns that make groups, each with the edges of its bands.

    There is none for one group of all rows; None is returned for mondrian's groups.
    """
    group_by = manifest.method.parameters.get("group_by")
    if group_by is None:
        return {}
    if group_by == MONDRIAN_METHOD:
        return None
    return _list_bands(group_by)


def require_known_groups(files: Any, schema: Any, manifest: Manifest, groups: int) -> dict[int, str] | None:
    """Refuse targets of groups that the release does not have, or a group without a target.

    Return the name of each group where it is known.
    """
    listed = find_named_targets(manifest)
    if listed is None:
        return None
    names = name_groups(files, schema, manifest)
    if names == {}:
        names = dict.fromkeys(range(groups), "all")
    if find_group_columns(manifest) is None and manifest.method.parameters.get("within", "sa-only") == "sa-only":
        names = {number: f"group {number}" for number in range(groups)}
    if names is not None:
        known_names = set(names.values())
    elif find_group_columns(manifest) is None:
        # How many groups mondrian made is not stated.
        known_names = {f"group {number}" for number in range(len(listed))}
    else:
        columns = find_group_columns(manifest) or {}
        kinds = len(count_distinct_rows(files, schema, only=list(columns))[0])
        banded = any(len(edges) for edges in columns.values())
        known_names = set(listed) if banded or len(listed) == kinds else set()
    strange = len(set(listed) - known_names)
    unnamed = len(known_names - set(listed))
    if strange or unnamed or len(listed) > groups:
        raise BundleDamaged(
            "P-privacy names targets of groups that are not those of the release.",
            why=f"It names {pluralize(strange, 'group')} that the release does not have, and lacks {unnamed} of those that it has.",
        )
    return names


def _make_contradiction(why: str) -> BundleDamaged:
    return BundleDamaged(
        "The groups of the release are not those that its manifest declares.",
        why=why,
        attempt="getting the folder again from its publisher.",
    )


def _find_declared_parts(combinations: pl.DataFrame, group_by: Any) -> tuple[np.ndarray, int]:
    """Find the part of each combination, by the columns and bands that the manifest declares, and the number of parts."""
    if group_by is None:
        return np.zeros(len(combinations), np.int64), 1
    bands = _list_bands(group_by)
    if not bands or not set(bands) <= set(combinations.columns) - {GROUP_COLUMN}:
        raise _make_contradiction("The manifest groups by columns that are no quasi-identifiers.")
    columns = [_number_parts(combinations[name], edges) for name, edges in bands.items()]
    parts, keys = combine_columns(columns, len(combinations))
    return keys, parts


def _format_name_parts(column: pl.Series, edges: Sequence[Any]) -> list[str] | None:
    """Format each row's part of a name; None where a value can be written in several ways."""
    if len(edges):
        ends = [float(parse_fraction(edge)) for edge in edges]
        edge_texts = [f"{end:g}" for end in ends]
        names = [
            f"below {edge_texts[0]}",
            *(f"{a} to {b}" for a, b in pairwise(edge_texts)),
            f"{edge_texts[-1]} and above",
        ]
        if not column.dtype.is_numeric():
            return None
        band = np.searchsorted(ends, column.cast(pl.Float64).fill_null(0.0).to_numpy(), side="right")
        return [
            MISSING_NAME if null else names[index] for index, null in zip(band.tolist(), column.is_null(), strict=True)
        ]
    if column.dtype != pl.String and not column.dtype.is_integer():
        return None
    return column.cast(pl.String).fill_null(MISSING_NAME).to_list()


def _list_bands(group_by: Any) -> dict[str, Sequence[Any]]:
    """List the columns of `group_by`, each with the edges of its bands: a name, several names, or a table of edges."""
    if isinstance(group_by, Mapping):
        return dict(group_by)
    if isinstance(group_by, str):
        return {group_by: ()}
    return dict.fromkeys(group_by, ())


def _number_parts(values: pl.Series, edges: Sequence[Any]) -> NumberedColumn:
    """Number a column by its values, or by bands of numbers from an edge up to the next.

    A missing value is a part of its own.
    """
    if not edges:
        return number_values(values)
    try:
        ends = np.array([float(parse_fraction(edge)) for edge in edges])
    except (MisshapenValue, TypeError, ValueError, ArithmeticError):
        raise _make_contradiction("The manifest groups by bands whose edges are no numbers.") from None
    places = values.cast(pl.Float64, strict=False).fill_nan(None)
    band = np.searchsorted(ends, places.fill_null(0.0).to_numpy(), side="right")
    band[places.is_null().to_numpy()] = len(ends) + 1
    return number_values(pl.Series(band))
