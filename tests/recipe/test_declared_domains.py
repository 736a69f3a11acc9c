"""A manifest says of a sensitive column's domain what the steward declared, and never which values occur."""

from __future__ import annotations

import polars as pl
import pytest

import reticent as rt

PEOPLE = pl.DataFrame({"age": list(range(20, 60)), "score": [2, 3] * 20})


@pytest.mark.parametrize(
    ("declared", "stated"),
    [((0, 9), [0, 9]), (["0", "2", "3", "9"], None), (None, None)],
    ids=["a range", "a list", "nothing"],
)
def test_only_a_declared_range_of_a_sensitive_column_stands_in_the_manifest(declared, stated):
    columns = {"age": rt.quasi(), "score": rt.sensitive(type="numeric", domain=declared)}
    release = rt.publish(rt.Job(columns=columns, promises=[rt.KAnonymity(5)]), frame=PEOPLE, seed=1)
    entry = next(column for column in release.manifest.columns if column.name == "score")
    assert entry.domain == stated
