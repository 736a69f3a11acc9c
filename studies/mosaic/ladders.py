"""Does a weaker promise ever lose more?  BENCH_WORK=... python -m studies.mosaic.ladders [EFFORT [LADDER ...]]

Promises of adult30k from the weakest to the strictest, each planned by mosaic at one effort with seeds 1 and 2: the losses in order, and
by how much a weaker promise lost more than a stricter one, where it did.  BENCH_WORK is where `../shared/bench/prepare.py` put the work.
"""

from __future__ import annotations

import sys
from itertools import combinations

import reticent as rt
from studies.beta_likeness.tables import cells, most_quasi
from studies.jobs import job_for

TABLE = "adult30k"
SEEDS = (1, 2)
SIZES = (2, 5, 10, 20, 50, 100)
LADDERS = {
    "k": [[rt.KAnonymity(k)] for k in (2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100)],
    "l": [[rt.DistinctLDiversity(few)] for few in (2, 3, 4, 5, 6, 8)],
    "l, k 5": [[rt.DistinctLDiversity(few), rt.KAnonymity(5)] for few in (2, 3, 4, 5, 6, 8)],
    "probabilistic l": [[rt.ProbabilisticLDiversity(few)] for few in (2, 3, 4, 5, 6)],
    "beta": [[rt.BetaLikeness(b)] for b in ("5", "4.5", "4", "3.5", "3", "2.5", "2", "1.5", "1", "0.8")],
    **{f"beta {beta}, k": [[rt.BetaLikeness(beta), rt.KAnonymity(k)] for k in SIZES] for beta in (1, 2, 4)},
    "t": [[rt.TCloseness(t)] for t in ("0.6", "0.5", "0.45", "0.4", "0.35", "0.3", "0.25", "0.2", "0.15", "0.1")],
    "t 0.3, k": [[rt.TCloseness("0.3"), rt.KAnonymity(k)] for k in (2, 5, 10, 20, 50)],
}


def main(effort: str = "quick", *names: str) -> None:
    table = cells(TABLE, None, most_quasi(TABLE))
    for name in names or LADDERS:
        for seed in SEEDS:
            jobs = [job_for(table, promises, rt.Mosaic(effort=effort, threads=1)) for promises in LADDERS[name]]
            found = [rt.plan(job, cells=table, seed=seed).loss for job in jobs]
            more = [weaker / stricter - 1 for weaker, stricter in combinations(found, 2) if weaker > stricter]
            said = f"{len(more)} pairs, by {max(more):.2%} at most" if more else "never"
            print(
                f"{name}, {effort}, seed {seed}: {' '.join(f'{loss:.4f}' for loss in found)}; more: {said}", flush=True
            )


if __name__ == "__main__":
    main(*sys.argv[1:])
