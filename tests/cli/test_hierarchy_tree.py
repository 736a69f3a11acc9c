"""A hierarchy as a tree of text, and held against data."""

import polars as pl

from reticent.cli.hierarchy_tree import draw_tree, fit_hierarchy
from reticent.data.hierarchy import Hierarchy
from reticent.data.hierarchy_builders import balanced, prefixes

TREE = Hierarchy.from_rows([["a", "x", "*"], ["b", "x", "*"], ["c", "y", "*"]])


def test_a_tree_is_drawn_with_its_branches():
    assert draw_tree(TREE) == "*  [3 values]\n├─ x  [2 values]\n│  ├─ a\n│  └─ b\n└─ y\n   └─ c"


def test_rows_are_counted_at_every_node():
    assert draw_tree(TREE, rows={"a": 1000, "c": 2}).splitlines()[:2] == [
        "*  [3 values]  (1,002 rows)",
        "├─ x  [2 values]  (1,000 rows)",
    ]


def test_many_leaves_are_cut_short_and_a_value_that_stands_for_itself_is_drawn_once():
    assert draw_tree(balanced(range(20), 20), leaves=3).splitlines()[-1] == "└─ ... 17 more"
    assert draw_tree(prefixes(["11", "12", "2"])).splitlines() == [
        "*  [3 values]",
        "├─ 1*  [2 values]",
        "│  ├─ 11",
        "│  └─ 12",
        "└─ 2",
    ]


def test_a_fit_counts_what_is_lacking_and_what_is_idle():
    found = fit_hierarchy(TREE, pl.Series(["a", "a", "c", "CANARY", None]))
    assert (found.distinct, found.rows, found.missing_rows, found.lacking_rows, found.unused) == (3, 5, 1, 1, 1)
    assert found.lacking == ("CANARY",) and not found.usable
    assert found.levels == (2, 2, 1) and found.smallest == (1, 1, 3)
    assert fit_hierarchy(TREE, ["a", "b"]).usable
