"""The lines that a README tells its reader to run do run, in every kind of release, and refuse nothing."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import polars as pl
import pytest

import reticent as rt
from reticent.cli.main import main
from reticent.release.readme_questions import list_example_questions

JOBS = Path(__file__).parents[1] / "fixtures" / "formats" / "0.1.0"
NAMES = [
    path.stem
    for path in sorted(JOBS.glob("*.toml"))
    if not path.stem.startswith(("perturbed-generalization-undeclared", "anatomy-suppressed"))
]


def publish_frozen_job(name: str, folder: Path) -> rt.Release:
    return rt.publish(rt.Job.read(JOBS / f"{name}.toml"), to=folder / "release", seed=7, ledger=folder / "ledger")


def find_code(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("name", NAMES)
def test_every_line_of_python_and_of_the_command_line_runs_in_the_folder(name, tmp_path, monkeypatch, capsys):
    release = publish_frozen_job(name, tmp_path)
    text = (release.folder / "README.md").read_text(encoding="utf-8")
    monkeypatch.chdir(release.folder)
    (python,) = find_code(text, "python")
    assert "rt.open(" in python and "bounds=True" in python and "release.query(" in python
    exec(compile(python, "README.md", "exec"), {})  # it refuses nothing: a refusal is an exception
    assert "estimate" in capsys.readouterr().out
    install, shell = find_code(text, "sh")
    assert install == "pip install reticent\n"
    lines = [shlex.split(line) for line in shell.splitlines()]
    assert [words[:2] for words in lines][:2] == [["reticent", "audit"], ["reticent", "query"]]
    for words in lines:
        assert main(words[1:]) == 0, words
    assert os.getcwd() == str(release.folder)


@pytest.mark.parametrize("name", ["distribution-csv", "distribution-parquet"])
def test_the_plain_sql_of_a_transformed_release_gives_bounds_of_the_true_sum(name, tmp_path):
    duckdb = pytest.importorskip("duckdb")
    release = publish_frozen_job(name, tmp_path)
    (sql,) = find_code((release.folder / "README.md").read_text(encoding="utf-8"), "sql")
    quasi, bounds = release.tables["quasi"], release.tables["bounds"]  # noqa: F841  # what the question reads
    ((lower, upper),) = duckdb.sql(sql).fetchall()
    assert lower <= pl.read_csv(JOBS / "people.csv")["wage"].sum() <= upper


@pytest.mark.parametrize("name", ["mondrian-csv", "anatomy-csv", "beta-perturbation-csv", "distribution-csv"])
def test_questions_ask_about_some_people_and_about_the_sensitive_column(name, tmp_path):
    release = publish_frozen_job(name, tmp_path)
    questions = list_example_questions(release.manifest)
    assert len(questions) == 3
    assert '"age" >=' in questions[1] and f'"{release.manifest.sensitive.name}"' in questions[2]


HOSTILE_NAMES = ["a`b", "it's", 'a"b', "x\\", "a;b", "```", "<b>", "$(id)", "-x", "x" * 300]


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_a_column_with_another_than_a_plain_name_stands_in_no_question(name, tmp_path):
    frame = pl.DataFrame({name: list(range(60)), "illness": ["flu", "cold"] * 30})
    job = rt.Job(columns={name: rt.quasi(numeric=True), "illness": rt.sensitive()}, promises=[rt.KAnonymity(5)])
    release = rt.publish(job, frame=frame, seed=1)
    assert not any(name in question for question in list_example_questions(release.manifest))
    text = (release.folder / "README.md").read_text(encoding="utf-8")
    for code in find_code(text, "python"):
        assert name not in code
        compile(code, "README.md", "exec")


@pytest.mark.parametrize("name", ["Größe", "order", "education-num", "a b.c", "SELECT"])
def test_a_column_whose_name_needs_quotes_is_asked_about_in_quotes(name, tmp_path):
    frame = pl.DataFrame({name: list(range(60)), "illness": ["flu", "cold"] * 30})
    job = rt.Job(columns={name: rt.quasi(numeric=True), "illness": rt.sensitive()}, promises=[rt.KAnonymity(5)])
    release = rt.publish(job, frame=frame, seed=1)
    question = list_example_questions(release.manifest)[1]
    assert f'"{name}"' in question
    assert release.query(question).estimate is not None


def test_a_category_is_asked_about_by_value_where_no_column_has_numbers(tmp_path):
    frame = pl.DataFrame({"town": ["Kiel", "Ulm"] * 30, "illness": ["flu", "cold", "gout"] * 20})
    job = rt.Job(columns={"town": rt.quasi(), "illness": rt.sensitive()}, promises=[rt.KAnonymity(5)])
    release = rt.publish(job, frame=frame, seed=1)
    question = list_example_questions(release.manifest)[1]
    assert question == 'SELECT "town", COUNT(*) FROM release GROUP BY "town"'
    assert {answer.keys["town"] for answer in release.query(question)} >= {"Kiel", "Ulm"}
