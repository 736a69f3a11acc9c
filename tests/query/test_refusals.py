"""What is not understood is refused by its name, by every kind, and nothing is written."""

from __future__ import annotations

import polars as pl
import pytest

import reticent as rt
from reticent.cli.main import main
from reticent.query.sql import parse_statements
from tests.support import repeated_releases
from tests.support.query_methods import METHODS, publish_by

BAD = {
    "SELECT COUNT(*) FROM release JOIN s ON release.age = s.age": "JOIN",
    "SELECT COUNT(*) FROM release, s": "JOIN",
    "SELECT COUNT(*) FROM people": "FROM names another table",
    "SELECT COUNT(*) FROM main.release": "FROM names another table",
    "SELECT COUNT(*) FROM 'data.parquet'": "FROM names another table",
    "SELECT COUNT(*) FROM read_csv('people.csv')": "one table: the release",
    "SELECT COUNT(*)": "one table: the release",
    "SELECT COUNT(*) FROM release WHERE s.age > 3": "another table than the release",
    "SELECT AVG(s.age) FROM release": "another table than the release",
    "SELECT COUNT(*) FROM release TABLESAMPLE (10 PERCENT)": "SAMPLE after FROM release",
    "SELECT COUNT(*) FROM release USING SAMPLE 10": "SAMPLE",
    "SELECT COUNT(*) FROM release AS r(a, b)": "COLUMNS after FROM release",
    "SELECT COUNT(*) FROM release PIVOT (COUNT(*) FOR town IN ('a'))": "PIVOT",
    "SELECT COUNT(*) INTO other FROM release": "INTO",
    "SELECT COUNT(*) FROM release FOR UPDATE": "FOR is",
    "SELECT COUNT(*) FROM release CLUSTER BY town": "CLUSTER BY",
    "SELECT COUNT(*) FROM release WHERE age IN (SELECT age FROM release)": "question within a question",
    "SELECT COUNT(*) FROM (SELECT * FROM release)": "question within a question",
    "SELECT COUNT(*) OVER (PARTITION BY age) FROM release": "OVER (a window)",
    "SELECT COUNT(*) FILTER (WHERE age > 3) FROM release": "FILTER",
    "SELECT COUNT(*) FROM release WHERE height > 3": "no column 'height'",
    "SELECT SUM(height) FROM release": "no column 'height'",
    "SELECT MEDIAN(age) FROM release": "function MEDIAN",
    "SELECT spread(age) FROM release": "function spread",
    "SELECT MAX(age, 2) FROM release": "MAX of more than a column",
    "SELECT COUNT(* EXCLUDE (age)) FROM release": "COUNT of more than a column",
    "SELECT COUNT(DISTINCT town) FROM release": "DISTINCT",
    "SELECT COUNT() FROM release": "COUNT of nothing",
    "SELECT age BETWEEN 20 AND 30 FROM release": "BETWEEN is not understood as what to select",
    "SELECT COUNT(*) FROM release GROUP BY age BETWEEN 20 AND 30": "BETWEEN is not understood in GROUP BY",
    "SELECT COUNT(*) FROM release WHERE town SIMILAR TO 'a'": "SIMILAR TO",
    "SELECT COUNT(*) FROM release WHERE town ~ 'a'": "A regular expression",
    "SELECT COUNT(*) FROM release WHERE age & 1 = 1": "& in a comparison",
    "SELECT COUNT(*) FROM release WHERE age = CASE WHEN age = 1 THEN 2 END": "CASE is not understood as a value",
    "SELECT COUNT(*) FROM release WHERE UPPER(town) = 'A'": "function UPPER",
    "SELECT AVG(town) FROM release": "no numbers",
    "SELECT MAX(town) FROM release": "no numbers",
    "SELECT COUNT(*) FROM release WHERE age < pay": "one column with a value",
    "SELECT COUNT(*) FROM release WHERE age BETWEEN pay AND 3": "one column with a value",
    "SELECT COUNT(*) FROM release WHERE age IN (pay, 3)": "one column with a value",
    "SELECT COUNT(*) FROM release WHERE age + pay > 3": "+ in a comparison",
    "SELECT COUNT(*) FROM release WHERE age BETWEEN SYMMETRIC 50 AND 20": "BETWEEN SYMMETRIC",
    "SELECT COUNT(*) FROM release WHERE age = CAST(30.6 AS INTEGER)": "function CAST",
    "SELECT COUNT(*) FROM release WHERE age > 'old'": "compared with a text",
    "SELECT COUNT(*) FROM release WHERE age > 'nan'": "compared with a text",
    "SELECT COUNT(*) FROM release WHERE age = NULL": "NULL",
    "SELECT COUNT(*) FROM release HAVING COUNT(*) > 3": "HAVING",
    "SELECT COUNT(*) FROM release GROUP BY ALL": "GROUP BY with ALL",
    "SELECT COUNT(*) FROM release GROUP BY ROLLUP (town)": "ROLLUP",
    "SELECT town, COUNT(*) FROM release GROUP BY town WITH ROLLUP": "GROUP BY with ROLLUP",
    "SELECT town, COUNT(*) FROM release GROUP BY 3": "a place that SELECT does not have",
    "SELECT town, COUNT(*) FROM release GROUP BY 2": "GROUP BY names an aggregate",
    "SELECT town, COUNT(*) FROM release GROUP BY 'town'": "A value is not understood in GROUP BY",
    "SELECT town, COUNT(*) FROM release GROUP BY town HAVING COUNT(*) > 3": "a group may or may not qualify",
    "SELECT town, COUNT(*) FROM release GROUP BY town ORDER BY age": "which no line shows",
    "SELECT town, COUNT(*) FROM release GROUP BY town ORDER BY SUM(pay)": "which no line shows",
    "SELECT town, COUNT(*) FROM release GROUP BY town ORDER BY 5": "a place that SELECT does not have",
    "SELECT town, COUNT(*) FROM release GROUP BY town ORDER BY age + 1": "+ is not understood in ORDER BY",
    "SELECT town, COUNT(*) FROM release GROUP BY town LIMIT 0": "1 at the least",
    "SELECT town, COUNT(*) FROM release GROUP BY town LIMIT 10 PERCENT": "1 at the least",
    "SELECT town, COUNT(*) FROM release GROUP BY town LIMIT 3 OFFSET 2": "OFFSET",
    "SELECT COUNT(*) FROM release WHERE town": "its values are texts",
    "SELECT COUNT(*) FROM release WHERE town ILIKE 'a%'": "ILIKE",
    "SELECT COUNT(*) FROM release WHERE age LIKE '3%'": "no texts",
    "SELECT COUNT(*) FROM release WHERE town LIKE age": "LIKE is with a text",
    "SELECT COUNT(*) FROM release WHERE town LIKE 'a\\%'": "backslash",
    "SELECT COUNT(*) FROM release WHERE town LIKE 'a%' ESCAPE 'x'": "ESCAPE",
    "SELECT COUNT(*) FROM release WHERE 1 = 'a'": "comparison without a column",
    "SELECT COUNT(*) FROM release WHERE town IS TRUE": "its values are texts",
    "SELECT COUNT(*) FROM release WHERE marital status = 'x'": "double quotes",
    "DROP TABLE release": "one SELECT",
}


