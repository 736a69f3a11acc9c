"""Executors in processes of their own: the package is shipped to them, and one that is killed loses and duplicates nothing."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

import reticent as rt
from tests.engines.executor_loss import jobs
from tests.support.region_plans import in_one_place, labelled
from tests.support.spark_session import lacking

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        os.environ.get("SPARK") != "all", reason="three Javas take more than a CPU minute: `make test-cluster`"
    ),
    pytest.mark.skipif(not Path("/proc").exists(), reason="executors are found by /proc"),
]
JOB, IN_REGIONS = jobs("people", "census")


def people() -> pl.DataFrame:
    draw = random.Random(1)
    rows = [(draw.randint(0, 5), draw.choice("aabbcd"), f"n{at}") for at in range(400)]
    return pl.DataFrame(rows, schema=["q", "s", "note"], orient="row")


def census() -> pl.DataFrame:
    return rt.datasets.load("census", rows=1_200, seed=2).with_row_index("note")


def in_files(table: pl.DataFrame, folder: Path) -> Path:
    """The table as a folder of four files."""
    folder.mkdir()
    for at in range(4):
        table[at * len(table) // 4 : (at + 1) * len(table) // 4].write_parquet(folder / f"{at}.parquet")
    return folder


@pytest.fixture(scope="module")
def published(tmp_path_factory) -> Path:
    """The releases of both publications; each lost an executor on the way."""
    if lacking():
        pytest.skip(lacking())
    folder = tmp_path_factory.mktemp("cluster")
    for name in ("out", "here"):
        (folder / name).mkdir()
    files = in_files(people(), folder / "people"), in_files(census(), folder / "census")
    given = [Path(rt.__file__).parents[1], *files, folder / "out"]
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    words = [sys.executable, Path(__file__).with_name("executor_loss.py"), *given]
    ran = subprocess.run(
        [*map(str, words)], capture_output=True, text=True, check=False, env=clean, cwd=folder / "here"
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert len(set(json.loads(ran.stdout)["killed"])) == 2
    return folder


def test_a_killed_executor_loses_and_duplicates_nothing(published):
    table = people()
    one = rt.publish(JOB, frame=table, seed=5).frame()
    other = rt.open(published / "out" / "whole").frame()
    assert Counter(one.select("q", "s").rows()) == Counter(other.select("q", "s").rows())
    assert Counter(other.select("s", "note").rows()) == Counter(table.select("s", "note").rows())


def test_regions_are_the_plan_of_one_place_when_an_executor_is_killed(published):
    table = census()
    release = rt.open(published / "out" / "regions")
    assert labelled(release) == in_one_place(IN_REGIONS, table, 4, 5)
    shown = ["note", "salary_class"]
    assert Counter(release.frame().select(shown).rows()) == Counter(table.select(shown).rows())
    found = rt.audit(release, source=table, job=IN_REGIONS)
    assert found.kept and found.source.passed


def test_nothing_is_left_where_it_was_started_nor_beside_the_releases(published):
    assert not list((published / "here").iterdir())
    assert {path.name for path in (published / "out").iterdir()} <= {"whole", "regions", "ledger", "reticent-owner"}
