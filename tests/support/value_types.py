"""Types of columns with awkward values: each is published in every role, kind and format, or refused by name before counting."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import polars as pl

import reticent as rt

ROWS = 24


def series(values: list[Any], dtype: Any = None) -> pl.Series:
    return pl.Series([values[at % len(values)] for at in range(ROWS)], dtype=dtype)


TYPES = {
    "UInt64": series([0, 2**63, 2**64 - 1, 7], pl.UInt64),
    "UInt64 near 2^64": series([2**64 - 1, 2**64 - 3, 2**64 - 9, 2**64 - 40], pl.UInt64),
    "UInt64 near 2^64 with nulls": series([2**64 - 1, 2**64 - 3, None, 2**64 - 40], pl.UInt64),
    "UInt64 of hashes": series([18446744073709551557, 12345678901234567890, 9876543210987654321, 17], pl.UInt64),
    "Int64 near 2^63 with nulls": series([2**63 - 1, 2**63 - 2, None, 2**63 - 7], pl.Int64),
    "Int64 near -2^63": series([-(2**63), -(2**63) + 1, -(2**63) + 9], pl.Int64),
    "Int64": series([-(2**63), 2**63 - 1, 0, 2**53 + 1], pl.Int64),
    "Int8": series([-128, 127, 0, 1], pl.Int8),
    "Float64": series([-0.0, 0.5, 1.5, 1e100]),
    "Float64 of all sizes": series([5e-324, 0.1, 1e16, 1 / 3]),
    "Float64 with NaN": series([float("nan"), 0.5, 1.5, 2.5]),
    "Float32": series([-0.0, 0.1, 16777217.0, 1 / 3], pl.Float32),
    "Decimal": series([Decimal(1) / 4, Decimal(2), Decimal("0.10"), Decimal("-3")], pl.Decimal(20, 2)),
    "Boolean": series([True, False]),
    "Boolean with nulls": series([True, False, None]),
    "Date": series([date(1, 1, 1), date(9999, 12, 31), date(2020, 2, 29)]),
    "Datetime of nanoseconds": series([1, 2, 3, 4]).cast(pl.Datetime("ns")),
    "Datetime": series([datetime(2020, 1, 1, 1, 1, 1, at) for at in range(4)]),
    "Datetime of a zone": series([datetime(2020, 1, at + 1) for at in range(4)]).dt.replace_time_zone("Europe/Berlin"),
    "Time": series([time(0), time(23, 59, 59), time(1)]),
    "Categorical": series(["a", "b", "", "d"], pl.Categorical),
    "Enum": series(list("abcd"), pl.Enum(list("dcba"))),
    "String of marks": series(["a,b", '"', "x\ny", "*"]),
    "String of labels": series(["[1, 2]", "{a, b}", " a", "a "]),
    "String of escapes": series(["\x01", "\r", "\x1b[31m", "\u202e"]),
    "String of formulas": series(["=cmd|x", "+1+1", "'=1", "@x"]),
    "String of numbers": series(["1", "01", "1.0", "1e0"]),
    "String of 20 digits": series([str(2**63), str(10**20), str(2**64 + 1), "5"]),
    "String of 19 digits": series([str(10**18), str(10**18 + 1), str(10**18 + 2), "5"]),
    "String of decimals": series(["0." + "1" * 30, "0." + "1" * 29 + "2", "0.5"]),
    "String with nulls": series(["a", None, "b", "c"]),
    "String with empty ones": series(["", "a", "b", "c"]),
    "Null": series([None]),
}
MORE_TYPES = {
    "UInt8": series([0, 255, 1, 7], pl.UInt8),
    "UInt16": series([0, 65535, 1, 7], pl.UInt16),
    "UInt32": series([0, 2**32 - 1, 1, 7], pl.UInt32),
    "Int16": series([-32768, 32767, 0, 1], pl.Int16),
    "Int32": series([-(2**31), 2**31 - 1, 0, 1], pl.Int32),
    "Int64 of codes": series([999, 20, 35, 41]),
    "Float64 of cents": series([0.1, 0.2, 10.1, 1.05]),
    "Float64 with nulls": series([0.5, None, 1.5, 2.5]),
    "Decimal of many places": series([Decimal("0.0001"), Decimal("12.3400"), Decimal("-7")], pl.Decimal(20, 4)),
    "Date with nulls": series([date(1950, 1, 1), None, date(2020, 2, 29)]),
    "Datetime of milliseconds": series([1, 1000, 86_400_000]).cast(pl.Datetime("ms")),
    "Datetime before 1970": series([datetime(1900, 1, 1), datetime(1969, 12, 31, 23, 59, 59), datetime(1970, 1, 1)]),
    "Categorical with nulls": series(["a", None, "c"], pl.Categorical),
    "String of decimal texts": series(["0.10", "10.10", "1.05", "0.20"]),
    "String of codes": series(["007", "7", "070", "0700"]),
    "String of days": series(["2020-01-01", "2020-02-29", "1999-12-31"]),
    "String of moments": series(["2020-01-01T00:00:00", "2020-01-01 12:00:00", "1999-12-31T23:59:59"]),
    "String of money": series(["$1,000", "$20", "$3.50"]),
    "String of shares": series(["10%", "20%", "5.5%"]),
    "String of signs": series(["-1", "+1", "−1", "~1"]),
    "String of cases": series(["ulm", "Ulm", "ULM", "uLm"]),
    "String of accents": series(["Zürich", "Zu\u0308rich", "Zurich"]),
    "String of emoji": series(["👩‍⚕️", "🧑", "x", "漢字"]),
    "String of truth": series(["true", "false", "True"]),
    "String of words for nothing": series(["nan", "null", "None", "NA"]),
    "String of long texts": series(["x" * 2_000, "y" * 2_000, "z"]),
    "String of lists": series(["a;b", "a|b", "a\tb"]),
    "String of markup": series(["<b>a</b>", "&amp;", "`a`", "| a |"]),
}
"""Further ones: fifty-six in all; the suite tries a few cells of each, `make hostile` all."""
REFUSED = {
    "Int128": series([1, 2, 3], pl.Int128),
    "List": series([[1, None], [2]]),
    "Struct": series([{"a": 1, "b": None}, {"a": 2, "b": None}]),
    "Binary": series([b"\xfa", b"\xfb"]),
    "Duration": series([timedelta(days=1), timedelta(days=2)]),
}
KINDS = {
    "generalized": (None, rt.KAnonymity(2)),
    "anatomized": (rt.Anatomy(), rt.ProbabilisticLDiversity(2)),
    "perturbed": (rt.BetaPerturbation(), rt.BetaLikeness(4)),
    "sampled": (rt.PerturbedGeneralization(k=2), rt.DeltaGrowth(delta="0.9", lambda_="0.5")),
    "transformed": (rt.Distribution(), rt.PPrivacy("uniform")),
}
ROLES = ("identifying", "quasi-identifying", "sensitive", "insensitive")


def table(held: pl.Series) -> pl.DataFrame:
    return pl.DataFrame({"q": [at % 6 for at in range(ROWS)], "s": ["xyz"[at % 3] for at in range(ROWS)]}).with_columns(
        c=held
    )


def _texts(held: pl.Series) -> list[str] | None:
    """The values as texts, for a domain to be declared; None where there are fewer than two."""
    if held.dtype in (pl.List, pl.Struct, pl.Binary, pl.Duration):
        return None
    texts = held.cast(pl.String).drop_nulls().unique(maintain_order=True).to_list()
    return texts if len(texts) > 1 else None


def job(held: pl.Series, role: str, kind: str, format: str) -> rt.Job:
    """The column under test is `c`; beside it stand a quasi-identifier and, unless it is one itself, a sensitive column."""
    method, promise = KINDS[kind]
    missing = held.null_count() > 0 or (held.dtype.is_float() and held.is_nan().any())
    more: dict[str, Any] = {"acknowledge": True} if role == "insensitive" else {}
    more |= {"missing": "category"} if role == "sensitive" and missing else {}
    other = "identifying" if role == "sensitive" else "sensitive"
    declared: dict[str, Any] = {}
    if kind == "sampled" and role == "sensitive":
        more |= {"domain": _texts(held)}
    elif kind == "sampled":
        declared = {"domain": list("wxyz")}
    columns = {"q": rt.quasi(numeric=True), "s": rt.Column(other, **declared), "c": rt.Column(role, **more)}
    return rt.Job(columns=columns, promises=[promise], method=method, release=rt.Output(format=format))
