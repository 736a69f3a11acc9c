"""Every parameter of the catalogue has a field, and each boundary of it is drawn alike by constructor, job file and manifest.

The values are made from the field itself: both sides of each bound, each choice and one that is none, one entry too many.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import MISSING, fields
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from reticent import catalogue, registry
from reticent.catalogue import Field
from reticent.errors import JobError
from reticent.format.manifest import parse_component
from reticent.format.schema_checks import MisshapenValue
from reticent.job import job

TABLES = {"promise": catalogue.PROMISES, "method": catalogue.METHODS, "stage": catalogue.STAGES}
OWNERS = [(what, name) for what, table in TABLES.items() for name in table]
HAIR = Fraction(1, 10**30)
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
LONG = 2_000  # entries beyond which a list is not made for a test


def good(owner: str) -> dict[str, Any]:
    return dict(GOOD.get(owner, {}))


def boundaries(field: Field) -> Iterator[tuple[Any, bool]]:
    """(value, whether it is allowed) around every bound of a field."""
    return BOUNDARIES_OF_KIND[field.kind](field) if field.kind in BOUNDARIES_OF_KIND else iter(())


def _number_boundaries(field: Field) -> Iterator[tuple[Any, bool]]:
    step = 1 if field.kind == "whole" else HAIR
    if field.finest is not None:
        yield Fraction(1, field.finest), True
        yield Fraction(1, field.finest + 1), False
        step = Fraction(1, field.finest)
    if field.least is not None:
        yield field.least, not field.above
        yield field.least - step, False
        yield field.least + step, True
    if field.most is not None:
        yield field.most, not field.below
        yield field.most + step, False
        yield field.most - step, True
    yield [1], False
    yield True, False
    if field.kind == "whole":
        yield Fraction(5, 2), False


def _choice_boundaries(field: Field) -> Iterator[tuple[Any, bool]]:
    yield from ((choice, True) for choice in field.choices)
    yield "nobody", False
    yield 10**9, False
    yield [], False


def _flag_boundaries(field: Field) -> Iterator[tuple[Any, bool]]:
    yield from ((True, True), (False, True), ("true", False), (1, False))


def _text_boundaries(field: Field) -> Iterator[tuple[Any, bool]]:
    yield from (("age", True), (3, False))


def _list_boundaries(field: Field) -> Iterator[tuple[Any, bool]]:
    assert field.each is not None and field.entries is not None
    inner = next(value for value, allowed in boundaries(field.each) if allowed)
    yield [inner] * max(field.entries[0], 1), True
    yield [inner] * (field.entries[0] - 1), field.entries[0] < 1
    if field.entries[1] < LONG:
        yield [inner] * field.entries[1], True
        yield [inner] * (field.entries[1] + 1), False
    yield {"a": inner}, False
    yield from (([value], False) for value, allowed in boundaries(field.each) if not allowed)


def _table_boundaries(field: Field) -> Iterator[tuple[Any, bool]]:
    assert field.each is not None and field.entries is not None
    yield from (
        ({"age": value}, allowed and not (field.positive and not value)) for value, allowed in boundaries(field.each)
    )
    if field.entries[0]:
        yield {}, False
    yield "age", False


def _record_boundaries(field: Field) -> Iterator[tuple[Any, bool]]:
    right = {name: next(value for value, allowed in boundaries(one) if allowed) for name, one in field.fields.items()}
    yield right, True
    yield {**right, "nobody": 1}, False
    for name, one in field.fields.items():
        yield {key: value for key, value in right.items() if key != name}, not one.required
        yield from (({**right, name: value}, allowed) for value, allowed in boundaries(one))


def _variant_boundaries(field: Field) -> Iterator[tuple[Any, bool]]:
    for name, one in field.fields.items():
        yield from (({name: value}, allowed) for value, allowed in boundaries(one))
    yield {}, False
    yield {"nobody": 1}, False


def _grid_boundaries(field: Field) -> Iterator[tuple[Any, bool]]:
    yield from (
        ([0, 10, 1], True),
        ([0, 10, 3], False),
        ([0, 10, 0], False),
        ([10, 0, 1], False),
        ([0, 1], False),
        (3, False),
    )


def _matrix_boundaries(field: Field) -> Iterator[tuple[Any, bool]]:
    yield {"values": ["a", "b"], "rows": [[0, 1], [1, 0]]}, True
    for rows in ([[0, 1], [2, 0]], [[1, 1], [1, 0]], [[0, -1], [-1, 0]], [[0, 1]]):
        yield {"values": ["a", "b"], "rows": rows}, False


def _value_boundaries(field: Field) -> Iterator[tuple[Any, bool]]:
    yield "a", True


def _alternatives(field: Field) -> Iterator[tuple[Any, bool]]:
    """A value that one alternative refuses may be what another takes: only what none takes is refused."""
    drawn = [(one, list(boundaries(one))) for one in field.alternatives if one.kind != "file"]
    for _, around in drawn:
        for value, allowed in around:
            if allowed or not any(could_take(one, others, value) for one, others in drawn):
                yield value, allowed


BOUNDARIES_OF_KIND = {
    "number": _number_boundaries,
    "whole": _number_boundaries,
    "choice": _choice_boundaries,
    "flag": _flag_boundaries,
    "text": _text_boundaries,
    "column": _text_boundaries,
    "list": _list_boundaries,
    "table": _table_boundaries,
    "record": _record_boundaries,
    "variant": _variant_boundaries,
    "either": _alternatives,
    "grid": _grid_boundaries,
    "matrix": _matrix_boundaries,
    "value": _value_boundaries,
}


def could_take(field: Field, around: list[tuple[Any, bool]], value: Any) -> bool:
    """Whether the value is one that the field's own boundaries allow, or so plain that they do not say."""
    if field.kind in ("column", "text", "file"):
        return isinstance(value, str)
    if field.kind in ("number", "whole") and isinstance(value, int | Fraction) and not isinstance(value, bool):
        low = field.least is None or (value > field.least if field.above else value >= field.least)
        high = field.most is None or (value < field.most if field.below else value <= field.most)
        return low and high and (field.kind == "number" or value == int(value))
    return any(type(one) is type(value) and one == value for one, allowed in around if allowed)


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


@pytest.mark.parametrize(("what", "owner"), OWNERS, ids=lambda part: part)
def test_each_boundary_is_drawn_alike_by_constructor_job_and_manifest(what, owner):
    row = TABLES[what][owner]
    related = {name for relation in row.relations for name in (relation.first, relation.second)}
    for name, field in row.fields.items():
        if field.kind == "file":
            continue
        for value, allowed in boundaries(field):
            given = {**good(owner), name: value}
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
    "unsafe and not acknowledged": ("stage", "suppression", {"l": 3, "kind": "unsafe"}),
    "unsafe and denied": ("stage", "suppression", {"l": 3, "kind": "unsafe", "acknowledge": False}),
}


@pytest.mark.parametrize("case", RELATED)
def test_parameters_that_contradict_each_other_are_refused_on_both_sides(case):
    what, owner, given = RELATED[case]
    assert not by_constructor(what, owner, given)
    assert not by_manifest(what, owner, given)
