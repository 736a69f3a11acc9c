"""Suppression: a preparing stage that restores l-eligibility by withholding records of dominant values.

Xu, Wang, Fu & Wong, "Publishing skewed sensitive microdata".  Where one sensitive value is held by more than one in l
rows, no l-diverse release exists.  The stage withholds records of the most frequent values until one does, and hides
which value was the most frequent: an adversary who knows the suppression must not infer it from what was withheld.

    safe         the default: all of the l most frequent values down to the l-th count (theorem 1); at most 1/l under any
                 prior that knows no value by name
    calibrated   ours (`calibrated_kind`): with equal prior weight on all violating tables, both the posterior of which value
                 led and that of the value a withheld person has are at most 1/l, and no more is withheld than by `safe`.
                 Under another prior they are not: with independent records counts 120, 32, 24, 20, 16 at l = 3 reach .99.
                 So a job has to name the prior (`require_stated_prior`)
    randomized   R-suppression as printed (figure 3); its posterior can exceed 1/l (ERRATA 2.1):
                 `attacks/eligibility/attack.py` computes it
    unsafe       the least that l values could have led (theorem 2), a lower bound: refused unless acknowledged, since who was
                 withheld can be inferred
    eligible     the least that leaves the table l-eligible: it hides nothing of which value led, and says of the withheld
                 that they have it.  Refused unless acknowledged

Which records of a value are withheld is uniform at random, and ties among values are broken at random.  An eligible
table is returned as it is (ERRATA 2.2).  Rows whose value is missing are left alone: eligibility is that of the known
values.
"""

# ruff: noqa: E741  `l` is the field's own letter
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any, ClassVar, TypeGuard

import numpy as np

from reticent.catalogue import STAGES
from reticent.data.cells import Cells
from reticent.errors import JobError, PromiseUnreachable, RequestError, pluralize
from reticent.exact_arithmetic import products_at_most
from reticent.methods.suppression.calibrated_kind import CalibratedSuppression
from reticent.methods.suppression.kinds import (
    EligibleSuppression,
    RandomizedSuppression,
    SafeSuppression,
    SuppressionKind,
    UnsafeSuppression,
    is_eligible,
)
from reticent.models.l_dichotomy import LDichotomy
from reticent.models.l_diversity import ProbabilisticLDiversity
from reticent.models.promise import Promises
from reticent.randomness import Random
from reticent.recipe.recipe import PreparedCells
from reticent.validation import check_parameters, document_parameters

SUPPRESSION_KINDS: dict[str, SuppressionKind] = {
    kind.name: kind
    for kind in (
        EligibleSuppression(),
        UnsafeSuppression(),
        SafeSuppression(),
        RandomizedSuppression(),
        CalibratedSuppression(),
    )
}
ELIGIBLE_PROMISES = (ProbabilisticLDiversity, LDichotomy)  # promises that only an l-eligible table can keep
PROVEN_PRIOR = "uniform"  # of `calibrated`
MAX_PEOPLE = 10**12  # rows that counts may add up to
MAX_DRAWN_ROWS = 10**9  # what NumPy's hypergeometric draws from


@document_parameters(STAGES["suppression"])
@dataclass(frozen=True, slots=True, kw_only=True)
class Suppression:
    """Withholds rows before a method plans, so that the most frequent value cannot be told."""

    l: int
    kind: str = "safe"
    prior: str | None = None
    column: str | None = None
    acknowledge: bool | None = None
    name: ClassVar[str] = "suppression"
    can_keep: ClassVar[tuple[type, ...]] = (LDichotomy,)

    def __post_init__(self) -> None:
        check_parameters(self)

    def require_stated_prior(self) -> None:
        """Refuse `calibrated` without the prior that its bound is proven for; jobs that were written before have none.

        They can still be read, and their releases audited: only publishing, planning and checking refuse them.
        """
        if self.kind == "calibrated" and self.prior is None:
            raise JobError(
                'suppression: kind = "calibrated" needs its prior in the job.',
                why="Its bound of 1/l holds where all tables of as many rows in the same values are equally likely beforehand. "
                "An adversary who takes people's values to be independent can be surer.",
                attempt=f'kind = "safe", whose bound needs no such prior, or prior = "{PROVEN_PRIOR}" beside kind.',
            )

    def keeps(self, promise: Any) -> TypeGuard[LDichotomy]:
        """Tell whether what is withheld, by itself, keeps a promise."""
        return isinstance(promise, LDichotomy) and promise.given_by(self.parameters)

    @property
    def parameters(self) -> dict[str, Any]:
        """What the promises that this stage keeps are verified with."""
        return {"kind": self.kind, "l": self.l, "column": self.column}

    def expected(self, counts: Sequence[int] | np.ndarray) -> float:
        """Compute the mean number of records withheld of a table with these counts of values; none of an eligible one."""
        require_countable(counts)
        value_rows = np.asarray(counts, np.int64)
        falling = -np.sort(-value_rows[value_rows > 0])
        if is_eligible(falling, self.l):
            return 0.0
        require_enough_values(len(falling), self.l, "the given counts")
        return SUPPRESSION_KINDS[self.kind].compute_expected_withheld(falling, self.l)

    @classmethod
    def advice(cls, cells: Cells, promises: Promises) -> list[dict[str, Any]]:
        """Advise for each promised l whether the table supports it, and what each kind would withhold if it does not."""
        requested = {
            (promise.column, ceil(promise.l)) for promise in promises if isinstance(promise, ELIGIBLE_PROMISES)
        }
        return [assess_eligibility(cells, column, l) for column, l in sorted(requested, key=str)]

    def prepare(self, cells: Cells, promises: Promises, rng: Random) -> PreparedCells:
        """Withhold as many rows of each value as the kind requires, chosen uniformly."""
        for promise in filter(self.keeps, promises):
            promise.verify(self.parameters)
        column = cells.find_sensitive(self.column)
        totals = cells.totals(column)
        if cells.sensitive[column].null:
            totals[cells.sensitive[column].null_code] = 0
        draw = rng.stream(f"suppression {column} {self.l}")
        withheld_by_value = draw_withheld_counts(
            totals, SUPPRESSION_KINDS[self.kind], self.l, draw, cells.sensitive[column].name
        )
        withheld = np.zeros(len(cells), np.int64)
        for value in np.flatnonzero(withheld_by_value):
            among = np.flatnonzero(cells.values[:, column] == value)
            withheld[among] = choose_rows(cells.counts[among], int(withheld_by_value[value]), draw)
        return PreparedCells.from_cells(cells, withheld)


