"""What a line of the page about the papers is made of: an item of a paper, where it stands in the product, and what was found."""

from __future__ import annotations

from dataclasses import dataclass

BUILT = "built"
IN_PART = "in part"
NOT_BUILT = "not built"
TEXT = "text"

HOLDS = "holds"
CORRECTED = "holds as corrected"
SOMETIMES = "holds in part"
FAILS = "fails"
NO_CLAIM = ""

STATES = (BUILT, IN_PART, NOT_BUILT, TEXT)
VERDICTS = (HOLDS, CORRECTED, SOMETIMES, FAILS, NO_CLAIM)


@dataclass(frozen=True)
class Item:
    """A definition, theorem, algorithm, example, figure, table or claim of a paper.

    name      as the paper calls it; several with commas ("Definition 4, Definition 5")
    subject   what it is about, in a few words
    state     built, in part, not built, or text (nothing that could be built)
    verdict   whether the paper's claim was found to hold; empty where it claims nothing
    finding   what the paper claims and what we found, in Markdown; links are relative to docs/
    code      "models/beta_likeness.py:BetaLikeness.caps", below src/reticent/
    checks    "papers/test_skewed.py:test_name" below tests/, "oracle/skewed.py:safe", or a file of studies/
    """

    name: str
    subject: str
    state: str
    verdict: str
    finding: str
    code: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Section:
    """A section of a paper; `study` is the folder of studies/ that makes its figures again."""

    title: str
    items: tuple[Item, ...]
    study: str = ""


@dataclass(frozen=True)
class Paper:
    """A paper: its numbered items are listed, so that a test can tell which of them no line speaks of."""

    title: str
    citation: str
    numbered: tuple[str, ...]
    sections: tuple[Section, ...]

    @property
    def items(self) -> tuple[Item, ...]:
        return tuple(item for section in self.sections for item in section.items)


def number(word: str, numbers: range | tuple[str, ...]) -> tuple[str, ...]:
    """("Figure", 1 .. 3) -> Figure 1, Figure 2, Figure 3."""
    return tuple(f"{word} {each}" for each in numbers)
