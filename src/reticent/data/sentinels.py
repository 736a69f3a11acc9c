"""Finds numbers that lie far from all others: codes such as 999 for "not known", and values that stretch a range.

Distances, bandwidths, bands and losses are relative to a column's range. A few values that lie several ranges away
from the others change all of them, whether they are codes that were not declared missing, or true.

    far      the gap to the nearest other value is MIN_FAR_GAP times the range of the others or more, and there are
             MIN_OTHER_VALUES of them
    code     a number that files use for "missing" (a row of nines, eights or sevens, or a small negative one), with a gap
             of at least MIN_CODE_GAP times the range of the others, or the only negative ones of a column of whole numbers
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

import numpy as np

from reticent.data.cells import Cells
from reticent.data.columns import NO_BOUNDS
from reticent.data.domain import Domain, RangeDomain
from reticent.errors import pluralize

MIN_FAR_GAP = 3
MIN_CODE_GAP = 1
MIN_OTHER_VALUES = 5  # distinct values that must be left where the far ones are no codes
MIN_LEFT_BESIDE_CODES = 2  # distinct values: where all look like codes, none is one
MAX_FAR_VALUES = 3  # at each end
_CODE_DIGITS = "789"


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


def _list_end_counts(below: int, above: int) -> list[tuple[int, int]]:
    return [(low, high) for low in range(below + 1) for high in range(above + 1) if low + high]


def _list_end_places(size: int, below: int, above: int) -> set[int]:
    return {*range(below), *range(size - above, size)}


def _measure_gaps(positions: np.ndarray, below: int, above: int, others: int) -> tuple[float, float, float]:
    """Return the gaps below and above the remaining values, and their range; gaps of -1 where too few remain."""
    rest = positions[below : len(positions) - above]
    if len(rest) < others:
        return -1.0, -1.0, 0.0
    low = float(rest[0] - positions[below - 1]) if below else np.inf
    high = float(positions[len(positions) - above] - rest[-1]) if above else np.inf
    return low, high, float(rest[-1] - rest[0])


def _count_leading(are_codes: Iterable[bool]) -> int:
    count = 0
    for is_code in are_codes:
        if not is_code or count == MAX_FAR_VALUES:
            break
        count += 1
    return count


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
