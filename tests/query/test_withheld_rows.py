"""Answers are about the people of the source: withheld rows, tops, bottoms and rounding are counted in, here and in databases."""

from __future__ import annotations

import json
from dataclasses import replace

import polars as pl
import pytest

import reticent as rt
from reticent.cli.main import main
from reticent.query import ask
from reticent.query.run import ask_database

PEOPLE = pl.DataFrame(
    {
        "age": [20 + i % 40 for i in range(200)],
        "illness": ["flu"] * 100 + ["cold"] * 60 + ["gout"] * 20 + ["mumps"] * 10 + ["acne"] * 10,
    }
)
METHODS = {
    "generalized": (rt.ProbabilisticLDiversity(3), rt.Mondrian()),
    "anatomized": (rt.ProbabilisticLDiversity(3), rt.Anatomy()),
    "perturbed": (rt.BetaLikeness(3), rt.BetaPerturbation()),
}


def suppressed(kind: str, **age) -> rt.Release:
    """The example of the documentation: 120 of 200 rows are withheld, 80 of the 100 with a flu among them."""
    promise, method = METHODS[kind]
    columns = {"age": rt.quasi(**age), "illness": rt.sensitive()}
    job = rt.Job(columns=columns, promises=[promise], method=method, prepare=[rt.Suppression(l=3, kind="safe")])
    return rt.publish(job, frame=PEOPLE, seed=1)


@pytest.mark.parametrize("kind", ["generalized", "anatomized"])
def test_a_count_has_bounds_that_hold_for_withheld_rows_too(kind):
    release = suppressed(kind)
    answer = release.query("SELECT COUNT(*) FROM release WHERE illness = 'flu'")
    assert (answer.lower, answer.upper) == (20, 140)
    assert (answer.published.estimate, answer.published.lower, answer.published.upper) == (20, 20, 20)
    assert answer.estimate == 20 * 200 / 80
    everybody = release.query("SELECT COUNT(*) FROM release")
    assert (everybody.estimate, everybody.lower, everybody.upper) == (200, 200, 200)
    assert release.count(values=["flu"]).upper == 140


def test_rows_withheld_for_their_loss_are_counted_in():
    frame = pl.DataFrame(
        {"age": [*range(20, 40)] * 5 + [90, 95, 99], "illness": ["flu", "cold", "gout"] * 34 + ["flu"]}
    )
    columns = {"age": rt.quasi(), "illness": rt.sensitive()}
    job = rt.Job(columns=columns, promises=[rt.KAnonymity(5)], release=rt.Output(suppress_at_most="0.05"))
    release = rt.publish(job, frame=frame, seed=1)
    assert release.manifest.withheld
    for condition in ("illness = 'flu'", "age > 80", "age > 80 OR age <= 80 OR age IS NULL"):
        answer = release.query(f"SELECT COUNT(*) FROM release WHERE {condition}")
        true = len(frame) if "OR" in condition else frame.filter(pl.sql_expr(condition)).height
        assert answer.lower <= true <= answer.upper
    whole = release.query("SELECT COUNT(*) FROM release WHERE age > 80 OR age <= 80 OR age IS NULL")
    assert whole.lower == whole.upper == len(frame)


def test_a_mean_over_withheld_rows_is_bounded_by_a_declared_domain_and_says_why_it_is_not():
    free = suppressed("anatomized").query("SELECT AVG(age) FROM release")
    assert (free.lower, free.upper) == (None, None)
    assert "120 rows were withheld" in free.note
    bounded = suppressed("anatomized", domain=[0, 120]).query("SELECT AVG(age) FROM release")
    published = bounded.published.estimate
    assert bounded.lower == pytest.approx((80 * published) / 200)
    assert bounded.upper == pytest.approx((80 * published + 120 * 120) / 200)
    least = suppressed("anatomized").query("SELECT MAX(age) FROM release")
    assert (least.lower, least.upper) == (59, None)


@pytest.mark.parametrize("kind", ["generalized", "anatomized"])
def test_groups_that_only_withheld_rows_may_have_are_one_line(kind):
    lines = suppressed(kind).query("SELECT illness, COUNT(*) FROM release GROUP BY illness")
    true = dict(PEOPLE["illness"].value_counts().iter_rows())
    for line in lines[:-1]:
        assert line.lower <= true[line.keys["illness"]] <= line.upper
    rest = lines[-1]
    assert rest.rest and not any(line.rest for line in lines[:-1])
    assert (rest.keys, rest.lower, rest.upper) == ({"illness": "any other value"}, 0, 120)
    assert rest.to_dict()["rest"] is True


