"""Finds values that differ in spelling alone: `HIV`, `hiv` and `HIV ` count as three values, and are one to a reader.

Two texts are spelled alike if they are equal after Unicode's compatibility composition (NFKC), case folding, removal
of invisible characters (category Cf), and collapsing every run of white space to one space, none at the ends. Nothing
is changed or refused: the steward and the auditor get the column and the number of such values, since only they know
what the values mean.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from reticent.data.cells import Cells
from reticent.data.domain import Domain, RangeDomain, TreeDomain
from reticent.errors import pluralize


@dataclass(frozen=True, slots=True)
class SpellingVariants:
    """Values of one column, or labels of its hierarchy, that are spelled alike; `groups` are for their owner only."""

    column: str
    groups: tuple[tuple[str, ...], ...]
    what: str = "values"

    def __str__(self) -> str:
        spellings = sum(map(len, self.groups))
        groups = len(self.groups)
        return (
            f"Column {self.column!r}: {spellings} {self.what} are equal up to case, spaces or Unicode form, "
            f"in {pluralize(groups, 'group')}, and each is counted as one of its own. If those of a group mean the same, "
            "there is less diversity than is promised: give them one spelling in the source."
        )

    def to_dict(self, *, show_values: bool = False) -> dict[str, Any]:
        counted = {"column": self.column, "what": self.what, "groups": len(self.groups)}
        counted["spellings"] = sum(map(len, self.groups))
        return counted | ({"values": [list(group) for group in self.groups]} if show_values else {})


def fold_spelling(text: str) -> str:
    """Return the form that texts spelled alike have in common."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).casefold()
        text = "".join(mark for mark in unicodedata.normalize("NFKC", text) if unicodedata.category(mark) != "Cf")
    return " ".join(text.lower().split())


def find_variants(values: Iterable[Any]) -> list[list[str]]:
    """Group the distinct values that are spelled alike, in groups of two or more; a null is never among them."""
    groups: dict[str, list[str]] = {}
    for text in dict.fromkeys(str(value) for value in values if value is not None):
        groups.setdefault(fold_spelling(text), []).append(text)
    return [group for group in groups.values() if len(group) > 1]


def describe_variants(column: str, distinct: Iterable[Any]) -> str | None:
    """Describe in one sentence a column whose values differ in spelling alone: its name and how many, no value."""
    variants = find_variants(distinct)
    return str(SpellingVariants(column, tuple(map(tuple, variants)))) if variants else None


def find_spelling_variants(cells: Cells) -> tuple[SpellingVariants, ...]:
    """Find such values in every quasi-identifying and sensitive column of categories, and in every hierarchy."""
    return tuple(variants for domain in (*cells.quasi, *cells.sensitive) for variants in _find_in_domain(domain))


def _find_in_domain(domain: Domain) -> list[SpellingVariants]:
    if isinstance(domain, RangeDomain) and domain.kind != "ordinal":
        return []
    groups_by_subject = {"values": find_variants(domain.texts)}
    if isinstance(domain, TreeDomain):
        variant_values = {text for group in groups_by_subject["values"] for text in group}
        labels = find_variants(domain.hierarchy.labels)
        groups_by_subject["labels of its hierarchy"] = [
            group for group in labels if not variant_values.issuperset(group)
        ]
    return [
        SpellingVariants(domain.name, tuple(map(tuple, groups)), subject)
        for subject, groups in groups_by_subject.items()
        if groups
    ]
