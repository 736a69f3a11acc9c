"""The second level of partitioned planning: each region is planned where its cells are, against the totals of the whole table.

`route_cells` moves cells into one part for each region; `plan_regions` plans every region and writes its plan to a file
of its own.  A region's plan is a function of its cells and of the key, so a region that is planned twice writes the
same file twice.

The labels of all regions are numbered column by column where regions are planned, so that the publishing process holds
none of them. Equal labels of two regions are one.  The labels of a column are written in order to a shared file, and a
label's number is its place there (`number_labels`, `look_up_labels`).
"""

from __future__ import annotations

import io
import os
import pickle
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from reticent.data.cells import Cells, combine_sensitive_like
from reticent.data.domain import Domain
from reticent.engines.engine import MULTIPLICITY, Frames, Partitions
from reticent.methods.base import Method
from reticent.methods.recipe_planning import compose_recipe, count_lone_people
from reticent.methods.regions import RegionTree
from reticent.models.promise import Promises
from reticent.partitioned.cell_encoding import ColumnCodings, to_matrix
from reticent.randomness import Random
from reticent.recipe.group_labels import (
    compute_column_losses,
    merge_equal_labels,
    select_telling_labels,
)
from reticent.recipe.recipe import Recipe

LabelTexts = tuple[list[str | None], ...]
_LABEL_COLUMN = "label"
_LABELS_PER_BATCH = 1 << 16  # labels that a lookup reads at once
REGION_COLUMN = "\x00region"


def write_region_labels(folder: Path, region: int, texts: LabelTexts) -> None:
    """Write the labels of a region, by column."""
    write_atomically(folder / f"region-{region}.labels", pickle.dumps(texts, protocol=5))


def read_region_labels(folder: Path, region: int) -> LabelTexts:
    return pickle.loads((folder / f"region-{region}.labels").read_bytes())  # our own file, where only we can enter


def number_labels(
    folder: Path, column: int, domain: Domain, regions: int, batch_labels: int = _LABELS_PER_BATCH
) -> list[str | None]:
    """Number a column's labels; return those that determine the manifest's entry of the column."""
    distinct_labels = {text for region in range(regions) for text in read_region_labels(folder, region)[column]}
    labels = pl.Series(_LABEL_COLUMN, list(distinct_labels), dtype=pl.String).sort(nulls_last=True)
    packed = io.BytesIO()
    labels.to_frame().write_parquet(packed, row_group_size=batch_labels)
    write_atomically(folder / f"labels-{column}.parquet", packed.getvalue())
    return select_telling_labels(domain, distinct_labels)


def read_column_labels(folder: Path, column: int) -> pl.Series:
    """Read the labels of a column, each at the place that is its number."""
    return pl.read_parquet(folder / f"labels-{column}.parquet", memory_map=False, glob=False)[_LABEL_COLUMN]


def look_up_labels(folder: Path, column: int, wanted: np.ndarray, batch_labels: int = _LABELS_PER_BATCH) -> pl.Series:
    """Look up some labels of a column by their sorted numbers; the others are read, and not kept in memory."""
    import pyarrow.parquet as pq

    looked_up = [pl.Series(_LABEL_COLUMN, [], pl.String)]
    start = 0
    with pq.ParquetFile(folder / f"labels-{column}.parquet") as opened:
        for batch in opened.iter_batches(batch_labels, use_threads=False):
            first, end = np.searchsorted(wanted, (start, start + len(batch)))
            labels = pl.Series(_LABEL_COLUMN, batch.column(0), dtype=pl.String)
            looked_up.append(labels.gather(wanted[first:end] - start))
            start += len(batch)
    return pl.concat(looked_up)


