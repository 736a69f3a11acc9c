"""Encodes counted combinations in parts as cells in parts, with the same codes everywhere, and computes facts about all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from reticent.data.cells import Cells, Coding, build_cells, build_codings
from reticent.data.columns import Column, Role, find_columns_with_role
from reticent.data.domain import Domain
from reticent.engines.engine import MULTIPLICITY, Frames, Partitions
from reticent.errors import SourceError
from reticent.methods import regions
from reticent.methods.regions import RegionTree, hash_codes
from reticent.randomness import Random

WORD_COLUMN = "\x00word"
LEAF_COLUMN = "\x00leaf"
_SAMPLE_MARGIN = 1.25  # the sample is asked for with so much to spare


@dataclass(frozen=True, eq=False)
class ColumnCodings:
    """How values become codes: the same on every machine."""

    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    codings: Mapping[str, Coding]

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.quasi, *self.sensitive)

    @property
    def columns(self) -> list[str]:
        """The names of the columns of codes, which no column of a table has."""
        return [
            *(f"\x00q{position}" for position in range(len(self.quasi))),
            *(f"\x00s{position}" for position in range(len(self.sensitive))),
        ]

    @property
    def schema(self) -> dict[str, pl.DataType]:
        return dict.fromkeys(self.columns, pl.Int32())

    @property
    def sizes(self) -> list[int]:
        return [self.codings[name].domain.size for name in self.names]

    def get_domains(self, names: tuple[str, ...]) -> tuple[Domain, ...]:
        return tuple(self.codings[name].domain for name in names)

    def encode(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return the codes of a frame's values; a value that was not there when values were counted has -1 or the null's."""
        code_columns = [self.codings[name].encode(frame[name]) for name in self.names]
        return pl.DataFrame(dict(zip(self.columns, code_columns, strict=True)), schema=self.schema)

    def build_cells(self, coded: pl.DataFrame, rows_per_person: int = 1) -> Cells:
        """Build cells from coded combinations."""
        quasi_count = len(self.quasi)
        codes = to_matrix(coded, self.columns)
        parts = (
            self.get_domains(self.quasi),
            self.get_domains(self.sensitive),
            codes[:, :quasi_count],
            codes[:, quasi_count:],
        )
        return replace(build_cells(*parts, coded[MULTIPLICITY].to_numpy())[0], rows_per_person=rows_per_person)


def to_matrix(frame: pl.DataFrame, names: list[str]) -> np.ndarray:
    """Return columns of 32-bit numbers as one array."""
    return np.column_stack([np.zeros((len(frame), 0), np.int32), *(frame[name].to_numpy() for name in names)])


@dataclass(frozen=True, eq=False)
class Marginals:
    """How often each value of each column occurs, and how many combinations there are."""

    values: Mapping[str, pl.DataFrame]
    combinations: int

    def build_codings(self, columns: Mapping[str, Column]) -> ColumnCodings:
        quasi, sensitive = (tuple(find_columns_with_role(columns, role)) for role in (Role.QUASI, Role.SENSITIVE))
        value_counts = {
            name: (self.values[name][name], self.values[name][MULTIPLICITY].to_numpy().astype(np.int64))
            for name in (*quasi, *sensitive)
        }
        return ColumnCodings(quasi, sensitive, build_codings(columns, value_counts))


def count_marginals(parts: Partitions, names: list[str]) -> Marginals:
    part_marginals = parts.map_collect(_count_part_marginals, names, doing="Counting values")
    if not part_marginals:
        raise SourceError("The source has a header and no rows.", attempt="a file with at least k rows.")
    values = {name: _sum_multiplicities([marginals[0][name] for marginals in part_marginals], [name]) for name in names}
    return Marginals(values, sum(row_count for _, row_count in part_marginals))


def encode_partitions(parts: Partitions, codes: ColumnCodings, rng: Random) -> Partitions:
    """Encode the combinations, each with its random word."""
    return parts.map_partitions(
        _encode_part, {**codes.schema, MULTIPLICITY: pl.Int64(), WORD_COLUMN: pl.Int64()}, codes, rng
    )


