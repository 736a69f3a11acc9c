"""A column whose values stand on a line, numbers, dates or ordered values, and the labels that are stretches of it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

from reticent.release.reading.extent import EVERYTHING, NULL, Extent, Unreadable, number
from reticent.table.grammar import ANY, parse, parse_foreign
from reticent.table.types import typed

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_INTERVAL = re.compile(rf"([\[\](])?\s*({_NUMBER})\s*(?:,|;|-|–|~|\.\.|\bto\b)\s*({_NUMBER})\s*([\]\[)])?")
_HALF = re.compile(rf"(<=|>=|<|>|≤|≥)\s*({_NUMBER})")
_SPELLING = {"≤": "<=", "≥": ">="}


@dataclass(frozen=True, eq=False)
class Line:
    """Numbers, dates or ordered values; `span` is the column's domain, None where all that is published is `*`."""

    kind: str
    span: tuple[Any, Any] | None
    bands: Sequence[Band] = ()
    places: Mapping[str, int] | None = None
    dtype: str = "String"
    foreign: bool = False

    def positions(self, texts: Sequence[str]) -> list[Any]:
        """Where values stand on the line, as numbers that compare exactly."""
        if self.kind == "numeric":
            return [number(text) for text in texts]
        if self.places is not None:
            return [_known(self.places, text) for text in texts]
        try:
            return typed(texts, self.dtype if self.dtype.startswith("Date") else "Date").to_physical().to_list()
        except Exception:
            raise Unreadable("a date") from None

    def read(self, labels: Sequence[str | None]) -> list[Extent]:
        found: list[Extent | None] = [self._at_once(label) for label in labels]
        rest = [i for i, extent in enumerate(found) if extent is None]
        parsed = parse_foreign if self.foreign else parse
        ends = [parsed(label)[1] for i in rest if (label := labels[i]) is not None]
        if not all(1 <= len(pair) <= 2 for pair in ends):
            raise Unreadable("a set on a line")
        lower, upper = self.positions([pair[0] for pair in ends]), self.positions([pair[-1] for pair in ends])
        for i, low, high in zip(rest, lower, upper, strict=True):
            if low > high:
                raise Unreadable(labels[i])
            found[i] = Extent("range", low, high)
        return cast("list[Extent]", found)

    def _at_once(self, label: str | None) -> Extent | None:
        if label is None:
            return NULL
        if label == ANY:
            return EVERYTHING
        if band := self.named.get(label):
            return Extent("range", band.lower, band.upper)
        return self._interval(label) if self.foreign and self.kind == "numeric" else None

    def _interval(self, label: str) -> Extent | None:
        if half := _HALF.fullmatch(label.strip()):
            sign, end = _SPELLING.get(half[1], half[1]), number(half[2])
            low, high = self.span or (end, end)
            if sign[0] == "<":
                return Extent("range", min(low, end), end, open_upper=sign == "<", endless="lower")
            return Extent("range", end, max(high, end), open_lower=sign == ">", endless="upper")
        if whole := _INTERVAL.fullmatch(label.strip()):
            return Extent("range", number(whole[2]), number(whole[3]), whole[1] in ("]", "("), whole[4] in ("[", ")"))
        return None

    def loss(self, extent: Extent) -> float:
        """Equation 2 of paper 1: (u - l) / (U - L)."""
        if extent.form != "range":
            return float(extent.form == "any")
        if self.span is None or self.span[0] == self.span[1]:
            return 0.0
        return float((extent.upper - extent.lower) / (self.span[1] - self.span[0]))

    def height(self, extent: Extent) -> float:
        """The lowest band that covers the extent, by its level over the root's; without bands a line is a tree of height 1."""
        if extent.form != "range":
            return float(extent.form == "any")
        if extent.lower == extent.upper:
            return 0.0
        return min(
            (band.height for band in self.bands if band.lower <= extent.lower and extent.upper <= band.upper),
            default=1.0,
        )

    @cached_property
    def named(self) -> dict[str, Band]:
        """What a label of the hierarchy covers.  In a release a label that names two stretches is not used, nor one that is a value
        too; another tool's may be the wider."""
        found: dict[str, Band] = {}
        for band in self.bands:
            known = found.get(band.label)
            if known is None:
                found[band.label] = band
            elif self.foreign:
                found[band.label] = Band(
                    band.label, min(known.lower, band.lower), max(known.upper, band.upper), band.height
                )
        return found


@dataclass(frozen=True, slots=True)
class Band:
    """A node of a hierarchy over a line; `height` is its level over the root's."""

    label: str
    lower: Any
    upper: Any
    height: float


def _known(places: Mapping[str, int], text: str) -> int:
    try:
        return places[text]
    except KeyError:
        raise Unreadable("an ordered value") from None
