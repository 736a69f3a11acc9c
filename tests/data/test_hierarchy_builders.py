"""Builders: every hierarchy is a tree over the values given, and says what its builder promises."""

from datetime import date, timedelta
from fractions import Fraction

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reticent.data import hierarchy_builders
from reticent.data.hierarchy import Hierarchy
from reticent.data.hierarchy_builders import BuiltHierarchy
from reticent.errors import HierarchyError
from reticent.format.manifest import ColumnEntry
from reticent.labels.cover import rebuild_hierarchy

numbers = st.lists(st.one_of(st.integers(-200, 200), st.decimals(-50, 50, places=2)), min_size=1, max_size=40)


def labels_at(tree: Hierarchy, level: int) -> dict[str, str]:
    return {row[0]: row[level] for row in tree.rows()}


@given(numbers, st.sampled_from([1, 5, "0.5", "0.1", 7]), st.sampled_from([0, 3, "-0.25"]))
@settings(max_examples=100, deadline=None)
def test_intervals_hold_the_values_between_their_ends(values, width, start):
    texts = [str(value) for value in values]
    tree = hierarchy_builders.intervals(texts, [width], start=start)
    wide = Fraction(width)
    origin = Fraction(start)
    whole = all(Fraction(x).denominator == 1 for x in [*texts, wide, origin])
    for text, label in labels_at(tree, 1).items():
        number = Fraction(text)
        if whole and wide == 1:
            assert Fraction(label) == number
            continue
        low, high = (Fraction(end) for end in label[1:-1].split(", "))
        assert (low - origin) % wide == 0
        assert low <= number <= high if whole else low <= number < high
        assert high - low == (wide - 1 if whole else wide)


def test_nested_widths_nest():
    tree = hierarchy_builders.intervals(range(40), [5, 10, 20])
    assert tree.rows()[13] == ["13", "[10, 14]", "[10, 19]", "[0, 19]", "*"]
    assert [tree.labels[node] for node in sorted(set(tree.paths[:, 3]))] == ["[0, 19]", "[20, 39]"]


def test_tenths_are_tenths():
    assert labels_at(hierarchy_builders.intervals([0.1, 0.2, 0.3, 0.7], 0.1), 1)["0.3"] == "[0.3, 0.4)"


@pytest.mark.parametrize("width", [0, -5, [5, 12], [10, 10], [10, 5], "wide", True])
def test_a_width_that_does_not_nest_is_refused(width):
    with pytest.raises(HierarchyError, match=r"width|multiple"):
        hierarchy_builders.intervals([1, 2], width)


def test_edges_are_open_at_both_ends_and_may_be_coarsened():
    tree = hierarchy_builders.edges([3, 17, 18, 29, 30, 64, 65, 90], [18, 30, 65], [18, 65])
    assert labels_at(tree, 1) == {
        "3": "< 18",
        "17": "< 18",
        "18": "[18, 29]",
        "29": "[18, 29]",
        "30": "[30, 64]",
        "64": "[30, 64]",
        "65": ">= 65",
        "90": ">= 65",
    }
    assert labels_at(tree, 2)["30"] == "[18, 64]"
    assert labels_at(hierarchy_builders.edges([0.5, 1.5], [1]), 1) == {"0.5": "< 1", "1.5": ">= 1"}


@pytest.mark.parametrize("levels", [[], [[]], [[3, 2]], [[1, 1]], [[1, 5], [2]]])
def test_edges_that_are_not_in_order_or_do_not_nest_are_refused(levels):
    with pytest.raises(HierarchyError, match="dges"):
        hierarchy_builders.edges([1, 2, 3], *levels)


@given(st.lists(st.integers(0, 30), min_size=1, max_size=200))
@settings(max_examples=60, deadline=None)
def test_quantiles_hold_equal_shares_as_far_as_values_allow(values):
    tree = hierarchy_builders.quantiles(values, [8, 2])
    heaviest = max(values.count(value) for value in set(values))
    for level in range(1, tree.height):
        groups: dict[str, int] = {}
        for text, label in labels_at(tree, level).items():
            groups[label] = groups.get(label, 0) + values.count(int(text))
        share = len(values) / (8 if tree.height == 3 and level == 1 else 2)
        if tree.height == 3:
            assert max(groups.values()) <= share + heaviest


def test_quantiles_of_weighted_values_follow_the_rows():
    tree = hierarchy_builders.quantiles([1, 2, 3, 4], 2, rows=[10, 1, 1, 10])
    assert labels_at(tree, 1) == {"1": "[1, 2]", "2": "[1, 2]", "3": "[3, 4]", "4": "[3, 4]"}


