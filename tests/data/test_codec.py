"""Between values and codes: each type, nulls, guesses, and messages that count and never quote."""

from datetime import date, datetime
from decimal import Decimal

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reticent.data.codec import COUNT_COLUMN, build_coding, encode_cells
from reticent.data.columns import Column, quasi, sensitive
from reticent.data.domain import RangeDomain, TreeDomain
from reticent.errors import ColumnError, HierarchyError, JobError
from tests.support.strategies import AWKWARD

CANARY = "CANARY-7391"


def coded(values, column=None, dtype=None):
    series = pl.Series("q", values, dtype=dtype, strict=False)
    found = build_coding("q", column or quasi(), series, np.ones(len(series), np.int64))
    return found.domain, found.encode(series)


def texts_of(domain, codes):
    printed = [*domain.texts, *([None] if domain.null else [])]
    return [printed[code] for code in codes]


VALUES = {
    pl.Int64: st.integers(-(2**62), 2**62),
    pl.UInt8: st.integers(0, 255),
    pl.Float64: st.floats(-1e150, 1e150),
    pl.Boolean: st.booleans(),
    pl.String: st.one_of(st.text(max_size=4), st.sampled_from(AWKWARD)),
    pl.Date: st.dates(date(1900, 1, 1), date(2100, 1, 1)),
    pl.Datetime("us"): st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1)),
}


@pytest.mark.parametrize("dtype", VALUES, ids=str)
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_codes_are_ranks_and_lead_back_to_the_values_null_last(dtype, data):
    values = data.draw(st.lists(st.one_of(st.none(), VALUES[dtype]), min_size=1, max_size=12))
    domain, codes = coded(values, Column("quasi", type="categorical") if dtype == pl.String else None, dtype)
    assert domain.null == (None in values) and len(codes) == len(values)
    assert all(code == domain.null_code for code, value in zip(codes, values, strict=True) if value is None)
    known = [(value, code) for value, code in zip(values, codes.tolist(), strict=True) if value is not None]
    assert len({code for _, code in known}) == len({value for value, _ in known}) == len(domain.texts)
    for one, two in zip(sorted(known), sorted(known)[1:], strict=False):
        assert one[1] <= two[1]
    if dtype == pl.String:
        assert texts_of(domain, codes) == values


@given(st.lists(st.one_of(st.none(), st.integers(-(10**6), 10**6).map(lambda n: Decimal(n).scaleb(-2))), min_size=1))
@settings(max_examples=40, deadline=None)
def test_numbers_written_as_text_are_the_same_numbers(values):
    column = Column("quasi", type="numeric")
    written, codes = coded([None if v is None else f" {v} " for v in values], column, pl.String)
    numbers = [v for v in values if v is not None]
    order = {value: rank for rank, value in enumerate(sorted(set(numbers)))}
    assert codes.tolist() == [written.null_code if v is None else order[v] for v in values]


def test_two_spellings_of_a_number_are_one_code():
    domain, codes = coded(["1", "1.0", "01", "2"], Column("quasi", type="numeric"))
    assert codes.tolist() == [0, 0, 0, 1] and domain.size == 2


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["1", "2", "-3.5"], "numeric"),
        (["1", "2", "x"], "categorical"),
        (["01", "2"], "categorical"),
        (["2024-01-01"], "categorical"),
        (["1e5"], "categorical"),
        ([True, False], "categorical"),
        ([1.5], "numeric"),
        ([date(2024, 1, 1)], "date"),
        ([None], "categorical"),
        ([""], "categorical"),
    ],
)
def test_types_are_guessed_where_they_are_plain(values, kind):
    assert coded(values)[0].kind == kind


def test_a_code_with_leading_zeros_keeps_them():
    domain, _ = coded(["01234", "01235"])
    assert isinstance(domain, TreeDomain) and domain.texts == ("01234", "01235")


def test_categories_that_are_numbers_stand_in_the_order_of_numbers():
    assert coded([10, 9, 100], Column("quasi", type="categorical"))[0].texts == ("9", "10", "100")


def test_an_ordinal_column_has_the_order_it_is_given():
    domain, codes = coded(["high", "low", None], Column("quasi", order=["low", "middle", "high"]))
    assert isinstance(domain, RangeDomain) and codes.tolist() == [2, 0, 3] and domain.positions.tolist() == [0, 1, 2]
    with pytest.raises(ColumnError, match="1 of its 2 distinct values are not in its order"):
        coded(["low", CANARY], Column("quasi", order=["low"]))
    with pytest.raises(ColumnError, match="names a value twice"):
        coded(["low"], Column("quasi", order=["low", "low"]))


