"""Amounts: units that differ are refused, and numbers that rounding or a bound takes away are told of, by counts."""

from __future__ import annotations

import polars as pl
import pytest

import reticent as rt
from reticent.data.source import Source
from reticent.errors import ColumnError, JobError
from reticent.job.draft import draft_job
from tests.support.spark_session import spark

ROWS = 120


def people(**more):
    return pl.DataFrame({"age": [20 + at % 60 for at in range(ROWS)], "illness": ["flu", "cold", "gout"] * 40, **more})


def job(**columns):
    return rt.Job(columns={"age": rt.quasi(), "illness": rt.sensitive(), **columns}, promises=[rt.KAnonymity(4)])


UNITS = {
    "a sign and its letters": ["$1,200", "USD 1,300"],
    "two signs": ["$1,200", "€1,300"],
    "four of them": ["$1,200", "USD 1,300", "£1,400", "1,500 €"],
    "two letters": ["1,200 EUR", "1,300 CHF"],
    "two in one value": ["$1,200 EUR", "$1,300"],
}


@pytest.mark.parametrize("engine", ["local", "stream"])
@pytest.mark.parametrize("role", [rt.quasi, rt.sensitive, rt.insensitive])
@pytest.mark.parametrize("what", UNITS)
def test_amounts_in_several_units_are_refused_with_how_many_have_each(what, role, engine):
    written = UNITS[what]
    frame = people(pay=[written[at % len(written)] for at in range(ROWS)])
    columns = {"pay": role(format="1,234.5")}
    if role is rt.sensitive:
        columns["illness"] = rt.identifying()
    with pytest.raises(ColumnError, match=r"units: of .* distinct ones \d in") as refused:
        rt.publish(job(**columns), frame=frame, engine=engine)
    assert "1,200" not in str(refused.value)


@pytest.mark.parametrize(
    "written", [["$1,200", "$ 1,300"], ["1,200", "$1,300"], ["1,200", "1,300"], ["1,200 USD", "USD 1,300"]]
)
def test_amounts_in_one_unit_are_numbers(written):
    frame = people(pay=[written[at % 2] for at in range(ROWS)])
    release = rt.publish(job(pay=rt.quasi(format="1,234.5")), frame=frame, seed=1)
    entry = next(entry for entry in release.columns if entry.name == "pay")
    assert entry.type == "numeric" and entry.domain == [1200, 1300]


def test_a_draft_proposes_rates_for_amounts_in_several_units(tmp_path):
    for name, written in (("mixed", ["$1,200.50", "€1,300.50"]), ("same", ["$1,200.50", "$1,300.50"])):
        people(pay=[written[at % 2] for at in range(ROWS)]).write_csv(tmp_path / f"{name}.csv")
        found = {column.name: column for column in draft_job(Source(path=str(tmp_path / f"{name}.csv"))).columns}
        assert found["pay"].declared["format"] == "1,234.5"
        assert found["pay"].declared.get("rates") == ({"$": 1, "€": "missing"} if name == "mixed" else None)


@pytest.mark.parametrize("engine", ["local", "stream"])
@pytest.mark.parametrize("format", [None, "1,234.5"])
def test_numbers_that_rounding_makes_zero_are_told_of_with_their_count(engine, format):
    weights = [at % 40 for at in range(ROWS)]
    given = pl.Series(weights) if format is None else pl.Series([f"${at}.0" for at in weights])
    column = rt.insensitive(round_to=25, format=format, acknowledge=True)
    made = job(weight=column)
    vanished = sum(0 < at <= 12 for at in weights)
    release = rt.publish(made, frame=people(weight=given), seed=1, engine=engine)
    told = [notice for notice in release.notices if "'weight'" in notice]
    assert len(told) == 1 and f"{vanished} of {ROWS} rows hold a number other than 0 that is rounded to 0" in told[0]
    assert told[0] in rt.check(made, frame=people(weight=given), methods=[], engine=engine).warnings
    assert release.frame()["weight"].eq(0).sum() == vanished + sum(at == 0 for at in weights)


