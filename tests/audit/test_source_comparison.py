"""A source's columns as an exact kind publishes them, whatever the source is written in."""

from datetime import date, datetime, time
from decimal import Decimal

import polars as pl
import pytest

import reticent as rt
from reticent.audit.source_comparison import convert_source
from reticent.errors import AuditFailed, BundleDamaged
from reticent.format.manifest import ColumnEntry
from reticent.methods.beta_perturbation import BetaPerturbation

MOMENT = datetime(2000, 1, 1, 3, 4, 5, 123456)
CLOCK = pl.Datetime("us", "Europe/Berlin")
COLUMNS = {
    "whole": pl.Series([17, 3, 99, None] * 10, dtype=pl.Int8),
    "huge": pl.Series([2**60 + 1, 2**60 + 2, 2**60 + 3, 5] * 10, dtype=pl.UInt64),
    "single": pl.Series([0.1, 1 / 3, 2.5, None] * 10, dtype=pl.Float32),
    "double": pl.Series([0.1, 1 / 3, float("nan"), 1e100] * 10),
    "decimal": pl.Series([Decimal("1.20"), Decimal("0.05"), Decimal("7.00"), None] * 10, dtype=pl.Decimal(10, 2)),
    "day": pl.Series([date(1950, 2, 28), date(2001, 12, 31), date(2020, 1, 1), None] * 10),
    "moment": pl.Series([MOMENT, datetime(1999, 1, 1), datetime(2020, 5, 5, 5), None] * 10),
    "nanosecond": pl.Series([MOMENT, datetime(1999, 1, 1), datetime(2020, 5, 5, 5), None] * 10).cast(pl.Datetime("ns")),
    "zoned": pl.Series([MOMENT, datetime(1999, 7, 1), datetime(2020, 5, 5, 5), None] * 10).cast(CLOCK),
    "clock": pl.Series([time(3, 4), time(23, 59, 59), time(0), None] * 10),
    "truth": pl.Series([True, False, True, None] * 10),
    "category": pl.Series(["x", "y", "07", None] * 10, dtype=pl.Categorical),
    "text": pl.Series(["007", "7", "1.20", None] * 10),
    "decimal text": pl.Series(["1.20", "1.2", "3", "10.00"] * 10),
}
BOUNDS = {
    "whole": {"top": 80, "bottom": 10},
    "single": {"top": 1.2},
    "double": {"bottom": 0.25},
    "decimal": {"top": 1.5},
    "day": {"top": "2001-06-30", "bottom": "1980-01-01"},
    "moment": {"bottom": "2000-01-01"},
    "decimal text": {"top": 5},
}


def published(name: str, series: pl.Series, **how) -> tuple[pl.DataFrame, rt.Release]:
    frame = pl.DataFrame({name: series, "s": ["a", "b", "c", "d", "e"] * (len(series) // 5)})
    job = rt.Job(
        columns={name: rt.quasi(**how), "s": rt.sensitive()}, promises=[rt.BetaLikeness(1)], method=BetaPerturbation()
    )
    return frame, rt.publish(job, frame=frame, seed=1)


@pytest.mark.parametrize(
    ("name", "bounded"), [*((name, False) for name in COLUMNS), *((name, True) for name in BOUNDS)]
)
def test_the_source_reads_as_what_is_published_from_a_frame_and_from_csv(name: str, bounded: bool, tmp_path):
    frame, release = published(name, COLUMNS[name], **(BOUNDS[name] if bounded else {}))
    frame.write_csv(tmp_path / "source.csv")
    texts = pl.read_csv(tmp_path / "source.csv", infer_schema=False, null_values=["NaN"])
    shown = release.frame()[name].sort()
    for source in (frame, texts):
        found = convert_source(source, release.manifest.columns)
        assert found.frame[name].dtype == shown.dtype
        assert found.frame[name].sort().equals(shown, null_equal=True)
        assert not found.unread
        assert found.readable.all()


def entry(dtype: str, role: str = "quasi-identifying", **more) -> ColumnEntry:
    return ColumnEntry(name="x", role=role, type="numeric", dtype=dtype, **more)


def brought_to(values, dtype: str, **more) -> list:
    return convert_source(pl.DataFrame({"x": values}), [entry(dtype, **more)]).frame["x"].to_list()


def test_spellings_of_a_number_are_one_number_and_of_a_text_are_not():
    assert brought_to(["1.20", " 1.2", "1.200", "12e-1"], "Float64") == [1.2] * 4
    assert brought_to(["25", "25.0", "+25", " 25 "], "Int64") == [25] * 4
    assert brought_to(["1.20", "1.2"], "Decimal(precision=9, scale=2)") == [Decimal("1.20")] * 2
    assert brought_to(["007", "7", " 7"], "String") == ["007", "7", " 7"]
    assert brought_to([7, 1], "String") == ["7", "1"]
    assert brought_to(["true", "False"], "Boolean") == [True, False]
    assert brought_to([True, False], "Int64") == [1, 0]
    assert brought_to(["2001-02-03", "2001-02-03 00:00:00"], "Date") == [date(2001, 2, 3)] * 2
    moment = "Datetime(time_unit='us', time_zone=None)"
    assert (
        brought_to(["2001-02-03", "2001-02-03T00:00:00", "2001-02-03 00:00:00.000"], moment)
        == [datetime(2001, 2, 3)] * 3
    )


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        (["x", "1.5", "", "1e30", "300"], "Int8"),
        ([1.5, 2.25], "Int64"),
        (["inf", "nan", "one"], "Float64"),
        (["1.205", "x"], "Decimal(precision=9, scale=2)"),
        (["2001-02-30", "03/02/2001", "2001-02-03T04:05:06"], "Date"),
        ([datetime(2001, 2, 3, 4)], "Date"),
        ([date(2001, 2, 3)], "Int64"),
        ([1, 2], "Date"),
        ([[1], [2]], "String"),
        (["yes", "1"], "Boolean"),
        (["25:00:00"], "Time"),
        (["x"], "Null"),
        ([MOMENT], "Datetime(time_unit='us', time_zone='UTC')"),
        ([MOMENT], "Datetime(time_unit='ms', time_zone=None)"),
    ],
)
def test_what_is_no_value_of_the_published_type_is_null_and_counted(values, dtype: str):
    found = convert_source(pl.DataFrame({"x": values}), [entry(dtype)])
    assert found.frame["x"].null_count() == len(values)
    assert found.unread == {"x": len(values)}
    assert not found.readable.any()


def test_carried_numbers_are_rounded_and_carried_not_a_numbers_stay():
    carried = {"role": "insensitive"}
    assert brought_to(["12", "15", "25", None, "x"], "Int64", round_to=10, **carried) == [10, 20, 20, None, None]
    assert brought_to([0.12, 0.38, float("nan")], "Float64", round_to=0.25, **carried) == [0.0, 0.5, None]
    assert str(brought_to([float("nan")], "Float64", **carried)[0]) == "nan"
    assert brought_to([float("nan")], "Float64") == [None]


def test_a_forged_bound_or_step_is_damage_and_another_table_is_another_table():
    numbers = pl.DataFrame({"x": [1, 2]})
    for more in ({"top": "2001-01-01"}, {"bottom": []}, {"top": 1e400}, {"round_to": 0}, {"round_to": "canary"}):
        with pytest.raises(BundleDamaged):
            convert_source(numbers, [entry("Int64", **more)])
    with pytest.raises(AuditFailed, match="not in the source"):
        convert_source(numbers, [entry("Int64").with_changes(name="y")])