def assess_eligibility(cells: Cells, column: str | None, l: int) -> dict[str, Any]:
    """Find which l a column supports, how many values dominate it, and the (mean) number withheld by each kind; None if none can."""
    column_index = cells.find_sensitive(column)
    totals = cells.totals(column_index)
    if cells.sensitive[column_index].null:
        totals[cells.sensitive[column_index].null_code] = 0
    order = np.argsort(-totals, kind="stable")[: int((totals > 0).sum())]
    counts = totals[order]
    rows = int(counts.sum())
    largest = int(counts.max(initial=0))
    dominating = ~products_at_most(counts, l, np.array([rows]), 1)
    advice: dict[str, Any] = {
        "stage": "suppression",
        "column": cells.sensitive[column_index].name,
        "l": l,
        "eligible": is_eligible(counts, l),
        "supports": rows // largest if largest else 0,
        "values": len(counts),
        "largest_share": largest / rows if rows else 0.0,
        "dominating": int(dominating.sum()),
        "dominating_values": [cells.sensitive[column_index].texts[code] for code in order[dominating]],
    }
    if not advice["eligible"]:
        fits = len(counts) >= l
        advice["withheld"] = {
            name: kind.compute_expected_withheld(counts, l) if fits else None
            for name, kind in SUPPRESSION_KINDS.items()
        }
    return advice


def draw_withheld_counts(
    totals: np.ndarray, kind: SuppressionKind, l: int, rng: np.random.Generator, column: str
) -> np.ndarray:
    """Draw how many records of each value are withheld."""
    withheld = np.zeros(len(totals), np.int64)
    if is_eligible(totals, l):
        return withheld
    order = rank_values(totals, rng)
    require_enough_values(len(order), l, column)
    withheld[order] = totals[order] - kind.draw(totals[order], l, rng)
    return withheld


def rank_values(totals: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Rank the values that occur, most frequent first, ties at random."""
    order = rng.permutation(np.flatnonzero(totals))
    return order[np.argsort(-totals[order], kind="stable")]


def require_enough_values(values: int, l: int, column: str) -> None:
    if values < l:
        raise PromiseUnreachable(
            f"l = {l} cannot be restored on {column!r}: it has {pluralize(values, 'distinct value')}.",
            why=f"Among fewer than {l} values one is always held by more than one in {l} rows.",
            attempt=f"l = {values} or less." if values > 1 else "another sensitive column.",
        )


def require_countable(counts: Sequence[int] | np.ndarray) -> None:
    """Refuse counts that no table has: levels times l would not fit 64 bits."""
    if sum(map(int, counts)) >= MAX_PEOPLE:
        raise RequestError(
            f"The counts add up to {MAX_PEOPLE:,} rows or more.",
            why="Suppression computes with the numbers of rows in 64 bits, and no table has so many.",
            attempt="counts=[10, 4, 2, 1, 1].",
        )


def choose_rows(counts: np.ndarray, number: int, rng: np.random.Generator) -> np.ndarray:
    """Draw how many of so many rows, chosen uniformly without replacement, fall to each cell."""
    rows = int(counts.sum())
    if rows >= MAX_DRAWN_ROWS:
        raise JobError(
            f"One sensitive value is held by {rows:,} rows; suppression draws from fewer than {MAX_DRAWN_ROWS:,}.",
            attempt="publishing in batches.",
        )
    return rng.multivariate_hypergeometric(counts, number, method="marginals")
