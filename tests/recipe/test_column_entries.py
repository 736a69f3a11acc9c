"""The few labels that say of a column what all its labels say: the manifest is the same."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reticent as rt
from reticent.recipe.column_entries import build_quasi_entry, select_telling_labels

WHOLE = pl.Series("a", [-12, -3, 0, 4, 7, 7, 19, 40, None])
TEXTS = pl.Series("a", ["a", "b, c", "*", '"', "", "south", "d", "e", "f", None])
DAYS = pl.Series("a", ["2024-01-31", "1999-12-01", "2030-06-05", None]).str.to_date()
TREE = [["a", "south", "*"], ["b, c", "south", "*"], ["d", "north", "*"], ["e", "north", "*"]]
NUMBERS = [["1", "low", "*"], ["2", "low", "*"], ["30", "high", "*"], ["40", "high", "*"]]
COLUMNS = {
    "numbers": (WHOLE, rt.quasi()),
    "fractions": (WHOLE.cast(pl.Float64) / 8, rt.quasi()),
    "declared numbers": (WHOLE, rt.quasi(domain=(-50, 50))),
    "bounded numbers": (WHOLE, rt.quasi(top=19)),
    "snapped": (WHOLE, rt.quasi(labels={"style": "snapped", "step": 5})),
    "days": (DAYS, rt.quasi()),
    "texts": (TEXTS, rt.quasi()),
    "sets": (TEXTS, rt.quasi(labels="sets")),
    "a tree": (pl.Series("a", ["a", "b, c", "d", "e", None]), rt.quasi(hierarchy=TREE)),
    "a tree of numbers": (pl.Series("a", [1, 2, 30, 40, None]), rt.quasi(hierarchy=NUMBERS)),
    "prefixes": (
        pl.Series("a", ["123", "124", "223", "299"]),
        rt.quasi(type="categorical", hierarchy={"build": "prefixes"}),
    ),
    "bands": (WHOLE, rt.quasi(hierarchy={"build": "intervals", "width": [5, 10, 20]})),
    "ordered": (pl.Series("a", ["low", "mid", "high", None]), rt.quasi(order=["low", "mid", "high"])),
}


@pytest.mark.parametrize("which", COLUMNS)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_the_entry_of_a_column_is_that_of_all_its_labels(which, data):
    values, column = COLUMNS[which]
    job = rt.Job(columns={"a": column}, promises=[rt.KAnonymity(2)])
    domain = rt.count(job, frame=values.to_frame()).quasi[0]
    spans = data.draw(st.lists(st.tuples(*[st.integers(0, domain.size - 1)] * 2), min_size=1, max_size=12))
    lower, upper = (np.array([end(span) for span in spans]) for end in (min, max))
    labels = domain.labels(lower, upper)
    if which == "sets":
        labels += domain.format_sets([list(range(low, high + 1)) for low, high in zip(lower, upper, strict=True)])
    few = select_telling_labels(domain, labels)
    assert build_quasi_entry(domain, few, column) == build_quasi_entry(domain, sorted(set(labels), key=str), column)
    assert len(few) <= 2 * domain.size + 8
