"""Advice of refused questions, analyses and answers: provoked and followed."""

from __future__ import annotations

import datetime as dt
import shutil
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import polars as pl

import reticent as rt
from reticent.errors import RequestError
from reticent.query import run, sql
from tests.advice.cases import CaseTable, Desk, Steps
from tests.advice.kind_releases import publish_kind
from tests.support.contract_examples import CITIES, people
from tests.support.release_folders import resealed

TABLE = CaseTable()
follows = TABLE.follows
COUNT = "SELECT COUNT(*) FROM release"


@cache
def publish_visits() -> rt.Release:
    """Return a generalized release with columns of many types, some of them with odd names or recoded."""
    row = pl.int_range(pl.len())
    frame = people().select(
        "age",
        "city",
        "illness",
        (row * 7 % 16).alias("education-num"),
        (row % 3 == 0).alias("flag"),
        (row % 5).alias("visit"),
        (row % 4).alias("Visit"),
        (row * 7 % 50).alias("stays"),
        (row * 3 % 50).alias("bills"),
        (pl.date(2020, 1, 1) + pl.duration(days=row % 40)).alias("seen"),
        (row % 30 / 4).alias("share"),
        pl.concat_str(pl.lit("w"), row % 6).alias("ward"),
    )
    columns = {
        "age": rt.quasi(),
        "city": rt.quasi(hierarchy=CITIES),
        "share": rt.quasi(numeric=True),
        "illness": rt.sensitive(),
        "flag": rt.insensitive(),
        "visit": rt.insensitive(),
        "Visit": rt.insensitive(),
        "education-num": rt.insensitive(),
        "stays": rt.insensitive(bottom=10, top=40),
        "bills": rt.insensitive(round_to=5),
        "seen": rt.insensitive(acknowledge=True),
        "ward": rt.insensitive(),
    }
    return rt.publish(rt.Job(columns=columns, promises=[rt.KAnonymity(3)]), frame=frame)


@cache
def publish_wages(kind: str, **column: Any) -> rt.Release:
    """Return a release of a kind whose sensitive column is one of numbers."""
    methods: dict[str, tuple[Any, Any]] = {
        "anatomized": (rt.ProbabilisticLDiversity(2), rt.Anatomy()),
        "perturbed": (rt.BetaLikeness(4), rt.BetaPerturbation()),
        "transformed": (rt.PPrivacy(), rt.Distribution()),
        "sampled": (rt.RhoGuarantee("0.2", "0.6", "0.4"), rt.PerturbedGeneralization(k=2)),
        "generalized": (rt.KAnonymity(3), rt.Mondrian()),
    }
    promise, method = methods[kind]
    columns = {"age": rt.quasi(), "city": rt.quasi(hierarchy=CITIES), "wage": rt.sensitive(**column)}
    job = rt.Job(columns=columns, promises=[promise], method=method)
    return rt.publish(job, frame=people().select(*columns))


def publish_small(frame: pl.DataFrame, columns: dict[str, Any], method: Any = None, promise: Any = None) -> rt.Release:
    job = rt.Job(columns=columns, promises=[promise or rt.KAnonymity(3)], method=method or rt.Mondrian())
    return rt.publish(job, frame=frame)


def add_questions(module: str, make: Callable[[], rt.Release], *rows: tuple[str, str, *tuple[str, ...]]) -> None:
    """Register questions: the advice, a question that is refused with it, and those that follow it."""
    for text, refused, *followed in rows:

        def follow(desk: Desk, refused: str = refused, followed: list[str] = followed) -> Steps:
            release = make()
            yield lambda: release.query(refused)
            for question in followed:
                yield lambda question=question: release.query(question)

        follow.__name__ = f"ask {refused[:60]}"
        follows(module, text)(follow)


def where(condition: str) -> str:
    return f"{COUNT} WHERE {condition}"


