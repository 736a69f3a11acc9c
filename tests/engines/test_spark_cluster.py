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
from tests.engines.clusters import lacking, one_worker


@pytest.mark.slow
@one_worker
@pytest.mark.skipif(os.environ.get("SPARK") != "all", reason="three Javas take about 70 CPU s: `make test-cluster`")
@pytest.mark.skipif(not Path("/proc").exists(), reason="executors are found by /proc")
def test_a_killed_executor_loses_and_duplicates_nothing(tmp_path):
    if lacking():
        pytest.skip(lacking())
    draw = random.Random(1)
    table = pl.DataFrame(
        [(draw.randint(0, 5), draw.choice("aabbcd"), f"n{at}") for at in range(400)],
        schema=["q", "s", "note"],
        orient="row",
    )
    (tmp_path / "in").mkdir()
    for part in range(4):
        table[part * 100 : part * 100 + 100].write_parquet(tmp_path / "in" / f"{part}.parquet")
    given = [
        Path(__file__).with_name("cluster_killed.py"),
        Path(rt.__file__).parents[1],
        tmp_path / "in",
        tmp_path / "out",
    ]
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    ran = subprocess.run([sys.executable, *map(str, given)], capture_output=True, text=True, check=False, env=clean)
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert len(json.loads(ran.stdout)["killed"]) == 1
    columns = {"q": rt.quasi(), "s": rt.sensitive(), "note": rt.insensitive(acknowledge=True)}
    job = rt.Job(columns=columns, promises=[rt.BetaLikeness(2)], method="burel")
    one, other = rt.publish(job, frame=table, seed=5).frame(), rt.open(tmp_path / "out").frame()
    assert Counter(one.select("q", "s").rows()) == Counter(other.select("q", "s").rows())
    assert Counter(other.select("s", "note").rows()) == Counter(table.select("s", "note").rows())
