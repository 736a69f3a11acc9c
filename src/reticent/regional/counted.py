"""Counted combinations in parts -> cells in parts, coded alike everywhere; and what must be known of all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from reticent.engines.parts import TIMES, Frames, Parts
from reticent.errors import SourceError
from reticent.methods.regions import coarse
from reticent.methods.regions.coarse import Tree, words
from reticent.randomness import Random
from reticent.table.cells import Cells, gather
from reticent.table.codec import Coding, codings_of
from reticent.table.domain import Domain
from reticent.table.roles import Column, Role, with_role

WORD, LEAF = "\x00word", "\x00leaf"
_ROOM = 1.25  # the sample is asked for with so much to spare


@dataclass(frozen=True, eq=False)
class Codes:
    """How values become codes: the same on every machine."""

    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    codings: Mapping[str, Coding]

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.quasi, *self.sensitive)

    @property
    def columns(self) -> list[str]:
        """What codes are called: as no column of a table is."""
        return [*(f"\x00q{at}" for at in range(len(self.quasi))), *(f"\x00s{at}" for at in range(len(self.sensitive)))]

    @property
    def schema(self) -> dict[str, pl.DataType]:
        return dict.fromkeys(self.columns, pl.Int32())

    @property
    def sizes(self) -> list[int]:
        return [self.codings[name].domain.size for name in self.names]

    def domains(self, names: tuple[str, ...]) -> tuple[Domain, ...]:
        return tuple(self.codings[name].domain for name in names)

    def coded(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The codes of a frame's values; of one that was not there when values were counted, -1 or the null's."""
        found = [self.codings[name].encode(frame[name]) for name in self.names]
        return pl.DataFrame(dict(zip(self.columns, found, strict=True)), schema=self.schema)

    def cells(self, coded: pl.DataFrame, rows_per_person: int = 1) -> Cells:
        """Cells of coded combinations."""
        many = len(self.quasi)
        both = matrix(coded, self.columns)
        parts = self.domains(self.quasi), self.domains(self.sensitive), both[:, :many], both[:, many:]
        return replace(gather(*parts, coded[TIMES].to_numpy())[0], rows_per_person=rows_per_person)


def matrix(frame: pl.DataFrame, names: list[str]) -> np.ndarray:
    """Columns of 32-bit numbers as one array."""
    return np.column_stack([np.zeros((len(frame), 0), np.int32), *(frame[name].to_numpy() for name in names)])


@dataclass(frozen=True, eq=False)
class Marginals:
    """How often each value of each column occurs, and how many combinations there are."""

    values: Mapping[str, pl.DataFrame]
    combinations: int

    def codes(self, columns: Mapping[str, Column]) -> Codes:
        quasi, sensitive = (tuple(with_role(columns, role)) for role in (Role.QUASI, Role.SENSITIVE))
        held = {
            name: (self.values[name][name], self.values[name][TIMES].to_numpy().astype(np.int64))
            for name in (*quasi, *sensitive)
        }
        return Codes(quasi, sensitive, codings_of(columns, held))


def marginals(parts: Parts, names: list[str]) -> Marginals:
    found = parts.told(_marginals, names, doing="Counting values")
    if not found:
        raise SourceError("The source has a header and no rows.", attempt="a file with at least k rows.")
    values = {name: _summed([one[0][name] for one in found], [name]) for name in names}
    return Marginals(values, sum(many for _, many in found))


def _marginals(frames: Frames, names: list[str]) -> tuple[dict[str, pl.DataFrame], int]:
    found: dict[str, list[pl.DataFrame]] = {name: [] for name in names}
    many = 0
    for frame in frames:
        many += len(frame)
        for name, held in found.items():
            found[name] = [_summed([*held, frame.select(name, TIMES)], [name])]
    return {name: held[0] for name, held in found.items()}, many


def _summed(frames: list[pl.DataFrame], by: list[str]) -> pl.DataFrame:
    return pl.concat(frames).group_by(by).agg(pl.col(TIMES).sum())


def coded(parts: Parts, codes: Codes, rng: Random) -> Parts:
    """The combinations as codes, each with its word."""
    return parts.made(_coded, {**codes.schema, TIMES: pl.Int64(), WORD: pl.Int64()}, codes, rng)


def _coded(frames: Frames, number: int, codes: Codes, rng: Random) -> Iterator[pl.DataFrame]:
    for frame in frames:
        found = codes.coded(frame)
        word = words(matrix(found, codes.columns), codes.sizes, rng)
        yield found.with_columns(frame[TIMES], pl.Series(WORD, (word >> np.uint64(1)).view(np.int64)))


def sample(parts: Parts, codes: Codes, combinations: int) -> Cells:
    """The cells of the least words, and a few more; all of them where they are few."""
    most = (1 << 63) - 1
    limit = most if combinations <= coarse.SAMPLE else min(int(_ROOM * coarse.SAMPLE / combinations * 2**63), most)
    return codes.cells(pl.concat(parts.told(_least, limit, doing="Drawing a sample")))


def _least(frames: Frames, limit: int) -> pl.DataFrame:
    return pl.concat([frame.filter(pl.col(WORD) <= limit) for frame in frames])


@dataclass(frozen=True, eq=False)
class Summed:
    """How many rows of each leaf have each combination of sensitive values: cells without quasi-identifiers, and their leaves."""

    cells: Cells
    leaf: np.ndarray


def summed(parts: Parts, codes: Codes, tree: Tree, rows_per_person: int) -> Summed:
    quasi, sensitive = codes.columns[: len(codes.quasi)], codes.columns[len(codes.quasi) :]
    told = parts.told(_summed_leaves, quasi, sensitive, tree, doing="Counting regions")
    found = _summed(told, [LEAF, *sensitive]).sort(LEAF, *sensitive)
    values, counts = matrix(found, sensitive), found[TIMES].to_numpy()
    codes_ = np.zeros((len(found), len(codes.quasi)), np.int32)
    cells = Cells(
        codes.domains(codes.quasi), codes.domains(codes.sensitive), codes_, values, counts,
        rows_per_person=rows_per_person,
    )  # fmt: skip
    return Summed(cells, found[LEAF].to_numpy())


def _summed_leaves(frames: Frames, quasi: list[str], sensitive: list[str], tree: Tree) -> pl.DataFrame:
    found: list[pl.DataFrame] = []
    for frame in frames:
        leaf = tree.route(matrix(frame, quasi))
        held = frame.select(*sensitive, TIMES).with_columns(pl.Series(LEAF, leaf))
        found = [_summed([*(one.select(held.columns) for one in found), held], [LEAF, *sensitive])]
    return found[0]
