"""Reports of a release: the public one's cost against publishing, and how large both editions are."""

from __future__ import annotations

from functools import cache, partial

from benchmarks.data import census_file
from benchmarks.measure import Cost, measure
from benchmarks.row import Row

SIZE = 500_000
SETUP = """
import tempfile
from pathlib import Path
import reticent as rt
quasi = ("age", "gender", "education", "marital_status", "work_class")
job = rt.Job(source=source, columns={name: rt.quasi() for name in quasi} | {"salary_class": rt.sensitive()},
             promises=[rt.KAnonymity(10), rt.BetaLikeness(4)], release=rt.Output(undeclared="drop"))
"""
RELEASED = """
place = Path(tempfile.mkdtemp())
rt.publish(job, to=place / "release", seed=0, ledger=place / "ledger")
"""
PUBLISH = 'rt.publish(job, to=scratch / "release", ledger=scratch / "ledger")'
REPORT = 'value = len(rt.report(place / "release").html().encode())'
INTERNAL = 'value = len(rt.report(place / "release", source=source).html().encode())'


@cache
def cost(body: str, setup: str, runs: int = 3) -> Cost:
    return measure(body, setup=setup, runs=runs, given={"source": str(census_file(SIZE))})


def public() -> Row:
    made = cost(REPORT, SETUP + RELEASED)
    published = cost(PUBLISH, SETUP)
    note = f"{made.value:,} bytes"
    return Row(ours=made.cpu, reference=published.cpu, against="publishing it", at_most=3, note=note)


def size(body: str, most: int) -> Row:
    made = cost(body, SETUP + RELEASED, runs=0)
    return Row(ours=made.value / 1_000, reference=most, against="the most that is asked", unit="kB", at_most=1)


ROWS = [
    ("public report of a release, 500k census", public),
    ("public report of a release, 500k census: size", partial(size, REPORT, 150)),
    ("internal report of a release, 500k census: size", partial(size, INTERNAL, 600)),
]
