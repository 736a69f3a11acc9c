"""Every field that a command prints with --json stands in the page on the command line, in quotes or as code."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest

from tests.support.repository import ROOT

CSV = "person,age,town,illness\n" + "".join(
    f"p{at},{20 + at % 9},{('Ulm', 'Kiel', 'Bonn')[at % 3]},{('flu', 'cold', 'gout', 'mumps')[at % 4]}\n"
    for at in range(120)
)
JOB = """
[about]
title = "People"

[source]
path = "people.csv"
broken = "set-aside"

[columns]
person = { role = "identifying", rows_per_person = 1, beyond = "withhold" }
age = { role = "quasi-identifying", type = "numeric" }
town = { role = "quasi-identifying", missing = "withhold" }
illness = "sensitive"

[[promise]]
model = "k-anonymity"
k = 3

[release]
loss_at_most = 0.9
"""
ANALYSES = """
[[analysis]]
table = ["town", "illness"]
[[analysis]]
mean = "age"
by = ["illness"]
[[analysis]]
regression = "age"
on = ["town"]
"""
NAMES_OF_THE_DATA = {"person", "age", "town", "illness"}
NAMES_OF_THE_CATALOGUE = {"skewness", "mondrian", "cuts", "fallback", "thorough"}
KEYED_BY_NAME = {
    "achieved",
    "achieved_by_column",
    "ail_by_column",
    "utility",
    "by_column",
    "asked",
    "counts",
    "hierarchy",
    "parameters",
    "privacy",
    "loss",
    "marginals",
    "attacks_left_out",
}
"""Fields whose keys are names of columns, measures or parameters, which other pages list."""


@pytest.fixture
def desk(place):
    (place / "people.csv").write_text(CSV + "p999,30\n", encoding="utf-8")
    (place / "job.toml").write_text(JOB, encoding="utf-8")
    (place / "analyses.toml").write_text(ANALYSES, encoding="utf-8")
    (place / "person.txt").write_text("p3\n", encoding="utf-8")
    return place


def test_every_field_of_json_is_in_the_page(run, desk):
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    unknown = {}
    for line in (
        "init people.csv",
        "check job.toml --methods mondrian",
        "publish job.toml -o release",
        "audit release --source people.csv --strict",
        "risk release --source people.csv --records records.csv",
        "query release 'SELECT town, COUNT(*) FROM release GROUP BY town'",
        "attack release --source people.csv --as inference",
        "export release copy",
        "export release sqlite:///warehouse.db --table people --append",
        "query release --analyses analyses.toml --source people.csv",
        "audit people.csv --job job.toml",
        "attack people.csv --job job.toml --source people.csv --as skewness",
        "compare job.toml --attacks skewness --no-classification",
        "advise job.toml --for counts --methods mondrian --runs 1",
        "report release --committee --source people.csv",
        "releases",
        "releases --person person.txt",
        "forget job.toml --person person.txt -o less.csv",
        "withdraw release --reason mistake",
    ):
        words = [word.strip("'") for word in re.findall(r"'[^']*'|\S+", line)]
        ran = run(*words, "--json")
        assert ran.code == 0, (line, ran.err)
        missing = {field for field in set(list_fields(json.loads(ran.out))) if not is_explained(field, page)}
        if missing:
            unknown[line] = sorted(missing)
    assert unknown == {}


def list_fields(document: object) -> Iterator[str]:
    """List the names of all fields of a document, but for those that name the data's columns and the catalogue's measures."""
    if isinstance(document, list):
        for entry in document:
            yield from list_fields(entry)
    if isinstance(document, dict):
        for name, value in document.items():
            if name not in NAMES_OF_THE_DATA | NAMES_OF_THE_CATALOGUE:
                yield name
            if name not in KEYED_BY_NAME:
                yield from list_fields(value)


def is_explained(field: str, page: str) -> bool:
    return re.search(rf'["`]{re.escape(field)}["`]', page) is not None
