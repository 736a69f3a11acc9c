"""Are there people among the labels that the manifest declares?

A hierarchy, an order or a list of values is published as the steward gave it, whoever has the values: `leaks` takes its texts
for explained.  So a person's name could stand there.  Here every such text is looked up among the values of the source's
columns that are not published.  A declared text may rightly be such a value: regions that a hierarchy names and a dropped column
has, towns of residence and of birth, "other".  It is no person where

- it is a value of its own column in the source;
- it is a word for anything, or a number where as many digits make a value of the hidden column once in a hundred times or more;
- the hidden column shares the vocabulary: it is not near-unique, or has few values, and half of them are declared texts;
- the hidden column is not near-unique, and several people have the value, it is short, or more than one in twenty
  values of that column are declared texts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import polars as pl

from reticent.audit.compared import Compared, texts
from reticent.audit.kind import Recounted
from reticent.audit.unused import Leak
from reticent.release.bundle import MANIFEST
from reticent.table.grammar import ANY

FEW_VALUES = 20  # a column with fewer different values may be a vocabulary whatever its rows
LEAST_CHARACTERS = 4  # of a text that a column of repeated values shares by accident
LEAST_INSIDE = 8  # characters of a value that stands inside a longer text
WORDS = frozenset(
    (
        "all",
        "any",
        "both",
        "don't know",
        "false",
        "female",
        "high",
        "low",
        "male",
        "middle",
        "missing",
        "mixed",
        "n/a",
        "na",
        "no",
        "none",
        "not known",
        "nothing",
        "null",
        "other",
        "others",
        "refused",
        "several",
        "some",
        "total",
        "true",
        "unknown",
        "unspecified",
        "yes",
    )
)


@dataclass(eq=False)
class _HiddenColumn:
    """What is known of a source column that is not published, from one part of its values after another."""

    distinct: int = 0
    declared: set[str] = field(default_factory=set)  # its values that are declared texts
    inside: set[str] = field(default_factory=set)  # its values that stand in longer declared texts
    numerals: dict[int, int] = field(default_factory=dict)  # how many of its values are numerals of a length


class LabelLookup:
    """Looks the values of hidden columns up among the declared labels; the values themselves are not kept."""

    def __init__(self, recounted: Recounted, source: Compared):
        self._recounted, self._source = recounted, source
        self._declared: set[str] = set()
        self._unheld: set[str] = set()
        if recounted.subject.manifest is not None:
            self._declared, self._unheld = _declared_texts(recounted, source)
        self._numerals = _count_numerals(self._unheld)
        self._longer = {part for text in self._unheld for part in _parts_of(text)}
        self._columns: dict[str, _HiddenColumn] = {}

    def add(self, name: str, values: set[str]) -> None:
        """Look up some of the values of a hidden column; no value is added twice."""
        if not self._unheld:
            return
        column = self._columns.setdefault(name, _HiddenColumn())
        column.distinct += len(values)
        column.declared |= values & self._declared
        column.inside |= values & self._longer
        for size in self._numerals:
            many = sum(len(text) == size and text.isdecimal() for text in values)
            column.numerals[size] = column.numerals.get(size, 0) + many

    def leaks(self) -> list[Leak]:
        found = []
        for name, column in self._columns.items():
            if people := self._people_among(name, column):
                found.append(Leak(name, MANIFEST, len(people)))
        return found

    def _people_among(self, name: str, column: _HiddenColumn) -> set[str]:
        """The declared texts that are people's values of a hidden column."""
        each = self._recounted.subject.rows_per_person
        near_unique = column.distinct * each * 2 > self._source.rows
        shares = 2 * len(column.declared) >= column.distinct
        if shares and (column.distinct < FEW_VALUES or not near_unique):
            return set()
        by_chance = {size for size, many in self._numerals.items() if many * column.numerals[size] * 100 >= 10**size}
        people = {text for text in column.declared & self._unheld if not (text.isdecimal() and len(text) in by_chance)}
        if near_unique:
            return people | column.inside
        people = {text for text in people if len(text) >= LEAST_CHARACTERS}
        if not people or column.distinct < FEW_VALUES or 20 * len(column.declared) > column.distinct:
            return set()
        values, times = self._source.values(name)
        return people & texts(values.filter(pl.Series(times <= each)))


def _declared_texts(recounted: Recounted, source: Compared) -> tuple[set[str], set[str]]:
    """All texts of hierarchies, orders and domains; and those that nobody of the source has in the column itself."""
    subject = recounted.subject
    assert subject.manifest is not None
    declared: set[str] = set()
    unheld: set[str] = set()
    for entry in subject.columns:
        listed = {text for row in entry.hierarchy or () for text in row} | set(entry.order or ())
        if entry.role == "sensitive":
            listed |= recounted.explained
            for name in ("values", "domain"):
                listed |= {str(text) for text in subject.manifest.own.get(name, ())}
        if listed:
            declared |= listed
            unheld |= listed - texts(source.values(entry.name)[0])
    known = {ANY, *(entry.name for entry in subject.columns)}
    return declared, {text for text in unheld - known if text.strip().casefold() not in WORDS}


def _count_numerals(labels: set[str]) -> dict[int, int]:
    """How many of the texts are numerals of each length."""
    found: dict[int, int] = {}
    for text in labels:
        if text.isdecimal():
            found[len(text)] = found.get(len(text), 0) + 1
    return found


def _parts_of(text: str) -> Iterator[str]:
    """Runs of whole words of a text, shorter than the text itself."""
    words = text.split()
    for first in range(len(words)):
        for last in range(first + 1, min(first + 6, len(words)) + 1):
            part = " ".join(words[first:last]).strip(",;:()[]{}<>\"'/|")
            if len(part) >= LEAST_INSIDE and part != text:
                yield part
