"""SQL as people write it: names in other case, columns of true and false, 1 = 1, places, orders, dates and patterns."""

from __future__ import annotations

import json
from datetime import date, datetime, timedelta

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent.cli.main import main
from reticent.estimate.condition import match_texts
from reticent.query.run import ask_database
from tests.oracle import query_answers as oracle
from tests.support.query_methods import METHODS

ROWS = 240
LABELLED = ("generalized", "sampled")


def people() -> pl.DataFrame:
    rng = np.random.default_rng(3)
    return pl.DataFrame(
        {
            "age": rng.integers(20, 60, ROWS),
            "town": rng.choice(["Ayr", "Bath", "ayton"], ROWS),
            "smoker": rng.random(ROWS) < 0.4,
            "born": [date(1990, 1, 1) + timedelta(days=int(days)) for days in rng.integers(0, 300, ROWS)],
            "seen": [datetime(2020, 1, 1) + timedelta(hours=int(hours) * 6) for hours in rng.integers(0, 90, ROWS)],
            "education-num": rng.integers(1, 9, ROWS),
            "pay": rng.choice([10, 20, 30, 40, 50], ROWS),
        }
    )


COLUMNS = {
    "age": rt.quasi(numeric=True),
    "town": rt.quasi(),
    "smoker": rt.quasi(),
    "born": rt.quasi(),
    "seen": rt.quasi(),
    "education-num": rt.quasi(),
    "pay": rt.sensitive(type="numeric"),
}
PEOPLE = people()
COUNTS = {
    "Age < 30 AND TOWN = 'Ayr'": (pl.col("age") < 30) & (pl.col("town") == "Ayr"),
    "smoker": pl.col("smoker"),
    "NOT Smoker": ~pl.col("smoker"),
    "smoker = 1": pl.col("smoker"),
    "smoker <> 1 OR age < 25": ~pl.col("smoker") | (pl.col("age") < 25),
    "smoker IN (0)": ~pl.col("smoker"),
    "smoker = 'true' AND smoker IS NOT FALSE": pl.col("smoker"),
    '"education-num" AND NOT "education-num" = TRUE': pl.col("education-num") > 1,
    "1 = 1": pl.lit(True),
    "1 = 1 AND age < 30": pl.col("age") < 30,
    "(1 = 0 OR age >= 30) AND 'a' = 'a' AND -1 < 2.5": pl.col("age") >= 30,
    "NOT 1 = 1": pl.lit(False),
    "TRUE": pl.lit(True),
    '"education-num" > 3': pl.col("education-num") > 3,
    "seen >= '2020-01-10' AND seen < '2020-01-12'": pl.col("seen").is_between(
        datetime(2020, 1, 10), datetime(2020, 1, 12), closed="left"
    ),
    "seen = '2020-01-10'": pl.col("seen") == datetime(2020, 1, 10),
    "born <= '1990-03-01'": pl.col("born") <= date(1990, 3, 1),
}
LIKES = {
    "town LIKE 'A%'": pl.col("town").str.starts_with("A"),
    "town NOT LIKE '_y%'": ~pl.col("town").str.contains("^.y"),
    "town LIKE 'B_th' OR smoker": (pl.col("town") == "Bath") | pl.col("smoker"),
}


@pytest.fixture(scope="module", params=list(METHODS))
def release(request, tmp_path_factory):
    promises, method = METHODS[request.param]
    job = rt.Job(columns=COLUMNS, promises=promises, method=method)
    folder = tmp_path_factory.mktemp(request.param) / "release"
    rt.publish(job, frame=PEOPLE, to=folder, seed=1, again=True)
    return rt.open(folder)


@pytest.mark.parametrize("condition", [*COUNTS, *LIKES])
def test_a_condition_as_people_write_it_is_answered(release, condition):
    question = f"SELECT COUNT(1) FROM release WHERE {condition}"
    true = len(PEOPLE.filter({**COUNTS, **LIKES}[condition]))
    answer = release.query(question)
    assert answer.lower <= true <= answer.upper
    if release.kind not in LABELLED:
        assert answer.lower == answer.upper == answer.estimate
    (line,) = release.measure([question], source=PEOPLE)
    assert line["true"] == true


