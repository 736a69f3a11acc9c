"""Groups of a generalized release as boxes of codes, from their labels: what a workload estimates from.

The codes are those of the table the true answers come from, so its domains are needed.  A node covers all leaves under it, `*` the
whole domain: a reader of the labels knows no more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from reticent.errors import BundleDamaged
from reticent.table.cells import Cells
from reticent.table.domain import Domain, TreeDomain
from reticent.table.grammar import ANY, parse


@dataclass(frozen=True, eq=False)
class Boxes:
    """Groups as their labels show them: a span of codes on each quasi-identifier, and how many rows have a value below v."""

    first: np.ndarray  # (quasi, groups) int32
    last: np.ndarray
    until: np.ndarray  # (groups, values + 1) int64


def boxes(release: Any, cells: Cells) -> Boxes:
    """The groups of a release of the table that these cells were counted from."""
    frame = release.frame()
    quasi = [domain.name for domain in cells.quasi]
    sensitive = cells.sensitive[0]
    spans = [_spans(domain, frame[domain.name]) for domain in cells.quasi]
    numbered = np.column_stack([codes for codes, _ in spans]) if quasi else np.zeros((len(frame), 0), np.int64)
    unique, group = np.unique(numbered, axis=0, return_inverse=True)
    known = {text: code for code, text in enumerate(sensitive.texts)}
    texts = frame[sensitive.name].cast(pl.String)
    value = texts.replace_strict(known, default=max(sensitive.null_code, 0), return_dtype=pl.Int64).to_numpy()
    counts = np.zeros((len(unique), sensitive.size + 1), np.int64)
    np.add.at(counts, (group.reshape(-1), value + 1), 1)
    first = np.array([ends[unique[:, at], 0] for at, (_, ends) in enumerate(spans)], np.int32)
    last = np.array([ends[unique[:, at], 1] for at, (_, ends) in enumerate(spans)], np.int32)
    return Boxes(np.ascontiguousarray(first), np.ascontiguousarray(last), np.cumsum(counts, axis=1))


def _spans(domain: Domain, labels: pl.Series) -> tuple[np.ndarray, np.ndarray]:
    """The number of each row's label, and the first and last code that each label covers."""
    distinct = labels.unique(maintain_order=True)
    ends = np.array([_span(domain, label) for label in distinct.to_list()], np.int64).reshape(-1, 2)
    number = pl.DataFrame({"label": distinct, "number": np.arange(len(distinct))})
    rows = pl.DataFrame({"label": labels}).join(number, on="label", how="left", nulls_equal=True, maintain_order="left")
    return rows["number"].to_numpy(), ends


def _span(domain: Domain, label: str | None) -> tuple[int, int]:
    if label is None:
        return domain.null_code, domain.null_code
    if label == ANY:
        return 0, domain.size - 1
    kind, texts = parse(label)
    if kind == "value" and isinstance(domain, TreeDomain) and label in domain.node_labels:
        node = domain.node_labels.index(label)
        return int(domain.hierarchy.first[node]), int(domain.hierarchy.last[node])
    try:
        codes = [domain.texts.index(text) for text in texts]
    except ValueError:
        raise BundleDamaged(f"A label of column {domain.name!r} names no value of the source.") from None
    return min(codes), max(codes)
