"""Every parameter has one field specification, and constructor, job reader, JSON Schema, manifest reader and docs agree with it."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar, get_args

import pytest
from jsonschema import Draft202012Validator

import reticent as rt
from reticent import catalogue, registry
from reticent.catalogue import Field, MethodRow, PromiseRow, choices
from reticent.catalogue.job_fields import COLUMN_FIELDS
from reticent.catalogue.manifest_fields import COLUMN_ENTRY_FIELDS, MANIFEST_FIELDS
from reticent.data.columns import Role
from reticent.errors import JobError
from reticent.format.manifest import ColumnEntry, Manifest, parse_component
from reticent.format.schema_checks import MisshapenValue
from reticent.job.reference import PARAMETERS_PAGE, format_parameter_table, format_parameters_page, refresh_tables
from reticent.job.schema import build_field_schema, build_job_schema
from reticent.validation import check_parameters, strip_keyword_suffix
from tests.support.field_boundaries import boundaries

DOCS = Path(__file__).parents[2] / "docs"
COMPONENTS = {**catalogue.PROMISES, **catalogue.METHODS, **catalogue.STAGES}
ROWS: dict[str, Any] = {**COMPONENTS, **catalogue.JOB_TABLES}
PYTHON_NAMES = {"promise": "promises"}  # of the job, where a table [[promise]] is one of several
ANNOTATIONS = {
    "number": ("Fraction",),
    "whole": ("int",),
    "integer": ("int",),
    "flag": ("bool",),
    "text": ("str",),
    "line": ("str",),
    "path": ("str",),
    "column": ("str",),
    "choice": ("str", "Literal", "Role", "int"),
}
"""What the annotation of a field of each kind is made of, where it can be told; None and Any aside."""


def load_class(row: Any) -> Any:
    return catalogue.load_object(row.model if isinstance(row, PromiseRow) else row.made_by)


def find_default(attribute: Any) -> Any:
    """The default of a dataclass's field as the catalogue has it: None where it is filled in when the object is made."""
    return None if attribute.default is MISSING else attribute.default


@pytest.mark.parametrize("owner", ROWS)
def test_every_parameter_of_a_constructor_has_one_field_and_the_other_way_round(owner):
    row = ROWS[owner]
    names = [strip_keyword_suffix(attribute.name) for attribute in fields(load_class(row))]
    assert sorted(PYTHON_NAMES.get(name, name) for name in row.fields) == sorted(names)
    assert row.doc.endswith(".") and "\n" not in row.doc
    for name, field in row.fields.items():
        assert field.doc, f"{owner}: what {name} means"
        assert "\n" not in field.doc


@pytest.mark.parametrize("owner", ROWS)
def test_defaults_and_annotations_of_a_constructor_are_the_field_s(owner):
    row = ROWS[owner]
    attributes = {strip_keyword_suffix(attribute.name): attribute for attribute in fields(load_class(row))}
    for name, field in row.fields.items():
        attribute = attributes[PYTHON_NAMES.get(name, name)]
        is_required = attribute.default is MISSING and attribute.default_factory is MISSING
        assert field.required == is_required, f"{owner}: {name}"
        if field.kind != "part":
            assert find_default(attribute) == field.default, f"{owner}: {name}"
        parts = [part.strip() for part in str(attribute.type).split("[")[0].split("|")]
        known = ANNOTATIONS.get(field.kind)
        if known is not None:
            assert set(parts) <= {*known, "None", "Any"}, f"{owner}: {name} is annotated {attribute.type}"


@pytest.mark.parametrize("role", Role)
def test_the_builder_of_a_column_takes_the_options_of_its_role(role):
    builder = {
        Role.IDENTIFYING: rt.identifying,
        Role.QUASI: rt.quasi,
        Role.SENSITIVE: rt.sensitive,
        Role.INSENSITIVE: rt.insensitive,
    }[role]
    parameters = dict(inspect.signature(builder).parameters)
    parameters.pop("numeric", None)  # a shorter way to say type="numeric"
    expected = {name: field.default for name, field in COLUMN_FIELDS.items() if role.value in field.roles}
    assert {name: parameter.default for name, parameter in parameters.items()} == expected
    assert all(field.roles for name, field in COLUMN_FIELDS.items() if name != "role")


def test_roles_are_those_of_the_catalogue():
    assert tuple(role.value for role in Role) == COLUMN_FIELDS["role"].choices
    assert set(COLUMN_FIELDS["role"].aliases.values()) <= set(COLUMN_FIELDS["role"].choices)


