"""Which labels a column has that asks for none: by how often a value of it is one person's alone, on the table itself."""

from __future__ import annotations

from collections import Counter
from datetime import date, timedelta
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent.check import check
from reticent.data.hierarchy_builders import parse_node_ends
from reticent.data.label_styles import compute_lone_share
from reticent.errors import ColumnError
from reticent.format.data_writer import write_data
from tests.support.release_folders import resealed

ROWS = 400


def table() -> pl.DataFrame:
    rng = np.random.default_rng(5)
    return pl.DataFrame(
        {
            "age": rng.integers(17, 90, ROWS),
            "income": rng.integers(0, 90_000, ROWS),
            "points": rng.integers(0, 20, ROWS) * 1_000,
            "weight": rng.normal(70, 12, ROWS).round(4),
            "born": [date(1931, 3, 7) + timedelta(days=int(days)) for days in rng.integers(0, 27_000, ROWS)],
            "s": rng.choice(list("xyz"), ROWS),
        }
    )


def published(frame=None, k=5, **columns) -> rt.Release:
    job = rt.Job(
        columns={**columns, "s": rt.sensitive()}, promises=[rt.KAnonymity(k)], release=rt.Output(undeclared="drop")
    )
    return rt.publish(job, frame=table() if frame is None else frame, seed=4)


def style(release, name):
    return next(column.labels for column in release.columns if column.name == name)


def ends(release, name):
    bounds = release.frame(bounds=True).filter(pl.col(f"{name}_lower") != pl.col(f"{name}_upper"))
    return [*bounds[f"{name}_lower"], *bounds[f"{name}_upper"]]


@pytest.mark.parametrize("seed", range(5))
def test_the_share_of_values_that_one_person_has_is_counted_as_by_hand(seed):
    rng = np.random.default_rng(seed)
    values = [None if value == 7 else int(value) for value in rng.integers(0, 30, 60)]
    counted = Counter(value for value in values if value is not None)
    for most in (1, 3):
        alone = Fraction(sum(rows <= most for rows in counted.values()), len(counted))
        assert compute_lone_share(pl.Series(values), np.ones(60, np.int64), most) == alone


def test_whole_numbers_that_are_one_persons_alone_are_snapped_and_that_is_said():
    release = published(age=rt.quasi(), income=rt.quasi())
    assert (style(release, "income"), style(release, "age")) == ("snapped", None)
    people = set(table()["income"])
    assert sum(end in people for end in ends(release, "income")) <= 0.02 * len(ends(release, "income"))
    said = [notice for notice in release.notices if "'income'" in notice]
    assert len(said) == 1
    assert "one in 10" in said[0]
    assert not any("'age'" in notice for notice in release.notices)
    assert "rounded outwards" in (release.folder / "README.md").read_text()
    assert rt.audit(release.folder, source=table()).source.passed


def test_the_attack_finds_next_to_nobody_at_ends_that_were_chosen():
    chosen, tight = (
        rt.attack(published(income=rt.quasi(labels=labels)), table(), "singling-out").success
        for labels in (None, "tight")
    )
    assert tight > 0.9
    assert chosen < 0.1


def test_whole_numbers_that_many_share_and_short_ranges_stay_tight():
    release = published(points=rt.quasi(), age=rt.quasi())
    assert [column.labels for column in release.columns if column.role == "quasi-identifying"] == [None, None]
    few = table().head(60)  # ages of which many are one person's alone: no round step is wider than one year
    assert compute_lone_share(few["age"], np.ones(60, np.int64)) > Fraction(1, 10)
    assert published(few, age=rt.quasi()).columns[0].labels is None


def test_what_a_column_asks_for_is_what_it_has():
    for labels in ("tight", "snapped", {"style": "snapped", "step": 7}, {"style": "padded", "width": 50}):
        release = published(income=rt.quasi(labels=labels))
        assert release.columns[0].labels == (None if labels == "tight" else labels)
        assert not any("one in 10" in notice for notice in release.notices)


