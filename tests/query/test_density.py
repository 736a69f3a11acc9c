"""The density within labels changes estimates and nothing else: bounds stay, lines add up, and an answer says what it rests on."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import median

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent.cli.main import main
from reticent.format.data_files import ROW_COUNT_COLUMN
from reticent.query import QueryOptions, ask
from tests.query import mixed_tables, questions
from tests.support import repeated_releases
from tests.support.query_methods import METHODS

PUBLIC_DATA = Path(__file__).parents[3] / "shared" / "data"
LABELLED = ("generalized", "sampled")
LIKELY = "people lie within their labels as all labels of a column together make likely"
EVENLY = "every point of a row's labels is as likely"


def make_people(rows: int = 1_200, seed: int = 4) -> pl.DataFrame:
    """Working hours heaped at 40, with a code 999 for those who did not say; towns of very different sizes."""
    rng = np.random.default_rng(seed)
    hours = np.where(rng.random(rows) < 0.5, 40, rng.normal(38, 12, rows).clip(1, 80).astype(int))
    hours[:3] = 999  # too few for a group of their own
    return pl.DataFrame(
        {
            "hours": hours,
            "age": rng.integers(18, 70, rows),
            "town": rng.choice(["A", "B", "C", "D"], rows, p=[0.7, 0.2, 0.07, 0.03]),
            "pay": rng.choice(repeated_releases.PAYS, rows),
        }
    )


def publish_people(kind: str, people: pl.DataFrame, **given) -> rt.Release:
    promises, method = METHODS[kind]
    columns = {
        "hours": rt.quasi(numeric=True),
        "age": rt.quasi(numeric=True),
        "town": rt.quasi(),
        "pay": rt.sensitive(),
    }
    return rt.publish(rt.Job(columns=columns, promises=promises, method=method, **given), frame=people, seed=3)


@pytest.fixture(autouse=True)
def literals_of_days(monkeypatch):
    monkeypatch.setattr(questions, "literal", questions.make_literal_of_days(questions.literal))


@pytest.fixture(scope="module", params=LABELLED)
def labelled(request):
    return publish_people(request.param, make_people())


def ask_both(release, text):
    likely = release.query(text)
    even = release.query(text, density="even")
    as_list = [answer if isinstance(answer, list) else [answer] for answer in (likely, even)]
    return list(zip(*as_list, strict=True))


@pytest.mark.parametrize("kind", LABELLED)
def test_bounds_are_the_same_whatever_the_density_is(kind, tmp_path):
    rng = np.random.default_rng(LABELLED.index(kind))
    compared = different = 0
    for attempt in range(12):
        drawn = mixed_tables.draw(rng, kind, tmp_path / f"release{attempt}")
        if drawn is None:
            continue
        constants = mixed_tables.constants_for(rng, drawn)
        aggregates = ["COUNT(*)"]
        aggregates += [f"{name}({column})" for column in drawn.numbers[:1] for name in ("SUM", "AVG", "MIN", "MAX")]
        aggregates += [f"MAX({name})" for name in drawn.dates]
        for _ in range(5):
            where = questions.sql(questions.condition(rng, constants, ordered=True, usual=True))
            for aggregate in aggregates:
                try:
                    pairs = ask_both(drawn.release, f"SELECT {aggregate} FROM release WHERE {where}")
                except rt.RequestError:
                    continue
                for likely, even in pairs:
                    assert (likely.lower, likely.upper) == (even.lower, even.upper)
                    assert (likely.estimate is None) == (even.estimate is None)
                    compared += 1
                    different += likely.estimate != even.estimate
    assert compared > 50 and different > 5


def test_lines_of_a_question_by_groups_add_up_to_the_whole(labelled):
    whole = labelled.query("SELECT COUNT(*) FROM release WHERE age < 40 AND hours < 41")
    for by in ("town", "age"):
        lines = labelled.query(f"SELECT {by}, COUNT(*) FROM release WHERE age < 40 AND hours < 41 GROUP BY {by}")
        assert sum(line.estimate for line in lines) == pytest.approx(whole.estimate)
    sides = [labelled.query(f"SELECT COUNT(*) FROM release WHERE hours {side}").estimate for side in ("< 39", ">= 39")]
    assert sum(sides) == pytest.approx(1_200)
    sums = [labelled.query(f"SELECT SUM(age) FROM release WHERE age {side}").estimate for side in ("< 33", ">= 33")]
    assert sum(sums) == pytest.approx(labelled.query("SELECT SUM(age) FROM release").estimate)


def test_a_sentinel_code_does_not_draw_people_towards_itself(labelled):
    people = make_people()
    for low, high in ((81, 998), (41, 998), (39, 41)):
        true = people.filter(pl.col("hours").is_between(low, high)).height
        (likely, even), *_ = ask_both(labelled, f"SELECT COUNT(*) FROM release WHERE hours BETWEEN {low} AND {high}")
        assert abs(likely.estimate - true) < abs(even.estimate - true)


def test_aggregates_of_a_column_of_ranges_lie_within_their_bounds(labelled):
    for aggregate in ("SUM", "AVG", "MIN", "MAX"):
        for where in ("", " WHERE hours BETWEEN 30 AND 45", " WHERE age > 60 OR hours = 40"):
            for likely, _ in ask_both(labelled, f"SELECT {aggregate}(hours) FROM release{where}"):
                assert likely.lower <= likely.estimate <= likely.upper


def test_an_answer_says_which_density_it_rests_on_and_an_exact_one_rests_on_none(labelled):
    cut = "SELECT COUNT(*) FROM release WHERE hours < 37"
    assert labelled.query(cut).density == labelled.query(cut, density="likelihood").density == "likelihood"
    assert labelled.query(cut).to_dict()["density"] == "likelihood" and LIKELY in labelled.query(cut).note
    even = labelled.query(cut, density="even")
    assert even.to_dict()["density"] == "even" and EVENLY in even.note and LIKELY not in even.note
    exact = labelled.query("SELECT COUNT(*) FROM release WHERE hours < 5000")
    assert exact.density is None and "density" not in exact.to_dict()


def test_a_random_answer_says_which_density_its_cut_groups_rest_on():
    release = publish_people("sampled", make_people())
    cut = "SELECT COUNT(*) FROM release WHERE hours < 37 AND pay = 10"
    likely, even = release.query(cut), release.query(cut, density="even")
    assert (likely.density, even.density) == ("likelihood", "even")
    assert (
        "as all labels of a column together make likely; where it is otherwise, the estimate is biased" in likely.note
    )
    assert "spread evenly over what the labels cover; where it is otherwise" in even.note
    whole = release.query("SELECT COUNT(*) FROM release WHERE pay = 10")
    assert whole.density is None and whole.std_error


def test_kinds_without_labels_refuse_a_density_and_answer_as_before_without_one(tmp_path):
    people = make_people(400)
    (tmp_path / "analyses.toml").write_text('[[analysis]]\ntable = ["town"]\n')
    for kind in set(METHODS) - set(LABELLED):
        release = publish_people(kind, people)
        text = "SELECT COUNT(*) FROM release WHERE hours < 37"
        assert release.query(text).density is None
        asked = [
            lambda release=release, text=text: release.query(text, density="even"),
            lambda release=release, text=text: release.measure([text], density="likelihood"),
            lambda release=release: release.analyze(tmp_path / "analyses.toml", density="even"),
        ]
        for ask_with_density in asked:
            with pytest.raises(rt.RequestError, match="A density is not used in answers from a release of kind"):
                ask_with_density()


def test_unknown_densities_are_refused_wherever_they_are_asked_for(labelled):
    text = "SELECT COUNT(*) FROM release"
    for density in ("uniform", "", "Even"):
        for ask_with_density in (
            lambda density=density: labelled.query(text, density=density),
            lambda density=density: labelled.measure([text], density=density),
            lambda density=density: labelled.analyze([{"table": ["town"]}], density=density),
        ):
            with pytest.raises(rt.RequestError, match="is not known"):
                ask_with_density()
    with pytest.raises(rt.ReticentError):
        labelled.query(text, density=1)


def test_lists_of_questions_and_analyses_take_a_density(labelled):
    text = "SELECT COUNT(*) FROM release WHERE hours < 37"
    for density in (None, "even"):
        (line,) = labelled.measure([text], density=density)
        assert line["estimate"] == labelled.query(text, density=density).estimate
        (table,) = labelled.analyze([{"table": ["town"]}], density=density)
        assert sum(cell["after"] for cell in table["cells"]) == pytest.approx(1_200)


def test_the_command_takes_a_density_and_prints_it_in_json(tmp_path, capsys):
    release = publish_people("generalized", make_people(300))
    folder = release.save(tmp_path / "release") or tmp_path / "release"
    cut = "SELECT COUNT(*) FROM release WHERE hours < 37"
    for given, stated in (([], "likelihood"), (["--density", "even"], "even")):
        assert main(["query", str(folder), cut, *given, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["density"] == stated
        assert main(["query", str(folder), cut, *given]) == 0
        printed = capsys.readouterr().out
        assert "density" not in printed and (LIKELY if stated == "likelihood" else EVENLY) in printed
    assert main(["query", str(folder), cut, "--density", "guess"]) != 0
    assert "is not known" in capsys.readouterr().err
    assert main(["query", str(folder), cut, "--density", "even", "--print-sql", "duckdb"]) != 0
    assert "A database has no density" in capsys.readouterr().err


def test_a_column_of_group_by_may_be_called_density(tmp_path, capsys):
    people = make_people(300).rename({"town": "density"})
    columns = {"hours": rt.quasi(numeric=True), "density": rt.quasi(), "pay": rt.sensitive()}
    job = rt.Job(columns=columns, promises=[rt.KAnonymity(5)], release=rt.Output(undeclared="drop"))
    release = rt.publish(job, frame=people, to=tmp_path / "release", seed=1)
    text = "SELECT density, COUNT(*) FROM release WHERE hours < 37 GROUP BY density"
    assert {line["density"] for line in release.query(text).to_dicts()} >= {"A", "B"}
    assert main(["query", str(tmp_path / "release"), text]) == 0
    assert "density" in capsys.readouterr().out.splitlines()[0]


def test_rows_that_are_counted_are_answered_as_rows_one_by_one():
    release = publish_people("generalized", make_people())
    counted = release.tables["data"].group_by(pl.all()).len("\x00rows")
    counted = {"data": counted.rename({"\x00rows": ROW_COUNT_COLUMN}).cast({ROW_COUNT_COLUMN: pl.Int64})}
    for text in ("SELECT COUNT(*) FROM release WHERE hours < 37 AND pay = 10", "SELECT AVG(hours) FROM release"):
        answers = [ask(tables, release.manifest, text, QueryOptions()) for tables in (release.tables, counted)]
        assert answers[0].estimate == pytest.approx(answers[1].estimate)


def test_the_same_question_has_the_same_answer_to_the_last_digit_in_every_order_of_questions():
    release = publish_people("generalized", make_people())
    texts = [
        f"SELECT COUNT(*) FROM release WHERE hours < {n} AND age > {m} AND town = 'A'"
        for n in (30, 40)
        for m in (25, 50)
    ]
    once = [rt.open(release.folder).query(text).estimate for text in texts]
    opened = rt.open(release.folder)
    again = [opened.query(text).estimate for text in reversed(texts)]
    assert once == again[::-1]


@pytest.mark.parametrize("least", [2**53, 2**60, -(2**62)])
def test_large_whole_numbers_are_shared_out_as_small_ones_are(least):
    steps = np.random.default_rng(2).integers(0, 200, 600).tolist()
    estimates = []
    for start in (0, least):
        frame = pl.DataFrame({"number": [start + step for step in steps], "illness": ["a", "b", "c"] * 200})
        columns = {"number": rt.quasi(numeric=True), "illness": rt.sensitive()}
        release = rt.publish(rt.Job(columns=columns, promises=[rt.KAnonymity(20)]), frame=frame, seed=1)
        answer = release.query(f"SELECT COUNT(*) FROM release WHERE number BETWEEN {start + 3} AND {start + 20}")
        estimates.append(answer.estimate)
    assert estimates[1] == pytest.approx(estimates[0])


def test_decimals_dates_and_ordered_values_are_shared_out_within_their_labels(tmp_path):
    rng = np.random.default_rng(2)
    rows = 600
    born = pl.date_range(pl.date(1950, 1, 1), pl.date(2010, 1, 1), "1d", eager=True)
    frame = pl.DataFrame(
        {
            "weight": np.where(rng.random(rows) < 0.05, 999.9, rng.normal(70, 12, rows).round(1)),
            "born": born.gather(rng.integers(0, len(born), rows)),
            "grade": rng.choice(["low", "mid", "high", "top"], rows, p=[0.1, 0.6, 0.25, 0.05]),
            "pay": rng.choice([10, 20, 30], rows),
        }
    )
    columns = {
        "weight": rt.quasi(numeric=True),
        "born": rt.quasi(),
        "grade": rt.quasi(order=["low", "mid", "high", "top"]),
        "pay": rt.sensitive(),
    }
    release = rt.publish(
        rt.Job(columns=columns, promises=[rt.KAnonymity(12)], method=rt.Mondrian()), frame=frame, seed=1
    )
    for where, true in (
        ("weight < 75.5", frame.filter(pl.col("weight") < 75.5).height),
        ("weight BETWEEN 110 AND 990", 0),
        ("born < '1980-01-01'", frame.filter(pl.col("born") < pl.date(1980, 1, 1)).height),
        ("grade IN ('mid', 'high')", frame.filter(pl.col("grade").is_in(["mid", "high"])).height),
    ):
        (likely, even), *_ = ask_both(release, f"SELECT COUNT(*) FROM release WHERE {where}")
        assert likely.lower <= likely.estimate <= likely.upper and (likely.lower, likely.upper) == (
            even.lower,
            even.upper,
        )
        assert abs(likely.estimate - true) <= max(abs(even.estimate - true) * 1.2, 12)
    total = release.query("SELECT COUNT(*) FROM release WHERE weight < 75.55").estimate
    rest = release.query("SELECT COUNT(*) FROM release WHERE weight > 75.55").estimate
    assert total + rest == pytest.approx(rows)


@pytest.mark.skipif(not (PUBLIC_DATA / "adult.parquet").exists(), reason="the public tables are not here")
def test_estimates_on_a_real_table_are_nearer_to_the_truth():
    people = pl.read_parquet(PUBLIC_DATA / "adult.parquet").select(
        "age", "hours-per-week", "education-num", "occupation"
    )
    people = people.sample(6_000, seed=1)
    columns = {name: rt.quasi(numeric=True) for name in people.columns[:-1]} | {"occupation": rt.sensitive()}
    release = rt.publish(rt.Job(columns=columns, promises=[rt.KAnonymity(10)]), frame=people, seed=1)
    rng = np.random.default_rng(1)
    errors = {"likelihood": [], "even": []}
    for _ in range(40):
        low, high = sorted(int(hour) for hour in rng.choice(people["hours-per-week"].to_numpy(), 2))
        true = people.filter(pl.col("hours-per-week").is_between(low, high)).height
        for density, found in errors.items():
            text = f'SELECT COUNT(*) FROM release WHERE "hours-per-week" BETWEEN {low} AND {high}'
            found.append(abs(release.query(text, density=density).estimate - true) / true)
    assert median(errors["likelihood"]) < median(errors["even"]) / 2
