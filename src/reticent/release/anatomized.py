"""The anatomized kind as its recipient reads it: exact quasi-identifiers with a group, sensitive values by group.

A count of rows that meet a condition on quasi-identifiers and hold one of some values: of group g, with a_g rows that meet the
condition, c_g that hold one of the values and s_g in all,

    estimate   sum of a_g c_g / s_g            each way to match rows and values within a group being equally likely
    lower      sum of max(0, a_g + c_g - s_g)  the least and the most that any way gives: guaranteed
    upper      sum of min(a_g, c_g)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from reticent.release.answer import Answer
from reticent.release.generalized import read_data

GROUP, COUNT = "group", "count"


def schemas(columns: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """What each file holds, as a reader of plain tables takes it: every value is itself, not a label."""
    plain = [{**column, "role": "insensitive"} for column in columns if column["role"] != "sensitive"]
    sensitive = next({**column, "role": "insensitive"} for column in columns if column["role"] == "sensitive")
    return {
        "quasi": [*plain, _whole(GROUP)],
        "sensitive": [_whole(GROUP), sensitive, _whole(COUNT)],
    }


def _whole(name: str) -> dict[str, Any]:
    return {"name": name, "role": "insensitive", "type": "numeric", "dtype": "Int32"}


@dataclass(frozen=True, eq=False)
class Tables:
    """Both files, typed by the manifest."""

    quasi: pl.DataFrame
    sensitive: pl.DataFrame
    column: str

    @classmethod
    def read(cls, folder: Path, manifest: Mapping[str, Any]) -> Tables:
        found = schemas(manifest["columns"])
        frames = {Path(name).stem: read_data(folder / name, found[Path(name).stem]) for name in manifest["data"]}
        column = next(column["name"] for column in manifest["columns"] if column["role"] == "sensitive")
        return cls(frames["quasi"], frames["sensitive"], column)

    @cached_property
    def groups(self) -> int:
        return int(self.sensitive[GROUP].max() or 0) + 1  # type: ignore[arg-type]

    @cached_property
    def sizes(self) -> np.ndarray:
        return np.bincount(self.sensitive[GROUP], weights=self.sensitive[COUNT], minlength=self.groups)

    def count(self, where: pl.Expr | None = None, values: Iterable[Any] | None = None) -> Answer:
        """How many rows that meet `where` hold one of `values` (any, where None): expected, least and most."""
        rows = self.quasi if where is None else self.quasi.filter(where)
        held = self.sensitive if values is None else self.sensitive.filter(pl.col(self.column).is_in(list(values)))
        met = np.bincount(rows[GROUP], minlength=self.groups).astype(np.float64)
        among = np.bincount(held[GROUP], weights=held[COUNT], minlength=self.groups)
        sizes = np.maximum(self.sizes, 1)
        return Answer(
            float((met * among / sizes).sum()),
            float(np.maximum(met + among - self.sizes, 0).sum()),
            float(np.minimum(met, among).sum()),
        )
