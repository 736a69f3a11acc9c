"""The parts under Mondrian: nodes, acceptance, spans and their kernels against plain NumPy, compiled and as they stand."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from reticent.data.cells import Cells, build_cells
from reticent.data.domain import Domain, TreeDomain, build_range_domain, build_tree_domain
from reticent.data.hierarchy import Hierarchy
from reticent.methods.mondrian import acceptance, cuts, nodes
from reticent.methods.mondrian.acceptance import Acceptance, CutMask, CutSides
from reticent.methods.mondrian.cuts import LOOK_AHEAD_NEVER, LossCuts
from reticent.methods.mondrian.nodes import PartitionNodes, SpanLosses, pack_codes
from reticent.models.caps import Caps
from reticent.models.promise import BoundPromises
from tests.support.pure_kernels import use_pure_kernels


@pytest.fixture(params=["compiled", "pure"], autouse=True)
def kernels(request, monkeypatch):
    if request.param == "pure":
        use_pure_kernels(monkeypatch)


def random_tree(rng: np.random.Generator, leaves: int, *, null: bool) -> TreeDomain:
    low = np.sort(rng.integers(0, max(leaves // 2, 1), leaves))
    rows = [[f"v{i}", f"n{low[i]}", f"m{low[i] // 2}", "*"] for i in range(leaves)]
    return build_tree_domain("tree", "String", Hierarchy.from_rows(rows), null=null, is_from_steward=True)


def random_range(rng: np.random.Generator, size: int, *, null: bool) -> Domain:
    at = np.sort(rng.choice(5 * size, size, replace=False)).astype(float)
    return build_range_domain("range", "numeric", "Int64", [str(x) for x in at], at, null=null)


def random_cells(number: int, rows: int = 120) -> Cells:
    rng = np.random.default_rng(number)
    columns = int(rng.integers(1, 6))
    quasi = tuple(
        (random_tree if rng.random() < 0.5 else random_range)(
            rng, int(rng.integers(1, 12)), null=bool(rng.random() < 0.3)
        )
        for _ in range(columns)
    )
    sensitive = tuple(random_tree(rng, int(rng.integers(2, 6)), null=True) for _ in range(2))
    draw = [rng.integers(0, domain.size, rows) for domain in (*quasi, *sensitive)]
    codes = np.column_stack(draw[:columns]).astype(np.int32)
    values = np.column_stack(draw[columns:]).astype(np.int32)
    return build_cells(quasi, sensitive, codes, values, rng.integers(1, 4, rows))[0]


def random_cuts(nodes: PartitionNodes, rng: np.random.Generator, many: int) -> np.ndarray:
    """Cuts of the one open node."""
    column = rng.integers(0, len(nodes.cells.quasi), many)
    ends = np.sort(rng.integers(0, 12, (many, 2)), axis=1)
    return np.column_stack([np.zeros(many), np.full(many, len(nodes.atom)), column, ends]).astype(np.int64)


def sides_of(cells: Cells, cut: np.ndarray) -> np.ndarray:
    code = cells.codes[:, cut[2]]
    return (code < cut[3]) | (code > cut[4])


def test_packed_codes_come_back():
    codes = np.random.default_rng(0).integers(0, 1 << 31, (50, 5)).astype(np.int32)
    words = pack_codes(codes)
    assert words.shape == (50, 3)
    unpacked = np.column_stack([words & np.uint64(0x7FFFFFFF), words >> np.uint64(32)])[:, [0, 3, 1, 4, 2]]
    np.testing.assert_array_equal(unpacked, codes)


@pytest.mark.parametrize("number", range(8))
def test_a_cut_keeps_every_atom_and_its_sides_have_tight_boxes(number):
    cells = random_cells(number)
    nodes = PartitionNodes.from_cells(cells)
    rng = np.random.default_rng(number)
    column = int(rng.integers(0, len(cells.quasi)))
    present = np.unique(cells.codes[:, column])
    if len(present) < 2:
        pytest.skip("the column is constant")
    cut = np.array([[0, len(nodes.atom), column, present[0], present[len(present) // 2 - 1]]], np.int64)
    away = sides_of(cells, cut[0])
    nodes.cut(cut)
    assert sorted(nodes.atom.tolist()) == list(range(len(nodes.atom)))
    for node, mine in enumerate((~away, away)):
        np.testing.assert_array_equal(nodes.box[node, 0], cells.codes[mine].min(axis=0))
        np.testing.assert_array_equal(nodes.box[node, 1], cells.codes[mine].max(axis=0))
        assert nodes.size[node] == cells.counts[mine].sum()
    np.testing.assert_array_equal(nodes.group_of_cell(), away)


@pytest.mark.parametrize("number", range(6))
def test_both_sides_of_many_cuts_are_counted_as_their_cells_say(number):
    cells = random_cells(number)
    nodes = PartitionNodes.from_cells(cells)
    rng = np.random.default_rng(number)
    cuts = random_cuts(nodes, rng, 25)
    sides = CutSides(nodes, cuts)
    for column in (0, 1):
        counts = sides.histogram(column)
        for i, cut in enumerate(cuts):
            for side, mine in ((0, ~sides_of(cells, cut)), (1, sides_of(cells, cut))):
                expected = np.bincount(cells.values[mine, column], cells.counts[mine], cells.sensitive[column].size)
                np.testing.assert_array_equal(counts[2 * i + side], expected)
    # The same groups, listed by cells: what a check that looks beyond histograms would see.
    listed = acceptance.CandidateGroups(cells, sides.cell, sides.quota, sides.offsets)
    np.testing.assert_array_equal(listed.histogram(0), sides.histogram(0))
    np.testing.assert_array_equal(listed.sizes, sides.sizes)


def random_caps(rng: np.random.Generator, values: int) -> Caps:
    def pairs(least: int, most: int) -> np.ndarray:
        below = rng.integers(1, 9, values)
        return np.column_stack([rng.integers(least, most, values).clip(0, below), below]).astype(np.int64)

    return Caps(
        values,
        least_size=int(rng.integers(0, 20)),
        least_distinct=int(rng.integers(0, values)),
        upper=pairs(4, 9) if rng.random() < 0.7 else None,
        lower=pairs(0, 2) if rng.random() < 0.5 else None,
        present_only=bool(rng.random() < 0.5),
        null=values - 1 if rng.random() < 0.5 else -1,
        without=int(rng.integers(-1, values)),
    )


@pytest.mark.parametrize("number", range(40))
def test_the_kernel_keeps_caps_exactly_as_they_are_meant(number):
    cells = random_cells(number, rows=60)
    nodes = PartitionNodes.from_cells(cells)
    rng = np.random.default_rng(1000 + number)
    caps = tuple((int(c), random_caps(rng, cells.sensitive[c].size)) for c in rng.integers(0, 2, rng.integers(1, 4)))
    accepts = Acceptance(BoundPromises(cells, 1, caps, ()), nodes)
    cuts = random_cuts(nodes, rng, 40)
    sides = CutSides(nodes, cuts)
    fine = (
        np.logical_and.reduce([cap.allows(sides.histogram(column)) for column, cap in caps]).reshape(-1, 2).all(axis=1)
    )
    np.testing.assert_array_equal(accepts.select_best_cuts(cuts, 1000), np.flatnonzero(fine))
    np.testing.assert_array_equal(accepts.select_best_cuts(cuts, 2), np.flatnonzero(fine)[:2])
    # No allowed group is smaller than the size that is used to pass over cuts unseen.
    allowed = np.logical_and.reduce([cap.allows(sides.histogram(column)) for column, cap in caps])
    assert (sides.sizes[allowed] >= accepts.least_size).all()


@pytest.mark.parametrize("number", range(12))
def test_a_span_loses_in_the_kernel_what_its_domain_says(number):
    rng = np.random.default_rng(number)
    domain = (random_tree if number % 2 else random_range)(rng, int(rng.integers(2, 40)), null=bool(number % 3 == 0))
    low, high = np.triu_indices(domain.size)
    box = np.stack([low, high], axis=1)[:, :, None].astype(np.int32)
    found = SpanLosses.from_domains((domain,), np.array([3.0])).losses(box)[:, 0]
    np.testing.assert_allclose(found, 3 * domain.loss(low, high), rtol=0, atol=1e-12)


def every_cut(cells: Cells, least: int) -> list[tuple[float, int, frozenset]]:
    """(loss left, column, smaller side) of every cut allowed, by brute force."""
    losses = lambda mine: sum(  # noqa: E731
        float(domain.loss(mine[:, j].min()[None], mine[:, j].max()[None])[0]) for j, domain in enumerate(cells.quasi)
    )
    found = []
    for j, domain in enumerate(cells.quasi):
        present = np.unique(cells.codes[:, j])
        sets = [frozenset(present[:i].tolist()) for i in range(1, len(present))]
        if isinstance(domain, TreeDomain):
            sets += [frozenset([int(code)]) for code in present]
            lowest = domain.split[present[0] : present[-1]].min() if len(present) > 1 else 0
            child = np.cumsum([0, *(domain.split[a:b].min() == lowest for a, b in pairwise(present))])
            sets += [frozenset(present[child == c].tolist()) for c in np.unique(child)]
        for inside in set(sets):
            mine = np.isin(cells.codes[:, j], list(inside))
            sizes = cells.counts[mine].sum(), cells.counts[~mine].sum()
            if min(sizes) >= least and (~mine).any():
                found.append((sizes[0] * losses(cells.codes[mine]) + sizes[1] * losses(cells.codes[~mine]), j, inside))
    return sorted(found, key=lambda cut: cut[0])


@pytest.mark.parametrize("number", range(25))
def test_the_cut_that_leaves_the_least_loss_is_found_among_all(number):
    cells = random_cells(number, rows=50)
    nodes = PartitionNodes.from_cells(cells)
    least = number % 7 + 1
    accepts = Acceptance(BoundPromises(cells, least, (), ()), nodes)
    expected = every_cut(cells, least)
    chooser = LossCuts(
        nodes, accepts, SpanLosses.from_domains(cells.quasi, np.ones(len(cells.quasi))), LOOK_AHEAD_NEVER
    )
    chosen, cuts = chooser.choose()
    assert chosen.any() == bool(expected)
    if expected:
        away = sides_of(cells, cuts[0])
        sides = [cells.codes[~away], cells.codes[away]]
        sizes = [cells.counts[~away].sum(), cells.counts[away].sum()]
        left = sum(
            size * float(domain.loss(side[:, j].min()[None], side[:, j].max()[None])[0])
            for size, side in zip(sizes, sides, strict=True)
            for j, domain in enumerate(cells.quasi)
        )
        assert left == pytest.approx(expected[0][0])
        assert min(sizes) >= least


def test_rounds_of_candidates_continue_where_the_last_one_ended():
    cells = random_cells(4, rows=200)
    nodes = PartitionNodes.from_cells(cells)
    chooser = LossCuts(
        nodes,
        Acceptance(BoundPromises(cells, 1, (), ()), nodes),
        SpanLosses.from_domains(cells.quasi, np.ones(len(cells.quasi))),
    )
    trying = np.array([0])
    side = np.array([1])
    nothing = np.full((1, 6), -1, np.int64), np.full(1, -1.0)
    best, loss = chooser._weigh_candidates(trying, side, CutMask.all(1), 64, nothing)
    many = int(np.isfinite(loss[0, 1:]).sum())
    assert many > 10
    seen = []
    last = nothing
    while True:
        part, weight = chooser._weigh_candidates(trying, side, CutMask.all(1), 3, last)
        seen += [tuple(part[0, s]) for s in range(1, 4) if np.isfinite(weight[0, s])]
        last = part[:, -1], weight[:, -1]
        if not np.isfinite(weight[0, -1]):
            break
    assert seen == [tuple(best[0, s]) for s in range(1, many + 1)]


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("number", range(12))
def test_a_median_cut_is_the_most_even_one_at_the_lowest_fences_around_it(number, apart):
    rng = np.random.default_rng(number)
    domain = (random_tree if number % 3 else random_range)(rng, int(rng.integers(2, 14)), null=bool(number % 2))
    codes = rng.integers(0, domain.size, 30).astype(np.int32)[:, None]
    cells = build_cells((domain,), (), codes, np.zeros((30, 0), np.int32), np.ones(30, np.int64))[0]
    nodes = PartitionNodes.from_cells(cells)
    span = nodes.spans(np.array([0]), np.array([0]))
    low, high = span[0, 3:]
    if low == high:
        pytest.skip("one value")
    base, fence = cuts.compute_fences(cells.quasi)
    left = np.empty((1, 2), np.int64)
    cuts.place_median_cuts(span, nodes.words, nodes.count, base, fence, apart, left)
    split = np.zeros(domain.size, int) if not isinstance(domain, TreeDomain) else domain.split
    allowed = [c for c in range(low, high) if split[c] == split[low:high].min()]
    upto = {c: int((codes <= c).sum()) for c in allowed}
    uneven = {c: abs(2 * upto[c] - 30) for c in ((allowed[0], allowed[-1]) if apart else allowed)}
    assert span[0, 4] in uneven and uneven[span[0, 4]] == min(uneven.values())
    assert tuple(left[0]) == (upto[span[0, 4]], 30)


def test_spans_weigh_columns_as_asked():
    rng = np.random.default_rng(0)
    domains = random_range(rng, 9, null=False), random_tree(rng, 9, null=True)
    box = np.array([[[0, 0], [8, 9]]], np.int32)
    plain, weighed = (
        SpanLosses.from_domains(domains, np.array(weights)).losses(box)[0] for weights in ([1.0, 1.0], [2.0, 0.0])
    )
    np.testing.assert_allclose(weighed, plain * [2, 0])
    assert nodes.SUBTREES_SHAPE in SpanLosses.from_domains(domains, np.ones(2), disjoint=True).shape[:, 0]
