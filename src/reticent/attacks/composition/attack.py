"""Composition attack: what several releases of the same people reveal of each of them together.

Ganta, Kasiviswanathan & Smith ("Composition attacks and auxiliary information in data privacy", KDD 2008) intersect the
values of a person's groups.  Here every release's counts are used: the adversary knows everyone's quasi-identifiers, so
in each release the group of each person (or, where labels overlap, the chances of each), and asks which tables fit all
releases.  Every such table is equally likely.  The belief is exact where a component of linked groups is small
(`compute_exact_beliefs`) and balanced elsewhere (`JointBeliefs.balance`); the outcome has the number of people of each.
Of one release alone it is that release's own posterior.

    success      how often the greatest belief is right, with Wilson's interval; the baseline is the most frequent value
    alone        what the best single one of the releases reaches
    control      the same join where the other releases' values are shuffled over their rows: what joining with noise reaches
    believed     the mean belief in the guess: what `success` should be if beliefs are right
    exceeds      people of whom something is believed above what any of the releases promised (`exceeds_all`: above each)
    departed     rows of the releases that are of nobody in the table any more; `unbounded` people may be those who changed

A promise holds for each release alone; none is about two of them together.  Releases that redraw values are joined by the
product of their likelihood ratios (`redrawn_releases.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from reticent.attacks.beliefs import Beliefs
from reticent.attacks.composition.alignment import (
    AlignedReleases,
    align_releases,
    align_single_release,
    require_fitting_releases,
)
from reticent.attacks.composition.joint_beliefs import (
    MAX_COMPONENT_PEOPLE,
    JointBeliefs,
    ReleasePart,
    compute_exact_beliefs,
    find_joint_components,
)
from reticent.attacks.composition.redrawn_releases import (
    RedrawnReleases,
    can_be_multiplied,
    describe_joined_beliefs,
)
from reticent.attacks.scoring import AttackOutcome, Guesses, compute_wilson_interval, score_guesses
from reticent.attacks.target import AttackTarget, observe, shuffle_counts
from reticent.errors import BundleDamaged, RequestError

HALF = Fraction(1, 2)
BELIEF_ROUNDING = 1e-9
"""Sums of doubles are sure to so much: who is said to exceed a promise does so by more.  No release is judged by this."""


@dataclass(frozen=True, eq=False)
class CompositionOutcome(AttackOutcome):
    """Outcome of an attack with the people who exceed what was promised, and how beliefs were computed."""

    details: Mapping[str, Any] = field(default_factory=dict)
    joint: JointBeliefs | None = field(default=None, repr=False)
    beliefs: Beliefs | None = field(default=None, repr=False)  # of the atoms of `joint`; None of one release alone
    greatest: np.ndarray = field(default_factory=lambda: np.zeros(0), repr=False)  # of each point
    people: np.ndarray = field(default_factory=lambda: np.zeros(0), repr=False)
    exact: Mapping[int, list[Fraction]] = field(default_factory=dict, repr=False)
    moved: float = 0.0
    doubtful: np.ndarray = field(default_factory=lambda: np.zeros(0, bool), repr=False)
    shifted: int = 0

    @cached_property
    def belief(self) -> np.ndarray:
        """(points, values): for small tables."""
        assert self.joint is not None
        beliefs = self.joint.to_dense(self.joint.own if self.beliefs is None else self.beliefs)
        return beliefs[: len(self.people)]

    def to_dict(self) -> dict[str, Any]:
        return {**AttackOutcome.to_dict(self), **self.details}

    @property
    def unbounded(self) -> int:
        """How many people may have changed since one of the releases, at the most: nothing bounds what is believed of them."""
        doubtful = int(self.people[self.doubtful].sum()) if len(self.doubtful) else 0
        return min(doubtful + self.shifted, int(self.people.sum()))

    def count_people_above(self, limit: Fraction) -> int:
        """Count the people who may be above a belief: exact ones compared exactly, balanced ones rounded against the publisher.

        A balanced belief stands for one that was not counted: it is below the limit only if it is so by more than it
        moved in the last round.  Of people who may have changed between the releases anything may be believed.
        """
        if limit >= 1:
            return 0
        above = self.greatest + self.moved >= float(limit)
        for point, beliefs in self.exact.items():
            above[point] = max(beliefs) > limit
        if len(self.doubtful):
            above |= self.doubtful
        return min(int(self.people[above].sum()) + self.shifted, int(self.people.sum()))


def attack_by_composition(
    release: Any,
    source: Any = None,
    *,
    missing: tuple[str, ...] = (),
    joined: Sequence[Any] = (),
    force_join: bool = False,
    seed: int = 0,
) -> CompositionOutcome:
    """Attack several releases; `joined` are the others, opened or their folders; `seed` shuffles the control's values."""
    if isinstance(release, AttackTarget):
        if joined:
            raise RequestError("A plan is attacked alone: releases are joined.", attempt="rt.publish(...) first.")
        return attack_aligned_releases(align_single_release(release), seed)
    releases = [
        _open_release(joined_release)
        for joined_release in (release, *([joined] if isinstance(joined, str | Path) else joined))
    ]
    if len(releases) > 1 and can_be_multiplied(releases):
        return attack_redrawn_releases(RedrawnReleases.from_releases(releases, source, missing), seed)
    is_in_ledger = False
    if not force_join and len(releases) > 1:
        from reticent.ledger.ledger import require_same_people

        is_in_ledger = require_same_people([joined_release.folder for joined_release in releases])
    aligned = _try_aligning_alone(releases[0], source, missing) if len(releases) == 1 else None
    if aligned is None:
        aligned = align_releases(releases, source, missing)
    if not force_join and not is_in_ledger:
        require_fitting_releases(aligned)
    return attack_aligned_releases(aligned, seed)


