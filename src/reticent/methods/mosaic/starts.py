"""The first groups: from the top down in a few ways, the best of them taken, carriers of rare values set apart before.

Which way is best depends on the table, and a wrong one costs more than a search makes good.  A way is (price of strain,
columns narrowed beyond the first, power of the bits a cut spends).
"""

from __future__ import annotations

from reticent.methods.mosaic.carriers import carriers
from reticent.methods.mosaic.loss import Space
from reticent.methods.mosaic.quotas import top_down
from reticent.methods.mosaic.rule import Rule
from reticent.methods.mosaic.sweeps import Sweeps
from reticent.methods.mosaic.tiling import Tiling
from reticent.table.cells import Cells

CAPPED, PLAIN, BY_BITS = (0.3, 0, 0.5), (0.0, 0, 0.0), (0.0, 0, 1.0)
LOOSE, LOOSE_TOO = (0.1, 0, 0.0), (0.3, 0, 0.5)
TIGHT, TIGHT_TOO = (0.7, 2, 0.0), (0.7, 2, 0.5)
ENOUGH = 0.35  # share of the time after which no other way is tried


def start_of(cells: Cells, space: Space, rule: Rule, sweeps: Sweeps) -> Tiling:
    if rule.capped_only:
        return _with_carriers(cells, space, rule, sweeps)
    found = {way: top_down(cells, space, rule, cells.counts, [way]) for way in (LOOSE, TIGHT)}
    loose = found[LOOSE].loss(cells, space) < found[TIGHT].loss(cells, space)
    if sweeps.spare(ENOUGH):
        found[LOOSE_TOO] = top_down(cells, space, rule, cells.counts, [LOOSE_TOO if loose else TIGHT_TOO])
    return min(found.values(), key=lambda tiling: tiling.loss(cells, space))


def _with_carriers(cells: Cells, space: Space, rule: Rule, sweeps: Sweeps) -> Tiling:
    """Carriers for as many rare values as lower the loss, rarest first, and the rest from the top down."""
    found, set_apart, left, least, worse = Tiling.empty(), Tiling.empty(), cells.counts, float("inf"), 0
    for made, rows in carriers(cells, space, rule):
        tiling = top_down(cells, space, rule, rows, [CAPPED])
        loss = tiling.joined(made).loss(cells, space)
        worse = worse + 1 if loss >= least else 0
        if loss < least:
            found, set_apart, left, least = tiling, made, rows, loss
        if worse == 2:  # carriers of values less rare would take still more rows
            break
    # what is left by carriers is more even, and greed does well on it
    for way in (PLAIN, BY_BITS) if len(set_apart) else (BY_BITS, PLAIN):
        if sweeps.spare(ENOUGH):
            other = top_down(cells, space, rule, left, [way])
            found = min(found, other, key=lambda tiling: tiling.loss(cells, space))
    return found.joined(set_apart)
