"""Data by name: the census generator, and public tables that are fetched, checked and cached.

    load("census", rows=100_000, seed=1)     hierarchies("census")     names()

Each name's module loads when it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from reticent.door import door, optional, path, text, whole
from reticent.errors import RequestError, suggest

if TYPE_CHECKING:
    import polars as pl

__all__ = ["hierarchies", "load", "names", "write_hierarchies"]

Rows = list[list[str]]


@door(name=text, rows=optional(whole), seed=optional(whole))
def load(name: str, rows: int | None = None, seed: int | None = None) -> pl.DataFrame:
    """The table of that name: a generated one has as many rows as asked for, a fetched one its first so many."""
    if name not in LOADERS:
        raise RequestError(f"There is no data set {name!r}.", attempt=suggest(name, LOADERS))
    return LOADERS[name](rows, seed)


def names() -> tuple[str, ...]:
    """What `load` knows."""
    return tuple(LOADERS)


@door(name=text)
def hierarchies(name: str) -> dict[str, Rows]:
    """Hierarchies for the categorical columns of a data set, each as rows in ARX's layout."""
    if name not in LOADERS:
        raise RequestError(f"There is no data set {name!r}.", attempt=suggest(name, LOADERS))
    if name == "adult":
        from reticent.datasets.adult_hierarchies import adult_hierarchies

        return adult_hierarchies()
    from reticent.datasets.census import CENSUS, SAL
    from reticent.datasets.census_hierarchies import census_hierarchies

    attributes = CENSUS if name == "census" else SAL
    return {column: tree for column, tree in census_hierarchies().items() if column in attributes}


@door(name=text, folder=path)
def write_hierarchies(name: str, folder: str) -> list[str]:
    """Save a data set's hierarchies as `<column>.csv`, `;` between levels; returns the paths."""
    from reticent.datasets.census_hierarchies import write_hierarchies

    return [str(path) for path in write_hierarchies(hierarchies(name), folder)]


def load_census(rows: int | None, seed: int | None) -> pl.DataFrame:
    from reticent.datasets.census import census

    return census(500_000 if rows is None else rows, seed or 0)


def load_sal(rows: int | None, seed: int | None) -> pl.DataFrame:
    from reticent.datasets.census import SAL, census

    return census(700_000 if rows is None else rows, seed or 0, attributes=SAL)


def load_adult(rows: int | None, seed: int | None) -> pl.DataFrame:
    from reticent.datasets.adult import adult

    if seed is not None:
        raise RequestError("Adult is recorded, not generated: it takes no seed.", attempt="seed=None.")
    return adult().head(rows) if rows is not None else adult()


LOADERS: dict[str, Callable[[int | None, int | None], pl.DataFrame]] = {
    "census": load_census,
    "sal": load_sal,
    "adult": load_adult,
}