SHAPE = "SELECT COUNT(*) or SUM, AVG, MIN or MAX of a column FROM release WHERE ... GROUP BY ... ORDER BY ... LIMIT n."
SHAPED = "SELECT COUNT(*) FROM release WHERE age > 30 GROUP BY city ORDER BY city LIMIT 2"
CONDITIONS = tuple(
    map(
        where,
        (
            "age > 30 AND age < 40 OR NOT city = 'Ulm'",
            "age <> 30",
            "age <= 30",
            "age >= 30",
            "age BETWEEN 20 AND 30",
            "city IN ('Ulm', 'Bonn')",
            "ward LIKE 'w%'",
            "city IS NULL",
        ),
    )
)
add_questions(
    "query/sql.py",
    publish_visits,
    ("the name as the release has it.", where("VISIT = 1"), where("visit = 1"), where("Visit = 1")),
    ("{suggest(name, list(columns))}", where("agee > 30"), where("age > 30")),
    ("LIKE, which tells capital letters from small ones.", where("ward ILIKE 'W%'"), where("ward LIKE 'w%'")),
    ("….", where("age + 1 > 30 ^ 2"), *CONDITIONS),
    ("….", where("LOWER(ward) = 'w1'"), *CONDITIONS),
    ("….", where("age LIKE '3%'"), *CONDITIONS),
    ("….", where("age > visit"), *CONDITIONS),
    ("….", where("age IN (visit, 3)"), *CONDITIONS),
    ("….", where("age > 1 + 2"), *CONDITIONS),
    ("…. …", "SELECT COUNT(* FROM release", SHAPED, where('"education-num" > 3')),
    (SHAPE, "DELETE FROM release", SHAPED),
    (SHAPE, f"{COUNT} LIMIT 3 OFFSET 2", f"{COUNT} LIMIT 3"),
    (SHAPE, where("EXISTS (SELECT 1)"), SHAPED),
    (SHAPE, "SELECT age * 2 FROM release", "SELECT SUM(age) FROM release", "SELECT MIN(age), MAX(age) FROM release"),
    (SHAPE, "SELECT city FROM release GROUP BY city", SHAPED),
    (
        "the question without HAVING: every group has its bounds; or ORDER BY and LIMIT.",
        "SELECT city, COUNT(*) FROM release GROUP BY city HAVING COUNT(*) > 3",
        "SELECT city, COUNT(*) FROM release GROUP BY city",
        "SELECT city, COUNT(*) FROM release GROUP BY city ORDER BY COUNT(*) DESC LIMIT 2",
    ),
    ("GROUP BY and the names of columns.", f"{COUNT} GROUP BY CUBE(city)", f"{COUNT} GROUP BY city, ward"),
    ("GROUP BY and the names of columns.", "SELECT COUNT(*), city FROM release GROUP BY 1", f"{COUNT} GROUP BY city"),
    ("GROUP BY and the names of columns.", f"{COUNT} GROUP BY age / 10", f"{COUNT} GROUP BY age"),
    (
        "a number from 1 to …, or a name.",
        "SELECT city, COUNT(*) FROM release GROUP BY 3",
        "SELECT city, COUNT(*) FROM release GROUP BY 1",
        "SELECT city, COUNT(*) FROM release GROUP BY city",
    ),
    (
        "columns of GROUP BY and aggregates of SELECT, each with ASC or DESC.",
        f"{COUNT} GROUP BY city ORDER BY age + 1",
        f"{COUNT} GROUP BY city ORDER BY city ASC",
        f"{COUNT} GROUP BY city ORDER BY COUNT(*) DESC",
    ),
    (
        "columns of GROUP BY and aggregates of SELECT.",
        f"{COUNT} GROUP BY city ORDER BY ward",
        f"{COUNT} GROUP BY city ORDER BY city, COUNT(*)",
    ),
    ("LIMIT 10.", f"{COUNT} LIMIT 0", f"{COUNT} LIMIT 10"),
    ('"…", in double quotes.', where("education-num > 3"), where('"education-num" > 3')),
    ("GROUP BY ….", "SELECT city, COUNT(*) FROM release", "SELECT city, COUNT(*) FROM release GROUP BY city"),
    ("… = 'true', with the text as it is published.", where("ward"), where("ward = 'true'"), where("ward = 'w1'")),
    ("… = 'true', with the text as it is published.", where("ward = TRUE"), where("ward = 'true'")),
    (
        "… IS NOT NULL, or a comparison with a date.",
        where("NOT seen"),
        where("seen IS NOT NULL"),
        where("seen > '2020-01-05'"),
    ),
    ("IS NULL, IS TRUE or IS FALSE.", where("flag IS 3"), where("flag IS NULL"), where("flag IS TRUE")),
    ("… LIKE 'A%'.", where("ward LIKE 3"), where("ward LIKE 'A%'")),
    ("_ for any one character.", where(r"ward LIKE 'w\_%'"), where("ward LIKE 'w_%'")),
    ("… IS NULL.", where("age = NULL"), where("age IS NULL")),
    ("a number.", where("age > 'old'"), where("age > 60")),
    ("a value as it is published.", where("seen > 'yesterday'"), where("seen > '2020-01-05'")),
    (
        "…, NOT …, or TRUE, FALSE, 1 or 0.",
        where("flag = 'yes'"),
        where("flag"),
        where("NOT flag"),
        where("flag = TRUE"),
        where("flag = FALSE"),
        where("flag = 1"),
        where("flag = 0"),
    ),
    ("FROM ….", "SELECT COUNT(*) FROM (VALUES (1))", COUNT),
    ("FROM ….", "SELECT COUNT(*) FROM people", COUNT),
    ("FROM ….", "SELECT COUNT(*) FROM release TABLESAMPLE (10 PERCENT)", COUNT),
    ("…, without a table.", where("other.age > 3"), where("age > 3")),
    (
        "COUNT(*), or COUNT of a column.",
        "SELECT COUNT(DISTINCT city) FROM release",
        COUNT,
        "SELECT COUNT(city) FROM release",
    ),
    ("COUNT(*), or COUNT of a column.", "SELECT COUNT(age + 1) FROM release", COUNT, "SELECT COUNT(age) FROM release"),
    ("… of a column.", "SELECT SUM(DISTINCT age) FROM release", "SELECT SUM(age) FROM release"),
    ("… of a column.", "SELECT SUM(age * 2) FROM release", "SELECT SUM(age) FROM release"),
    (
        "…COUNT(*), with a condition on it, or … of a column of numbers.",
        "SELECT SUM(seen) FROM release",
        "SELECT MIN(seen) FROM release",
        "SELECT MAX(seen) FROM release",
        where("seen > '2020-01-05'"),
        "SELECT SUM(age) FROM release",
    ),
    (
        "…COUNT(*), with a condition on it, or … of a column of numbers.",
        "SELECT AVG(city) FROM release",
        where("city = 'Ulm'"),
        "SELECT AVG(age) FROM release",
    ),
    ("… … ….", where("stays > 45"), where("stays >= 40")),
    ("… … ….", where("stays < 3"), where("stays <= 10")),
    (
        "IN (...) or BETWEEN in place of many comparisons, or several questions.",
        where(" OR ".join(f"age = {age % 40 + 20}" for age in range(sql.MAX_DEPTH + 10))),
        where("age IN (20, 21, 22)"),
        where("age BETWEEN 20 AND 60"),
        where("age = 20"),
    ),
    (
        "BETWEEN in place of a list, or several questions whose counts add up.",
        where(f"age IN ({', '.join(map(str, range(sql.MAX_LITERALS + 1)))})"),
        where(f"age BETWEEN 0 AND {sql.MAX_LITERALS}"),
        where("age IN (1, 2, 3)"),
        where("age IN (4, 5, 6)"),
    ),
    (
        "BETWEEN in place of a list, or several questions whose counts add up.",
        where(f"ward IN ('{'x' * sql.MAX_CHARACTERS}')"),
        where("age BETWEEN 3 AND 30"),
    ),
)
add_questions(
    "query/group_by.py",
    publish_visits,
    (
        "conditions on …, one question for each range.",
        f"{COUNT} GROUP BY share",
        where("share < 3"),
        where("share >= 3"),
    ),
)


