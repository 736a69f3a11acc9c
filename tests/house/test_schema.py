"""The JSON Schema of the job file: in the docs as it is made, and strict about names."""

from __future__ import annotations

import re
import tomllib

import pytest
from jsonschema import Draft202012Validator

from reticent import catalogue
from reticent.job.schema import build_job_schema, format_schema
from tests.support.repository import ROOT

GOOD = {"columns": {"age": "quasi"}, "promise": [{"model": "k-anonymity", "k": 5}]}
TOML = re.compile(r"^```toml[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def accepts(job: dict) -> bool:
    return Draft202012Validator(build_job_schema()).is_valid(job)


def test_the_docs_hold_the_schema_as_it_is_made():
    kept = (ROOT / "docs" / "job.schema.json").read_text(encoding="utf-8")
    assert kept == format_schema(), "python -m reticent.job.schema > docs/job.schema.json"


def test_the_schema_is_a_schema():
    Draft202012Validator.check_schema(build_job_schema())


@pytest.mark.parametrize(
    "path", sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]), ids=lambda path: path.name
)
def test_every_whole_job_in_the_docs_fits_the_schema(path):
    for text in TOML.findall(path.read_text(encoding="utf-8")):
        job = tomllib.loads(text)
        if {"columns", "promise"} <= set(job):
            assert accepts(job), text


@pytest.mark.parametrize(
    "change",
    [
        {"promises": []},
        {"columns": {"age": "quazi"}},
        {"columns": {"age": {"role": "quasi", "heirarchy": "x.csv"}}},
        {"promise": [{"model": "k-anonymity"}]},
        {"promise": [{"model": "k-anonimity", "k": 5}]},
        {"promise": [{"model": "beta-likeness", "beta": "many"}]},
        {"method": {"name": "mondrian", "cut": "loss"}},
        {"release": {"format": "xlsx"}},
    ],
    ids=lambda change: str(next(iter(change.values())))[:40],
)
def test_a_misspelled_name_or_a_wrong_type_is_marked(change):
    assert accepts(GOOD)
    assert not accepts({**GOOD, **change})


def test_every_promise_method_and_stage_is_in_the_schema():
    text = format_schema()
    for name in (*catalogue.PROMISES, *catalogue.METHODS, *catalogue.STAGES):
        assert f'"const": "{name}"' in text
