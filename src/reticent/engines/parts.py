"""A table in parts, each of which fits the memory of whoever works on it: what an engine that spreads its work can do with one.

Functions go to the parts and frames do not come to whoever asks: `told` brings back what a function says of each part, which is
to be small.  A part may be worked on twice, and its rows may come in another order: what is drawn for a row must be a function of
the key and of what was `kept`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol, Self

import polars as pl

Frames = Iterator[pl.DataFrame]
Schema = Mapping[str, pl.DataType]


class Parts(Protocol):
    """Rows in parts; nothing is done until they are told of or kept."""

    def told(self, function: Callable[..., Any], *arguments: Any, doing: str) -> list[Any]:
        """What `function(frames, *arguments)` says of each part that has rows."""

    def made(self, function: Callable[..., Iterable[pl.DataFrame]], schema: Schema, *arguments: Any) -> Self:
        """The frames that `function(frames, number, *arguments)` makes of each part; `number` is the part's."""

    def moved(self, by: str, parts: int) -> Self:
        """The rows in so many parts: a column of 32-bit numbers says the part of each."""

    def kept(self, folder: Path, doing: str) -> Self:
        """Written once, and read from there ever after."""

    def read(self) -> Frames:
        """Of parts that were kept, one after another; each is removed once it is read."""


class Spreading(Protocol):
    """An engine that keeps a table in parts."""

    def each(self, function: Callable[..., Any], asked: Iterable[tuple[Any, ...]]) -> list[Any]: ...

    def combined(self, rows: Any, names: list[str], folder: Path) -> Parts:
        """The distinct combinations of some columns, counted (`TIMES`) and kept in a folder."""

    def rows(self, rows: Any, names: list[str]) -> Parts:
        """Some columns of the rows, as they are read."""

    def numbers(self, many: int) -> Parts:
        """So many parts of one row each, which holds the part's number (`NUMBER`)."""


TIMES, NUMBER = "\x00times", "\x00number"