@pytest.mark.parametrize("database", ["sqlite", "duckdb"])
def test_a_database_is_asked_the_same_way(release, database, tmp_path):
    url = f"{database}:///{tmp_path}/r.db"
    release.to_database(url, "people")
    if release.kind in LABELLED:
        with pytest.raises(rt.RequestError, match="labels are texts"):
            ask_database(release.manifest, "SELECT COUNT(*) FROM release", url, "people")
        return
    for condition in [*COUNTS, *LIKES]:
        question = f"SELECT COUNT(*) FROM release WHERE {condition}"
        assert ask_database(release.manifest, question, url, "people").estimate == pytest.approx(
            release.query(question).estimate
        ), condition
    for question in (
        "SELECT Smoker, COUNT(*) AS n FROM release WHERE pay < 30 GROUP BY 1 ORDER BY n DESC",
        "SELECT born, COUNT(*) FROM release WHERE Age < 30 GROUP BY born ORDER BY 2 DESC, 1 LIMIT 5",
    ):
        ours, theirs = (release.query(question), ask_database(release.manifest, question, url, "people"))
        assert [answer.keys for answer in theirs] == [answer.keys for answer in ours], question
        assert [answer.estimate for answer in theirs] == pytest.approx([answer.estimate for answer in ours])
        assert theirs.certainty
    with pytest.raises(rt.RequestError, match="ORDER BY and LIMIT are not printed"):
        release.sql("SELECT town, COUNT(*) FROM release GROUP BY town LIMIT 2", database)


def test_the_least_and_the_greatest_of_dates_are_dates(release, capsys):
    question = "SELECT MIN(born), MAX(born), MIN(seen), MAX(seen) FROM release WHERE age < 40"
    young = PEOPLE.filter(pl.col("age") < 40)
    truths = [young["born"].min(), young["born"].max(), young["seen"].min(), young["seen"].max()]
    answers = release.query(question)
    for answer, true in zip(answers, truths, strict=True):
        assert answer.lower <= true <= answer.upper
        assert type(answer.estimate) is type(true) and answer.lower <= answer.estimate <= answer.upper
    measured = release.measure([question], source=PEOPLE)
    assert [line["true"] for line in measured] == truths
    assert all("error" not in line for line in measured)
    assert main(["query", str(release.folder), question, "--json"]) == 0
    assert [line["lower"] for line in json.loads(capsys.readouterr().out)] == [
        answer.lower.isoformat() for answer in answers
    ]
    assert main(["query", str(release.folder), question]) == 0
    assert str(answers[0].lower) in capsys.readouterr().out
    with pytest.raises(rt.RequestError, match="no numbers"):
        release.query("SELECT AVG(born) FROM release")
    if release.kind in ("perturbed", "sampled"):
        with pytest.raises(rt.RequestError, match="sensitive column"):
            release.query("SELECT MIN(born) FROM release WHERE pay = 10")


def test_a_date_beside_moments_says_which_moment_it_is(release):
    assert "midnight" in release.query("SELECT COUNT(*) FROM release WHERE seen < '2020-01-10'").note
    assert "midnight" not in release.query("SELECT COUNT(*) FROM release WHERE born < '2020-01-10'").note
    assert "midnight" not in release.query("SELECT COUNT(*) FROM release WHERE seen < '2020-01-10 12:00:00'").note


def test_a_number_or_a_truth_value_beside_texts_is_said_to_be_a_text_or_refused():
    frame = pl.DataFrame(
        {"age": [20, 30] * 4, "flag": ["true", "false"] * 4, "code": ["1", "2"] * 4, "pay": [1, 2] * 4}
    )
    columns = {"age": rt.quasi(), "flag": rt.insensitive(), "code": rt.insensitive(), "pay": rt.sensitive()}
    release = rt.publish(rt.Job(columns=columns, promises=[rt.KAnonymity(4)]), frame=frame)
    compared = release.query("SELECT COUNT(*) FROM release WHERE flag = 1")
    assert (compared.lower, compared.upper) == (0, 0) and "read as the text" in compared.note
    compared = release.query("SELECT COUNT(*) FROM release WHERE code IN (1, 7)")
    assert (compared.lower, compared.upper) == (4, 4) and "read as the text" in compared.note
    assert "read as the text" not in release.query("SELECT COUNT(*) FROM release WHERE flag = 'true' AND age = 20").note
    for condition in ("flag", "NOT flag", "flag IS TRUE", "flag = TRUE"):
        with pytest.raises(rt.RequestError, match="flag = 'true'"):
            release.query(f"SELECT COUNT(*) FROM release WHERE {condition}")


