"""The attack of somebody who knows the algorithm (errata 4.5): what the method did *not* publish says something too.

Definition 3.2 is about somebody who does not.  For every different group of a transformed release: the belief in each value of a
person, beside the target.  Exact without fakes (`counted`), and by enumeration where multisets are few (`enumerated`); with
fakes beyond that sampled, with an interval.  Where the target of several groups is the exact distribution of the table, its
totals are known, and small tables are taken together (errata 4.7).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from reticent import notebook
from reticent.attacks.algorithm.counted import beliefs
from reticent.attacks.algorithm.enumerated import Believed, Run, behind, exactly, together
from reticent.attacks.score import CONTROL
from reticent.errors import RequestError
from reticent.methods.distribution.generalize import Held, faked, generalized
from reticent.methods.distribution.tree import Tree
from reticent.models.exact import exact
from reticent.release.annotated import Annotated
from reticent.release.guaranteed import COUNT, GROUP, nodes_of

MOST_ROWS = 3_000  # of a group, for the exact posterior
MOST_GROUPS = 400


@dataclass(frozen=True, eq=False)
class AlgorithmOutcome:
    """Shares of people; `beliefs[g]` are those in the values of group g's people, None where it was not looked at."""

    targets: int
    success: float
    low: float
    high: float
    baseline: float
    worst_posterior: float
    promised: float
    lift: float
    how: str
    beliefs: dict[int, np.ndarray] = field(repr=False)
    attack: str = "algorithm"

    def _repr_html_(self) -> str:
        return notebook.attack(self)

    def to_dict(self) -> dict[str, Any]:
        names = (
            "attack",
            "targets",
            "success",
            "low",
            "high",
            "baseline",
            "worst_posterior",
            "promised",
            "lift",
            "how",
        )
        return {**{name: getattr(self, name) for name in names}, **dict.fromkeys(CONTROL)}


def algorithm(release: Any) -> AlgorithmOutcome:
    manifest = release.manifest
    if "targets" not in manifest.own:
        raise RequestError(
            "This attack knows how values are generalized to a target distribution; this release has no target.",
            attempt="another attack, or a transformed release.",
        )
    annotated = Annotated.of(manifest)
    rows = np.bincount(release.tables["quasi"][GROUP].to_numpy())
    held = release.tables["sensitive"]
    published = np.zeros((len(rows), len(annotated.first)), np.int64)
    np.add.at(published, (held[GROUP].to_numpy(), nodes_of(annotated, held)), held[COUNT].to_numpy())
    target = annotated.target_of(np.arange(len(rows)))
    groups = _Groups(
        annotated,
        published,
        rows,
        target,
        exact(manifest.method.parameters.get("fakes", 0)),
        manifest.sensitive.type == "numeric",
    )
    found = groups.jointly(manifest) or groups.apart()
    return _outcome(annotated, rows, target, found)


