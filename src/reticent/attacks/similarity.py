"""The similarity attack (Li, Li & Venkatasubramanian, ICDE 2007): values that differ may still mean the same.

The adversary guesses a family: the values under one node of the sensitive hierarchy at a level, or those within a window of an
ordered column.  A hit is a person whose value is in the family guessed; the baseline always guesses the most frequent family.
"""

from __future__ import annotations

import numpy as np

from reticent.attacks.beliefs import cut_points
from reticent.attacks.score import Guesses, Outcome, conclude
from reticent.attacks.seen import Seen
from reticent.attacks.skewness import believe_groups
from reticent.errors import RequestError, some
from reticent.table.domain import Domain, TreeDomain


def similarity(seen: Seen, *, level: int = 1, window: int | None = None) -> Outcome:
    """`level` of the sensitive hierarchy, 1 just above the values; `window` is a number of neighbouring ordered values."""
    member = families(seen.sensitive, level, window)
    held = seen.truth.by_value @ member
    parts = []
    for of_point, beliefs in believe_groups(seen):
        cuts = [
            Guesses.of_table(beliefs.take(np.arange(rows.start, rows.stop)).to_dense() @ member)
            for rows in cut_points(len(beliefs), beliefs.values)
        ]
        parts.append(Guesses.join(cuts).take(of_point))
    guesses = Guesses.join(parts)
    hits = seen.truth.people @ member[seen.truth.value, guesses.guess[seen.truth.point]]
    baseline = float(held.max() / held.sum())
    return conclude("similarity", guesses, None, hits=int(hits), targets=int(held.sum()), baseline=baseline)


def families(domain: Domain, level: int, window: int | None) -> np.ndarray:
    """(values, families): 1 where a value belongs to a family; windows overlap, nodes do not; a null is alone."""
    if window is not None or not isinstance(domain, TreeDomain):
        width = max(len(domain.texts) // 10, 2) if window is None else window
        starts = range(max(len(domain.texts) - width + 1, 1))
        member = np.array([[start <= v < start + width for start in starts] for v in range(len(domain.texts))])
    else:
        height = domain.hierarchy.height
        if not 1 <= level < height:
            raise RequestError(
                f"The hierarchy of {domain.name!r} has no families at level {level}: between its values and its root it has {some(height - 1, 'level')}.",
                attempt="a sensitive hierarchy with a level between, or window = 5.",
            )
        nodes = domain.hierarchy.paths[:, level]
        member = nodes[:, None] == np.unique(nodes)
    if domain.null:
        member = np.pad(member, ((0, 1), (0, 1)))
        member[-1, -1] = True
    return member.astype(np.float64)
