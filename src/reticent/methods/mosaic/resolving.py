"""Re-solving: sweeps of several kinds, each taken as often as it pays.

Which kind gains most differs from table to table and changes while groups become smaller.  A kind's worth is what its last sweep
took off the loss for its cost; one that has waited is worth more.  Costs are rough and fixed, and no clock is asked, so the
same seed takes the same sweeps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from reticent.methods.mosaic.chains import ChainSweeps
from reticent.methods.mosaic.proposal import Proposal
from reticent.methods.mosaic.quotas import QuotaSweeps
from reticent.methods.mosaic.rule import Rule
from reticent.methods.mosaic.space import Space
from reticent.methods.mosaic.swaps import SwapSweeps
from reticent.methods.mosaic.sweeps import Sweeps
from reticent.methods.mosaic.tiling import Tiling
from reticent.models.promises import BoundPromises
from reticent.table.cells import Cells

IMPATIENCE = 0.15  # for each sweep waited


@dataclass
class Kind:
    """A kind of sweep; None where it has nothing to do."""

    run: Callable[[Tiling, np.random.Generator], Proposal | Tiling | None]
    cost: float
    worth: float = float("inf")
    waited: int = 0

    @property
    def due(self) -> float:
        return self.worth * (1 + IMPATIENCE * self.waited)


def resolve(cells: Cells, space: Space, rule: Rule, bound: BoundPromises, start: Tiling, sweeps: Sweeps,
            draw: np.random.Generator) -> Tiling:  # fmt: skip
    """Re-solve for as long as the sweeps last; a block that the promises do not allow stays as it was."""
    kinds = _kinds(cells, space, rule, sweeps, start)

    def dearest() -> tuple[int, float]:
        at = max(range(len(kinds)), key=lambda at: (kinds[at].due, kinds[at].waited))
        return at, kinds[at].cost

    def sweep(now: Tiling, _number: int) -> Tiling | None:
        before = now.loss(cells, space)
        if len(now) < 2 or before == 0:
            return None
        kind = kinds[dearest()[0]]
        found = kind.run(now, draw)
        if isinstance(found, Proposal):
            found = found.fresh if rule.exact else found.allowed(cells, bound)
        kind.worth = max(before - found.loss(cells, space), 0.0) / kind.cost if found is not None else 0.0
        for other in kinds:
            other.waited += 1
        kind.waited = 0
        return now if found is None else found

    return sweeps.improve(start, lambda tiling: tiling.loss(cells, space), sweep, dearest)


def _kinds(cells: Cells, space: Space, rule: Rule, sweeps: Sweeps, start: Tiling) -> list[Kind]:
    """The kinds there are for a promise, in the order in which they are tried first."""
    quotas = QuotaSweeps(cells, space, rule, sweeps)
    swaps = SwapSweeps(cells, space).swaps
    chains = ChainSweeps(cells, space, rule, sweeps).chains if ChainSweeps.take(rule) else None
    bands = [Kind(quotas.bands, 0.7)] if quotas.large(start) else []
    if rule.capped_only:
        return [
            Kind(quotas.pools, 1.0),
            Kind(quotas.runs, 0.6),
            *bands,
            Kind(swaps, 0.7),
            *([Kind(chains, 1.0)] if chains else []),
        ]
    # cuts judge closeness at length, which neither swaps nor chains do
    quick = [Kind(swaps, 0.15), *([Kind(chains, 0.3)] if chains else [])]
    return [*quick, Kind(quotas.runs, 1.5), *bands, Kind(quotas.pools, 1.5)]
