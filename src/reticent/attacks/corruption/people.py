"""Who the adversary knows: the external list, the corrupted people on it, and the victim.

A corrupted person is a line of a table with the sensitive column, empty where the person is known to be extraneous; it stands for a
person of the external list who agrees with it in every other column that both tables have.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from reticent.errors import RequestError, listed, some
from reticent.table.header import known
from reticent.table.source import Source, collect, scan


def table(given: Any, missing: Sequence[str] = ()) -> pl.DataFrame:
    """A path, a `Source` or a frame, as rows."""
    if isinstance(given, Source):
        return collect(scan(given), "Reading the people")
    is_path = not hasattr(given, "columns")
    source = Source(path=str(given) if is_path else None, missing=tuple(missing))
    return collect(scan(source, None if is_path else given), "Reading the people")


def refuse_lacking(people: pl.DataFrame, columns: Sequence[str], what: str) -> None:
    lacking = [name for name in columns if name not in people.columns]
    if lacking:
        raise RequestError(
            f"The {what} lacks {some(len(lacking), 'column')}: {listed(lacking)}.",
            attempt="a table with every quasi-identifier of the release.",
        )


def corrupted_people(external: pl.DataFrame, corrupted: pl.DataFrame, sensitive: str) -> tuple[np.ndarray, pl.Series]:
    """The person on the external list that each corrupted one is, and the values that were learned."""
    refuse_lacking(corrupted, [sensitive], "list of corrupted people")
    keys = [name for name in external.columns if name in corrupted.columns and name != sensitive]
    if not keys:
        raise RequestError(
            "The list of corrupted people shares no column with the external list.",
            attempt="the columns that tell people apart, and the sensitive one.",
        )
    texts = [pl.col(name).cast(pl.String) for name in keys]
    # Several people may read the same: the first of them is the first corrupted, and so on.
    turn = pl.int_range(pl.len()).over(keys).alias("\x00turn")
    known = external.select(*texts, turn, pl.int_range(pl.len()).alias("\x00person"))
    wanted = corrupted.select(*texts, turn)
    found = wanted.join(known, on=[*keys, "\x00turn"], how="left", nulls_equal=True, maintain_order="left")[
        "\x00person"
    ]
    if found.null_count():
        raise RequestError(
            f"{some(found.null_count(), 'corrupted person', 'is', 'are')} not on the external list.",
            attempt="lines that agree with it in every column that both have.",
        )
    return found.to_numpy(), corrupted[sensitive]


def victim_person(external: pl.DataFrame, asked: str) -> int:
    """The one person whose columns are as asked: "name=Ellie" or "age=50,sex=F"."""
    where = pl.lit(True)
    for part in asked.split(","):
        name, equals, value = part.partition("=")
        if not equals or name.strip() not in external.columns:
            raise RequestError(
                "A victim is named by columns of the external list.",
                why=f"{name.strip()!r} is none of them." if equals else "",
                attempt=f"column=value[,column=value]. {known(name.strip(), external.columns, external.lazy())}",
            )
        where &= pl.col(name.strip()).cast(pl.String) == value.strip()
    found = np.flatnonzero(external.select(where.alias("x")).to_series().fill_null(False).to_numpy())
    if len(found) != 1:
        raise RequestError(f"{len(found)} people on the list are as the victim is described.", attempt="exactly one.")
    return int(found[0])
