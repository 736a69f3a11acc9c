"""Draws a hierarchy as a tree of text, and compares it with a column's data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from reticent.data.hierarchy import Hierarchy


def draw_tree(tree: Hierarchy, *, leaves: int = 8, rows: Mapping[str, int] | None = None) -> str:
    """Draw one line for each node, indented, with at most `leaves` leaves of each.  `rows` adds the number of rows of each node."""
    rows_per_leaf = np.array([(rows or {}).get(leaf, 0) for leaf in tree.leaves], np.int64)
    until = np.append(0, np.cumsum(rows_per_leaf))
    lines: list[str] = []

    def line(node: int, level: int, branch: str) -> None:
        first = int(tree.first[node])
        last = int(tree.last[node])
        counted = f"  ({until[last + 1] - until[first]:,} rows)" if rows is not None else ""
        inside = f"  [{last - first + 1} values]" if level and last > first else ""
        lines.append(f"{branch}{tree.labels[node]}{inside}{counted}")

    def draw_children(node: int, level: int, indent: str) -> None:
        children = _find_children(tree, node, level)
        drawn_children = children if level > 1 else children[:leaves]
        for number, child in enumerate(drawn_children):
            final = number == len(children) - 1
            line(child, level - 1, f"{indent}{'└─ ' if final else '├─ '}")
            alone = (
                tree.first[child] == tree.last[child]
                and tree.labels[child] == tree.labels[tree.paths[tree.first[child], 0]]
            )
            if level > 1 and not alone:
                draw_children(child, level - 1, indent + ("   " if final else "│  "))
        if len(drawn_children) < len(children):
            lines.append(f"{indent}└─ ... {len(children) - len(drawn_children)} more")

    root = int(tree.paths[0, -1])
    line(root, tree.height, "")
    draw_children(root, tree.height, "")
    return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class HierarchyFit:
    """How a hierarchy fits a column: counts are safe to print, `lacking` holds values and is for `--show-values` only."""

    distinct: int
    rows: int
    missing_rows: int
    lacking: tuple[str, ...]
    lacking_rows: int
    unused: int
    levels: tuple[int, ...]  # groups at each level that hold data, the leaves first
    smallest: tuple[int, ...]  # rows in the smallest group of each level

    @property
    def usable(self) -> bool:
        return not self.lacking


def fit_hierarchy(tree: Hierarchy, values: pl.Series | Sequence[Any]) -> HierarchyFit:
    """Compare a hierarchy with a column's values, one for each row."""
    series = values if isinstance(values, pl.Series) else pl.Series(values)
    series = series.cast(pl.String) if series.dtype != pl.String else series
    counted = series.drop_nulls().to_frame("value").group_by("value").len("rows")
    code_of_leaf = {leaf: code for code, leaf in enumerate(tree.leaves)}
    pairs = list(zip(counted["value"].to_list(), counted["rows"].to_list(), strict=True))
    lacking = sorted(text for text, _ in pairs if text not in code_of_leaf)
    rows_per_leaf = np.zeros(len(code_of_leaf), np.int64)
    for text, rows in pairs:
        if text in code_of_leaf:
            rows_per_leaf[code_of_leaf[text]] = rows
    levels = []
    smallest = []
    for level in range(tree.height + 1):
        groups = np.bincount(tree.paths[:, level], weights=rows_per_leaf).astype(np.int64)
        groups = groups[groups > 0]
        levels.append(len(groups))
        smallest.append(int(groups.min()) if len(groups) else 0)
    return HierarchyFit(
        len(pairs),
        len(series),
        series.null_count(),
        tuple(lacking),
        sum(rows for text, rows in pairs if text not in code_of_leaf),
        int((rows_per_leaf == 0).sum()),
        tuple(levels),
        tuple(smallest),
    )


def _find_children(tree: Hierarchy, node: int, level: int) -> list[int]:
    below = tree.paths[tree.first[node] : tree.last[node] + 1, level - 1]
    return below[np.flatnonzero(np.diff(below, prepend=-1))].tolist()
