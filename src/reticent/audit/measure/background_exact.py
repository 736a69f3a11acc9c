"""The risk by exact inference over the groups that are small enough (Li, Li & Zhang, ICDE 2009, equations 3 and 4)."""

from __future__ import annotations

import numpy as np

from reticent.audit.measure.background_beliefs import Table, bits, smoothed
from reticent.kernels.audit_assignments import beliefs

STATES, PEOPLE = 1 << 14, 64  # of a group
WORK = 1 << 22  # states looked at altogether, each with all of its values


def exact_risk(table: Table, prior: np.ndarray, smooth: np.ndarray | None) -> tuple[float, float]:
    """(the greatest risk in bits, the share of the people it is over): groups with fewest states first, while work is left."""
    sizes = table.shown.sum(axis=1)
    with np.errstate(over="ignore"):
        states = np.exp(np.log1p(table.shown).sum(axis=1))
    able = np.flatnonzero((states <= STATES) & (sizes <= PEOPLE) & (sizes > 0))
    able = able[np.argsort(states[able], kind="stable")]
    able = able[np.cumsum(states[able]) <= WORK]
    if not len(able):
        return 0.0, 0.0
    chosen = np.zeros(len(table.shown), bool)
    chosen[able] = True
    point = np.flatnonzero(chosen[table.group])
    person = np.repeat(point, table.people[point]).astype(np.int32)
    groups = np.flatnonzero(chosen)
    begin = np.append(0, np.cumsum(sizes[groups])).astype(np.int64)
    if begin[-1] != len(person):
        return 0.0, 0.0
    most = prior.max(axis=1, keepdims=True)
    found, done = np.zeros((len(person), prior.shape[1])), np.zeros(len(groups), np.int8)
    of_group, value = np.nonzero(table.shown[groups])
    first = np.searchsorted(of_group, np.arange(len(groups) + 1)).astype(np.int64)
    held = np.column_stack([value, table.shown[groups][of_group, value]]).astype(np.int64)
    beliefs(begin, person, first, held, np.ascontiguousarray(prior / most), np.zeros((4, STATES * 2)), done, found)
    fine = np.repeat(done.astype(bool), np.diff(begin))
    if not fine.any():
        return 0.0, 0.0
    moved = bits(smoothed(prior[person[fine]], smooth), smoothed(found[fine], smooth))
    return float(moved.max()), float(fine.sum() / table.people.sum())