# Answers.


@follows("query/run.py", "level = 0.95.")
def ask_at_no_level(desk: Desk) -> Steps:
    yield lambda: run.QueryOptions(level=1)
    yield lambda: publish_kind("perturbed").query(COUNT, level=0.95)


@follows("query/run.py", "the question without a density.")
def ask_by_a_density_where_nothing_is_labelled(desk: Desk) -> Steps:
    yield lambda: publish_kind("anatomized").query(COUNT, density="even")
    for kind in ("anatomized", "perturbed", "transformed"):
        yield lambda kind=kind: publish_kind(kind).query(COUNT)


@follows("estimate/known_totals.py", "getting the folder again from its publisher.")
def ask_release_whose_totals_contradict_its_groups(desk: Desk) -> Steps:
    """A stranger says that a target of weights, and other ones, is the distribution of the published values."""
    columns = {"id": rt.quasi(numeric=True), "pay": rt.sensitive()}
    promise = rt.PPrivacy({"weights": {"0": 3, "70": 1}}, exact=True)
    frame = pl.DataFrame({"id": range(8), "pay": [0] * 6 + [70] * 2})
    release = publish_small(frame, columns, rt.Distribution(), promise)

    def state_other_totals(stated: dict[str, Any]) -> None:
        stated["promises"][0]["target"] = "source"
        stated["targets"] = [[1, 1, 3]]

    folder = shutil.copytree(release.folder, desk / "changed")
    resealed(folder, state_other_totals)
    questions = [where("pay = 70"), "SELECT SUM(pay) FROM release"]
    yield lambda: rt.open(folder).query(questions[0])
    again = shutil.copytree(release.folder, desk / "again")
    for question in questions:
        yield lambda question=question: rt.open(again).query(question)