def find_label_numbers(labels: pl.Series, texts: list[str | None]) -> np.ndarray:
    """Find the numbers of some labels of a column."""
    numbered_labels = pl.DataFrame({_LABEL_COLUMN: labels}).with_row_index("number")
    wanted = pl.DataFrame({_LABEL_COLUMN: texts}, schema={_LABEL_COLUMN: pl.String})
    numbers = wanted.join(numbered_labels, on=_LABEL_COLUMN, how="left", nulls_equal=True, maintain_order="left")[
        "number"
    ]
    return numbers.to_numpy().astype(np.int32)


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file whole or not at all: another attempt may be writing it too, with the same content."""
    temporary = path.with_name(f".{path.name}-{uuid.uuid4().hex}")
    temporary.write_bytes(content)
    os.replace(temporary, path)


@dataclass(frozen=True, eq=False)
class RegionRequest:
    """What is needed to plan a region.

    `promises` have the totals of the whole table; `whole` tells how several sensitive columns are combined into one.
    """

    method: Method
    promises: Promises
    codes: ColumnCodings
    whole: Cells
    rng: Random
    folder: Path


@dataclass(frozen=True, slots=True)
class RegionSummary:
    """Summary of a region's plan: its groups, its rows, what tight labels would lose in each column, all rows together, and groups of one row."""

    region: int
    groups: int
    rows: int
    tight: tuple[float, ...]
    alone: int = 0


@dataclass(frozen=True, eq=False)
class RegionPlan:
    """A region's plan as it is stored; its labels are in a file of their own; `of_group` has the labels of each group."""

    recipe: Recipe
    of_group: np.ndarray

    @classmethod
    def read(cls, folder: Path, number: int) -> RegionPlan:
        return pickle.loads(
            _locate_plan(folder, number).read_bytes()
        )  # our own file, in a folder that only we can enter


def number_regions(tree: RegionTree) -> np.ndarray:
    """Number regions in the order of their leaves."""
    numbers = np.full(len(tree.column), -1, np.int32)
    numbers[tree.leaves] = np.arange(len(tree.leaves))
    return numbers


def route_cells(parts: Partitions, codes: ColumnCodings, tree: RegionTree) -> Partitions:
    """Move cells into one part for each region."""
    schema = {**codes.schema, MULTIPLICITY: pl.Int64(), REGION_COLUMN: pl.Int32()}
    return parts.map_partitions(_route_part, schema, codes, tree).repartition(REGION_COLUMN, len(tree.leaves))


def plan_regions(parts: Partitions, request: RegionRequest) -> list[RegionSummary]:
    """Plan every region; return the summaries."""
    summaries = parts.map_collect(_plan_part, request, doing="Planning regions")
    return sorted((summary for part in summaries for summary in part), key=lambda summary: summary.region)


def _locate_plan(folder: Path, number: int) -> Path:
    return folder / f"region-{number}.plan"


def _route_part(frames: Frames, number: int, codes: ColumnCodings, tree: RegionTree) -> Iterator[pl.DataFrame]:
    region = number_regions(tree)
    for frame in frames:
        leaf = tree.route(to_matrix(frame, codes.columns[: len(codes.quasi)]))
        yield frame.select(*codes.columns, MULTIPLICITY).with_columns(pl.Series(REGION_COLUMN, region[leaf]))


def _plan_part(frames: Frames, request: RegionRequest) -> list[RegionSummary]:
    rows = pl.concat(list(frames))
    return [_plan_region(region, int(region[REGION_COLUMN][0]), request) for region in rows.partition_by(REGION_COLUMN)]


def _plan_region(rows: pl.DataFrame, number: int, request: RegionRequest) -> RegionSummary:
    cells = request.codes.build_cells(rows, request.whole.rows_per_person)
    rng = request.rng.derive(f"region {number}")
    combined = combine_sensitive_like(cells, request.whole)
    recipe = compose_recipe((), request.method, combined, request.promises, rng, published=cells)
    recipe, labels = merge_equal_labels(recipe)
    recipe.require_conserved()
    plan = RegionPlan(replace(recipe, padded={}), labels.of_group)
    write_atomically(_locate_plan(request.folder, number), pickle.dumps(plan, protocol=5))
    write_region_labels(request.folder, number, labels.texts)
    tight = tuple((recipe.as_groups().sizes @ compute_column_losses(recipe)).tolist())
    return RegionSummary(number, recipe.groups, cells.rows, tight, count_lone_people(recipe))
