"""Carried rows on their way from the source to the release, on executors; the driver sees one bucket at a time.

1. Rows find their cell and are written to the release's disk once, each with its number among its partition's rows of that
   cell.  Spark keeps one attempt of each task, and whatever runs again later reads these files.
2. Rows are counted by (partition, cell); the driver splits each cell's quotas over partitions (`split.py`).
3. Each row gets the outcome of its number in its partition's share, in an order drawn from the key.
4. Rows are moved to buckets by a random word, or by their place, and each bucket is sorted and written.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from reticent.engines.buckets import BYTES
from reticent.engines.changed import changed
from reticent.engines.engine import Counted, Working
from reticent.engines.spark import tasks
from reticent.engines.spark.crossing import received, spark_types
from reticent.engines.spark.faults import answering
from reticent.engines.spark.parts import ONE_ATTEMPT
from reticent.engines.spark.places import AS_NAMED, address
from reticent.engines.spark.rows import Distributed
from reticent.engines.spark.split import shares
from reticent.engines.spark.tasks import BUCKET, CELL, ENTRY, NTH, PART, TIMES, WORD
from reticent.randomness import Random
from reticent.recipe.recipe import Recipe
from reticent.release.rows import PIECE, Piece
from reticent.table.source import is_text

MOST = 1 << 12  # buckets


@dataclass(frozen=True, eq=False)
class Carrying:
    """One publication: what was counted, what is to be done with it, and where there is room."""

    counted: Counted
    recipe: Recipe
    rng: Random
    place: np.ndarray | None
    how: Working

    def pieces(self, rows: Distributed, names: list[str]) -> Iterator[Piece]:
        folder = self.how.room()
        types = {name: pl.String() if is_text(kind) else kind for name, kind in rows.types.items() if name in names}
        types = {name: types[name] for name in names}
        with ExitStack() as sent:  # what is broadcast holds values, and is gone when it was used
            self._written(rows, types, folder, sent)
        yield from _read(folder / "done", types)

    def _written(self, rows: Distributed, types: dict[str, pl.DataType], folder: Path, sent: ExitStack) -> None:
        """The published rows, in their order, in files by bucket."""
        session = rows.session
        entries = np.bincount(self.recipe.cell, minlength=len(self.recipe.cells))
        self.how.progress("writing: numbering rows")
        held = self._numbered(rows, types, entries > 1, folder / "rows", sent)
        self.how.progress("writing: drawing outcomes")
        self._shared(rows, held, entries > 1, folder)
        size = sum(file.stat().st_size for file in (folder / "rows").glob("*.parquet"))
        buckets = min(max(-(-4 * size // BYTES), 1), MOST)  # compressed bytes are about a quarter of those in memory
        known = _broadcast(session, self._outcomes(entries, folder, buckets), sent)
        self.how.progress("writing: moving rows")
        schema = [*types.values(), pl.Int64(), pl.Int64(), pl.Int32()]
        kept = [*(f"c{at}" for at in range(len(types))), WORD, ENTRY]
        moved = held.mapInArrow(rows.task(tasks.entered, shared=[known]), spark_types(schema, [*kept, BUCKET]))
        place = [] if self.place is None else [_broadcast(session, self.place, sent)]
        done = moved.repartitionById(buckets, BUCKET).mapInArrow(
            rows.task(tasks.settled, types, shared=place),
            spark_types([*types.values(), pl.Int64()], [*kept[:-2], ENTRY]),
        )
        with answering("Writing the carried columns", session):
            done.write.options(**ONE_ATTEMPT).parquet(address(folder / "done"))

    def _numbered(
        self, rows: Distributed, types: dict[str, pl.DataType], shared: np.ndarray, folder: Path, sent: ExitStack
    ) -> Any:
        """Rows with their numbers, as they were written."""
        keys = self.counted.combinations.columns
        texts = [pl.col(name).cast(pl.String) for name in keys if is_text(self.counted.combinations.schema[name])]
        facts = tasks.Known(self.counted.combinations.with_columns(texts), self.counted.cell, shared)
        known, names = _broadcast(rows.session, facts, sent), list(types)
        schema = [*types.values(), pl.Int32(), pl.Int64(), pl.Int64(), pl.Int64()]
        kept = [*(f"c{at}" for at in range(len(types))), PART, CELL, NTH, WORD]
        kinds = spark_types(schema, kept)
        found = rows.mapped(tasks.numbered_rows, [*keys, *names], kinds, names, self.rng, shared=[known])
        with answering("Reading the carried columns", rows.session):
            found.write.options(**ONE_ATTEMPT).parquet(address(folder))
            return rows.session.read.options(**AS_NAMED).schema(kinds).parquet(address(folder))

    def _shared(self, rows: Distributed, held: Any, shared: np.ndarray, folder: Path) -> None:
        """Each partition's share of the quotas, in a file of its own; refused where rows are not those that were counted."""
        from pyspark.sql import functions as f

        kinds = spark_types([pl.Int32(), pl.Int64(), pl.Int64()], [PART, CELL, TIMES])
        each = held.select(PART, CELL).mapInArrow(rows.task(tasks.tallied), kinds)
        with answering("Counting rows by partition", rows.session):
            table = each.groupBy(PART, CELL).agg(f.sum(TIMES).alias(TIMES)).toArrow()
        part, cell, times = (table.column(name).to_numpy() for name in (PART, CELL, TIMES))
        seen = np.bincount(cell, weights=times, minlength=len(shared)).astype(np.int64)
        if not np.array_equal(seen, self.counted.cells.counts):
            raise changed()
        order = np.lexsort((cell, part))
        part, cell, times = part[order], cell[order], times[order]
        numbers, first = np.unique(part, return_index=True)
        drawn = [
            (cell[start:stop], times[start:stop])
            for number, start, stop in zip(numbers, first, np.append(first, len(part))[1:], strict=True)
            if number != tasks.NO_PART
        ]
        recipe = self.recipe
        open_ = np.flatnonzero(shared[recipe.cell])
        open_ = open_[np.argsort(recipe.cell[open_], kind="stable")]
        found = shares(recipe.cell[open_], open_, recipe.quota[open_], drawn, self.rng.stream("split"))
        for number, share in zip(numbers[numbers != tasks.NO_PART], found, strict=True):
            np.savez(folder / f"share-{number}.npz", cell=share.cell, entry=share.entry, quota=share.quota)

    def _outcomes(self, entries: np.ndarray, folder: Path, buckets: int) -> tasks.Outcomes:
        recipe, first = self.recipe, None
        by_cell = np.argsort(recipe.cell, kind="stable")
        only = by_cell[(np.cumsum(entries) - 1).clip(0)].astype(np.int64)
        shown = np.zeros(len(recipe.group), bool)
        shown[recipe.shown] = True
        if self.place is not None:
            rank = np.unique(self.place, return_inverse=True)[1].reshape(-1)
            held = np.bincount(rank[recipe.shown], recipe.quota[recipe.shown], int(rank.max(initial=0)) + 1)
            first = (np.cumsum(held) - held).astype(np.int64)[rank]
        published = int(recipe.quota[recipe.shown].sum())
        return tasks.Outcomes(only, shown, folder, self.rng, first, published, buckets)


def _broadcast(session: Any, value: Any, sent: ExitStack) -> Any:
    """A value for every executor, destroyed with its files when `sent` is closed."""
    known = session.sparkContext.broadcast(value)

    def destroy() -> None:
        with suppress(Exception):  # a session that is gone has nothing left
            known.destroy()

    sent.callback(destroy)
    return known


def _read(folder: Path, types: dict[str, pl.DataType]) -> Iterator[Piece]:
    """What executors wrote, bucket by bucket, each file removed once it is read; an empty table is one empty piece."""
    some = False
    for path in sorted(folder.glob("part-*")):
        frame = pl.read_parquet(path, memory_map=False, glob=False)
        path.unlink()
        for start in range(0, len(frame), PIECE):
            part, some = frame[start : start + PIECE], True
            yield Piece(part[ENTRY].to_numpy(), received(part.drop(ENTRY), types))
    if not some:
        yield Piece(np.zeros(0, np.int64), pl.DataFrame(schema=types))