@pytest.mark.parametrize("groups", [1, 0, [4, 3], [4, 4], [], [2.5], True])
def test_quantile_groups_divide_one_another(groups):
    with pytest.raises(HierarchyError, match="Quantile groups"):
        hierarchy_builders.quantiles([1, 2, 3], groups)


def test_prefixes_redact_from_the_right_and_leave_short_codes_alone():
    tree = hierarchy_builders.prefixes(["12345", "12346", "12399", "99", "9"], [4, 3, 1])
    assert tree.rows() == [
        ["12345", "1234*", "123**", "1****", "*"],
        ["12346", "1234*", "123**", "1****", "*"],
        ["12399", "1239*", "123**", "1****", "*"],
        ["9", "9", "9", "9", "*"],
        ["99", "99", "99", "9****", "*"],
    ]


@given(st.lists(st.text("01", min_size=1, max_size=6), min_size=1, max_size=30))
@settings(max_examples=60, deadline=None)
def test_prefixes_of_any_codes_are_a_tree(codes):
    tree = hierarchy_builders.prefixes(codes)
    assert sorted(tree.leaves) == sorted(set(codes))
    for row in tree.rows():
        for label in row[1:-1]:
            assert row[0].startswith(label.rstrip("*"))


@pytest.mark.parametrize("how", [{"keep": [2, 3]}, {"keep": [0]}, {"mask": ""}, {"mask": "xx"}])
def test_prefix_lengths_fall(how):
    with pytest.raises(HierarchyError, match=r"Prefix lengths|mask"):
        hierarchy_builders.prefixes(["123"], **how)


@given(st.lists(st.dates(date(1890, 1, 1), date(2100, 1, 1)), min_size=1, max_size=30))
@settings(max_examples=60, deadline=None)
def test_dates_nest_from_day_to_decade(days):
    tree = hierarchy_builders.dates(days)
    assert tree.leaves == [day.isoformat() for day in sorted(set(days))]
    for row in tree.rows():
        assert row[0].startswith(row[1]) and row[1].startswith(row[3]) and row[2].startswith(row[3] + "-Q")
        assert row[4] == row[3][:3] + "0s"


def test_dates_are_read_from_text_and_times():
    assert hierarchy_builders.dates(["2024-05-01"], ["quarter", "year"]).rows() == [
        ["2024-05-01", "2024-Q2", "2024", "*"]
    ]
    moments = pl.Series([date(2024, 5, 1)]).cast(pl.Datetime)
    assert labels_at(hierarchy_builders.dates(moments, ["month"]), 1) == {str(moments.cast(pl.String)[0]): "2024-05"}


@pytest.mark.parametrize("levels", [["year", "month"], ["week"], []])
def test_calendar_levels_go_from_fine_to_coarse(levels):
    with pytest.raises(HierarchyError, match="fine to coarse"):
        hierarchy_builders.dates(["2024-05-01"], levels)


def test_groups_are_named_to_any_depth():
    tree = hierarchy_builders.grouped(
        {"married": ["present", "absent"], "single": {"was": ["divorced", "widowed"], "never": "never"}}
    )
    assert tree.rows() == [
        ["present", "present", "married", "*"],
        ["absent", "absent", "married", "*"],
        ["divorced", "was", "single", "*"],
        ["widowed", "was", "single", "*"],
        ["never", "never", "single", "*"],
    ]
    assert not isinstance(tree, BuiltHierarchy)


def test_neighbours_in_an_order_are_grouped():
    tree = hierarchy_builders.ordered(["none", "low", "middle", "high", "top"], 2, levels=2)
    assert labels_at(tree, 1) == {
        "none": "none .. low",
        "low": "none .. low",
        "middle": "middle .. high",
        "high": "middle .. high",
        "top": "top",
    }
    assert labels_at(tree, 2)["top"] == "top" and labels_at(tree, 2)["none"] == "none .. high"
    with pytest.raises(HierarchyError, match="twice"):
        hierarchy_builders.ordered(["a", "a"])
    with pytest.raises(HierarchyError, match="size of 2"):
        hierarchy_builders.ordered(["a", "b"], 1)


@given(st.lists(st.text(min_size=1, max_size=3), min_size=1, max_size=60), st.integers(2, 5))
@settings(max_examples=60, deadline=None)
def test_a_balanced_tree_has_few_children_at_every_node_and_is_shallow(values, fanout):
    distinct = sorted(set(values))
    tree = hierarchy_builders.balanced(distinct, fanout)
    assert tree.leaves == distinct
    for level in range(1, tree.height + 1):
        for node in set(tree.paths[:, level].tolist()):
            assert len(set(tree.paths[tree.first[node] : tree.last[node] + 1, level - 1].tolist())) <= fanout
    assert tree.height <= 2 + len(distinct).bit_length()