@follows("estimate/density.py", 'density = "likelihood" or "even".')
def ask_by_unknown_density(desk: Desk) -> Steps:
    yield lambda: publish_visits().query(COUNT, density="uniform")
    yield lambda: publish_visits().query(COUNT, density="likelihood")
    yield lambda: publish_visits().query(COUNT, density="even")


@follows("query/run.py", "time_limit = 60.")
def ask_within_no_time(desk: Desk) -> Steps:
    yield lambda: run.QueryOptions(time_limit=0)
    yield lambda: publish_visits().query(COUNT, time_limit=60)


@follows("query/run.py", "BETWEEN in place of a list, fewer constants or groups, or --time-limit 600 (time_limit=600).")
def ask_within_little_time(desk: Desk) -> Steps:
    ask = publish_visits().query
    question = f"{COUNT} WHERE age IN ({', '.join(map(str, range(1000)))}) GROUP BY age"
    yield lambda: ask(question, time_limit=0.001)
    yield lambda: ask(where("age BETWEEN 0 AND 1000"))
    yield lambda: ask(where("age IN (1, 2, 3)"))
    yield desk.command("query", publish_visits().folder, where("age IN (1, 2, 3)"), "--time-limit", "600")


@follows("estimate/answers.py", "the numbers themselves: .frame().")
def draw_no_estimate(desk: Desk) -> Steps:
    answers = publish_visits().query("SELECT city, AVG(stays) FROM release WHERE age > 500 GROUP BY city")
    yield lambda: answers.chart()
    yield lambda: answers.frame()


@follows("estimate/answers.py", "ORDER BY and LIMIT …, or a condition on a column.")
def draw_too_many_lines(desk: Desk) -> Steps:
    ask = publish_visits().query
    yield lambda: ask(f"{COUNT} GROUP BY age, ward").chart()
    yield lambda: ask(f"{COUNT} GROUP BY age, ward ORDER BY age LIMIT 60").chart()
    yield lambda: ask(f"{COUNT} WHERE age < 23 GROUP BY age").chart()


@follows("estimate/answers.py", "pip install pandas, or .frame().")
def convert_answers_without_pandas(desk: Desk) -> Steps:
    answers = publish_visits().query(f"{COUNT} GROUP BY city")
    yield lambda: _without_module(desk, "pandas", answers.to_pandas)
    yield lambda: answers.to_pandas()
    yield lambda: answers.frame()


@follows("release/release.py", "pip install pandas, or release.to_arrow().")
def convert_release_without_pandas(desk: Desk) -> Steps:
    yield lambda: _without_module(desk, "pandas", publish_visits().to_pandas)
    yield lambda: publish_visits().to_pandas()
    yield lambda: publish_visits().to_arrow()


def _without_module(desk: Desk, name: str, call: Callable[[], Any]) -> Any:
    class Finder:
        def find_spec(self, asked: str, *rest: Any) -> None:
            if asked == name:
                raise ImportError(asked)

    with desk.patch.context() as patch:
        patch.setattr(sys, "meta_path", [Finder(), *sys.meta_path])
        patch.delitem(sys.modules, name, raising=False)
        return call()


BEYOND = 1 << 63


@cache
def publish_great_numbers(**column: Any) -> rt.Release:
    numbers = pl.Series("number", [BEYOND + row for row in range(60)], dtype=pl.UInt64)
    frame = people().head(60).select("age", "illness").with_columns(numbers)
    role = rt.insensitive(acknowledge=True, **column) if column else rt.quasi(numeric=True)
    return publish_small(frame, {"age": rt.quasi(), "number": role, "illness": rt.sensitive()})


add_questions(
    "estimate/published_rows.py",
    publish_great_numbers,
    ("a question about other columns.", where(f"number > {BEYOND + 20}"), where("age > 30")),
)
add_questions(
    "estimate/source_values.py",
    lambda: publish_great_numbers(top=BEYOND + 40),
    ("a question about other columns.", where(f"number > {BEYOND + 20}"), where("age > 30")),
)


@follows("estimate/source_values.py", "a date.")
def place_text_that_is_no_date(desk: Desk) -> Steps:
    from reticent.estimate.source_values import find_place

    entry = next(entry for entry in publish_visits().columns if entry.name == "seen")
    yield lambda: find_place(entry, "yesterday")
    yield lambda: find_place(entry, "2020-01-05")
    yield lambda: find_place(entry, dt.date(2020, 1, 5))


