"""A weaker promise at the same effort: the least loss never grows, and along these ladders what mosaic finds does not either.

The ladders are measured, not proven: a search is random, and docs/methods/mosaic.md says by how much a weaker promise may lose more.
"""

from itertools import pairwise

import pytest

from reticent.data.cells import Cells
from reticent.models.beta_likeness import BetaLikeness
from reticent.models.k_anonymity import KAnonymity
from reticent.models.l_diversity import DistinctLDiversity
from reticent.models.t_closeness import TCloseness
from tests.support.mosaic_plans import loss_of, plan, same, table

LADDERS = {
    "k": [[KAnonymity(k)] for k in (2, 3, 5, 10, 20, 50)],
    "l": [[DistinctLDiversity(distinct)] for distinct in (2, 3, 4)],
    "beta": [[BetaLikeness(beta)] for beta in ("4", "2", "1", "1/2", "1/4")],
    "beta 1, k": [[BetaLikeness(1), KAnonymity(k)] for k in (2, 5, 10, 50, 100)],
    "beta 1/4, k": [[BetaLikeness("1/4"), KAnonymity(k)] for k in (2, 5, 10, 50, 100)],
    "t": [[TCloseness(t)] for t in ("1/2", "2/5", "3/10", "1/5", "1/10")],
}


@pytest.mark.parametrize("ladder", LADDERS)
def test_a_weaker_promise_loses_no_more_along_a_ladder(ladder: str):
    cells = table(2500, 1)
    found = [loss_of(plan(cells, *promises)) for promises in LADDERS[ladder]]
    assert found[0] < found[-1] and all(weaker <= stricter for weaker, stricter in pairwise(found)), found


def large(rows: int = 4000) -> tuple[Cells, list[BetaLikeness]]:
    return table(rows, 3), [BetaLikeness("1/5")]


def test_a_size_that_no_group_comes_near_changes_nothing():
    cells, promises = large()
    alone = plan(cells, *promises)
    assert all(same(alone, plan(cells, *promises, KAnonymity(k))) for k in (2, 3))