def test_a_value_in_several_rows_of_one_person_is_that_persons_alone():
    visits = pl.concat([table().with_columns(person=pl.int_range(ROWS))] * 3)
    plain = published(visits, income=rt.quasi())
    assert plain.columns[0].labels is None
    counted = published(visits, income=rt.quasi(), person=rt.identifying(rows_per_person=3))
    assert counted.columns[0].labels == "snapped"


def test_check_says_which_labels_will_be_chosen():
    job = rt.Job(
        columns={"income": rt.quasi(), "s": rt.sensitive()},
        promises=[rt.KAnonymity(5)],
        release=rt.Output(undeclared="drop"),
    )
    assert any("'income'" in warning for warning in check(job, frame=table(), methods=[]).warnings)


@pytest.mark.parametrize("engine", ["local", "stream"])
def test_every_engine_chooses_the_same_labels(tmp_path, engine):
    table().write_parquet(tmp_path / "people.parquet")
    job = rt.Job(
        source=rt.Source(path=str(tmp_path / "people.parquet")),
        columns={"income": rt.quasi(), "age": rt.quasi(), "s": rt.sensitive()},
        promises=[rt.KAnonymity(5)],
        release=rt.Output(undeclared="drop"),
    )
    release = rt.publish(job, seed=4, engine=engine)
    assert (style(release, "income"), style(release, "age")) == ("snapped", None)
    frame = rt.publish(job.at(source=rt.Source()), frame=table(), seed=4).frame()
    assert release.frame().equals(frame)


def test_dates_of_a_built_hierarchy_end_on_its_calendar_steps():
    """A month begins on its first day and ends on its last, whoever was born in it."""
    release = published(born=rt.quasi(hierarchy={"build": "dates"}))
    assert release.columns[0].labels == "snapped"
    bounds = release.frame(bounds=True).filter(pl.col("born_lower") != pl.col("born_upper"))
    assert len(bounds)
    assert set(bounds["born_lower"].dt.day()) == {1}
    assert set(bounds["born_upper"].dt.offset_by("1d").dt.day()) == {1}
    people = set(table()["born"])
    assert sum(end in people for end in ends(release, "born")) < 0.1 * len(ends(release, "born"))
    found = rt.audit(release.folder, source=table())
    assert found.kept
    assert found.source.passed
    tight = published(born=rt.quasi(hierarchy={"build": "dates"}, labels="tight"))
    assert set(ends(tight, "born")) <= people


@pytest.mark.parametrize(
    ("name", "built"),
    [
        ("weight", {"build": "intervals", "width": [2.5, 10, 50]}),
        ("weight", {"build": "quantiles", "groups": [32, 8]}),
        ("weight", {"build": "edges", "edges": [40, 55.5, 70, 90]}),
        ("income", {"build": "intervals", "width": [500, 5_000, 20_000]}),
        ("income", {"build": "quantiles", "groups": [32, 8]}),
        ("born", {"build": "dates", "levels": ["month", "year"]}),
    ],
)
@pytest.mark.parametrize("top", [False, True], ids=["", "top"])
def test_built_hierarchies_hide_the_ends_of_their_groups_and_cover_every_row(name, built, top):
    ends_of = {"weight": 85.25, "income": 70_003, "born": "1999-05-17"}
    frame = table().drop("points").with_columns(pl.when(pl.int_range(pl.len()) % 40 != 4).then(name).alias(name))
    release = published(
        frame, **{name: rt.quasi(hierarchy=built, **({"top": ends_of[name]} if top else {}))}, age=rt.quasi()
    )
    assert style(release, name) == "snapped"
    found = rt.audit(release.folder, source=frame)
    assert found.kept
    assert found.source.passed
    people = {str(value) for value in frame[name].drop_nulls()}
    shown = [str(end) for end in ends(release, name) if end is not None and str(end) != str(ends_of[name])]
    assert sum(end in people for end in shown) <= 0.1 * len(shown)


def test_ages_of_a_built_hierarchy_stay_as_they_were():
    release = published(age=rt.quasi(hierarchy={"build": "intervals", "width": [5, 20]}))
    assert release.columns[0].labels is None
    assert set(ends(release, "age")) <= set(table()["age"])


