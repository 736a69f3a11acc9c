"""Domains against brute force: lowest common ancestors, losses, what labels cover, and nulls apart."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from reticent.data.domain import RangeMinimum, build_range_domain, build_tree_domain
from reticent.data.hierarchy import Hierarchy
from tests.oracle import labels as oracle
from tests.oracle import loss as oracle_loss
from tests.support.strategies import AWKWARD, names, trees


@st.composite
def tree_domains(draw):
    values = draw(names("v", 1, 7)) + draw(st.lists(st.sampled_from(AWKWARD), max_size=3, unique=True))
    rows = draw(trees(values, 4))
    null = draw(st.booleans())
    return rows, null, build_tree_domain("q", "String", Hierarchy.from_rows(rows), null=null, is_from_steward=True)


def all_spans(domain):
    return np.triu_indices(domain.size)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=40))
@settings(max_examples=60, deadline=None)
def test_the_least_of_any_span_is_found(values):
    lower, upper = np.triu_indices(len(values))
    expected = [min(values[lo : hi + 1]) for lo, hi in zip(lower, upper, strict=True)]
    assert RangeMinimum(np.array(values))(lower, upper).tolist() == expected


@given(tree_domains())
@settings(max_examples=100, deadline=None)
def test_a_span_is_published_as_its_lowest_common_ancestor(made):
    rows, _, domain = made
    path = {row[0]: row for row in rows}
    lower, upper = all_spans(domain)
    for lo, hi, node in zip(
        lower.tolist(), upper.tolist(), domain.find_common_ancestors(lower, upper).tolist(), strict=True
    ):
        if hi == domain.null_code:
            assert node == (-2 if lo == hi else -1)
            continue
        within = domain.texts[lo : hi + 1]
        level = next(level for level in range(len(rows[0])) if len({tuple(path[v][level:]) for v in within}) == 1)
        tree = domain.hierarchy
        ancestors = {text for text in domain.texts if path[text][level:] == path[within[0]][level:]}
        assert set(domain.texts[tree.first[node] : tree.last[node] + 1]) == ancestors


@given(tree_domains())
@settings(max_examples=100, deadline=None)
def test_labels_cover_what_the_oracle_reads_in_them(made):
    rows, null, domain = made
    column = oracle.describe(oracle.CATEGORICAL, [*domain.texts, *([None] if null else [])], rows)
    lower, upper = all_spans(domain)
    low, high = domain.find_covered_codes(lower, upper)
    everything = [*domain.texts, *([None] if null else [])]
    for label, lo, hi, first, last in zip(domain.labels(lower, upper), lower, upper, low, high, strict=True):
        covered = oracle.covered(label, column)
        assert set(everything[lo : hi + 1]) <= covered
        if first < 0:
            assert label == "*" and last == domain.size
        else:
            assert covered & set(everything) == set(everything[first : last + 1])


@given(tree_domains())
@settings(max_examples=100, deadline=None)
def test_losses_are_the_oracles(made):
    rows, null, domain = made
    column = oracle.describe(oracle.CATEGORICAL, [*domain.texts, *([None] if null else [])], rows)
    lower, upper = all_spans(domain)
    for label, loss in zip(domain.labels(lower, upper), domain.loss(lower, upper), strict=True):
        assert abs(loss - float(oracle_loss.label_loss(label, column))) < 1e-12
    assert np.array_equal(domain.loss_table[lower, upper], domain.loss(lower, upper))


@given(st.lists(st.integers(-30, 30), min_size=1, max_size=12, unique=True), st.booleans(), st.booleans())
@settings(max_examples=100, deadline=None)
def test_ranges_lose_their_share_of_the_domain(values, null, declared):
    values.sort()
    span = (-50.0, 50.0) if declared else None
    domain = build_range_domain(
        "q", "numeric", "Int64", [str(v) for v in values], np.array(values), null=null, declared=span
    )
    lower, upper = all_spans(domain)
    reach = 100 if declared else values[-1] - values[0]
    for label, loss, lo, hi in zip(domain.labels(lower, upper), domain.loss(lower, upper), lower, upper, strict=True):
        if hi == domain.null_code:
            assert (label, loss) == ((None, 0) if lo == hi else ("*", 1))
        else:
            assert label == (str(values[lo]) if lo == hi else f"[{values[lo]}, {values[hi]}]")
            assert loss == ((values[hi] - values[lo]) / reach if reach else 0)


@given(tree_domains(), st.data())
@settings(max_examples=60, deadline=None)
def test_sets_name_just_their_members(made, data):
    rows, null, domain = made
    codes = np.array(sorted(data.draw(st.sets(st.integers(0, domain.size - 1), min_size=1))))
    column = oracle.describe(oracle.CATEGORICAL, [*domain.texts, *([None] if null else [])], rows)
    label = domain.format_sets([codes])[0]
    members = {domain.texts[code] if code < len(domain.texts) else None for code in codes}
    if None in members and len(members) > 1:
        assert label == "*"
    else:
        assert oracle.covered(label, column) == members


def test_split_is_the_depth_at_which_neighbours_part():
    tree = Hierarchy.from_rows([["a", "x", "*"], ["b", "x", "*"], ["c", "y", "*"]])
    assert build_tree_domain("q", "String", tree, null=True, is_from_steward=True).split.tolist() == [1, 0, 0]
    assert build_range_domain("q", "numeric", "Int64", ["1", "2"], np.array([1, 2]), null=True).split.tolist() == [1, 0]


def test_a_domain_of_nothing_but_nulls_has_one_code():
    domain = build_range_domain("q", "numeric", "Int64", [], np.zeros(0), null=True)
    zero = np.array([0])
    assert domain.labels(zero, zero) == [None] and domain.loss(zero, zero).tolist() == [0]
