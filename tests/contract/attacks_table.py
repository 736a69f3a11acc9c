"""Adversaries as a page: `python -m tests.contract.attacks_table > docs/attacks.md` writes it from the catalogue and the contract."""

from __future__ import annotations

import sys
from textwrap import fill

from reticent import catalogue
from tests.contract.table import held, rows

HEAD = """\
# Adversaries: who is tried against which release

This page is printed by `python -m tests.contract.attacks_table` from `reticent.catalogue` and from what the tests in
`tests/contract/` hold true; a test keeps it current. `reticent attack RELEASE --source DATA` runs every adversary that
applies and says of each what it reached beside what was promised, and whether a promise of the release speaks of that
adversary at all. No release is called safe: only who was tried, and what they reached.

## Who they are

*Promises that speak of it*: the others say nothing about this adversary, and a success of theirs breaks none of them.
"""
MEANING_HEAD = """
## What a success means, and what lowers it

The report, the studio and `reticent attack --as NAME` say the same.
"""
KINDS_HEAD = """
## Which release kinds they apply to

*works*: it applies. *refused*: it does not, and the sentence of that number, below the table, says why. The same table
with every other feature is [what works with what](contract.md). Tables that another tool made are read as generalized
ones, by `corruption` as a sample where rows are lacking; attacks that read a manifest (`eligibility`, `matrix`,
`matrix-learned`, `algorithm`) need a release folder.
"""
OPTIONS_HEAD = """
## What they may be told

Options of `rt.attack(..., name=value)`, and of `reticent attack RELEASE --as NAME` where they have a word there.
"""


def list_options() -> list[list[str]]:
    return [
        [
            f"`{name}`",
            f"`{parameter}`",
            f"`{option.word} {option.metavar}".rstrip() + "`" if option.word else "-",
            option.doc,
        ]
        for name, row in catalogue.ATTACKS.items()
        for parameter, option in row.options.items()
    ]


def page() -> str:
    known = [
        [
            f"`{name}`",
            row.adversary,
            "the source" if row.needs_source else "the files alone",
            ", ".join(f"`{promise}`" for promise in row.promises) or "none",
        ]
        for name, row in catalogue.ATTACKS.items()
    ]
    meanings = [[f"`{name}`", row.meaning, f"{row.lowers}."] for name, row in catalogue.ATTACKS.items()]
    notes: list[str] = []
    kinds = list(catalogue.KINDS)
    against = [[f"`{name}`", *(held(f"attack {name}", kind, notes) for kind in kinds)] for name in catalogue.ATTACKS]
    reasons = "\n".join(fill(f"{at}. {said}", 119, subsequent_indent="   ") for at, said in enumerate(notes, 1))
    return (
        f"{HEAD}\n{rows(['attack', 'the adversary', 'needs', 'promises that speak of it'], known)}"
        f"{MEANING_HEAD}\n{rows(['attack', 'what a success means', 'what lowers it'], meanings)}"
        f"{OPTIONS_HEAD}\n{rows(['attack', 'option', 'on the command line', 'what it is'], list_options())}"
        f"{KINDS_HEAD}\n{rows(['attack', *kinds], against)}\n{reasons}\n"
    )


if __name__ == "__main__":
    sys.stdout.write(page())
