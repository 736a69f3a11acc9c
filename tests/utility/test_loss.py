"""Information loss from published labels, against the oracle's fractions."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from reticent.audit import audit
from reticent.data.label_styles import use_tight_labels
from tests.oracle import labels as oracle_labels
from tests.oracle import loss as oracle
from tests.oracle.groups import group_rows, rows_of
from tests.support import strategies
from tests.support.release_folders import columns_of, frame_of, write_release


def oracle_columns(table, rows):
    """What the recipient knows of each column: the source's, cut down to what is published where the manifest is."""
    return [
        oracle_labels.describe(
            table.columns[q]["kind"], table.column(q), table.columns[q]["hierarchy"], table.columns[q]["order"]
        )
        for q in table.quasi
    ]


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(
    strategies.tables(least_rows=2, missing=False),
    st.integers(1, 4),
    st.sampled_from(["nodes", "sets"]),
    st.integers(0, 9),
)
def test_ail_dm_c_avg_and_precision_are_the_oracles(table, groups, labels, seed):
    with tempfile.TemporaryDirectory() as folder:
        path = write_release(
            Path(folder) / "r",
            frame_of(table),
            use_tight_labels(columns_of(table)),
            groups=groups,
            labels=labels,
            seed=seed,
            withhold=0.0,
        )
        found = audit(path).utility
        from reticent.release.release import open as open_release

        release = open_release(path)
        published = release.frame().to_dicts()
        # The manifest's flat values and ranges are what is published: where `*` hides a leaf, the reader knows fewer.
        assume(all(_known(release.columns, table, q) for q in table.quasi))
    rows = rows_of(published, table.quasi, "s")
    sizes = {labels_: sum(histogram.values()) for labels_, histogram in group_rows(rows).items()}
    columns = oracle_columns(table, rows)
    assert found["ail"] == pytest.approx(float(oracle.ail(sizes, columns)))
    assert found["dm"] == oracle.discernibility(sizes)
    assert found["dm_star"] == oracle.discernibility_star(sizes)
    assert found["c_avg"] == pytest.approx(float(oracle.c_avg(sizes)))
    assert found["precision"] == pytest.approx(float(oracle.precision(sizes, columns)))


def _known(columns, table, q):
    entry = next(column for column in columns if column.name == q)
    if entry.values is not None:
        return set(entry.values) == {str(v).lower() if isinstance(v, bool) else str(v) for v in table.column(q)}
    return True
