"""Options of attacks: keywords of `rt.attack` and, where they have a `word`, options of `reticent attack`.

`ATTACK_OPTIONS` has the options of each attack, in the order of the parameters of its function.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

OptionKind = Literal[
    "text",
    "number",
    "whole",
    "flag",
    "file",
    "names",  # names of columns
    "number by column",  # one number for all columns, one for each named column, or both: a default with exceptions
    "distances",  # the distance of every two values of each column
]


@dataclass(frozen=True, slots=True)
class AttackOption:
    """An option of an attack.

    `doc` is the command's help, after the names of the attacks that take the option, and the text of the docs. Without
    a `word` (`--bandwidth`) the option is one of Python alone. `repeatable`: the word may be used several times, and
    the attack gets a list.
    """

    kind: OptionKind
    doc: str
    word: str = ""
    metavar: str = ""
    repeatable: bool = False


_SEED = AttackOption("whole", "the seed of what is drawn at random.")
_OTHERS = AttackOption("file", "people who are not in the data, for its baseline.", "--others", "FILE")

ATTACK_OPTIONS = {
    "definetti": {"rounds": AttackOption("whole", "how often it learns again from what it has guessed (30).")},
    "similarity": {
        "level": AttackOption("whole", "the level of the hierarchy whose nodes are the families (1)."),
        "window": AttackOption("whole", "how many neighbouring values are a family, without a hierarchy."),
    },
    "background": {
        "bandwidth": AttackOption(
            "number by column",
            "how much is known; 0.3, whole, auto, or COLUMN=0.2, which may be repeated, also beside one for all others.",
            "--bandwidth",
            "B",
            repeatable=True,
        ),
        "t": AttackOption("number", "people whose beliefs move further are vulnerable.", "--t", "T"),
        "smoothing": AttackOption("number", "a bandwidth on the sensitive column; 0 is none.", "--smoothing", "B"),
        "posterior": AttackOption("text", "omega, balanced or exact.", "--posterior", "NAME"),
        "prior": AttackOption("text", "beliefs of one's own, or `uniform`.", "--prior", "FILE"),
        "kernel": AttackOption(
            "text", "the shape of what the adversary knows: epanechnikov, uniform, triangular or gaussian."
        ),
        "distances": AttackOption("distances", "distances of the values of columns, where ranks do not give them."),
        "divergence": AttackOption(
            "text", "how far a belief moved: js, kl (may be infinite) or emd.", "--divergence", "NAME"
        ),
    },
    "singling-out": {"others": _OTHERS, "seed": _SEED},
    "linkability": {
        "first": AttackOption("names", "the columns of the first list; the first half of them if left out."),
        "seed": _SEED,
    },
    "inference": {"others": _OTHERS, "seed": _SEED},
    "downcoding": {
        "k": AttackOption("whole", "the smallest group that is supposed; what was promised if left out."),
        "programme": AttackOption("flag", "counts what is possible by linear programmes too."),
        "seed": _SEED,
    },
    "overlap": {"seed": _SEED},
    "composition": {
        "joined": AttackOption(
            "file", "another release of the same people; may be repeated.", "--with", "OTHER", repeatable=True
        ),
        "force_join": AttackOption(
            "flag", "join releases that the ledger notes as made from different rows.", "--force-join"
        ),
        "seed": _SEED,
    },
    "minimality": {
        "keys": AttackOption("whole", "how many keys are tried where the key is secret (20)."),
        "key": AttackOption("whole", "the one key, where the adversary has learned it."),
        "steps": AttackOption("whole", "how many steps a walk over tables takes (1,000)."),
        "draws": AttackOption("whole", "how often values are dealt anew (24)."),
        "seed": _SEED,
    },
    "corruption": {
        "external": AttackOption(
            "file", "everybody whom the adversary knows of; the source if left out.", "--external", "FILE"
        ),
        "corrupted": AttackOption(
            "file", "people whose value is known; everyone but the victim if left out.", "--corrupted", "FILE"
        ),
        "victim": AttackOption(
            "text", "one person of the list; each in turn if left out.", "--victim", "COLUMN=VALUE,..."
        ),
        "lambda_": AttackOption(
            "number",
            "the most that is believed of one value beforehand (0.1; 1/n where only n < 10 are possible).",
            "--lambda",
            "P",
        ),
        "rho1": AttackOption("number", "the most that is believed of a condition beforehand (0.2).", "--rho1", "P"),
        "predicate": AttackOption(
            "text", "a condition on the sensitive column; the worst if left out.", "--predicate", "CONDITION"
        ),
        "prior": AttackOption("text", "beliefs of one's own, or `uniform`; the worst if left out.", "--prior", "FILE"),
    },
    "eligibility": {
        "prior": AttackOption("text", "what is believed of withheld rows beforehand."),
        "column": AttackOption("text", "the sensitive column, where a release has several."),
    },
    "matrix": {"seed": _SEED},
    "matrix-learned": {
        "prior": AttackOption("text", "where the frequencies are taken from: release or source."),
        "seed": _SEED,
    },
}
