"""Every row of the catalogue is complete: what it names loads, agrees with its class, and has its place in the docs."""

from __future__ import annotations

from dataclasses import fields
from inspect import signature
from pathlib import Path
from string import Formatter
from typing import Any

import pytest

import reticent as rt
from reticent import catalogue, registry
from reticent.audit.kind import Auditor
from reticent.recipe.kind import Writer
from reticent.release.kind import Reader
from tests.support.contract_examples import EXAMPLES, QUICK
from tests.support.repository import PACKAGE, ROOT

DOCS = ROOT / "docs"
MADE = {**catalogue.METHODS, **catalogue.STAGES}


def words(made: Any) -> tuple[str, ...]:
    """A class's parameters as jobs and manifests say them: `lambda_` is `lambda`."""
    return tuple(registry.strip_keyword_suffix(field.name) for field in fields(made))


@pytest.mark.parametrize("name", catalogue.PROMISES)
def test_a_promise_s_row_has_the_parameters_of_its_model(name):
    model = catalogue.load_object(catalogue.PROMISES[name].model)
    assert model.name == name
    assert catalogue.PROMISES[name].parameters == words(model)


@pytest.mark.parametrize("name", MADE)
def test_a_method_s_or_stage_s_row_has_the_parameters_of_its_class(name):
    made = catalogue.load_object(MADE[name].made_by)
    assert made.name == name
    assert set(MADE[name].parameters) == set(words(made))


@pytest.mark.parametrize("name", catalogue.PROMISES)
def test_a_promise_has_a_judge_and_a_sentence_about_its_own_parameters(name):
    row = catalogue.PROMISES[name]
    assert callable(catalogue.load_object(row.judge))
    assert row.judge.startswith("reticent.audit.measure.")
    assert not row.belief_bound or callable(catalogue.load_object(row.belief_bound))
    placed = {field for _, field, _, _ in Formatter().parse(row.sentence) if field}
    assert placed <= {*row.parameters, "column", "form", "which"}
    assert row.sentence.endswith(".") and row.composition_reason


@pytest.mark.parametrize("name", catalogue.ATTACKS)
def test_an_attack_loads_and_is_documented(name):
    assert callable(catalogue.load_object(catalogue.ATTACKS[name].function))
    assert f"`{name}`" in (DOCS / "cli.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", catalogue.ATTACKS)
def test_an_attack_has_a_sentence_of_what_it_means_and_words_for_what_lowers_it(name):
    row = catalogue.ATTACKS[name]
    assert row.meaning.endswith(".") and row.meaning.count(". ") == 0, "one sentence"
    assert row.lowers and not row.lowers.endswith("."), "the rest of a sentence: Lowers it: ..."
    assert row.adversary and not row.adversary.endswith("."), "the rest of a sentence: Somebody who ..."


@pytest.mark.parametrize("name", catalogue.ATTACKS)
def test_an_attack_s_options_are_the_keywords_of_its_function_and_documented(name):
    row = catalogue.ATTACKS[name]
    keywords = signature(catalogue.load_object(row.function)).parameters.values()
    assert [*row.options] == [
        keyword.name
        for keyword in keywords
        if keyword.default is not keyword.empty and keyword.name not in ("source", "missing", "naming")
    ]
    for option in row.options.values():
        assert option.doc.endswith(".")
        if option.word:
            assert f"`{option.word}" in (DOCS / "cli.md").read_text(encoding="utf-8")


def test_tables_of_other_tools_are_read_as_a_kind_of_the_catalogue():
    assert catalogue.PLAIN_TABLE_KIND in catalogue.KINDS


def test_every_promise_has_an_example_here():
    assert set(EXAMPLES) == set(catalogue.PROMISES), "parameters for it, in tests/support/contract_examples.py"
    assert set(QUICK) <= set(catalogue.METHODS)


@pytest.mark.parametrize("name", [*catalogue.PROMISES, *MADE])
def test_every_promise_method_and_stage_has_a_page(name):
    folder = "promises" if name in catalogue.PROMISES else "methods"
    assert (DOCS / folder / f"{name}.md").is_file()


@pytest.mark.parametrize(
    "dotted", [*(row.model for row in catalogue.PROMISES.values()), *(row.made_by for row in MADE.values())]
)
def test_every_class_of_a_row_is_public(dotted):
    name = dotted.partition(":")[2]
    assert name in rt.__all__
    assert getattr(rt, name) is catalogue.load_object(dotted)


def members(protocol: type) -> set[str]:
    """What a protocol asks for: its annotated attributes and its methods."""
    methods = {name for name, value in vars(protocol).items() if callable(value) and not name.startswith("_")}
    return {name for name in protocol.__annotations__ if not name.startswith("_")} | methods | _classmethods(protocol)


def _classmethods(protocol: type) -> set[str]:
    return {name for name, value in vars(protocol).items() if isinstance(value, classmethod) and name[0] != "_"}


@pytest.mark.parametrize("name", catalogue.KINDS)
def test_a_kind_has_one_module_of_its_name_in_each_layer(name):
    row = catalogue.KINDS[name]
    wanted = {"recipe": (row.writer, "WRITER"), "release": (row.reader, "READER"), "audit": (row.auditor, "AUDITOR")}
    for layer, (dotted, attribute) in wanted.items():
        assert dotted == f"reticent.{layer}.{name}:{attribute}"
        assert (PACKAGE / layer / f"{name}.py").is_file()


@pytest.mark.parametrize("name", catalogue.KINDS)
def test_a_kind_s_three_objects_are_what_the_protocols_ask_for(name):
    row = catalogue.KINDS[name]
    for dotted, protocol in ((row.writer, Writer), (row.reader, Reader), (row.auditor, Auditor)):
        found = catalogue.load_object(dotted)
        given = set(dir(found)) | {field.name for field in fields(found)}
        assert members(protocol) <= given, f"{dotted} lacks {sorted(members(protocol) - given)}"
    assert catalogue.load_object(row.writer).kind == catalogue.load_object(row.reader).kind == name


@pytest.mark.parametrize("name", catalogue.METHODS)
def test_a_method_makes_a_kind_that_is_registered(name):
    assert catalogue.load_object(catalogue.METHODS[name].made_by).kind in catalogue.KINDS


def test_no_layer_has_a_kind_that_is_not_registered():
    """A module that holds a kind's object is some row's."""
    known = {
        dotted.partition(":")[0] for row in catalogue.KINDS.values() for dotted in (row.writer, row.reader, row.auditor)
    }
    for layer, attribute in (("recipe", "WRITER"), ("release", "READER"), ("audit", "AUDITOR")):
        for path in sorted((PACKAGE / layer).glob("*.py")):
            if f"\n{attribute} = " in path.read_text(encoding="utf-8"):
                assert f"reticent.{layer}.{Path(path).stem}" in known


@pytest.mark.parametrize("name", catalogue.METHODS)
def test_the_catalogue_says_which_kind_a_method_makes(name):
    """An audit knows methods by the catalogue alone: a manifest that names one of another kind is refused."""
    assert catalogue.METHODS[name].kind == registry.load_method_class(name).kind
