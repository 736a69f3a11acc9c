"""Groups as an adversary sees them: the worst of them, and how the sensitive values spread over all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from reticent.release.reading.boxes import Boxes
from reticent.report.parts import section, table, text
from reticent.table.cells import Cells

WORST, VALUES, STEPS = 10, 15, 10
"""Groups and values that are listed, and steps of the shares that are counted."""


def sections(seen: Any, cells: Any) -> Iterator[dict[str, Any]]:
    if isinstance(seen, str):
        yield section("groups", "Worst groups", text(seen))
        return
    held = seen.counts[seen.counts.sum(axis=1) > 0]
    kept = np.flatnonzero(seen.counts.sum(axis=1) > 0)
    sizes = held.sum(axis=1)
    shares = held / sizes[:, None]
    yield _worst(seen, cells, kept, sizes, shares)
    yield _spread(cells, held, sizes, shares)


def _worst(seen: Any, cells: Cells, kept: np.ndarray, sizes: np.ndarray, shares: np.ndarray) -> dict[str, Any]:
    """The groups that say the most of one value, the smaller first where they say as much."""
    names, overall = _names(cells), (shares * sizes[:, None]).sum(axis=0) / sizes.sum()
    order = np.lexsort((kept, sizes, -shares.max(axis=1)))[:WORST]
    rows = []
    for at in order:
        value = int(shares[at].argmax())
        rows.append(
            (
                _label(seen, cells, int(kept[at])),
                int(sizes[at]),
                names[value],
                float(shares[at, value]),
                float(overall[value]),
            )
        )
    size, groups = np.unique(sizes, return_counts=True)
    smallest = [(int(one), int(many)) for one, many in zip(size[:STEPS], groups[:STEPS], strict=True)]
    return section(
        "groups", "Worst groups",
        text(f"{len(sizes):,} groups; the smallest has {int(sizes.min()):,} rows, the largest {int(sizes.max()):,}."),
        table("Groups that say the most of one value", ("group", "rows", "most frequent value", "its share", "its share overall"), rows),
        table("The smallest groups", ("rows in the group", "groups"), smallest),
    )  # fmt: skip


def _spread(cells: Cells, held: np.ndarray, sizes: np.ndarray, shares: np.ndarray) -> dict[str, Any]:
    """How the share of each value varies over the groups, and how many rows stand in groups that say much."""
    top = np.minimum((shares.max(axis=1) * STEPS).astype(np.int64), STEPS - 1)
    rows = np.bincount(top, weights=sizes, minlength=STEPS).astype(np.int64)
    steps = [(f"{at * 100 // STEPS} % to under {(at + 1) * 100 // STEPS} %", int(rows[at])) for at in range(STEPS)]
    steps[-1] = (f"{(STEPS - 1) * 100 // STEPS} % to 100 %", steps[-1][1])
    total, names = held.sum(axis=0), _names(cells)
    listed = np.lexsort((np.arange(len(total)), -total))[:VALUES]
    values = [
        (names[at], int(total[at]), float(total[at] / sizes.sum()), float(shares[:, at].min()), float(np.median(shares[:, at])),
         float(shares[:, at].max())) for at in listed if total[at]
    ]  # fmt: skip
    name = cells.sensitive[0].name
    return section(
        "sensitive", "The sensitive values by group",
        table(f"{name}: rows by the share of the most frequent value in their group", ("share", "rows"), steps, bars=(0, 1)),
        table(f"{name}: the share of each value in the groups", ("value", "rows", "overall", "least", "median", "most"), values),
    )  # fmt: skip


def _names(cells: Cells) -> list[str]:
    domain = cells.sensitive[0]
    return [*domain.texts, *(["(missing)"] if domain.null else [])]


def _label(seen: Any, cells: Cells, group: int) -> str:
    """A group by its labels where it has some, else by its number."""
    if not isinstance(seen, Boxes):
        return f"group {group:,}"
    ends = [
        (seen.first[axis, group : group + 1], seen.last[axis, group : group + 1]) for axis in range(len(cells.quasi))
    ]
    spans = [domain.labels(low, high)[0] for domain, (low, high) in zip(cells.quasi, ends, strict=True)]
    return ", ".join(
        f"{domain.name} {'missing' if span is None else span}" for domain, span in zip(cells.quasi, spans, strict=True)
    )
