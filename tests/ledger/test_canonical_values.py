"""Values that mean the same are one text, however a source writes them."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import polars as pl
import pytest

from reticent.ledger.fingerprint import canonicalize, canonicalize_text

SAME = [
    ("1", [1, 1.0, Decimal("1.00"), "1", " 1 ", "+1", "1.0", "1.", "01", "1e0"]),
    ("-12", [-12, -12.0, "-12", "-012.000"]),
    ("0", [0, 0.0, -0.0, "-0", "0.0"]),
    ("0.1", [0.1, "0.1", ".1", "0.10", "1e-1", Decimal("0.10")]),
    ("123456789012345678", [123456789012345678, "123456789012345678"]),
    ("2001-02-03", [date(2001, 2, 3), datetime(2001, 2, 3), "2001-02-03", "2001-02-03 00:00", "2001-02-03T00:00:00.0"]),
    ("2001-02-03T10:30:00.5", [datetime(2001, 2, 3, 10, 30, 0, 500_000), "2001-02-03 10:30:00.5"]),
    ("true", [True, "true", "True", "TRUE "]),
    ("A 1", ["A 1", " A 1"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "values"), SAME, ids=[text for text, _ in SAME])
def test_values_that_mean_the_same_agree(text, values):
    for value in values:
        assert canonicalize(pl.Series([value])) == [text]


def test_single_precision_is_read_as_it_is_printed():
    assert canonicalize(pl.Series([0.1, 3.0], dtype=pl.Float32)) == ["0.1", "3"]


def test_a_moment_with_a_zone_is_told_in_universal_time():
    moment = pl.Series([datetime(2001, 2, 3)]).dt.replace_time_zone("Europe/Berlin")
    assert canonicalize(moment) == ["2001-02-02T23:00:00"]


@pytest.mark.parametrize("text", ["", "?", "1,5", "1 2", "12-13", "1e9999", "--1", "2001-02-03 late", "9" * 5_000, "٣"])
def test_any_text_is_read(text):
    assert isinstance(canonicalize_text(text), str)
    assert canonicalize_text(canonicalize_text(text)) == canonicalize_text(text)
