"""Values that a steward may not have meant: spelled in several ways, or far from all others.  Nothing is changed or refused.

**Spelling.** `HIV`, `hiv` and `HIV ` count as three values, and are one to a reader. Two texts are spelled alike if they
are equal after Unicode's compatibility composition (NFKC), case folding, removal of invisible characters (category Cf),
and collapsing every run of white space to one space, none at the ends. The steward and the auditor get the column and
the number of such values, since only they know what the values mean.

**Far values**: codes such as 999 for "not known", and values that stretch a range. Distances, bandwidths, bands and
losses are relative to a column's range. A few values that lie several ranges away from the others change all of them,
whether they are codes that were not declared missing, or true.

    far      the gap to the nearest other value is MIN_FAR_GAP times the range of the others or more, and there are
             MIN_OTHER_VALUES of them
    code     a number that files use for "missing" (a row of nines, eights or sevens, or a small negative one), with a gap
             of at least MIN_CODE_GAP times the range of the others, or the only negative ones of a column of whole numbers
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np

from reticent.data.cells import Cells
from reticent.data.columns import NO_BOUNDS
from reticent.data.domain import Domain, RangeDomain, TreeDomain
from reticent.data.parsing import fold_spelling
from reticent.errors import pluralize

MIN_FAR_GAP = 3
MIN_CODE_GAP = 1
MIN_OTHER_VALUES = 5  # distinct values that must be left where the far ones are no codes
MIN_LEFT_BESIDE_CODES = 2  # distinct values: where all look like codes, none is one
MAX_FAR_VALUES = 3  # at each end
_CODE_DIGITS = "789"


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
            "there is less diversity than is promised: give them one spelling, by `map` or in the source."
        )

    def to_dict(self, *, show_values: bool = False) -> dict[str, Any]:
        counted = {"column": self.column, "what": self.what, "groups": len(self.groups)}
        counted["spellings"] = sum(map(len, self.groups))
        return counted | ({"values": [list(group) for group in self.groups]} if show_values else {})


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


@dataclass(frozen=True, slots=True)
class FarValues:
    """The values of one column that lie far apart: how many rows have one, and which of them look like codes."""

    column: str
    rows: int
    distinct: int
    codes: tuple[str, ...]
    stretches: bool

    def __str__(self) -> str:
        if self.stretches:
            holders = pluralize(self.rows, "row", "holds", "hold")
            subject = f"{holders} {pluralize(self.distinct, 'value')} several ranges away from all others, which"
            stretched = (
                f"{subject} {'stretches' if self.distinct == 1 else 'stretch'} its range and every distance in it"
            )
        else:
            stretched = f"{pluralize(self.rows, 'row', 'holds', 'hold')} a number that files use for 'missing'"
        return (
            f"Column {self.column!r}: {stretched}. If they are codes, declare them with missing = [...] in [source] "
            "(`reticent init` names those it knows); if they are true, top and bottom bound the range."
        )


def find_far_values(column: str, texts: Sequence[str], positions: np.ndarray, counts: np.ndarray) -> FarValues | None:
    """Find the far values of a column; None where there are none. Positions are distinct and ascend."""
    codes = _find_codes(texts, positions)
    far = sorted(codes | _find_far(positions))
    if not far:
        return None
    rest = np.delete(positions, far)
    stretches = positions[-1] - positions[0] >= 2 * (rest[-1] - rest[0])
    named = tuple(texts[index] for index in sorted(codes))
    return FarValues(column, int(counts[far].sum()), len(far), named, bool(stretches))


def find_far_values_in_cells(cells: Cells) -> list[FarValues]:
    """Find the far values of all numeric columns of cells."""
    far_values = []
    parts = [(cells.quasi, cells.codes), (cells.sensitive, cells.values)]
    for domains, codes in parts:
        for position, domain in enumerate(domains):
            counts = np.bincount(codes[:, position], weights=cells.counts, minlength=domain.size)
            far_values += find_far_values_in_domain(domain, counts)
    return far_values


def find_far_values_in_domain(domain: Domain, counts: np.ndarray) -> list[FarValues]:
    """Find the far values of a domain whose codes have these counts.

    There are none if its values are no line of numbers, or if its bounds are declared.
    """
    if not isinstance(domain, RangeDomain) or domain.kind != "numeric" or len(domain.texts) < 3:
        return []
    positions = domain.positions
    if domain.ends != NO_BOUNDS or domain.span != (positions[0], positions[-1]):
        return []
    far = find_far_values(domain.name, domain.texts, positions, counts[: len(domain.texts)])
    return [] if far is None else [far]


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


def _find_codes(texts: Sequence[str], positions: np.ndarray) -> set[int]:
    """Return the indexes of codes for "missing".

    They are as many at each end as look like codes and lie apart from the others.
    """
    are_codes = [_looks_like_code(text) for text in texts]
    most_codes: set[int] = set()
    for below, above in _list_end_counts(_count_leading(are_codes), _count_leading(reversed(are_codes))):
        rest = texts[below : len(texts) - above]
        if len(rest) < MIN_LEFT_BESIDE_CODES:
            continue
        low, high, reach = _measure_gaps(positions, below, above, MIN_LEFT_BESIDE_CODES)
        if below and positions[below - 1] < 0 <= positions[below] and not any("." in text for text in rest):
            low = np.inf
        if min(low, high) >= MIN_CODE_GAP * reach and below + above > len(most_codes):
            most_codes = _list_end_places(len(positions), below, above)
    return most_codes


def _find_far(positions: np.ndarray) -> set[int]:
    """Return the indexes of values beyond a gap of several ranges of the values between.

    There are at most MAX_FAR_VALUES of them at each end.
    """
    fewest: set[int] = set()
    for below, above in _list_end_counts(MAX_FAR_VALUES, MAX_FAR_VALUES):
        low, high, reach = _measure_gaps(positions, below, above, MIN_OTHER_VALUES)
        if min(low, high) >= MIN_FAR_GAP * reach and (not fewest or below + above < len(fewest)):
            fewest = _list_end_places(len(positions), below, above)
    return fewest


def _looks_like_code(text: str) -> bool:
    """Match 9, 99, 999, 98, 998, 9998, 888, 77, the same below zero, and -1 to -9; whole numbers only."""
    try:
        number = Decimal(text.strip())
    except InvalidOperation:
        return False
    if not number.is_finite() or number != number.to_integral_value():
        return False
    digits = str(abs(int(number)))
    if number < 0 and len(digits) == 1:
        return True
    is_row = len(set(digits)) == 1 and digits[0] in _CODE_DIGITS
    return is_row or (len(digits) > 1 and set(digits[:-1]) == {"9"} and digits[-1] in _CODE_DIGITS)


def _list_end_counts(below: int, above: int) -> list[tuple[int, int]]:
    return [(low, high) for low in range(below + 1) for high in range(above + 1) if low + high]


def _count_leading(are_codes: Iterable[bool]) -> int:
    count = 0
    for is_code in are_codes:
        if not is_code or count == MAX_FAR_VALUES:
            break
        count += 1
    return count


def _measure_gaps(positions: np.ndarray, below: int, above: int, others: int) -> tuple[float, float, float]:
    """Return the gaps below and above the remaining values, and their range; gaps of -1 where too few remain."""
    rest = positions[below : len(positions) - above]
    if len(rest) < others:
        return -1.0, -1.0, 0.0
    low = float(rest[0] - positions[below - 1]) if below else np.inf
    high = float(positions[len(positions) - above] - rest[-1]) if above else np.inf
    return low, high, float(rest[-1] - rest[0])


def _list_end_places(size: int, below: int, above: int) -> set[int]:
    return {*range(below), *range(size - above, size)}