def test_groups_are_named_by_their_place_and_sorted_by_estimates_with_a_word(release, capsys):
    plain = release.query("SELECT town, COUNT(*) FROM release WHERE pay < 30 GROUP BY town")
    ordered = release.query(
        "SELECT Town AS place, COUNT(*) AS n FROM release WHERE pay < 30 GROUP BY 1 ORDER BY n DESC"
    )
    listed = [answer for answer in ordered if not answer.rest]
    assert sorted(plain.frame()["estimate"]) == sorted(ordered.frame()["estimate"])
    assert [answer.estimate for answer in listed] == sorted((answer.estimate for answer in listed), reverse=True)
    assert all("in the order of their estimates" in answer.note for answer in ordered)
    question = "SELECT town, COUNT(*) FROM release WHERE pay < 30 GROUP BY town ORDER BY COUNT(*) LIMIT 2"
    limited = release.query(question)
    assert len(limited) == 2
    assert f"LIMIT leaves out {len(plain) - 2} of {len(plain)} lines" in limited.note
    assert f"LIMIT leaves out {len(plain) - 2} of {len(plain)} lines" in limited[0].note
    assert main(["query", str(release.folder), question]) == 0
    assert "LIMIT leaves out" in capsys.readouterr().out
    by_key = release.query("SELECT town, COUNT(*) FROM release GROUP BY town ORDER BY town DESC")
    shown = [answer.keys["town"] for answer in by_key if not answer.rest and answer.keys["town"] is not None]
    assert shown == sorted(shown, reverse=True) and "estimates" not in by_key.note.partition("Assumed")[0]
    assert release.query("SELECT COUNT(*) FROM release ORDER BY 1 LIMIT 5").estimate == ROWS


def test_lines_of_withheld_rows_and_of_nulls_keep_their_place():
    frame = pl.DataFrame({"age": [*range(20, 60)] * 3, "town": ["a", None, "b"] * 40, "d": [*"xxxxxxxxyz"] * 12})
    columns = {"age": rt.quasi(numeric=True, top=50), "town": rt.quasi(), "d": rt.sensitive()}
    job = rt.Job(
        columns=columns,
        promises=[rt.ProbabilisticLDiversity(2)],
        method=rt.Anatomy(),
        prepare=[rt.Suppression(l=2, kind="safe")],
    )
    release = rt.publish(job, frame=frame, seed=1)
    assert release.manifest.withheld
    ascending = release.query("SELECT town, COUNT(*) FROM release GROUP BY town ORDER BY town")
    assert [answer.keys["town"] for answer in ascending] == ["a", "b", None, "any other value"]
    first = release.query("SELECT town, COUNT(*) FROM release GROUP BY town ORDER BY town DESC NULLS FIRST")
    assert [answer.keys["town"] for answer in first] == [None, "b", "a", "any other value"]
    cut = release.query("SELECT town, COUNT(*) FROM release GROUP BY town LIMIT 3")
    assert "LIMIT leaves out 1 of 4 lines, that of all other values among them." in cut.note
    ages = release.query("SELECT age, COUNT(*) FROM release GROUP BY age ORDER BY age DESC LIMIT 2")
    assert [answer.keys["age"] for answer in ages] == ["50 or more", 49]
    like = release.query("SELECT COUNT(*) FROM release WHERE town LIKE 'a%'")
    assert like.published.lower == like.published.upper
    assert (like.lower, like.upper) == (like.published.lower, like.published.upper + release.manifest.withheld)
    both = release.query("SELECT COUNT(*) FROM release WHERE town LIKE 'a%' AND NOT town LIKE 'a%'")
    assert both.upper == 0
    nothing = release.query("SELECT COUNT(*) FROM release WHERE 1 = 0")
    assert nothing.lower == nothing.upper == 0
    everything = release.query("SELECT COUNT(*) FROM release WHERE 1 = 1")
    assert everything.lower == everything.upper == len(frame)


def test_an_exact_name_wins_and_one_that_may_be_several_is_refused():
    frame = pl.DataFrame({"age": [1, 2, 3, 4] * 5, "Age": [5, 6, 7, 8] * 5, "d": ["x", "y"] * 10})
    columns = {"age": rt.quasi(), "Age": rt.quasi(), "d": rt.sensitive()}
    job = rt.Job(columns=columns, promises=[rt.ProbabilisticLDiversity(2)], method=rt.Anatomy())
    release = rt.publish(job, frame=frame, seed=1)
    assert release.query("SELECT MAX(age) FROM release").estimate == 4
    assert release.query("SELECT MAX(Age) FROM release").estimate == 8
    with pytest.raises(rt.RequestError, match="may be any of several columns: 'age', 'Age'"):
        release.query("SELECT MAX(AGE) FROM release")