def test_a_round_end_that_another_column_holds_too_is_no_leak_and_one_of_many_digits_is(tmp_path):
    """`points` is not published, and its round numbers stand at ends of the incomes' ranges by chance."""
    folder = published(income=rt.quasi()).save(tmp_path / "release")
    assert not rt.audit(folder, source=table()).source.leaks
    secret = table().with_columns(number=pl.int_range(ROWS) + 731_650_211)
    forged = rt.open(folder).frame()
    last = max(
        (label for label in forged["income"] if label.endswith("]")), key=lambda label: int(label[1:-1].split(", ")[1])
    )
    write_data(
        folder / "data.parquet",
        forged.with_columns(pl.col("income").str.replace(last, f"{last.split(', ')[0]}, 731650212]", literal=True)),
        "parquet",
    )
    resealed(folder, lambda stated: stated["columns"][0].update(domain=[stated["columns"][0]["domain"][0], 731650212]))
    assert {leak.column for leak in rt.audit(folder, source=secret).source.leaks} == {"number"}


def test_a_step_for_a_built_hierarchy_is_refused_with_what_to_do():
    with pytest.raises(ColumnError, match="whose nodes are its steps"):
        published(born=rt.quasi(hierarchy={"build": "dates"}, labels={"style": "snapped", "step": "month"}))


@pytest.mark.parametrize(
    ("builder", "label", "expected"),
    [
        ("dates", "2024-02", ("2024-02-01", "2024-02-29")),
        ("dates", "2023-Q4", ("2023-10-01", "2023-12-31")),
        ("dates", "1900", ("1900-01-01", "1900-12-31")),
        ("dates", "9990s", ("9990-01-01", "9999-12-31")),
        ("dates", "0000s", ("0001-01-01", "0009-12-31")),
        ("dates", "*", None),
        ("intervals", "[20, 29]", ("20", "29")),
        ("intervals", "[0.5, 1)", ("0.5", "1")),
        ("intervals", "[1/3, 2/3)", None),
        ("edges", "< 18", None),
        ("quantiles", "[3, 9]", None),
    ],
)
def test_a_node_has_the_ends_that_its_builder_gave_it(builder, label, expected):
    assert parse_node_ends(builder, label) == expected


def cars(rows=900):
    """Model years, of which there are few and each many have: no value is one person's alone, and ends of ranges are."""
    rng = np.random.default_rng(8)
    return pl.DataFrame(
        {
            "year": rng.integers(1960, 2016, rows),
            "town": rng.choice(list("abcdefghijkl"), rows),
            "doors": rng.integers(1, 6, rows),
            "s": rng.choice(list("xyz"), rows),
        }
    )


def test_ends_that_isolate_where_no_round_step_helps_are_told_and_what_is_advised_works():
    def made(labels):
        columns = {"year": rt.quasi(labels=labels), "town": rt.quasi(), "doors": rt.quasi(), "s": rt.sensitive()}
        method = rt.Mondrian(weights={"year": 0.05})
        return rt.publish(rt.Job(columns=columns, promises=[rt.KAnonymity(5)], method=method), frame=cars(), seed=4)

    release = made(None)
    assert style(release, "year") is None
    measured = rt.attack(release, cars(), "singling-out").to_dict()["columns"]["year"]
    assert measured["isolated"] > max(0.5, 1.5 * measured["control"])
    told = [notice for notice in release.notices if "ends of ranges of 'year'" in notice]
    assert len(told) == 1
    assert f"{measured['ends']:,} ends" in told[0]
    assert "width = 2, share = 0.34" in told[0]
    better = rt.attack(made({"style": "padded", "width": 2, "share": 0.34}), cars(), "singling-out").to_dict()[
        "columns"
    ]
    assert better["year"]["isolated"] < 0.7 * measured["isolated"]
    assert not any("ends of ranges of 'doors'" in notice for notice in release.notices)
    assert not any("ends of ranges" in notice for notice in made("tight").notices)