@dataclass(frozen=True, eq=False)
class _Groups:
    annotated: Annotated
    published: np.ndarray
    rows: np.ndarray
    target: np.ndarray
    fakes: Any
    numeric: bool

    def apart(self) -> dict[int, Believed]:
        """Each different group by itself, the target being what was believed beforehand."""
        seen: dict[tuple[int, int, bytes], Believed] = {}
        found = {}
        rng = np.random.default_rng(1)
        for group in np.argsort(self.rows, kind="stable").tolist():
            key = (int(self.target[group]), int(self.rows[group]), self.published[group].tobytes())
            if key not in seen:
                if len(seen) >= MOST_GROUPS:
                    continue
                seen[key] = self._one(group, rng)
            found[group] = seen[key]
        return found

    def _one(self, group: int, rng: np.random.Generator) -> Believed:
        rows, target = int(self.rows[group]), int(self.target[group])
        if not self._most(rows) and rows <= MOST_ROWS:
            return exactly(beliefs(self.annotated, target, self.published[group]))
        p = self.annotated.floats[target].tolist()
        return behind(rows, p, self.published[group].tobytes(), self.run(target, self._most(rows)), rng)

    def jointly(self, manifest: Any) -> dict[int, Believed] | None:
        """All groups together where the totals of the table are known and the multisets are few."""
        promise: Mapping[str, Any] = next((p.parameters for p in manifest.promises if p.name == "p-privacy"), {})
        if promise.get("target") != "source" or not promise.get("exact") or len(self.rows) < 2:
            return None
        whole = int(self.rows.sum())
        totals = [int(share * whole) for share in self.annotated.distribution(0)]
        runs = [self.run(int(t), self._most(int(n))) for t, n in zip(self.target, self.rows, strict=True)]
        shares = together(self.rows.tolist(), [row.tobytes() for row in self.published], runs, totals)
        return None if shares is None else {group: exactly(share) for group, share in enumerate(shares)}

    def _most(self, rows: int) -> int:
        """How many fakes the method may add to a group."""
        return int(self.fakes) if self.fakes >= 1 else int(rows * self.fakes)

    def run(self, target: int, most: int) -> Run:
        """The method on the counts of a group, as the nodes it would publish."""
        annotated = self.annotated
        order = np.lexsort((annotated.first, _depths(annotated.parent)))
        number = np.empty(len(order), np.int64)
        number[order] = np.arange(len(order))
        parent = annotated.parent[order]
        above = np.where(parent >= 0, number[np.maximum(parent, 0)], -1)
        tree = Tree(annotated.first[order], annotated.last[order], above, _ranges(annotated, self.numeric)[order])
        weights = np.array(annotated.weights[target], np.int64)[order]

        def published(counts: np.ndarray) -> bytes:
            found = np.zeros(len(order), np.int64)
            at = np.flatnonzero(counts)
            if most:
                nodes = faked(np.asarray(counts, np.int64), tree, weights, most).nodes
            else:
                held = Held(np.array([0, len(at)]), at, np.asarray(counts, np.int64)[at])
                nodes = generalized(held, tree, weights)[:, 1:]
            found[order[nodes[:, 0]]] = nodes[:, 1]
            return found.tobytes()

        return published


def _depths(parent: np.ndarray) -> np.ndarray:
    found = np.zeros(len(parent), np.int64)
    for node, above in enumerate(parent.tolist()):
        while above >= 0:
            found[node] += 1
            above = int(parent[above])
    return found


def _ranges(annotated: Annotated, numeric: bool) -> np.ndarray:
    """As the method measures nodes: numbers by their ends, categories by how many they are."""
    if not numeric:
        size = (annotated.last - annotated.first + 1).astype(np.float64)
        return np.where(size > 1, size, 0.0)
    place = np.array([float(text) for text in annotated.texts])
    return place[annotated.last] - place[annotated.first]


def _outcome(
    annotated: Annotated, rows: np.ndarray, target: np.ndarray, found: dict[int, Believed]
) -> AlgorithmOutcome:
    people = sum(int(rows[group]) for group in found)
    worst = max(found.values(), key=lambda one: float(one.shares.max()))
    guessed = float(sum(rows[group] * float(one.shares.max()) for group, one in found.items())) / people
    plain = float(sum(rows[group] * annotated.floats[target[group]].max() for group in found)) / people
    floats = annotated.floats
    lifts = []
    for group, one in found.items():
        prior = floats[target[group]]
        lifts.append(float(np.max(np.where(prior > 0, one.shares / np.where(prior > 0, prior, 1), 0))))
    ways = {one.how for one in found.values()}
    how = next((way for way in ("unknown", "sampled") if way in ways), "exact")
    how += "" if len(found) == len(rows) else f", {len(found)} of {len(rows)} groups"
    return AlgorithmOutcome(
        people, guessed, worst.low, worst.high, plain, float(worst.shares.max()), float(floats.max()), max(lifts), how,
        {group: one.shares for group, one in found.items()},
    )  # fmt: skip