@pytest.mark.parametrize(
    "question",
    [
        "SELECT AVG(education-num) FROM release",
        "SELECT COUNT(*) FROM release WHERE education-num > 3",
        "SELECT COUNT(*) FROM release WHERE 3 < Education-Num",
        "SELECT COUNT(*) FROM release WHERE education-num IS NULL",
        "SELECT COUNT(*) FROM release WHERE education-num BETWEEN 1 AND 3",
        "SELECT education-num, COUNT(*) FROM release GROUP BY education-num",
        'SELECT "education-num", COUNT(*) FROM release GROUP BY 1 ORDER BY education-num',
    ],
)
def test_a_name_with_a_mark_in_it_is_told_to_be_quoted(release, question):
    with pytest.raises(rt.RequestError, match='"education-num", in double quotes'):
        release.query(question)


def test_a_pattern_on_labels_is_certain_where_they_show_values_and_open_where_a_star_stands():
    towns = ["Ayr"] * 4 + ["Bath"] * 4 + ["Ayr", "Bath", "Cork", "Deal"]
    ages = [20] * 4 + [50] * 4 + [80] * 4
    frame = pl.DataFrame({"age": ages, "town": towns, "sex": ["m", "f"] * 6, "pay": [1, 2, 3, 4] * 3})
    columns = {"age": rt.quasi(numeric=True), "town": rt.quasi(), "sex": rt.insensitive(), "pay": rt.sensitive()}
    release = rt.publish(rt.Job(columns=columns, promises=[rt.KAnonymity(4)], method=rt.Mondrian()), frame=frame)
    labels = release.frame()["town"].to_list()
    assert labels.count("*") == 4 and labels.count("Ayr") == labels.count("Bath") == 4

    def ask(condition):
        answer = release.query(f"SELECT COUNT(*) FROM release WHERE {condition}")
        return answer.lower, answer.upper

    assert ask("town LIKE 'A%'") == (4, 8)
    assert ask("town NOT LIKE 'A%'") == (4, 8)
    assert ask("town LIKE 'X%'") == (0, 4)
    assert ask("town LIKE 'A%' AND NOT town LIKE 'A%'") == (0, 0)
    assert ask("age < 60 AND town LIKE 'A%'") == (4, 4)


def test_a_pattern_on_a_hierarchy_is_judged_of_its_leaves():
    frame = pl.DataFrame({"town": ["Ayr", "Ayton", "Bath", "Bonn"] * 5, "pay": [1, 2, 3, 4, 5] * 4})
    tree = [["Ayr", "a", "*"], ["Ayton", "a", "*"], ["Bath", "b", "*"], ["Bonn", "b", "*"]]
    columns = {"town": rt.quasi(hierarchy=tree), "pay": rt.sensitive()}
    release = rt.publish(rt.Job(columns=columns, promises=[rt.KAnonymity(10)], method=rt.Mondrian()), frame=frame)
    counts = [
        release.query(f"SELECT COUNT(*) FROM release WHERE town LIKE '{pattern}'") for pattern in ("A%", "%n", "X%")
    ]
    assert [(count.lower, count.upper) for count in counts] == [(10, 10), (0, 20), (0, 0)]


def test_a_pattern_matches_as_it_does_letter_by_letter():
    rng = np.random.default_rng(4)
    texts = ["".join(rng.choice(["a", "b", "\n"], rng.integers(0, 6))) for _ in range(60)]
    for _ in range(300):
        pattern = "".join(rng.choice(["a", "b", "%", "%", "_"], rng.integers(0, 7)))
        assert match_texts([*texts, None], pattern).tolist() == [
            *(oracle.is_like(text, pattern) for text in texts),
            False,
        ]


def test_a_pattern_of_many_wildcards_takes_no_longer_than_its_pieces():
    assert not match_texts(["a" * 20_000], "%a" * 300 + "b").any()


def test_a_star_of_dates_may_be_any_date():
    """A hierarchy that was built from the data lists the published days alone."""
    days = [date(2020, 1, 1) + timedelta(days=30 * number) for number in range(12)]
    frame = pl.DataFrame({"born": days * 3, "town": ["a", "b", "c"] * 12, "d": [*"xyz"] * 12})
    hierarchy = {"build": "dates", "levels": ["month", "year"]}
    columns = {"born": rt.quasi(type="date", hierarchy=hierarchy), "town": rt.quasi(), "d": rt.sensitive()}
    release = rt.publish(rt.Job(columns=columns, promises=[rt.KAnonymity(18)]), frame=frame, seed=1)
    before = release.query("SELECT COUNT(*) FROM release WHERE born < '2020-01-01'")
    after = release.query("SELECT COUNT(*) FROM release WHERE born > '2021-01-01'")
    least = release.query("SELECT MIN(born) FROM release")
    assert least.lower is None or least.lower <= date(2020, 1, 1)
    if (release.tables["data"]["born"] == "*").any():
        assert before.upper > 0 and after.upper > 0 and least.lower is None
