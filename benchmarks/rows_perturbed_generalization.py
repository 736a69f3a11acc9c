"""Paper 5: publishing a sampled release with its audit against the floor, its growth, the worst-case search, and mining it."""

from __future__ import annotations

from functools import cache
from math import log

from benchmarks.data import census_file
from benchmarks.floor import floor
from benchmarks.measure import Cost, measure
from benchmarks.row import Row
from reticent.datasets.census import SAL_COLUMNS

SETUP = """
import numpy as np, polars, pyarrow.parquet, randomgen
import reticent as rt
import reticent.publish, reticent.audit.sampled, reticent.methods.perturbed_generalization, reticent.recipe.sampled
columns = {name: rt.quasi() for name in names[:-1]} | {names[-1]: rt.sensitive(order=[str(i) for i in range(50)])}
promises = [rt.RhoGuarantee("0.2", "0.45", "0.1"), rt.DeltaGrowth("0.3", "0.1")]
job = rt.Job(source=path, columns=columns, promises=promises, method=rt.PerturbedGeneralization(k=6))
"""
PUBLISH = 'rt.publish(job, to=scratch / "release")'
ATTACK_SETUP = SETUP + "\nmade = rt.publish(job)\nimport reticent.attacks.corruption"
ATTACK = 'rt.attack(made, path, "corruption")'
MINING_SETUP = (
    SETUP
    + """
from reticent.utility.mining import ReconstructingTree
from sklearn.tree import DecisionTreeClassifier
made = rt.publish(job)
frame = made.frame()
tree = ReconstructingTree(made.manifest, {"low": range(15), "high": range(15, 50)})
people = polars.read_parquet(path).head(len(frame))
exact = np.column_stack([people[name].to_numpy() if people[name].dtype.is_numeric() else people[name].cast(polars.Categorical).to_physical().to_numpy() for name in names[:-1]])
known = people[names[-1]].to_numpy() >= 15
"""
)
MINING = "tree.fit(frame, frame[names[-1]])"
SKLEARN = "DecisionTreeClassifier().fit(exact, known)"


def given(rows: int) -> dict[str, object]:
    return {"path": str(census_file(rows, SAL_COLUMNS)), "names": list(SAL_COLUMNS)}


@cache
def published(rows: int, runs: int = 3) -> Cost:
    return measure(PUBLISH, setup=SETUP, given=given(rows), runs=runs)


def against_floor() -> Row:
    """700k rows, eight quasi-identifiers, 644,000 distinct combinations."""
    least = floor(census_file(700_000, SAL_COLUMNS), SAL_COLUMNS)
    cost = published(700_000)
    return Row(
        ours=cost.cpu,
        reference=least["cpu"],
        against=f"floor ({least['engine']})",
        at_most=5,
        note=f"wall {cost.wall:.1f} s",
    )


def growth(few: int = 100_000, many: int = 5_000_000) -> Row:
    ours = published(many, 0).cpu
    reference = published(few).cpu
    return Row(ours=ours, reference=reference, against=f"{few:,} rows", at_most=many * log(many) / (few * log(few)))


def search() -> Row:
    ours = measure(ATTACK, setup=ATTACK_SETUP, given=given(700_000), runs=1)
    return Row(ours=ours.cpu, reference=published(700_000).cpu, against="publishing the same", at_most=2)


def mining() -> Row:
    ours, theirs = (measure(body, setup=MINING_SETUP, given=given(700_000)) for body in (MINING, SKLEARN))
    return Row(
        ours=ours.cpu, reference=theirs.cpu, against="scikit-learn's default tree on as many exact rows", at_most=3
    )


ROWS = [
    ("perturbed-generalization 700k: eight columns, k 6", against_floor),
    ("perturbed-generalization: worst-case search, 700k", search),
    ("perturbed-generalization: a tree from the release", mining),
    ("perturbed-generalization growth: 100k to 5M rows", growth),
]
