"""Asking 500k-row releases: 10,000 workload queries, and questions in SQL, of each kind, against the read-group-write floor.

A question is measured after one like it was asked: what the release's columns are numbered by is known then.
"""

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
    "sampled": ('[rt.DeltaGrowth("0.9", "0.6")]', 'rt.PerturbedGeneralization(k=6, p="0.3", domain=range(50))'),
}
MADE = """
import numpy as np, polars as pl, reticent as rt
from fractions import Fraction
from reticent.engines import local
from reticent.utility.workload import SampledRows
from reticent.utility.workload import Workload
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
    given = SampledRows.from_frame(release.tables["data"], release.manifest)
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
ASK = "release.query(question)"
QUESTIONS = {
    "one in SQL": f"SELECT COUNT(*) FROM release WHERE age BETWEEN 30 AND 50 AND {SENSITIVE} < 20",
    "AVG of the sensitive column": f"SELECT AVG({SENSITIVE}) FROM release WHERE age BETWEEN 30 AND 50",
    "SUM of the sensitive column": f"SELECT SUM({SENSITIVE}) FROM release WHERE age BETWEEN 30 AND 50 AND gender = 'female'",
    "AVG of another column": f"SELECT AVG(age) FROM release WHERE {SENSITIVE} < 20",
    "MIN of the sensitive column": f"SELECT MIN({SENSITIVE}) FROM release WHERE age BETWEEN 30 AND 50",
    "MAX of another column": f"SELECT MAX(age) FROM release WHERE {SENSITIVE} < 20",
    "GROUP BY gender": f"SELECT gender, COUNT(*) FROM release WHERE {SENSITIVE} < 20 GROUP BY gender",
}
SEVENTEEN = f"SELECT education, COUNT(*) FROM release WHERE {SENSITIVE} < 20 GROUP BY education"
REDRAWN = ("perturbed", "sampled")
"""Where MIN and MAX are refused."""


def row(kind: str, setup: str, code: str, at_most: float | None, question: str = "") -> Callable[[], Row]:
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
            "question": question,
        }
        cost = measure(code, setup=setup, given=given, runs=1)
        return Row(ours=cost.cpu, reference=least["cpu"], against=f"floor ({least['engine']})", at_most=at_most)

    return measured


ROWS = [
    *((f"queries 500k {kind}: 10,000 of a workload", row(kind, MADE + WORKLOAD, ANSWER, 20)) for kind in KINDS),
    *(
        (f"queries 500k {kind}: {name}", row(kind, MADE, ASK, 1, question))
        for kind in KINDS
        for name, question in QUESTIONS.items()
        if kind not in REDRAWN or not name.startswith(("MIN", "MAX"))
    ),
    *((f"queries 500k {kind}: GROUP BY of 17 values", row(kind, MADE, ASK, 1, SEVENTEEN)) for kind in KINDS),
]