@follows(
    "estimate/source_values.py", "a question about other columns, or value_counts(…), which counts published values."
)
def ask_rounded_values_that_stand_apart(desk: Desk) -> Steps:
    release = publish_wages("anatomized", round_to=1500)
    yield lambda: release.query(where("wage > 3000"))
    yield lambda: release.query(where("age > 30"))
    yield lambda: release.value_counts("wage")


@follows("estimate/source_values.py", "a question about other columns.")
def ask_rounded_values_that_were_redrawn(desk: Desk) -> Steps:
    yield lambda: publish_wages("perturbed", round_to=2000).query(where("wage > 3000"))
    for kind in ("perturbed", "transformed"):
        yield lambda kind=kind: publish_wages(kind, round_to=2000).query(where("age > 30"))


@follows("estimate/source_values.py", "… patterns at the most, or IN (...).")
def ask_too_many_patterns(desk: Desk) -> Steps:
    columns = {"age": rt.quasi(), "illness": rt.sensitive(), "city": rt.insensitive()}
    frame = people().select(*columns)
    job = rt.Job(columns=columns, promises=[rt.KAnonymity(8)], release=rt.Output(suppress_at_most=0.2))
    extreme = frame.with_columns(age=pl.when(pl.int_range(pl.len()) < 5).then(900).otherwise("age"))
    release = rt.publish(job, frame=extreme)
    assert release.manifest.withheld
    patterns = [f"city LIKE '{letter}%'" for letter in "abcdefghijklmnopqrstuvwxyz"]
    yield lambda: release.query(where(" OR ".join(patterns)))
    yield lambda: release.query(where(" OR ".join(patterns[:3])))
    yield lambda: release.query(where("city IN ('Ulm')"))


@follows("labels/range_ends.py", "frame() without bounds.")
def show_ends_named_as_a_column(desk: Desk) -> Steps:
    columns = {"age": rt.quasi(), "age_lower": rt.insensitive(), "illness": rt.sensitive()}
    frame = people().select("age", "illness", age_lower=pl.int_range(pl.len()) % 3)
    release = publish_small(frame, columns)
    yield lambda: release.frame(bounds=True)
    yield lambda: release.frame()


# Counts of published rows.


@follows("estimate/question.py", 'by = "inversion", "em" or "shrunk".')
def reconstruct_by_something_else(desk: Desk) -> Steps:
    release = publish_kind("perturbed")
    yield lambda: release.query(where("illness = 'flu'"), by="guess")
    for by in ("inversion", "em", "shrunk"):
        yield lambda by=by: release.query(where("illness = 'flu'"), by=by)


@follows("release/sampled.py", 'by = "inversion" or "em".')
def shrink_estimates_of_a_sample(desk: Desk) -> Steps:
    release = publish_kind("sampled")
    yield lambda: release.query(where("illness = 'flu'"), by="shrunk")
    for by in ("inversion", "em"):
        yield lambda by=by: release.query(where("illness = 'flu'"), by=by)


@follows("estimate/question.py", 'pl.col("age") < 40.')
def count_rows_by_a_text(desk: Desk) -> Steps:
    yield lambda: publish_kind("anatomized").count(where="age < 40")
    yield lambda: publish_kind("anatomized").count(where=pl.col("age") < 40)


@follows(
    "estimate/question.py",
    "release.query, or a condition on the ends that frame(bounds=True) gives, such as age_upper < 40.",
)
def count_rows_by_a_value_under_labels(desk: Desk) -> Steps:
    release = publish_kind("generalized")
    yield lambda: release.count(where=pl.col("age") < 40)
    yield lambda: release.query(where("age < 40"))
    yield lambda: release.frame(bounds=True).filter(pl.col("age_upper") < 40)
    yield lambda: release.count(where=pl.col("age_upper") < 40)


@follows("estimate/reconstruction.py", "COUNT, SUM or AVG; or a question that leaves the sensitive column out.")
def ask_least_redrawn_value(desk: Desk) -> Steps:
    release = publish_wages("perturbed")
    yield lambda: release.query("SELECT MIN(wage) FROM release")
    for aggregate in ("COUNT(wage)", "SUM(wage)", "AVG(wage)", "MIN(age)"):
        yield lambda aggregate=aggregate: release.query(f"SELECT {aggregate} FROM release")


