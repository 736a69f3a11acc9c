"""Published rows as axes: exact columns as the values they show, labels as what they cover."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Any, TypeVar, cast

import numpy as np
import polars as pl

from reticent.errors import BundleDamaged, RequestError
from reticent.kernels.group_order import by_group
from reticent.release.asking.axis import Axis, Stretches, of_stretches, of_values
from reticent.release.asking.condition import NULL, Atom
from reticent.release.column_entry import ColumnEntry
from reticent.release.reading.extent import Extent, Unreadable
from reticent.release.reading.line import Line
from reticent.release.reading.scale import scale
from reticent.release.reading.tree import Tree
from reticent.table.types import typed

DENSE = 1 << 23  # how far apart numbers lie that are counted without sorting
TEXTS = 1 << 16  # texts that are numbered by a list of them
KEPT = 16  # axes that are kept for the next question
FAR = 1 << 62  # where whole numbers end that may be anything
Key = TypeVar("Key")
Held = TypeVar("Held")

UNREADABLE = (ValueError, IndexError, OverflowError, RecursionError, pl.exceptions.PolarsError)
"""What reading a forged label may raise."""


def remembered(held: dict[Key, Held], key: Key, most: int, make: Callable[[], Held]) -> Held:
    """What was made for a key before, or is now; of more than so many, those that were made first are forgotten."""
    found = held.get(key)
    if found is None:
        found = make()
        while len(held) >= most:
            held.pop(next(iter(held)), None)
        held[key] = found
    return found


@dataclass(frozen=True, eq=False)
class Combined:
    """The combination of labels that each row has, and a row that has each; `tallies` are counts by combination, by name."""

    of_row: np.ndarray
    first: np.ndarray
    tallies: dict[str, np.ndarray] = field(default_factory=dict)

    @cached_property
    def counts(self) -> np.ndarray:
        return np.bincount(self.of_row, minlength=len(self.first)).astype(np.int64)

    @cached_property
    def listed(self) -> Listed:
        return Listed.of(self.of_row, len(self.first))


@dataclass(frozen=True, eq=False)
class Listed:
    """Places by the number that each has: those of number n are order[until[n]] .. order[until[n + 1]]."""

    order: np.ndarray
    until: np.ndarray

    @classmethod
    def of(cls, number: np.ndarray, many: int) -> Listed:
        until = np.append(0, np.cumsum(np.bincount(number, minlength=many)))
        order = np.empty(len(number), np.int64)
        by_group(np.arange(len(number)), np.require(number, np.int64, ["C", "W"]), until[:-1].copy(), order)
        return cls(order, until)

    def places(self, numbers: np.ndarray) -> np.ndarray:
        """All places that have one of these numbers, one number after the other."""
        size = self.until[numbers + 1] - self.until[numbers]
        before = np.cumsum(size) - size
        return self.order[np.arange(int(size.sum())) + np.repeat(self.until[numbers] - before, size)]


@dataclass(eq=False)
class Rows:
    """`labels` are the columns that are published as labels; the others are exact.  Codes are found once for each column.

    `combined` are the combinations of labels, by columns.
    """

    frame: pl.DataFrame
    labels: dict[str, ColumnEntry]
    numbered: dict[str, tuple[np.ndarray, pl.Series]] = field(default_factory=dict)
    combined: dict[tuple[str, ...], Combined] = field(default_factory=dict)
    axes: dict[tuple[str, tuple[Atom, ...]], Axis] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.frame)

    def codes(self, name: str) -> tuple[np.ndarray, pl.Series]:
        """The number of each row's label or value, and the distinct ones."""
        if name not in self.numbered:
            shown = self.frame[name]
            self.numbered[name] = _counted(shown) if _short(shown) else _spelled(shown)
        return self.numbered[name]

    def axis(self, name: str, asked: Sequence[Atom]) -> Axis:
        return self.kept(name, asked, lambda: self._axis(name, asked))

    def kept(self, name: str, asked: Sequence[Atom], make: Callable[[], Axis]) -> Axis:
        """An axis that the question before needed too, as it was; GROUP BY asks the same of most columns again and again."""
        return remembered(self.axes, (name, tuple(asked)), KEPT, make)

    def _axis(self, name: str, asked: Sequence[Atom]) -> Axis:
        code, distinct = self.codes(name)
        if name not in self.labels:
            return of_values(name, code, distinct, asked)
        entry, texts = self.labels[name], distinct.to_list()
        try:
            column = scale(entry, texts)
            extents = column.read(texts)
            if isinstance(column, Line) and column.kind != "ordinal":
                return _of_line(name, code, column, extents, asked)
            return _of_members(entry, code, column, extents, asked)
        except UNREADABLE:  # their words may quote a label
            raise BundleDamaged(f"A label of column {name!r} cannot be read by the manifest.") from None


def _short(shown: pl.Series) -> bool:
    """Whole numbers, none missing, that lie close enough together to be counted."""
    if not shown.dtype.is_integer() or shown.dtype in (pl.UInt64, pl.Int128) or shown.null_count() or not len(shown):
        return False
    return int(cast("int", shown.max())) - int(cast("int", shown.min())) < DENSE


