"""Advice about job files is followed: the job is then read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import reticent as rt
from reticent import limits
from reticent.errors import HierarchyError, JobError
from reticent.job.parse import parse_job
from tests.advice.coverage import Trial, follows
from tests.advice.small_jobs import COLUMNS, make_people, publish, write_people
from tests.support.command_line import run as run

PROMISE = {"model": "k-anonymity", "k": 3}
TEXT = """\
[source]
path = "people.csv"
[columns]
name = "identifying"
age = "quasi-identifying"
city = "quasi-identifying"
illness = "sensitive"
[[promise]]
model = "k-anonymity"
k = 3
"""


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_people("people.csv")


def read(text: str, *changes: tuple[str, str]) -> None:
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    Path("job.toml").write_text(text)
    rt.Job.read("job.toml")


def parse_parts(**parts: Any) -> None:
    parse_job({"columns": COLUMNS, "promise": [PROMISE], **parts})


def make_job(**parts: Any) -> rt.Job:
    return rt.Job(**{"columns": {"age": rt.quasi()}, "promises": rt.KAnonymity(3), **parts})


def draft() -> None:
    """Read the job that init drafts."""
    from reticent.cli.main import main

    assert main(["init", "people.csv", "-o", "drafted.toml"]) == 0
    rt.Job.read("drafted.toml")


READ = "job/parse.py"
MADE = "job/job.py"
TRIALS = [
    Trial(
        READ,
        "[[…]] with two brackets.",
        lambda: read(TEXT, ("[[promise]]", "[promise]")),
        lambda: read(TEXT),
    ),
    Trial(
        READ,
        'lines such as age = "quasi-identifying".',
        lambda: parse_parts(columns=["age"]),
        lambda: parse_parts(columns={"age": "quasi-identifying"}),
    ),
    Trial(
        READ,
        "a shorter path.",
        lambda: read(TEXT, ("people.csv", "p" * 5000)),
        lambda: read(TEXT),
    ),
    Trial(READ, "a job as init drafts it.", lambda: read(TEXT + "a." * 200 + "b = 1\n"), draft),
    Trial(READ, "a job as init drafts it.", lambda: read(f"{TEXT}x = {'[' * 5000}{']' * 5000}\n"), draft),
    Trial(READ, "`reticent init DATA`, which drafts one.", lambda: rt.Job.read("absent.toml"), draft),
    Trial(
        READ,
        'role = "quasi-identifying", "sensitive", "identifying" or "insensitive".',
        lambda: read(TEXT, ('age = "quasi-identifying"', 'age = { type = "numeric" }')),
        lambda: [
            read(TEXT, ('age = "quasi-identifying"', f'age = {{ type = "numeric", role = "{role}" }}'))
            for role in ("quasi-identifying", "sensitive", "insensitive")
        ],
    ),
    Trial(
        READ,
        "{error.attempt}",
        lambda: read(
            TEXT, ('age = "quasi-identifying"', 'age = { role = "quasi-identifying", top = 18, bottom = 80 }')
        ),
        lambda: read(
            TEXT, ('age = "quasi-identifying"', 'age = { role = "quasi-identifying", bottom = 18, top = 80 }')
        ),
    ),
    Trial(
        MADE,
        "a role for each column; `reticent init DATA` drafts one.",
        lambda: make_job(columns={}),
        lambda: [make_job(columns={"age": "quasi-identifying"}), draft()],
    ),
    Trial(
        MADE,
        'source = "data.csv"; a frame is given to rt.publish(job, frame=...).',
        lambda: make_job(source=make_people()),
        lambda: [make_job(source="data.csv"), publish(frame=make_people())],
    ),
    Trial(
        MADE,
        'method = "mosaic", or rt.Mosaic().',
        lambda: make_job(method=5),
        lambda: [make_job(method="mosaic"), make_job(method=rt.Mosaic())],
    ),
    Trial(MADE, "rt.…(...).", lambda: make_job(method=rt.Mosaic), lambda: make_job(method=rt.Mosaic())),
    Trial(
        MADE,
        "prepare = [rt.Suppression(l=3)].",
        lambda: make_job(prepare=[5]),
        lambda: make_job(prepare=[rt.Suppression(l=3)]),
    ),
    Trial(
        "job/description.py",
        'about = {"title": "..."}, or rt.About(title="...").',
        lambda: make_job(about="Visits"),
        lambda: [make_job(about={"title": "Visits"}), make_job(about=rt.About(title="Visits"))],
    ),
    Trial(
        "job_table.py",
        'role = "quasi-identifying" for what an adversary may know.',
        lambda: publish(columns={"age": "insensitive", "city": "insensitive"}),
        lambda: publish(columns={"age": "quasi-identifying", "city": "insensitive"}),
    ),
    Trial(
        "registry.py",
        "… …",
        lambda: parse_parts(source="people.csv"),
        lambda: read(TEXT),
    ),
    Trial(
        "registry.py",
        "… …",
        lambda: parse_parts(columns={"age": 5}),
        lambda: parse_parts(columns={"age": {"role": "quasi-identifying"}}),
    ),
    Trial(
        "registry.py",
        "{suggest(name, names)}",
        lambda: parse_parts(promises=[PROMISE]),
        lambda: parse_parts(promise=[PROMISE]),
    ),
    Trial(
        "registry.py",
        "{field.attempt}",
        lambda: parse_parts(columns={"age": {"role": "quasi-identifying", "order": "low"}}),
        lambda: parse_parts(columns={"age": {"role": "quasi-identifying", "order": ["low", "middle", "high"]}}),
    ),
    Trial(
        "registry.py",
        "… for ….",
        lambda: parse_parts(columns={"age": {"role": "quasi-identifying", "labels": 5}}),
        lambda: [
            parse_parts(columns={"age": {"role": "quasi-identifying", "labels": labels}})
            for labels in ("snapped", {"style": "snapped", "step": 5})
        ],
    ),
    Trial(
        "registry.py",
        "{suggest(str(name), rows)}",
        lambda: parse_parts(method={"name": "mondrain"}),
        lambda: parse_parts(method={"name": "mondrian"}),
    ),
    Trial("registry.py", "… = …", lambda: parse_parts(promise=[{"k": 3}]), lambda: parse_parts(promise=[PROMISE])),
    Trial(
        "registry.py",
        "{suggest(name, row.fields)}",
        lambda: parse_parts(promise=[{**PROMISE, "m": 3}]),
        lambda: parse_parts(promise=[PROMISE]),
    ),
    Trial(
        "registry.py",
        "… = ... beside ….",
        lambda: parse_parts(promise=[{"model": "k-anonymity"}]),
        lambda: parse_parts(promise=[PROMISE]),
    ),
    Trial(
        "limits.py",
        'a number such as 4, 0.5 or "1/3".',
        lambda: parse_parts(promise=[{"model": "beta-likeness", "beta": 10**999}]),
        lambda: [parse_parts(promise=[{"model": "beta-likeness", "beta": beta}]) for beta in (4, 0.5, "1/3")],
    ),
    Trial(
        "limits.py",
        "a shorter text.",
        lambda: parse_parts(about={"title": "x" * (limits.MAX_JOB_TEXT_CHARACTERS + 1)}),
        lambda: parse_parts(about={"title": "Visits"}),
    ),
]


@pytest.mark.parametrize("trial", TRIALS, ids=str)
def test_advice_about_job_files_is_accepted(trial):
    trial.run()


@follows("limits.py", "a file for each hierarchy.")
@follows(READ, "a file for each hierarchy.")
def test_a_job_that_is_too_large():
    Path("city.csv").write_text("Ulm;*\nBonn;*\nKiel;*\nJena;*\n")
    deep = "[" * limits.MAX_DEPTH + "]" * limits.MAX_DEPTH
    declared = 'city = {{ role = "quasi-identifying", hierarchy = {} }}'
    with pytest.raises(JobError, match="too large"):
        read(TEXT, ('city = "quasi-identifying"', declared.format(deep)))
    with open("job.toml", "wb") as file:
        file.truncate(limits.MAX_JOB_FILE_BYTES + 1)
    with pytest.raises(JobError, match="bytes"):
        rt.Job.read("job.toml")
    read(TEXT, ('city = "quasi-identifying"', declared.format('"city.csv"')))


@follows("job/draft.py", "a file with rows.")
def test_a_file_without_rows(run):
    Path("header.csv").write_text("name,age,city,illness\n")
    assert "no rows" in run("init", "header.csv").err
    assert run("init", "people.csv").code == 0


@follows("errors.py", "{errors[0].attempt}")
def test_faults_of_several_hierarchies():
    rows = make_people(land=["A", "B"] * 30)
    tree = [["Ulm", "*"], ["Bonn", "*"]]
    columns = {
        "city": {"role": "quasi-identifying", "hierarchy": tree},
        "land": {"role": "quasi-identifying", "hierarchy": tree},
    }
    with pytest.raises(HierarchyError, match="'land'") as refused:
        publish(rows, columns)
    assert set(refused.value.values) == {"A", "B", "Jena", "Kiel"}
    missing = {"missing": list(refused.value.values)}
    rows.with_columns(pl.col("city"), pl.col("land")).write_csv("lands.csv")
    publish(columns=columns, source={"path": "lands.csv", **missing})
