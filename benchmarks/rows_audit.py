"""Auditing: all measures of a release against the floor and against pyCANON, and the audit against the source."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from benchmarks.data import census_file
from benchmarks.floor import floor
from benchmarks.measure import ROOT, Cost, measure
from benchmarks.row import Row

LARGE = ("age", "education", "work_class")  # 13,000 combinations: 500k rows fall in about 7,000 groups at k = 8
SMALL = ("age", "gender", "education", "work_class")  # 30k rows in about 3,000 groups at k = 5
AUDIT = "found = rt.audit(folder, **how)\nvalue = {'groups': found.groups, 'kept': found.kept}"
PYCANON = """
measures = [anonymity.k_anonymity(data, quasi)]
measures += [measure(data, quasi, sensitive) for measure in (
    anonymity.alpha_k_anonymity, anonymity.l_diversity, anonymity.entropy_l_diversity, anonymity.recursive_c_l_diversity,
    anonymity.basic_beta_likeness, anonymity.enhanced_beta_likeness, anonymity.t_closeness, anonymity.delta_disclosure)]
"""
PYCANON_SETUP = """
import polars as pl
from pycanon import anonymity
data = pl.read_parquet(folder + "/data.parquet").to_pandas()
"""


@cache
def released(rows: int, quasi: tuple[str, ...], k: int) -> str:
    """A release folder that lives as long as this run."""
    import reticent as rt

    (ROOT / ".cache").mkdir(exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="audited-", dir=ROOT / ".cache"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    columns = {name: rt.quasi() for name in quasi} | {"salary_class": rt.sensitive()}
    job = rt.Job(
        source=str(census_file(rows)),
        columns=columns,
        promises=[rt.KAnonymity(k)],
        method=rt.Mondrian(cuts="median"),
        release=rt.Output(undeclared="drop"),
    )
    rt.publish(job, to=folder / "release", seed=0, ledger=folder / "ledger")
    return str(folder / "release")


@cache
def audited(rows: int, quasi: tuple[str, ...], k: int, source: bool = False) -> Cost:
    how = {"source": str(census_file(rows))} if source else {}
    return measure(
        AUDIT, setup="import reticent as rt\nrt.audit", given={"folder": released(rows, quasi, k), "how": how}
    )


def against_floor(
    rows: int, at_most: float | None, quasi: Sequence[str] = LARGE, k: int = 8, source: bool = False
) -> Callable[[], Row]:
    def row() -> Row:
        least = floor(census_file(rows), (*quasi, "salary_class"))
        cost = audited(rows, tuple(quasi), k, source)
        note = f"{cost.value['groups']:,} groups, peak {cost.peak / 2**20:.0f} MiB, wall {cost.wall:.2f} s"
        return Row(
            ours=cost.cpu, reference=least["cpu"], against=f"floor ({least['engine']})", at_most=at_most, note=note
        )

    return row


def against_pycanon() -> Row:
    """Its nine measures once, after a warming run; ours are these and more."""
    ours = audited(30_000, SMALL, 5)
    given = {"folder": released(30_000, SMALL, 5), "quasi": list(SMALL), "sensitive": ["salary_class"]}
    theirs = measure(PYCANON, setup=PYCANON_SETUP, given=given, runs=1)
    return Row(
        ours=ours.cpu,
        reference=theirs.cpu,
        against="pyCANON, nine measures",
        at_least=100,
        note=f"{ours.value['groups']:,} groups",
    )


ROWS = [
    ("audit 500k: all measures", against_floor(500_000, 1.0)),
    ("audit 5M: all measures", against_floor(5_000_000, None)),
    ("audit 500k: against its source too", against_floor(500_000, 4.0, source=True)),
    ("audit 30k: all measures", against_pycanon),
]