def attack_aligned_releases(aligned: AlignedReleases, seed: int = 0) -> CompositionOutcome:
    """Attack releases that are aligned with their people."""
    parts = aligned.parts
    prior = aligned.prior
    people = aligned.people
    everybody = aligned.everybody
    targets = len(aligned.people)
    at_targets = np.arange(targets)
    own_guesses = [part.guess(prior).take(at_targets) for part in parts]
    exact = {point: row for point, row in compute_exact_beliefs(parts, everybody).items() if point < targets}
    joint = JointBeliefs.from_parts(parts, prior)
    beliefs = None
    moved = 0.0
    guesses = own_guesses[0]
    product_worst = own_guesses[0].greatest.max(initial=0.0)
    if len(parts) > 1:
        beliefs, moved = joint.balance(everybody)
        beliefs = beliefs.replace_rows({int(joint.of_point[point]): _to_arrays(row) for point, row in exact.items()})
        guesses = Guesses.of_beliefs(beliefs).take(joint.of_point[:targets])
        multiplied = Guesses.of_beliefs(joint.multiply()).take(joint.of_point[:targets])
        product_worst = multiplied.greatest.max(initial=0.0)
    doubtful = _find_doubtful_points(aligned)
    exact = {point: row for point, row in exact.items() if not doubtful[point]}
    promised = [target.promised for target in aligned.seen if target.promised is not None]
    scored = score_guesses("composition", guesses, aligned.truth, max(promised, default=None))
    details = {
        **_collect_details(aligned, guesses, own_guesses, promised, moved),
        **_compute_control(aligned, scored, own_guesses[0], seed),
        "releases": len(parts),
        "exact": int(people[list(exact)].sum()) if len(parts) > 1 else _count_known_people(aligned),
        "product_worst": float(product_worst),
        "moved": moved,
        "rule": _describe_rule(aligned, exact),
        "departed": sum(change.rows for change in aligned.changes),
    }
    fields = {name: getattr(scored, name) for name in scored.__dataclass_fields__}
    shifted = sum(change.moved for change in aligned.changes)
    outcome = CompositionOutcome(
        **fields,
        details=details,
        joint=joint,
        beliefs=beliefs,
        greatest=guesses.greatest,
        people=people,
        exact=exact,
        moved=moved,
        doubtful=doubtful,
        shifted=shifted,
    )
    return replace(outcome, details={**details, "unbounded": outcome.unbounded})


def attack_redrawn_releases(joined: RedrawnReleases, seed: int = 0) -> CompositionOutcome:
    """Attack releases that redraw values, by the product of what each makes likely; every row is a point of its own."""
    beliefs = joined.believe()
    rows = len(joined.truth)
    hits = int((beliefs.guess == joined.truth).sum())
    low, high = compute_wilson_interval(hits, rows)
    return CompositionOutcome(
        "composition",
        rows,
        hits / rows,
        low,
        high,
        float(np.bincount(joined.truth[joined.truth >= 0]).max(initial=0)) / rows,
        float(beliefs.greatest.max()),
        None,
        np.zeros(0),
        np.zeros(0),
        details=describe_joined_beliefs(joined, beliefs, seed) | {"unbounded": 0},
        greatest=joined.bound_greatest(beliefs),
        people=np.ones(rows, np.int64),
    )


def _open_release(release: Any) -> Any:
    from reticent.release.release import Release

    if isinstance(release, Release):
        return release
    if isinstance(release, str | Path) and Path(release).is_dir():
        return Release(release)
    raise RequestError(
        "Releases are joined as folders that `reticent publish` made: their manifests say how to read them.",
        attempt="a release folder.",
    )


