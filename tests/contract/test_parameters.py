"""Every parameter of the catalogue has a field, and each boundary of it is drawn alike by constructor, job file and manifest.

The values are made from the field itself: both sides of each bound, each choice and one that is none, one entry too many.
"""

from __future__ import annotations

import tomllib
from dataclasses import MISSING, fields
from decimal import Decimal
from typing import Any

import pytest

from reticent import catalogue, registry
from reticent.errors import JobError
from reticent.format.manifest import parse_component
from reticent.format.schema_checks import MisshapenValue
from reticent.job import job
from tests.support.field_boundaries import boundaries

TABLES = {"promise": catalogue.PROMISES, "method": catalogue.METHODS, "stage": catalogue.STAGES}
OWNERS = [(what, name) for what, table in TABLES.items() for name in table]
GOOD: dict[str, dict[str, Any]] = {  # what each must be given at least, as it should be
    "k-anonymity": {"k": 5},
    "alpha-k-anonymity": {"alpha": 0.5, "k": 5},
    "k-map": {"k": 5, "population": "people.csv"},
    "distinct-l-diversity": {"l": 2},
    "probabilistic-l-diversity": {"l": 2},
    "entropy-l-diversity": {"l": 2},
    "recursive-l-diversity": {"c": 2, "l": 2},
    "l-dichotomy": {"l": 2},
    "t-closeness": {"t": 0.2},
    "delta-disclosure": {"delta": 1},
    "beta-likeness": {"beta": 1},
    "semantic-beta-likeness": {"beta": 1},
    "rho-guarantee": {"rho1": 0.2, "rho2": 0.5, "lambda": 0.1},
    "delta-growth": {"delta": 0.2, "lambda": 0.1},
    "proximity-beta-likeness": {"beta": 1, "width": 5},
    "bt-privacy": {"bandwidth": 0.3, "t": 0.2},
    "skyline": {"points": [{"bandwidth": 0.3, "t": 0.2}]},
    "suppression": {"l": 3},
}


def good(owner: str) -> dict[str, Any]:
    return dict(GOOD.get(owner, {}))


def by_constructor(what: str, owner: str, given: dict[str, Any]) -> bool:
    made = {
        "promise": registry.load_promise_class,
        "method": registry.load_method_class,
        "stage": registry.load_stage_class,
    }[what](owner)
    names = {registry.strip_keyword_suffix(field.name): field.name for field in fields(made)}
    try:
        made(**{names[name]: value for name, value in given.items()})
    except JobError:
        return False
    return True


def by_job_file(what: str, owner: str, given: dict[str, Any]) -> bool:
    """As a job file says it: through TOML, as its reader reads numbers."""
    text = "".join(f"{job.format_toml_key(name)} = {job.format_toml_value(value)}\n" for name, value in given.items())
    key = "model" if what == "promise" else "name"
    entry = {key: owner, **tomllib.loads(text, parse_float=Decimal)}
    made = {"promise": registry.make_promise, "method": registry.make_method, "stage": registry.make_stage}[what]
    try:
        made(entry)
    except JobError:
        return False
    return True


def by_manifest(what: str, owner: str, given: dict[str, Any]) -> bool:
    """As JSON has it in a manifest."""
    key = "model" if what == "promise" else "name"
    try:
        parse_component({key: owner, **registry.convert_to_plain(given)}, TABLES[what], key, what)
    except MisshapenValue:
        return False
    return True


@pytest.mark.parametrize(("what", "owner"), OWNERS, ids=lambda part: part)
def test_every_parameter_has_a_field_with_a_meaning(what, owner):
    row = TABLES[what][owner]
    for name, field in row.fields.items():
        assert field.doc, f"{owner}: what {name} means"
        assert field.allowed_values
        if field.kind in ("number", "whole"):
            assert field.least is not None and field.most is not None, f"{owner}: {name} has no bounds"
    for relation in row.relations:
        assert {relation.first, relation.second} <= set(row.fields)


@pytest.mark.parametrize(("what", "owner"), OWNERS, ids=lambda part: part)
def test_what_is_required_is_what_has_no_default(what, owner):
    made = {
        "promise": registry.load_promise_class,
        "method": registry.load_method_class,
        "stage": registry.load_stage_class,
    }[what](owner)
    needed = {
        registry.strip_keyword_suffix(field.name)
        for field in fields(made)
        if field.default is MISSING and field.default_factory is MISSING
    }
    assert needed == {name for name, field in TABLES[what][owner].fields.items() if field.required}


LEFT_TO_THE_TABLE = [("bt-privacy", "bandwidth", "auto")]
"""What a job leaves to its table; a manifest states what the table chose."""


@pytest.mark.parametrize(("what", "owner"), OWNERS, ids=lambda part: part)
def test_each_boundary_is_drawn_alike_by_constructor_job_and_manifest(what, owner):
    row = TABLES[what][owner]
    related = {name for relation in row.relations for name in (relation.first, relation.second)}
    for name, field in row.fields.items():
        if field.kind == "file":
            continue
        for value, allowed in boundaries(field):
            given = {**good(owner), name: value}
            if (owner, name, value) in LEFT_TO_THE_TABLE:
                assert by_constructor(what, owner, given) and not by_manifest(what, owner, given)
                continue
            verdicts = (by_constructor(what, owner, given), by_manifest(what, owner, given))
            if field.kind in ("number", "whole", "choice", "flag"):
                verdicts = (*verdicts, by_job_file(what, owner, given))
            shown = f"{owner}: {name} = {str(value)[:200]}"
            assert len(set(verdicts)) == 1, f"{shown}: constructor, manifest and job file say {verdicts}"
            if name not in related:
                assert verdicts[0] == allowed, f"{shown}: allowed is {allowed}"


RELATED = {
    "rho1 above rho2": ("promise", "rho-guarantee", {"rho1": 0.5, "rho2": 0.4, "lambda": 0.1}),
    "rho1 as rho2": ("promise", "rho-guarantee", {"rho1": 0.5, "rho2": 0.5, "lambda": 0.1}),
    "k and s": ("method", "perturbed-generalization", {"k": 3, "s": 0.2}),
    "categories without specialization": ("method", "perturbed-generalization", {"k": 3, "categories": [["a"]]}),
    "specialization without categories": ("method", "perturbed-generalization", {"k": 3, "grouping": "specialization"}),
    "gain without a reference": ("method", "perturbed-generalization", {"k": 3, "cuts": "gain"}),
    "a reference without gain": ("method", "perturbed-generalization", {"k": 3, "reference": "last-year.csv"}),
    "a reference and specialization": (
        "method",
        "perturbed-generalization",
        {
            "k": 3,
            "cuts": "gain",
            "reference": "last-year.csv",
            "grouping": "specialization",
            "categories": [["a"]],
        },
    ),
    "unsafe and not acknowledged": ("stage", "suppression", {"l": 3, "kind": "unsafe"}),
    "eligible and not acknowledged": ("stage", "suppression", {"l": 3, "kind": "eligible"}),
    "a prior of another kind": ("stage", "suppression", {"l": 3, "kind": "safe", "prior": "uniform"}),
    "unsafe and denied": ("stage", "suppression", {"l": 3, "kind": "unsafe", "acknowledge": False}),
}


@pytest.mark.parametrize("case", RELATED)
def test_parameters_that_contradict_each_other_are_refused_on_both_sides(case):
    what, owner, given = RELATED[case]
    assert not by_constructor(what, owner, given)
    assert not by_manifest(what, owner, given)
