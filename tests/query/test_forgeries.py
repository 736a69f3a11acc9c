"""A question to files that were forged is refused: no crash, no answer, no label quoted."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from reticent.errors import BundleDamaged
from reticent.query import ask
from tests.query import worlds

ASKED = "SELECT COUNT(*) FROM release WHERE age < 3 AND town = 'a' AND pay > 10"


@pytest.mark.parametrize("label", ["[3, 1]", "[1, canary]", "canary", "[1, 99999999999999999999999999]", '"canary'])
def test_a_label_that_cannot_be_read_is_not_quoted(label):
    made = worlds.generalized(np.random.default_rng(1), 4)
    forged = {"data": made.tables["data"].with_columns(age=pl.lit(label))}
    with pytest.raises(BundleDamaged) as refused:
        ask(forged, made.manifest, ASKED)
    assert "canary" not in str(refused.value)


@pytest.mark.parametrize("kind", ["anatomized", "transformed"])
def test_groups_with_fewer_values_than_rows_are_refused(kind):
    made = worlds.grouped(np.random.default_rng(1), [3, 3], kind)
    forged = {**made.tables, "sensitive": made.tables["sensitive"].head(1).with_columns(count=pl.lit(1, pl.Int32))}
    with pytest.raises(BundleDamaged, match="lack values"):
        ask(forged, made.manifest, ASKED)
