"""Hierarchies: every fault is listed at once, whatever the delimiter, and leaves are coded in pre-order."""

import csv
import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reticent.data.hierarchy import Hierarchy, sniff_delimiter
from reticent.errors import HierarchyError
from tests.support.strategies import names, trees

shuffled_trees = names("v", 1, 12).flatmap(lambda values: trees(values, 4))


@given(shuffled_trees)
@settings(max_examples=150, deadline=None)
def test_nodes_are_intervals_of_leaves_in_pre_order(rows):
    tree = Hierarchy.from_rows(rows)
    path = {row[0]: tuple(row) for row in rows}
    assert sorted(tree.leaves) == sorted(path) and tree.height == len(rows[0]) - 1
    assert [tuple(row) for row in tree.rows()] == [path[leaf] for leaf in tree.leaves]
    for code, leaf in enumerate(tree.leaves):
        for level, node in enumerate(tree.paths[code].tolist()):
            assert tree.labels[node] == path[leaf][level]
            under = [other for other in tree.leaves if path[other][level:] == path[leaf][level:]]
            assert tree.leaves[tree.first[node] : tree.last[node] + 1] == under


@given(shuffled_trees)
@settings(max_examples=50, deadline=None)
def test_rows_repeated_or_in_pre_order_change_nothing(rows):
    tree = Hierarchy.from_rows(rows)
    again = Hierarchy.from_rows(tree.rows() + tree.rows())
    assert again.rows() == tree.rows() and np.array_equal(again.paths, tree.paths)


@given(shuffled_trees, st.sampled_from(";,\t|"), st.booleans())
@settings(max_examples=60, deadline=None)
def test_any_usual_delimiter_is_sniffed(rows, mark, crlf):
    text = io.StringIO()
    csv.writer(text, delimiter=mark, lineterminator="\r\n" if crlf else "\n").writerows(rows)
    assert sniff_delimiter(text.getvalue()) == mark


def test_a_delimiter_inside_labels_does_not_mislead():
    assert sniff_delimiter("a;x, y;*\nb;z;*\n") == ";"
    assert sniff_delimiter("1;[1, 2];*\n2;[1, 2];*\n3;[3, 4];*\n") == ";"
    assert sniff_delimiter('a,"x;y",*\nb,"x;z",*\n') == ","


@given(shuffled_trees)
@settings(max_examples=20, deadline=None)
def test_a_saved_hierarchy_reads_back(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("hierarchy") / "h.csv"
    tree = Hierarchy.from_rows([[f"{cell} ;é" if cell != "*" else cell for cell in row] for row in rows])
    tree.save(path)
    assert Hierarchy.read(path).rows() == tree.rows()


def test_a_byte_order_mark_and_blank_lines_are_no_labels(tmp_path):
    path = tmp_path / "h.csv"
    path.write_bytes("\ufeffa;*\n\nb;*\n;\n".encode())
    assert Hierarchy.read(path).leaves == ["a", "b"]


@pytest.mark.parametrize(
    ("rows", "faults"),
    [
        ([], ["no rows"]),
        ([["a"], ["b"]], ["one column"]),
        ([["a", "*"], ["b", "x", "*"]], ["ragged rows: 1 row of 2, 1 row of 3"]),
        ([["a", "", "*"], ["b", "x", "*"]], ["1 row holds an empty label"]),
        ([["a", "*"], ["b", "all"]], ["2 different roots"]),
        ([["a", "x", "*"], ["a", "y", "*"]], ["1 value stands in several rows"]),
        ([["a", "x", "p", "*"], ["b", "x", "q", "*"]], ["level 1 has 1 label with several parents"]),
        (
            [["a", "x", "p", "*"], ["b", "x", "q", "*"], ["a", "", "p", "all"], ["c", "*"]],
            ["ragged rows", "empty label", "2 different roots", "several rows", "several parents"],
        ),
    ],
)
def test_every_fault_is_listed_at_once(rows, faults):
    with pytest.raises(HierarchyError) as caught:
        Hierarchy.from_rows(rows, "job")
    for fault in faults:
        assert fault in str(caught.value)
    assert "'job'" in str(caught.value)


def test_faulty_labels_are_kept_for_those_who_ask_and_out_of_the_message():
    with pytest.raises(HierarchyError) as caught:
        Hierarchy.from_rows([["CANARY", "x", "*"], ["CANARY", "y", "*"], ["b", "x", "*"]])
    assert "CANARY" not in str(caught.value) and "CANARY" in caught.value.values


@pytest.mark.parametrize(
    ("content", "said"),
    [(None, "cannot be read"), (b"\xff\xfea", "not UTF-8"), (b"", "no rows"), (b'a;"x\nb;*', "is no CSV")],
)
def test_a_file_that_is_no_hierarchy_is_refused(tmp_path, content, said):
    path = tmp_path / "h.csv"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(HierarchyError, match=said):
        Hierarchy.read(path, "job")


def test_what_is_neither_file_nor_rows_is_refused():
    for nonsense in (5, {"a": "b"}, object()):
        with pytest.raises(HierarchyError):
            Hierarchy.of(nonsense)
