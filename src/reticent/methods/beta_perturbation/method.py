"""beta-likeness by perturbation (Cao & Karras, VLDB 2012, section 5): quasi-identifiers as they are, sensitive values redrawn.

Each row's sensitive value v_i is replaced by v with probability M[i][v], independently of all else.  The promise is about
the belief in v_i of someone who knows the overall distribution and the matrix and sees a person's row (definition 6).

Departs from the paper: the default matrix is the rank-one one, since theorem 3 does not ensure its own condition (errata 1.6);
every matrix is verified by its exact posterior before it is used; probabilities are exact decimals, drawn as such; and rows of a
cell are redrawn together, which is distributed as if each were redrawn alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from reticent.door import check_parameters
from reticent.errors import ColumnError, InternalError, JobError, PromiseUnreachable, some
from reticent.kernels.redrawn_counts import redrawn
from reticent.methods.beta_perturbation.matrix import WHOLE, Matrix, optimal, rank_one, safe, theorem3
from reticent.methods.classes.options import refuse_single_value
from reticent.methods.many_values import refuse_many_values
from reticent.methods.protocols import Method
from reticent.models.beta_likeness import BetaLikeness
from reticent.models.beta_posterior import BetaPosterior
from reticent.models.exact import Number
from reticent.models.promises import Promises
from reticent.randomness import Random
from reticent.recipe.redrawn import RedrawnRecipe
from reticent.table.cells import Cells

AT_ONCE = 1 << 20  # rows that are redrawn together, and those of one cell beyond

MOST_VALUES = 500  # different sensitive values: the matrix has as many rows and columns, each entry a fraction
MOST_OPTIMAL = 100  # of them for the linear programme, which has their square of unknowns


@dataclass(frozen=True, slots=True, kw_only=True)
class BetaPerturbation(Method):
    """`conditioning` is for `optimal`: how well the matrix can be inverted, as a share of what the rank-one matrix has."""

    matrix: str = "rank-one"
    conditioning: Fraction = Fraction(1, 2)
    name: ClassVar[str] = "beta-perturbation"
    kind: ClassVar[str] = "perturbed"
    labels: ClassVar[None] = None
    keeps: ClassVar[tuple[type, ...]] = (BetaLikeness,)

    if TYPE_CHECKING:  # what may be given; the fields are what is kept

        def __init__(self, *, matrix: str = "rank-one", conditioning: Number = Fraction(1, 2)) -> None: ...

    def __post_init__(self) -> None:
        check_parameters(self)

    def plan(self, cells: Cells, promises: Promises, rng: Random) -> RedrawnRecipe:
        column = only_column(cells, promises)
        if self.matrix == "optimal":
            refuse_many_values(f'{self.name} with matrix = "optimal"', cells, column, MOST_OPTIMAL)
        refuse_many_values(self.name, cells, column, MOST_VALUES)
        totals = cells.totals(column)
        refuse_single_value(self.name, cells.sensitive[column].name, totals)
        occurring = np.flatnonzero(totals)
        counts = [int(count) for count in totals[occurring]]
        matrix = self.matrix_for(counts, promises)
        return redraw(cells, occurring, matrix, rng.stream("perturbation"))

    def matrix_for(self, counts: Sequence[int], promises: Promises) -> Matrix:
        """The matrix for these counts of the occurring values, verified by its exact posterior."""
        p = [Fraction(count, sum(counts)) for count in counts]
        likeness = promises.only(BetaLikeness)
        posteriors = [BetaPosterior(promise) for promise in likeness]
        gains = [min(posterior.gain(p_i) for posterior in posteriors) for p_i in p]
        two_sided = any(promise.two_sided for promise in likeness)
        if self.matrix == "theorem3":
            matrix, negative = theorem3(p, gains)
            if over := [found for posterior in posteriors if (found := posterior.excess(matrix, counts)) is not None]:
                raise refusal(negative, len(p), max(over))
        else:
            matrix = rank_one(p, gains, two_sided=two_sided)
        if self.matrix == "optimal" and matrix[0][0] < WHOLE:
            matrix = self._optimal(p, gains, counts, posteriors, (matrix[0][0] - matrix[-1][0]) / WHOLE, two_sided)
        for posterior in posteriors:
            posterior.verify({"matrix": matrix, "counts": counts})
        return matrix

    def _optimal(self, p, gains, counts, posteriors, own: float, two_sided: bool) -> Matrix:
        floats = optimal(p, gains, float(self.conditioning) * own, two_sided=two_sided)
        mixed = 1e-7
        while mixed < 0.01:
            matrix = safe(floats, p, mixed)
            if all(posterior.excess(matrix, counts) is None for posterior in posteriors):
                return matrix
            mixed *= 10
        raise InternalError("The linear programme's matrix could not be rounded to one that keeps the promise.")


def only_column(cells: Cells, promises: Promises) -> int:
    if len(cells.sensitive) != 1:
        raise JobError(
            f"beta-perturbation redraws one sensitive column; the job declares {len(cells.sensitive)}.",
            attempt='method = "mondrian" for several.',
        )
    domain = cells.sensitive[0]
    if domain.null and cells.totals(0)[domain.null_code]:
        missing = int(cells.totals(0)[domain.null_code])
        raise ColumnError(
            f"The sensitive column {domain.name!r} is missing in {some(missing, 'row')}.",
            why="A missing value cannot be redrawn without saying who had none.",
            attempt="withholding these rows, or giving them a value of their own.",
        )
    return 0


def refusal(negative: int, values: int, over: float) -> PromiseUnreachable:
    return PromiseUnreachable(
        "The matrix of theorem 3 does not keep this promise.",
        why=f"Of its {values} alphas {negative} are negative, which the theorem does not allow and does not prevent; "
        f"the belief in a value can exceed its cap by {over:.3g}.",
        attempt='matrix = "rank-one", which is always valid.',
    )


def redraw(cells: Cells, occurring: np.ndarray, matrix: Matrix, rng: np.random.Generator) -> RedrawnRecipe:
    """Each cell's rows spread over published values: whole numbers below 10^9, drawn uniformly, against cumulated rows."""
    until = np.cumsum(np.array(matrix, np.int64), axis=1)
    rank = np.full(cells.sensitive[0].size, -1)
    rank[occurring] = np.arange(len(occurring))
    last, tally = np.cumsum(cells.counts), np.zeros(len(occurring), np.int64)
    found, begin = [], 0
    while begin < len(cells):
        end = max(int(np.searchsorted(last, last[begin] + AT_ONCE)), begin + 1)
        counts, of_cell = cells.counts[begin:end].copy(), rank[cells.values[begin:end, 0]]
        drawn = rng.integers(0, WHOLE, int(counts.sum()), dtype=np.int64)
        room = np.empty((int(np.minimum(counts, len(occurring)).sum()), 3), np.int64)
        entries = room[: redrawn(counts, of_cell, until, drawn, tally, room)]
        cell, outcome = entries[:, :2].astype(np.int32).T
        found.append((cell + np.int32(begin), outcome, entries[:, 2].copy()))
        begin = end
    cell, outcome, quota = map(np.concatenate, zip(*found, strict=True))
    return RedrawnRecipe(
        cells,
        cell,
        np.zeros(len(cell), np.int32),
        quota,
        1,
        values=occurring.astype(np.int32)[outcome][:, None],
        occurring=occurring,
        matrix=tuple(map(tuple, matrix)),
        per=WHOLE,
    )
