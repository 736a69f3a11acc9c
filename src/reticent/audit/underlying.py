"""Against the source: each group's published nodes are a generalization of its people's values (definition 3.1), the rest fakes.

A group's people are known, because quasi-identifiers are exact and people who agree in all of them are in one group.  Nodes form a
tree, so that a matching is found from the leaves up: a value takes a node as low as there is one left, what is over goes on to the
parent, and at the root nothing may be left.  What no value takes is fake, and there may be as many as the method declares.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl

from reticent.audit.evidence import Targeted
from reticent.audit.kind import Finding, Recounted
from reticent.audit.links import Linked
from reticent.audit.measure.comparison import exact
from reticent.errors import some
from reticent.exact import floor_of_shares

CHUNK = 1 << 22


class Underlying:
    """The people of each group and the values they hold, from one part of the rows after another."""

    def __init__(self, recounted: Recounted):
        assert (
            recounted.targeted is not None and recounted.subject.manifest is not None
        )  # only a transformed release comes here
        self.recounted, self.targeted = recounted, recounted.targeted
        self.method = recounted.subject.manifest.method.parameters
        self.scattered, self.foreign = 0, 0
        self.pairs, self.count = np.zeros(0, np.int64), np.zeros(0, np.int64)

    def add(self, link: Linked, rows: pl.Series, people: pl.Series) -> None:
        """Rows with their group, and the value of each of the `people` whose row can be read."""
        group, times = rows.to_numpy().astype(np.int64), link.rows[1].each[link.whole]
        lowest, highest = np.full(link.size, np.iinfo(np.int64).max), np.full(link.size, -1)
        np.minimum.at(lowest, link.ours, group)
        np.maximum.at(highest, link.ours, group)
        theirs = highest[link.theirs]
        self.scattered += int(times[(lowest[link.theirs] != theirs) & (theirs >= 0)].sum())
        value = _places(self.targeted, people)
        self.foreign += int(times[(value < 0) & (theirs >= 0)].sum())
        known = (theirs >= 0) & (value >= 0)
        pairs = np.concatenate([self.pairs, theirs[known] * len(self.targeted.values) + value[known]])
        self.pairs, at = np.unique(pairs, return_inverse=True)
        weights = np.concatenate([self.count, times[known]])
        self.count = np.bincount(at, weights=weights, minlength=len(self.pairs)).astype(np.int64)

    def findings(self) -> tuple[Finding, ...]:
        targeted, (group, value) = self.targeted, np.divmod(self.pairs, len(self.targeted.values))
        unmatched = _unmatched(targeted, group, value, self.count)
        excess = _excess(targeted, exact(self.method.get("fakes", 0)))
        fine = not (self.scattered or unmatched or self.foreign or excess)
        without = unmatched + self.foreign
        facts = {
            "values_without_node": without,
            "scattered_people": self.scattered,
            "fakes_beyond_declared": excess,
        }
        return (
            Finding(
                "generalization",
                fine,
                facts,
                f"people have {some(without, 'value')} without a node in their group; the release has {some(excess, 'fake')} more than declared",
            ),
            *_targets(self.recounted, targeted, self.method, (group, value, self.count)),
        )


def _places(targeted: Targeted, people: pl.Series) -> np.ndarray:
    """Where each value stands in the domain, -1 where it does not."""
    known: dict[Any, int] = {text: at for at, text in enumerate(targeted.values)}
    distinct = people.unique().drop_nulls()
    texts = distinct.cast(pl.String).to_list()
    if people.dtype.is_numeric() and not set(texts) <= set(known):
        numbers = {Fraction(text): at for text, at in known.items()}
        places = [numbers.get(Fraction(text), -1) for text in texts]
    else:
        places = [known.get(text, -1) for text in texts]
    return people.replace_strict(
        distinct, pl.Series(places, dtype=pl.Int64), default=-1, return_dtype=pl.Int64
    ).to_numpy()


def _unmatched(targeted: Targeted, group: np.ndarray, value: np.ndarray, count: np.ndarray) -> int:
    """People of whom no node is left; `count` of a group have a value, sorted by group."""
    nodes, groups = len(targeted.parent), len(targeted.rows)
    leaf = _leaves(targeted)
    depth = np.zeros(nodes, np.int64)
    for node, above in enumerate(targeted.parent.tolist()):
        depth[node] = depth[above] + 1 if above >= 0 else 0
    order = np.argsort(-depth, kind="stable").tolist()
    left, each = 0, max(CHUNK // nodes, 1)
    for start in range(0, groups, each):
        here = slice(*np.searchsorted(group, [start, start + each]))
        mine = slice(*np.searchsorted(targeted.group, [start, start + each]))
        waiting, free = np.zeros((2, min(each, groups - start), nodes), np.int64)
        np.add.at(waiting, (group[here] - start, leaf[value[here]]), count[here])
        free[targeted.group[mine] - start, targeted.node[mine]] = targeted.count[mine]
        for node in order:
            over = np.maximum(waiting[:, node] - free[:, node], 0)
            if targeted.parent[node] < 0:
                left += int(over.sum())
            else:
                waiting[:, targeted.parent[node]] += over
    return left


def _leaves(targeted: Targeted) -> np.ndarray:
    """The node of each value: leaves from left to right, children in the order of their numbers."""
    children: dict[int, list[int]] = {}
    for node, above in enumerate(targeted.parent.tolist()):
        children.setdefault(above, []).append(node)
    found, waiting = [], [children[-1][0]]
    while waiting:
        node = waiting.pop()
        if node in children:
            waiting += reversed(children[node])
        else:
            found.append(node)
    return np.array(found, np.int64)


def _excess(targeted: Targeted, fakes: Fraction) -> int:
    """Values beyond rows, more than the method may add to a group."""
    rows = targeted.rows
    extra = np.bincount(targeted.group, weights=targeted.count, minlength=len(rows)).astype(np.int64) - rows
    allowed = np.full(len(rows), int(fakes)) if fakes >= 1 else floor_of_shares(rows, fakes)
    return int(np.maximum(extra - allowed, 0).sum())


def _targets(
    recounted: Recounted,
    targeted: Targeted,
    method: Mapping[str, Any],
    people: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> tuple[Finding, ...]:
    """Where each group's own distribution is the target: how far the published one is from it.

    Subgroups have the target of the group that they are cut from, and are taken together.
    """
    asked: Mapping[str, Any] = next((p.parameters for p in recounted.subject.promises if p.name == "p-privacy"), {})
    if asked.get("target") != "group":
        return ()
    group, value, count = people
    whole = method.get("within", "sa-only") == "sa-only"
    part = group if whole else targeted.target[group]
    allowed = Fraction(0) if asked.get("exact", False) else exact(asked.get("distance", "1/20"))
    worst, size = Fraction(0), len(targeted.values)
    for at in np.unique(part).tolist():
        held = np.bincount(value[part == at], weights=count[part == at], minlength=size).astype(np.int64).tolist()
        shares, rows = targeted.shares[targeted.target[at] if whole else at], sum(held)
        apart = sum((abs(p - Fraction(h, rows)) for p, h in zip(shares, held, strict=True)), Fraction(0)) / 2
        worst = max(worst, apart)
    sentence = (
        f"every target is within {float(worst):.3g} of its group's own distribution; {float(allowed):.3g} is declared"
    )
    return (Finding("targets", worst <= allowed, {"target_distance": float(worst)}, sentence),)
