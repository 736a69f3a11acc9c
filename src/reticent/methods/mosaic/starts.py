"""The first groups: from the top down in a few ways, the best of them taken, carriers of rare values set apart before.

Which way is best depends on the table, and a wrong one costs more than a search makes good.  A way is (price of strain,
columns narrowed beyond the first, power of the bits a cut spends, favour of hierarchies).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from reticent.methods.mosaic.carriers import carriers
from reticent.methods.mosaic.quotas import Way, top_down
from reticent.methods.mosaic.rule import Rule
from reticent.methods.mosaic.space import Space
from reticent.methods.mosaic.sweeps import Sweeps
from reticent.methods.mosaic.tiling import Tiling
from reticent.table.cells import Cells

CAPPED, CAPPED_TOO = (0.3, 0, 0.5, 4.0), (0.0, 0, 0.75, 4.0)
CARRIED, CARRIED_TOO = (0.3, 0, 0.5, 1.0), (0.0, 0, 0.0, 1.0)  # what carriers leave is more even: greed does well
LOOSE, LOOSE_TOO = (0.1, 0, 0.0, 1.0), (0.3, 0, 0.5, 2.0)
TIGHT, TIGHT_TOO = (0.7, 2, 0.0, 1.0), (0.7, 2, 0.5, 1.0)
SMALL = 64  # rows of a group, on average
MANY = 300_000  # cells from which one way must do
ENOUGH = 0.35  # share of the time after which no other way is tried


def start_of(cells: Cells, space: Space, rule: Rule, sweeps: Sweeps, strict: Callable[[], Tiling]) -> Tiling:
    """`strict` is Mondrian's groups."""
    if rule.capped_only:
        return _with_carriers(cells, space, rule, sweeps)
    return _near_proportions(cells, space, rule, sweeps, strict())


def _near_proportions(cells: Cells, space: Space, rule: Rule, sweeps: Sweeps, strict: Tiling) -> Tiling:
    """Promises beyond caps.  Where Mondrian's groups are small they are re-solved at once: chains do better there than any cut
    from the top.  Where they are large, a tight promise needs strain to be dear, a loose one does not."""
    if cells.rows <= SMALL * len(strict):
        return strict
    loose, tight = (top_down(cells, space, rule, cells.counts, way) for way in (LOOSE, TIGHT))
    found, more = (loose, LOOSE_TOO) if loose.loss(cells, space) < tight.loss(cells, space) else (tight, TIGHT_TOO)
    if _spare(cells, sweeps):
        found = _better(cells, space, rule, cells.counts, found, more)
    return min(found, strict, key=lambda tiling: tiling.loss(cells, space))


def _spare(cells: Cells, sweeps: Sweeps) -> bool:
    return len(cells) < MANY and sweeps.spare(ENOUGH)


def _better(cells: Cells, space: Space, rule: Rule, rows: np.ndarray, found: Tiling, way: Way) -> Tiling:
    return min(found, top_down(cells, space, rule, rows, way), key=lambda tiling: tiling.loss(cells, space))


def _with_carriers(cells: Cells, space: Space, rule: Rule, sweeps: Sweeps) -> Tiling:
    """Carriers for as many rare values as lower the loss, rarest first, and the rest from the top down."""
    found, set_apart, left, least, worse = Tiling.empty(), Tiling.empty(), cells.counts, float("inf"), 0
    for made, rows in carriers(cells, space, rule):
        tiling = top_down(cells, space, rule, rows, CARRIED if len(made) else CAPPED)
        loss = tiling.joined(made).loss(cells, space)
        worse = worse + 1 if loss >= least else 0
        if loss < least:
            found, set_apart, left, least = tiling, made, rows, loss
        # carriers of values less rare take still more rows
        if worse == (2 if len(cells) < MANY else 1) or not sweeps.spare(ENOUGH):
            break
    if _spare(cells, sweeps):
        found = _better(cells, space, rule, left, found, CARRIED_TOO if len(set_apart) else CAPPED_TOO)
    return found.joined(set_apart)
