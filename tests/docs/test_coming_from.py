"""What `docs/coming-from.md` claims of this tool: every name in its first column is accepted, and what is missing is missing."""

from __future__ import annotations

import re
import tomllib
from math import log

import polars as pl
import pytest

import reticent as rt
from reticent import catalogue
from reticent.cli.commands import build_parser
from reticent.job.parse import parse_job
from tests.support.repository import ROOT

PAGE = (ROOT / "docs" / "coming-from.md").read_text(encoding="utf-8")
EQUIVALENTS = PAGE.split("## Equivalents")[1].split("## What is different")[0]
MISSED = PAGE.split("## What you will miss")[1].split("## Auditing")[0]
NAMED = [line.split("|")[1].strip() for line in EQUIVALENTS.splitlines() if line.startswith("| `")]
NEEDED_PARAMETERS = {
    "k-anonymity": {"k": 2},
    "k-map": {"k": 2, "population": "people.csv"},
    "alpha-k-anonymity": {"alpha": 0.9, "k": 2},
    "distinct-l-diversity": {"l": 2},
    "probabilistic-l-diversity": {"l": 2},
    "entropy-l-diversity": {"l": 2},
    "recursive-l-diversity": {"c": 3, "l": 2},
    "t-closeness": {"t": 0.5},
    "delta-disclosure": {"delta": 1},
    "beta-likeness": {"beta": 2},
}
PEOPLE = pl.DataFrame(
    {
        "age": [21, 25, 33, 38, 41, 46, 85, 88],
        "zip": ["80331", "80333", "80335", "80337", "80539", "80538", "80636", "80634"],
        "born": [
            "2000-01-02",
            "1996-05-01",
            "1988-02-03",
            "1983-07-08",
            "1980-01-01",
            "1975-03-09",
            "1936-01-01",
            "1933-02-02",
        ],
        "ill": ["flu", "gout"] * 4,
    }
)


def list_named(pattern: str) -> list[tuple[str, ...]]:
    return [match.groups() for name in NAMED if (match := re.fullmatch(pattern, name))]


def make_job(columns=None, promise=None, **tables) -> rt.Job:
    roles = {"age": "quasi", "zip": "quasi", "born": "identifying", "ill": "sensitive"}
    promises = [promise or {"model": "k-anonymity", "k": 2}]
    return parse_job({"columns": {**roles, **(columns or {})}, "promise": promises, **tables})


def test_every_row_of_the_table_is_looked_at():
    promises = [name for name in NAMED if name.strip("`").split("`")[0] in catalogue.PROMISES]
    others = [name for name in NAMED if name not in promises]
    known = r"`(role|hierarchy|top|suppress_at_most|weights|reticent|rows_per_person|round_to)\b.*"
    assert [name for name in others if not re.fullmatch(known, name)] == []
    assert {name.split("`")[1] for name in promises} == set(NEEDED_PARAMETERS)


@pytest.mark.parametrize("role", [role for (role,) in list_named(r'`role = "([a-z-]+)"`')])
def test_a_role_is_accepted(role):
    column = {"role": role, "acknowledge": True} if role == "insensitive" else role
    assert make_job({"born": column}).columns["born"].role.value == role


@pytest.mark.parametrize("builder", [builder for (builder,) in list_named(r'`hierarchy = \{ build = "(\w+)" \}`')])
def test_a_builder_builds(builder):
    column = {"intervals": "age", "prefixes": "zip", "dates": "born"}[builder]
    options = {"intervals": {"width": 10}}.get(builder, {})
    described = {"role": "quasi", "hierarchy": {"build": builder, **options}}
    if builder == "dates":
        described["type"] = "date"
    assert rt.publish(make_job({column: described}), frame=PEOPLE, seed=1).manifest.rows == len(PEOPLE)


def test_top_and_bottom_code_a_quasi_identifier():
    assert "`top = 80`, `bottom = 18`" in NAMED
    job = make_job({"age": {"role": "quasi", "top": 80, "bottom": 18}})
    assert rt.publish(job, frame=PEOPLE, seed=1).manifest.rows == len(PEOPLE)


@pytest.mark.parametrize("row", [name for name in NAMED if name.split("`")[1] in catalogue.PROMISES])
def test_a_promise_is_accepted_with_the_parameters_that_are_named(row):
    model, *stated = re.findall(r"`([^`]+)`", row)
    parameters = tomllib.loads("\n".join(stated))
    promise = {"model": model, **NEEDED_PARAMETERS[model], **parameters}
    (made,) = make_job(promise=promise).promises
    assert made.name == model
    for name, value in parameters.items():
        assert getattr(made, name) == value


def test_rows_may_be_suppressed_and_columns_weighted():
    assert {"`suppress_at_most = 0.02`", "`weights = { age = 2 }`"} <= set(NAMED)
    for method in ("mondrian", "mosaic"):
        job = make_job(method={"name": method, "weights": {"age": 2}}, release={"suppress_at_most": 0.02})
        assert rt.plan(job, frame=PEOPLE).withheld == 0


def test_the_commands_that_are_named_have_their_options():
    parser = build_parser()
    for name in NAMED:
        if name.startswith("`reticent "):
            command, *rest = name.split("`")[1].removeprefix("reticent ").split()
            known = {option for parameter in parser.commands[command].params for option in parameter.opts}
            assert {word for word in rest if word.startswith("--")} <= known, name
    options = {option for parameter in parser.commands["risk"].params for option in parameter.opts}
    assert {"--weights", "--records", "--population"} <= options


def test_the_individual_risk_is_the_one_that_sdcmicro_states_for_one_and_two_records():
    table = pl.DataFrame({"age": [20, 30, 30], "w": [25.0, 10.0, 40.0]})
    risks = rt.record_risk(table, quasi=["age"], weights="w").frame["journalist"].to_list()
    one = (1 / 25) / (1 - 1 / 25)
    two = (2 / 50) / (1 - 2 / 50)
    assert risks == pytest.approx([one * log(25), *[two - two**2 * log(25)] * 2])


def test_what_is_said_to_be_missing_has_come_under_no_name():
    for word in ("microaggregation", "swap", "noise", "suda", "differential", "delta-presence"):
        assert not [name for name in (*catalogue.PROMISES, *catalogue.METHODS, *catalogue.STAGES) if word in name]
    assert "sampling weights in risk" not in MISSED


def test_what_there_is_is_not_said_to_be_missed():
    commands = set(build_parser().commands)
    assert {"studio", "report", "risk"} <= commands
    assert "interactive application" not in MISSED and "sdcApp" not in MISSED
