"""The second level: each region planned where its cells are, against the whole table's totals, and kept in a file of its own.

A region's plan is a function of its cells and of the key, so whoever plans it twice writes the same file twice.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from reticent.engines.parts import TIMES, Frames, Parts
from reticent.methods.lone_people import count_lone_people
from reticent.methods.protocols import Method
from reticent.methods.regions.coarse import Tree
from reticent.models.promises import Promises
from reticent.randomness import Random
from reticent.recipe.group_labels import coalesce, pad
from reticent.recipe.losses import printed_loss, total_loss
from reticent.recipe.recipe import Recipe
from reticent.regional import labels
from reticent.regional.counted import Codes, matrix
from reticent.table.cells import Cells
from reticent.table.joint import jointly_as

REGION = "\x00region"


@dataclass(frozen=True, eq=False)
class Asked:
    """What a region is planned by; `promises` know the whole table's totals, `whole` how several sensitive columns are one."""

    method: Method
    promises: Promises
    codes: Codes
    whole: Cells
    rng: Random
    folder: Path


@dataclass(frozen=True, slots=True)
class Told:
    """What a region says of its plan: its groups, rows, what their labels lose beside tight ones, and groups of one row."""

    region: int
    groups: int
    rows: int
    tight: float
    printed: float
    alone: int = 0


@dataclass(frozen=True, eq=False)
class Region:
    """A region's plan as it is kept; its labels stand in a file of their own, `of_group` says which of them a group publishes."""

    recipe: Recipe
    of_group: np.ndarray

    @classmethod
    def read(cls, folder: Path, number: int) -> Region:
        return pickle.loads(_place(folder, number).read_bytes())  # our own file, in a folder that only we can enter


def _place(folder: Path, number: int) -> Path:
    return folder / f"region-{number}.plan"


def numbers(tree: Tree) -> np.ndarray:
    """Regions are numbered in the order of their leaves."""
    found = np.full(len(tree.column), -1, np.int32)
    found[tree.leaves] = np.arange(len(tree.leaves))
    return found


def routed(parts: Parts, codes: Codes, tree: Tree) -> Parts:
    """Cells in one part for each region."""
    schema = {**codes.schema, TIMES: pl.Int64(), REGION: pl.Int32()}
    return parts.made(_routed, schema, codes, tree).moved(REGION, len(tree.leaves))


def _routed(frames: Frames, number: int, codes: Codes, tree: Tree) -> Iterator[pl.DataFrame]:
    region = numbers(tree)
    for frame in frames:
        leaf = tree.route(matrix(frame, codes.columns[: len(codes.quasi)]))
        yield frame.select(*codes.columns, TIMES).with_columns(pl.Series(REGION, region[leaf]))


def planned(parts: Parts, asked: Asked) -> list[Told]:
    """Every region planned; what each says."""
    found = parts.told(_planned, asked, doing="Planning regions")
    return sorted((one for told in found for one in told), key=lambda one: one.region)


def _planned(frames: Frames, asked: Asked) -> list[Told]:
    held = pl.concat(list(frames))
    return [_region(part, int(part[REGION][0]), asked) for part in held.partition_by(REGION)]


def _region(held: pl.DataFrame, number: int, asked: Asked) -> Told:
    cells = asked.codes.cells(held, asked.whole.rows_per_person)
    rng = asked.rng.apart(f"region {number}")
    planned = asked.method.plan(jointly_as(cells, asked.whole), asked.promises, rng)
    recipe, found = coalesce(pad(replace(planned, cells=cells), rng))
    recipe.check_conserved()
    kept = Region(replace(recipe, padded={}), found.of_group)
    labels.whole_or_not(_place(asked.folder, number), pickle.dumps(kept, protocol=5))
    labels.write(asked.folder, number, found.texts)
    weights: Any = getattr(asked.method, "weights", None)
    tight, printed = total_loss(recipe, weights), printed_loss(recipe, weights) * cells.rows
    return Told(number, recipe.groups, cells.rows, tight, printed, count_lone_people(recipe))
