"""Whether the whole table as one group keeps the promises: if not, no partition of it can be cut from there.

For promises closed under union the answer is final: any grouping that kept them would keep them as one group.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction

import numpy as np

from reticent.errors import JobError, PromiseUnreachable
from reticent.models.caps import Caps, left_out
from reticent.models.promises import BoundPromises, Promises
from reticent.models.shapes import Bound, CountCapped, Promise
from reticent.table.cells import Cells


def check_reachable(cells: Cells, promises: Promises, method: str) -> BoundPromises:
    """The promises bound to the cells; raises, with numbers and no values, where one group of all rows breaks them."""
    for promise in promises:
        if not isinstance(promise, CountCapped | Bound):
            raise JobError(
                f"{method} cannot keep {promise.name}: it is a property of a random mechanism, not of groups."
            )
    if not cells.rows:
        raise PromiseUnreachable(f"{_names(promises)} cannot be met by {method}.", why="The table has no rows.")
    bound = promises.bind(cells)
    if bound.allow_all():
        return bound
    broken = [promise for promise in promises if not replace(promises, all=(promise,)).bind(cells).allow_all()]
    why, attempt = _reason(cells, broken[0]) if broken else ("", "")
    raise PromiseUnreachable(f"{_names(broken or promises)} cannot be met by {method}.", why=why, attempt=attempt)


def _names(promises: Iterable[Promise]) -> str:
    return " with ".join(_name(promise) for promise in promises)


def _name(promise: Promise) -> str:
    column = getattr(promise, "column", None)
    return promise.name + (f" on {column!r}" if column else "")


def _reason(cells: Cells, promise: Promise) -> tuple[str, str]:
    """Why the table as a whole breaks a promise, and what to try."""
    if hasattr(promise, "reason"):
        return promise.reason(cells)
    if not isinstance(promise, CountCapped):
        return ("All rows in one group break it.", "a weaker promise.")
    if not getattr(promise, "needs_sensitive", False):
        least = Promises((promise,)).bind(cells).least_size
        each = cells.rows_per_person if getattr(promise, "counts_persons", False) else 1
        many = "" if each == 1 else f" ({least // each} persons of up to {each} rows each)"
        return (
            f"A group needs {least} rows{many}, and the table has {cells.rows}.",
            f"k = {cells.rows // each} or less, or more rows.",
        )
    at = cells.sensitive_at(getattr(promise, "column", None))
    column = cells.sensitive[at].name
    for caps in promise.caps(cells.totals(at), cells.sensitive[at].null_code):
        totals = left_out(cells.totals(at), caps.without)
        if not caps.allows(totals[None, :])[0]:
            return _broken(column, totals, caps)
    return ("", "")


def _broken(column: str, totals: np.ndarray, caps: Caps) -> tuple[str, str]:
    rows = int(totals.sum())
    besides = " without its missing values" if caps.without >= 0 else ""
    if rows < caps.least_size:
        return f"A group needs {caps.least_size} rows, and {column!r} has {rows}{besides}.", "a smaller group size."
    present = np.delete(totals, caps.null) if caps.null >= 0 else totals
    distinct = int((present > 0).sum())
    if distinct < caps.least_distinct:
        why = f"A group needs {caps.least_distinct} distinct values, and {column!r} has {distinct}."
        return why, f"at most {distinct} distinct values."
    if caps.upper is not None:
        over = [Fraction(int(c), rows) / Fraction(int(a), int(b)) if a else Fraction(rows + 1)
                for c, (a, b) in zip(totals, caps.upper, strict=True) if c]  # fmt: skip
        worst = np.flatnonzero(totals)[over.index(max(over))]
        share, cap = int(totals[worst]) / rows, caps.upper[worst, 0] / caps.upper[worst, 1]
        if max(over) > 1:
            why = f"One value of {column!r} has a share of {share:.4f}{besides}, and may have at most {cap:.4f} of a group."
            return why, f"a promise that allows a share of {share:.4f}, or withholding rows with that value."
    return f"A value of {column!r} is rarer in the table than a group may have it.", "a weaker promise."
