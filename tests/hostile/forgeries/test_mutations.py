"""Good manifests and data files with something in them replaced, whatever it is: refused or said, never a crash.

`HOSTILE_EXAMPLES=n` tries so many of each (`make hostile`); the suite tries a few.
"""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.hostile.forgeries.folders import data_file
from tests.hostile.forgeries.readers import KEPT, REFUSED, SAID, outcome
from tests.hostile.forgeries.resource_limits import read_under_limit
from tests.support import honest_releases
from tests.support.release_folders import resealed

EXAMPLES = int(os.environ.get("HOSTILE_EXAMPLES", "30"))
FLIPPED = max(EXAMPLES // 5, 6)
REMOVED = object()
VALUES = st.one_of(
    st.sampled_from(
        [
            REMOVED,
            None,
            True,
            False,
            -1,
            0,
            1,
            2**31,
            2**63,
            10**40,
            1.5,
            -0.0,
            1e300,
            5e-324,
            "",
            "x",
            "*",
            "1e999999999",
            "1/0",
            "NaN",
            "0x10",
            "9" * 400,
            "\x00",
            "\x1b[2J",
            "../x",
            "[",
            "{",
            '"',
            [],
            {},
            [[]],
            [None],
            {"a": 1},
            {"": []},
            [1, 2],
            ["x", "x"],
            {"model": "k-anonymity"},
        ]
    ),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(codec="utf-8"), max_size=20),
    st.lists(st.integers(), max_size=3),
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where something stands in a manifest, at whatever depth."""
    if path:
        yield path
    inside = value.items() if isinstance(value, dict) else enumerate(value[:4]) if isinstance(value, list) else ()
    for key, entry in inside:
        yield from places(entry, (*path, key))


def replace(manifest: dict[str, Any], number: int, value: Any) -> None:
    """The thing at one of its places, or the place itself, is another."""
    path = list(places({key: entry for key, entry in manifest.items() if key != "files"}))
    *above, last = path[number % len(path)]
    at: Any = manifest
    for key in above:
        at = at[key]
    if value is REMOVED:
        del at[last]
    else:
        at[last] = deepcopy(value)


@pytest.fixture(scope="module")
def releases(tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("good")
    return {kind: honest_releases.release(kind, folder / kind) for kind in honest_releases.PAIRS}


@pytest.mark.parametrize("kind", honest_releases.PAIRS)
def test_a_manifest_with_anything_replaced_is_refused_or_said(kind, releases, tmp_path_factory):
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=EXAMPLES < 100,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.lists(st.tuples(st.integers(0, 10**4), VALUES), min_size=1, max_size=2))
    @example([(0, REMOVED)])
    def mutated(edits):
        folder = tmp_path_factory.mktemp("case") / "release"
        shutil.copytree(releases[kind], folder)

        def change(manifest: dict[str, Any]) -> None:
            for number, value in edits:
                replace(manifest, number, value)

        resealed(folder, change)
        told = outcome(folder)
        shutil.rmtree(folder.parent)
        assert told in (REFUSED, SAID)

    mutated()


CELLS = {  # put where a text, a whole number or another number stood
    "text": [
        "",
        "x",
        "*",
        "[1, 2]",
        "[2, 1]",
        "[9, ]",
        "{a}",
        "{}",
        "{a, b",
        "[",
        "-",
        "NaN",
        "[nan, 3]",
        "[1e999, 2]",
        "null",
        '"a"',
        '"',
        "[a, b]",
        "{1, 2, 2}",
        "[1, 1]",
        "2020-13-01",
        "[2020-01-01, 2020-01-02]",
        None,
    ],
    "whole": [-1, 0, 1, 7, 2**31 - 1, None],
    "other": [None],
}


def spoil_table(folder: Path, draw: random.Random) -> None:
    """Another value in a cell or in a whole column of one of the tables, two cells swapped, a row twice or not at all."""
    path = draw.choice(sorted(folder.glob("*.parquet")))
    table = pl.read_parquet(path)
    column = draw.choice(table.columns)
    at = draw.randrange(len(table))
    values = table[column].to_list()
    dtype = table[column].dtype
    odd = draw.choice(CELLS["text" if dtype == pl.String else "whole" if dtype.is_integer() else "other"])
    how = draw.choice(["one", "all", "another", "swapped", "twice", "dropped"])
    if how == "one":
        values[at] = odd
    elif how == "all":
        values = [odd] * len(values)
    elif how == "another":
        values[at] = draw.choice(values)
    elif how == "swapped":
        other = draw.randrange(len(values))
        values[at], values[other] = values[other], values[at]
    table = table.with_columns(pl.Series(column, values, dtype=dtype))
    if how == "twice":
        table = pl.concat([table, table[at : at + 1]])
    elif how == "dropped":
        table = table.filter(pl.int_range(len(table)) != at)
    table.write_parquet(path)


@pytest.mark.parametrize("kind", honest_releases.PAIRS)
def test_a_table_with_cells_replaced_is_refused_or_said(kind, releases, tmp_path):
    """And never by the last net, which is for what nobody thought of."""
    told = {}
    for seed in range(EXAMPLES):
        draw = random.Random(seed)
        folder = shutil.copytree(releases[kind], tmp_path / str(seed) / "release")
        spoil_table(folder, draw)
        resealed(folder)
        told[seed] = outcome(folder)
        shutil.rmtree(folder.parent)
    assert {seed: word for seed, word in told.items() if word not in (REFUSED, SAID)} == {}


@pytest.mark.parametrize("kind", honest_releases.PAIRS)
def test_a_data_file_with_bytes_replaced_is_refused_or_said_within_2_gb_of_addresses(kind, releases, tmp_path):
    folders = []
    for seed in range(FLIPPED):
        draw = random.Random(seed)
        folder = shutil.copytree(releases[kind], tmp_path / str(seed) / "release")
        raw = bytearray(data_file(folder).read_bytes())
        for _ in range(draw.choice([1, 1, 2, 5, 50])):
            at = draw.randrange(len(raw)) if draw.random() < 0.5 else len(raw) - 1 - draw.randrange(min(600, len(raw)))
            raw[at] = draw.randrange(256)
        if draw.random() < 0.1:
            del raw[draw.randrange(len(raw)) :]
        data_file(folder).write_bytes(raw)
        resealed(folder)
        folders.append(folder)
    found = read_under_limit(folders, ["audit", "open"] if EXAMPLES > 100 else ["audit"])
    assert {key: told for key, told in found.items() if told not in (REFUSED, SAID, KEPT)} == {}
