"""U^s, the domain that perturbed values are drawn from (section II): declared where it can be, else the values that occur.

Declared is a hierarchy (its leaves), an order, or the method's own list.  A domain that is only observed tells which values
occur in the table, and the README says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reticent.errors import ColumnError, JobError, some
from reticent.table.cells import Cells
from reticent.table.domain import Domain, TreeDomain

NAME = "perturbed-generalization"


@dataclass(frozen=True, eq=False)
class SensitiveDomain:
    """`texts` are the values of U^s; `code[c]` is the place of the column's code c among them."""

    texts: tuple[str, ...]
    code: np.ndarray

    def __len__(self) -> int:
        return len(self.texts)


def sensitive_domain(cells: Cells, listed: Sequence[str] | None) -> SensitiveDomain:
    """U^s for the only sensitive column, which must be discrete and without missing values."""
    if len(cells.sensitive) != 1:
        raise JobError(
            f"{NAME} perturbs one sensitive column; the job declares {len(cells.sensitive)}.",
            attempt="one sensitive column; the others as identifying, which are not published.",
        )
    column, totals = cells.sensitive[0], cells.totals(0)
    if column.null and totals[column.null_code]:
        raise ColumnError(
            f"The sensitive column {column.name!r} is missing in {some(int(totals[column.null_code]), 'row')}.",
            why="A missing value cannot be perturbed without saying who had none.",
            attempt="withholding these rows, or giving them a value of their own.",
        )
    known = totals[: len(column.texts)]
    if listed is not None:
        return _listed(column, known, listed)
    if _declared(column):
        return SensitiveDomain(column.texts, np.arange(column.size))
    _refuse_continuous(column, int(np.count_nonzero(known)), cells.rows)
    occurring = np.flatnonzero(known)
    code = np.full(column.size, -1)
    code[occurring] = np.arange(len(occurring))
    return SensitiveDomain(tuple(column.texts[c] for c in occurring), code)


def _declared(column: Domain) -> bool:
    return getattr(column, "kind", "") == "ordinal" or (isinstance(column, TreeDomain) and column.given)


def _listed(column: Domain, known: np.ndarray, listed: Sequence[str]) -> SensitiveDomain:
    place = {text: at for at, text in enumerate(listed)}
    if len(place) < len(listed):
        raise JobError(f"{NAME}: domain lists a value twice.", attempt="each value once.")
    code = np.array([place.get(text, -1) for text in (*column.texts, "")][: column.size], np.int64)
    unlisted = int(np.count_nonzero((code[: len(known)] < 0) & (known > 0)))
    if unlisted:
        raise JobError(
            f"{column.name!r} has {some(unlisted, 'value', 'that is', 'that are')} not in the domain that the method lists.",
            attempt="listing every value that can occur.",
        )
    return SensitiveDomain(tuple(listed), code)


def _refuse_continuous(column: Domain, values: int, rows: int) -> None:
    fine = not column.dtype.startswith(("Float", "Decimal", "Datetime", "Time", "Duration"))
    if not fine or (2 * values > rows and values > 2 and getattr(column, "kind", "") in ("numeric", "date")):
        raise ColumnError(
            f"The sensitive column {column.name!r} is continuous: {values:,} different values in {rows:,} rows.",
            why="Perturbation draws from a fixed list of values; nearly unique ones would each be published as they are or be noise.",
            attempt="binning it first: a whole number for each class, such as wage // 1000, or a declared order of classes.",
        )
