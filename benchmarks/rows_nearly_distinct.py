"""Nearly distinct rows through `stream`: what publishing and auditing cost as rows, which are cells, become four times as many.

300,000 rows with eight quasi-identifiers, or as many as DISTINCT_ROWS says, and four times as many.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache

from benchmarks.measure import Cost, measure
from benchmarks.row import Row
from benchmarks.rows_regions import QUASI, SENSITIVE, files

FEW = int(os.environ.get("DISTINCT_ROWS", "300000"))
MANY = 4 * FEW
METHODS = {
    "mondrian, k 10": ("rt.KAnonymity(10)", "rt.Mondrian()"),
    "burel, beta 4": ("rt.BetaLikeness(4)", "rt.Burel()"),
    "anatomy, l 4": ("rt.ProbabilisticLDiversity(4)", "rt.Anatomy()"),
    "beta-perturbation, beta 4": ("rt.BetaLikeness(4)", "rt.BetaPerturbation()"),
}
SETUP = """
import polars, pyarrow.parquet, pyarrow.ipc, randomgen
import reticent as rt
import reticent.publish, reticent.audit.audit, reticent.engines.stream
columns = {name: rt.quasi() for name in quasi} | {sensitive: rt.sensitive()}
job = rt.Job(source=path, columns=columns, promises=[eval(promise)], method=eval(method))
"""
BODY = """
release = rt.publish(job, to=scratch / "out", engine="stream")
assert release.audited.kept is not False
"""


@cache
def published(method: str, rows: int) -> Cost:
    promise, made = METHODS[method]
    given: dict[str, object] = {
        "path": str(files(rows)),
        "quasi": list(QUASI),
        "sensitive": SENSITIVE,
        "promise": promise,
        "method": made,
    }
    return measure(BODY, setup=SETUP, given=given, runs=0)


def growth(method: str) -> Callable[[], Row]:
    def row() -> Row:
        few = published(method, FEW)
        many = published(method, MANY)
        a_cell = (many.peak - few.peak) / (MANY - FEW)
        memory = (
            f"{few.peak / 2**20:,.0f} and {many.peak / 2**20:,.0f} MiB above import, {a_cell:,.0f} bytes for a row more"
        )
        return Row(ours=many.cpu, reference=few.cpu, against=f"{FEW:,} rows", note=f"{MANY:,} rows; {memory}")

    return row


ROWS = [(f"nearly distinct rows by stream, four times as many: {method}", growth(method)) for method in METHODS]
