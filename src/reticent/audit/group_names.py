"""How the groups of a transformed release are called, so that a promise that names targets by group can be compared with them.

A group is called by its values, such as North, or North / F where two columns make it; a band of numbers prints as 18 to 40.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

from reticent.errors import BundleDamaged, some
from reticent.release.data import count_data
from reticent.release.guaranteed import GROUP
from reticent.release.manifest import Manifest
from reticent.release.numbers import fraction

MISSING = "missing"


def named_targets(manifest: Manifest) -> Mapping[str, Any] | None:
    """The targets that P-privacy names by group; None where it names none."""
    for promise in manifest.promises:
        target = promise.parameters.get("target")
        if promise.name == "p-privacy" and isinstance(target, Mapping) and "groups" in target:
            return target["groups"]
    return None


def names_of_groups(files: Any, schema: Any, manifest: Manifest) -> dict[int, str] | None:
    """The name of each group; None where values of its columns can be written in several ways, or no column makes it."""
    columns = columns_of(manifest)
    if columns is None:
        return None
    frame = count_data(files, schema, only=[*columns, GROUP])[0] if columns else None
    if frame is None:
        return {}
    parts = []
    for name, edges in columns.items():
        texts = _texts(frame[name], edges)
        if texts is None:
            return None
        parts.append(texts)
    names = [" / ".join(row) for row in zip(*parts, strict=True)]
    return dict(zip(frame[GROUP].to_list(), names, strict=True))


def columns_of(manifest: Manifest) -> dict[str, Sequence[Any]] | None:
    """The columns that make groups, each with the edges of its bands; none for one group of all rows, None for mondrian's."""
    group_by = manifest.method.parameters.get("group_by")
    if group_by is None:
        return {}
    if group_by == "mondrian":
        return None
    if isinstance(group_by, Mapping):
        return dict(group_by)
    return dict.fromkeys([group_by] if isinstance(group_by, str) else group_by, ())


def refuse_strange_groups(files: Any, schema: Any, manifest: Manifest, groups: int) -> dict[int, str] | None:
    """Refuse targets of groups that the release does not have, or a group without one; the name of each group where it can be told."""
    listed = named_targets(manifest)
    if listed is None:
        return None
    names = names_of_groups(files, schema, manifest)
    if names == {}:
        names = dict.fromkeys(range(groups), "all")
    if names is not None:
        known = set(names.values())
    elif columns_of(manifest) is None:
        known = {f"group {number}" for number in range(len(listed))}  # how many mondrian made is not said
    else:
        columns = columns_of(manifest) or {}
        kinds = len(count_data(files, schema, only=list(columns))[0])
        banded = any(len(edges) for edges in columns.values())
        known = set(listed) if banded or len(listed) == kinds else set()
    strange, without = len(set(listed) - known), len(known - set(listed))
    if strange or without or len(listed) > groups:
        raise BundleDamaged(
            "P-privacy names targets of groups that are not those of the release.",
            why=f"It names {some(strange, 'group')} that the release does not have, and lacks {without} of those that it has.",
        )
    return names


def _texts(column: pl.Series, edges: Sequence[Any]) -> list[str] | None:
    """What each row's part of a name is; None where a value can be written in several ways."""
    if len(edges):
        ends = [float(fraction(edge)) for edge in edges]
        said = [f"{end:g}" for end in ends]
        names = [f"below {said[0]}", *(f"{a} to {b}" for a, b in pairwise(said)), f"{said[-1]} and above"]
        if not column.dtype.is_numeric():
            return None
        band = np.searchsorted(ends, column.cast(pl.Float64).fill_null(0.0).to_numpy(), side="right")
        return [MISSING if null else names[at] for at, null in zip(band.tolist(), column.is_null(), strict=True)]
    if column.dtype != pl.String and not column.dtype.is_integer():
        return None
    return column.cast(pl.String).fill_null(MISSING).to_list()
