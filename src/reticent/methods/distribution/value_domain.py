"""The finite domain of the sensitive column, and its hierarchy (section 3.1).

The domain (`ValueDomain`) is a declared grid, a steward's values, or the values that are published.  The nodes of its
hierarchy (`ValueTree`) are stretches of the domain, and children partition their parent.  Nodes are numbered level by
level, so that the children of a node follow each other and come after it; a node over the same leaves as its parent is
left out, so that a stretch names one node.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from reticent.data.cells import Cells
from reticent.data.domain import Domain, TreeDomain
from reticent.data.hierarchy import Hierarchy, sniff_delimiter
from reticent.data.label_grammar import ANY_LABEL, format_range_label, format_set_label, format_value_label
from reticent.data.parsing import parse_texts
from reticent.errors import ColumnError, InternalError, JobError, pluralize
from reticent.exact_arithmetic import is_whole
from reticent.limits import read_text_file, require_moderate_number
from reticent.models.p_privacy import PPrivacy
from reticent.models.rational_bounds import parse_fraction

MAX_DOMAIN_VALUES = 1 << 16  # values that a tree bears
MAX_FRACTION_DIGITS = 9


@dataclass(frozen=True, eq=False)
class ValueTree:
    """Node i covers the leaves first[i] .. last[i]; `ranges` is what generalizing a value to it costs."""

    first: np.ndarray
    last: np.ndarray
    parent: np.ndarray  # -1 for the root, node 0
    ranges: np.ndarray

    def __len__(self) -> int:
        return len(self.first)

    @cached_property
    def children(self) -> np.ndarray:
        """How many children each node has."""
        return np.bincount(self.parent[1:], minlength=len(self))

    @cached_property
    def first_child(self) -> np.ndarray:
        children = np.full(len(self), len(self), np.int64)
        np.minimum.at(children, self.parent[1:], np.arange(1, len(self)))
        return children

    @cached_property
    def leaf(self) -> np.ndarray:
        """The node of each leaf of the domain."""
        single = np.flatnonzero(self.first == self.last)
        nodes = np.empty(len(single), np.int64)
        nodes[self.first[single]] = single
        return nodes

    @cached_property
    def depth(self) -> np.ndarray:
        depths = np.zeros(len(self), np.int64)
        for node in range(1, len(self)):
            depths[node] = depths[self.parent[node]] + 1
        return depths

    def sum_below(self, of_leaf: np.ndarray) -> np.ndarray:
        """Sum over the leaves of each node: (..., leaves) -> (..., nodes)."""
        until = np.concatenate(
            [np.zeros((*of_leaf.shape[:-1], 1), of_leaf.dtype), np.cumsum(of_leaf, axis=-1)], axis=-1
        )
        return until[..., self.last + 1] - until[..., self.first]

    def reduce_masses(self, masses: np.ndarray) -> np.ndarray:
        """Reduce whole-number masses of all nodes to weights: siblings divided by their greatest common divisor (errata 4.4)."""
        weights = np.array(masses, np.int64)
        weights[0] = 1
        if len(self) > 1:
            starts = np.flatnonzero(np.diff(self.parent, prepend=-2))[1:]
            shared = np.repeat(np.gcd.reduceat(weights, starts), np.diff(np.append(starts, len(self))))
            weights[1:] //= np.maximum(shared, 1)
            weights[1:][shared == 0] = 1  # below a node without mass any split is as good
        return weights

    def to_kernel_arrays(self, weights: np.ndarray) -> np.ndarray:
        """Return the tree as kernels take it: (parent, first child, children, weight) of each node."""
        return np.ascontiguousarray(
            np.column_stack([self.parent, self.first_child, self.children, weights]).astype(np.int64)
        )


def build_balanced_tree(leaves: int, arity: int, positions: np.ndarray | None) -> ValueTree:
    """Build a tree whose nodes cut their leaves into `arity` parts as even as can be; `positions` None: categories."""
    spans = [(0, leaves - 1)]
    parent = [-1]
    node = 0
    while node < len(spans):
        first, last = spans[node]
        size = last - first + 1
        parts = min(arity, size)
        if size > 1:
            ends = [first + size * part // parts for part in range(parts + 1)]
            spans += [(ends[part], ends[part + 1] - 1) for part in range(parts)]
            parent += [node] * parts
        node += 1
    return _build_tree(spans, parent, positions)


def build_hierarchy_tree(hierarchy: Hierarchy, positions: np.ndarray | None) -> ValueTree:
    """Build the tree of a steward's hierarchy; it may be uneven."""
    spans = {(int(first), int(last)) for first, last in zip(hierarchy.first, hierarchy.last, strict=True)}
    order = sorted(spans, key=lambda span: (span[0], -span[1]))
    parents: list[int] = []
    depth: list[int] = []
    above: list[int] = []
    for span in order:
        while above and not (order[above[-1]][0] <= span[0] and span[1] <= order[above[-1]][1]):
            above.pop()
        parents.append(above[-1] if above else -1)
        depth.append(len(above))
        above.append(len(parents) - 1)
    level = sorted(range(len(order)), key=lambda node: (depth[node], order[node][0]))
    number = {node: number_in_tree for number_in_tree, node in enumerate(level)}
    return _build_tree([order[node] for node in level], [number.get(parents[node], -1) for node in level], positions)


