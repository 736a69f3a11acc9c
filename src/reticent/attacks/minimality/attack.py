"""Minimality attack (Wong, Fu, Wang & Pei, "Minimality attack", VLDB 2007): why did the method make just these groups?

A method that looks at sensitive values makes other groups of other tables.  The adversary knows everybody's
quasi-identifiers, the method with its options, the promises and the release, and not the secret key.  Every table that
fits the release is equally likely beforehand; those from which the method makes another release are ruled out.

    exact         tables are few: each is published again, with each of `keys` keys (`conclude_by_enumeration`)
    walked        a Metropolis walk over tables that publish the same release, with an interval (`conclude_by_walk`)
    left whole    large releases of Mondrian: that no group was cut further, group by group, sampled
                  (`conclude_from_uncut_groups`)
    groups alone  the method cannot be run to the same release (a secret key decided, ends were padded, rows withheld): nothing
                  is added to what the groups reveal, and `why` is the reason

    success      how often the greatest belief is right, with Wilson's interval
    control      the same for an adversary who reads the groups and does not know the method: the difference is what knowing
                 it adds
    believed     the mean belief in the guess
    exceeds      people of whom something is believed above what was promised, by more than chance where tables are sampled

No promise of this library is about this adversary: promises are about groups, and not about why they were made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from statistics import NormalDist
from typing import Any

import numpy as np

from reticent.attacks.beliefs import CHUNK_MIXED_PAIRS, Beliefs
from reticent.attacks.composition.joint_beliefs import ReleasePart
from reticent.attacks.group_membership import find_membership
from reticent.attacks.minimality.candidate_tables import (
    CandidateTables,
    Conclusion,
    conclude_by_enumeration,
    conclude_by_walk,
    conclude_from_uncut_groups,
)
from reticent.attacks.minimality.publisher import Publisher, make_publisher, read_shown_groups
from reticent.attacks.scoring import AttackOutcome, Guesses, compute_wilson_interval, score_guesses
from reticent.attacks.target import AttackTarget, observe
from reticent.errors import RequestError, pluralize

MAX_EXACT_RUNS = 2_000
"""So many runs of the method are made at most to be exact."""
WALK_STEPS_PER_ROW = 20
"""A walk has so many steps for each row, or it would not move everybody: of more rows it is not begun."""


@dataclass(frozen=True, eq=False)
class MinimalityOutcome(AttackOutcome):
    """Outcome of an attack with how beliefs were computed and what they add."""

    details: Mapping[str, Any] = field(default_factory=dict)
    believed: Callable[[], Iterator[Beliefs]] = field(default=lambda: iter(()), repr=False)

    def to_dict(self) -> dict[str, Any]:
        return {**AttackOutcome.to_dict(self), **self.details}

    @cached_property
    def belief(self) -> np.ndarray:
        """(points, values): for small tables."""
        return np.concatenate([part.to_dense() for part in self.believed()])


def attack_by_minimality(
    release: Any,
    source: Any,
    *,
    missing: tuple[str, ...] = (),
    keys: int = 20,
    key: int | None = None,
    steps: int = 1_000,
    draws: int = 24,
    seed: int = 0,
) -> MinimalityOutcome:
    """Attack as an adversary who knows the method.

    `keys` are tried where the key is secret; `key` is one that the adversary has learned (a release that was made with
    a seed). `steps` of a walk, `draws` of a large release; `seed` chooses them.
    """
    _require_attackable(release, keys, steps, draws)
    people = observe(release, source, missing=missing)
    publisher = make_publisher(release, source, missing)
    keys_tried = [key] if key is not None else list(range(keys))
    conclusion, why = _conclude_or_explain(
        release, people, publisher, keys_tried, steps, draws, np.random.default_rng(seed)
    )
    return _make_outcome(people, conclusion, why)


def _require_attackable(release: Any, keys: int, steps: int, draws: int) -> None:
    if "targets" in release.manifest.own:
        raise RequestError(
            "This attack runs a method again that makes groups; a transformed release was generalized to a target.",
            attempt="the attack 'algorithm', which knows that method.",
        )
    for name, value in (("keys", keys), ("steps", steps), ("draws", draws)):
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise RequestError(f"{name} is a whole number of at least 1.", attempt=f"{name} = 20.")


def _conclude_or_explain(
    release: Any,
    people: AttackTarget,
    publisher: Publisher | str,
    keys: list[int],
    steps: int,
    draws: int,
    rng: np.random.Generator,
) -> tuple[Conclusion | None, str | None]:
    """Return what knowing the method lets the adversary conclude; or the reason why nothing."""
    if isinstance(publisher, str):
        return None, publisher
    membership = find_membership(people)
    keys = keys if publisher.draws else keys[:1]
    tables = CandidateTables.from_target(people, membership)
    if tables.table_count * len(keys) <= MAX_EXACT_RUNS:
        conclusion = conclude_by_enumeration(publisher, tables, read_shown_groups(release, people), keys)
        return (
            conclusion,
            None if conclusion else f"no table leads to this release with any of {pluralize(len(keys), 'key')}",
        )
    if publisher.draws and len(keys) > 1:
        return None, "the method draws by a secret key, and the tables are too many to be published with each of " + (
            f"{len(keys)} keys"
        )
    conclusion = None
    why = f"a walk over {len(tables.true):,} rows would have {WALK_STEPS_PER_ROW * len(tables.true):,} steps or more"
    if len(tables.true) * WALK_STEPS_PER_ROW <= steps:
        shown_groups = read_shown_groups(release, people)
        if publisher.publish_table(tables.true, keys[0]) != shown_groups:
            return None, "the method, run on the source, makes another release"
        conclusion = conclude_by_walk(publisher, tables, shown_groups, keys[0], steps, rng)
        why = "the walk changed nobody's value often enough"
    if conclusion is None and getattr(publisher.method, "cuts", "blind") == "blind" and not publisher.draws:
        return (
            None,
            "its groups depend on sensitive values by one number alone, how large they are, and that was not used",
        )
    if conclusion is None and getattr(publisher.method, "strict", False) and membership.single and not publisher.draws:
        conclusion = conclude_from_uncut_groups(publisher, tables, draws, rng)
    return conclusion, None if conclusion else why


def _make_outcome(people: AttackTarget, conclusion: Conclusion | None, why: str | None) -> MinimalityOutcome:
    part = ReleasePart(find_membership(people), people.counts)
    groups = part.guess(people.prior)
    believed = partial(_generate_beliefs, people, part, conclusion)
    guesses = groups
    if conclusion is not None:
        guesses = Guesses.join([Guesses.of_beliefs(beliefs) for beliefs in believed()])
    scored = score_guesses("minimality", guesses, people.truth, people.promised)
    control = score_guesses("control", groups, people.truth, None)
    low, high = compute_wilson_interval(round(control.success * control.targets), control.targets)
    details = {
        "control": control.success,
        "control_low": low,
        "control_high": high,
        "believed": float((guesses.greatest * people.people).sum() / scored.targets),
        "worst_group": float(groups.greatest.max(initial=0.0)),
        "worst_low": scored.worst_posterior if conclusion is None else conclusion.low,
        "worst_high": scored.worst_posterior if conclusion is None else conclusion.high,
        "exceeds": _count_exceeding(people, conclusion, guesses.greatest),
        "looked_at": 0 if conclusion is None else int(conclusion.looked_at.sum()),
        "how": "groups alone" if conclusion is None else conclusion.how,
        "why": why,
        "runs": 0 if conclusion is None else conclusion.runs,
        "behind": None if conclusion is None else conclusion.behind,
        "moved": None if conclusion is None else conclusion.moved,
    }
    fields = {name: getattr(scored, name) for name in scored.__dataclass_fields__}
    if conclusion is not None:
        point = np.repeat(np.arange(len(people.people)), people.people)
        others = groups.greatest[point[~conclusion.looked_at]]
        fields["worst_posterior"] = max(conclusion.worst, float(others.max(initial=0.0)))
    return MinimalityOutcome(**fields, details=details, believed=believed)


def _generate_beliefs(people: AttackTarget, part: ReleasePart, conclusion: Conclusion | None) -> Iterator[Beliefs]:
    """Yield beliefs about some points after the other: the mean of their people, some of whom keep the belief by their groups."""
    groups = part.believe(people.prior)
    of_point = part.membership.atoms.of_point
    ends = np.append(0, np.cumsum(people.people))
    for points in _slice_points(np.diff(groups.starts)[of_point]):
        group_beliefs = groups.take(of_point[points])
        if conclusion is None:
            yield group_beliefs
            continue
        persons = np.arange(ends[points.start], ends[points.stop])
        point = np.repeat(np.arange(points.stop - points.start), people.people[points])
        is_looked_at = conclusion.looked_at[persons]
        people_by_point = people.people[points]
        person_beliefs = conclusion.beliefs.take(persons[is_looked_at])
        share_keeping = np.bincount(point[~is_looked_at], minlength=len(people_by_point)) / people_by_point
        row = np.concatenate([point[is_looked_at][person_beliefs.row], group_beliefs.row])
        value = np.concatenate([person_beliefs.value, group_beliefs.value])
        belief = np.concatenate(
            [
                person_beliefs.belief / people_by_point[point[is_looked_at][person_beliefs.row]],
                group_beliefs.belief * share_keeping[group_beliefs.row],
            ]
        )
        yield Beliefs.of_pairs(row, value, belief, len(people_by_point), group_beliefs.values)


def _count_exceeding(people: AttackTarget, conclusion: Conclusion | None, greatest: np.ndarray) -> int | None:
    """Count the people above the promise; None where there is no cap, or a walk cannot tell."""
    if people.promised is None or (conclusion is not None and conclusion.how == "walked"):
        return None
    if conclusion is None or conclusion.sure is None:
        return int(people.people[greatest > people.promised].sum())
    greatest_beliefs = conclusion.beliefs.greatest
    candidates = np.flatnonzero(conclusion.looked_at & (greatest_beliefs > people.promised))
    z = NormalDist().inv_cdf(1 - 0.025 / max(len(candidates), 1))  # all of them are asked about at once
    above = [
        rows == np.inf or compute_wilson_interval(round(share * rows), int(rows), z)[0] > people.promised
        for share, rows in zip(greatest_beliefs[candidates], conclusion.sure[candidates], strict=True)
    ]
    return int(np.sum(above))


def _slice_points(lengths: np.ndarray) -> Iterator[slice]:
    """Cut points into slices that have few beliefs in all."""
    until = np.append(0, np.cumsum(lengths))
    start = 0
    while start < len(lengths):
        stop = max(int(np.searchsorted(until, until[start] + CHUNK_MIXED_PAIRS, side="right")) - 1, start + 1)
        yield slice(start, stop)
        start = stop
