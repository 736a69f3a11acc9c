"""The example that a refused parameter is answered with is accepted in its place."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

import reticent as rt
from reticent import catalogue, registry
from reticent.job.parse import parse_job
from tests.support import contract_examples

TABLES = {"promise": catalogue.PROMISES, "method": catalogue.METHODS, "stage": catalogue.STAGES}


def read_settings(attempt: str, name: str) -> Iterator[Any]:
    """Yield every value that an attempt writes for a setting; the longest text that is TOML counts."""
    for match in re.finditer(rf"(?<![\w-]){re.escape(name)} = ", attempt):
        rest = attempt[match.end() :]
        for end in range(len(rest), 0, -1):
            try:
                yield tomllib.loads(f"value = {rest[:end]}")["value"]
                break
            except tomllib.TOMLDecodeError:
                continue


def read_all_settings(attempt: str, name: str, names: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Yield a table for each value that an attempt writes for a setting, with the other settings that it names."""
    others = {other: value for other in names if other != name for value in read_settings(attempt, other)}
    for value in read_settings(attempt, name):
        yield {**(others if " with " in attempt else {}), name: value}


def list_examples() -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    """Yield (part, its name, parameter, settings advised) for every field whose attempt writes its own value."""
    for part, rows in TABLES.items():
        for owner, row in rows.items():
            for name, field in row.fields.items():
                for attempt in (field.attempt, field.excess[1] if field.excess else ""):
                    yield from ((part, owner, name, made) for made in read_all_settings(attempt, name, row.fields))
    for table in ("column", "release", "source"):
        fields = catalogue.JOB_TABLES[table].fields
        for name, field in fields.items():
            yield from ((table, table, name, made) for made in read_all_settings(field.attempt, name, fields))


EXAMPLES = list(list_examples())


def make_job(columns: dict[str, Any], **parts: Any) -> rt.Job:
    promise = {"promise": [{"model": "k-anonymity", "k": 3}]}
    return parse_job({"columns": {"age": "quasi-identifying", **columns}, **promise, **parts})


def accept(part: str, owner: str, name: str, settings: dict[str, Any]) -> None:
    """Make the part with the advised settings; raises where they are refused."""
    if part == "promise":
        example = contract_examples.EXAMPLES[owner]
        population = {"population": contract_examples.population()} if example.of_population else {}
        registry.make_promise({"model": owner, **example.parameters, **population, **settings})
    elif part == "method":
        registry.make_method({"name": owner, **settings})
    elif part == "stage":
        registry.make_stage({"name": owner, "l": 2, **settings})
    elif part == "column":
        for role in catalogue.JOB_TABLES["column"].fields[name].roles:
            if role != "quasi-identifying" or name != "domain" or len(settings[name]) == 2:
                make_job({"x": {"role": role, **settings}})
    elif part == "release":
        make_job({}, release=settings)
    else:
        make_job({}, source={"path": "people.csv", **settings})


def test_dozens_of_parameters_are_answered_with_an_example():
    assert len(EXAMPLES) > 30


@pytest.mark.parametrize(("part", "owner", "name", "settings"), EXAMPLES, ids=lambda value: str(value)[:30])
def test_the_example_of_a_refused_parameter_is_accepted(part, owner, name, settings, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("disease-distances.csv").write_text(",flu,gout\nflu,0,1\ngout,1,0\n")
    accept(part, owner, name, settings)
