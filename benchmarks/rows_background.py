"""Background knowledge: priors against equation 2 row by row, (B,t) Mondrian against t-closeness, the audit, the 500k census."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from benchmarks.data import census_file
from benchmarks.measure import ROOT, measure
from benchmarks.row import Row

ADULT = ROOT.parent / "shared" / "data" / "adult.csv"
SIX = ("age", "gender", "education", "marital_status", "work_class", "occupation")  # 240,849 combinations in 500k rows
SETUP = """
import numpy as np, polars as pl
import reticent as rt
from reticent import datasets
from reticent.models.background_knowledge.bt_privacy import bind_adversaries
from reticent.models.promise import Promises
from reticent.randomness import Random
trees = datasets.hierarchies("adult" if adult else "sal")
if adult:
    frame = pl.read_csv(path, null_values=["?"]).filter(pl.col("split") == "train").drop_nulls()
    quasi, sensitive = ["age", "workclass", "education", "marital-status", "race", "sex"], "occupation"
else:
    frame, sensitive = pl.read_parquet(path), "salary_class"
columns = {name: rt.quasi(hierarchy=trees[name]) if name in trees else rt.quasi() for name in quasi}
columns |= {sensitive: rt.sensitive(hierarchy=trees.get(sensitive))}
promise = rt.BTPrivacy(bandwidth, 0.2, posterior="omega")
job = rt.Job(columns=columns, promises=[rt.KAnonymity(4), promise], release=rt.Output(undeclared="drop"),
             method=rt.Mondrian(cuts=cuts, labels="sets"))
cells = rt.count(job, frame=frame)
close = Promises.from_iterable([rt.KAnonymity(4), rt.TCloseness("0.2")])
"""
BOUND = "\nbound = Promises.from_iterable([rt.KAnonymity(4), promise]).bind(cells)\n"
PRIORS = "(_, known), = adversaries(promise, cells)\nvalue = len(known.prior)"
BY_ROW = """
codes = np.repeat(cells.codes, cells.counts, axis=0)
held = np.repeat(cells.values[:, 0], cells.counts)
(_, known), = adversaries(promise, cells)
tables = []
for axis, weights in enumerate(known.priors.weights):
    used = np.unique(cells.codes[:, axis])
    tables.append((weights, np.searchsorted(used, codes[:, axis])))
some = np.linspace(0, len(codes) - 1, 300).astype(int)
for row in some:
    weight = np.ones(len(codes))
    for weights, code in tables:
        weight *= weights[code[row], code]
    total = np.bincount(held, weights=weight, minlength=cells.sensitive[0].size)
    total / total.sum()
value = len(codes) / len(some)
"""
JUDGED = """
from unittest.mock import patch
with patch.object(Promises, "bind", lambda self, cells: bound):
    value = rt.Mondrian(cuts=cuts, labels="sets").plan(cells, Promises.from_iterable([rt.KAnonymity(4), promise]), Random.from_seed(1)).groups
"""
CLOSE = 'value = rt.Mondrian(cuts=cuts, labels="sets").plan(cells, close, Random.from_seed(1)).groups'
PLANNED = "value = rt.plan(job, cells=cells, seed=1).recipe.groups"
RECOUNTED = """
from reticent.audit.audit import audit_staged
from reticent.audit.subject import read_folder_subject
value = audit_staged(read_folder_subject(release.folder), beside).promises[1].achieved
"""
HANDED = """
from reticent.audit.audit import AuditContext
from reticent.engines import local
release = rt.publish(job, frame=frame, seed=1)
counted = local.count_rows(frame.lazy().select(list(columns)), columns)
beside = AuditContext(None, counted.combinations, counted.times)
"""
PUBLISHED = """
release = rt.publish(job, frame=frame, seed=1)
value = {"rows": release.manifest.rows}
"""
MACHINE = """
import numpy as np
words = [np.random.default_rng(i).integers(0, 50, 500_000) for i in range(8)]
"""


def given(cuts: str = "median", census: int = 0, bandwidth: str = "0.3") -> dict[str, object]:
    path = census_file(census, (*SIX, "salary_class")) if census else ADULT
    return {"adult": not census, "path": str(path), "quasi": list(SIX), "cuts": cuts, "bandwidth": bandwidth}


def absent(path: Path) -> Row:
    return Row(ours=0, reference=0, against="-", note=f"left out: {path.name} is not beside the project")


def priors() -> Row:
    """Adult, B = .3: all points by contraction, against 300 rows of 30,162 of equation 2 as it stands, scaled up."""
    if not ADULT.exists():
        return absent(ADULT)
    ours, theirs = (measure(body, setup=SETUP, given=given()) for body in (PRIORS, BY_ROW))
    return Row(
        ours=ours.cpu,
        reference=theirs.cpu * theirs.value,
        against="equation 2 row by row, NumPy",
        at_least=100,
        note=f"{ours.value:,} points",
    )


def mondrian(cuts: str, at_most: float) -> Callable[[], Row]:
    def row() -> Row:
        if not ADULT.exists():
            return absent(ADULT)
        ours, theirs = (measure(body, setup=SETUP + BOUND, given=given(cuts)) for body in (JUDGED, CLOSE))
        note = f"{ours.value:,} groups against {theirs.value:,}"
        return Row(ours=ours.cpu, reference=theirs.cpu, against="t-closeness", at_most=at_most, note=note)

    return row


def audit() -> Row:
    """What publish asks before it keeps a release, against planning it, priors included."""
    if not ADULT.exists():
        return absent(ADULT)
    theirs = measure(PLANNED, setup=SETUP, given=given("loss"))
    ours = measure(RECOUNTED, setup=SETUP + HANDED, given=given("loss"))
    return Row(
        ours=ours.cpu,
        reference=theirs.cpu,
        against="planning with its priors",
        at_most=3,
        note=f"t_exact over {ours.value['exact_share']:.0%} of the people",
    )


def machine() -> float:
    """How much slower this machine is than the one that CPU seconds in issues are for."""
    return measure("np.lexsort(words)", setup=MACHINE).cpu / 0.25


def census_priors(bandwidth: str, at_most: float | None) -> Callable[[], Row]:
    """At .3 age alone has neighbours within reach; at .4 work class and occupation (hierarchies of height 3) have, too."""

    def row() -> Row:
        ours = measure(PRIORS, setup=SETUP, given=given(census=500_000, bandwidth=bandwidth), runs=1)
        note = f"{ours.value:,} combinations, 50 values, peak {ours.peak / 2**20:.0f} MiB"
        return Row(ours=ours.cpu, reference=40 * machine(), against="40 CPU s, scaled", at_most=at_most, note=note)

    return row


def census_published() -> Row:
    ours = measure(PUBLISHED, setup=SETUP, given=given("loss", census=500_000), runs=1)
    note = f"published and audited to the end, peak {ours.peak / 2**20:.0f} MiB"
    return Row(ours=ours.cpu, reference=40 * machine(), against="40 CPU s, scaled by the machine", note=note)


ROWS = [
    ("background: priors of Adult", priors),
    ("background: (B,t) mondrian, median cuts", mondrian("median", 5)),
    ("background: (B,t) mondrian, loss cuts", mondrian("loss", 10)),
    ("background: audit of (B,t), Adult", audit),
    ("background: priors of the 500k census, B = .3", census_priors("0.3", 1)),
    ("background: priors of the 500k census, B = .4", census_priors("0.4", None)),
    ("background: the 500k census published", census_published),
]
