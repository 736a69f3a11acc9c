"""What only a release kind knows when it is audited: `audit/<kind>.py` holds one object, EYES.

The trunk (`audit.py`) does the rest alike for every kind: digest, shape, checksums, promises and, given the source, matching,
leaks in every byte of every file, row order, missing values and carried columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import polars as pl

from reticent import catalogue
from reticent.audit.compared import Compared, Rows
from reticent.audit.covering import Axis
from reticent.audit.evidence import Redrawing, Sampling, Targeted
from reticent.audit.grouping import Numbered, PublishedGroups, group, number
from reticent.audit.order import CANONICAL, Order
from reticent.audit.sensitive import Sensitive
from reticent.audit.subject import Subject
from reticent.release.parts import DataFile
from reticent.release.sound import is_little
from reticent.table.roles import Role


@dataclass(frozen=True, eq=False)
class Recounted:
    """What the files of a release show.

    `frame` holds the published rows in the order of their file, or each distinct row once with `times` saying how often.
    `alike` counts the rows that read the same in every quasi-identifier, `sizes` those of each group.
    """

    subject: Subject
    frame: pl.DataFrame
    alike: np.ndarray
    sizes: np.ndarray
    sensitive: Sequence[Sensitive]
    measures: Mapping[str, Any]
    utility: Mapping[str, Any]
    times: np.ndarray | None = None
    by_column: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    redrawing: Redrawing | None = None
    targeted: Targeted | None = None
    beside: Mapping[str, pl.DataFrame] = field(default_factory=dict)  # further files, by name
    explained: frozenset[str] = frozenset()  # texts of people's values that the kind publishes whoever has them
    labelled: bool = False  # whether quasi-identifiers are labels that cover several values
    sampling: Sampling | None = None

    @cached_property
    def labels(self) -> Mapping[str, Numbered]:
        """Each quasi-identifier of each row as it is published, numbered."""
        return {column.name: number(self.frame[column.name]) for column in self.subject.quasi}

    @cached_property
    def groups(self) -> PublishedGroups:
        """The rows that read the same in every quasi-identifier."""
        return group(list(self.labels.values()), len(self.frame), self.times)

    @property
    def foreign(self) -> bool:
        """Whether another tool made the table."""
        return self.subject.foreign

    @property
    def rows(self) -> int:
        return len(self.frame) if self.times is None else int(self.times.sum())

    @property
    def each(self) -> np.ndarray:
        """How many published rows each row of `frame` stands for."""
        return np.ones(len(self.frame), np.int64) if self.times is None else self.times

    def column(self, name: str) -> pl.Series:
        """A published column, in whichever file it stands; where distinct rows were counted, not a carried one."""
        return next(table[name] for table in (self.frame, *self.beside.values()) if name in table.columns)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that the comparison with the source looked at; `passed` is None where the data cannot show it.

    `facts` are what an audit's JSON says of it under "source".  A release is not called kept while a `needed` one is open.
    """

    name: str
    passed: bool | None
    facts: Mapping[str, Any]
    sentence: str
    needed: bool = False


@dataclass(frozen=True, eq=False)
class Matching:
    """How published rows stand for source rows.

    `unmatched` published rows stand for no source row of their own; `kept` has the quasi-identifying values of source rows that
    some published row could stand for.  `order` is what the order of rows says about the source's.  `missing` source
    rows are in no group, where a published row stands for many; None: each stands for one.  `axes` are, of each labelled column,
    what the labels cover and the source's rows by value.
    """

    unmatched: int
    kept: Mapping[str, pl.Series]
    order: Order = CANONICAL
    overlapping: bool = False
    findings: tuple[Finding, ...] = ()
    redrawing: Redrawing | None = None
    sampling: Sampling | None = None
    missing: int | None = None
    axes: Sequence[Axis] | None = None


class Kept:
    """The values of some columns in source rows that were not left out, of one part after another."""

    def __init__(self, source: Compared, names: Sequence[str]):
        self._source, self._names = source, names
        self._masks = {name: np.zeros(len(source.values(name)[0]), bool) for name in names}

    def add(self, theirs: Rows, stray: np.ndarray) -> None:
        for name in self._names:
            self._masks[name][self._source.numbered(name, theirs).codes[~stray]] = True

    @property
    def values(self) -> dict[str, pl.Series]:
        return {name: self._source.values(name)[0].filter(pl.Series(mask)) for name, mask in self._masks.items()}


def reads_rows(
    subject: Subject, file: DataFile, schema: Mapping[str, str], *, each_row: bool, thorough: bool = False
) -> bool:
    """Whether a file is read row by row: where its rows are compared, and where rows carry columns or have an order to be looked at
    (`thorough`) and memory is no question.

    Otherwise its distinct rows are counted without the carried columns, which are counted by themselves (`carried.py`).
    """
    return each_row or ((thorough or bool(subject.named(Role.INSENSITIVE))) and is_little(file, schema))


class Eyes(Protocol):
    """How the audit sees one release kind."""

    def recount(self, subject: Subject, *, each_row: bool, thorough: bool) -> Recounted:
        """Groups and histograms from the files; damage raises.  Without `each_row`, distinct rows are enough.

        `thorough` looks at the order of rows too, where the kind has one: publish has just written it, and need not.
        """

    def match(self, recounted: Recounted, source: Compared) -> Matching:
        """How the published rows stand for those of the source."""


def eyes(kind: str) -> Eyes:
    found: Eyes = catalogue.load(catalogue.KINDS[kind].eyes)
    return found
