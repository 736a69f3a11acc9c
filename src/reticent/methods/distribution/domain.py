"""The finite domain of the sensitive column: a declared grid, a steward's values, or the values that are published (section 3.1)."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from reticent.errors import ColumnError, JobError, some
from reticent.exact import is_whole
from reticent.limits import refuse_immoderate, whole_text
from reticent.methods.distribution.tree import Tree, balanced, of_hierarchy
from reticent.models.exact import exact
from reticent.models.p_privacy import PPrivacy
from reticent.table.cells import Cells
from reticent.table.domain import Domain, TreeDomain
from reticent.table.grammar import ANY, range_label, set_label, value_label
from reticent.table.hierarchy import Hierarchy, sniff
from reticent.table.types import typed

MOST = 1 << 16  # values that a tree bears
DIGITS = 9


@dataclass(frozen=True, eq=False)
class Values:
    """`texts` in order; `of_code[c]` is where the cells' code c stands among them; `units` are numbers times `scale`, whole."""

    name: str
    texts: tuple[str, ...]
    of_code: np.ndarray
    units: np.ndarray | None
    scale: int
    hierarchy: Hierarchy | None

    @property
    def positions(self) -> np.ndarray | None:
        return None if self.units is None else self.units / self.scale

    def tree(self, arity: int) -> Tree:
        """The column's own hierarchy where the steward gave one, else a balanced tree."""
        if self.hierarchy is not None:
            return of_hierarchy(self.hierarchy, self.positions)
        return balanced(len(self.texts), arity, self.positions)

    def labels(self, tree: Tree) -> list[str]:
        """How each node prints: a value, a range of numbers, a set of categories, or `*`."""
        found = []
        for first, last in zip(tree.first.tolist(), tree.last.tolist(), strict=True):
            if first == last:
                found.append(value_label(self.texts[first]))
            elif self.units is not None:
                found.append(range_label(self.texts[first], self.texts[last]))
            else:
                found.append(ANY if last - first + 1 == len(self.texts) else set_label(self.texts[first : last + 1]))
        return found


def values_of(cells: Cells, promise: PPrivacy) -> Values:
    """The domain of the only sensitive column, whose values are all there."""
    domain = _only(cells)
    totals = cells.totals(0)
    given = domain.hierarchy if isinstance(domain, TreeDomain) and domain.given else None
    kind = getattr(domain, "kind", "categorical")
    if kind == "date":
        raise ColumnError(
            f"The sensitive column {domain.name!r} holds dates, and a target is over numbers or categories.",
            attempt='a number of days or years, or type = "ordinal" with its order.',
        )
    if kind != "numeric":
        order = list(domain.texts) if given or kind == "ordinal" else _categories(domain, totals, promise)
        return _checked(domain, totals, order, None, 1, given)
    texts = list(domain.texts) if given else _numbers(domain, totals, promise)
    units, scale = _units(domain.name, texts, cells.rows)
    return _checked(domain, totals, texts, units, scale, given)


def _only(cells: Cells) -> Domain:
    if len(cells.sensitive) != 1:
        raise JobError(
            f"distribution transforms one sensitive column; the job declares {len(cells.sensitive)}.",
            attempt='method = "mondrian" for several.',
        )
    domain = cells.sensitive[0]
    if domain.null and cells.totals(0)[domain.null_code]:
        raise ColumnError(
            f"The sensitive column {domain.name!r} is missing in {some(int(cells.totals(0)[domain.null_code]), 'row')}.",
            why="A missing value has no place in a target distribution.",
            attempt="withholding these rows, or giving them a value of their own.",
        )
    return domain


def _occurring(domain: Domain, totals: np.ndarray) -> list[str]:
    return [text for text, count in zip(domain.texts, totals.tolist(), strict=False) if count]


def _categories(domain: Domain, totals: np.ndarray, promise: PPrivacy) -> list[str]:
    """A target's own list of values, in its order, or the values that are published."""
    listed = listed_weights(promise.target)
    return _occurring(domain, totals) if listed is None else list(listed)


def _numbers(domain: Domain, totals: np.ndarray, promise: PPrivacy) -> list[str]:
    """The declared grid, a target's own list of values, or the values that are published."""
    if promise.domain is not None:
        least, greatest, step = promise.domain
        size = int((greatest - least) / step) + 1
        if size > MOST:
            raise _too_many(domain.name, size)
        whole = domain.dtype.startswith(("Int", "UInt"))
        return [_text(least + step * i, whole) for i in range(size)]
    listed = listed_weights(promise.target)
    occurring = _occurring(domain, totals)
    if listed is None:
        return occurring
    whole = domain.dtype.startswith(("Int", "UInt"))
    return [_text(value, whole) for value in sorted({exact(text, "a value of the target") for text in listed})]


def _text(value: Fraction, whole: bool) -> str:
    return str(int(value)) if whole and is_whole(value) else str(float(value))


