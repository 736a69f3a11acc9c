"""The labels of all regions, numbered column by column where regions are planned: whoever publishes holds none of them.

Equal labels of two regions are one.  The labels of a column are written in order to a file that all see, and a label's number is
its place there.
"""

from __future__ import annotations

import io
import os
import pickle
import uuid
from pathlib import Path

import numpy as np
import polars as pl

from reticent.recipe.schema import telling
from reticent.table.domain import Domain

Texts = tuple[list[str | None], ...]
_LABEL = "label"
_AT_ONCE = 1 << 16  # labels that whoever looks some up reads at once


def write(folder: Path, region: int, texts: Texts) -> None:
    """The labels of a region, by column."""
    whole_or_not(folder / f"region-{region}.labels", pickle.dumps(texts, protocol=5))


def read(folder: Path, region: int) -> Texts:
    return pickle.loads((folder / f"region-{region}.labels").read_bytes())  # our own file, where only we can enter


def numbered(folder: Path, column: int, domain: Domain, regions: int) -> list[str | None]:
    """Number a column's labels; those of them that tell what the manifest says of the column."""
    found = {text for region in range(regions) for text in read(folder, region)[column]}
    labels = pl.Series(_LABEL, list(found), dtype=pl.String).sort(nulls_last=True)
    packed = io.BytesIO()
    labels.to_frame().write_parquet(packed, row_group_size=_AT_ONCE)
    whole_or_not(folder / f"labels-{column}.parquet", packed.getvalue())
    return telling(domain, found)


def of_column(folder: Path, column: int) -> pl.Series:
    """The labels of a column, each at the place that is its number."""
    return pl.read_parquet(folder / f"labels-{column}.parquet", memory_map=False, glob=False)[_LABEL]


def looked_up(folder: Path, column: int, wanted: np.ndarray) -> pl.Series:
    """Some labels of a column, by their numbers in order; all others are read, and not held."""
    import pyarrow.parquet as pq

    found, start = [pl.Series(_LABEL, [], pl.String)], 0
    with pq.ParquetFile(folder / f"labels-{column}.parquet") as opened:
        for batch in opened.iter_batches(_AT_ONCE, use_threads=False):
            first, end = np.searchsorted(wanted, (start, start + len(batch)))
            labels = pl.Series(_LABEL, batch.column(0), dtype=pl.String)
            found.append(labels.gather(wanted[first:end] - start))
            start += len(batch)
    return pl.concat(found)


def numbers(labels: pl.Series, texts: list[str | None]) -> np.ndarray:
    """The number of each of some labels of a column."""
    known = pl.DataFrame({_LABEL: labels}).with_row_index("number")
    asked = pl.DataFrame({_LABEL: texts}, schema={_LABEL: pl.String})
    found = asked.join(known, on=_LABEL, how="left", nulls_equal=True, maintain_order="left")["number"]
    return found.to_numpy().astype(np.int32)


def whole_or_not(path: Path, content: bytes) -> None:
    """Write a file whole or not at all: another attempt may be at it too, and would write the same."""
    made = path.with_name(f".{path.name}-{uuid.uuid4().hex}")
    made.write_bytes(content)
    os.replace(made, path)