def _counted(shown: pl.Series) -> tuple[np.ndarray, pl.Series]:
    number = shown.cast(pl.Int64).to_numpy()
    least = int(number.min())
    held = np.zeros(int(number.max()) - least + 1, bool)
    held[number - least] = True
    distinct = pl.Series(shown.name, np.flatnonzero(held) + least).cast(shown.dtype)
    return (np.cumsum(held) - 1)[number - least], distinct


def _spelled(shown: pl.Series) -> tuple[np.ndarray, pl.Series]:
    """Texts, of which there are few, by the place of each in a list of them, which is half the work of looking every one up."""
    distinct = shown.unique(maintain_order=True)
    if shown.dtype != pl.String or len(distinct) > TEXTS:
        return _joined(shown, distinct)
    texts = distinct.drop_nulls()
    number = shown.cast(pl.Enum(texts)).to_physical().cast(pl.Int64)
    return number.fill_null(len(texts)).to_numpy(), pl.concat([texts, distinct.filter(distinct.is_null())])


def _joined(shown: pl.Series, distinct: pl.Series) -> tuple[np.ndarray, pl.Series]:
    number = pl.DataFrame({"shown": distinct, "number": np.arange(len(distinct), dtype=np.int64)})
    rows = pl.DataFrame({"shown": shown}).join(number, on="shown", how="left", nulls_equal=True, maintain_order="left")
    return rows["number"].to_numpy(), distinct


def _of_line(name: str, code: np.ndarray, line: Line, extents: Sequence[Extent], asked: Sequence[Atom]) -> Axis:
    whole = line.kind == "date" or line.dtype.startswith(("Int", "UInt"))
    if line.dtype == "UInt64" and any(e.form == "range" and 1 << 63 <= e.upper < 1 << 64 for e in extents):
        raise RequestError(
            f"Column {name!r} has ranges of whole numbers beyond 2^63, of which questions are not answered.",
            attempt="a question about other columns.",
        )
    ranges = [(e.lower, e.upper) if e.form == "range" else (-FAR, FAR) if whole else (-np.inf, np.inf) for e in extents]
    ends = np.array(ranges, np.int64 if whole else np.float64).reshape(-1, 2)
    stretches = Stretches(
        ends[:, 0].copy(), ends[:, 1].copy(), np.array([e.form == "null" for e in extents], bool),
        np.array([e.form == "any" for e in extents], bool), whole, line.span,
    )  # fmt: skip
    placed = {atom: atom if atom.test == NULL else replace(atom, value=_position(line, atom)) for atom in asked}
    found = of_stretches(name, code, stretches, list(dict.fromkeys(placed.values())))
    return replace(found, truth={atom: found.truth[at] for atom, at in placed.items()})


def _position(line: Line, atom: Atom) -> Any:
    if line.kind == "numeric":
        return atom.value
    try:
        return line.positions([atom.value.isoformat() if hasattr(atom.value, "isoformat") else str(atom.value)])[0]
    except Unreadable:
        raise RequestError(f"{atom.column!r} is compared with a text that is no date.", attempt="a date.") from None


def _of_members(
    entry: ColumnEntry, code: np.ndarray, column: Line | Tree, extents: Sequence[Extent], asked: Sequence[Atom]
) -> Axis:
    known = typed(list(entry.order or ()) if isinstance(column, Line) else column.values(extents), entry.dtype)
    open_ended = isinstance(column, Tree) and (not column.given or entry.built is not None)
    others = _unlisted(known, asked) if open_ended else []
    values = pl.concat([known, pl.Series([*others, None], dtype=known.dtype, strict=False)])
    everything = np.arange(len(values))
    vague = entry.built is not None
    members = [_members(extent, everything, len(known), vague) for extent in extents]
    label = np.repeat(np.arange(len(members)), [len(held) for held in members])
    value = np.fromiter(chain.from_iterable(members), np.int64, len(label))
    return of_values(entry.name, code, values, asked, (label, value, len(members)))


def _members(extent: Extent, everything: np.ndarray, known: int, vague: bool) -> np.ndarray:
    if extent.form == "null":
        return everything[-1:]
    if extent.form == "any":
        return everything
    if extent.form == "range":
        return everything[int(extent.lower) : int(extent.upper) + 1]
    if vague and len(extent.leaves) > 1:  # the manifest lists only the published leaves of a hierarchy built from data
        return everything[:-1]
    return np.array(extent.leaves, np.int64)


def _unlisted(known: pl.Series, asked: Iterable[Atom]) -> list[Any]:
    """Values that no label shows and `*` may stand for: one for each way in which a constant can lie to it."""
    constants = [atom.value for atom in asked if atom.test != NULL]
    if known.dtype == pl.String:
        around = ["", "\U0010ffff", *constants, *(f"{value}\x01" for value in constants)]
    elif known.dtype.is_numeric():
        around = [near for value in constants for near in (value - 1, value, value + 1)]
        around = [near for near in around if not known.dtype.is_integer() or near == int(near)]
    else:
        around = constants
    listed = set(known.to_list())
    return [value for value in dict.fromkeys(around) if value not in listed]