@pytest.mark.parametrize("owner", [owner for owner in ROWS if owner not in ("job", "labels")])
def test_the_job_reader_knows_the_type_of_every_parameter(owner):
    for name, field in ROWS[owner].fields.items():
        assert registry.list_job_types(field), name


def find_schema(owner: str) -> Mapping[str, Any]:
    """The schema of a promise, method, stage or table of a job within that of the whole job."""
    parts = build_job_schema()["properties"]
    if owner == "column":
        return parts["columns"]["additionalProperties"]["else"]
    if owner == "labels":
        return find_schema("column")["properties"]["labels"]["else"]
    if owner in ("source", "release", "about"):
        return parts[owner]
    chosen = (parts["promise"]["items"], parts["method"]["else"], parts["prepare"]["items"])
    listed = [branch["then"] for part in chosen for branch in part["allOf"]]
    keys = ("model", "name")
    return next(one for one in listed if any(one["properties"].get(key, {}).get("const") == owner for key in keys))


@pytest.mark.parametrize("owner", [owner for owner in ROWS if owner != "job"])
def test_the_schema_has_every_parameter_with_its_meaning_default_and_choices(owner):
    row = ROWS[owner]
    schema = find_schema(owner)
    properties = {name: part for name, part in schema["properties"].items() if "const" not in part}
    assert schema["description"] == row.doc
    assert list(properties) == list(row.fields)
    required = [name for name in schema.get("required", ()) if name in row.fields]
    assert required == [name for name, field in row.fields.items() if field.required]
    for name, field in row.fields.items():
        assert properties[name]["description"].lower().startswith(field.doc.lower())
        assert ("default" in properties[name]) == (field.default not in (None, ()))
        if field.kind == "choice":
            assert set(map(str, field.choices)) <= set(map(str, properties[name]["enum"]))


def is_writable(value: Any) -> bool:
    """Whether JSON has the value as it is: no fraction, which a text spells there."""
    if isinstance(value, Mapping):
        return all(map(is_writable, value.values()))
    if isinstance(value, list):
        return all(map(is_writable, value))
    return not isinstance(value, Fraction) or value == int(value)


@pytest.mark.parametrize("owner", COMPONENTS)
def test_the_schema_takes_what_a_field_takes_and_refuses_what_it_can_tell(owner):
    for name, field in COMPONENTS[owner].fields.items():
        if field.kind == "file":
            continue
        validator = Draft202012Validator(build_field_schema(field))
        for value, is_allowed in boundaries(field):
            if not is_writable(value):
                continue
            plain = registry.convert_to_plain(value)
            is_valid = validator.is_valid(plain)
            assert is_valid or not is_allowed, f"{owner}: {name} = {str(plain)[:80]} is refused by the schema"
            if field.kind in ("number", "whole", "choice", "flag") and abs(_find_size(plain)) < 10**15:
                assert is_valid == is_allowed, f"{owner}: {name} = {plain}"


def _find_size(value: Any) -> int | float:
    return value if isinstance(value, int | float) else 0


def test_an_entry_of_a_manifest_has_the_fields_of_the_catalogue():
    attributes = {attribute.name: attribute for attribute in fields(ColumnEntry)}
    assert list(COLUMN_ENTRY_FIELDS) == list(attributes)
    for name, field in COLUMN_ENTRY_FIELDS.items():
        assert find_default(attributes[name]) == field.default, name
    options = {attribute.name: attribute for attribute in fields(Manifest) if attribute.name in MANIFEST_FIELDS}
    assert set(options) == set(MANIFEST_FIELDS)
    for name, field in MANIFEST_FIELDS.items():
        assert find_default(options[name]) == field.default, name
        assert (name in Manifest.OPTIONAL) == (not field.required), name


@pytest.mark.parametrize("role", COLUMN_ENTRY_FIELDS["role"].choices)
def test_an_entry_of_a_manifest_has_the_options_of_its_role_and_no_other(role):
    entry = {"name": "age", "role": role, "type": "numeric", "dtype": "Int64"}
    for name, field in COLUMN_ENTRY_FIELDS.items():
        if name in entry:
            continue
        with pytest.raises(MisshapenValue) as refused:
            ColumnEntry.parse({**entry, name: object()})
        is_known = "not belong" not in str(refused.value)
        assert is_known == (not field.roles or role in field.roles), name


