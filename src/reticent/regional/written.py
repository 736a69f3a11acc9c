"""From the regions' plans to the published rows: expanded where nothing is carried, read once more where something is.

Each row gets a random word, by the key and by where it was first written; the word's first bits say its bucket and the word its
place in it.  Rows that choose their bucket independently, and buckets in uniform order within, are in uniform order altogether
(ADR 8).  Whoever writes the release reads bucket after bucket.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl

from reticent.engines.changed import changed
from reticent.engines.local import outcomes
from reticent.engines.parts import NUMBER, Frames, Parts
from reticent.methods.regions.coarse import Tree
from reticent.randomness import Random
from reticent.recipe.generalized_in_parts import label_number, value_number
from reticent.regional import labels
from reticent.regional.counted import WORD, Codes, matrix
from reticent.regional.planned import REGION, Region, numbers
from reticent.release.rows import PIECE, Piece
from reticent.table.parsing import comparable

BUCKET = "\x00bucket"
BYTES = 1 << 24  # of a bucket, about: whoever publishes reads them one by one
MOST = 1 << 12  # buckets
_CELL = "\x00cell"


@dataclass(frozen=True, eq=False)
class Writing:
    """How rows are spelled: by the numbers of their labels, and by the numbers `values` of their sensitive values."""

    codes: Codes
    values: tuple[np.ndarray, ...]
    rng: Random
    folder: Path
    buckets: int

    @property
    def shown(self) -> list[str]:
        """What the numbers are called."""
        labelled, valued = range(len(self.codes.quasi)), range(len(self.values))
        return [*map(label_number, labelled), *map(value_number, valued)]

    def schema(self, carried: Mapping[str, pl.DataType]) -> dict[str, pl.DataType]:
        return {**dict.fromkeys(self.shown, pl.Int32()), **carried, WORD: pl.Int64(), BUCKET: pl.Int32()}

    @cached_property
    def labels(self) -> list[pl.Series]:
        """The labels of each quasi-identifier."""
        return [labels.of_column(self.folder, at) for at in range(len(self.codes.quasi))]

    def rows(self, number: int, region: Region, entry: np.ndarray, word: np.ndarray) -> pl.DataFrame:
        """What rows of some entries of a region's plan show, and where they go."""
        recipe, found, texts = region.recipe, {}, labels.read(self.folder, number)
        group = recipe.group[entry]
        for at in range(len(self.codes.quasi)):
            found[label_number(at)] = labels.numbers(self.labels[at], texts[at])[region.of_group[group, at]]
        cell = recipe.cell[entry]
        for at, of_value in enumerate(self.values):
            found[value_number(at)] = of_value[recipe.cells.values[cell, at]]
        bucket = ((word >> np.uint64(64 - 16)).astype(np.int64) * self.buckets >> 16).astype(np.int32)
        return pl.DataFrame({**found, WORD: word.view(np.int64), BUCKET: bucket})


