"""Publishing, file to release folder with its audit, against the floor; its growth, its memory, and the CLI's start."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from functools import cache

from benchmarks.data import census_file
from benchmarks.floor import floor
from benchmarks.measure import Cost, measure
from benchmarks.row import Row
from benchmarks.rows_floor import PUBLISHED, QUASI, SIZES

# What is imported here is not counted as memory of the task: the engines of the floor are imported beforehand as well.
SETUP = """
import polars, pyarrow.parquet, randomgen
import reticent as rt
import reticent.publish, reticent.audit.audit, reticent.methods.mondrian, reticent.recipe.generalized
columns = {name: rt.quasi() for name in quasi} | {"salary_class": rt.sensitive()} | {name: rt.insensitive() for name in carried}
promises = [rt.KAnonymity(10)] if model == "k" else [rt.BetaLikeness(4)]
job = rt.Job(source=path, columns=columns, promises=promises, method=rt.Mondrian(cuts=cuts), release=rt.Output(undeclared="drop"))
"""
BODY = 'rt.publish(job, to=scratch / "release")'


@cache
def published(rows: int, carried: tuple[str, ...] = (), cuts: str = "median", model: str = "k") -> Cost:
    given = {
        "path": str(census_file(rows)),
        "quasi": list(QUASI),
        "carried": list(carried),
        "cuts": cuts,
        "model": model,
    }
    return measure(BODY, setup=SETUP, given=given)


def against_floor(rows: int, at_most: float | None, carried: tuple[str, ...] = (), **how: str) -> Callable[[], Row]:
    def row() -> Row:
        least = floor(census_file(rows), (*QUASI, *carried, "salary_class") if carried else PUBLISHED)
        cost = published(rows, carried, **how)
        return Row(
            ours=cost.cpu,
            reference=least["cpu"],
            against=f"floor ({least['engine']})",
            at_most=at_most,
            note=f"wall {cost.wall:.2f} s",
        )

    return row


def growth() -> Row:
    """Ten times the rows may take ten times as long."""
    return Row(ours=published(5_000_000, ()).cpu, reference=published(500_000, ()).cpu, against="500k rows", at_most=10)


def memory(rows: int) -> Callable[[], Row]:
    def row() -> Row:
        least = floor(census_file(rows), PUBLISHED)
        return Row(
            ours=published(rows, ()).peak / 2**20,
            reference=least["peak"] / 2**20,
            unit="MiB",
            against=f"the floor's peak above import ({least['engine']})",
            at_most=2,
        )

    return row


def start(program: str, cpu_seconds: float) -> Callable[[], Row]:
    """CPU seconds of a process that runs a program, from the bare interpreter to its end.

    Its byte code is on the disk, as pip leaves it: the first of the runs, of which the best counts, writes it.
    """

    def row() -> Row:
        with tempfile.TemporaryDirectory() as byte_code:
            settings = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": byte_code}
            body = "subprocess.run([sys.executable, '-c', program], check=True, stdout=subprocess.DEVNULL, env=os.environ | settings)"
            cost = measure(
                body, setup="import os, subprocess, sys", given={"program": program, "settings": settings}, runs=5
            )
        version = f"Python {sys.version_info.major}.{sys.version_info.minor}"
        return Row(
            ours=cost.cpu,
            reference=cpu_seconds,
            against=f"the {cpu_seconds} CPU s it may cost",
            at_most=1,
            note=version,
        )

    return row


def run_command(option: str) -> str:
    return f"import sys; sys.argv = ['reticent', {option!r}]\nfrom reticent.cli.main import main\nmain()"


BARS = {"500k": 2.5, "5M": 2.0}

ROWS = [
    *((f"publish {size}: k 10, median cuts", against_floor(rows, BARS.get(size))) for size, rows in SIZES.items()),
    ("publish 500k: k 10, loss cuts", against_floor(500_000, None, cuts="loss")),
    ("publish 500k: enhanced beta 4, median cuts", against_floor(500_000, None, model="beta")),
    ("publish 500k: a carried column", against_floor(500_000, 3.5, ("work_class",))),
    ("publish growth: 500k to 5M rows", growth),
    ("publish memory: 5M rows", memory(5_000_000)),
    ("cli start: reticent --version", start(run_command("--version"), 0.15)),
    ("cli start: reticent --help", start(run_command("--help"), 0.25)),
    ("import reticent", start("import reticent", 0.03)),
]
