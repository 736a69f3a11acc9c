"""Parts of a table in this process: what Spark does with partitions, without Spark; parts are worked on twice, and mixed in between."""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from reticent.engines import stream
from reticent.engines.engine import MULTIPLICITY, PART_NUMBER

Made = Callable[[], list[pl.DataFrame]]


@dataclass(frozen=True, eq=False)
class Here:
    parts: list[Made]
    schema: Mapping[str, pl.DataType]
    seen: list[Any] = field(default_factory=list)

    def map_collect(self, function, *arguments, doing: str) -> list[Any]:
        sent = pickle.dumps((function, arguments))
        found = []
        for part in self.parts:
            if frames := part():
                function, given = pickle.loads(sent)
                function(iter(part()[::-1]), *given)  # a first attempt, of which nothing is left
                function, given = pickle.loads(sent)
                said = pickle.dumps(function(iter(frames), *given))
                self.seen.append((doing, len(said)))
                found.append(pickle.loads(said))
        return found

    def map_partitions(self, function, schema, *arguments) -> Here:
        sent = pickle.dumps((function, arguments))

        def run(part: Made, number: int) -> list[pl.DataFrame]:
            function, given = pickle.loads(sent)
            made = [frame.select(list(schema)) for frame in function(iter(part()), number, *given) if len(frame)]
            assert all(frame.schema == pl.Schema(dict(schema)) for frame in made)
            return made

        parts = [lambda part=part, at=at: run(part, at) for at, part in enumerate(self.parts)]
        return Here(parts, schema, self.seen)

    def repartition(self, by: str, parts: int) -> Here:
        def part(number: int) -> list[pl.DataFrame]:
            held = [frame.filter(pl.col(by) == number) for one in self.parts for frame in one()]
            held = [frame for frame in held if len(frame)]
            random.shuffle(held)
            return held

        return Here([lambda at=at: part(at) for at in range(parts)], self.schema, self.seen)

    def persist(self, folder: Path, doing: str) -> Here:
        folder.mkdir(parents=True)
        parts = [part() for part in self.parts]
        for at, part in enumerate(parts):
            (folder / f"part-{at:05}").write_bytes(pickle.dumps(part))
        return Here([lambda part=part: part for part in parts], self.schema, self.seen)

    def iterate_partitions(self) -> Iterator[pl.DataFrame]:
        for part in self.parts:
            for frame in part():
                self.seen.append(("bucket", len(frame)))
                yield frame


class Spread(stream.StreamEngine):
    """An engine of this process that keeps tables in parts of a few rows."""

    distributed = True

    def __init__(self, regions: int, rows: int = 50):
        self.regions = regions
        self.at_once = rows
        self.seen = []

    def map(self, function: Callable[..., Any], asked: Iterable[tuple[Any, ...]]) -> list[Any]:
        said = [pickle.dumps(function(*pickle.loads(pickle.dumps(given)))) for given in asked]
        self.seen.append((function.__name__, sum(map(len, said))))
        return [pickle.loads(one) for one in said]

    def count_combinations(self, rows: pl.LazyFrame, names: list[str], folder: Path) -> Here:
        found = (
            rows.select(names)
            .group_by(names)
            .len(name=MULTIPLICITY)
            .with_columns(pl.col(MULTIPLICITY).cast(pl.Int64))
            .collect()
        )
        return self._in_parts(found).persist(folder, "Counting the rows")

    def read_rows(self, rows: pl.LazyFrame, names: list[str]) -> Here:
        return self._in_parts(rows.select(names).collect())

    def number_partitions(self, many: int) -> Here:
        return Here(
            [lambda at=at: [pl.DataFrame({PART_NUMBER: [at]})] for at in range(many)],
            {PART_NUMBER: pl.Int64()},
            self.seen,
        )

    def _in_parts(self, frame: pl.DataFrame) -> Here:
        cut = [frame[start : start + self.at_once] for start in range(0, len(frame), self.at_once)]
        cut = [[one[: len(one) // 2], one[len(one) // 2 :]] for one in cut]
        return Here([lambda one=one: one for one in cut], frame.schema, self.seen)
