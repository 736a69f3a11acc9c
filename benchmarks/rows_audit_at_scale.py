"""The audit of a large release against its source, in parts: what it costs against the floor, and its memory.

Census rows as in `rows_engines.py`: 5M, or as many as ENGINES_ROWS says; beyond about 20M the audit itself chooses parts.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

from benchmarks.measure import ROOT, Cost, measure
from benchmarks.row import Row
from benchmarks.rows_engines import MEMORY, PROMISES, QUASI, ROWS_ASKED, SENSITIVE, SETUP, least, source

PUBLISH = 'rt.publish(job, to=folder, seed=0, ledger=scratch / "ledger", engine="stream")'
AUDIT = """
found = rt.audit(folder, source=path, job=job)
value = {"passed": found.source.passed, "kept": found.kept}
"""


@cache
def audited() -> Cost:
    held = Path(tempfile.mkdtemp(prefix="audited-", dir=ROOT / ".cache"))
    atexit.register(shutil.rmtree, held, ignore_errors=True)
    given: dict[str, object] = {
        "path": str(source("plain")),
        "quasi": list(QUASI),
        "sensitive": SENSITIVE,
        "carried": [],
        "promise": PROMISES["mondrian"],
        "method": "mondrian",
        "folder": str(held / "release"),
    }
    measure(PUBLISH, setup=SETUP, given=given, runs=0)
    return measure(AUDIT, setup=SETUP, given=given, runs=0)


def against_floor() -> Row:
    reference, name = least("plain")
    cost = audited()
    note = f"wall {cost.wall:.1f} s, {ROWS_ASKED:,} rows, {cost.value}"
    return Row(ours=cost.cpu, reference=reference.cpu, against=f"floor ({name})", note=note)


def memory() -> Row:
    note = f"{ROWS_ASKED:,} rows"
    return Row(ours=audited().peak / 2**20, reference=MEMORY / 2**20, unit="MiB", against="4 GiB", note=note)


ROWS = [
    ("audit against its source, at scale: against the floor", against_floor),
    ("audit against its source, at scale: memory", memory),
]