@follows("estimate/reconstruction.py", 'by = "em".')
def invert_singular_matrix(desk: Desk) -> Steps:
    release = publish_kind("perturbed")

    def fail(matrix: Any) -> Any:
        raise np.linalg.LinAlgError

    refused = lambda: rt.open(release.folder).query(where("illness = 'flu'"))  # noqa: E731
    yield desk.with_setting(np.linalg, "inv", fail, refused)
    yield desk.with_setting(np.linalg, "inv", fail, lambda: release.query(where("illness = 'flu'"), by="em"))


@follows("release/release.py", "values of the sensitive column's own type.")
def count_values_of_another_type(desk: Desk) -> Steps:
    release = publish_kind("anatomized")
    yield lambda: release.count(values=[3])
    yield lambda: release.count(values=["flu"])


@follows("release/release.py", "{suggest(column, sensitive)}")
def count_values_of_another_column(desk: Desk) -> Steps:
    yield lambda: publish_kind("anatomized").value_counts("ilness")
    yield lambda: publish_kind("anatomized").value_counts("illness")


@follows("release/perturbed.py", "release.count, which estimates them.")
def count_redrawn_values(desk: Desk) -> Steps:
    yield lambda: publish_kind("perturbed").value_counts("illness")
    yield lambda: publish_kind("perturbed").count(values=["flu"])


@follows("release/sampled.py", "release.count, which estimates them.")
def count_sampled_values(desk: Desk) -> Steps:
    yield lambda: publish_kind("sampled").value_counts("illness")
    yield lambda: publish_kind("sampled").count(values=["flu"])


@follows("release/sampled.py", "values=[...], which reconstructs how many have them.")
def select_by_noise(desk: Desk) -> Steps:
    yield lambda: publish_kind("sampled").count(where=pl.col("illness") == "flu")
    yield lambda: publish_kind("sampled").count(values=["flu"])


@follows("release/transformed.py", "release.query, which bounds it.")
def count_transformed_values(desk: Desk) -> Steps:
    yield lambda: publish_kind("transformed").value_counts("illness")
    yield lambda: publish_kind("transformed").query(where("illness = 'flu'"))


@follows("release/release.py", '["SELECT COUNT(*) FROM release"].')
def measure_no_question(desk: Desk) -> Steps:
    yield lambda: publish_visits().measure([])
    yield lambda: publish_visits().measure(["SELECT COUNT(*) FROM release"])


@follows("query/run.py", "a text file of SQL.")
def measure_file_that_is_not_there(desk: Desk) -> Steps:
    (desk / "questions.sql").write_text(f"{COUNT};")
    yield lambda: publish_visits().measure(desk / "nowhere.sql")
    yield lambda: publish_visits().measure(desk / "questions.sql")


@follows("query/run.py", "….")
def measure_empty_file(desk: Desk) -> Steps:
    (desk / "questions.sql").write_text("  ")
    (desk / "others.sql").write_text(SHAPED)
    yield lambda: publish_visits().measure(desk / "questions.sql")
    yield lambda: publish_visits().measure(desk / "others.sql")


@follows("query/run.py", "…; a semicolon after each.")
def measure_file_that_is_no_sql(desk: Desk) -> Steps:
    (desk / "questions.sql").write_text(f"{COUNT} SELECT (")
    (desk / "others.sql").write_text(f"{COUNT};\n{SHAPED};")
    yield lambda: publish_visits().measure(desk / "questions.sql")
    yield lambda: publish_visits().measure(desk / "others.sql")


@follows("query/run.py", "the data that the release was made from.")
def measure_with_source_that_lacks_a_column(desk: Desk) -> Steps:
    yield lambda: publish_kind("generalized").measure([COUNT], source=people().drop("city"))
    yield lambda: publish_kind("generalized").measure([COUNT], source=people())


@follows("query/run.py", "the data that the release was made from, read as its job says.")
def measure_with_source_of_other_types(desk: Desk) -> Steps:
    other = people().with_columns(age=pl.lit("old"))
    yield lambda: publish_kind("generalized").measure([COUNT], source=other)
    yield lambda: publish_kind("generalized").measure([COUNT], source=people())


# Analyses.


def analyze(release: rt.Release, **analysis: Any) -> Any:
    """Carry out one analysis; what it is refused with is raised."""
    (result,) = release.analyze([analysis])
    if "refused" in result:
        raise RequestError(result["refused"])
    return result


@follows("release/release.py", '[{"table": ["town", "illness"]}].')
def analyze_nothing(desk: Desk) -> Steps:
    yield lambda: publish_visits().analyze([])
    yield lambda: publish_visits().analyze([{"table": ["city", "illness"]}])


