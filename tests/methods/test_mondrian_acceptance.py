"""All cuts of a node judged in one sweep: the same as asking about each, for every kind of cap."""

from fractions import Fraction

import numpy as np
import pytest

from reticent.data.cells import Cells
from reticent.methods.mondrian.acceptance import Acceptance, CapTables, CutMask
from reticent.methods.mondrian.cuts import LOOK_AHEAD_NEVER, LossCuts
from reticent.methods.mondrian.method import Mondrian
from reticent.methods.mondrian.nodes import PartitionNodes, SpanLosses
from reticent.models.beta_likeness import BetaLikeness, SemanticLikeness
from reticent.models.delta_disclosure import DeltaDisclosure
from reticent.models.k_anonymity import AlphaKAnonymity, KAnonymity
from reticent.models.l_diversity import DistinctLDiversity
from reticent.models.promise import CandidateGroups, Promises
from reticent.randomness import Random
from tests.support.pure_kernels import use_pure_kernels
from tests.support.random_cells import random_cells

PROMISED = {
    "beta": [KAnonymity(2), BetaLikeness(1)],
    "two-sided": [BetaLikeness(2, two_sided=True)],
    "delta": [DeltaDisclosure(2)],
    "alpha": [AlphaKAnonymity(Fraction(2, 3), 3)],
    "distinct": [DistinctLDiversity(2), BetaLikeness(4)],
    "families": [SemanticLikeness(1), DistinctLDiversity(2)],
}


@pytest.fixture(params=["compiled", "pure"], autouse=True)
def kernels(request, monkeypatch):
    if request.param == "pure":
        use_pure_kernels(monkeypatch)


@pytest.mark.parametrize("promised", PROMISED)
@pytest.mark.parametrize("apart", [False, True])
def test_a_sweep_allows_the_cuts_that_keep_the_caps_and_no_other(promised, apart):
    judged = 0
    for number in range(25):
        cells = random_cells(number)
        accepts, spans, cuts, ordinals = _every_cut(cells, PROMISED[promised], apart)
        mask = CutMask.build(accepts.nodes, np.array([0]), np.array([1]), accepts.rules, spans)
        each = accepts._select_within_caps(np.ascontiguousarray(cuts), 1 << 62)
        assert mask.allowed[ordinals].astype(bool).tolist() == each.tolist()
        judged += len(each)
    assert judged > 60


def test_a_plan_is_the_same_whether_cuts_are_judged_one_by_one_or_at_once(monkeypatch):
    for number in range(20):
        cells = random_cells(number, most_rows=90)
        promises = Promises.from_iterable([KAnonymity(2), BetaLikeness(2)])
        plans = []
        for first, crowded in ((32, 1 << 40), (1, 0)):

            def choose(nodes, accepts, spans, ahead, first=first, crowded=crowded):
                return LossCuts(nodes, accepts, spans, LOOK_AHEAD_NEVER, first, crowded)

            monkeypatch.setattr("reticent.methods.mondrian.method.LossCuts", choose)
            plans.append(Mondrian().plan(cells, promises, Random.from_optional_seed(1)).group.tolist())
        assert plans[0] == plans[1]


def test_families_say_as_caps_what_they_say_as_a_check():
    for number in range(20):
        cells = random_cells(number, null=number % 2 == 0)
        check = SemanticLikeness(1, two_sided=number % 3 == 0).bind(cells)
        whole = CandidateGroups(cells, np.arange(len(cells)), cells.counts, np.array([0, len(cells) // 2, len(cells)]))
        member = np.eye(len(set(check.caps[0][1].family.tolist())), dtype=np.int64)[check.caps[0][1].family]
        said = [cap.allows(whole.histogram(0) @ member) for _, cap in check.caps]
        assert np.logical_and.reduce(said).tolist() == check(whole).tolist()


def _every_cut(cells: Cells, promised: list, apart: bool) -> tuple[Acceptance, SpanLosses, np.ndarray, np.ndarray]:
    bound = Promises.from_iterable(promised).bind(cells)
    nodes = PartitionNodes.from_cells(cells)
    accepts = Acceptance(bound, nodes)
    assert isinstance(accepts.rules, CapTables)
    spans = SpanLosses.from_domains(cells.quasi, np.ones(len(cells.quasi)), disjoint=apart)
    none = np.full((1, 6), -1, np.int64), np.full(1, -1.0)
    chooser = LossCuts(nodes, accepts, spans, LOOK_AHEAD_NEVER)
    best, loss = chooser._weigh_candidates(np.array([0]), np.array([1]), CutMask.all(1), 400, none)
    there = np.isfinite(loss[0, 1:])
    return accepts, spans, best[0, 1:][there][:, :5], best[0, 1:][there][:, 5]
