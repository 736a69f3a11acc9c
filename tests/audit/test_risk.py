"""Re-identification risk, on tables small enough to count by hand."""

from itertools import combinations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reticent.audit import audit, risk

TABLE = pl.DataFrame(
    {
        "age": ["30", "30", "30", "40", "40", "50"],
        "sex": ["f", "f", "m", "m", "m", "m"],
        "job": ["a", "b", "a", "a", "b", "b"],
    }
)


def test_prosecutor_and_marketer_are_counted_by_group():
    found = risk(TABLE, quasi=["age", "sex"], threshold="1/2")
    assert (found.rows, found.groups, found.sample_uniques) == (6, 4, 2)
    assert (found.prosecutor.highest, found.prosecutor.average, found.prosecutor.at_risk) == (
        1,
        4 / 6,
        2,
    )  # 1/2 is not above 1/2
    assert found.marketer == 4 / 6
    assert found.journalist is None
    assert risk(TABLE, quasi=["age", "sex"], threshold=0.49).prosecutor.at_risk == 6


def test_the_journalist_looks_at_the_population():
    people = pl.DataFrame({"age": ["30"] * 9 + ["40"] * 4 + ["50"], "sex": ["f"] * 4 + ["m"] * 10})
    found = risk(TABLE, quasi=["age", "sex"], population=people)
    assert found.journalist.highest == 1
    assert found.journalist.average == pytest.approx((2 / 4 + 1 / 5 + 2 / 4 + 1 / 1) / 6)
    assert found.marketer == found.journalist.average
    assert found.population_uniques == 1
    assert found.to_dict()["journalist"]["at_risk"] == 5


def test_a_key_separates_every_pair():
    found = risk(TABLE.with_columns(pl.Series("id", range(6))), quasi=["age", "sex", "id"])
    best = found.columns[0]
    assert (best.columns, best.distinction, best.separation) == (("id",), 1, 1)


@settings(deadline=None, max_examples=50)
@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xyz"), st.sampled_from("pq")), min_size=2, max_size=12)
)
def test_distinction_and_separation_are_what_their_definitions_say(rows):
    table = pl.DataFrame(rows, schema=["u", "v", "w"], orient="row")
    for one in risk(table).columns:
        at = ["uvw".index(name) for name in one.columns]
        values = [tuple(row[i] for i in at) for row in rows]
        pairs = list(combinations(values, 2))
        assert one.distinction == pytest.approx(len(set(values)) / len(rows))
        assert one.separation == pytest.approx(sum(a != b for a, b in pairs) / len(pairs))


def test_an_audit_includes_the_risk():
    found = audit(TABLE, quasi=["age", "sex"], sensitive=["job"]).to_dict()["risk"]
    assert found["sample_uniques"] == 2
    assert found["prosecutor"]["highest"] == 1
    assert len(found["columns"]) == 3


def test_a_table_without_roles_is_looked_at_whole():
    assert {one.columns for one in risk(TABLE, pairs=False).columns} == {("age",), ("sex",), ("job",)}
    assert "separates" in str(risk(TABLE))
