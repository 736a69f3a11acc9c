"""Exactly: every table that may lie behind a release is published again, with each of some keys.

A table is believed in proportion to the keys with which it leads to this release.  The adversary does not know the key: all that
are tried are equally likely.  Shares are of whole numbers of (table, key) pairs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from reticent.attacks.beliefs import Beliefs
from reticent.attacks.minimality.behind import Tables
from reticent.attacks.minimality.beliefs import Concluded
from reticent.attacks.minimality.run_again import Publisher, Shown


def enumerated(publisher: Publisher, tables: Tables, shown: Shown, keys: Sequence[int]) -> Concluded | None:
    """None where no table leads to this release with any of these keys."""
    people = np.arange(len(tables.true))
    counts = np.zeros((len(people), tables.values), np.int64)
    runs, behind = 0, 0
    for table in tables.all():
        same = sum(publisher.shown(table, key) == shown for key in keys)
        counts[people, table] += same
        runs, behind = runs + len(keys), behind + bool(same)
    total = int(counts[0].sum()) if len(people) else 0
    if not total:
        return None
    belief = counts / total
    worst = float(belief.max())
    return Concluded(Beliefs.of_table(belief), np.ones(len(people), bool), worst, worst, worst, "exact", runs, behind)
