"""Distribution-based anonymization: algorithm 1 against a sort, algorithm 2 by its size, publishing and asking against the floor."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.data import census_file
from benchmarks.floor import floor
from benchmarks.measure import measure
from benchmarks.row import Row

QUASI = ("age", "gender", "education")
SENSITIVE = "salary_class"

SETUP = """
import numpy as np
from reticent.methods.distribution.generalization import GroupValues
from reticent.methods.distribution.generalization import add_fakes
from reticent.methods.distribution.generalization import generalize_groups
from reticent.methods.distribution.value_domain import build_balanced_tree
rng = np.random.default_rng(1)
tree = build_balanced_tree(domain, 2, np.arange(domain, dtype=float))
weights = tree.reduce_masses(tree.last - tree.first + 1)
values = rng.integers(0, domain, rows)
"""
ALGORITHM_1 = """
counts = np.bincount(values, minlength=domain)
at = np.flatnonzero(counts)
generalized(Held(np.array([0, len(at)]), at, counts[at]), tree, weights)
"""
ALGORITHM_2 = "faked(np.bincount(values, minlength=domain), tree, weights, fakes)"
MACHINE = """
import numpy as np
keys = np.random.default_rng(1).integers(0, 50, (8, 500_000))
"""
JOB = """
import reticent as rt
job = rt.Job(
    source=path,
    columns={**{name: rt.quasi() for name in quasi}, sensitive: rt.sensitive(type="numeric")},
    promises=[rt.PPrivacy("source")],
    method=rt.Distribution(within=within),
    release=rt.Output(undeclared="drop"),
)
"""
PUBLISH = 'rt.publish(job, to=scratch / "release")'
OPEN = """
import atexit, shutil, tempfile
kept = tempfile.mkdtemp()
atexit.register(shutil.rmtree, kept, ignore_errors=True)
rt.publish(job, to=kept + "/release", ledger=kept + "/ledger")
"""
ASK = 'rt.open(kept + "/release").query(f"SELECT AVG({sensitive}) FROM release WHERE age BETWEEN 30 AND 50 AND gender = \'female\'")'


def algorithm_1() -> Row:
    given = {"domain": 10_000, "rows": 1_000_000}
    ours = measure(ALGORITHM_1, setup=SETUP, given=given)
    sort = measure("np.sort(values)", setup=SETUP, given=given)
    return Row(ours=ours.cpu, reference=sort.cpu, against="np.sort of the values", at_most=3)


def algorithm_2() -> Row:
    """15 CPU seconds on a machine whose lexsort of 8 x 500k takes 0.25 s."""
    ours = measure(ALGORITHM_2, setup=SETUP, given={"domain": 1024, "rows": 5000, "fakes": 100}, runs=1)
    sort = measure("np.lexsort(keys)", setup=MACHINE)
    note = f"peak {ours.peak / 2**20:.0f} MiB"
    return Row(ours=ours.cpu, reference=60 * sort.cpu, against="15 s, scaled by lexsort", at_most=1, note=note)


def linear() -> Row:
    """Four times the values: figure 13 and theorem 2 say at most four times the work."""
    few, many = (
        measure(ALGORITHM_2, setup=SETUP, given={"domain": 256, "rows": rows, "fakes": 100}, runs=1)
        for rows in (20_000, 80_000)
    )
    return Row(ours=many.cpu, reference=few.cpu, against="20,000 values, 80,000 here", at_most=4.5)


def publish(within: str, rows: int, at_most: float) -> Callable[[], Row]:
    def row() -> Row:
        path = census_file(rows)
        least = floor(path, (*QUASI, SENSITIVE))
        given = {"path": str(path), "quasi": QUASI, "sensitive": SENSITIVE, "within": within}
        cost = measure(PUBLISH, setup=JOB, given=given, runs=2)
        note = f"published and audited; peak {cost.peak / 2**20:.0f} MiB, wall {cost.wall:.2f} s"
        return Row(
            ours=cost.cpu, reference=least["cpu"], against=f"floor ({least['engine']})", at_most=at_most, note=note
        )

    return row


def ask(rows: int) -> Row:
    path = census_file(rows)
    least = floor(path, (*QUASI, SENSITIVE))
    given = {"path": str(path), "quasi": QUASI, "sensitive": SENSITIVE, "within": "sa-only"}
    cost = measure(ASK, setup=JOB + OPEN, given=given)
    return Row(
        ours=cost.cpu,
        reference=least["cpu"],
        against=f"floor ({least['engine']})",
        at_most=0.5,
        note="opened and verified too",
    )


ROWS = [
    ("distribution: algorithm 1, 1M values, domain 10^4", algorithm_1),
    ("distribution: algorithm 2, |g| 5,000, |D| 1,024, t 100", algorithm_2),
    ("distribution: algorithm 2 by |g|", linear),
    ("distribution 5M: publish, sa-only", publish("sa-only", 5_000_000, 4)),
    ("distribution 5M: publish, qi-sa", publish("qi-sa", 5_000_000, 6)),
    ("distribution 5M: one query", lambda: ask(5_000_000)),
]
