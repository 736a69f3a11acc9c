"""Numbers and dates under a hierarchy: nodes are stretches of a line, and built ones publish nothing but what is published."""

from datetime import date

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reticent as rt
from reticent.data.codec import COUNT_COLUMN, encode_cells
from reticent.data.columns import Column, quasi
from reticent.data.domain import BandDomain, TreeDomain
from reticent.data.hierarchy import Hierarchy
from reticent.data.hierarchy_builders import grouped, intervals
from reticent.data.population import locate_values
from reticent.errors import ColumnError, HierarchyError

AGES = [[str(age), f"{age // 5 * 5}-{age // 5 * 5 + 4}", f"{age // 10 * 10}s", "*"] for age in range(100)]


def coded(values, column, dtype=None):
    series = pl.Series("q", values, dtype=dtype)
    counted = series.to_frame().with_columns(pl.lit(1, pl.Int64).alias(COUNT_COLUMN))
    return encode_cells(counted, {"q": column})[0].quasi[0]


def spans(domain, pairs):
    lower, upper = (np.array(side) for side in zip(*pairs, strict=True))
    return domain.labels(lower, upper), domain.loss(lower, upper).tolist()


def test_a_stewards_bands_print_by_their_labels_and_lose_their_stretch_of_the_domain():
    domain = coded([20, 24, 31, 40], Column("quasi", type="numeric", hierarchy=AGES))
    assert isinstance(domain, BandDomain) and domain.kind == "numeric" and domain.is_from_steward
    labels, losses = spans(domain, [(20, 20), (20, 24), (20, 29), (20, 31), (31, 31)])
    assert labels == ["20", "20-24", "20s", "*", "31"]
    assert losses == [0, 4 / 20, 9 / 20, 1, 0]  # of 20 .. 40: what lies beyond is not there to be confused with


def test_leaves_are_matched_by_their_number_however_written():
    tree = [["20.0", "a", "*"], ["3e1", "a", "*"], ["40", "b", "*"], ["?", "none", "*"]]
    domain = coded([20, 30, 40], Column("quasi", type="numeric", hierarchy=tree))
    assert domain.texts == ("20.0", "3e1", "40") and domain.labels(np.array([0]), np.array([1])) == ["a"]
    assert coded(["20", "30.0"], Column("quasi", type="numeric", hierarchy=tree)).dtype == "Float64"


def test_rows_out_of_order_are_sorted_along_the_line():
    domain = coded(
        [1, 2, 3], Column("quasi", type="numeric", hierarchy=[["3", "high", "*"], ["1", "low", "*"], ["2", "low", "*"]])
    )
    assert domain.texts == ("1", "2", "3") and domain.labels(np.array([0]), np.array([1])) == ["low"]


def test_nodes_that_are_no_stretches_are_refused_for_numbers_and_welcome_for_categories():
    tree = [["1", "odd", "*"], ["2", "even", "*"], ["3", "odd", "*"]]
    with pytest.raises(HierarchyError, match="not one of ranges"):
        coded([1, 2, 3], Column("quasi", type="numeric", hierarchy=tree))
    assert type(coded([1, 2, 3], Column("quasi", hierarchy=tree))) is TreeDomain


def test_a_number_without_a_rule_is_counted_and_not_quoted():
    with pytest.raises(HierarchyError, match="no rule for 1 of the column's 2") as caught:
        coded([5, 12345], Column("quasi", type="numeric", hierarchy=AGES))
    assert "12345" not in str(caught.value) and caught.value.values == ("12345",)


def test_a_label_of_two_nodes_prints_as_a_range():
    tree = [
        ["1", "x", "p", "*"],
        ["2", "x", "p", "*"],
        ["3", "x2", "x", "*"],
        ["4", "x2", "x", "*"],
        ["5", "y", "y", "*"],
    ]
    domain = coded([1, 2, 3, 4, 5], Column("quasi", type="numeric", hierarchy=tree))
    assert domain.labels(np.array([0, 2]), np.array([1, 3])) == ["[1, 2]", "x2"]


def test_sets_are_not_made_of_a_line():
    domain = coded([20, 24, 31], Column("quasi", type="numeric", hierarchy=AGES))
    assert domain.format_sets([np.array([20, 24]), np.array([31])]) == ["20-24", "31"]


@given(st.lists(st.integers(0, 60), min_size=1, max_size=30), st.sampled_from([["5", "10"], ["3"], ["7", "14"]]))
@settings(max_examples=60, deadline=None)
def test_a_built_hierarchy_prints_only_values_of_the_spans_it_is_asked_for(ages, widths):
    domain = coded(ages, quasi(hierarchy={"build": "intervals", "width": widths}))
    codes = np.arange(domain.size)
    lower = np.minimum(codes, codes[::-1])
    upper = np.maximum(codes, codes[::-1])
    used = {domain.texts[code] for code in {*lower.tolist(), *upper.tolist()}}
    nodes = domain.find_common_ancestors(lower, upper)
    labels = domain.labels(lower, upper)
    for label in labels:
        assert set(label.strip("[]").split(", ")) <= used
    for one in range(len(nodes)):
        for other in range(len(nodes)):
            assert (nodes[one] == nodes[other]) <= (labels[one] == labels[other])


def test_nulls_stand_apart():
    domain = coded([20, 24, None], quasi(hierarchy={"build": "intervals", "width": 5}))
    labels, losses = spans(domain, [(0, 1), (0, 2), (2, 2)])
    assert labels == ["[20, 24]", "*", None] and losses == [1, 1, 0]
    low, high = domain.find_covered_codes(np.array([0, 0, 2]), np.array([1, 2, 2]))
    assert low.tolist() == [0, -1, 2] and high.tolist() == [1, 3, 2]


