"""A steward's own list of questions."""

from __future__ import annotations

import json
from datetime import date, datetime

import polars as pl
import pytest

import reticent as rt
from reticent.cli.main import main
from reticent.query.run import measure_questions, read_questions
from tests.support import repeated_releases

LIST = """
-- how many are there?
SELECT COUNT(*) FROM release WHERE age < 33;
SELECT town, AVG(pay), MAX(age) FROM release WHERE pay > 10 GROUP BY town;
SELECT COUNT(*) FROM release WHERE age > 100
"""


@pytest.fixture
def release(tmp_path):
    job = rt.Job(columns=repeated_releases.COLUMNS, promises=[rt.KAnonymity(5)])
    return rt.publish(job, frame=repeated_releases.people(200), seed=1, to=tmp_path / "release")


def test_every_question_of_a_file_is_answered_and_measured(release, tmp_path):
    (tmp_path / "asked.sql").write_text(LIST)
    frame = repeated_releases.people(200)
    found = measure_questions(release.tables, release.manifest, read_questions(tmp_path / "asked.sql"), frame)
    assert len(found) == 1 + 3 * 2 + 1
    assert found[0]["true"] == len(frame.filter(frame["age"] < 33))
    here = frame.filter((frame["pay"] > 10) & (frame["town"] == "a"))
    assert [line["true"] for line in found[1:3]] == [pytest.approx(here["pay"].mean()), here["age"].max()]
    for line in found:
        assert line["lower"] <= line["true"] <= line["upper"]
        if line["true"]:
            assert line["error"] == pytest.approx(abs(line["estimate"] - line["true"]) / line["true"])
    assert "error" not in found[-1]  # nobody: there is nothing to divide by


