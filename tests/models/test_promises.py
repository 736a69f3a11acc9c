"""Conjunctions, sensitive columns alone and together, and the parameters each promise refuses."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reticent import registry
from reticent.data.cells import combine_sensitive
from reticent.data.codec import COUNT_COLUMN, encode_cells
from reticent.data.columns import Column, quasi, sensitive
from reticent.errors import ColumnError, InternalError, JobError
from reticent.models.delta_disclosure import DeltaDisclosure
from reticent.models.l_diversity import are_diverse
from reticent.models.promise import Promises
from reticent.models.t_closeness import TCloseness
from tests.oracle import measures
from tests.oracle.groups import histograms, rows_of
from tests.support.plain_groups import groups_by, verdicts


def promise(model, **asked):
    return registry.make_promise({"model": model, **asked})


def two_columns(rows, **how):
    schema = {"q": pl.Int64, "a": pl.String, "b": pl.String}
    counted = pl.DataFrame(rows, schema=schema).with_columns(pl.lit(1, pl.Int64).alias(COUNT_COLUMN))
    return encode_cells(counted, {"q": quasi(), "a": sensitive(**how), "b": sensitive(**how)})[0]


tables = st.lists(
    st.fixed_dictionaries({"q": st.integers(0, 2), "a": st.sampled_from("xyz"), "b": st.sampled_from("uv")}),
    min_size=1,
    max_size=30,
)


@given(tables)
@settings(max_examples=60, deadline=None)
def test_two_columns_are_protected_each_by_its_promise_and_together_by_one_without_a_column(rows):
    cells = combine_sensitive(two_columns(rows))
    asked = [("distinct-l-diversity", {"l": 2}), ("beta-likeness", {"beta": 1}), ("t-closeness", {"t": Fraction(1, 4)})]
    for model, parameters in asked:
        for column in ("a", "b", None):
            groups = histograms(rows_of(rows, ["q"], column or ["a", "b"]))
            kept = bool(verdicts([promise(model, **parameters, **({"column": column} if column else {}))], cells).all())
            assert kept == measures.holds(model, groups, **parameters)


@given(tables)
@settings(max_examples=30, deadline=None)
def test_taking_columns_jointly_leaves_the_cells_as_they_were(rows):
    cells = two_columns(rows)
    both = combine_sensitive(cells)
    assert both.counts is cells.counts and both.codes is cells.codes
    assert np.array_equal(both.values[:, :2], cells.values) and both.joint == 2
    assert combine_sensitive(both) is both
    pairs = {tuple(pair): code for *pair, code in both.values.tolist()}
    assert len(set(pairs.values())) == len(pairs) == both.sensitive[2].size


def test_one_sensitive_column_is_already_joint():
    counted = pl.DataFrame({"q": [1], "s": ["x"], COUNT_COLUMN: [1]})
    cells, _ = encode_cells(counted, {"q": quasi(), "s": sensitive()})
    assert combine_sensitive(cells) is cells


def test_missing_values_are_not_combined():
    rows = [{"q": 0, "a": "x", "b": None}, {"q": 0, "a": "y", "b": "u"}]
    with pytest.raises(ColumnError, match="jointly, but 'b' has missing values"):
        combine_sensitive(two_columns(rows, missing="category"))


def test_combined_values_have_no_order_and_no_tree():
    cells = combine_sensitive(two_columns([{"q": 0, "a": "x", "b": "u"}]))
    for distance in ("ordered", "hierarchical"):
        with pytest.raises(JobError, match=f"no {distance} distance"):
            TCloseness(0.2, distance).bind(cells)


def test_a_promise_must_name_its_column_where_several_are_sensitive():
    promises = Promises.from_iterable([promise("beta-likeness", beta=1)])
    promises.check_columns(["a"])
    promises.check_columns(["a", "b"], jointly=True)
    with pytest.raises(JobError, match="must say which sensitive column"):
        promises.check_columns(["a", "b"])
    with pytest.raises(JobError, match="declares none"):
        promises.check_columns([])
    with pytest.raises(JobError, match="'disease' instead"):
        Promises.from_iterable([promise("beta-likeness", beta=1, column="diseases")]).check_columns(["disease"])
    Promises.from_iterable([promise("k-anonymity", k=2)]).check_columns([])
    with pytest.raises(InternalError):
        two_columns([{"q": 0, "a": "x", "b": "u"}]).find_sensitive(None)


def test_nothing_promised_is_refused():
    with pytest.raises(JobError, match="promises nothing"):
        Promises.from_iterable([])


def test_the_least_size_of_a_conjunction_is_the_greatest_asked():
    cells = two_columns([{"q": 0, "a": "x", "b": "u"}, {"q": 0, "a": "y", "b": "u"}])
    asked = [promise("k-anonymity", k=3), promise("alpha-k-anonymity", alpha=1, k=7, column="a")]
    assert Promises.from_iterable(asked).bind(cells).least_size == 7
    assert Promises.from_iterable([promise("distinct-l-diversity", l=4, column="b")]).bind(cells).least_size == 4


@pytest.mark.parametrize(
    ("model", "asked", "said"),
    [
        ("k-anonymity", {"k": 1}, "k >= 2"),
        ("k-anonymity", {"k": 2.5}, "whole number"),
        ("k-map", {"k": 1, "population": "x.csv"}, "k >= 2"),
        ("k-map", {"k": 2, "population": None}, "population must be"),
        ("alpha-k-anonymity", {"alpha": 0, "k": 2}, "0 < alpha <= 1"),
        ("alpha-k-anonymity", {"alpha": 1.1, "k": 2}, "0 < alpha <= 1"),
        ("alpha-k-anonymity", {"alpha": 0.5, "k": 1}, "k >= 2"),
        ("distinct-l-diversity", {"l": 1}, "l >= 2"),
        ("distinct-l-diversity", {"l": 2.5}, "whole number"),
        ("probabilistic-l-diversity", {"l": 1}, "l > 1"),
        ("entropy-l-diversity", {"l": 1}, "l > 1"),
        ("recursive-l-diversity", {"c": 0, "l": 2}, "c > 0"),
        ("recursive-l-diversity", {"c": 1, "l": 1}, "l >= 2"),
        ("t-closeness", {"t": 0}, "t > 0"),
        ("t-closeness", {"t": 0.2, "distance": "equals"}, "'equal' instead"),
        ("delta-disclosure", {"delta": 0}, "delta > 0"),
        ("delta-disclosure", {"delta": 1, "absent": "ignored"}, "'ignore' instead"),
        ("delta-disclosure", {"delta": 1, "base": 10}, 'base = "e" or 2'),
        ("beta-likeness", {"beta": 0}, "beta > 0"),
        ("beta-likeness", {"beta": 1, "enhanced": "no"}, "true or false"),
        ("beta-likeness", {"beta": 1, "two_sided": 1}, "true or false"),
    ],
)
def test_a_parameter_that_promises_nothing_or_makes_no_sense_is_refused(model, asked, said):
    with pytest.raises(JobError, match=said):
        promise(model, **asked)


@pytest.mark.parametrize(
    ("counts", "l", "kept"),
    [
        ([1, 1], 2, True),
        ([10**6, 10**6], 2, True),
        ([10**6 + 1, 10**6 - 1], 2, False),
        ([2, 1, 1], Fraction(28284271247461900, 10**16), True),  # 2 sqrt 2 = 2.82842712474619009...
        ([2, 1, 1], Fraction(28284271247461901, 10**16), False),
        ([4, 2, 1, 1], Fraction(33635856610148581, 10**16), True),  # 2^1.75 = 3.36358566101485817...
        ([4, 2, 1, 1], Fraction(33635856610148582, 10**16), False),
        ([0, 0], 2, False),
        ([5, 0], Fraction(11, 10), False),
    ],
)
def test_entropy_is_decided_next_to_its_bound(counts, l, kept):  # noqa: E741
    assert are_diverse(np.array([counts]), Fraction(l)).tolist() == [kept]


@given(st.lists(st.lists(st.integers(0, 40), min_size=3, max_size=3), min_size=1, max_size=20), st.integers(2, 3))
@settings(max_examples=60, deadline=None)
def test_entropy_agrees_with_whole_numbers(groups, l):  # noqa: E741
    expected = []
    for counts in groups:
        s = sum(counts)
        expected.append(s > 0 and s**s >= l**s * math.prod(c**c for c in counts))
    assert are_diverse(np.array(groups), Fraction(l)).tolist() == expected


def test_closeness_is_exact_where_products_exceed_64_bits():
    n = 3 * 10**9
    counted = pl.DataFrame({"q": [0, 0, 1, 1], "s": ["x", "y", "x", "y"], COUNT_COLUMN: [n + 1, n - 1, n - 1, n + 1]})
    cells, _ = encode_cells(counted, {"q": quasi(), "s": Column("sensitive", hierarchy=[["x", "*"], ["y", "*"]])})
    groups = groups_by(cells, cells.codes[:, 0].astype(np.int64))
    for distance in ("equal", "ordered", "hierarchical"):
        tight = TCloseness(Fraction(1, 2 * n), distance).bind(cells)(groups)
        below = TCloseness(Fraction(1, 2 * n) - Fraction(1, 10**30), distance).bind(cells)(groups)
        assert tight.tolist() == [True, True] and below.tolist() == [False, False]


def test_pooling_groups_that_lack_a_value_breaks_the_lower_side_of_delta_disclosure_that_ignores_absence():
    """Three groups keep it; the first two, whose labels may cover one person, together do not."""
    held = np.array([[3, 1], [4, 0], [3, 5]])
    ignoring, breaking = (DeltaDisclosure("0.52", absent=absent) for absent in ("ignore", "break"))
    caps = ignoring.caps(held.sum(axis=0), -1)[0]
    assert caps.allows(held).all()
    assert not caps.allows(held[:2].sum(axis=0)[None, :])[0]
    assert not breaking.caps(held.sum(axis=0), -1)[0].allows(held).all()


def test_a_method_is_handed_only_what_it_can_keep():
    promises = Promises.from_iterable([TCloseness(1), DeltaDisclosure(2)])
    assert promises.require_models(TCloseness, DeltaDisclosure) == list(promises)
    with pytest.raises(InternalError, match="delta-disclosure was handed to a method that cannot keep it"):
        promises.require_models(TCloseness)


REFERRING = {
    "beta-likeness": {"beta": 1},
    "delta-disclosure": {"delta": 1},
    "t-closeness": {"t": "0.2"},
    "proximity-beta-likeness": {"beta": 1, "width": 1},
    "entropy-l-diversity": {"l": "1.5"},
    "recursive-l-diversity": {"c": 2, "l": 2},
    "probabilistic-l-diversity": {"l": 2},
    "k-anonymity": {"k": 3},
}


@pytest.mark.parametrize("model", REFERRING)
def test_groups_of_a_part_are_judged_by_the_totals_of_the_whole_table(model):
    draw = np.random.default_rng(4)
    rows = pl.DataFrame({"q": draw.integers(0, 8, 90), "a": draw.choice(4, 90, p=[0.55, 0.25, 0.15, 0.05])})
    counted = rows.group_by("q", "a").len(name=COUNT_COLUMN).sort("q", "a")
    cells = encode_cells(counted, {"q": quasi(), "a": sensitive(type="numeric")})[0]
    asked = Promises.from_iterable([promise(model, **REFERRING[model])])
    judged = asked.bind(cells).allow(groups_by(cells, cells.codes[:, 0]))
    kept = cells.codes[:, 0] < 4
    part = replace(cells, codes=cells.codes[kept], values=cells.values[kept], counts=cells.counts[kept])
    bound = asked.bind(part, [cells.totals(0)])
    assert (bound.allow(groups_by(part, part.codes[:, 0])) == judged[:4]).all()


def test_a_prior_over_all_rows_is_not_known_of_a_part():
    cells = two_columns([{"q": 1, "a": "x", "b": "u"}, {"q": 2, "a": "y", "b": "u"}])
    asked = promise("bt-privacy", bandwidth=1, t="0.2", column="a")
    with pytest.raises(JobError, match="cannot be kept on a part"):
        Promises.from_iterable([asked]).bind(cells, [cells.totals(0), cells.totals(1)])
