"""CSV files, read by executors with the very functions that `local` reads them with; one file is read by one task.

Spark's own reader takes blank lines, damaged bytes and line ends within quotes in another way, knows other encodings and guesses
other marks: the same file would be another table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from reticent.engines.changed import changed
from reticent.engines.spark.crossing import numbered, sent, spark_types, to_batches
from reticent.engines.spark.reading import Reading
from reticent.engines.spark.rows import Distributed
from reticent.engines.spark.session import task
from reticent.errors import SourceUnreachable
from reticent.table import separated, several
from reticent.table import source as sources
from reticent.table.source import Source

ROWS = 1 << 16  # that are sent at once
_MOST, _LEAST = 1 << 27, 1 << 22  # bytes that a task reads, if files are small; opening one costs as much as the least


def rows_of(session: Any, source: Source, files: several.Files, ship: bool) -> Distributed:
    """The rows, each field a text, none of them read yet."""
    paths = [path.resolve() for path in files.paths]
    for path in paths:
        sources.refuse_empty(path)
    heads = [separated.header(str(path), source.delimiter, source.quote, source.encoding) for path in paths]
    several.refuse_unlike(paths, [dict.fromkeys(head, pl.String()) for head in heads])
    groups = _grouped(paths, session.sparkContext.defaultParallelism)
    names = heads[0]

    def narrow(wanted: list[str]) -> Any:
        places = [names.index(name) for name in wanted]
        run = task(session, ship, read, groups, source, names, places)
        found = session.range(0, len(groups), 1, len(groups)).mapInArrow(run, spark_types([pl.String()] * len(wanted)))
        return found.toDF(*numbered(len(wanted)))

    types = dict.fromkeys(names, pl.String())
    repeated = Counter(names) - Counter(list(types))
    return Distributed(
        session.range(0), Reading(types), types, ship, tuple(repeated.elements()), narrow, has_types=False
    )


def _grouped(paths: list[Path], at_once: int) -> list[list[str]]:
    """Files that a task reads one after the other: small ones together, so that all cores have something to do."""
    sizes = [path.stat().st_size + _LEAST for path in paths]
    room, held, found = min(_MOST, max(_LEAST, sum(sizes) // max(at_once, 1))), 0, [[str(paths[0])]]
    for path, size, before in zip(paths[1:], sizes[1:], sizes, strict=False):
        held += before
        if held + size > room:
            found.append([])
            held = 0
        found[-1].append(str(path))
    return found


def read(
    batches: Iterable[Any], groups: list[list[str]], source: Source, names: list[str], places: list[int]
) -> Iterator[Any]:
    """The wanted columns of the files whose group's number a batch holds."""
    for batch in batches:
        for number in batch.column(0).to_pylist():
            for path in groups[number]:
                for frame in _frames(replace(source, path=path), names, places):
                    yield from to_batches(sent(frame))


def _frames(source: Source, names: list[str], places: list[int]) -> Iterator[pl.DataFrame]:
    try:
        lazy = sources.scan(source, by_pieces=True)
    except SourceUnreachable:
        raise SourceUnreachable(
            f"An executor does not find the file {Path(str(source.path)).name}.",
            attempt="a path that this machine and every executor see alike, and a file that nobody removes meanwhile.",
        ) from None
    if separated.header(str(source.path), source.delimiter, source.quote, source.encoding) != names:
        raise changed()
    known = lazy.collect_schema().names()
    return sources.batches(lazy.select(known[at] for at in places), "Reading the rows", ROWS)
