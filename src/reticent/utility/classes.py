"""What is learned to be told apart: the values of a sensitive column as a few classes.

Up to MOST values are a class each.  Of more, numbers are halved at the median of the source, categories with a hierarchy are its
families below the root, and others stay a class each.  Beyond MAX_CLASSES the least frequent share the last class.  A missing value is
a class of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reticent.table.domain import Domain, RangeDomain, TreeDomain

MOST = 10
MAX_CLASSES = 64
OTHERS = "any other value"


@dataclass(frozen=True, eq=False)
class Classes:
    """`of` is the class of each code, `names` what classes are called."""

    of: np.ndarray
    names: tuple[str, ...]

    def counted(self, counts: np.ndarray) -> np.ndarray:
        """(..., values) -> (..., classes)."""
        return counts @ np.eye(len(self.names))[self.of]

    def values(self, domain: Domain) -> dict[str, list[str]]:
        """The texts of each class; the missing value has none."""
        texts = np.array(domain.texts, object)
        return {name: list(texts[self.of[: len(texts)] == at]) for at, name in enumerate(self.names)}


def classes_of(domain: Domain, totals: np.ndarray) -> Classes:
    """`totals`: how many rows of the source hold each value."""
    named = list(domain.texts)
    if len(domain.texts) > MOST:
        if isinstance(domain, RangeDomain):
            half = np.searchsorted(np.cumsum(totals[: len(domain.texts)]), totals[: len(domain.texts)].sum() / 2) + 1
            half = min(max(int(half), 1), len(domain.texts) - 1)
            named = [f"below {domain.texts[half]}" if at < half else f"{domain.texts[half]} and above"
                     for at in range(len(domain.texts))]  # fmt: skip
        elif isinstance(domain, TreeDomain) and domain.given:
            family = {row[0]: row[-2] if len(row) > 2 else row[0] for row in domain.hierarchy.rows()}
            named = [family.get(text, text) for text in domain.texts]
        named = _join_rare(named, totals[: len(domain.texts)])
    if domain.null:
        named.append("missing")
    names = tuple(dict.fromkeys(named))
    place = {name: at for at, name in enumerate(names)}
    return Classes(np.array([place[name] for name in named], np.int64), names)


def _join_rare(named: list[str], totals: np.ndarray) -> list[str]:
    """The class of each value, at most MAX_CLASSES in all: those of the fewest rows are one class, by the name OTHERS."""
    rows: dict[str, int] = {}
    for name, total in zip(named, totals.tolist(), strict=True):
        rows[name] = rows.get(name, 0) + total
    if len(rows) <= MAX_CLASSES:
        return named
    kept = set(sorted(rows, key=lambda name: -rows[name])[: MAX_CLASSES - 1])
    return [name if name in kept else OTHERS for name in named]