@follows("query/analyses.py", "a TOML file with tables [[analysis]].")
def analyze_file_that_is_not_there(desk: Desk) -> Steps:
    (desk / "analyses.toml").write_text('[[analysis]]\ntable = ["city", "illness"]\n')
    yield lambda: publish_visits().analyze(desk / "nowhere.toml")
    yield lambda: publish_visits().analyze(desk / "analyses.toml")


@follows("query/analyses.py", "[[analysis]], and below it one of ….")
def analyze_file_that_is_no_toml(desk: Desk) -> Steps:
    (desk / "analyses.toml").write_text("[[analysis")
    yield lambda: publish_visits().analyze(desk / "analyses.toml")
    yield from _analyze_shapes(desk)


@follows("query/analyses.py", "[[analysis]], and below it one of ….")
def analyze_file_without_analyses(desk: Desk) -> Steps:
    (desk / "analyses.toml").write_text("x = 3")
    yield lambda: publish_visits().analyze(desk / "analyses.toml")
    yield from _analyze_shapes(desk)


SHAPES = (
    'table = ["city", "illness"]',
    'mean = "visit"\nby = ["city"]',
    'regression = "visit"\non = ["stays", "ward"]',
)


def _analyze_shapes(desk: Desk) -> Steps:
    for number, shape in enumerate(SHAPES):
        (desk / f"{number}.toml").write_text(f"[[analysis]]\n{shape}\n")
        yield lambda number=number: publish_visits().analyze(desk / f"{number}.toml")


@follows("query/analyses.py", "….")
def analyze_in_another_way(desk: Desk) -> Steps:
    yield lambda: analyze(publish_visits(), median="visit")
    yield lambda: analyze(publish_visits(), table=["city", "illness"])
    yield lambda: analyze(publish_visits(), mean="visit", by=["city"])
    yield lambda: analyze(publish_visits(), regression="visit", on=["age", "ward"])


@follows("query/analyses.py", "….")
def analyze_without_a_column(desk: Desk) -> Steps:
    yield lambda: analyze(publish_visits(), mean="visit")
    yield lambda: analyze(publish_visits(), mean="visit", by=["city"])


@follows("query/analyses.py", "other columns.")
def analyze_column_by_itself(desk: Desk) -> Steps:
    yield lambda: analyze(publish_visits(), mean="visit", by=["visit"])
    yield lambda: analyze(publish_visits(), mean="visit", by=["city"])


@follows("query/analyses.py", "{table = [...]} with … among the columns.")
def average_texts(desk: Desk) -> Steps:
    yield lambda: analyze(publish_visits(), mean="ward", by=["city"])
    yield lambda: analyze(publish_visits(), table=["ward", "city"])


@follows("query/analyses.py", "other columns, or a mean of them.")
def tabulate_rounded_values(desk: Desk) -> Steps:
    yield lambda: analyze(publish_visits(), table=["bills", "city"])
    yield lambda: analyze(publish_visits(), table=["ward", "city"])
    yield lambda: analyze(publish_visits(), mean="bills", by=["city"])


@follows("query/analyses.py", "a column of numbers.")
def regress_on_dates(desk: Desk) -> Steps:
    yield lambda: analyze(publish_visits(), regression="visit", on=["seen"])
    yield lambda: analyze(publish_visits(), regression="visit", on=["education-num"])


@follows("query/analyses.py", "fewer columns.")
def regress_on_columns_that_follow_from_one_another(desk: Desk) -> Steps:
    columns = {"age": rt.quasi(), "one": rt.insensitive(), "two": rt.insensitive(), "illness": rt.sensitive()}
    row = pl.int_range(pl.len())
    release = publish_small(people().select("age", "illness", one=row % 5, two=row % 5 * 2), columns)
    yield (
        lambda: (
            analyze(release, regression="one", on=["two", "age"])
            and analyze(release, regression="age", on=["one", "two"])
        )
    )
    yield lambda: analyze(release, regression="age", on=["one"])


# Questions as plain SQL.


def print_sql(release: rt.Release, question: str, dialect: str = "duckdb") -> str:
    return release.sql(question, dialect)


OTHER_WAYS = "release.query, or `reticent query` without --print-sql and --at."


def add_printed(name: str, make: Callable[[], rt.Release], question: str) -> None:
    """Register a question that is not printed as SQL, and is answered otherwise."""

    @follows("query/compile.py", OTHER_WAYS)
    def follow(desk: Desk) -> Steps:
        release = make()
        yield lambda: print_sql(release, question)
        yield lambda: release.query(question)
        yield desk.command("query", release.folder, question)

    TABLE.cases[-1].follow.__name__ = f"print {name}"


