"""Lines that `check` prints to be pasted are pasted: the job is accepted, and loses less."""

from __future__ import annotations

import json
import random
from itertools import takewhile
from pathlib import Path

import polars as pl
import pytest

from tests.support.command_line import place as place
from tests.support.command_line import run as run

JOB = """\
[source]
path = "visits.csv"

[columns]
age = "quasi-identifying"
city = "quasi-identifying"
{diagnosis}

[[promise]]
model = "k-anonymity"
k = 3

[[promise]]
model = "beta-likeness"
beta = 2
"""
OPTIONS = [
    'role = "sensitive", missing = "category"',
    'role = "sensitive", type = "categorical", missing = "category"',
]


def write_visits() -> None:
    """Write rows with many rare codes, and some without one."""
    draw = random.Random(4)
    codes = [f"{letter}{number:02d}" for letter in "ABCD" for number in range(30)]
    rows = 900
    pl.DataFrame(
        {
            "age": [draw.randint(20, 89) for _ in range(rows)],
            "city": [draw.choice(["Ulm", "Kiel", "Bonn", "Jena"]) for _ in range(rows)],
            "diagnosis": [None if row % 30 == 7 else draw.choice(codes) for row in range(rows)],
        }
    ).write_csv("visits.csv")


def measure_loss(run, job: str) -> float:
    checked = run("check", job, "--methods", "mondrian", "--json")
    assert checked.code == 0, checked.err
    return json.loads(checked.out)["methods"][0]["ail"]


@pytest.mark.parametrize("options", OPTIONS)
def test_a_pasted_column_keeps_its_other_options_and_the_job_loses_less(run, place, options):
    write_visits()
    declared = f"diagnosis = {{ {options} }}"
    text = JOB.format(diagnosis=declared)
    Path("job.toml").write_text(text)
    checked = run("check", "job.toml", "--methods", "mondrian", "--budget", "60")
    assert checked.code == 0, checked.err
    lines = checked.out[checked.out.index("to paste:") :].splitlines()[1:]
    command, column = (line.strip().removeprefix("# ") for line in lines[:2])
    promise = [line.strip() for line in takewhile(lambda line: line.startswith("  "), lines[2:])]
    assert run(*command.split()[1:]).code == 0
    assert 'missing = "category"' in column
    better = text.replace(declared, column)
    better = better[: better.rindex("[[promise]]")] + "\n".join(promise) + "\n"
    Path("better.toml").write_text(better)
    assert measure_loss(run, "better.toml") < measure_loss(run, "job.toml")
    assert run("publish", "better.toml", "-o", "release").code == 0
