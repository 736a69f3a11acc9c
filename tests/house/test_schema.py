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


@pytest.mark.parametrize(
    ("change", "path", "said"),
    [
        ({"promise": [{"model": "k-anonymity"}]}, ["promise", 0], "'k' is a required property"),
        ({"promise": [{"k": 5}]}, ["promise", 0], "'model' is a required property"),
        ({"promise": [{"model": "k-anonimity", "k": 5}]}, ["promise", 0, "model"], "'k-anonimity' is not one of"),
        ({"promise": [{"model": "k-anonymity", "k": 5, "kk": 3}]}, ["promise", 0], "'kk' was unexpected"),
        ({"promise": [{"model": "beta-likeness", "beta": []}]}, ["promise", 0, "beta"], "not of type 'number'"),
        ({"prepare": [{"name": "suppression", "kind": "safe", "l": "x"}]}, ["prepare", 0, "l"], "'x'"),
        ({"method": {"name": "mondrian", "cut": "loss"}}, ["method"], "'cut' was unexpected"),
        ({"method": "mondrin"}, ["method"], "'mondrin' is not one of"),
        ({"columns": {"age": "quazi"}}, ["columns", "age"], "'quazi' is not one of"),
        ({"columns": {"age": {"role": "quasi", "topp": 3}}}, ["columns", "age"], "'topp' was unexpected"),
    ],
)
def test_a_validator_names_the_key_that_is_wrong_and_nothing_else(change, path, said):
    (error,) = Draft202012Validator(build_job_schema()).iter_errors({**GOOD, **change})
    assert list(error.path) == path
    assert said in error.message


def test_the_schema_has_an_identity_and_no_choice_among_whole_promises_or_methods():
    schema = build_job_schema()
    assert schema["$id"] == "urn:reticent:job"
    for part in (schema["properties"]["promise"]["items"], schema["properties"]["prepare"]["items"]):
        assert not {"oneOf", "anyOf"} & set(part)
        assert all({"if", "then"} == set(branch) for branch in part["allOf"])


def test_an_editor_is_offered_every_parameter_beside_the_models_name():
    promise = build_job_schema()["properties"]["promise"]["items"]
    for row in catalogue.PROMISES.values():
        assert set(row.fields) <= set(promise["properties"])