def test_a_reconstructed_count_takes_withheld_rows_to_be_like_the_others_and_says_so():
    answer = suppressed("perturbed").query("SELECT COUNT(*) FROM release WHERE illness = 'flu'")
    share = 200 / 80
    assert answer.estimate == pytest.approx(answer.published.estimate * share)
    assert answer.std_error == pytest.approx(answer.published.std_error * share)
    assert "120 rows of the source were withheld" in answer.note
    exact = suppressed("perturbed").query("SELECT COUNT(*) FROM release WHERE age < 30")
    assert exact.std_error is None
    assert exact.lower <= 50 <= exact.upper


CODED = {
    "generalized": ([rt.KAnonymity(5)], rt.Mondrian()),
    "anatomized": ([rt.ProbabilisticLDiversity(2)], rt.Anatomy()),
    "perturbed": ([rt.BetaLikeness(3)], rt.BetaPerturbation()),
    "transformed": ([rt.PPrivacy("uniform")], rt.Distribution()),
    "sampled": ([rt.DeltaGrowth("0.9", "0.6")], rt.PerturbedGeneralization(k=4, p="0.5", domain=["1", "2", "3", "4"])),
}


def coded(kind: str, **age) -> tuple[rt.Release, pl.DataFrame]:
    frame = pl.DataFrame({"age": [10 + i for i in range(100)], "pay": [1 + i % 4 for i in range(100)]})
    promises, method = CODED[kind]
    columns = {"age": rt.quasi(numeric=True, **age), "pay": rt.sensitive(type="numeric")}
    return rt.publish(rt.Job(columns=columns, promises=promises, method=method), frame=frame, seed=1), frame


@pytest.mark.parametrize("kind", list(CODED))
def test_a_top_leaves_means_and_greatest_values_without_a_bound(kind):
    release, frame = coded(kind, top=80)
    greatest = release.query("SELECT MAX(age) FROM release")
    assert greatest.lower <= 80 and greatest.upper is None
    assert "top of 80" in greatest.note
    assert greatest.published.upper == 80
    mean = release.query("SELECT AVG(age) FROM release")
    assert mean.lower <= frame["age"].mean() and mean.upper is None
    least = release.query("SELECT MIN(age) FROM release")
    assert least.lower <= 10 <= least.upper
    above = release.query("SELECT COUNT(*) FROM release WHERE age >= 80")
    assert above.lower <= 30 <= above.upper


@pytest.mark.parametrize("kind", ["generalized", "anatomized", "transformed"])
def test_the_line_of_a_top_is_called_after_all_that_it_stands_for(kind):
    release, _ = coded(kind, top=80, bottom=20)
    lines = release.query("SELECT age, COUNT(*), MAX(age) FROM release GROUP BY age")
    counted = {line.keys["age"]: line for line in lines if line.of == "COUNT(*)"}
    assert counted["80 or more"].lower <= 30 <= counted["80 or more"].upper
    assert counted["20 or less"].lower <= 11 <= counted["20 or less"].upper
    assert 80 not in counted and 20 not in counted
    beyond = next(line for line in lines if line.keys["age"] == "80 or more" and line.of == "MAX(age)")
    assert (beyond.lower, beyond.upper) == (80, None)


@pytest.mark.parametrize("kind", ["generalized", "anatomized", "transformed", "perturbed"])
def test_rounded_numbers_stand_for_all_that_are_rounded_to_them(kind):
    frame = pl.DataFrame(
        {"age": [20 + i % 9 for i in range(90)], "pay": [i % 3 for i in range(90)], "cost": [3 * i for i in range(90)]}
    )
    promises, method = CODED[kind]
    columns = {
        "age": rt.quasi(numeric=True),
        "pay": rt.sensitive(type="numeric"),
        "cost": rt.insensitive(round_to=25, acknowledge=True),
    }
    release = rt.publish(rt.Job(columns=columns, promises=promises, method=method), frame=frame, seed=1)
    for aggregate in ("SUM", "AVG", "MIN", "MAX"):
        for condition in ("age < 25", "cost >= 100", "cost >= 100 AND cost < 130", "cost = 99"):
            answer = release.query(f"SELECT {aggregate}(cost) FROM release WHERE {condition}")
            kept = frame.filter(pl.sql_expr(condition))["cost"]
            true = {"SUM": kept.sum(), "AVG": kept.mean(), "MIN": kept.min(), "MAX": kept.max()}[aggregate]
            assert answer.lower <= true <= answer.upper, (aggregate, condition)
            assert condition == "cost = 99" or answer.lower < answer.upper
    count = release.query("SELECT COUNT(*) FROM release WHERE cost > 100")
    assert count.lower <= frame.filter(pl.col("cost") > 100).height <= count.upper
    lines = release.query("SELECT cost, COUNT(*) FROM release GROUP BY cost")
    shown = {f"{round(value / 25) * 25}, rounded to 25" for value in frame["cost"].to_list()}
    assert {line.keys["cost"] for line in lines} == shown
    assert all(line.lower == line.upper for line in lines)


