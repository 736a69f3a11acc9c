"""The largest table: as many census rows as RECORD_ROWS says (none: its rows are left out), published and audited on one machine.

The source is a folder of Parquet files of 50M rows each, 164 MB a file, made with one seed after the other and kept.  `mondrian`
with k = 10 by `stream`, nothing carried; the reference is one such file times how many there are.  Bytes are those that the process
read and wrote, as the system counts them.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from benchmarks.data import census_file
from benchmarks.measure import Cost, measure
from benchmarks.row import Row
from benchmarks.rows_engines import BODY, PROMISES, QUASI, SENSITIVE, SETUP

ROWS_ASKED = int(os.environ.get("RECORD_ROWS", "0"))
FILE = 50_000_000
BYTES = """
def moved():
    with open("/proc/self/io") as told:
        facts = dict(line.split(": ") for line in told)
    return int(facts["rchar"]), int(facts["wchar"])
before = moved()
"""
TOLD = """
value = [now - then for now, then in zip(moved(), before)]
"""


def sources() -> list[Path]:
    return [census_file(FILE, seed=seed) for seed in range(ROWS_ASKED // FILE)]


@cache
def published(paths: tuple[Path, ...]) -> Cost:
    """One run over some files, which are seen as a folder."""
    folder = paths[0].with_name(f"census-record-{len(paths)}")
    folder.mkdir(exist_ok=True)
    for number, path in enumerate(paths):
        if not (place := folder / f"part-{number:05}.parquet").exists():
            os.link(path, place)
    given: dict[str, object] = {
        "path": str(folder),
        "quasi": list(QUASI),
        "sensitive": SENSITIVE,
        "carried": [],
        "promise": PROMISES["mondrian"],
        "method": "mondrian",
        "engine": "stream",
    }
    return measure(BODY + TOLD, setup=SETUP + BYTES, given=given, runs=0)


def time() -> Row:
    paths = tuple(sources())
    one = published(paths[:1])
    every = published(paths)
    read, written = (count / 1e9 for count in every.value)
    note = f"wall {every.wall:.0f} s, read {read:.2f} GB, written {written:.2f} GB, {ROWS_ASKED:,} rows"
    return Row(ours=every.cpu, reference=one.cpu * len(paths), against=f"{FILE:,} rows, {len(paths)} times", note=note)


def memory() -> Row:
    paths = tuple(sources())
    one = published(paths[:1])
    every = published(paths)
    return Row(ours=every.peak / 2**20, reference=one.peak / 2**20, unit="MiB", against=f"{FILE:,} rows")


ROWS = [("record: time", time), ("record: memory", memory)] if ROWS_ASKED else []
