"""Cuts by loss, at the median, and by what a reference table tells most of: errors of trees and of questions, on real tables.

Every release promises that a belief of .2 becomes one of .35 at most (lambda .2) with k = 10, one row in k of each group.  Of each
table a third of the rows is published, a third is the reference, and a third is held out; at most 20,000 rows each.

    tree       held-out error of a tree from the release, into the values below and above the median, or, where values have no order,
               the most frequent ones with half of the rows and the rest; `guess` always takes the more frequent of the two
    query      the median over 100 questions of |estimate - truth| / max(truth, .5 % of the people), as in draws.py
    ail        the loss of labels
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from time import process_time
from typing import Any

import numpy as np
import polars as pl

import reticent as rt
from reticent.utility.mining import ReconstructingTree
from studies.perturbed_generalization.draws import SEEDS, SENSITIVE, TABLES, list_errors_of_questions, people

CUTS = ("loss", "median", "gain")
MAX_ROWS = 20_000  # of each third
K = 10


@cache
def list_thirds(name: str) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Return the rows to publish, the reference and those held out."""
    table = people(name).sample(fraction=1, shuffle=True, seed=0)
    rows = min(len(table) // 3, MAX_ROWS)
    return table[:rows], table[rows : 2 * rows], table[2 * rows : 3 * rows]


def halve_values(table: pl.DataFrame) -> dict[str, list[str]]:
    """Return two classes of values of about half of the rows each: numbers in their order, others the most frequent first."""
    rows = dict(table[SENSITIVE].value_counts().rows())
    is_ordered = all(text[1:].isdigit() for text in rows)
    ordered = sorted(rows, key=lambda text: (int(text[1:]) if is_ordered else -rows[text], text))
    share = np.cumsum([rows[text] for text in ordered]) / len(table)
    low = int(np.abs(share - 0.5).argmin()) + 1
    return {"low": ordered[:low], "high": [*ordered[low:], "none of these"]}


def compare_cuts() -> Iterator[dict[str, Any]]:
    """Yield the figures of every table, way to cut and seed."""
    for name in TABLES:
        for cuts in CUTS:
            for seed in SEEDS:
                yield measure_cuts(name, cuts, seed)


def measure_cuts(name: str, cuts: str, seed: int) -> dict[str, Any]:
    published, reference, held_out = list_thirds(name)
    _, quasi, _ = TABLES[name]
    values = sorted(people(name)[SENSITIVE].unique())
    columns = {column: rt.quasi() for column in quasi} | {SENSITIVE: rt.sensitive(domain=[*values, "none of these"])}
    job = rt.Job(
        columns=columns,
        promises=[rt.RhoGuarantee("0.2", "0.35", "0.2")],
        method=rt.PerturbedGeneralization(k=K, cuts=cuts, reference=reference if cuts == "gain" else None),
    )
    began = process_time()
    release = rt.publish(job, frame=published, seed=seed)
    seconds = process_time() - began
    found = rt.audit(release)
    frame = release.frame()
    classes = halve_values(people(name))
    tree = ReconstructingTree(release.manifest, classes).fit(frame, frame[SENSITIVE])
    is_low = held_out[SENSITIVE].is_in(classes["low"]).to_numpy()
    predicted = np.asarray(tree.predict(held_out.drop(SENSITIVE))) == "low"
    return {
        "table": name,
        "people": len(published),
        "cuts": cuts,
        "seed": seed,
        "groups": found.groups,
        "rows": len(frame),
        "ail": float(found.utility["ail"]),
        "guess": float(min(is_low.mean(), 1 - is_low.mean())),
        "tree": float((predicted != is_low).mean()),
        "query": float(np.median(list(list_errors_of_questions(release, published, quasi, values)))),
        "seconds": seconds,
    }
