"""Every type of column is published in its role, or refused by its name before a row is counted."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from decimal import Decimal

import polars as pl
import pytest

import reticent as rt
from reticent.engines import local
from reticent.errors import ColumnError

N = 24
ROLES = {
    "identifying": rt.identifying(),
    "quasi-identifying": rt.quasi(),
    "sensitive": rt.sensitive(),
    "insensitive": rt.insensitive(acknowledge=True),
}
FINE = {
    "Int8": pl.Series([i % 4 for i in range(N)], dtype=pl.Int8),
    "UInt64": pl.Series([2**63 + i % 4 for i in range(N)], dtype=pl.UInt64),
    "Float32": pl.Series([i % 4 / 3 for i in range(N)], dtype=pl.Float32),
    "Decimal": pl.Series([Decimal(i % 4) / 4 for i in range(N)], dtype=pl.Decimal(38, 2)),
    "String": pl.Series(["abcd"[i % 4] for i in range(N)]),
    "Categorical": pl.Series(["abcd"[i % 4] for i in range(N)], dtype=pl.Categorical),
    "Enum": pl.Series(["abcd"[i % 4] for i in range(N)], dtype=pl.Enum(list("abcd"))),
    "Boolean": pl.Series([i % 2 == 0 for i in range(N)]),
    "Date": pl.Series([date(2020, 1, 1 + i % 4) for i in range(N)]),
    "Datetime": pl.Series([datetime(2020, 1, 1 + i % 4) for i in range(N)]),
    "Time": pl.Series([time(i % 4) for i in range(N)]),
}
COUNTED_ONLY = {
    "Int128": pl.Series([i % 4 for i in range(N)], dtype=pl.Int128),
    "UInt128": pl.Series([i % 4 for i in range(N)]).cast(pl.UInt128),
    "Float16": pl.Series([i % 4 for i in range(N)]).cast(pl.Float16),
}
REFUSED = {
    "List": pl.Series([[i % 4] for i in range(N)]),
    "Array": pl.Series([[i % 4] for i in range(N)], dtype=pl.Array(pl.Int64, 1)),
    "Struct": pl.Series([{"a": i % 4} for i in range(N)]),
    "Binary": pl.Series([bytes([250 + i % 4]) for i in range(N)]),
    "Duration": pl.Series([timedelta(days=i % 4) for i in range(N)]),
    "Object": pl.Series([object() for i in range(N)], dtype=pl.Object),
}


def published(held: pl.Series, column: rt.Column, **more) -> rt.Release:
    frame = pl.DataFrame({"q": [i % 6 for i in range(N)], "s": ["xyz"[i % 3] for i in range(N)]}).with_columns(c=held)
    other = rt.insensitive(acknowledge=True) if column.role == "sensitive" else rt.sensitive()
    columns = {"q": rt.quasi(numeric=True), "s": other, "c": column}
    return rt.publish(rt.Job(source=rt.Source(), columns=columns, promises=[rt.KAnonymity(2)], **more), frame=frame)


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("name", FINE)
def test_a_supported_type_is_published_in_every_role(name, role):
    frame = published(FINE[name], ROLES[role]).frame()
    assert ("c" in frame.columns) == (role != "identifying")
    if role in ("sensitive", "insensitive"):
        held = FINE[name].cast(pl.String) if name in ("Categorical", "Enum") else FINE[name]
        assert frame["c"].dtype == held.dtype
        assert sorted(frame["c"].to_list()) == sorted(held.to_list())


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("name", COUNTED_ONLY)
def test_a_number_that_no_file_holds_may_identify_and_nothing_else(name, role):
    if role == "identifying":
        assert "c" not in published(COUNTED_ONLY[name], ROLES[role]).frame().columns
    else:
        with pytest.raises(ColumnError, match=rf"'c' \({role}\) has the type {name}\b.*\n.*\n.*instead of {name}"):
            published(COUNTED_ONLY[name], ROLES[role])


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("name", REFUSED)
def test_a_type_without_a_printed_form_is_refused_by_name_before_counting(name, role, monkeypatch):
    monkeypatch.setattr(local, "count_rows", None)
    with pytest.raises(ColumnError, match=rf"1 column has a type.*'c' \({role}\) has the type {name}\b"):
        published(REFUSED[name], ROLES[role])


@pytest.mark.parametrize("name", COUNTED_ONLY)
def test_rounding_makes_a_number_that_can_be_published(name):
    frame = published(COUNTED_ONLY[name], rt.insensitive(round_to=2, acknowledge=True)).frame()
    assert frame["c"].dtype == pl.Int64
    assert set(frame["c"]) == {0, 2, 4}


def test_numbers_beyond_double_precision_are_not_rounded_wrongly():
    for held in (FINE["UInt64"], pl.Series([10**30] * N, dtype=pl.Int128)):
        with pytest.raises(ColumnError, match=f"{N} of its values are beyond 2"):
            published(held, rt.insensitive(round_to=2, acknowledge=True))


@pytest.mark.parametrize("name", ["Date", "Datetime", "Time"])
def test_dates_and_times_are_not_rounded_as_numbers(name):
    with pytest.raises(ColumnError, match="only numbers can be"):
        published(FINE[name], rt.insensitive(round_to=2, acknowledge=True))


def test_a_time_of_day_is_no_date():
    with pytest.raises(ColumnError, match="declared a date, but 4 of its 4"):
        published(FINE["Time"], rt.quasi(type="date"))
