"""Groups: the rows that share one published label in every quasi-identifier.

A row is `(labels, sensitive)`: a tuple of published labels and one sensitive value, `None` where it is missing.
A histogram is a `Counter` of sensitive values; the measures take a list of histograms, one for each group.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence

Row = tuple[tuple[str | None, ...], Hashable]
Histogram = Mapping[Hashable, int]


def rows_of(table: Iterable[Mapping], quasi: Sequence[str], sensitive: str | Sequence[str]) -> list[Row]:
    """Rows of a table of dicts.  Several sensitive columns give tuples of values: the joint reading."""
    if isinstance(sensitive, str):
        return [(tuple(row[q] for q in quasi), row[sensitive]) for row in table]
    return [(tuple(row[q] for q in quasi), tuple(row[s] for s in sensitive)) for row in table]


def group_rows(rows: Iterable[Row]) -> dict[tuple, Counter]:
    """Each published label tuple with the histogram of its sensitive values, in order of first appearance."""
    groups: dict[tuple, Counter] = {}
    for labels, sensitive in rows:
        groups.setdefault(tuple(labels), Counter())[sensitive] += 1
    return groups


def histograms(rows: Iterable[Row]) -> list[Counter]:
    return list(group_rows(rows).values())


def size(group: Histogram) -> int:
    return sum(group.values())


def overall(groups: Iterable[Histogram]) -> Counter:
    """The published table's histogram: the reference distribution of t, beta and delta."""
    total: Counter = Counter()
    for group in groups:
        total.update(group)
    return total


def present(group: Histogram) -> dict[Hashable, int]:
    """The values that occur."""
    return {value: count for value, count in group.items() if count > 0}


def without_null(groups: Iterable[Histogram]) -> list[dict]:
    """The groups with the rows of unknown sensitive value taken out; a group may become empty."""
    return [{value: count for value, count in group.items() if value is not None} for group in groups]


def views(groups: Iterable[Histogram]) -> list[list[dict]]:
    """The two tables a promise must hold on.

    A null is published as a category, but it is no knowledge about anyone: it may never help a promise.  So each
    promise is judged on the table as published, the null being one more value, and on the table without the null
    rows (from groups *and* reference); the worse judgement counts.
    """
    as_published = [present(group) for group in groups]
    if any(None in group for group in as_published):
        return [as_published, without_null(as_published)]
    return [as_published]