def test_a_list_is_measured_against_the_source_by_a_call_and_by_the_command(release, tmp_path, capsys):
    (tmp_path / "asked.sql").write_text(LIST)
    repeated_releases.people(200).write_csv(tmp_path / "people.csv")
    told = release.measure(tmp_path / "asked.sql", source=repeated_releases.people(200))
    assert told == measure_questions(
        release.tables, release.manifest, read_questions(tmp_path / "asked.sql"), repeated_releases.people(200)
    )
    assert release.measure(["SELECT COUNT(*) FROM release WHERE age < 33"]) == [
        {
            "question": "SELECT COUNT(*) FROM release WHERE age < 33",
            **release.query("SELECT COUNT(*) FROM release WHERE age < 33").to_dict(),
        }
    ]
    words = ["query", str(tmp_path / "release"), "--file", str(tmp_path / "asked.sql"), "--source"]
    assert main([*words, str(tmp_path / "people.csv"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == told
    assert main([*words, str(tmp_path / "people.csv")]) == 0
    assert "Relative error of 7 answers: median" in capsys.readouterr().out
    assert main([*words, str(tmp_path / "absent.csv")]) != 0
    (tmp_path / "words.csv").write_text("age,town,pay\nold,a,10\n")
    assert main([*words, str(tmp_path / "words.csv")]) == 1
    assert "'age' of the source do not read" in capsys.readouterr().err
    words = ["query", str(tmp_path / "release"), "SELECT COUNT(*) FROM release", "--source"]
    assert main([*words, str(tmp_path / "people.csv")]) == 0, "one question has its truth beside it too"


def test_a_list_is_answered_at_the_level_asked_for(tmp_path, capsys):
    job = rt.Job(columns=repeated_releases.COLUMNS, promises=[rt.BetaLikeness(3)], method=rt.BetaPerturbation())
    rt.publish(job, frame=repeated_releases.people(200), seed=1, to=tmp_path / "release")
    (tmp_path / "asked.sql").write_text("SELECT COUNT(*) FROM release WHERE pay = 10")
    words = ["query", str(tmp_path / "release"), "--file", str(tmp_path / "asked.sql"), "--json", "--by", "em"]
    assert main([*words, "--level", "0.5"]) == 0
    (line,) = json.loads(capsys.readouterr().out)
    answer = rt.open(tmp_path / "release").query("SELECT COUNT(*) FROM release WHERE pay = 10", level=0.5, by="em")
    assert {name: value for name, value in line.items() if name != "question"} == answer.to_dict()


def test_the_command_answers_a_file(release, tmp_path, capsys):
    (tmp_path / "asked.sql").write_text(LIST)
    folder = str(tmp_path / "release")
    assert main(["query", folder, "--file", str(tmp_path / "asked.sql"), "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 8
    assert main(["query", folder, "--file", str(tmp_path / "asked.sql")]) == 0
    assert "MAX(age)" in capsys.readouterr().out
    assert main(["query", folder]) == 1
    assert main(["query", folder, "SELECT COUNT(*) FROM release", "--file", str(tmp_path / "asked.sql")]) == 1
    assert main(["query", folder, "--file", str(tmp_path / "absent.sql")]) != 0


def test_a_list_with_one_bad_question_is_not_answered_in_part(release, tmp_path):
    (tmp_path / "asked.sql").write_text(LIST + "; SELECT MEDIAN(age) FROM release")
    with pytest.raises(rt.RequestError, match="MEDIAN"):
        measure_questions(release.tables, release.manifest, read_questions(tmp_path / "asked.sql"))
    with pytest.raises(rt.RequestError, match="lacks 1 column"):
        measure_questions(
            release.tables, release.manifest, ["SELECT COUNT(*) FROM release"], repeated_releases.people(9).drop("town")
        )


NUMBERS = [row % 20 for row in range(120)]
DAYS = [date(2020, 1, 1 + number) for number in NUMBERS]
WRITTEN = {
    "day": ([f" {day}" for day in DAYS], {"type": "date"}, "DATE '2020-01-10'", DAYS, date(2020, 1, 10)),
    "moment": (
        [f"{day} {day.day:02d}:30" for day in DAYS],
        {"type": "date"},
        "TIMESTAMP '2020-01-10 12:00:00'",
        [datetime(day.year, day.month, day.day, day.day, 30) for day in DAYS],
        datetime(2020, 1, 10, 12),
    ),
    "day in a format": (
        [day.strftime("%m/%d/%Y") for day in DAYS],
        {"format": "%m/%d/%Y"},
        "DATE '2020-01-10'",
        DAYS,
        date(2020, 1, 10),
    ),
    "moment in a format": (
        [day.strftime("%d.%m.%Y 08:00") for day in DAYS],
        {"format": "%d.%m.%Y %H:%M"},
        "TIMESTAMP '2020-01-10 12:00:00'",
        [datetime(day.year, day.month, day.day, 8) for day in DAYS],
        datetime(2020, 1, 10, 12),
    ),
    "number in a format": (
        [f"1.{number:03d},5 €" for number in NUMBERS],
        {"format": "1.234,5"},
        "1010",
        [1000.5 + number for number in NUMBERS],
        1010,
    ),
    "number with blanks": ([f" {number}" for number in NUMBERS], {"type": "numeric"}, "10", NUMBERS, 10),
    "number beyond a top": ([str(number) for number in NUMBERS], {"type": "numeric", "top": 15}, "10", NUMBERS, 10),
}


@pytest.mark.parametrize("method", [rt.Mondrian(), rt.Anatomy()], ids=["generalized", "anatomized"])
@pytest.mark.parametrize("role", ["quasi", "sensitive", "insensitive"])
@pytest.mark.parametrize("kind", WRITTEN)
def test_the_source_is_read_as_it_was_published(kind, role, method, tmp_path, capsys):
    texts, declared, limit, values, bound = WRITTEN[kind]
    if kind == "moment" and role == "insensitive":
        pytest.skip("carried moments need a format")
    column = getattr(rt, role)(**declared, **({"missing": "category"} if role == "sensitive" else {}))
    texts = ["?", *texts[1:]]  # a code for missing values
    columns = {"value": column, "town": rt.quasi(), "ill": rt.insensitive() if role == "sensitive" else rt.sensitive()}
    ill = ["flu", "cold", "gout", "none"] * 30
    frame = pl.DataFrame({"value": texts, "town": ["a", "b"] * 60, "ill": ill})
    frame.write_csv(tmp_path / "people.csv", separator=";")
    source = rt.Source(path=str(tmp_path / "people.csv"), missing=("?",), delimiter=";")
    job = rt.Job(source=source, columns=columns, promises=[rt.ProbabilisticLDiversity(2)], method=method)
    rt.publish(job, seed=1, to=tmp_path / "release")
    questions = [f"SELECT COUNT(*) FROM release WHERE value < {limit}", "SELECT COUNT(value) FROM release"]
    (tmp_path / "asked.sql").write_text(";".join(questions))
    words = ["query", str(tmp_path / "release"), "--file", str(tmp_path / "asked.sql")]
    assert main([*words, "--source", str(tmp_path / "people.csv"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [line["true"] for line in found] == [sum(value < bound for value in values[1:]), 119]


def test_a_source_of_other_values_is_refused_by_column(tmp_path, capsys):
    job = rt.Job(
        columns={"day": rt.quasi(type="date"), "ill": rt.sensitive()}, promises=[rt.ProbabilisticLDiversity(2)]
    )
    frame = pl.DataFrame({"day": [str(day) for day in DAYS], "ill": ["flu", "cold", "gout", "none"] * 30})
    rt.publish(job, frame=frame, seed=1, to=tmp_path / "release")
    (tmp_path / "asked.sql").write_text("SELECT COUNT(*) FROM release")
    for values in (["yesterday"] * 120, [True] * 120, [1.5] * 120):
        frame.with_columns(pl.Series("day", values)).write_parquet(tmp_path / "people.parquet")
        words = ["query", str(tmp_path / "release"), "--file", str(tmp_path / "asked.sql")]
        assert main([*words, "--source", str(tmp_path / "people.parquet")]) == 1
        assert "'day' of the source do not read" in capsys.readouterr().err