@dataclass(frozen=True, eq=False)
class ValueDomain:
    """The values of a domain.

    `texts` are in order; `of_code[c]` is the place of the cells' code c among them; `units` are numbers times `scale`,
    whole.
    """

    name: str
    texts: tuple[str, ...]
    of_code: np.ndarray
    units: np.ndarray | None
    scale: int
    hierarchy: Hierarchy | None

    @property
    def positions(self) -> np.ndarray | None:
        return None if self.units is None else self.units / self.scale

    def tree(self, arity: int) -> ValueTree:
        """Return the column's own hierarchy where the steward declared one, else a balanced tree."""
        if self.hierarchy is not None:
            return build_hierarchy_tree(self.hierarchy, self.positions)
        return build_balanced_tree(len(self.texts), arity, self.positions)

    def labels(self, tree: ValueTree) -> list[str]:
        """Format each node: a value, a range of numbers, a set of categories, or `*`."""
        node_labels = []
        for first, last in zip(tree.first.tolist(), tree.last.tolist(), strict=True):
            if first == last:
                node_labels.append(format_value_label(self.texts[first]))
            elif self.units is not None:
                node_labels.append(format_range_label(self.texts[first], self.texts[last]))
            else:
                node_labels.append(
                    ANY_LABEL if last - first + 1 == len(self.texts) else format_set_label(self.texts[first : last + 1])
                )
        return node_labels


def make_value_domain(cells: Cells, promise: PPrivacy) -> ValueDomain:
    """Make the domain of the only sensitive column, which may have no missing values."""
    domain = _require_known_values(cells)
    totals = cells.totals(0)
    hierarchy = domain.hierarchy if isinstance(domain, TreeDomain) and domain.is_from_steward else None
    kind = getattr(domain, "kind", "categorical")
    if kind == "date":
        raise ColumnError(
            f"The sensitive column {domain.name!r} holds dates, and a target is over numbers or categories.",
            attempt='a number of days or years, or type = "ordinal" with its order.',
        )
    if kind != "numeric":
        order = list(domain.texts) if hierarchy or kind == "ordinal" else _list_categories(domain, totals, promise)
        return _build_checked_domain(domain, totals, order, None, 1, hierarchy)
    texts = list(domain.texts) if hierarchy else _list_numbers(domain, totals, promise)
    units, scale = _convert_to_units(domain.name, texts, cells.rows)
    return _build_checked_domain(domain, totals, texts, units, scale, hierarchy, has_grid=promise.domain is not None)


def find_listed_weights(target: Any) -> dict[str, Fraction] | None:
    """Find the values and weights that a target lists itself, in the job or in a file; None where it lists none."""
    if not isinstance(target, Mapping):
        return None
    if "weights" in target:
        return {str(value): parse_fraction(weight, "a weight") for value, weight in target["weights"].items()}
    return read_weights(target["file"]) if "file" in target else None


def read_weights(path: str | Path) -> dict[str, Fraction]:
    """Read a target's file: a value and its weight in each line, with or without a header."""
    try:
        text = read_text_file(path)
        rows = [row for row in csv.reader(io.StringIO(text), delimiter=sniff_delimiter(text)) if any(row)]
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
    weights = {row[0].strip(): parse_fraction(row[1].strip(), "a weight") for row in rows}
    if len(weights) < len(rows) or min(weights.values()) < 0 or not sum(weights.values()):
        raise JobError(
            f"The target's file {Path(path).name} lists a value twice, a negative weight, or weights that are all 0.",
            attempt="each value once, with a weight of 0 or more.",
        )
    return weights


def _build_tree(spans: Sequence[tuple[int, int]], parent: Sequence[int], positions: np.ndarray | None) -> ValueTree:
    """Ranges: greatest less least for numbers; for categories the number of values (footnote 3), 0 for a single one."""
    first, last = np.array(spans, np.int64).T
    size = (last - first + 1).astype(np.float64)
    ranges = np.where(size > 1, size, 0.0) if positions is None else positions[last] - positions[first]
    return ValueTree(first.copy(), last.copy(), np.array(parent, np.int64), np.ascontiguousarray(ranges, np.float64))


def _require_known_values(cells: Cells) -> Domain:
    """Return the domain of the sensitive column, and refuse one with missing values."""
    if len(cells.sensitive) != 1:
        raise InternalError(f"distribution was given {len(cells.sensitive)} sensitive columns.")
    domain = cells.sensitive[0]
    if domain.null and cells.totals(0)[domain.null_code]:
        raise ColumnError(
            f"The sensitive column {domain.name!r} is missing in {pluralize(int(cells.totals(0)[domain.null_code]), 'row')}.",
            why="A missing value has no place in a target distribution.",
            attempt='missing = "withhold" for this column, or a value of their own for these rows in the source.',
        )
    return domain