def test_dates_are_read_from_text_and_losses_count_days():
    domain, codes = coded(["2024-01-31", " 2024-01-01"], Column("quasi", type="date"))
    assert codes.tolist() == [1, 0] and domain.texts == ("2024-01-01", "2024-01-31")
    assert domain.positions[1] - domain.positions[0] == 30


def test_not_a_number_is_missing_and_infinity_is_refused():
    domain, codes = coded([1.0, float("nan"), None])
    assert domain.null and codes.tolist() == [0, 1, 1]
    with pytest.raises(ColumnError, match="infinite"):
        coded([1.0, float("inf")])


def test_zero_and_minus_zero_are_one_number():
    domain, codes = coded([0.0, -0.0, 1.0])
    assert domain.size == 2 and codes.tolist() == [0, 0, 1]


def test_a_declared_domain_holds_every_value():
    domain, _ = coded([5, 10], Column("quasi", type="numeric", domain=(0, 20)))
    assert domain.span == (0, 20) and domain.loss(np.array([0]), np.array([1])).tolist() == [0.25]
    with pytest.raises(ColumnError, match="1 distinct value lies outside"):
        coded([5, 77777], Column("quasi", type="numeric", domain=(0, 20)))


def test_a_null_in_a_sensitive_column_is_refused_unless_it_is_a_category():
    counted = pl.DataFrame({"q": [1, 2], "s": ["a", None], COUNT_COLUMN: [3, 4]})
    with pytest.raises(ColumnError, match="missing in 4 rows"):
        encode_cells(counted, {"q": quasi(), "s": sensitive()})
    cells, _ = encode_cells(counted, {"q": quasi(), "s": sensitive(missing="category")})
    assert cells.sensitive[0].null_code == 1 and cells.totals(0).tolist() == [3, 4]


@pytest.mark.parametrize(
    ("values", "column"),
    [
        (["1", CANARY], Column("quasi", type="numeric")),
        (["2024-01-01", CANARY], Column("quasi", type="date")),
        (["a", CANARY], Column("quasi", hierarchy=[["a", "*"]])),
        (["a", CANARY], Column("quasi", order=["a"])),
        (["1", CANARY], Column("quasi", hierarchy={"build": "intervals"})),
        (["a", CANARY], Column("quasi", type="numeric", hierarchy=[["1", "*"]])),
        ([[1], [2]], quasi()),
        ([{"a": CANARY}], quasi()),
    ],
)
def test_what_does_not_fit_is_counted_by_column_and_never_quoted(values, column):
    with pytest.raises((ColumnError, HierarchyError)) as caught:
        coded(values, column)
    assert CANARY not in str(caught.value) and "'q'" in str(caught.value)
    assert caught.value.__context__ is None or caught.value.__suppress_context__


@pytest.mark.parametrize("dtype", [pl.Boolean, pl.Time, pl.Null, pl.String, pl.Int64, pl.Date], ids=str)
def test_a_column_of_nothing_but_nulls_has_one_code_and_no_values(dtype):
    domain, codes = coded([None, None], None, dtype)
    assert domain.size == 1 and domain.texts == () and codes.tolist() == [0, 0] and domain.dtype == str(dtype)
    for kind in ("numeric", "date", "categorical"):
        assert coded([None, None], Column("quasi", type=kind), pl.Null)[0].size == 1


@pytest.mark.parametrize("dtype", [pl.Duration, pl.Binary, pl.List(pl.Int64)], ids=str)
def test_types_without_values_to_compare_are_refused_by_name(dtype):
    with pytest.raises(ColumnError, match="no values to compare"):
        coded([None], None, dtype)


def test_a_number_declared_a_date_is_refused():
    with pytest.raises(ColumnError, match="declared a date"):
        coded([1, 2], Column("quasi", type="date"))


def test_missing_rules_of_several_columns_are_listed_at_once():
    counted = pl.DataFrame({"p": ["a"], "q": ["b"], COUNT_COLUMN: [1]})
    with pytest.raises(HierarchyError) as caught:
        encode_cells(counted, {"p": quasi(hierarchy=[["x", "*"]]), "q": quasi(hierarchy=[["x", "*"]])})
    assert "'p'" in str(caught.value) and "'q'" in str(caught.value) and sorted(caught.value.values) == ["a", "b"]


@pytest.mark.parametrize("how", [{"type": "number"}, {"missing": "drop"}, {"type": "ordinal"}])
def test_an_unknown_declaration_is_refused(how):
    with pytest.raises(JobError):
        Column("quasi", **how)