def test_the_docs_have_every_parameter_as_the_catalogue_describes_it():
    assert (DOCS / PARAMETERS_PAGE).read_text(encoding="utf-8") == format_parameters_page(), (
        "python -m reticent.job.reference docs"
    )
    for path in DOCS.rglob("*.md"):
        text = path.read_text(encoding="utf-8")
        assert refresh_tables(text) == text, f"{path.name}: python -m reticent.job.reference docs"
    for name in (*catalogue.METHODS, *catalogue.STAGES):
        assert f"<!-- parameters of {name} -->" in (DOCS / "methods" / f"{name}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("owner", [owner for owner in ROWS if owner != "job"])
def test_the_docstring_of_a_class_lists_its_parameters(owner):
    row = ROWS[owner]
    text = load_class(row).__doc__
    for field in row.fields.values():
        assert f": {field.doc}." in text, owner


def test_no_two_fields_of_one_name_and_kind_differ_in_their_default_words():
    """A parameter that several have, such as `column` and `weights`, is one object."""
    for name in ("column", "enhanced", "two_sided", "weights", "fill", "axes"):
        found = {id(row.fields[name]) for row in COMPONENTS.values() if name in row.fields}
        assert len(found) == 1, name


@dataclass(frozen=True, slots=True)
class Cautious:
    """A toy promise."""

    caution: Fraction = Fraction(1, 2)
    name: ClassVar[str] = "cautious"
    needs_sensitive: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_parameters(self)


TOY_FIELD = Field(
    "number",
    "how careful it is",
    default=Fraction(1, 2),
    least=0,
    most=1,
    refusal="cautious: caution = {value} is no share.",
)
TOY_ROW = PromiseRow(f"{__name__}:Cautious", "", {"caution": TOY_FIELD}, "", "", doc="Is careful.")


def test_one_field_is_enough_for_constructor_job_schema_manifest_and_docs(monkeypatch):
    monkeypatch.setitem(catalogue.PROMISES, "cautious", TOY_ROW)
    assert Cautious("1/3").caution == Fraction(1, 3)
    with pytest.raises(JobError, match="caution = 2 is no share"):
        Cautious(2)
    assert registry.make_promise({"model": "cautious", "caution": Decimal("0.25")}).caution == Fraction(1, 4)
    with pytest.raises(JobError, match="cautious: caution must be a number"):
        registry.make_promise({"model": "cautious", "caution": [1]})
    with pytest.raises(JobError, match="has no parameter 'cautoin'"):
        registry.make_promise({"model": "cautious", "cautoin": 1})
    schema = Draft202012Validator(build_job_schema())
    job = {"columns": {"age": "quasi"}, "promise": [{"model": "cautious", "caution": 1}]}
    assert schema.is_valid(job)
    assert not schema.is_valid({**job, "promise": [{"model": "cautious", "caution": 2}]})
    assert parse_component({"model": "cautious", "caution": 1}, catalogue.PROMISES, "model", "promise")
    with pytest.raises(MisshapenValue, match="a number from 0 on and at most 1"):
        parse_component({"model": "cautious", "caution": 2}, catalogue.PROMISES, "model", "promise")
    assert "| `caution` | a number from 0 on and at most 1 | `0.5` | how careful it is |" in format_parameters_page()
    assert "how careful it is" in format_parameter_table(TOY_ROW.fields)


def test_an_option_of_a_method_is_a_field_and_nothing_else(monkeypatch):
    """A method of the catalogue with one more field: the reader of jobs and manifests, the schema and the docs have it."""
    row = catalogue.METHODS["anatomy"]
    more = MethodRow(row.made_by, {**row.fields, "care": TOY_FIELD}, row.kind, row.relations, row.doc)
    monkeypatch.setitem(catalogue.METHODS, "anatomy", more)
    assert "care" in find_schema("anatomy")["properties"]
    assert parse_component({"name": "anatomy", "care": 1}, catalogue.METHODS, "name", "method").parameters["care"] == 1
    assert "`care`" in format_parameters_page()
    with pytest.raises(JobError, match="anatomy: care must be a number"):
        registry.make_method({"name": "anatomy", "care": []})


CHOICES = [
    (choices.ColumnType, "column", "type"),
    (choices.MissingChoice, "column", "missing"),
    (choices.BeyondChoice, "column", "beyond"),
    (choices.AmbiguityChoice, "column", "ambiguous"),
    (choices.UndeclaredChoice, "release", "undeclared"),
    (choices.FileFormat, "release", "format"),
    (choices.FormulaChoice, "release", "formulas"),
]


@pytest.mark.parametrize(("alias", "table", "name"), CHOICES, ids=lambda value: str(value)[:20])
def test_the_types_of_choices_are_those_of_their_fields(alias, table, name):
    assert get_args(alias) == catalogue.JOB_TABLES[table].fields[name].choices


def test_the_type_of_engines_lists_those_of_the_catalogue():
    assert get_args(choices.EngineName) == tuple(catalogue.ENGINES)
