"""Release folders for the tests: any partition of a table's cells, written as `publish` writes it."""

import contextlib
import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from reticent.data.columns import Column
from reticent.data.source import Source, scan_source
from reticent.engines import local
from reticent.format.schema_checks import MisshapenValue
from reticent.ledger.paths import resolve_notes_folder
from reticent.randomness import Random
from reticent.recipe.generalized import GeneralizedWriter
from reticent.recipe.recipe import Recipe
from reticent.release import bundle
from reticent.release.kind import reader_for


def write_release(
    folder: Path,
    frame: pl.DataFrame,
    columns: dict[str, Column],
    promises: Sequence[dict[str, Any]] = (),
    *,
    groups: int = 3,
    withhold: float = 0.0,
    seed: int = 0,
    labels: str = "nodes",
    format: str = "parquet",
    jointly: bool = False,
) -> Path:
    """Cells put in random groups, some rows withheld: labels overlap, and no promise is kept but by chance."""
    lazy = scan_source(Source(), frame)
    counted = local.count_rows(lazy, columns)
    rng = np.random.default_rng(seed)
    of_cell = rng.integers(0, groups, len(counted.cells))
    of_cell[rng.random(len(of_cell)) < withhold] = -1
    if (of_cell < 0).all():
        of_cell[0] = 0
    kept = of_cell >= 0
    of_cell[kept] = np.unique(of_cell[kept], return_inverse=True)[1]
    way = GeneralizedWriter.from_recipe(Recipe.of_groups(counted.cells, of_cell, labels=labels), columns)
    frames = way.frames(local.apply_recipe(counted, way.recipe, Random.from_seed(seed), lazy))
    folder.mkdir(parents=True, exist_ok=True)
    fields = {
        "reticent": "0.1.0",
        "jointly": jointly,
        "method": {"name": "mondrian"},
        "promises": list(promises),
        **way.fields(counted.passthrough_types),
    }
    bundle.write_bundle(folder, frames, fields, format)
    return folder


def resealed(folder: Path, change: Callable[[dict[str, Any]], Any] = lambda stated: None) -> str:
    """What a forger does who changed data files, or `change`s what the manifest says: all that can be consistent is made so.

    README.md is rewritten from the manifest and every checksum is taken again, so that the forgery reaches the check a test is about.
    The folder is then as its recipient has it: no owner's folder beside it notes the digest that it had.
    """
    shutil.rmtree(resolve_notes_folder(folder.absolute()), ignore_errors=True)
    stated = json.loads((folder / bundle.MANIFEST_FILE).read_text(encoding="utf-8"))
    change(stated)
    with contextlib.suppress(
        MisshapenValue, LookupError, TypeError, ValueError
    ):  # a manifest that cannot be read has no README
        (folder / bundle.README_FILE).write_text(
            reader_for(stated.get("kind")).readme(bundle.parse_manifest(stated)), encoding="utf-8"
        )
    return bundle.seal_folder(folder, stated)


def columns_of(table) -> dict[str, Column]:
    """The roles of a table of `tests.support.strategies`."""
    return {
        name: Column(
            entry["role"],
            None if entry["kind"] == "categorical" else entry["kind"],
            entry["hierarchy"],
            tuple(entry["order"]) if entry["order"] else None,
            missing="category",
        )
        for name, entry in table.columns.items()
    }


def frame_of(table) -> pl.DataFrame:
    """With a type for every column, as a file has one: a column of nulls alone is a text column."""
    types = {"categorical": pl.String, "ordinal": pl.String, "date": pl.Date, "numeric": None}
    return pl.DataFrame(
        [
            pl.Series(name, table.column(name), dtype=types[entry["kind"]] or _number(table.column(name)), strict=False)
            for name, entry in table.columns.items()
        ]
    )


def _number(values: list) -> pl.DataType:
    return pl.Float64() if any(isinstance(value, float) for value in values) else pl.Int64()