def test_built_dates_are_ranges_of_dates_and_a_stewards_are_nodes():
    days = [date(2024, 1, 3), date(2024, 2, 9), date(2024, 8, 1)]
    built = coded(days, quasi(hierarchy={"build": "dates", "levels": ["quarter", "year"]}))
    assert built.kind == "date" and built.labels(np.array([0, 0]), np.array([1, 2])) == [
        "[2024-01-01, 2024-03-31]",
        "[2024-01-01, 2024-12-31]",
    ]
    tight = coded(days, quasi(hierarchy={"build": "dates", "levels": ["quarter", "year"]}, labels="tight"))
    assert tight.labels(np.array([0, 0]), np.array([1, 2])) == ["[2024-01-03, 2024-02-09]", "[2024-01-03, 2024-08-01]"]
    given_ = coded(
        days,
        quasi(type="date", hierarchy=[["2024-01-03", "Q1", "*"], ["2024-02-09", "Q1", "*"], ["2024-08-01", "Q3", "*"]]),
    )
    assert given_.kind == "categorical" and given_.labels(np.array([0]), np.array([1])) == ["Q1"]


def test_a_sensitive_column_takes_no_hierarchy_built_from_data_but_a_stewards():
    counted = pl.DataFrame({"q": [1], "s": [5], COUNT_COLUMN: [1]})
    for hierarchy in ({"build": "intervals"}, intervals([5])):
        with pytest.raises(ColumnError, match="sensitive column 's' is built from the data"):
            encode_cells(counted, {"q": quasi(), "s": Column("sensitive", hierarchy=hierarchy)})
    cells, _ = encode_cells(counted, {"q": quasi(), "s": Column("sensitive", hierarchy=intervals(range(9), 3))})
    assert cells.sensitive[0].hierarchy.height == 2


def test_an_order_and_a_hierarchy_are_one_too_many():
    with pytest.raises(ColumnError, match="an order and a hierarchy"):
        coded(["a"], Column("quasi", order=["a"], hierarchy=[["a", "*"]]))


def test_other_tables_are_placed_on_bands_by_number():
    domain = coded([20, 24, 31], Column("quasi", type="numeric", hierarchy=AGES))
    down, up = locate_values(domain, pl.Series(["20.0", "24", "250"]))
    assert down.tolist() == [20, 24, -1] and up.tolist() == [20, 24, 100]


COLUMNS = {
    "age": st.integers(17, 60),
    "zip": st.integers(0, 60).map(lambda code: f"12{code:03d}"),
    "day": st.integers(0, 500).map(lambda i: date.fromordinal(738_000 + i)),
    "s": st.sampled_from("abc"),
}


@given(
    st.lists(st.fixed_dictionaries(COLUMNS), min_size=4, max_size=40),
    st.sampled_from(
        [
            {"build": "intervals", "width": [5, 10]},
            {"build": "quantiles", "groups": 4},
            {"build": "balanced"},
            {"build": "edges", "edges": [[20, 30, 50], [30]]},
            intervals(range(100), [5, 10]),
            grouped({"all": range(100)}),
        ]
    ),
    st.sampled_from([{"build": "prefixes"}, {"build": "prefixes", "keep": [3]}, {"build": "balanced", "fanout": 3}]),
)
@settings(max_examples=30, deadline=None)
def test_releases_by_built_hierarchies_pass_their_audit_against_the_source(rows, age, code):
    frame = pl.DataFrame(rows, schema={"age": pl.Int64, "zip": pl.String, "day": pl.Date, "s": pl.String})
    job = rt.Job(
        columns={
            "age": rt.quasi(hierarchy=age, type="numeric"),
            "zip": rt.quasi(hierarchy=code),
            "day": rt.quasi(hierarchy={"build": "dates"}),
            "s": rt.sensitive(),
        },
        promises=[rt.KAnonymity(2)],
    )
    release = rt.publish(job, frame=frame, seed=1)
    found = rt.audit(release.folder, source=frame)
    assert found.kept
    zips = release.manifest.columns[1]
    shown = {text for row in zips.hierarchy or [] for text in row}
    published = set(release.frame()["zip"].to_list())
    hidden = set(frame["zip"].to_list()) - published
    assert not {text for text in shown if text in hidden and not any(text in label for label in published)}


def test_a_hierarchy_cut_down_covers_what_its_labels_say():
    tree = Hierarchy.from_rows(
        [["a", "x", "1", "*"], ["b", "x", "1", "*"], ["c", "y", "1", "*"], ["d", "z", "2", "*"], ["e", "z", "2", "*"]]
    )
    from reticent.data.domain import build_tree_domain, prune_hierarchy

    domain = build_tree_domain("q", "String", tree, null=False, is_from_steward=False)
    rows = prune_hierarchy(domain, ["1", "x", "a", "*", None])
    assert rows == [
        ["a", "x", "1", "*"],
        ["x (not shown)", "x", "1", "*"],
        ["x (not shown, too)", "x", "1", "*"],
        ["1 (not shown)", "1 (not shown)", "1", "*"],
        ["1 (not shown, too)", "1 (not shown, too)", "1", "*"],
    ]
    Hierarchy.from_rows(rows)
    assert prune_hierarchy(domain, ["*", None]) == [["(not shown)"] * 3 + ["*"], ["(not shown, too)"] * 3 + ["*"]]
