"""A title is a sentence that says what is found: it is true of odd releases too, of one group, one column, nothing lost."""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent.report import pictures

ILLNESSES = ["flu", "cold", "gout"]
PEOPLE = {"age": rt.quasi(), "city": rt.quasi(), "illness": rt.sensitive()}


def people(rows: int) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "age": [20 + row % 17 for row in range(rows)],
            "city": [["Ulm", "Bonn", "Kiel"][row % 3] for row in range(rows)],
            "illness": [ILLNESSES[(row * 7 // 3) % 3] for row in range(rows)],
        }
    )


def list_titles(frame, k, columns=None):
    """The title and the line below it of every figure, of a release of `frame`."""
    job = rt.Job(columns=columns or PEOPLE, promises=[rt.KAnonymity(k)])
    release = rt.publish(job, frame=frame)
    facts = rt.report(release).facts
    return {
        part["figure"]["title"]: part["figure"]["drawn"]
        for section in facts["sections"]
        for part in section["parts"]
        if "figure" in part
    }


def test_one_group_is_said_to_be_one_and_equal_losses_to_be_equal():
    titles = list_titles(people(10), 10)
    assert titles["All 10 people read the same"].startswith("1 group of people who read")
    assert titles["age: every row within 9"].startswith("1 range on")
    assert {"city: no row says more than any value", "Every column loses the same: 100\u00a0%"} <= set(titles)


def test_equal_rows_lose_nothing_and_no_group_tells_more_than_everybody():
    frame = pl.DataFrame({"age": [30] * 20, "city": ["Ulm"] * 20, "illness": [*ILLNESSES * 6, "flu", "cold"]})
    assert {"age: every row as it was", "city: every row as it was", "No column lost anything"} <= set(
        list_titles(frame, 5)
    )
    same = pl.DataFrame({"age": [30, 60] * 15, "illness": [value for value in ILLNESSES for _ in range(10)]})
    columns = {"age": rt.quasi(), "illness": rt.sensitive()}
    assert "No group differs from everybody in illness" in list_titles(same, 5, columns)


def test_one_column_loses_and_does_not_lose_most():
    titles = list_titles(people(40).drop("city"), 4, {"age": rt.quasi(), "illness": rt.sensitive()})
    assert [title for title in titles if title.startswith("age loses ") and "most" not in title]
    assert not any("loses most" in title for title in titles)


def test_rows_without_a_range_are_counted_in_the_title():
    frame = pl.DataFrame({"age": [None] * 50 + [30] * 10, "illness": ILLNESSES * 20})
    titles = list_titles(frame, 5, {"age": rt.quasi(), "illness": rt.sensitive()})
    assert "age: 83\u00a0% of the rows have no range with two ends" in titles, "and not: every row as it was"


def test_ranges_of_dates_have_a_unit():
    days = [date(1950, 1, 1) + timedelta(days=97 * row) for row in range(100)]
    frame = pl.DataFrame({"born": days, "illness": [ILLNESSES[row % 3] for row in range(100)]})
    titles = list_titles(frame, 5, {"born": rt.quasi(), "illness": rt.sensitive()})
    assert any(title.startswith("born: half of the rows within ") and "years" in title for title in titles)


def test_rows_are_not_called_who():
    frame = people(60).with_columns(person=pl.Series([f"p{row // 2}" for row in range(60)]))
    columns = {"person": rt.identifying(rows_per_person=2), **PEOPLE}
    drawn = " ".join(list_titles(frame, 4, columns).values())
    assert "groups of rows that read the same" in drawn


@pytest.mark.parametrize(
    ("sizes", "promised", "title"),
    [
        ([3, 5, 9], 5, "1 group is smaller than the promised 5; the smallest has 3 people"),
        ([1, 4], 5, "2 groups are smaller than the promised 5; the smallest has 1 person"),
        ([5, 9], 5, "No group is smaller than the promised 5"),
        ([9], 5, "All 9 people read the same"),
        ([4, 9], None, "The smallest group has 4 people"),
    ],
)
def test_groups_that_are_too_small_are_said_first(sizes, promised, title):
    assert pictures._write_group_title(np.array(sizes), promised, "people", True) == title


@pytest.mark.parametrize(
    ("losses", "title"),
    [
        ([("age", 0.2)], "age loses 20\u00a0%"),
        ([("age", 0.2), ("city", 0.1)], "age loses most: 20\u00a0%"),
        ([("age", 0.2), ("city", 0.2)], "Every column loses the same: 20\u00a0%"),
        ([("age", 0.2), ("city", 0.2), ("pay", 0.0)], "2 of 3 columns lose most: 20\u00a0%"),
        ([("age", 0.0)], "No column lost anything"),
    ],
)
def test_the_column_that_loses_most_is_named_only_if_it_is_one(losses, title):
    assert pictures._write_loss_title(losses) == title


@pytest.mark.parametrize(
    ("levels", "title"),
    [
        ([("city", 1.0, 0.0, 0.0)], "city: every row as it was"),
        ([("city", 1.0, 0.0, 0.0), ("sex", 1.0, 0.0, 0.0)], "all categories: every row as it was"),
        ([("city", 0.0, 0.5, 0.5), ("sex", 0.0, 1.0, 0.0)], "all categories: no row as it was"),
        ([("city", 0.6, 0.4, 0.0), ("sex", 0.2, 0.8, 0.0)], "city: 60\u00a0% of the rows as they were; sex: 20\u00a0%"),
    ],
)
def test_categories_are_named_together_where_they_do_not_differ(levels, title):
    assert pictures._write_level_title(levels) == title


def test_a_promise_that_files_do_not_show_is_not_called_broken():
    job = rt.Job(columns=PEOPLE, promises=[rt.BetaLikeness(2)], method="beta-perturbation")
    figures = rt.report(rt.publish(job, frame=people(60))).facts["figures"]
    assert (figures[0]["figure"], figures[0]["unit"]) == ("0 of 1", "shown kept")
    assert "do not show 1" in figures[0]["means"]


@pytest.mark.parametrize(
    ("ages", "title"),
    [
        ([20, 20, 20, 20, 30, 31], "2 of 6 people were alone; now nobody is"),
        ([20, 20, 20, 30, 30, 30], "Nobody was alone; now nobody is, either"),
        ([20, 20, 20, 20, 20, 31], "1 of 6 people was alone; now nobody is"),
    ],
)
def test_who_was_alone_is_counted_in_words(tmp_path, ages, title):
    frame = pl.DataFrame({"age": ages, "illness": ILLNESSES * 2})
    columns = {"age": rt.quasi(), "illness": rt.sensitive()}
    rt.publish(rt.Job(columns=columns, promises=[rt.KAnonymity(2)]), frame=frame, to=tmp_path / "release")
    text = rt.report(tmp_path / "release", source=frame, budget=1).markdown()
    assert title in text
