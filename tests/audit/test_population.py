"""Records under labels: k-map and non-uniform entropy, against the oracle."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reticent.audit import audit
from tests.oracle import labels as oracle_labels
from tests.oracle import loss, measures
from tests.support import strategies
from tests.support.release_folders import columns_of, frame_of, write_release

LENIENT = settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])


def described(table, people):
    return [
        oracle_labels.describe(
            table.columns[q]["kind"],
            [*table.column(q), *people.column(q)],
            table.columns[q]["hierarchy"],
            table.columns[q]["order"],
        )
        for q in table.quasi
    ]


@LENIENT
@given(strategies.tables(least_rows=1, most_rows=20), st.integers(1, 5), st.data())
def test_k_map_is_the_oracles(table, groups, data):
    people = strategies.Table(
        data.draw(st.lists(st.sampled_from(table.rows), min_size=1, max_size=30)), table.columns, "s", table.quasi
    )
    with tempfile.TemporaryDirectory() as folder:
        path = write_release(
            Path(folder) / "r", frame_of(table), columns_of(table), [{"model": "k-map", "k": 2}], groups=groups
        )
        found = audit(path, population=frame_of(people)).promises[0]
        from reticent.release.release import open as open_release

        labels = [tuple(row[q] for q in table.quasi) for row in open_release(path).frame().to_dicts()]
    expected = measures.k_map(
        labels, [tuple(row[q] for q in table.quasi) for row in people.rows], described(table, people)
    )
    assert found.achieved == {"k": expected}
    assert found.kept == (expected >= 2)


@LENIENT
@given(strategies.tables(least_rows=2, most_rows=20, carried=True), st.integers(1, 4))
def test_non_uniform_entropy_is_the_oracles(table, groups):
    """A carried column of its own value for each row tells the oracle which source row is behind a published one."""
    rows = [{**row, "c": str(i)} for i, row in enumerate(table.rows)]
    table = strategies.Table(rows, table.columns, "s", table.quasi)
    with tempfile.TemporaryDirectory() as folder:
        path = write_release(Path(folder) / "r", frame_of(table), columns_of(table), groups=groups)
        found = audit(path, source=frame_of(table))
        from reticent.release.release import open as open_release

        published = open_release(path).frame().to_dicts()
    pairs = [
        (tuple(row[q] for q in table.quasi), tuple(rows[int(row["c"])][q] for q in table.quasi)) for row in published
    ]
    assert found.source.unmatched == 0
    assert found.utility["entropy"] == pytest.approx(loss.non_uniform_entropy(pairs, described(table, table)), abs=1e-9)
