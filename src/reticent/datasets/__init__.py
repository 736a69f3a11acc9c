"""Data by name: the census generator, and public tables that are fetched, checked and cached.

    load("census", rows=100_000, seed=1)     hierarchies("census")     names()

Each name's module is imported on first use.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from reticent.errors import RequestError, suggest
from reticent.validation import integer, optional, path, text, validate_arguments

if TYPE_CHECKING:
    import polars as pl

__all__ = ["hierarchies", "load", "names", "write_hierarchies"]

HierarchyRows = list[list[str]]


@validate_arguments(name=text, rows=optional(integer), seed=optional(integer))
def load(name: str, rows: int | None = None, seed: int | None = None) -> pl.DataFrame:
    """Return the table of a name.

    A generated table has `rows` rows, drawn with `seed`; of a fetched one the first `rows` rows are returned.
    """
    if name not in LOADERS:
        raise RequestError(f"There is no data set {name!r}.", attempt=suggest(name, LOADERS))
    return LOADERS[name](rows, seed)


def names() -> tuple[str, ...]:
    """Return the names that `load` accepts."""
    return tuple(LOADERS)


@validate_arguments(name=text)
def hierarchies(name: str) -> dict[str, HierarchyRows]:
    """Return hierarchies for the categorical columns of a data set, each as rows in ARX's layout."""
    if name not in LOADERS:
        raise RequestError(f"There is no data set {name!r}.", attempt=suggest(name, LOADERS))
    if name == "adult":
        from reticent.datasets.adult import make_adult_hierarchies

        return make_adult_hierarchies()
    from reticent.datasets.census import CENSUS_COLUMNS, SAL_COLUMNS
    from reticent.datasets.census_hierarchies import make_census_hierarchies

    attributes = CENSUS_COLUMNS if name == "census" else SAL_COLUMNS
    return {column: tree for column, tree in make_census_hierarchies().items() if column in attributes}


@validate_arguments(name=text, folder=path)
def write_hierarchies(name: str, folder: str) -> list[str]:
    """Save a data set's hierarchies as `<column>.csv`, `;` between levels; return the paths."""
    from reticent.datasets.census_hierarchies import write_hierarchy_files

    return [str(path) for path in write_hierarchy_files(hierarchies(name), folder)]


def load_census(rows: int | None, seed: int | None) -> pl.DataFrame:
    """Generate a census with the columns of paper 1."""
    from reticent.datasets.census import generate_census

    return generate_census(500_000 if rows is None else rows, seed or 0)


def load_sal(rows: int | None, seed: int | None) -> pl.DataFrame:
    """Generate a census with the columns of SAL (paper 5)."""
    from reticent.datasets.census import SAL_COLUMNS, generate_census

    return generate_census(700_000 if rows is None else rows, seed or 0, attributes=SAL_COLUMNS)


def load_adult(rows: int | None, seed: int | None) -> pl.DataFrame:
    """Read UCI Adult, or its first rows."""
    from reticent.datasets.adult import read_adult

    if seed is not None:
        raise RequestError("Adult is recorded, not generated: it takes no seed.", attempt="seed=None.")
    return read_adult().head(rows) if rows is not None else read_adult()


LOADERS: dict[str, Callable[[int | None, int | None], pl.DataFrame]] = {
    "census": load_census,
    "sal": load_sal,
    "adult": load_adult,
}
