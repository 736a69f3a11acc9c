"""Asking 500k-row releases: 10,000 workload queries, and one question in SQL, of each kind, against the read-group-write floor."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.data import census_file
from benchmarks.floor import floor
from benchmarks.measure import measure
from benchmarks.row import Row

QUASI = ("age", "gender", "education")
SENSITIVE = "salary_class"
ROWS_ASKED = 500_000
KINDS = {
    "generalized": ("[rt.KAnonymity(10)]", "rt.Mondrian()"),
    "anatomized": ("[rt.ProbabilisticLDiversity(4)]", "rt.Anatomy()"),
    "transformed": ('[rt.PPrivacy("source")]', "rt.Distribution()"),
    "perturbed": ("[rt.BetaLikeness(4)]", "rt.BetaPerturbation()"),
    "sampled": ('[rt.DeltaGrowth("0.9", "0.6")]', 'rt.PerturbedGeneralization(k=6, p="0.3")'),
}
MADE = """
import numpy as np, polars as pl, reticent as rt
from fractions import Fraction
from reticent.engines import local
from reticent.utility.workload import Sampled, Workload
columns = {**{name: rt.quasi() for name in quasi}, sensitive: rt.sensitive(type="numeric")}
frame = pl.read_csv(path) if str(path).endswith("csv") else pl.read_parquet(path)
frame = frame.select(*quasi, sensitive)
release = rt.publish(rt.Job(columns=columns, promises=eval(promises), method=eval(method)), frame=frame, seed=1)
release.tables
"""
WORKLOAD = """
cells = local.count(frame.lazy(), columns).cells
asked = Workload.draw(cells, predicates=2, selectivity=0.1, queries=10_000, rng=np.random.default_rng(1))
if kind == "sampled":
    given = Sampled.of(release.tables["data"], release.manifest)
elif kind == "perturbed":
    own = release.manifest.own
    matrix = np.array([[float(Fraction(str(p))) for p in row] for row in own["matrix"]])
    occurring = np.array([cells.sensitive[0].texts.index(text) for text in own["values"]])
    given = local.count(release.tables["data"].lazy(), columns).cells
else:
    given = release.sight(cells)
"""
ANSWER = """
if kind == "sampled":
    asked.sampled(given, cells)
elif kind == "perturbed":
    asked.perturbed(given, matrix, occurring)
elif kind == "generalized":
    asked.generalized(given)
else:
    asked.matched(given)
"""
ASK = 'release.query(f"SELECT COUNT(*) FROM release WHERE age BETWEEN 30 AND 50 AND {sensitive} < 20")'


def row(kind: str, setup: str, code: str, at_most: float) -> Callable[[], Row]:
    def measured() -> Row:
        path = census_file(ROWS_ASKED)
        least = floor(path, (*QUASI, SENSITIVE))
        promises, method = KINDS[kind]
        given = {
            "path": str(path),
            "quasi": QUASI,
            "sensitive": SENSITIVE,
            "kind": kind,
            "promises": promises,
            "method": method,
        }
        cost = measure(code, setup=setup, given=given, runs=1)
        return Row(ours=cost.cpu, reference=least["cpu"], against=f"floor ({least['engine']})", at_most=at_most)

    return measured


ROWS = [
    *((f"queries 500k {kind}: 10,000 of a workload", row(kind, MADE + WORKLOAD, ANSWER, 20)) for kind in KINDS),
    *((f"queries 500k {kind}: one in SQL", row(kind, MADE, ASK, 1)) for kind in KINDS),
]
