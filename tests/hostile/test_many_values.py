"""As many different sensitive values as rows: published or refused, never for ever (`many_values`; all of it by `make hostile`)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hostile.many_values import cases, outcome

ALL = os.environ.get("HOSTILE") == "all"
SAMPLE = ("mondrian t-closeness, names", "mondrian proximity-beta-likeness, numbers", "mosaic t-closeness, numbers",
          "mosaic proximity-beta-likeness, numbers", "burel beta-likeness, names", "sabre t-closeness, a tree",
          "distribution p-privacy, numbers")  # fmt: skip


@pytest.mark.parametrize("name", SAMPLE)
def test_two_thousand_values_of_as_many_rows_are_published_or_refused(name):
    case = next(case for case in cases() if str(case) == name)
    assert outcome(case, 2_000).startswith(("published, 2,000 rows", "refused: ColumnError"))


@pytest.mark.skipif(not ALL, reason="takes minutes: make hostile")
def test_twenty_thousand_values_take_every_method_and_promise_as_long_as_is_stated_at_most():
    root = Path(__file__).parents[2]
    environment = {
        **os.environ,
        "POLARS_MAX_THREADS": "1",
        "PYTHONPATH": os.pathsep.join([str(root / "src"), str(root)]),
    }
    command = [sys.executable, "-m", "tests.hostile.many_values"]
    ran = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, "\n".join(line for line in ran.stdout.splitlines() if line.startswith("!"))