def test_a_balanced_tree_puts_frequent_values_near_the_root():
    tree = hierarchy_builders.balanced(list("abcdefgh"), rows=[1000, 1, 1, 1, 1, 1, 1, 1])
    assert tree.rows()[0] == ["a"] * (len(tree.rows()[0]) - 1) + ["*"]
    assert {row[-2] for row in tree.rows()} == {"a", "b .. h"}


def test_a_balanced_tree_sorts_numbers_as_numbers_and_orders_as_asked():
    assert hierarchy_builders.balanced(["10", "9", "100"]).leaves == ["9", "10", "100"]
    assert hierarchy_builders.balanced(["low", "high"], order=["low", "middle", "high"]).leaves == ["low", "high"]
    with pytest.raises(HierarchyError, match="1 of 2 distinct values are not in the order"):
        hierarchy_builders.balanced(["low", "high"], order=["low"])


def test_built_hierarchies_know_whether_they_stem_from_data():
    assert hierarchy_builders.intervals([1, 2]).is_from_data and hierarchy_builders.intervals([1, 2]).kind == "numeric"
    assert not hierarchy_builders.intervals(range(9), 3).is_from_data
    assert hierarchy_builders.dates(["2024-01-01"]).kind == "date"
    assert hierarchy_builders.prefixes(["ab"]).kind == "categorical"


@pytest.mark.parametrize(
    "given_", [pd.Series([1, 2, None]), pl.Series([1, 2, None]), [1, 2, None], [1.0, 2.0, float("nan")]]
)
def test_values_come_from_any_column_and_nulls_are_left_out(given_):
    assert [float(leaf) for leaf in hierarchy_builders.intervals(given_, 1).leaves] == [1, 2]


@pytest.mark.parametrize("nothing", [[], [None], pl.Series([], dtype=pl.Int64)])
def test_nothing_is_no_column(nothing):
    with pytest.raises(HierarchyError, match="no values"):
        hierarchy_builders.balanced(nothing)


def test_values_of_many_types_and_values_that_are_no_numbers_are_counted_and_not_quoted():
    with pytest.raises(HierarchyError) as caught:
        hierarchy_builders.intervals(["1", "CANARY", "2"])
    assert "1 of 3" in str(caught.value) and "CANARY" not in str(caught.value)
    with pytest.raises(HierarchyError) as caught:
        hierarchy_builders.balanced([1, "CANARY", {}])
    assert "CANARY" not in str(caught.value) and caught.value.__cause__ is None
    with pytest.raises(HierarchyError) as caught:
        hierarchy_builders.dates(["2024-01-01", "CANARY"])
    assert "CANARY" not in str(caught.value)


@pytest.mark.parametrize("made", [pl.DataFrame, pd.DataFrame, lambda table: pa.table(table)])
def test_a_frame_with_a_column_for_each_level_is_a_hierarchy(made):
    table = {"leaf": ["a", "b", "c"], "group": ["x", "x", "y"]}
    assert hierarchy_builders.from_frame(made(table)).rows() == [["a", "x", "*"], ["b", "x", "*"], ["c", "y", "*"]]
    assert hierarchy_builders.from_frame(made({**table, "all": ["any"] * 3})).rows()[0] == ["a", "x", "any"]


AMNESIA = """distinct
name occupation
type string
height 3

manual has farming building
office has clerk

Any has manual office
"""


def test_amnesia_text_is_read(tmp_path):
    path = tmp_path / "occupation.txt"
    path.write_text(AMNESIA)
    expected = [["farming", "manual", "Any"], ["building", "manual", "Any"], ["clerk", "office", "Any"]]
    assert hierarchy_builders.from_amnesia(path).rows() == hierarchy_builders.from_amnesia(AMNESIA).rows() == expected


def test_amnesia_ranges_take_the_values_of_the_data():
    text = "range\nname age\ntype int\nheight 3\n\n0,20 has 0,10 10,20\n20,40 has 20,40\n\n0,40 has 0,20 20,40\n"
    assert hierarchy_builders.from_amnesia(text, [1, 10, 15, 33]).rows() == [
        ["1", "[0, 10]", "[0, 20]", "*"],
        ["10", "[0, 10]", "[0, 20]", "*"],
        ["15", "[10, 20]", "[0, 20]", "*"],
        ["33", "[20, 40]", "[20, 40]", "*"],
    ]
    with pytest.raises(HierarchyError, match="1 of 2 distinct values lie in no range"):
        hierarchy_builders.from_amnesia(text, [1, 99])
    with pytest.raises(HierarchyError, match="needs the data's values"):
        hierarchy_builders.from_amnesia(text)


