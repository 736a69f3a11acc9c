"""Published rows against source rows: a perfect matching, by regions and flow, against the oracle's augmenting paths."""

import tempfile
from pathlib import Path

import numpy as np
import polars as pl
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reticent.audit.groups import NumberedColumn
from reticent.audit.kind import auditor_for
from reticent.audit.row_matching import _join_disjoint_boxes, make_label_axes, match_rows
from reticent.audit.source_comparison import ComparedRows, InMemoryComparison
from reticent.audit.subject import read_folder_subject
from reticent.labels.cover import join_boxes, make_cover
from tests.oracle import labels as oracle_labels
from tests.oracle import row_matching as oracle
from tests.support import strategies
from tests.support.release_folders import columns_of, frame_of, write_release


@st.composite
def boxes_and_points(draw):
    columns = draw(st.integers(1, 3))
    sizes = [draw(st.integers(1, 7)) for _ in range(columns)]
    labels = [
        [sorted(draw(st.sets(st.integers(0, size - 1)))) for _ in range(draw(st.integers(1, 5)))] for size in sizes
    ]
    boxes = draw(st.lists(st.tuples(*(st.integers(0, len(held) - 1) for held in labels)), max_size=8))
    points = draw(st.lists(st.tuples(*(st.integers(0, size - 1) for size in sizes)), max_size=30))
    return sizes, labels, boxes, points


@settings(deadline=None, max_examples=200)
@given(boxes_and_points())
def test_a_join_of_boxes_and_points_finds_exactly_the_pairs_there_are(case):
    sizes, labels, boxes, points = case
    covers = [
        make_cover([np.array(held, np.int64) for held in column], size)
        for column, size in zip(labels, sizes, strict=True)
    ]
    found = join_boxes(
        covers, np.array(boxes, np.int64).reshape(-1, len(sizes)), np.array(points, np.int64).reshape(-1, len(sizes))
    )
    pairs = [
        (int(b), int(p)) for b, i, j in zip(found.box, found.start, found.stop, strict=True) for p in found.order[i:j]
    ]
    expected = {
        (b, p)
        for b, box in enumerate(boxes)
        for p, point in enumerate(points)
        if all(code in labels[c][box[c]] for c, code in enumerate(point))
    }
    assert len(pairs) == len(set(pairs))
    assert set(pairs) == expected
    assert found.covering().tolist() == [sum(p == q for _, q in expected) for p in range(len(points))]


def matched(table, released, source):
    """(ours, the oracle's): how many published rows find no source row."""
    subject = read_folder_subject(released)
    published = auditor_for(subject.kind).recount(subject, each_row=True, thorough=True)
    held = InMemoryComparison(published.frame, frame_of(source))
    rows = ComparedRows(held.ours), ComparedRows(held.frame)
    axes = make_label_axes(subject, published.labels, held)
    ours = match_rows(subject, axes, published.labels, *rows, held).unmatched
    columns = [
        oracle_labels.describe(
            table.columns[q]["kind"],
            [*table.column(q), *source.column(q)],
            table.columns[q]["hierarchy"],
            table.columns[q]["order"],
        )
        for q in table.quasi
    ]
    rows = [(tuple(row[q] for q in table.quasi), row["s"]) for row in published.frame.to_dicts()]
    theirs = [(tuple(row[q] for q in table.quasi), row["s"]) for row in source.rows]
    return ours, len(rows) - oracle.matched_rows(theirs, rows, columns)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(
    strategies.tables(least_rows=1, most_rows=25, missing_sensitive=True, awkward=True),
    st.integers(1, 5),
    st.sampled_from(["nodes", "sets"]),
    st.sampled_from([0.0, 0.3]),
    st.sampled_from(["parquet", "csv"]),
    st.integers(0, 99),
)
def test_a_release_stands_for_its_source(table, groups, labels, withhold, format, seed):
    with tempfile.TemporaryDirectory() as folder:
        path = write_release(
            Path(folder) / "r",
            frame_of(table),
            columns_of(table),
            groups=groups,
            labels=labels,
            withhold=withhold,
            format=format,
            seed=seed,
        )
        assert matched(table, path, table) == (0, 0)