def test_a_condition_on_rounded_and_redrawn_values_together_is_bounded(tmp_path):
    frame = pl.DataFrame(
        {"age": [20 + i % 9 for i in range(90)], "pay": [i % 3 for i in range(90)], "cost": [3 * i for i in range(90)]}
    )
    columns = {
        "age": rt.quasi(numeric=True),
        "pay": rt.sensitive(type="numeric"),
        "cost": rt.insensitive(round_to=25, acknowledge=True),
    }
    for kind in ("anatomized", "transformed"):
        promises, method = CODED[kind]
        release = rt.publish(rt.Job(columns=columns, promises=promises, method=method), frame=frame, seed=1)
        for condition in ("cost > 100 AND pay = 1", "cost < 47 OR pay = 2", "cost BETWEEN 90 AND 95"):
            kept = frame.filter(pl.sql_expr(condition))
            for aggregate, true in (
                ("COUNT(*)", len(kept)),
                ("SUM(pay)", kept["pay"].sum()),
                ("AVG(cost)", kept["cost"].mean()),
            ):
                answer = release.query(f"SELECT {aggregate} FROM release WHERE {condition}")
                assert answer.lower <= true <= answer.upper, (kind, aggregate, condition)


def test_a_manifest_that_does_not_say_what_was_declared_gives_no_bound_and_a_reason():
    release = suppressed("anatomized", domain=[0, 120])
    assert release.manifest.columns[0].declared
    columns = tuple(entry.with_changes(declared=False) for entry in release.manifest.columns)
    answer = ask(release.tables, replace(release.manifest, columns=columns), "SELECT AVG(age) FROM release")
    assert (answer.lower, answer.upper) == (None, None)
    assert "no declared domain limits 'age'" in answer.note
    assert "declared" not in suppressed("anatomized").manifest.to_dict()["columns"][0]


QUESTIONS = [
    "SELECT COUNT(*) FROM release",
    "SELECT COUNT(*) FROM release WHERE age < 33",
    "SELECT COUNT(*) FROM release WHERE illness = 'flu'",
    "SELECT COUNT(*) FROM release WHERE age < 33 AND illness IN ('flu', 'cold')",
    "SELECT age, COUNT(*) FROM release WHERE illness <> 'cold' GROUP BY age",
]


@pytest.mark.parametrize("database", ["sqlite", "duckdb"])
@pytest.mark.parametrize("kind", ["anatomized", "perturbed"])
def test_a_database_counts_withheld_rows_in_as_it_is_done_here(kind, database, tmp_path):
    release = suppressed(kind)
    url = f"{database}:///{tmp_path}/r.db"
    release.to_database(url, "people")
    for question in QUESTIONS:
        ours, theirs = (
            found if isinstance(found, list) else [found]
            for found in (release.query(question), ask_database(release.manifest, question, url, "people"))
        )
        assert [one.keys for one in theirs] == [one.keys for one in ours], question
        for one, wanted in zip(theirs, ours, strict=True):
            assert one.rest == wanted.rest, question
            if kind == "anatomized" or one.upper is not None:  # of redrawn values a database knows no bound but 0
                assert (one.lower, one.upper) == (wanted.lower, wanted.upper), question
            assert one.estimate == pytest.approx(wanted.estimate, abs=1e-9), question
            assert one.published.estimate == pytest.approx(wanted.published.estimate, abs=1e-9), question
            if wanted.std_error is not None:
                assert one.std_error == pytest.approx(wanted.std_error, abs=1e-6), question


