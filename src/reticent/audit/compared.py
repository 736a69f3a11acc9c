"""A release and its source beside each other: both whole, or counted a part at a time where memory would not hold them.

A kind says by which texts of a row's columns it can stand for a source row.  Rows that agree in them are in one part, so
that each part is judged by itself: the whole table is the one part of a small one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import polars as pl

from reticent.audit.grouping import Numbered, number

Text = Callable[[pl.Series], pl.Series]
Keys = Mapping[str, tuple[Text, Text]]
"""Of each column, how a published value and how a source value are read as the text that must agree."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows in the order of their file; or distinct ones, each with how many `times` it occurs and where.

    `places` is the sum of the positions of each distinct row, `early` how many of them lie before the number of rows
    that the release has.
    """

    frame: pl.DataFrame
    times: np.ndarray | None = None
    places: np.ndarray | None = None
    early: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.frame)

    def tally(self, codes: np.ndarray, size: int, within: np.ndarray | None = None) -> np.ndarray:
        """How many rows have each code; `codes` are those of the rows `within`."""
        if self.times is None:
            return np.bincount(codes, minlength=size)
        times = self.times if within is None else self.times[within]
        return np.bincount(codes, weights=times, minlength=size).astype(np.int64)

    def filter(self, kept: np.ndarray) -> Rows:
        """Some of the rows; where they stand is what it was."""
        positions = self.positions
        if self.times is None or self.early is None:
            return Rows(self.frame.filter(pl.Series(kept)), self.each[kept], positions[kept])
        return Rows(self.frame.filter(pl.Series(kept)), self.times[kept], positions[kept], self.early[kept])

    @property
    def rows(self) -> int:
        return len(self.frame) if self.times is None else int(self.times.sum())

    @property
    def positions(self) -> np.ndarray:
        """Where a row stands, or the sum of it over equal rows."""
        return np.arange(len(self.frame), dtype=np.float64) if self.places is None else self.places.astype(np.float64)

    @property
    def pair(self) -> tuple[pl.DataFrame, np.ndarray | None]:
        return self.frame, self.times

    @property
    def each(self) -> np.ndarray:
        """How many rows each stands for."""
        return np.ones(len(self.frame), np.int64) if self.times is None else self.times


class Compared(Protocol):
    """The source, and the rows of the release beside it."""

    @property
    def rows(self) -> int:
        """How many rows the source has."""

    @property
    def names(self) -> list[str]:
        """The source's columns."""

    @property
    def columns(self) -> list[str]:
        """The columns of the release's rows."""

    def pieces(self, name: str) -> Iterator[pl.Series]:
        """A column of the release, a piece at a time."""

    def parts(self, keys: Keys, names: Sequence[str]) -> Iterator[tuple[Rows, Rows]]:
        """Published rows, and source rows in the columns `names`; rows whose keys read the same are in one part."""

    def counted(self, names: Sequence[str]) -> Rows:
        """The source in some columns; distinct rows are enough."""

    def values(self, name: str) -> tuple[pl.Series, np.ndarray]:
        """The distinct values of a column, and how many rows have each."""

    def numbered(self, name: str, rows: Rows) -> Numbered:
        """A column of source rows as places among all values of the source."""

    def reads(self, name: str, strictly: Text) -> bool:
        """Whether all values of a source column read so; asked where a part might, and the whole might not."""

    def agreeing(self, keys: Keys) -> int | None:
        """At how many places both tables have the same keys; None where all rows are in one part, in their order."""

    def texts(self, name: str, part: int, parts: int) -> set[str]:
        """The texts of a source column; a part of them by their hashes."""

    def shown(self, name: str, part: int, parts: int) -> set[str]:
        """The texts of a published column."""

    def spelled(self, names: Sequence[str]) -> Iterator[str]:
        """All texts of some published columns, a piece at a time."""

    def spread(self, names: Sequence[str]) -> int:
        """In how many parts the texts of these source columns are looked at."""


@dataclass(frozen=True, eq=False)
class Held:
    """Both tables in memory."""

    ours: pl.DataFrame
    frame: pl.DataFrame

    @property
    def rows(self) -> int:
        return len(self.frame)

    @property
    def names(self) -> list[str]:
        return self.frame.columns

    @property
    def columns(self) -> list[str]:
        return self.ours.columns

    def pieces(self, name: str) -> Iterator[pl.Series]:
        yield self.ours[name]

    @cached_property
    def _numbers(self) -> dict[str, Numbered]:
        return {}

    def parts(self, keys: Keys, names: Sequence[str]) -> Iterator[tuple[Rows, Rows]]:
        yield Rows(self.ours), Rows(self.frame)

    def counted(self, names: Sequence[str]) -> Rows:
        return Rows(self.frame)

    def _numbered(self, name: str) -> Numbered:
        if name not in self._numbers:
            self._numbers[name] = number(self.frame[name])
        return self._numbers[name]

    def values(self, name: str) -> tuple[pl.Series, np.ndarray]:
        found = self._numbered(name)
        return found.distinct, found.times()

    def numbered(self, name: str, rows: Rows) -> Numbered:
        return self._numbered(name)

    def reads(self, name: str, strictly: Text) -> bool:
        return True

    def agreeing(self, keys: Keys) -> int | None:
        return None

    def texts(self, name: str, part: int, parts: int) -> set[str]:
        return texts(self.frame[name])

    def shown(self, name: str, part: int, parts: int) -> set[str]:
        return texts(self.ours[name])

    def spelled(self, names: Sequence[str]) -> Iterator[str]:
        for name in names:
            yield "\n".join(texts(self.ours[name]))

    def spread(self, names: Sequence[str]) -> int:
        return 1


def texts(series: pl.Series) -> set[str]:
    return set(series.cast(pl.String).drop_nulls().unique().to_list())


def looked_up(series: pl.Series, distinct: pl.Series) -> np.ndarray:
    """The place of each value among distinct ones, all of which are there."""
    both = number(pl.concat([distinct, series.rename(distinct.name)], how="vertical"))
    place = np.empty(len(both), np.int64)
    place[both.codes[: len(distinct)]] = np.arange(len(distinct))
    return place[both.codes[len(distinct) :]]
