"""Attacks that read each person's groups: skewness, inference and similarity.

A point's belief is that of the boxes covering it, each with the density of its rows: Pr(v | t) ~ sum over covering G of
n_G,v / room(G) (`believe_groups`).

Skewness (Li, Li & Venkatasubramanian, ICDE 2007): guess the value whose belief is lifted most over the overall
distribution.

Similarity (the same paper): values that differ may still mean the same.  The adversary guesses a family: the values
under one node of the sensitive hierarchy at a level, or those within a window of an ordered column.  A hit is a person
whose value is in the family guessed; the baseline always guesses the most frequent family.

Inference, as `anonymeter` defines it (Giomi, Boenisch, Wehmeyer & Tasnadi, "A unified framework for quantifying privacy
risk in synthetic data", PoPETs 2023): does the release reveal a person's sensitive value to an adversary who knows
everything else of the person?  There the nearest synthetic rows answer; here the groups that may hold the person, which
are nearer than any.  The guess is the value that they make likeliest.

    success    how often it is right, with Wilson's interval; the baseline is the most frequent value
    control    the same groups with shuffled values: what guessing by uninformative groups reaches
    others     the same for people who are not in the release, where a table of them is passed: what the release teaches of
               anybody
    risk       (success - c) / (1 - c), where c is `others` if known, else the control: what being in the release adds
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from reticent.attacks.beliefs import Beliefs, cut_points, find_atoms
from reticent.attacks.scoring import (
    AttackOutcome,
    Guesses,
    compute_excess_risk,
    compute_wilson_interval,
    make_outcome,
    score_guesses,
)
from reticent.attacks.target import AttackTarget, make_silent_target, sample_points
from reticent.data.domain import Domain, TreeDomain
from reticent.errors import RequestError, pluralize
from reticent.labels.adversary_view import Boxes

MAX_CONTROL_POINTS = 50_000
"""The control is that of so many combinations of quasi-identifiers, drawn at random where there are more."""


def attack_by_skewness(target: AttackTarget) -> AttackOutcome:
    prior = np.where(target.prior > 0, target.prior, np.inf)

    def guess_lifted(beliefs: Beliefs) -> Guesses:
        guess = beliefs.find_greatest_by(beliefs.belief / prior[beliefs.value])
        return Guesses(guess, beliefs.look_up_belief(guess), beliefs.greatest)

    return score_guesses("skewness", guess_by_groups(target, guess_lifted), target.truth, target.promised)


def guess_by_groups(target: AttackTarget, guess: Callable[[Beliefs], Guesses] = Guesses.of_beliefs) -> Guesses:
    """Guess every point from its groups, some points at a time."""
    return Guesses.join([guess(beliefs).take(of_point) for of_point, beliefs in believe_groups(target)])


def compute_group_beliefs(target: AttackTarget) -> np.ndarray:
    """Compute (points, values): the belief in each point by its groups alone; the overall distribution where none covers it."""
    parts = [beliefs.to_dense()[of_point] for of_point, beliefs in believe_groups(target)]
    return np.concatenate(parts) if parts else np.zeros((0, len(target.prior)))


def believe_groups(target: AttackTarget) -> Iterator[tuple[np.ndarray, Beliefs]]:
    """Yield beliefs about some points after the other: the row of each point, and the rows.

    Those of a table whose points are all computed together are cached for the next attack.
    """
    if "groups" in target.cache:
        yield target.cache["groups"]
        return
    prior = np.flatnonzero(target.prior)
    for points, point, group, weight, of_groups in _list_entries(target):
        atoms = find_atoms(point, group, weight, points)
        beliefs = atoms.mix(of_groups).scale_to_one()
        rows_without_belief = np.flatnonzero(beliefs.sums() == 0)
        point_beliefs = (
            atoms.of_point,
            beliefs.replace_rows({int(row): (prior, target.prior[prior]) for row in rows_without_belief}),
        )
        if points == len(target.points):
            target.cache["groups"] = point_beliefs
        yield point_beliefs


@dataclass(frozen=True, eq=False)
class InferenceOutcome(AttackOutcome):
    """Outcome of an attack with the control and what being in the release adds."""

    details: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        return {**AttackOutcome.to_dict(self), **self.details}


def attack_by_inference(target: AttackTarget, *, others: AttackTarget | None = None, seed: int = 0) -> InferenceOutcome:
    """Guess each person's value by their groups.

    `others` are people who are not in the release; `seed` shuffles the control's values.
    """
    scored = score_guesses("inference", guess_by_groups(target), target.truth, target.promised)
    silent_target = make_silent_target(sample_points(target, MAX_CONTROL_POINTS), np.random.default_rng(seed))
    control = score_guesses("control", guess_by_groups(silent_target), silent_target.truth, None)
    outside = None if others is None else score_guesses("others", guess_by_groups(others), others.truth, None)
    low, high = compute_wilson_interval(round(control.success * control.targets), control.targets)
    details = {
        "control": control.success,
        "control_low": low,
        "control_high": high,
        "others": None if outside is None else outside.success,
        "others_low": None if outside is None else outside.low,
        "others_high": None if outside is None else outside.high,
        "risk": compute_excess_risk(scored.success, control.success if outside is None else outside.success),
    }
    fields = {name: getattr(scored, name) for name in scored.__dataclass_fields__}
    return InferenceOutcome(**fields, details=details)


def attack_by_similarity(target: AttackTarget, *, level: int = 1, window: int | None = None) -> AttackOutcome:
    """Guess each person's family of values.

    `level` of the sensitive hierarchy, 1 just above the values; `window` is a number of neighbouring ordered values.
    """
    member = make_families(target.sensitive, level, window)
    people_by_family = target.truth.by_value @ member
    parts = []
    for of_point, beliefs in believe_groups(target):
        cuts = [
            Guesses.of_table(beliefs.take(np.arange(rows.start, rows.stop)).to_dense() @ member)
            for rows in cut_points(len(beliefs), beliefs.values)
        ]
        parts.append(Guesses.join(cuts).take(of_point))
    guesses = Guesses.join(parts)
    hits = target.truth.people @ member[target.truth.value, guesses.guess[target.truth.point]]
    baseline = float(people_by_family.max() / people_by_family.sum())
    return make_outcome(
        "similarity", guesses, None, hits=int(hits), targets=int(people_by_family.sum()), baseline=baseline
    )


def make_families(domain: Domain, level: int, window: int | None) -> np.ndarray:
    """Make (values, families): 1 where a value belongs to a family; windows overlap, nodes do not; a null is alone."""
    if window is not None and window < 1:
        raise RequestError(f"A window of {window} neighbouring values holds none.", attempt="window = 5.")
    if window is not None or not isinstance(domain, TreeDomain):
        width = max(len(domain.texts) // 10, 2) if window is None else window
        starts = range(max(len(domain.texts) - width + 1, 1))
        member = np.array([[start <= v < start + width for start in starts] for v in range(len(domain.texts))])
    else:
        height = domain.hierarchy.height
        if not 1 <= level < height:
            raise RequestError(
                f"The hierarchy of {domain.name!r} has no families at level {level}: between its values and its root it has {pluralize(height - 1, 'level')}.",
                attempt="a sensitive hierarchy with a level between, or window = 5.",
            )
        nodes = domain.hierarchy.paths[:, level]
        member = nodes[:, None] == np.unique(nodes)
    if domain.null:
        member = np.pad(member, ((0, 1), (0, 1)))
        member[-1, -1] = True
    return member.astype(np.float64)


def _list_entries(target: AttackTarget) -> Iterator[tuple[int, np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
    """Yield how many points there are, which of them may be in which group with which weight, and the groups' values."""
    sight = target.sight
    if isinstance(sight, Boxes):
        for chunk, point, group in sight.list_pairs(target.points):
            yield chunk.stop - chunk.start, point, group, np.ones(len(point)), sight.density
        return
    point, group, people = sight.memberships(target.points, target.people, 1)
    sizes = np.maximum(sight.counts.sum(axis=1, keepdims=True), 1)
    yield len(target.points), point, group, np.asarray(people, np.float64), sight.counts / sizes