def _units(name: str, texts: Sequence[str], rows: int) -> tuple[np.ndarray, int]:
    """Numbers as whole multiples of a decimal unit: sums of them are exact."""
    decimals = [Decimal(text) for text in texts]
    digits = max((max(-int(value.normalize().as_tuple().exponent), 0) for value in decimals), default=0)
    if digits > DIGITS:
        raise _too_many(name, len(texts), fine=True)
    units = [int(value.scaleb(digits)) for value in decimals]
    if max(map(abs, units), default=0) * 4 * rows >= 1 << 62:
        raise ColumnError(
            f"Sums of the sensitive column {name!r} do not fit 64 bits.",
            why=f"Its numbers are whole multiples of 1/{10**digits:,}, and there are {rows:,} rows.",
            attempt="a coarser unit: thousands instead of ones, or fewer digits after the point.",
        )
    return np.array(units, np.int64), 10**digits


def _too_many(name: str, size: int, *, fine: bool = False) -> ColumnError:
    why = (
        f"Its numbers have more than {DIGITS} digits after the point."
        if fine
        else f"It has {size:,} different values; a tree bears {MOST:,}."
    )
    return ColumnError(
        f"The sensitive column {name!r} is too fine for a target distribution.",
        why=why,
        attempt="rounding it to a grid first, such as whole hundreds, and domain = [least, greatest, step].",
    )


def _checked(domain: Domain, totals: np.ndarray, texts: Sequence[str], units: np.ndarray | None, scale: int,
             hierarchy: Hierarchy | None) -> Values:  # fmt: skip
    if len(texts) > MOST:
        raise _too_many(domain.name, len(texts))
    if len(texts) < 2:
        raise JobError(
            f"The sensitive column {domain.name!r} has one value: there is nothing to hide.",
            attempt="a column with two values or more.",
        )
    _check_held(domain, texts)
    keys = texts if units is None else [Fraction(text) for text in texts]
    known = {key: at for at, key in enumerate(keys)}
    mine = domain.texts if units is None else [Fraction(text) for text in domain.texts]
    of_code = np.array([known.get(key, -1) for key in mine], np.int64)
    outside = int(((of_code < 0) & (totals[: len(of_code)] > 0)).sum())
    if outside:
        raise ColumnError(
            f"The sensitive column {domain.name!r} has {some(outside, 'value')} outside the target's domain.",
            why="What a person has must be something that may be believed of them.",
            attempt="domain = [least, greatest, step] that holds them, or a target that lists them.",
        )
    return Values(domain.name, tuple(texts), of_code, units, scale, hierarchy)


def _check_held(domain: Domain, texts: Sequence[str]) -> None:
    """Every value of the domain can be published in the column's own type."""
    try:
        fine = typed(list(texts), domain.dtype).null_count() == 0
    except Exception:  # the libraries' messages quote values
        fine = False
    if not fine:
        raise ColumnError(
            f"The target's domain has values that the sensitive column {domain.name!r} cannot hold.",
            why=f"The column's type is {domain.dtype}.",
            attempt="a grid of values of that type, or a column of a wider one.",
        )


def listed_weights(target: Any) -> dict[str, Fraction] | None:
    """The values and weights that a target lists itself, in the job or in a file; None where it lists none."""
    if not isinstance(target, Mapping):
        return None
    if "weights" in target:
        return {str(value): exact(weight, "a weight") for value, weight in target["weights"].items()}
    return read_weights(target["file"]) if "file" in target else None


def read_weights(path: str | Path) -> dict[str, Fraction]:
    """A target's file: a value and its weight in each line, a header or none."""
    try:
        text = whole_text(path)
        rows = [row for row in csv.reader(io.StringIO(text), delimiter=sniff(text)) if any(row)]
    except (OSError, UnicodeDecodeError, csv.Error):
        raise JobError(
            f"The target's file {Path(path).name} cannot be read.", attempt="a CSV beside the job file."
        ) from None
    if rows and not _is_number(rows[0][-1]):
        rows = rows[1:]
    if not rows or any(len(row) != 2 or not _is_number(row[1]) for row in rows):
        raise JobError(
            f"The target's file {Path(path).name} is not a value and a weight in each line.",
            attempt="lines such as 40000;3.",
        )
    weights = {row[0].strip(): exact(row[1].strip(), "a weight") for row in rows}
    if len(weights) < len(rows) or min(weights.values()) < 0 or not sum(weights.values()):
        raise JobError(
            f"The target's file {Path(path).name} lists a value twice, a negative weight, or weights that are all 0.",
            attempt="each value once, with a weight of 0 or more.",
        )
    return weights


def _is_number(text: str) -> bool:
    refuse_immoderate(text, "a weight")
    try:
        Fraction(text.strip())
    except (ValueError, ZeroDivisionError):
        return False
    return True