def publish_dates() -> rt.Release:
    born = pl.date(1950, 1, 1) + pl.duration(days=pl.int_range(pl.len()) % 9 * 400)
    frame = people().select("age", "city", born=born)
    columns = {"age": rt.quasi(), "city": rt.quasi(), "born": rt.sensitive()}
    return publish_small(frame, columns, rt.Anatomy(), rt.ProbabilisticLDiversity(2))


def publish_recoded() -> rt.Release:
    row = pl.int_range(pl.len())
    frame = people().select("age", "illness", stays=row * 7 % 50, bills=row * 3 % 50)
    columns = {
        "age": rt.quasi(),
        "stays": rt.insensitive(top=40, bottom=10),
        "bills": rt.insensitive(round_to=5),
        "illness": rt.sensitive(),
    }
    return publish_small(frame, columns, rt.Anatomy(), rt.ProbabilisticLDiversity(2))


add_printed("least date", publish_dates, "SELECT MIN(born) FROM release")
add_printed("sum of another column", lambda: publish_kind("anatomized"), "SELECT SUM(age) FROM release")
add_printed("groups by sensitive values", lambda: publish_kind("anatomized"), f"{COUNT} GROUP BY illness")
add_printed("mixed condition", lambda: publish_kind("anatomized"), where("illness = 'flu' OR age < 30"))
add_printed(
    "sum under a condition on it",
    lambda: publish_wages("transformed"),
    "SELECT SUM(wage) FROM release WHERE wage > 2000",
)
add_printed("sum of coded values", publish_recoded, "SELECT SUM(stays) FROM release")
add_printed("rounded values", publish_recoded, where("bills > 10"))
add_printed("groups by coded values", publish_recoded, f"{COUNT} GROUP BY stays")
add_printed("labels", lambda: publish_kind("generalized"), COUNT)
add_printed("sum without bounds", lambda: publish_wages("anatomized"), "SELECT SUM(wage) FROM release")


@follows("query/compile.py", "one question for each.")
def print_two_aggregates(desk: Desk) -> Steps:
    release = publish_wages("transformed")
    yield lambda: print_sql(release, "SELECT COUNT(*), SUM(wage) FROM release")
    yield lambda: print_sql(release, COUNT)
    yield lambda: print_sql(release, "SELECT SUM(wage) FROM release")


@follows("query/compile.py", "{suggest(dialect, list(SQLGLOT_DIALECTS))}")
def print_sql_of_another_database(desk: Desk) -> Steps:
    yield lambda: print_sql(publish_kind("anatomized"), COUNT, "postgres")
    yield lambda: print_sql(publish_kind("anatomized"), COUNT, "postgresql")


@follows("query/compile.py", "the question without them, or `reticent query` with --at in place of --print-sql.")
def print_sorted_lines(desk: Desk) -> Steps:
    release = publish_kind("anatomized")
    question = f"{COUNT} GROUP BY city"
    yield lambda: print_sql(release, f"{question} ORDER BY city LIMIT 2")
    yield lambda: print_sql(release, question)
    url = f"sqlite:///{desk / 'warehouse.db'}"
    release.to_database(url, "people")
    yield desk.command("query", release.folder, f"{question} ORDER BY city LIMIT 2", "--at", url, "--table", "people")


@follows("query/run.py", "`reticent export` to it first, with --table ….")
def ask_database_without_the_tables(desk: Desk) -> Steps:
    release = publish_kind("anatomized")
    url = f"sqlite:///{desk / 'warehouse.db'}"
    release.to_database(url, "others")
    words = ("query", release.folder, COUNT, "--at", url, "--table", "people")
    yield desk.command(*words)
    yield desk.command("export", release.folder, url, "--table", "people")
    yield desk.command(*words)


@follows("query/run.py", "`reticent query` on each release's folder, or `reticent export` without --append.")
def ask_tables_of_several_releases(desk: Desk) -> Steps:
    release = publish_kind("anatomized")
    url = f"sqlite:///{desk / 'warehouse.db'}"
    release.to_database(url, "people", append=True, batch="2024-05-01")
    yield desk.command("query", release.folder, COUNT, "--at", url, "--table", "people")
    yield desk.command("query", release.folder, COUNT)
    yield desk.command("export", release.folder, url, "--table", "alone")
    yield desk.command("query", release.folder, COUNT, "--at", url, "--table", "alone")
