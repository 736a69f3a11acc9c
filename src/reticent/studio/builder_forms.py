"""The builders of hierarchies as forms: what each asks, and what a steward's words mean to it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from reticent.data.hierarchy_builders import CALENDAR_LEVELS
from reticent.errors import RequestError
from reticent.limits import is_moderate_number

MAX_WORDS = 500
_SEPARATORS = re.compile(r"[,\s]+")


@dataclass(frozen=True, slots=True)
class BuilderInput:
    """One blank of a builder's form: its parameter, the label, and what is proposed."""

    name: str
    label: str
    proposed: str
    parse: Callable[[str], Any]
    is_optional: bool = False


@dataclass(frozen=True, slots=True)
class BuilderForm:
    """A builder as a form; `kinds` are the columns that it suits."""

    name: str
    build: str
    title: str
    explanation: str
    kinds: tuple[str, ...]
    inputs: tuple[BuilderInput, ...]

    def read(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Read the options of the builder from the fields of a form.

        Raises:
            RequestError: a field is not what its blank asks for.
        """
        request: dict[str, Any] = {"build": self.build}
        for blank in self.inputs:
            text = str(fields.get(blank.name, blank.proposed)).strip()
            if text:
                request[blank.name] = blank.parse(text)
            elif not blank.is_optional:
                raise RequestError(f"The blank {blank.label!r} is empty.", attempt=f"{blank.proposed}.")
        return request


def parse_number(text: str) -> int | Decimal:
    try:
        number = Decimal(text) if is_moderate_number(text) else None
    except InvalidOperation:
        number = None
    if number is None or not number.is_finite():
        raise RequestError("A number is asked for.", attempt="a number such as 10 or 0.5.")
    return int(number) if number == int(number) else number


def parse_number_list(text: str) -> list[int | Decimal]:
    """Read numbers that commas or blanks stand between."""
    words = [word for word in _SEPARATORS.split(text) if word]
    if not words or len(words) > MAX_WORDS:
        raise RequestError("A list of numbers is asked for.", attempt="numbers with commas between them: 5, 10, 20.")
    return [parse_number(word) for word in words]


def parse_edge_lists(text: str) -> list[Any]:
    """Read the edges of one level, or of several with a semicolon between levels, the finest first."""
    levels = [parse_number_list(part) for part in text.split(";") if part.strip()]
    return levels[0] if len(levels) == 1 else levels


def parse_calendar_levels(text: str) -> list[str]:
    """Read levels of a calendar, in the order of the calendar."""
    words = {word.casefold() for word in _SEPARATORS.split(text) if word}
    levels = [level for level in CALENDAR_LEVELS if level in words]
    if not levels or len(words) != len(levels):
        raise RequestError("Levels of a calendar are asked for.", attempt=f"{', '.join(CALENDAR_LEVELS)}.")
    return levels


def _build_text(text: str) -> str:
    return text


BUILDER_FORMS: Sequence[BuilderForm] = (
    BuilderForm(
        "intervals",
        "intervals",
        "Bands of one width",
        "`30-39` for 34: each width is a multiple of the one before.",
        ("numeric",),
        (
            BuilderInput("width", "Widths, narrow first", "5, 10, 20", parse_number_list),
            BuilderInput("start", "Beginning at", "0", parse_number, is_optional=True),
        ),
    ),
    BuilderForm(
        "quantiles",
        "quantiles",
        "Bands of equally many people",
        "Where most people are, bands are narrow.",
        ("numeric",),
        (BuilderInput("groups", "How many bands, the most first", "16, 4", parse_number_list),),
    ),
    BuilderForm(
        "edges",
        "edges",
        "Bands between edges of your own",
        "`18, 30, 65` makes `< 18`, `18-29`, `30-64` and `>= 65`; a semicolon begins the next level.",
        ("numeric",),
        (BuilderInput("edges", "Edges", "18, 30, 45, 65; 18, 65", parse_edge_lists),),
    ),
    BuilderForm(
        "dates",
        "dates",
        "A calendar",
        "A day becomes its month, its quarter, its year, its decade.",
        ("date",),
        (BuilderInput("levels", "Levels", "month, quarter, year, decade", parse_calendar_levels),),
    ),
    BuilderForm(
        "prefixes",
        "prefixes",
        "Codes cut from the right",
        "`12345`, `123**`, `1****`: for post codes, NACE and others of which every letter refines the code.",
        ("categorical",),
        (
            BuilderInput("keep", "Letters kept, the most first", "3, 2", parse_number_list, is_optional=True),
            BuilderInput("mask", "Letter that stands for the rest", "*", _build_text),
        ),
    ),
    BuilderForm(
        "icd",
        "prefixes",
        "Codes of diseases (ICD)",
        "`J45.1` becomes the category `J45`, then the letter `J` of its chapter.",
        ("categorical",),
        (BuilderInput("keep", "Letters kept, the most first", "3, 1", parse_number_list),),
    ),
    BuilderForm(
        "balanced",
        "balanced",
        "A balanced tree over the sorted values",
        "Neighbours in the alphabet are put together: better than `*`, worse than groups that mean something.",
        ("categorical", "numeric"),
        (BuilderInput("fanout", "Parts of each label", "3", parse_number),),
    ),
)
