"""`reticent schema`, and the line by which a draft names it to editors."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from reticent.job.schema import format_schema


def test_the_schema_is_printed_or_written(run, place):
    printed = run("schema")
    assert printed.code == 0 and printed.out == format_schema()
    ran = run("schema", "--output", "job.schema.json")
    assert ran.code == 0 and "Wrote job.schema.json." in ran.out
    assert (place / "job.schema.json").read_text(encoding="utf-8") == format_schema()


def test_an_existing_file_is_not_overwritten_without_force(run, place):
    (place / "job.schema.json").write_text("mine")
    ran = run("schema", "-o", "job.schema.json")
    assert ran.code == 1 and "--force" in ran.err
    assert (place / "job.schema.json").read_text() == "mine"
    assert run("schema", "-o", "job.schema.json", "--force").code == 0


def test_a_draft_names_the_schema_and_says_how_it_is_written(run, place):
    assert run("init", "people.csv", "-o", "draft.toml").code == 0
    first, second = (place / "draft.toml").read_text(encoding="utf-8").splitlines()[:2]
    assert first == "#:schema ./job.schema.json"
    command = second.split("`")[1].split()
    assert command[0] == "reticent" and run(*command[1:]).code == 0
    schema = json.loads(Path(first.removeprefix("#:schema ")).read_text(encoding="utf-8"))
    assert Draft202012Validator(schema).is_valid(tomllib.loads((place / "draft.toml").read_text(encoding="utf-8")))


@pytest.mark.parametrize("output", ["taken/job.schema.json", "."])
def test_a_place_that_cannot_be_written_is_refused(run, place, output):
    Path("taken").write_text("a file, and no folder")
    assert run("schema", "-o", output).code in (1, 74)