def test_rounding_that_takes_no_number_away_is_not_told_of():
    release = rt.publish(
        job(weight=rt.insensitive(round_to=25)), frame=people(weight=[100 * (at % 5) for at in range(ROWS)])
    )
    assert not [notice for notice in release.notices if "'weight'" in notice]


@pytest.mark.parametrize("engine", ["local", "stream"])
@pytest.mark.parametrize(
    ("bounds", "said"),
    [
        ({"top": 40}, "78 of 120 rows lie above its top"),
        ({"bottom": 50}, "60 of 120 rows lie below its bottom"),
        ({"top": 75}, ""),
    ],
)
def test_a_bound_that_stands_for_many_rows_is_told_of_with_their_count(bounds, said, engine):
    release = rt.publish(job(age=rt.quasi(**bounds)), frame=people(), seed=1, engine=engine)
    told = [notice for notice in release.notices if "'age'" in notice]
    assert (len(told) == 1 and said in told[0]) if said else told == []


RATES = {"$": 1, "€": 1.08, "EUR": 1.08, "£": "missing"}
AMOUNTS = {"$1,234.50": 1234.5, "€900": 972.0, "1.234,50 EUR": 1333.26, "£5": None, "1,000": 1000.0}


@pytest.mark.parametrize("engine", ["local", "stream", "spark"])
@pytest.mark.parametrize("role", [rt.sensitive, rt.insensitive])
def test_amounts_are_converted_by_their_rates_and_read_so_by_the_audit(role, engine):
    written = list(AMOUNTS)
    frame = people(pay=[written[at % 5] for at in range(ROWS)])
    options = {"format": ["1,234.5", "1.234,5 EUR"], "rates": RATES}
    columns = {"pay": role(**options, **({"missing": "category"} if role is rt.sensitive else {}))}
    if role is rt.sensitive:
        columns["illness"] = rt.identifying()
    release = rt.publish(job(**columns), frame=frame, seed=1, engine=spark() if engine == "spark" else engine)
    assert set(release.frame()["pay"].cast(pl.Float64)) == set(AMOUNTS.values())
    assert next(entry for entry in release.columns if entry.name == "pay").rates == RATES
    assert rt.audit(release, source=frame).source.passed


def test_a_currency_without_a_rate_is_refused_by_its_sign_and_count():
    frame = people(pay=["$1", "€2", "£3"] * 40)
    with pytest.raises(ColumnError, match=r"1 in \$, 1 in £, 1 in €.*'£' has no rate"):
        rt.publish(job(pay=rt.quasi(format="1,234.5", rates={"$": 1, "€": 1.08})), frame=frame)


def test_a_number_that_two_formats_read_differently_is_refused():
    frame = people(pay=["1,234", "1.234", "2,5"] * 40)
    with pytest.raises(ColumnError, match="2 of its 3 distinct values read differently"):
        rt.publish(job(pay=rt.quasi(format=["1,234.5", "1.234,5"])), frame=frame)


def test_an_amount_with_two_signs_is_none():
    frame = people(pay=["$1 EUR", "$2"] * 60)
    with pytest.raises(ColumnError, match="1 of its 2 distinct values do not read"):
        rt.publish(job(pay=rt.quasi(format="1,234.5", rates={"$": 1, "EUR": 2})), frame=frame)


@pytest.mark.parametrize(
    "rates",
    [{}, {"$": 0}, {"$": -1}, {"$": "much"}, {"$": True}, {"DM": 1}, "$", [1], {"$": 1e13}, {"$": float("nan")}],
)
def test_rates_that_are_none_are_refused(rates):
    with pytest.raises(JobError):
        rt.quasi(format="1,234.5", rates=rates)


def test_rates_without_a_number_format_are_refused():
    for options in ({}, {"format": "%Y-%m-%d"}):
        with pytest.raises(JobError, match="number format"):
            rt.quasi(rates={"$": 1}, **options)
