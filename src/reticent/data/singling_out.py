"""Counts the people whom columns single out: who is alone with their values, by one column, by two, and by one more each time.

`count_single_people` takes the columns as codes.  Somebody is alone by some columns if no other person has the same values
in all of them.  The result has counts and names of columns, never a value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

MAX_PAIRED_COLUMNS = 12  # columns of which all pairs are counted
MAX_LISTED_PAIRS = 20
Codes = np.ndarray


@dataclass(frozen=True, slots=True)
class SinglePeople:
    """How many people are alone with their values in some columns."""

    columns: tuple[str, ...]
    alone: int

    def to_dict(self) -> dict[str, Any]:
        return {"columns": list(self.columns), "alone": self.alone}


@dataclass(frozen=True, slots=True)
class SinglingOut:
    """Who is alone among `people`: by each column, by pairs (those that single out most), and adding one column at a time."""

    people: int
    columns: tuple[SinglePeople, ...]
    pairs: tuple[SinglePeople, ...]
    steps: tuple[SinglePeople, ...]

    @property
    def alone(self) -> int:
        """The people who are alone by all columns together."""
        return self.steps[-1].alone if self.steps else 0

    def to_dict(self) -> dict[str, Any]:
        return {
            "people": self.people,
            "alone": self.alone,
            "columns": [entry.to_dict() for entry in self.columns],
            "pairs": [entry.to_dict() for entry in self.pairs],
            "steps": [entry.to_dict() for entry in self.steps],
        }


def number_column(column: pl.Series) -> Codes:
    """Return a code for each row of a column: rows with the same value, or without one, share it."""
    text = column.cast(pl.String) if column.dtype != pl.Boolean else column.cast(pl.Int8).cast(pl.String)
    codes = text.cast(pl.Categorical).to_physical()
    return codes.cast(pl.Int64).fill_null(-1).to_numpy() + 1


def count_single_people(
    names: Sequence[str], columns: Sequence[Codes], rows: Codes | None = None, persons: Codes | None = None
) -> SinglingOut:
    """Count who is alone.  `rows` are the rows of each entry, by default one; `persons` numbers the person of each entry.

    With `persons` a person of several rows is one; a person is alone who is alone in any of their rows.
    """
    entries = len(columns[0]) if columns else 0
    counts = np.ones(entries, np.int64) if rows is None else rows
    people = int(counts.sum()) if persons is None else len(np.unique(persons))
    packed = [np.unique(codes, return_inverse=True)[1].reshape(-1) for codes in columns]
    values = [int(codes.max(initial=-1)) + 1 for codes in packed]
    singles = [_count_alone(codes, counts, persons) for codes in packed]
    alone_by_column = [SinglePeople((name,), alone) for name, alone in zip(names, singles, strict=True)]
    by_values = sorted(range(len(packed)), key=lambda index: -values[index])[:MAX_PAIRED_COLUMNS]
    pairs = [
        SinglePeople(
            (names[first], names[second]),
            _count_alone(packed[first] * values[second] + packed[second], counts, persons),
        )
        for first, second in combinations(sorted(by_values), 2)
    ]
    pairs.sort(key=lambda entry: -entry.alone)
    order = sorted(range(len(packed)), key=lambda index: (singles[index], values[index]))
    steps = []
    word = np.zeros(entries, np.int64)
    for position, index in enumerate(order):
        word = np.unique(word * values[index] + packed[index], return_inverse=True)[1].reshape(-1)
        steps.append(
            SinglePeople(tuple(names[place] for place in order[: position + 1]), _count_alone(word, counts, persons))
        )
    return SinglingOut(
        people, tuple(alone_by_column), tuple(entry for entry in pairs[:MAX_LISTED_PAIRS] if entry.alone), tuple(steps)
    )


def _count_alone(word: Codes, rows: Codes, persons: Codes | None) -> int:
    """Count who is alone with a word, which stands for the values of some columns."""
    if not len(word):
        return 0
    if persons is None:
        if int(word.max()) < 4 * len(word):
            sums = np.bincount(word, weights=rows)  # exact below 2^53
        else:
            sums = np.bincount(np.unique(word, return_inverse=True)[1].reshape(-1), weights=rows)
        return int((sums == 1).sum())
    order = np.argsort(word, kind="stable")
    starts = np.flatnonzero(np.diff(word[order], prepend=-1))
    least = np.minimum.reduceat(persons[order], starts)
    greatest = np.maximum.reduceat(persons[order], starts)
    return len(np.unique(least[least == greatest]))