@pytest.fixture(scope="module", params=list(METHODS))
def release(request, tmp_path_factory):
    return publish_by(request.param, tmp_path_factory.mktemp(request.param) / "release")


def test_a_bad_question_is_refused_by_name_and_nothing_is_written(release, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    before = sorted(path.stat().st_mtime_ns for path in release.folder.iterdir())
    for question, why in BAD.items():
        with pytest.raises(rt.RequestError) as refused:
            release.query(question)
        assert why in str(refused.value), question
    assert main(["query", str(release.folder), "SELECT COUNT(*) FROM release, s"]) == 1
    assert "JOIN" in capsys.readouterr().err
    assert sorted(path.stat().st_mtime_ns for path in release.folder.iterdir()) == before
    assert not list(tmp_path.iterdir())


def test_every_kind_answers_several_aggregates_by_groups(release, capsys):
    frame = repeated_releases.people(200)
    asked = "SELECT town, COUNT(*), AVG(age) FROM release WHERE pay >= 20 OR age < 30 GROUP BY town"
    found = release.query(asked)
    assert [one.keys["town"] for one in found] == ["a", "a", "b", "b", "c", "c"]
    assert {one.of for one in found} == {"COUNT(*)", "AVG(age)"}
    counted = [one for one in found if one.of == "COUNT(*)"]
    reach = 5 * sum(one.std_error or 0 for one in counted) + 0.3 * len(frame)
    assert sum(one.estimate for one in counted) == pytest.approx(len(frame), abs=reach)
    assert main(["query", str(release.folder), asked]) == 0
    assert "AVG(age)" in capsys.readouterr().out


def test_a_question_about_quasi_identifiers_alone_has_guaranteed_bounds_in_every_kind(release):
    frame = repeated_releases.people(200)
    found = release.query("SELECT COUNT(*) FROM release WHERE age < 31 OR age >= 44")
    assert found.lower <= len(frame.filter((frame["age"] < 31) | (frame["age"] >= 44))) <= found.upper
    whole = release.query("SELECT COUNT(*) FROM release WHERE age < 31 OR age >= 31")
    assert whole.lower == whole.upper == whole.estimate == len(frame)


def test_beyond_a_declared_top_nothing_is_told_apart():
    columns = {**repeated_releases.COLUMNS, "age": rt.quasi(numeric=True, top=50)}
    release = rt.publish(
        rt.Job(columns=columns, promises=[rt.KAnonymity(5)]), frame=repeated_releases.people(200), seed=1
    )
    for condition in ("age > 50", "age = 50", "age < 55", "age <= 50"):
        with pytest.raises(rt.RequestError, match="declared top"):
            release.query(f"SELECT COUNT(*) FROM release WHERE {condition}")
    found = release.query("SELECT COUNT(*) FROM release WHERE age >= 50")
    assert (
        found.lower
        <= len(repeated_releases.people(200).filter(repeated_releases.people(200)["age"] >= 50))
        <= found.upper
    )


@pytest.mark.parametrize("named", ["release", "RELEASE", '"release"', "release AS r", "release r"])
def test_a_release_is_asked_by_its_name_or_the_one_that_from_gives_it(named):
    release = rt.publish(
        rt.Job(columns=repeated_releases.COLUMNS, promises=[rt.KAnonymity(5)]),
        frame=repeated_releases.people(200),
        seed=1,
    )
    column = "r.age" if named.endswith(" r") else "age"
    assert release.query(f"SELECT COUNT(*) FROM {named} WHERE {column} > -5").lower == 200


@pytest.mark.parametrize(
    ("condition", "ages"),
    [
        ("age > -15", {-10, 0, 5}),
        ("-15 < age", {-10, 0, 5}),
        ("age = -20", {-20}),
        ("age BETWEEN -12 AND -1", {-10}),
        ("age IN (-20, 5)", {-20, 5}),
        ("age > '-15'", {-10, 0, 5}),
        ("age >= (-1e1)", {-10, 0, 5}),
        ("NOT age > -15", {-20}),
    ],
)
def test_a_number_below_zero_keeps_its_sign(condition, ages):
    frame = pl.DataFrame({"age": [-20, -10, 0, 5] * 5, "town": ["a", "b"] * 10, "pay": [-7, 3, 3, -7, 8] * 4})
    columns = {"age": rt.quasi(), "town": rt.quasi(), "pay": rt.sensitive(type="numeric")}
    job = rt.Job(columns=columns, promises=[rt.ProbabilisticLDiversity(2)], method=rt.Anatomy())
    release = rt.publish(job, frame=frame, seed=1)
    assert release.query(f"SELECT COUNT(*) FROM release WHERE {condition}").estimate == 5 * len(ages)
    assert release.query("SELECT COUNT(*) FROM release WHERE pay < -1").estimate == 8


@pytest.mark.parametrize(
    "question",
    [
        f"SELECT COUNT(*) FROM release WHERE age IN ({', '.join(map(str, range(100_000)))})",
        f"SELECT COUNT(*) FROM release WHERE age = '{'x' * 1_000_001}'",
    ],
    ids=["many values", "a long text"],
)
def test_what_is_too_long_is_refused_before_it_is_parsed(question, monkeypatch):
    def refuse_to_parse(*arguments, **options):
        raise AssertionError("parsed")

    monkeypatch.setattr("sqlglot.parse", refuse_to_parse)
    with pytest.raises(rt.RequestError, match="at the most"):
        parse_statements(question, "The question", "SELECT COUNT(*) FROM release.")


def test_a_list_of_many_short_questions_is_read():
    question = "SELECT COUNT(*) FROM release WHERE age IN (1, 2, 3); "
    assert sum(tree is not None for tree in parse_statements(question * 2_000, "The list", "SQL.")) == 2_000