@pytest.mark.parametrize(
    "tree",
    [
        {
            "nodes": [
                {"id": 1, "label": "*"},
                {"id": 2, "label": "x"},
                {"id": 3, "label": "a"},
                {"id": 4, "label": "b"},
            ],
            "edges": [{"from": 1, "to": 2}, {"from": 2, "to": 3}, {"from": 2, "to": 4}],
        },
        {
            "nodeList": [{"id": "*"}, {"id": "x"}, {"id": "a"}, {"id": "b"}],
            "edgeList": [{"from": "*", "to": "x"}, {"from": "x", "to": "a"}, {"from": "x", "to": "b"}],
        },
        {"name": "*", "children": [{"name": "x", "children": ["a", "b"]}]},
        [{"text": "*", "children": [{"text": "x", "children": [{"text": "a"}, {"text": "b"}]}]}],
    ],
)
def test_trees_in_json_are_read(tree):
    import json

    assert hierarchy_builders.from_amnesia(json.dumps(tree, indent=1)).rows() == [["a", "x", "*"], ["b", "x", "*"]]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("something\nelse", "starts with `distinct` or `range`"),
        ("distinct\nA has", "Line 2"),
        ("distinct\nA has a\nB has b", "one root"),
        ("distinct\nA has a\nB has a\n* has A B", "two parents"),
        ('{"nodes"\n: ', "not valid JSON"),
        ('{"children":\n []}', "has no name"),
        ("range\n0;9 has 0;1", "end of a range must be a number"),
    ],
)
def test_what_is_no_amnesia_hierarchy_is_refused_with_the_place(text, said):
    with pytest.raises(HierarchyError, match=said):
        hierarchy_builders.from_amnesia(text, [1])


def test_a_job_asks_for_a_builder_by_name():
    tree = hierarchy_builders.build({"build": "edges", "edges": [18, 65]}, ["3", "40", "70"], [1, 2, 3], "age")
    assert labels_at(tree, 1) == {"3": "< 18", "40": "[18, 64]", "70": ">= 65"} and tree.request["build"] == "edges"
    assert hierarchy_builders.build({"build": "edges", "edges": [[18, 65], [18]]}, [3, 40]).height == 3
    for asked, said in [
        ({"build": "interval"}, "'intervals' instead"),
        ({}, "built by None"),
        ({"build": "intervals", "widht": 3}, "'width' instead"),
        ({"build": "edges"}, "lacks a parameter"),
        ({"build": "intervals", "width": -1}, "The hierarchy of 'age'"),
    ]:
        with pytest.raises(HierarchyError, match=said):
            hierarchy_builders.build(asked, [1, 2], name="age")


def test_a_hierarchy_cut_down_for_a_manifest_is_built_again_from_the_source():
    codes = ["11", "12", "21"]
    plain = ColumnEntry(name="zip", role="quasi-identifying", type="categorical")
    entry = plain.with_changes(hierarchy=[["1* (not shown)", "1*", "*"]], built={"build": "prefixes"})
    assert rebuild_hierarchy(entry, pl.Series(codes)).hierarchy == hierarchy_builders.prefixes(codes).rows()
    assert rebuild_hierarchy(plain, pl.Series(codes)) == plain


def test_a_built_hierarchy_is_saved_and_read_back(tmp_path):
    start = date(2023, 11, 5)
    tree = hierarchy_builders.dates([start + timedelta(days=9 * i) for i in range(30)])
    tree.save(tmp_path / "dates.csv")
    assert Hierarchy.read(tmp_path / "dates.csv").rows() == tree.rows()


def test_zip_beside_zip_plus_four_is_redacted_to_the_form_of_a_zip():
    rows = hierarchy_builders.prefixes(
        ["01234", "01234-5678", "01299", "94110", "94110-0001", "01234-9999"], keep=[5, 3, 1]
    ).rows()
    assert rows == [
        ["01234", "01234-****", "012**", "0****", "*"],
        ["01234-5678", "01234-****", "012**", "0****", "*"],
        ["01234-9999", "01234-****", "012**", "0****", "*"],
        ["01299", "01299", "012**", "0****", "*"],
        ["94110", "94110-****", "941**", "9****", "*"],
        ["94110-0001", "94110-****", "941**", "9****", "*"],
    ]


def test_no_label_of_an_extended_code_is_also_a_value():
    texts = ["12345", "12345-6789", "12346", "123456789", "12347-1111"]
    tree = hierarchy_builders.prefixes(texts)
    inner = {label for row in tree.rows() for label in row[1:] if label != row[0]}
    assert not inner & set(texts)


def test_codes_of_one_length_or_without_a_hyphen_are_redacted_as_before():
    assert hierarchy_builders.prefixes(["12345-6789", "12345-1111"], keep=[5]).rows()[0] == [
        "12345-1111",
        "12345*****",
        "*",
    ]
    assert hierarchy_builders.prefixes(["E11", "E11.9"], keep=[2]).rows()[1] == ["E11.9", "E1***", "*"]
