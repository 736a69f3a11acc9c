"""Advice about columns is followed: they are then accepted, read and published."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import reticent as rt
from reticent.data import hierarchy_builders as builders
from reticent.data.columns import Column, parse_column, parse_columns, require_no_nested
from reticent.errors import ColumnError, HierarchyError
from tests.advice.coverage import Trial, follows
from tests.advice.small_jobs import CITIES, ROWS, make_people, publish, publish_column, publish_file, write_people
from tests.support.command_line import run as run

DECLARED = "data/columns.py"
AGES = [20 + row * 7 % 40 for row in range(ROWS)]
WAGES = [1000 + row % 8 * 250 for row in range(ROWS)]
DAYS = [datetime.date(1960, 1, 1) + datetime.timedelta(row * 90) for row in range(ROWS)]
MOMENTS = [datetime.datetime(1960, 1, 1, row % 24) + datetime.timedelta(row * 90) for row in range(ROWS)]
NAMES = [CITIES[row % 4] for row in range(ROWS)]


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_people("people.csv")


def age(values: Any = AGES, **options: Any) -> None:
    publish_column("age", values, **options)


def day(values: Any = DAYS, **options: Any) -> None:
    publish_column("day", values, **options)


def city(values: Any = NAMES, **options: Any) -> None:
    publish_column("city", values, **options)


def wage(values: Any = WAGES, role: str = "insensitive", **options: Any) -> None:
    publish_column("wage", values, role=role, **options)


def illness(values: Any = None, **options: Any) -> None:
    """Publish the sensitive column with these values."""
    publish_column(
        "illness", values or [["flu", "cold", "gout"][row % 3] for row in range(ROWS)], role="sensitive", **options
    )


def person(values: Any = None, **options: Any) -> None:
    publish_column("name", values or [f"p{row // 2}" for row in range(ROWS)], role="identifying", **options)


OPTIONS = [
    Trial(
        DECLARED,
        "{VALUES_FIELD.attempt}",
        lambda: illness(domain=["flu"]),
        lambda: [illness(WAGES, domain=[0, 5000]), illness(domain=["flu", "cold", "gout"])],
    ),
    Trial(
        DECLARED,
        "each value once.",
        lambda: illness(domain=["flu", "flu", "cold", "gout"]),
        lambda: illness(domain=["flu", "cold", "gout"]),
    ),
    Trial(
        DECLARED,
        'type = "numeric", or leaving round_to out.',
        lambda: wage(type="date", round_to=5),
        lambda: [
            wage(type="numeric", round_to=5),
            wage(),
        ],
    ),
    Trial(
        DECLARED,
        "one of them.",
        lambda: wage(round_to=5, top="2020-01-01"),
        lambda: [wage(round_to=5), day(role="insensitive", top="2000-01-01", acknowledge=True)],
    ),
    Trial(
        DECLARED,
        "one of them.",
        lambda: rt.quasi(numeric=True, type="date"),
        lambda: [
            rt.quasi(numeric=True),
            rt.quasi(type="date"),
        ],
    ),
    Trial(DECLARED, "… = ….", lambda: wage(round_to=500, top=2100), lambda: wage(round_to=500, top=2000)),
    Trial(DECLARED, "… = ….", lambda: wage(round_to=0.5, bottom=10.3), lambda: wage(round_to=0.5, bottom=10.5)),
    Trial(DECLARED, "… = ….", lambda: age(top="2001-12-31"), lambda: age(top=80)),
    Trial(DECLARED, "… = ….", lambda: day(top=80), lambda: day(top="2001-12-31")),
    Trial(DECLARED, "… = ….", lambda: age(top=50.5), lambda: age(top=50)),
    Trial(
        DECLARED,
        'format = ["%m/%d/%Y", "%d/%m/%Y"], or leaving ambiguous out.',
        lambda: day([f"{when:%m/%d/%Y}" for when in DAYS], format="%m/%d/%Y", ambiguous="first"),
        lambda: [
            day([f"{when:%m/%d/%Y}" for when in DAYS], format=["%m/%d/%Y", "%d/%m/%Y"], ambiguous="first"),
            day([f"{when:%m/%d/%Y}" for when in DAYS], format="%m/%d/%Y"),
        ],
    ),
    Trial(DECLARED, "leaving it out.", lambda: person(map={"p1": "p2"}), person),
    Trial(DECLARED, "leaving it out.", lambda: wage(missing="withhold"), wage),
    Trial(DECLARED, "leaving it out.", lambda: rt.identifying(top=80), rt.identifying),
    Trial(DECLARED, "{field.attempt}", lambda: Column("sensitive", order="Ulm"), lambda: city(order=list(CITIES))),
    Trial(DECLARED, "{field.attempt}", lambda: city(type="ordinal"), lambda: city(order=list(CITIES), type="ordinal")),
    Trial(
        DECLARED,
        'rows_per_person = 4, beyond = "withhold".',
        lambda: person(beyond="withhold"),
        lambda: person(rows_per_person=4, beyond="withhold"),
    ),
    Trial(
        DECLARED,
        'labels = { style = "snapped", step = … }, or leaving round_to out.',
        lambda: age(round_to=5),
        lambda: [age(labels={"style": "snapped", "step": 5}), age()],
    ),
    Trial(
        DECLARED,
        'type = "numeric" or "date".',
        lambda: age(type="categorical", top=50),
        lambda: [age(type="numeric", top=50), day(type="date", top="1970-01-01")],
    ),
    Trial(DECLARED, "bottom = 18, top = 80.", lambda: age(bottom=80, top=18), lambda: age(bottom=18, top=80)),
    Trial(
        DECLARED,
        "{suggest(name, map(str, field.choices))}",
        lambda: age(role="quasi-identifing"),
        lambda: age(role="quasi-identifying"),
    ),
    Trial(
        DECLARED,
        "role = …, or leaving it out.",
        lambda: age(rows_per_person=2),
        lambda: [person(rows_per_person=2), age()],
    ),
    Trial(
        DECLARED,
        "role = …, or leaving it out.",
        lambda: age(beyond="withhold", rows_per_person=2),
        lambda: person(rows_per_person=2, beyond="withhold"),
    ),
    Trial(DECLARED, "…=...", lambda: rt.quasi(True), lambda: rt.quasi(numeric=True)),
    Trial(DECLARED, "{suggest(name, option_names)}", lambda: rt.quasi(numerc=True), lambda: rt.quasi(numeric=True)),
    Trial(
        DECLARED,
        "{LABEL_FIELDS['width'].attempt}",
        lambda: age(labels={"width": 2}),
        lambda: age(labels={"style": "padded", "width": 2}),
    ),
    Trial(
        DECLARED,
        "{suggest(str(name), LABEL_FIELDS)}",
        lambda: age(labels={"style": "padded", "widht": 2}),
        lambda: age(labels={"style": "padded", "width": 2}),
    ),
    Trial(
        DECLARED,
        'columns = {"age": rt.quasi(), "disease": rt.sensitive()}.',
        lambda: parse_columns(["age"]),
        lambda: parse_columns({"age": rt.quasi(), "disease": rt.sensitive()}),
    ),
    Trial(
        DECLARED,
        "…",
        lambda: parse_column(5, "age"),
        lambda: [parse_column(rt.quasi(), "age"), parse_column(rt.sensitive(), "disease")],
    ),
    Trial(DECLARED, "rt.…().", lambda: parse_column(rt.quasi, "age"), lambda: parse_column(rt.quasi(), "age")),
    Trial(
        DECLARED,
        "{suggest(str(word), field_names)}",
        lambda: parse_column({"role": "sensitive", "hierarchi": "x"}, "age"),
        lambda: parse_column({"role": "sensitive", "hierarchy": "x.csv"}, "age"),
    ),
    Trial(
        DECLARED,
        'role = "quasi-identifying", "sensitive", "identifying" or "insensitive".',
        lambda: parse_column({"type": "numeric"}, "age"),
        lambda: [
            parse_column({"role": role}, "age")
            for role in ("quasi-identifying", "sensitive", "identifying", "insensitive")
        ],
    ),
    Trial(
        DECLARED,
        "a column of years, months or hours, or leaving round_to out.",
        lambda: day(role="sensitive", round_to=5),
        lambda: [
            illness([when.year for when in DAYS], round_to=5),
            illness([when.month for when in DAYS], round_to=5),
            day(role="sensitive"),
        ],
    ),
    Trial(
        DECLARED,
        "smaller numbers, or leaving round_to out.",
        lambda: illness([2**60 + row for row in range(ROWS)], round_to=5),
        lambda: [
            illness([2**40 + row for row in range(ROWS)], round_to=5),
            illness([2**60 + row for row in range(ROWS)]),
        ],
    ),
    Trial(
        DECLARED,
        "bounds within that type.",
        lambda: age(pl.Series(AGES, dtype=pl.Int8), top=500),
        lambda: age(pl.Series(AGES, dtype=pl.Int8), top=100),
    ),
    Trial(
        DECLARED,
        'type = "numeric" or "date" if they are such, or in its place a hierarchy that puts the rare values together.',
        lambda: city(top=50),
        lambda: [
            city([str(number) for number in AGES], top=50, type="numeric"),
            city([str(when) for when in DAYS], top="1970-01-01", type="date"),
            city(hierarchy=[[name, "rare", "*"] for name in CITIES]),
        ],
    ),
]


@pytest.mark.parametrize("trial", OPTIONS, ids=str)
def test_options_of_columns(trial):
    trial.run()


@follows(DECLARED, "another name in the source and in the job.")
def test_a_name_that_no_release_can_have():
    with pytest.raises(ColumnError, match="is a pattern"):
        publish(make_people(**{"*": AGES}), {"*": "quasi-identifying"}, release={"undeclared": "drop"})
    publish(make_people(star=AGES), {"star": "quasi-identifying"})


@follows(DECLARED, "a header line in the file, and its names in the job.")
def test_a_file_without_a_name_of_the_job():
    text = Path("people.csv").read_text()
    Path("people.csv").write_text(text.split("\n", 1)[1])
    with pytest.raises(ColumnError, match="None of the 4"):
        publish_file()
    Path("people.csv").write_text(text)
    publish_file()


@follows(DECLARED, "renaming one of each.")
def test_a_name_that_is_there_twice():
    edited = Path("people.csv").read_text().replace("name,age,city,illness", "name,age,age,illness")
    Path("people.csv").write_text(edited)
    with pytest.raises(ColumnError, match="twice"):
        publish_file()
    Path("people.csv").write_text(edited.replace("age,age", "age,city"))
    publish_file()


@follows(DECLARED, "{'; '.join(dict.fromkeys((suggest_column(name, present) for name in absent)))}")
@follows(DECLARED, 'giving each a role, or undeclared = "drop".')
def test_columns_that_are_not_there_and_columns_without_a_role():
    with pytest.raises(ColumnError, match="'agee' is declared") as refused:
        publish(columns={"agee": "quasi-identifying"})
    assert refused.value.attempt == "'age' instead."
    publish()
    with pytest.raises(ColumnError, match="without a role: 'wage'"):
        publish(make_people(wage=WAGES))
    publish(make_people(wage=WAGES), {"wage": "insensitive"})
    publish(make_people(wage=WAGES), release={"undeclared": "drop"})


TYPES = [
    (
        pl.Series([datetime.timedelta(row % 5) for row in range(ROWS)]),
        pl.Series([row % 5 * 86_400 for row in range(ROWS)]),
    ),
    (pl.Series([b"abc"] * ROWS), pl.Series(["616263"] * ROWS)),
    (pl.Series([[1, 2]] * ROWS), pl.Series(["1 2"] * ROWS)),
    (pl.Series([{"a": 1}] * ROWS), pl.Series([1] * ROWS)),
    (pl.Series(AGES, dtype=pl.Int128), pl.Series(AGES, dtype=pl.Int64)),
    (pl.Series(AGES, dtype=pl.Int128), pl.Series([Decimal(number) for number in AGES])),
    (pl.Series(AGES, dtype=pl.Int128), pl.Series([str(number) for number in AGES])),
    (pl.Series(AGES, dtype=pl.Float16), pl.Series(AGES, dtype=pl.Float32)),
]


@follows(DECLARED, '… instead of …, or leaving the column out with undeclared = "drop".')
@pytest.mark.parametrize(("values", "followed"), TYPES)
def test_a_type_that_no_release_can_have(values, followed):
    with pytest.raises(ColumnError, match="does not go with its role"):
        city(values)
    publish(make_people(city=values), {"city": None}, release={"undeclared": "drop"})
    city(followed)


@follows(DECLARED, "… instead of …, or naming the other columns (--quasi, or a job).")
def test_a_type_that_cannot_be_compared(run):
    rows = make_people(city=[datetime.timedelta(row % 5) for row in range(ROWS)])
    with pytest.raises(ColumnError, match="cannot be compared"):
        require_no_nested(rows.schema, ["age", "city"])
    require_no_nested(rows.schema, ["age"])
    require_no_nested(rows.with_columns(pl.col("city").dt.total_days()).schema, ["age", "city"])


READ = "data/text_formats.py"
AMOUNTS = [f"{100 + row:,}.5" for row in range(ROWS)]
MIXED_AMOUNTS = [f"{'$' if row % 2 else '€'}{100 + row % 7}" for row in range(ROWS)]
SLASHES = [f"{when:%d/%m/%Y}" for when in DAYS]

FORMATS = [
    Trial(
        READ,
        "{COLUMN_FIELDS['format'].attempt}",
        lambda: Column("sensitive", format=5),
        lambda: [Column("sensitive", format="%m/%d/%Y"), Column("sensitive", format=["%Y-%m-%d", "%d.%m.%Y"])],
    ),
    Trial(
        READ,
        "each format once.",
        lambda: day(SLASHES, format=["%d/%m/%Y"] * 2),
        lambda: day(SLASHES, format=["%d/%m/%Y"]),
    ),
    Trial(
        READ,
        'format = "%m/%d/%Y" for dates, or "1,234.5" or "1.234,5" for numbers.',
        lambda: day(SLASHES, format="day"),
        lambda: [
            day([f"{when:%m/%d/%Y}" for when in DAYS], format="%m/%d/%Y"),
            age(AMOUNTS, format="1,234.5", type="numeric"),
            age([amount.replace(".", ",") for amount in AMOUNTS], format="1.234,5"),
        ],
    ),
    Trial(
        READ,
        "formats of dates alone, or of numbers alone.",
        lambda: day(SLASHES, format=["%d/%m/%Y", "1,234.5"]),
        lambda: [day(SLASHES, format=["%d/%m/%Y", "%Y"]), age(AMOUNTS, format=["1,234.5"])],
    ),
    Trial(
        READ,
        "formats that all have a zone, or none.",
        lambda: day(SLASHES, format=["%d/%m/%Y", "%d/%m/%Y %H:%M %z"]),
        lambda: [
            day(SLASHES, format=["%d/%m/%Y", "%d/%m/%Y %H:%M"]),
            day([f"{text} 00:00 +0000" for text in SLASHES], format=["%d/%m/%Y %H:%M %z"]),
        ],
    ),
    Trial(
        READ,
        "….",
        lambda: age(AMOUNTS, format="1,234.5", rates={"?": 1}),
        lambda: age(MIXED_AMOUNTS, format="1,234.5", rates={"$": 1, "€": 1.1}),
    ),
    Trial(
        READ,
        'format = "1,234.5" beside it.',
        lambda: age(MIXED_AMOUNTS, rates={"$": 1, "€": 1.1}),
        lambda: age(MIXED_AMOUNTS, format="1,234.5", rates={"$": 1, "€": 1.1}),
    ),
    Trial(
        READ,
        'the format it is written in, missing = ["?"] in [source] if they stand for nothing, '
        'or type = "categorical" without a format.',
        lambda: day(SLASHES, format="%Y-%m-%d"),
        lambda: [
            day(SLASHES, format="%d/%m/%Y"),
            day(SLASHES, type="categorical"),
            read_with_question_marks("age", type="date", format="%d/%m/%Y", values=SLASHES),
        ],
    ),
    Trial(
        READ,
        'one format of each such pair, or ambiguous = "first" if the first format of the list that reads a value is the '
        "right one.",
        lambda: day(SLASHES, format=["%d/%m/%Y", "%m/%d/%Y"]),
        lambda: [
            day(SLASHES, format=["%d/%m/%Y"]),
            day(SLASHES, format=["%d/%m/%Y", "%m/%d/%Y"], ambiguous="first"),
        ],
    ),
    Trial(
        READ,
        'what each is worth: rates = { … }, where "…" = "missing" makes such amounts missing; or type = "categorical" '
        "without format and rates.",
        lambda: age(MIXED_AMOUNTS, format="1,234.5"),
        lambda: [
            age(MIXED_AMOUNTS, format="1,234.5", rates={"$": 1, "€": 1.08}),
            age(MIXED_AMOUNTS, format="1,234.5", rates={"$": 1, "€": "missing"}),
            age(MIXED_AMOUNTS, type="categorical"),
        ],
    ),
    Trial(
        READ,
        'format = "%m/%d/%Y", or format = "%Y-%m-%d %H:%M".',
        lambda: day([f"{when:%Y-%m-%d %H}" for when in MOMENTS], format="%Y-%m-%d %H"),
        lambda: [
            day([f"{when:%m/%d/%Y}" for when in DAYS], format="%m/%d/%Y"),
            day([f"{when:%Y-%m-%d %H:%M}" for when in MOMENTS], format="%Y-%m-%d %H:%M"),
        ],
    ),
    Trial(
        "data/spellings.py",
        'the last text directly: map = { m = "male", M = "male" }.',
        lambda: city(["m", "M", "male"] * 20, map={"m": "M", "M": "male"}),
        lambda: city(["m", "M", "male"] * 20, map={"m": "male", "M": "male"}),
    ),
    Trial(
        "data/spellings.py",
        "leaving map out, or the column as text in the source.",
        lambda: age(map={"20": "21"}),
        lambda: [age(), age([str(number) for number in AGES], map={"20": "21"})],
    ),
]


def read_with_question_marks(name: str, values: list[str], **options: Any) -> None:
    """Publish a CSV whose column holds a `?` that means missing."""
    write_people("people.csv", **{name: ["?", *values[1:]]})
    publish_file(columns={name: {"role": "quasi-identifying", **options}}, missing=["?"])


@pytest.mark.parametrize("trial", FORMATS, ids=str)
def test_formats_and_spellings(trial):
    trial.run()


VALUES = "data/parsing.py"
STYLED = "data/label_styles.py"
CODED = "data/cells.py"
CARRIED = "data/passthrough.py"
HALVES = [number + 0.5 for number in AGES]
LARGE = [10**17 + row for row in range(ROWS)]
CITY_ROWS = [[name, "south" if name == "Ulm" else "north", "*"] for name in CITIES]
BANDS = [[str(number), "young" if number < 40 else "old", "*"] for number in range(20, 60)]
CROSSED_BANDS = [[str(number), "odd" if number % 2 else "even", "*"] for number in range(20, 60)]

TRIALS = [
    Trial(
        VALUES,
        "a smaller number in the source, or none.",
        lambda: age([float("inf"), *HALVES[1:]]),
        lambda: [age([1e6, *HALVES[1:]]), age([None, *HALVES[1:]])],
    ),
    Trial(
        VALUES,
        "whole seconds, or the time as text or a number.",
        lambda: city([datetime.time(8, row % 4, 0, 500) for row in range(ROWS)]),
        lambda: [
            city([datetime.time(8, row % 4) for row in range(ROWS)]),
            city([f"08:0{row % 4}:00.0005" for row in range(ROWS)]),
            age([8 + row % 4 / 60 for row in range(ROWS)]),
        ],
    ),
    Trial(
        VALUES,
        "the right year, a missing value, or the year as a number.",
        lambda: day(pl.Series([5_000_000, *range(1, ROWS)], dtype=pl.Int32).cast(pl.Date)),
        lambda: [day(), day([None, *DAYS[1:]]), day([15_659, *(when.year for when in DAYS[1:])])],
    ),
    Trial(
        VALUES,
        'fewer digits, or type = "categorical".',
        lambda: age([f"{number}.12345678901234567891" for number in AGES], type="numeric"),
        lambda: [
            age([f"{number}.123" for number in AGES], type="numeric"),
            age([f"{number}.12345678901234567891" for number in AGES], type="categorical"),
        ],
    ),
    Trial(
        VALUES,
        'missing = ["?"] in [source] if they stand for nothing, or type = "categorical".',
        lambda: age(["?", *map(str, AGES[1:])], type="numeric"),
        lambda: [
            read_with_question_marks("age", [str(number) for number in AGES], type="numeric"),
            age(["?", *map(str, AGES[1:])], type="categorical"),
        ],
    ),
    Trial(
        STYLED,
        'labels = "nodes" or "sets".',
        lambda: city(labels="snapped"),
        lambda: [
            city(labels="nodes", hierarchy=CITY_ROWS),
            city(labels="sets", hierarchy=CITY_ROWS),
            city(labels="nodes"),
            city(labels="sets"),
        ],
    ),
    Trial(
        STYLED,
        "leaving labels out.",
        lambda: city(order=list(CITIES), labels="snapped"),
        lambda: city(order=list(CITIES)),
    ),
    Trial(
        STYLED,
        "leaving labels out.",
        lambda: age(hierarchy=BANDS, type="numeric", labels={"style": "snapped", "step": 5}),
        lambda: age(hierarchy=BANDS, type="numeric"),
    ),
    Trial(
        STYLED,
        "leaving labels out.",
        lambda: age(hierarchy={"build": "intervals"}, labels={"style": "padded", "width": 2}),
        lambda: age(hierarchy={"build": "intervals"}),
    ),
    Trial(
        STYLED,
        'labels = "tight", "snapped" or "padded".',
        lambda: age(labels="nodes"),
        lambda: [age(labels="tight"), age(labels="snapped"), age(labels={"style": "padded", "width": 2})],
    ),
    Trial(
        STYLED,
        'labels = "snapped" without a step, or no hierarchy.',
        lambda: age(hierarchy={"build": "intervals"}, labels={"style": "snapped", "step": 5}),
        lambda: [
            age(hierarchy={"build": "intervals"}, labels="snapped"),
            age(labels={"style": "snapped", "step": 5}),
        ],
    ),
    Trial(
        STYLED,
        'labels = { style = "padded", width = … }.',
        lambda: age(HALVES, labels={"style": "padded", "width": 2, "share": 0.5}),
        lambda: age(HALVES, labels={"style": "padded", "width": 2}),
    ),
    Trial(
        STYLED,
        'labels = { style = "padded", width = … }.',
        lambda: age(labels={"style": "padded", "width": 2.5}),
        lambda: age(labels={"style": "padded", "width": 2}),
    ),
    Trial(
        STYLED,
        "a smaller width, or a wider domain.",
        lambda: age(labels={"style": "padded", "width": 50}),
        lambda: [
            age(labels={"style": "padded", "width": 5}),
            age(labels={"style": "padded", "width": 50}, domain=[0, 120]),
        ],
    ),
    Trial(
        STYLED,
        'a smaller step, or labels = "snapped", which chooses one.',
        lambda: age(labels={"style": "snapped", "step": 100}),
        lambda: [age(labels={"style": "snapped", "step": 10}), age(labels="snapped")],
    ),
    Trial(
        STYLED,
        'labels = { style = "snapped", step = … }.',
        lambda: age(labels={"style": "snapped", "step": "month"}),
        lambda: age(labels={"style": "snapped", "step": 5}),
    ),
    Trial(
        STYLED,
        'labels = { style = "snapped", step = … }.',
        lambda: age(labels={"style": "snapped", "step": 2.5}),
        lambda: age(labels={"style": "snapped", "step": 2}),
    ),
    Trial(
        STYLED,
        'labels = { style = "snapped", step = … }.',
        lambda: day(labels={"style": "snapped", "step": 5}),
        lambda: day(labels={"style": "snapped", "step": "month"}),
    ),
    Trial(
        CODED,
        "saving it, looking at it, and giving the file.",
        lambda: illness(WAGES, hierarchy={"build": "intervals", "width": 500}),
        lambda: illness(WAGES, hierarchy=save_hierarchy()),
    ),
    Trial(
        CODED,
        'jointly = false with a promise for each column, or missing = "withhold" for these columns.',
        lambda: publish_jointly(),
        lambda: [
            publish_jointly(missing="withhold"),
            publish_jointly(
                jointly=False,
                promise=[{"model": "distinct-l-diversity", "l": 2, "column": name} for name in ("illness", "wage")],
            ),
        ],
    ),
    Trial(
        CODED,
        "one of them.",
        lambda: city(order=list(CITIES), hierarchy=CITY_ROWS),
        lambda: [city(order=list(CITIES)), city(hierarchy=CITY_ROWS)],
    ),
    Trial(
        CODED,
        'missing = "category" for this column, or missing = "withhold" for this column, which withholds these rows.',
        lambda: illness([None, *["flu", "cold", "gout"] * 19, "flu", "cold"]),
        lambda: [
            illness([None, *["flu", "cold", "gout"] * 19, "flu", "cold"], missing=choice)
            for choice in ("category", "withhold")
        ],
    ),
    Trial(
        CODED,
        "listing every value that can occur, or missing = [...] for those that stand for nothing.",
        lambda: illness(domain=["flu", "cold"]),
        lambda: [illness(domain=["flu", "cold", "gout"]), forget_gout()],
    ),
    Trial(
        CODED,
        "each value once.",
        lambda: city(order=[*CITIES, "Ulm"]),
        lambda: city(order=list(CITIES)),
    ),
    Trial(CODED, "every value in order = [...].", lambda: city(order=["Ulm"]), lambda: city(order=list(CITIES))),
    Trial(
        CODED,
        'type = "categorical" with the hierarchy, or leaving the hierarchy out: ranges hold such numbers exactly.',
        lambda: age(LARGE, type="numeric", hierarchy=[[str(number), "many", "*"] for number in LARGE]),
        lambda: [
            age(LARGE, type="categorical", hierarchy=[[str(number), "many", "*"] for number in LARGE]),
            age(LARGE, type="numeric"),
        ],
    ),
    Trial(
        CODED,
        'leaving these rows out, or type = "categorical" for ….',
        lambda: age(type="numeric", hierarchy=[*BANDS, ["inf", "old", "*"]]),
        lambda: [
            age(type="numeric", hierarchy=BANDS),
            age(type="categorical", hierarchy=[*BANDS, ["inf", "old", "*"]]),
        ],
    ),
    Trial(
        CODED,
        "a wider domain, or top and bottom coding.",
        lambda: age(domain=[25, 50]),
        lambda: [age(domain=[0, 100]), age(domain=[25, 50], bottom=25, top=50)],
    ),
    Trial(
        "data/domain.py",
        'nodes that are stretches of the line, or type = "categorical" for ….',
        lambda: age(type="numeric", hierarchy=CROSSED_BANDS),
        lambda: [age(type="numeric", hierarchy=BANDS), age(type="categorical", hierarchy=CROSSED_BANDS)],
    ),
    Trial(
        CARRIED,
        "a column of years, months or hours, or leaving round_to out.",
        lambda: wage(DAYS, round_to=5, acknowledge=True),
        lambda: [wage([when.year for when in DAYS], round_to=5), wage(DAYS, acknowledge=True)],
    ),
    Trial(
        CARRIED,
        'role = "quasi-identifying", round_to = ... for a number, leaving it out, or acknowledge = true.',
        lambda: wage(HALVES_ALONE),
        lambda: [
            wage(HALVES_ALONE, role="quasi-identifying"),
            wage(HALVES_ALONE, round_to=500),
            publish(),
            wage(HALVES_ALONE, acknowledge=True),
        ],
    ),
    Trial(
        CARRIED,
        "a number for every person, or leaving rows_per_person out.",
        lambda: person([None, *(f"p{row // 2}" for row in range(1, ROWS))], rows_per_person=2),
        lambda: [
            person(rows_per_person=2),
            person([None, *(f"p{row // 2}" for row in range(1, ROWS))]),
        ],
    ),
    Trial(
        CARRIED,
        'rows_per_person = …, fewer rows of each person, or beyond = "withhold", which withholds as many as are too many.',
        lambda: person([f"p{row // 3}" for row in range(ROWS)], rows_per_person=2),
        lambda: [
            person([f"p{row // 3}" for row in range(ROWS)], rows_per_person=3),
            person([f"p{row // 2}" for row in range(ROWS)], rows_per_person=2),
            person([f"p{row // 3}" for row in range(ROWS)], rows_per_person=2, beyond="withhold"),
        ],
    ),
    Trial(
        CARRIED,
        'missing = ["?"] in [source] if they stand for nothing, or leaving round_to out.',
        lambda: publish_wages(round_to=500),
        lambda: [publish_wages(missing=["?"], round_to=500), publish_wages()],
    ),
    Trial(
        "data/declared_withholding.py",
        "leaving it out for columns that are often empty.",
        lambda: publish(
            make_people(city=[None] * ROWS), {"city": {"role": "quasi-identifying", "missing": "withhold"}}
        ),
        lambda: publish(make_people(city=[None] * ROWS)),
    ),
]
HALVES_ALONE = [1000.5 + row * 7 for row in range(ROWS)]


def save_hierarchy() -> str:
    """Build a hierarchy of the wages, and save it."""
    builders.intervals(WAGES, 500).save("wage.csv")
    return "wage.csv"


def publish_jointly(missing: str = "category", **parts: Any) -> None:
    """Publish two sensitive columns, one of which has a missing value, with a promise about their combined values."""
    columns = {
        "illness": {"role": "sensitive", "missing": missing},
        "wage": {"role": "sensitive", "type": "categorical"},
    }
    rows = make_people(illness=[None, *["flu", "cold", "gout"] * 19, "flu", "cold"], wage=WAGES)
    together = {"jointly": True, "promise": [{"model": "distinct-l-diversity", "l": 2}]}
    publish(rows, columns, **{**together, **parts})


def forget_gout() -> None:
    write_people("people.csv")
    columns = {"illness": {"role": "sensitive", "domain": ["flu", "cold"], "missing": "withhold"}}
    publish_file(columns=columns, missing=["gout"])


def publish_wages(missing: list[str] | None = None, **options: Any) -> None:
    """Publish a CSV with wages, one of which is a `?`."""
    write_people("people.csv", wage=["?", *map(str, WAGES[1:])])
    publish_file(columns={"wage": {"role": "insensitive", **options}}, missing=missing or [])


@pytest.mark.parametrize("trial", TRIALS, ids=str)
def test_values_and_labels(trial):
    trial.run()


@follows(CODED, "--show-values to see them, or missing = [...] if they stand for nothing.")
def test_a_value_that_the_hierarchy_lacks():
    write_people("people.csv", city=["?", *NAMES[1:]])
    columns = {"city": {"role": "quasi-identifying", "hierarchy": CITY_ROWS}}
    with pytest.raises(HierarchyError) as refused:
        publish_file(columns=columns)
    assert refused.value.values == ("?",)
    publish_file(columns=columns, missing=["?"])
