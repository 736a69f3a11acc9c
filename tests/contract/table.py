"""The contract as a page: `python -m tests.contract.table > docs/contract.md` writes it from what the tests hold true."""

from __future__ import annotations

import sys
from textwrap import fill

from reticent import catalogue
from tests.contract.matrix import FEATURES
from tests.contract.refusals import TOGETHER, rule
from tests.contract.settings import list_settings
from tests.support.method_promise_pairs import pairs

HEAD = """\
# What works for which method, promise and release kind

This page is printed by `python -m tests.contract.table` from the tables that the tests in `tests/contract/` are made
of; a test keeps it current. Every method runs with every promise that it keeps through every feature below, on tables
of 240 rows: a cell works, or it is refused with the sentence that stands here, before anything is written. A method, a
promise, a kind or an attack is tested by being registered in `reticent.catalogue`.

## Methods and the promises they keep

*works*: alone. *beside P*: only together with promise P, which the groups are made for. *with a stage*: a stage before
the method keeps it. *-*: refused before data is read ("METHOD cannot keep PROMISE."), with the methods that can.
"""
FEATURE_HEAD = """
## Features and release kinds

A cell counts for every method that makes such releases and for every promise it keeps, unless it says for whom not.
Numbers stand for the sentences below the table.
"""
SETTINGS_HEAD = """
## Settings

What was published beside the defaults, and passed the audit with its source: every choice, every flag and a value of every other
parameter that has a default (but which column is meant), with the promises in turn.
"""
TOGETHER_HEAD = """
## Refused together

Formats, parts, stages, carried columns, missing values, withheld rows, several rows per person and several sensitive
columns are tried in every pair of settings too. These work apart and are refused together:
"""


def kept(method: str, promise: str) -> str:
    pair = next((pair for pair in pairs() if (pair.method, pair.promise) == (method, promise)), None)
    if pair is None:
        return "-"
    said = [f"with a stage `{stage}`" for stage in pair.stages] + ([f"beside `{pair.beside}`"] if pair.beside else [])
    return ", ".join(said) or "works"


def held(feature: str, kind: str, notes: list[str]) -> str:
    """What a feature is for the releases of a kind; `notes` collects the sentences of refusals."""
    here = [pair for pair in pairs() if pair.kind == kind]
    met = [(pair, found) for pair in here if (found := rule(feature, pair)) is not None]
    if not met:
        return "works"
    each = {found.sentence: found for _, found in met}
    marks = [(found.whom, _note(found.sentence, notes)) for found in each.values()]
    if len(met) == len(here):
        return "refused " + ", ".join(mark for _, mark in marks)
    return "works; not for " + ", ".join(f"{whom} {mark}" for whom, mark in marks)


def _note(sentence: str, notes: list[str]) -> str:
    said = sentence.format(method="METHOD", column="COLUMN", promise="PROMISE", kind="KIND")
    if said not in notes:
        notes.append(said)
    return f"({notes.index(said) + 1})"


def list_tried() -> list[list[str]]:
    """List the settings that are tried of each method, stage and promise."""
    tried: dict[str, list[str]] = {}
    for setting in list_settings():
        tried.setdefault(f"`{setting.owner}`", []).append(f"`{setting.shown}`")
    return [[owner, ", ".join(settings)] for owner, settings in tried.items()]


def rows(head: list[str], body: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def page() -> str:
    methods = list(catalogue.METHODS)
    kinds = list(catalogue.KINDS)
    promises = [[f"`{promise}`", *(kept(method, promise) for method in methods)] for promise in catalogue.PROMISES]
    notes: list[str] = []
    features = [[feature.name, *(held(feature.name, kind, notes) for kind in kinds)] for feature in FEATURES]
    both = [
        fill(f'- {" and ".join(names)}: "{said.format(column="COLUMN")}"', 110, subsequent_indent="  ")
        for names, said in TOGETHER.items()
    ]
    return "\n".join(
        [
            HEAD,
            rows(["", *(f"`{method}`" for method in methods)], promises).rstrip(),
            FEATURE_HEAD,
            rows(["", *kinds], features),
            *(fill(f"{number}. {said}", 110, subsequent_indent="   ") for number, said in enumerate(notes, 1)),
            SETTINGS_HEAD,
            rows(["of", "settings that work"], list_tried()).rstrip(),
            TOGETHER_HEAD,
            *both,
            "",
        ]
    )


if __name__ == "__main__":
    sys.stdout.write(page())
