"""The loss of a release (AIL) from its files alone, as Fractions: a manifest that was parsed as JSON, and the rows of its data.

A label loses what equations 2 and 3 of Cao & Karras 2012 say, over the domain, the order, the values or the hierarchy
of the column's entry in the manifest; `*` loses 1 and a null nothing. A withheld row loses 1 in every column. A row of a
sampled release counts as often as `G` says.
"""

from collections.abc import Iterable, Mapping
from datetime import date, datetime
from fractions import Fraction
from typing import Any

from tests.oracle.labels import CATEGORICAL, DATE, NUMERIC, ORDINAL, Column
from tests.oracle.loss import label_loss


def release_loss(
    manifest: Mapping[str, Any], rows: Iterable[Mapping[str, Any]]
) -> tuple[Fraction, dict[str, Fraction]]:
    """AIL, and the loss of each quasi-identifier."""
    quasi = [entry for entry in manifest["columns"] if entry["role"] == "quasi-identifying"]
    columns = {entry["name"]: read_column(entry) for entry in quasi}
    losses = {name: Fraction(0) for name in columns}
    known: dict[tuple[str, str | None], Fraction] = {}
    published = 0
    for row in rows:
        people = int(row["G"]) if manifest["kind"] == "sampled" else 1
        published += people
        for name, column in columns.items():
            label = row[name]
            if (name, label) not in known:
                known[name, label] = Fraction(1) if label == "*" else label_loss(label, column)
            losses[name] += people * known[name, label]
    withheld = 0 if manifest["kind"] == "sampled" else manifest["withheld"]
    by_column = {name: (lost + withheld) / (published + withheld) for name, lost in losses.items()}
    weights = {name: Fraction(str(manifest.get("weights", {}).get(name, 1))) for name in columns}
    return sum(weights[name] * loss for name, loss in by_column.items()) / sum(weights.values()), by_column


def read_column(entry: Mapping[str, Any]) -> Column:
    """A column as the manifest describes it; the leaves of a line are its ends."""
    null = bool(entry.get("null"))
    if entry["type"] == "ordinal":
        return Column(ORDINAL, tuple(entry["order"]), None, null)
    if entry["type"] == "numeric":
        return Column(NUMERIC, tuple(Fraction(str(end)) for end in entry["domain"]), None, null)
    if entry["type"] == "date":
        parse = date.fromisoformat if entry["dtype"] == "Date" else datetime.fromisoformat
        return Column(DATE, tuple(parse(end) for end in entry["domain"]), None, null)
    tree = tuple(map(tuple, entry["hierarchy"])) if entry.get("hierarchy") else None
    leaves = tuple(row[0] for row in tree) if tree else tuple(entry["values"])
    return Column(CATEGORICAL, leaves, tree, null)
