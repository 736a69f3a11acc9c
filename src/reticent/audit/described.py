"""Does the manifest say of the columns what would be said of these files again?  What stems from the data is told once more.

A list of values that no row shows, or a CSV that is not written as its rows are, has room for what was never published.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from reticent.audit.canonical import odd_bytes
from reticent.audit.kind import Recounted
from reticent.errors import BundleDamaged
from reticent.release.manifest import ColumnEntry
from reticent.table.grammar import ANY, parse
from reticent.table.roles import Role


def refuse_undescribed(found: Recounted, *, bytes: bool) -> None:
    """Refuse a manifest that describes other columns than the files have and, where nobody else looks, files in other `bytes`."""
    subject = found.subject
    if subject.manifest is None or subject.path is None:
        return
    labels = found.labelled or found.sampling is not None
    for entry in subject.quasi:
        fault = _quasi_fault(entry, found.frame[entry.name].unique(), labels)
        if fault:
            raise _misdescribed(entry, fault)
    shown = (found.frame, *found.beside.values())
    for entry in subject.named(Role.SENSITIVE):
        if entry.missing == "refuse" and any(
            table[entry.name].null_count() for table in shown if entry.name in table.columns
        ):
            raise _misdescribed(entry, "values are missing in a column that the manifest says is complete")
    if bytes and (odd := odd_bytes(subject.path, subject.manifest)):
        raise BundleDamaged(
            f"{' and '.join(odd)} is not written as reticent writes it.",
            why="Its bytes may carry more than its rows.",
            attempt="getting the folder again from its publisher.",
        )


def _misdescribed(entry: ColumnEntry, why: str) -> BundleDamaged:
    return BundleDamaged(
        f"The manifest does not describe column {entry.name!r} as it is published.",
        why=f"The reason: {why}.",
        attempt="getting the folder again from its publisher.",
    )


def _quasi_fault(entry: ColumnEntry, distinct: pl.Series, labels: bool) -> str:
    if entry.null != bool(distinct.null_count()):
        return (
            "it says that values are missing and none is"
            if entry.null
            else "values are missing, and it does not say so"
        )
    listed = entry.values
    categories = entry.type == "categorical" and entry.hierarchy is None
    if listed is None:
        return "it does not list the column's values" if categories and distinct.drop_nulls().len() else ""
    if not categories:
        return "it lists values of a column that has none to be listed"
    texts = distinct.drop_nulls().cast(pl.String).to_list()
    wanted = _members(texts) if labels else sorted(texts)
    if listed != wanted and (labels or distinct.dtype == pl.String or len(listed) != len(wanted)):
        return f"it lists {len(listed):,} values, and rows show {len(wanted):,}, or others"
    return ""


def _members(labels: Sequence[str]) -> list[str]:
    """The values that labels name."""
    return sorted({text for label in labels if label != ANY for text in parse(label)[1]})