def _list_categories(domain: Domain, totals: np.ndarray, promise: PPrivacy) -> list[str]:
    """List a target's own values, in its order, or the values that are published."""
    listed = find_listed_weights(promise.target)
    return _list_occurring_values(domain, totals) if listed is None else list(listed)


def _build_checked_domain(
    domain: Domain,
    totals: np.ndarray,
    texts: Sequence[str],
    units: np.ndarray | None,
    scale: int,
    hierarchy: Hierarchy | None,
    *,
    has_grid: bool = False,
) -> ValueDomain:
    """Build the domain once its values are known to be few, publishable and all that occur; `has_grid`: they are declared."""
    if len(texts) > MAX_DOMAIN_VALUES:
        raise _make_too_many_error(domain.name, len(texts))
    _require_publishable_values(domain, texts)
    keys = texts if units is None else [Fraction(text) for text in texts]
    places = {key: place for place, key in enumerate(keys)}
    mine = domain.texts if units is None else [Fraction(text) for text in domain.texts]
    of_code = np.array([places.get(key, -1) for key in mine], np.int64)
    outside = int(((of_code < 0) & (totals[: len(of_code)] > 0)).sum())
    if outside:
        raise ColumnError(
            f"The sensitive column {domain.name!r} has {pluralize(outside, 'value')} outside the target's domain.",
            why="What a person has must be something that may be believed of them.",
            attempt="domain = [least, greatest, step] that holds them." if has_grid else "a target that lists them.",
        )
    if len(texts) < 2:
        raise JobError(
            f"The sensitive column {domain.name!r} has one value: there is nothing to hide.",
            attempt="a column with two values or more.",
        )
    return ValueDomain(domain.name, tuple(texts), of_code, units, scale, hierarchy)


def _list_numbers(domain: Domain, totals: np.ndarray, promise: PPrivacy) -> list[str]:
    """List the declared grid, a target's own values, or the values that are published."""
    if promise.domain is not None:
        lowest, greatest, step = promise.domain
        size = int((greatest - lowest) / step) + 1
        if size > MAX_DOMAIN_VALUES:
            raise _make_too_many_error(domain.name, size)
        is_integer = domain.dtype.startswith(("Int", "UInt"))
        return [_format_number(lowest + step * i, is_integer) for i in range(size)]
    listed = find_listed_weights(promise.target)
    occurring = _list_occurring_values(domain, totals)
    if listed is None:
        return occurring
    is_integer = domain.dtype.startswith(("Int", "UInt"))
    return [
        _format_number(value, is_integer)
        for value in sorted({parse_fraction(text, "a value of the target") for text in listed})
    ]


def _convert_to_units(name: str, texts: Sequence[str], rows: int) -> tuple[np.ndarray, int]:
    """Convert numbers to whole multiples of a decimal unit: sums of them are exact."""
    decimals = [Decimal(text) for text in texts]
    digits = max((max(-int(value.normalize().as_tuple().exponent), 0) for value in decimals), default=0)
    if digits > MAX_FRACTION_DIGITS:
        raise _make_too_many_error(name, len(texts), fine=True)
    units = [int(value.scaleb(digits)) for value in decimals]
    if max(map(abs, units), default=0) * 4 * rows >= 1 << 62:
        raise ColumnError(
            f"Sums of the sensitive column {name!r} do not fit 64 bits.",
            why=f"Its numbers are whole multiples of 1/{10**digits:,}, and there are {rows:,} rows.",
            attempt="a coarser unit: thousands instead of ones, or fewer digits after the point.",
        )
    return np.array(units, np.int64), 10**digits


def _is_number(text: str) -> bool:
    require_moderate_number(text, "a weight")
    try:
        Fraction(text.strip())
    except (ValueError, ZeroDivisionError):
        return False
    return True


def _list_occurring_values(domain: Domain, totals: np.ndarray) -> list[str]:
    return [text for text, count in zip(domain.texts, totals.tolist(), strict=False) if count]


def _make_too_many_error(name: str, size: int, *, fine: bool = False) -> ColumnError:
    why = (
        f"Its numbers have more than {MAX_FRACTION_DIGITS} digits after the point."
        if fine
        else f"It has {size:,} different values; a tree bears {MAX_DOMAIN_VALUES:,}."
    )
    return ColumnError(
        f"The sensitive column {name!r} is too fine for a target distribution.",
        why=why,
        attempt="rounding it to a grid first, such as whole hundreds, and domain = [least, greatest, step].",
    )


def _require_publishable_values(domain: Domain, texts: Sequence[str]) -> None:
    """Require that every value of the domain can be published in the column's own type."""
    try:
        fine = parse_texts(list(texts), domain.dtype).null_count() == 0
    except Exception:  # the libraries' messages quote values
        fine = False
    if not fine:
        raise ColumnError(
            f"The target's domain has values that the sensitive column {domain.name!r} cannot hold.",
            why=f"The column's type is {domain.dtype}.",
            attempt="a grid of values of that type, or a column of a wider one.",
        )


def _format_number(value: Fraction, is_integer: bool) -> str:
    return str(int(value)) if is_integer and is_whole(value) else str(float(value))