@settings(deadline=None, max_examples=80, suppress_health_check=[HealthCheck.too_slow])
@given(
    strategies.tables(least_rows=2, most_rows=25, missing_sensitive=True, awkward=True), st.integers(1, 6), st.data()
)
def test_rows_that_stand_for_nobody_are_counted_as_the_oracle_counts_them(table, groups, data):
    """The same release against a source with other people in it."""
    kept = data.draw(st.lists(st.sampled_from(table.rows), min_size=1, max_size=25))
    other = strategies.Table(kept, table.columns, table.sensitive, table.quasi)
    with tempfile.TemporaryDirectory() as folder:
        path = write_release(Path(folder) / "r", frame_of(table), columns_of(table), groups=groups, labels="nodes")
        ours, theirs = matched(table, path, other)
    assert ours == theirs


def test_the_matching_runs_uncompiled(monkeypatch):
    """The kernel's own text, where no compiler was there."""
    import importlib.util

    from reticent.audit import row_matching

    path = Path(row_matching.__file__).parents[1] / "kernels" / "row_matching.py"
    spec = importlib.util.spec_from_file_location("row_matching_uncompiled", path)
    plain = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(plain)
    monkeypatch.setattr(row_matching, "row_matching", plain)
    rng = np.random.default_rng(1)
    sizes = [6, 6]
    labels = [[np.arange(a, b + 1) for a in range(6) for b in range(a, 6)]] * 2
    covers = [make_cover(held, size) for held, size in zip(labels, sizes, strict=True)]
    boxes = rng.integers(0, 21, (30, 2))
    points = np.array([(i, j) for i in range(6) for j in range(6)])
    regions = join_boxes(covers, boxes, points)
    supply = rng.integers(0, 5, 36)
    demand = rng.integers(0, 4, 30)
    compiled = row_matching._count_unserved_rows(regions, demand, supply)
    monkeypatch.undo()
    assert row_matching._count_unserved_rows(regions, demand, supply) == compiled


@settings(deadline=None, max_examples=150)
@given(boxes_and_points(), st.data())
def test_labels_joined_once_cover_what_boxes_with_values_cover(case, data):
    """Where no place lies under two groups; elsewhere the quick way says that it does not decide."""
    sizes, labels, boxes, points = case
    values = 3
    covers = [
        make_cover([np.array(held, np.int64) for held in column], size)
        for column, size in zip(labels, sizes, strict=True)
    ]
    covers.append(make_cover([np.array([value], np.int64) for value in range(values)], values))
    borne = st.integers(0, values - 1)
    box = np.array([(*one, data.draw(borne)) for one in boxes], np.int64).reshape(-1, len(sizes) + 1)
    point = np.array([(*one, data.draw(borne)) for one in points], np.int64).reshape(-1, len(sizes) + 1)
    box = np.unique(box, axis=0)
    point = np.unique(point, axis=0)
    numbered = [
        [NumberedColumn(rows[:, at], pl.Series(np.arange(many))) for at, many in enumerate(counts)]
        for rows, counts in ((box, [len(column) for column in labels]), (point, sizes))
    ]
    quick = _join_disjoint_boxes(covers, box, point, *numbered)
    slow = join_boxes(covers, box, point)
    if quick is None:
        groups = np.unique(box[:, :-1], axis=0)
        places = np.unique(point[:, :-1], axis=0)
        assert (join_boxes(covers[:-1], groups, places).covering() > 1).any()
        return
    pairs = [set(zip(*(part.tolist() for part in found.pairs()), strict=True)) for found in (quick, slow)]
    assert pairs[0] == pairs[1]
    assert quick.covering().tolist() == slow.covering().tolist()