def _try_aligning_alone(release: Any, source: Any, missing: tuple[str, ...]) -> AlignedReleases | None:
    """Align one release with its table, as other attacks see it; None if people have left the table, or changed, since."""
    try:
        target = observe(release, source, missing=missing)
    except BundleDamaged:  # a label covers nobody who is still there
        return None
    fits = np.array_equal(target.counts, np.round(target.counts))
    if fits and (target.counts.sum(axis=0) > target.truth.by_value).any():
        return None
    return align_single_release(target)


def _to_arrays(row: Sequence[Fraction]) -> tuple[np.ndarray, np.ndarray]:
    """Return the values with a belief above 0, and the beliefs."""
    value = np.array([code for code, belief in enumerate(row) if belief], np.int64)
    return value, np.array([float(row[code]) for code in value])


def _find_doubtful_points(aligned: AlignedReleases) -> np.ndarray:
    """Find points of which a belief is not bounded: some people may have changed since a release, and who did is not known.

    In small components these are all people: what is known of one of them moves the others.  The same holds where
    people departed from several releases, who may be the same, or may be in the table with other quasi-identifiers.
    """
    doubtful = aligned.doubtful
    targets = len(aligned.people)
    if not len(aligned.departed):
        return doubtful
    component = find_joint_components(aligned.parts)
    size = np.bincount(component, weights=aligned.everybody)
    are_small = size <= MAX_COMPONENT_PEOPLE
    are_unclear = np.bincount(component[:targets], weights=doubtful, minlength=len(size)) > 0
    release_counts = np.zeros(len(size), np.int64)
    for part, changes in zip(aligned.parts, aligned.changes, strict=True):
        are_departed = (part.membership.point >= targets) & (part.membership.group < part.membership.groups)
        release_counts[np.unique(component[part.membership.point[are_departed]])] += 1
        if changes.moved:
            are_unclear[component[:targets][changes.candidates]] = True
            are_unclear[component[part.membership.point[are_departed]]] = True
    return doubtful | (are_small & (are_unclear | (release_counts > 1)))[component[:targets]]


def _collect_details(
    aligned: AlignedReleases, guesses: Guesses, own: Sequence[Guesses], promised: Sequence[float], moved: float
) -> dict[str, Any]:
    people = aligned.people
    greatest = guesses.greatest
    certain_belief = greatest - moved - BELIEF_ROUNDING
    targets = int(people.sum())
    half = int(people[greatest >= float(HALF)].sum())
    low, high = compute_wilson_interval(half, targets)
    return {
        "half": half / targets,
        "half_low": low,
        "half_high": high,
        "half_alone": max(float(people[own_guesses.greatest >= float(HALF)].sum()) for own_guesses in own) / targets,
        "worst_alone": max(float(own_guesses.greatest.max(initial=0.0)) for own_guesses in own),
        "exceeds": int(people[certain_belief > min(promised)].sum()) if promised else None,
        "exceeds_all": int(people[certain_belief > max(promised)].sum()) if promised else None,
        "alone": max(score_guesses("", own_guesses, aligned.truth, None).success for own_guesses in own),
        "believed": float((greatest * people).sum() / targets),
    }


def _compute_control(
    aligned: AlignedReleases, scored: AttackOutcome, first_guesses: Guesses, seed: int
) -> dict[str, float]:
    """Run the same join where the other releases' values are uninformative."""
    rng = np.random.default_rng(seed)
    parts = list(aligned.parts)
    guesses = first_guesses
    if len(parts) > 1:
        noise = parts[:1] + [ReleasePart(part.membership, shuffle_counts(part.counts, rng)) for part in parts[1:]]
        joint = JointBeliefs.from_parts(noise, aligned.prior)
        guesses = Guesses.of_beliefs(joint.multiply()).take(joint.of_point[: len(aligned.people)])
    hits = score_guesses("control", guesses, aligned.truth, None).success
    low, high = compute_wilson_interval(round(hits * scored.targets), scored.targets)
    return {"control": hits, "control_low": low, "control_high": high}


def _count_known_people(aligned: AlignedReleases) -> int:
    """Count everybody, for one release that tells who is in which group."""
    return int(aligned.people.sum()) if aligned.parts[0].membership.known else 0


def _describe_rule(aligned: AlignedReleases, exact: Mapping[int, Any]) -> str:
    if len(aligned.parts) == 1:
        return "exact" if aligned.parts[0].membership.known else "balanced"
    if len(exact) == len(aligned.people):
        return "exact"
    return "exact and balanced" if exact else "balanced"
