"""Values that the schema of a sensitive column does not know are damage, and are told without being quoted."""

import polars as pl
import pytest

from reticent.audit import audit
from reticent.data.columns import Column, quasi, sensitive
from reticent.errors import BundleDamaged


def audited(column: Column, values: list[str]):
    table = pl.DataFrame({"age": ["[20, 29]"] * len(values), "pain": values})
    return audit(table, columns={"age": quasi(), "pain": column}, promises=[{"model": "k-anonymity", "k": 2}])


@pytest.mark.parametrize(
    "column",
    [sensitive(order=["low", "high"]), sensitive(hierarchy=[["low", "*"], ["high", "*"]])],
    ids=["an order", "a hierarchy"],
)
def test_a_value_beside_those_that_are_listed_is_damage(column):
    with pytest.raises(BundleDamaged, match="Column 'pain' holds 1 value") as caught:
        audited(column, ["low", "high", "unheard-of"])
    assert "unheard-of" not in str(caught.value)


def test_a_text_among_numbers_is_damage():
    with pytest.raises(BundleDamaged, match="Column 'pain' is numeric") as caught:
        audited(sensitive(type="numeric"), ["1", "2", "unheard-of"])
    assert "unheard-of" not in str(caught.value)
