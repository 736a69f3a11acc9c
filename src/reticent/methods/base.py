"""What every method and preparing stage has in common: protocols, reachability of promises, and weights of columns.

`Method`, `Anytime` and `Stage` are the protocols: parameters in the constructor, one verb to run, and which promises it
can keep.

`bind_reachable_promises` checks whether the whole table as one group keeps the promises: if not, no partition of it can
be cut from there.  For promises closed under union the answer is final: any grouping that kept them would keep them as
one group.

`require_few_values` refuses more sensitive values than a method can plan with, where its cost grows with their square
or faster.  `resolve_weights` reads how much each quasi-identifier's loss counts, the same way for all methods that
weigh columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from reticent.catalogue.fields import MAX_WEIGHT
from reticent.data.cells import Cells
from reticent.errors import ColumnError, JobError, PromiseUnreachable, quote_list, suggest
from reticent.models.promise import (
    BoundPromises,
    Caps,
    CountCappedPromise,
    GroupCheckedPromise,
    Promise,
    Promises,
    exclude_value,
)
from reticent.models.rational_bounds import parse_fraction
from reticent.randomness import Random
from reticent.recipe.recipe import PreparedCells, Recipe
from reticent.validation import make_weight_error


def require_few_values(method: str, cells: Cells, column: int, max_values: int) -> None:
    """Refuse too many sensitive values, before anything is planned."""
    distinct = int((cells.totals(column) > 0).sum())
    if distinct > max_values:
        raise ColumnError(
            f"The sensitive column {cells.sensitive[column].name!r} has {distinct:,} different values; {method} takes {max_values:,} at most.",
            why="What it computes grows with the square of their number, or faster.",
            attempt='fewer values (rounded, or grouped), or method = "mondrian".',
        )


class Method(Protocol):
    """Protocol of a method: a dataclass of parameters.

    A method's groups have `labels` of one style where it has that attribute, `weights` likewise. `strict` marks methods
    that put no combination of values in two groups, `deterministic` marks those that draw nothing.
    """

    name: ClassVar[str]
    kind: ClassVar[str]  # of the release it plans
    keeps: ClassVar[tuple[type, ...]]  # promises, or shapes of promises, that its plans keep
    __dataclass_fields__: ClassVar[dict[str, Any]]

    def plan(self, cells: Cells, promises: Promises, rng: Random) -> Recipe:
        """Plan groups of the cells that keep every promise; raise `PromiseUnreachable` if there are none."""


@runtime_checkable
class Anytime(Protocol):
    """A method that improves as long as it may; `watch` is called with its state on the way."""

    anytime: ClassVar[bool]

    def plan(
        self, cells: Cells, promises: Promises, rng: Random, watch: Callable[[Any], bool | None] | None = None
    ) -> Recipe: ...


class Stage(Protocol):
    """A dataclass of parameters that prepares cells for a method; with `finish` it also splits the quotas afterwards."""

    name: ClassVar[str]
    can_keep: ClassVar[tuple[type, ...]]  # promises that some parameters of the stage keep
    __dataclass_fields__: ClassVar[dict[str, Any]]

    def keeps(self, promise: Promise) -> bool:
        """Tell whether the stage keeps a promise by itself, with these parameters."""

    def prepare(self, cells: Cells, promises: Promises, rng: Random) -> PreparedCells:
        """Decide which rows of each cell go on to the method, and which are withheld."""

    @classmethod
    def advice(cls, cells: Cells, promises: Promises) -> list[dict[str, Any]]:
        """Advise what the stage could do for these promises, whether or not the job has it."""


def bind_reachable_promises(cells: Cells, promises: Promises, method: str) -> BoundPromises:
    """Bind the promises to the cells; raise, with numbers and no values, if one group of all rows breaks them."""
    for promise in promises:
        if not isinstance(promise, CountCappedPromise | GroupCheckedPromise):
            raise JobError(
                f"{method} cannot keep {promise.name}: it is a property of a random mechanism, not of groups."
            )
    if not cells.rows:
        raise PromiseUnreachable(f"{_join_names(promises)} cannot be met by {method}.", why="The table has no rows.")
    bound = promises.bind(cells)
    if bound.allow_all():
        return bound
    broken = [promise for promise in promises if not replace(promises, all=(promise,)).bind(cells).allow_all()]
    why, attempt = _explain_broken_promise(cells, broken[0]) if broken else ("", "")
    raise PromiseUnreachable(f"{_join_names(broken or promises)} cannot be met by {method}.", why=why, attempt=attempt)


def resolve_weights(names: Sequence[str], weights: Mapping[str, Any] | None) -> np.ndarray:
    """Return the weight of each quasi-identifier, 1 for one that is not named; at least one must be above 0."""
    _require_valid_weights(weights)
    named_weights = dict(weights or {})
    for column in named_weights:
        if column not in names:
            raise JobError(
                f"A weight is given for {quote_list([column])}, which is not a quasi-identifier.",
                attempt=suggest(column, names),
            )
    resolved = np.array([float(parse_fraction(named_weights.get(name, 1))) for name in names])
    if len(resolved) and not resolved.sum() > 0:
        raise JobError("All weights are 0: no column's loss would count.", attempt="a weight above 0 for one column.")
    return resolved


def _join_names(promises: Iterable[Promise]) -> str:
    return " with ".join(_describe_promise(promise) for promise in promises)


def _explain_broken_promise(cells: Cells, promise: Promise) -> tuple[str, str]:
    """Explain why the table as a whole breaks a promise, and what to try."""
    if hasattr(promise, "reason"):
        return promise.reason(cells)
    if not isinstance(promise, CountCappedPromise):
        return ("All rows in one group break it.", "a weaker promise.")
    if not getattr(promise, "needs_sensitive", False):
        least_size = Promises((promise,)).bind(cells).least_size
        rows_per_person = cells.rows_per_person if getattr(promise, "counts_persons", False) else 1
        persons = (
            ""
            if rows_per_person == 1
            else f" ({least_size // rows_per_person} persons of up to {rows_per_person} rows each)"
        )
        return (
            f"A group needs {least_size} rows{persons}, and the table has {cells.rows}.",
            f"k = {cells.rows // rows_per_person} or less, or more rows.",
        )
    column_index = cells.find_sensitive(getattr(promise, "column", None))
    column = cells.sensitive[column_index].name
    for caps in promise.caps(cells.totals(column_index), cells.sensitive[column_index].null_code):
        totals = exclude_value(cells.totals(column_index), caps.without)
        if not caps.allows(totals[None, :])[0]:
            return _explain_broken_caps(column, totals, caps)
    return ("", "")


def _require_valid_weights(weights: Mapping[str, Any] | None) -> None:
    """Refuse weights that are no numbers, or are negative or immoderate; those of a method of ours were checked before."""
    if weights is not None and not isinstance(weights, Mapping):
        raise JobError("weights must be a table of numbers by column.", attempt='{"age": 2}.')
    for column, weight in (weights or {}).items():
        name = f"The weight of {quote_list([column])}"
        if isinstance(weight, str) or not 0 <= parse_fraction(weight, name) <= MAX_WEIGHT:
            raise make_weight_error(column)


def _describe_promise(promise: Promise) -> str:
    column = getattr(promise, "column", None)
    return promise.name + (f" on {column!r}" if column else "")


def _advise_stage(caps: np.ndarray, distinct: int) -> str:
    """Advise the stage that makes the most frequent values rarer, if one cap for all of so many values can be met by it."""
    numerator, denominator = (int(part) for part in caps[0])
    is_one_cap = bool((caps[:, 0] * denominator == caps[:, 1] * numerator).all())
    if not is_one_cap or numerator == 0:
        return ""
    least = max(-(-denominator // numerator), 2)
    return f', or [[prepare]] with name = "suppression" and l = {least}' if least <= distinct else ""


def _explain_broken_caps(column: str, totals: np.ndarray, caps: Caps) -> tuple[str, str]:
    rows = int(totals.sum())
    besides = " without its missing values" if caps.without >= 0 else ""
    if rows < caps.least_size:
        return (
            f"A group needs {caps.least_size} rows, and {column!r} has {rows}{besides}.",
            f"k = {rows} or less, or more rows.",
        )
    present = np.delete(totals, caps.null) if caps.null >= 0 else totals
    distinct = int((present > 0).sum())
    if distinct < caps.least_distinct:
        why = f"A group needs {caps.least_distinct} distinct values, and {column!r} has {distinct}."
        return why, f"l = {distinct} or less." if distinct > 1 else "another sensitive column."
    if caps.upper is not None:
        excesses = [
            Fraction(int(c), rows) / Fraction(int(a), int(b)) if a else Fraction(rows + 1)
            for c, (a, b) in zip(totals, caps.upper, strict=True)
            if c
        ]
        worst = np.flatnonzero(totals)[excesses.index(max(excesses))]
        share = int(totals[worst]) / rows
        cap = caps.upper[worst, 0] / caps.upper[worst, 1]
        if max(excesses) > 1:
            why = f"One value of {column!r} has a share of {share:.4f}{besides}, and may have at most {cap:.4f} of a group."
            allowed = ceil(Fraction(int(totals[worst]), rows) * 10_000) / 10_000
            return why, f"a promise that allows a share of {allowed:.4f}{_advise_stage(caps.upper, distinct)}."
    return f"A value of {column!r} is rarer in the table than a group may have it.", "a weaker promise."
