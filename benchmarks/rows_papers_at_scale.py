"""Papers 3 to 5 through `stream`: what publishing and auditing cost against the floor, and their memory.

Census rows as in `rows_engines.py`: 5M, or as many as ENGINES_ROWS says.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from benchmarks.measure import Cost, measure
from benchmarks.row import Row
from benchmarks.rows_engines import BODY, MEMORY, QUASI, ROWS_ASKED, SENSITIVE, least, source

PAPERS = {
    "(B,t)-privacy": ("[rt.KAnonymity(10), rt.BTPrivacy(0.3, 0.6)]", "rt.Mondrian()"),
    "P-private groups": ('[rt.PPrivacy("source")]', 'rt.Distribution(group_by=["gender", "education"])'),
    "perturbed generalization": (
        '[rt.RhoGuarantee("0.2", "0.5", "0.1")]',
        "rt.PerturbedGeneralization(k=6, domain=range(50))",
    ),
}
SETUP = """
import polars, pyarrow.parquet, pyarrow.ipc, randomgen
import reticent as rt
import reticent.publish, reticent.audit.audit, reticent.engines.stream
columns = {name: rt.quasi() for name in quasi} | {sensitive: rt.sensitive(type="numeric")}
job = rt.Job(source=path, columns=columns, promises=eval(promises), method=eval(method), release=rt.Output(undeclared="drop"))
"""


@cache
def published(paper: str) -> Cost:
    promises, method = PAPERS[paper]
    given: dict[str, object] = {
        "path": str(source("plain")),
        "quasi": list(QUASI),
        "sensitive": SENSITIVE,
        "promises": promises,
        "method": method,
        "engine": "stream",
    }
    return measure(BODY, setup=SETUP, given=given, runs=0)


def against_floor(paper: str) -> Callable[[], Row]:
    def row() -> Row:
        reference, name = least("plain")
        cost = published(paper)
        note = f"wall {cost.wall:.1f} s, {ROWS_ASKED:,} rows"
        return Row(ours=cost.cpu, reference=reference.cpu, against=f"floor ({name})", note=note)

    return row


def memory(paper: str) -> Callable[[], Row]:
    def row() -> Row:
        peak = published(paper).peak
        note = f"{ROWS_ASKED:,} rows"
        return Row(ours=peak / 2**20, reference=MEMORY / 2**20, unit="MiB", against="4 GiB", note=note)

    return row


ROWS = [
    row
    for paper in PAPERS
    for row in (
        (f"stream against the floor: {paper}", against_floor(paper)),
        (f"stream's memory: {paper}", memory(paper)),
    )
]
