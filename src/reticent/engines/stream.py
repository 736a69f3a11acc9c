"""The stream engine: tables larger than memory, from Parquet and CSV, read piece by piece.

Counting is a group-by that holds the cells.  Where no other column is carried, the release is expanded from them; otherwise
rows are read once more: each finds its cell, its entry by its rank (`ranked.py`) and a random bucket on disk, and buckets are
shuffled one by one.  Rows that choose their bucket independently, and buckets in uniform order within, are in uniform order
altogether (ADR 8).  Of kinds that are sorted, buckets are read back into buckets by place, and each is sorted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl

from reticent.engines import local
from reticent.engines.buckets import BYTES, Buckets, many
from reticent.engines.changed import Tally, read_again
from reticent.engines.engine import PLAINLY, Counted, Working
from reticent.engines.expanded import expanded
from reticent.engines.locate import Locator
from reticent.engines.looked import Repeated
from reticent.engines.pace import Pace
from reticent.engines.ranked import Ranks
from reticent.randomness import Random
from reticent.recipe.recipe import Recipe
from reticent.release.rows import PIECE, Beside, Piece
from reticent.table import beside
from reticent.table import source as sources
from reticent.table.carried import CarriedCounts, count_carried
from reticent.table.roles import Column, Role, with_role
from reticent.table.source import Source, batches, is_text
from reticent.table.spanned import together
from reticent.table.typed_rows import typed

ENTRY = "\x00entry"
READ = 4 * BYTES  # what is read at a time
PARTS = 8  # in which it comes
SOME = 1 << 20  # entries whose places tell how to part them all
_NUMBER, _TEXT = 8, 24  # bytes that a value is taken for before one was seen
_SMALL = {pl.Boolean: 1, pl.Int8: 1, pl.UInt8: 1, pl.Int16: 2, pl.UInt16: 2, pl.Int32: 4, pl.UInt32: 4, pl.Float32: 4}
_Ranked = tuple[pl.DataFrame, np.ndarray]


@dataclass(frozen=True, eq=False)
class Streamed:
    """Published rows that are made as they are written."""

    rows: int
    beside: Mapping[str, Beside]
    made: Callable[[], Iterator[Piece]]

    def __iter__(self) -> Iterator[Piece]:
        return self.made()


class Stream:
    """Rows piece by piece; what does not fit memory is on the release's disk."""

    name: ClassVar[str] = "stream"
    distributed: ClassVar[bool] = False
    regions: ClassVar[None] = None

    def each(self, function: Callable[..., Any], asked: Iterable[tuple[Any, ...]]) -> list[Any]:
        return [function(*given) for given in asked]

    def scan(self, source: Source, frame: Any = None) -> pl.LazyFrame:
        return sources.scan(source, frame, by_pieces=True)

    def held(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        return rows

    def typed(self, rows: pl.LazyFrame, columns: Mapping[str, Column]) -> pl.LazyFrame:
        return typed(rows, columns)

    def count_carried(self, rows: pl.LazyFrame, columns: Mapping[str, Column]) -> CarriedCounts:
        return count_carried(rows, columns)

    def look(self, rows: pl.LazyFrame, columns: Mapping[str, Column], how: Working = PLAINLY) -> beside.Beside:
        names = beside.asked(columns)
        if not names:
            return beside.Beside()
        doing, wanted = "Counting identifying and carried values", rows.select(names)
        found = {name: Repeated(how.room) for name in names}
        pace = Pace(doing.lower(), None, how.progress)
        for frame in batches_of(wanted, doing):
            for name in names:
                found[name].add(frame[name])
            pace.add(len(frame))
            del frame  # before the next is read
        return beside.answered(columns, pace.done, {name: one.found() for name, one in found.items()})

    def count(
        self, rows: pl.LazyFrame, columns: Mapping[str, Column], rows_per_person: int = 1, how: Working = PLAINLY
    ) -> Counted:
        """The count of `local` takes pieces already: it holds combinations, and few rows."""
        return local.count(rows, columns, rows_per_person)

    def tallied(self, rows: pl.LazyFrame, names: list[str]) -> pl.DataFrame:
        return local.tallied(rows, names)

    def cut(self, rows: pl.LazyFrame, by: str, value: pl.Series, names: list[str]) -> pl.LazyFrame:
        return local.cut(rows, by, value, names)

    def apply(
        self,
        counted: Counted,
        recipe: Recipe,
        rng: Random,
        rows: pl.LazyFrame,
        place: np.ndarray | None = None,
        how: Working = PLAINLY,
    ) -> Streamed:
        published = int(recipe.quota[recipe.shown].sum())
        names = with_role(counted.columns, Role.INSENSITIVE)
        if not names:
            return Streamed(published, {}, lambda: expanded(recipe, rng))
        schema = rows.collect_schema()
        types = {name: Beside(pl.String() if is_text(schema[name]) else schema[name]) for name in names}
        carrying = Carrying(counted, recipe, rng, place, how)
        return Streamed(published, types, lambda: carrying.pieces(rows, names))


@dataclass(frozen=True, eq=False)
class Carrying:
    """Carried rows on their way from the source to the release."""

    counted: Counted
    recipe: Recipe
    rng: Random
    place: np.ndarray | None
    how: Working

    def pieces(self, rows: pl.LazyFrame, names: list[str]) -> Iterator[Piece]:
        folder = self.how.room()
        with closing(Ranks(self.recipe, self.rng, folder)) as ranks:
            buckets = self._scattered(rows, names, ranks, folder / "scattered")
            ranks.settle()
        shown = np.zeros(len(self.recipe.group), bool)
        shown[self.recipe.shown] = True
        ranked = (_ranked(frame, ranks, shown) for frame in buckets.frames())
        found = self._shuffled(ranked) if self.place is None else self._sorted(ranked, folder / "sorted")
        for entry, carried in found:
            for start in range(0, len(entry), PIECE):
                yield Piece(entry[start : start + PIECE], carried[start : start + PIECE])

    def _scattered(self, rows: pl.LazyFrame, names: list[str], ranks: Ranks, folder: Path) -> Buckets:
        """Carried columns in random buckets, each row with its entry or with what it is waiting for."""
        doing, keys, cells = "Reading the carried columns", self.counted.combinations.columns, self.counted.cells
        wanted = local.keyed(rows, keys).select(*keys, *names)
        locator, tally = Locator.of(self.counted.combinations, self.counted.cell), Tally(cells)
        pace, buckets = Pace("writing", cells.rows, self.how.progress), Buckets(folder)
        with closing(buckets), read_again():
            for frame in batches_of(wanted, doing):
                beside = _texts(frame.select(names))
                if not pace.done:
                    buckets.begin(many(cells.rows, beside.estimated_size() / max(len(frame), 1) + 8))
                cell = locator.cells(frame.select(keys))
                tally.add(cell)
                number = self.rng.words("bucket", pace.done, len(frame)) % np.uint64(buckets.count)
                buckets.put(number, beside.with_columns(pl.Series(ENTRY, ranks.take(cell))))
                pace.add(len(frame))
                del frame, beside  # before the next are read
            tally.finish()
            buckets.finish()
        return buckets

    def _shuffled(self, ranked: Iterator[_Ranked]) -> Iterator[tuple[np.ndarray, pl.DataFrame]]:
        for at, (frame, kept) in enumerate(ranked):
            order = kept[self.rng.stream(f"shuffle {at}").permutation(len(kept))]
            yield _parted(frame[order])

    def _sorted(self, ranked: Iterator[_Ranked], folder: Path) -> Iterator[tuple[np.ndarray, pl.DataFrame]]:
        """By place and by what is carried: a bucket holds whole places."""
        assert self.place is not None
        rows = int(self.recipe.quota[self.recipe.shown].sum())
        buckets = Buckets(folder)
        with closing(buckets):
            for frame, kept in ranked:
                if not len(kept):
                    continue  # none of these rows is published
                if len(kept) < len(frame):
                    frame = frame[kept]
                if not buckets.count:
                    buckets.begin(many(rows, frame.estimated_size() / max(len(frame), 1)))
                    ends = self._ends(buckets.count)
                buckets.put(np.searchsorted(ends, self.place[frame[ENTRY].to_numpy()]), frame)
            buckets.finish()
        for frame in buckets.frames():
            entry, carried = _parted(frame)
            order = local.by_place(self.place[entry], carried)
            yield entry[order], carried[order]

    def _ends(self, parts: int) -> np.ndarray:
        """The last place of all parts but one, which should have as many rows each: from some of the entries."""
        assert self.place is not None
        some = self.recipe.shown[:: -(-len(self.recipe.shown) // SOME)]
        some = some[np.argsort(self.place[some])]
        until = np.cumsum(self.recipe.quota[some])
        return self.place[some][np.searchsorted(until, until[-1] * np.arange(1, parts) // parts)]


def _ranked(frame: pl.DataFrame, ranks: Ranks, shown: np.ndarray) -> _Ranked:
    """The rows of a bucket, each with its entry, and which of them are published."""
    entry = ranks.entries(frame[ENTRY].to_numpy())
    return frame.with_columns(pl.Series(ENTRY, entry)), np.flatnonzero(shown[entry])


def _parted(frame: pl.DataFrame) -> tuple[np.ndarray, pl.DataFrame]:
    return frame[ENTRY].to_numpy(), frame.drop(ENTRY)


def _texts(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(pl.col(name).cast(pl.String) for name, kind in frame.schema.items() if is_text(kind))


def batches_of(rows: pl.LazyFrame, doing: str) -> Iterator[pl.DataFrame]:
    """The rows in their order: so many at a time, or fewer that take as many bytes as were meant."""
    most = at_once(rows)
    return together(batches(rows, doing, -(-most // PARTS)), most, READ)


def at_once(rows: pl.LazyFrame) -> int:
    """How many rows are read at a time, where none of them is longer than it is taken for."""
    types = rows.collect_schema().values()
    size = sum(_TEXT if is_text(dtype) else _SMALL.get(dtype.base_type(), _NUMBER) for dtype in types)
    return min(max(READ // max(size, 1), PARTS), 1 << 20) // PARTS * PARTS


ENGINE = Stream()