def test_plain_sql_is_not_printed_where_values_stand_for_others():
    release, _ = coded("anatomized", top=80)
    with pytest.raises(rt.RequestError, match="top or bottom"):
        release.sql("SELECT age, COUNT(*) FROM release GROUP BY age", "duckdb")
    assert "-- 120 rows" in suppressed("anatomized").sql("SELECT COUNT(*) FROM release WHERE age < 30", "duckdb")


def test_the_command_shows_both_answers(tmp_path, capsys):
    suppressed("generalized").save(tmp_path / "release")
    question = "SELECT COUNT(*) FROM release WHERE illness = 'flu'"
    assert main(["query", str(tmp_path / "release"), question]) == 0
    assert "published" in capsys.readouterr().out
    assert main(["query", str(tmp_path / "release"), question, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "estimate": 50,
        "lower": 20,
        "upper": 140,
        "published": {"estimate": 20, "lower": 20, "upper": 20},
        "note": "Certain: the true answer lies from `lower` to `upper`. Assumed, for the estimate: 120 withheld rows are "
        "like those published.",
    }


def test_numbers_on_both_sides_of_zero_that_are_rounded_to_it_are_one_line():
    people = pl.DataFrame(
        {"age": list(range(20, 60)), "illness": ["flu", "cold"] * 20, "note": [-0.1, 0.1, 3.0, -3.0] * 10}
    )
    columns = {"age": rt.quasi(), "illness": rt.sensitive(), "note": rt.insensitive(round_to=0.5)}
    release = rt.publish(rt.Job(columns=columns, promises=[rt.KAnonymity(5)]), frame=people, seed=1)
    lines = {
        line.keys["note"]: line.estimate for line in release.query("SELECT note, COUNT(*) FROM release GROUP BY note")
    }
    assert lines["0.0, rounded to 0.5"] == 20
    assert not any(name.startswith("-0.0") for name in lines)


@pytest.mark.parametrize("bottom", [23, 25])
def test_leaves_beyond_a_bottom_or_top_have_no_line_beside_that_of_the_end(bottom):
    """A hierarchy lists ages that coding made 23: they are in the line `23 or less`, and in no other."""
    ages = [20 + at % 60 for at in range(240)]
    frame = pl.DataFrame({"age": ages, "illness": ["flu", "cold", "gout"] * 80})
    hierarchy = [[str(age), str(age // 10), "*"] for age in range(100)]
    columns = {"age": rt.quasi(numeric=True, hierarchy=hierarchy, bottom=bottom, top=70), "illness": rt.sensitive()}
    release = rt.publish(rt.Job(columns=columns, promises=[rt.KAnonymity(15)]), frame=frame, seed=1)
    lines = release.query("SELECT age, COUNT(*) FROM release GROUP BY age")
    keys = [line.keys["age"] for line in lines]
    assert keys == [f"{bottom} or less", *range(bottom + 1, 70), "70 or more"]
    for line, true in ((lines[0], sum(age <= bottom for age in ages)), (lines[-1], sum(age >= 70 for age in ages))):
        assert line.lower <= true <= line.upper


def test_ages_that_a_hierarchy_declares_and_no_label_shows_are_in_the_last_line():
    """`*` may hide any leaf: the line of all other values is there though the values are declared."""
    ages = [None] * 5 + [10 + at % 10 for at in range(60)] + list(range(30, 45))
    frame = pl.DataFrame({"age": ages, "illness": ["flu", "cold", "gout", "acne"] * 20})
    hierarchy = [[str(age), str(age // 10), "*"] for age in range(100)]
    columns = {"age": rt.quasi(numeric=True, hierarchy=hierarchy), "illness": rt.sensitive()}
    release = rt.publish(rt.Job(columns=columns, promises=[rt.KAnonymity(20)]), frame=frame, seed=1)
    assert "*" in release.frame()["age"].to_list()
    for condition in ("", " WHERE age >= 26"):
        lines = release.query(f"SELECT age, COUNT(*) FROM release{condition} GROUP BY age")
        listed = [line.keys["age"] for line in lines if not line.rest]
        true = sum(age is not None and age >= 26 and age not in listed for age in ages)
        rest = [line for line in lines if line.rest]
        assert true == 0 or (len(rest) == 1 and rest[0].lower <= true <= rest[0].upper)
        assert true or condition == ""
