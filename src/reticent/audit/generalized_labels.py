"""The labels of a release in parts: counted where its rows are read, and numbered and measured column by column.

    counted    each label of each column with how many rows have it, from some row groups of the file
    told       of a column, all of whose labels are in one part: what they lose, and how well they identify
    numbered   frames with a label's number in place of the label

The labels of a column are written in order to a file that all see, and a label's number is its place there.  Nobody who is told of
them holds labels: they may be as many as groups.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from reticent.audit.generalized import measured
from reticent.audit.separation import Identifying, identifying
from reticent.audit.subject import Subject
from reticent.release.data import COUNT
from reticent.utility import loss

COLUMN, LABEL = "\x00column", "\x00label"
SCHEMA = {COLUMN: pl.Int32(), LABEL: pl.String(), COUNT: pl.Int64()}


@dataclass(frozen=True, slots=True)
class Told:
    """What the labels of a column say."""

    column: int
    lost: loss.Measured
    identifies: Identifying


def counted(frames: Iterable[pl.DataFrame], subject: Subject) -> Iterator[pl.DataFrame]:
    """The labels of each quasi-identifier in some frames, with their rows."""
    found: dict[str, list[pl.DataFrame]] = {entry.name: [] for entry in subject.quasi}
    for frame in frames:
        for name, held in found.items():
            here = frame.group_by(pl.col(name).alias(LABEL)).agg(pl.len().cast(pl.Int64).alias(COUNT))
            found[name] = [_summed([*held, here])]
    for at, held in enumerate(found.values()):
        for one in held:
            yield one.select(pl.lit(at, pl.Int32).alias(COLUMN), LABEL, COUNT)


def told(frames: Iterable[pl.DataFrame], subject: Subject, folder: Path) -> list[Told]:
    """What each column that is in this part says; its labels are written."""
    return [_told(column, subject, folder) for column in pl.concat(list(frames)).partition_by(COLUMN)]


def _told(held: pl.DataFrame, subject: Subject, folder: Path) -> Told:
    at = int(held[COLUMN][0])
    labels = _summed([held.drop(COLUMN)]).sort(LABEL)
    _write(labels.select(LABEL), _place(folder, at))
    entry, rows = subject.quasi[at], labels[COUNT].to_numpy()
    lost = measured(subject, entry, labels[LABEL], rows)
    assert isinstance(lost, loss.Measured)  # of a release of ours that much is known
    return Told(at, lost, *identifying([entry.name], np.arange(len(rows))[:, None], rows, pairs=False))


def _summed(frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    return pl.concat(frames).group_by(LABEL).agg(pl.col(COUNT).sum())


def numbered(frames: Iterable[pl.DataFrame], names: Sequence[str], folder: Path) -> Iterator[pl.DataFrame]:
    """The frames with the number of each label under `number_of` in place of the columns of these names."""
    known = [
        pl.read_parquet(_place(folder, at), memory_map=False, glob=False).with_row_index(number_of(at))
        for at in range(len(names))
    ]
    for frame in frames:
        for name, labels in zip(names, known, strict=True):
            frame = frame.join(
                labels, left_on=name, right_on=LABEL, how="left", nulls_equal=True, maintain_order="left"
            ).drop(name)
        yield frame.with_columns(pl.col(number_of(at)).cast(pl.Int32) for at in range(len(names)))


def number_of(column: int) -> str:
    """What the numbers of a column's labels are called."""
    return f"\x00l{column}"


def _place(folder: Path, column: int) -> Path:
    return folder / f"labels-{column}.parquet"


def _write(labels: pl.DataFrame, path: Path) -> None:
    """Whole or not at all: another attempt may be at it too, and would write the same."""
    made = path.with_name(f".{path.name}-{uuid.uuid4().hex}")
    labels.write_parquet(made)
    os.replace(made, path)