def buckets_for(rows: int, columns: int, texts: int = 0) -> int:
    """So many that one fits memory easily; `texts` are carried columns, of which a value is taken for 24 bytes."""
    return min(max(-(-rows * (4 * columns + 24 * texts + 12) // BYTES), 1), MOST)


def expanded(parts: Parts, writing: Writing) -> Parts:
    """The rows of each region, from its plan alone; `parts` are as many as there are regions."""
    return parts.made(_expanded, writing.schema({}), writing)


def _expanded(frames: Frames, number: int, writing: Writing) -> Iterator[pl.DataFrame]:
    for frame in frames:
        for at in frame[NUMBER].to_list():
            region = Region.read(writing.folder, at)
            entry = np.repeat(np.arange(len(region.recipe.cell)), region.recipe.quota)
            yield writing.rows(at, region, entry, writing.rng.words(f"shuffle region {at}", 0, len(entry)))


def found(parts: Parts, codes: Codes, tree: Tree, carried: Mapping[str, pl.DataType], rng: Random) -> Parts:
    """Rows with their codes, their region, a random word and what they carry: to be kept, because a word is drawn by place."""
    schema = {**codes.schema, **carried, WORD: pl.Int64(), REGION: pl.Int32()}
    return parts.made(_found, schema, codes, tree, list(carried), rng)


def _found(
    frames: Frames, number: int, codes: Codes, tree: Tree, carried: list[str], rng: Random
) -> Iterator[pl.DataFrame]:
    at, region = 0, numbers(tree)
    for frame in frames:
        coded = codes.coded(frame)
        for name, column in zip(codes.names, codes.columns, strict=True):
            nulls = int((coded[column] == codes.codings[name].domain.null_code).sum())
            if (
                nulls != comparable(name, frame[name]).null_count()
            ):  # a value that was not there when values were counted
                raise changed()
        leaf = tree.route(matrix(coded, codes.columns[: len(codes.quasi)]))
        word = rng.words(f"shuffle {number}", at, len(frame)).view(np.int64)
        at += len(frame)
        numbered = pl.Series(WORD, word), pl.Series(REGION, region[leaf])
        yield coded.with_columns(frame[name] for name in carried).with_columns(*numbered)


def entered(parts: Parts, writing: Writing, carried: Mapping[str, pl.DataType]) -> Parts:
    """What each row shows, and what it carries; `parts` are regions."""
    return parts.made(_entered, writing.schema(carried), writing, list(carried))


def _entered(frames: Frames, number: int, writing: Writing, carried: list[str]) -> Iterator[pl.DataFrame]:
    held = list(frames)
    for rows in pl.concat(held).partition_by(REGION) if held else []:
        at = int(rows[REGION][0])
        region = Region.read(writing.folder, at)
        rows = rows.sort(WORD)  # whatever order they came in
        cell = _cells(rows, region, writing.codes)
        entry = outcomes(region.recipe, cell, writing.rng.apart(f"rank region {at}"))
        shown = writing.rows(at, region, entry, rows[WORD].to_numpy().view(np.uint64))
        yield shown.select(*writing.shown, *(rows[name] for name in carried), WORD, BUCKET)


def _cells(rows: pl.DataFrame, region: Region, codes: Codes) -> np.ndarray:
    """The cell of each row; refused where rows are not those that were counted."""
    cells = region.recipe.cells
    known = pl.DataFrame(np.hstack([cells.codes, cells.values]), schema=codes.schema, orient="row")
    known = known.with_columns(pl.Series(_CELL, np.arange(len(cells))))
    at = rows.select(codes.columns).join(known, on=codes.columns, how="left", maintain_order="left")[_CELL]
    if at.null_count():
        raise changed()
    found = at.to_numpy()
    if not np.array_equal(np.bincount(found, minlength=len(cells)), cells.counts):
        raise changed()
    return found


def settled(parts: Parts, writing: Writing, carried: Mapping[str, pl.DataType]) -> Parts:
    """The rows by bucket, each in the order of its rows' words."""
    kept = {name: dtype for name, dtype in writing.schema(carried).items() if name not in (WORD, BUCKET)}
    return parts.moved(BUCKET, writing.buckets).made(_settled, kept)


def _settled(frames: Frames, number: int) -> Iterator[pl.DataFrame]:
    held = list(frames)
    if held:
        rows = pl.concat(held)
        order = np.argsort(rows[WORD].to_numpy().view(np.uint64), kind="stable")
        yield rows.drop(WORD, BUCKET)[order]


def pieces(kept: Parts, rows: int) -> Iterator[Piece]:
    """What was settled and kept, bucket by bucket."""
    seen = 0
    for frame in kept.read():
        seen += len(frame)
        for start in range(0, len(frame), PIECE):
            yield Piece(slice(0, 0), frame[start : start + PIECE])
    if seen != rows:
        raise changed()
