"""Every word of advice that names something of ours names something that is there.

The source is read for all texts that are advised.  What they name as an option of the command line, a command, a setting of
a job, a Python name, an extra, a method or a model must exist.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache

import reticent as rt
from reticent import catalogue
from reticent.cli.commands import build_parser
from reticent.data.hierarchy_builders import BUILDERS
from tests.advice.inventory import HOLE, list_advice
from tests.support.repository import ROOT

ADVICE = list_advice()
ARGUMENTS = {
    "by",
    "density",
    "first",
    "groups",
    "level",
    "predicates",
    "sizes",
    "lambda",
    "prepare",
    "programme",
    "promises",
    "queries",
    "regions",
    "selectivity",
    "threads",
    "time_limit",
    "window",
}
"""Arguments of Python functions that advice writes as settings."""

PARTS_OF_VALUES = {
    "m",
    "male",
    "value",
    "weights",
    "age",
    "disease",
    "edges",
    "file",
    "mean",
    "nearest",
    "normal",
    "std",
    "default",
    "zipf",
    "categories",
}
"""Columns of examples, and keys of tables within a setting: of a target, of group_by, of bandwidths."""


@cache
def list_parsers() -> dict[str, object]:
    """The parsers of all commands by their names; that of `reticent` itself has none."""
    parser = build_parser()
    context = parser.make_context("reticent", [], resilient_parsing=True)
    return {"": parser, **{name: parser.get_command(context, name) for name in parser.list_commands(context)}}


@cache
def list_settings() -> set[str]:
    """The names of everything that a job file may set."""
    rows = [
        *catalogue.JOB_TABLES.values(),
        *catalogue.PROMISES.values(),
        *catalogue.METHODS.values(),
        *catalogue.STAGES.values(),
    ]
    names = {name for row in rows for name in row.fields}
    builders = {option for builder in BUILDERS.values() for option in builder.__annotations__}
    return names | builders | {"method", "model", "name", "labels", "style", "step", "width", "share"}


def find_unknown(pattern: str, known: set[str]) -> list[str]:
    """Return the words of all advice that a pattern finds and that are not known, each with its place."""
    return [
        f"{word} in {advice}"
        for advice in ADVICE
        for word in re.findall(pattern, advice.text)
        if word not in known and HOLE not in word
    ]


def test_the_source_advises_hundreds_of_things():
    assert len(ADVICE) > 500


def test_no_advice_is_a_full_stop_alone_and_each_ends_as_a_sentence_does():
    faults = [
        str(advice)
        for advice in ADVICE
        if advice.text and (not advice.text.strip(" .") or not advice.text.rstrip().endswith((".", HOLE, "}")))
    ]
    assert faults == []


def test_every_option_that_is_advised_is_one_of_a_command():
    options = {
        option
        for parser in list_parsers().values()
        for parameter in parser.params
        for option in (*parameter.opts, *parameter.secondary_opts)
    }
    assert (
        find_unknown(r"(?<![\w-])(--[a-z][\w-]*)", options | {"--help", "--preload"}) == []
    )  # --preload is gunicorn's


def test_every_option_that_a_command_advises_is_its_own_or_of_all():
    parsers = list_parsers()
    shared = {option for parameter in parsers[""].params for option in parameter.opts} | {"--help"}
    faults = []
    for advice in ADVICE:
        match = re.fullmatch(r"cli/(\w+)\.py", advice.module)
        if match is None or match[1] not in parsers:
            continue
        own = {option for parameter in parsers[match[1]].params for option in parameter.opts}
        text = re.sub(r"`[^`]*`", "", advice.text)
        faults += [
            f"{word} in {advice}" for word in re.findall(r"(?<![\w-])(--[a-z][\w-]*)", text) if word not in own | shared
        ]
    assert faults == []


def test_every_command_that_is_advised_is_there():
    assert find_unknown(r"`reticent (\w+)", set(list_parsers())) == []


def test_every_setting_that_is_advised_can_be_set():
    assert find_unknown(r"(?<![\w-])([a-z_][\w-]*) = ", list_settings() | ARGUMENTS | PARTS_OF_VALUES) == []


def test_every_python_name_that_is_advised_is_public():
    assert find_unknown(r"\brt\.(\w+)", set(rt.__all__)) == []


def test_every_method_model_and_stage_that_is_advised_is_registered():
    assert find_unknown(r"method = ['\"]([\w-]+)['\"]", set(catalogue.METHODS)) == []
    assert find_unknown(r"model = ['\"]([\w-]+)['\"]", set(catalogue.PROMISES)) == []
    assert find_unknown(r"--as ([a-z][\w-]+)", set(catalogue.ATTACKS)) == []
    assert find_unknown(r"--engine ([a-z]\w+)", set(catalogue.ENGINES)) == []


def test_every_extra_that_is_advised_can_be_installed():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert find_unknown(r"reticent\[(\w+)\]", set(project["optional-dependencies"])) == []


def test_every_table_of_a_job_that_is_advised_is_there():
    assert find_unknown(r"\[\[(\w+)\]\]", {"promise", "prepare", "analysis"}) == []
    assert (
        find_unknown(
            r"(?<![\w\[])\[(\w+)\](?!\])",
            set(catalogue.JOB_TABLES) | set(catalogue.JOB_TABLES["job"].fields) | {"table"},
        )
        == []
    )