def draw_sample(parts: Partitions, codes: ColumnCodings, combinations: int, size: int = regions.SAMPLE_CELLS) -> Cells:
    """Return the cells of the least words, and a few more; all of them if they are few."""
    max_word = (1 << 63) - 1
    limit = max_word if combinations <= size else min(int(_SAMPLE_MARGIN * size / combinations * 2**63), max_word)
    return codes.build_cells(pl.concat(parts.map_collect(_select_least_words, limit, doing="Drawing a sample")))


@dataclass(frozen=True, eq=False)
class LeafTotals:
    """The rows of each leaf with each combination of sensitive values: cells without quasi-identifiers, and their leaves."""

    cells: Cells
    leaf: np.ndarray


def count_leaves(parts: Partitions, codes: ColumnCodings, tree: RegionTree, rows_per_person: int) -> LeafTotals:
    quasi, sensitive = codes.columns[: len(codes.quasi)], codes.columns[len(codes.quasi) :]
    part_counts = parts.map_collect(_count_part_leaves, quasi, sensitive, tree, doing="Counting regions")
    leaf_counts = _sum_multiplicities(part_counts, [LEAF_COLUMN, *sensitive]).sort(LEAF_COLUMN, *sensitive)
    values = to_matrix(leaf_counts, sensitive)
    counts = leaf_counts[MULTIPLICITY].to_numpy()
    no_codes = np.zeros((len(leaf_counts), len(codes.quasi)), np.int32)
    cells = Cells(
        codes.get_domains(codes.quasi),
        codes.get_domains(codes.sensitive),
        no_codes,
        values,
        counts,
        rows_per_person=rows_per_person,
    )
    return LeafTotals(cells, leaf_counts[LEAF_COLUMN].to_numpy())


def _count_part_marginals(frames: Frames, names: list[str]) -> tuple[dict[str, pl.DataFrame], int]:
    counts_by_column: dict[str, list[pl.DataFrame]] = {name: [] for name in names}
    row_count = 0
    for frame in frames:
        row_count += len(frame)
        for name, column_counts in counts_by_column.items():
            counts_by_column[name] = [_sum_multiplicities([*column_counts, frame.select(name, MULTIPLICITY)], [name])]
    return {name: column_counts[0] for name, column_counts in counts_by_column.items()}, row_count


def _sum_multiplicities(frames: list[pl.DataFrame], by: list[str]) -> pl.DataFrame:
    return pl.concat(frames).group_by(by).agg(pl.col(MULTIPLICITY).sum())


def _encode_part(frames: Frames, number: int, codes: ColumnCodings, rng: Random) -> Iterator[pl.DataFrame]:
    for frame in frames:
        codes_of_frame = codes.encode(frame)
        word = hash_codes(to_matrix(codes_of_frame, codes.columns), codes.sizes, rng)
        yield codes_of_frame.with_columns(
            frame[MULTIPLICITY], pl.Series(WORD_COLUMN, (word >> np.uint64(1)).view(np.int64))
        )


def _select_least_words(frames: Frames, limit: int) -> pl.DataFrame:
    return pl.concat([frame.filter(pl.col(WORD_COLUMN) <= limit) for frame in frames])


def _count_part_leaves(frames: Frames, quasi: list[str], sensitive: list[str], tree: RegionTree) -> pl.DataFrame:
    summed: list[pl.DataFrame] = []
    for frame in frames:
        leaf = tree.route(to_matrix(frame, quasi))
        leaf_rows = frame.select(*sensitive, MULTIPLICITY).with_columns(pl.Series(LEAF_COLUMN, leaf))
        summed = [
            _sum_multiplicities(
                [*(earlier.select(leaf_rows.columns) for earlier in summed), leaf_rows], [LEAF_COLUMN, *sensitive]
            )
        ]
    return summed[0]
