"""Joining releases: what several releases of the same people say of each of them together.

Ganta, Kasiviswanathan & Smith ("Composition attacks and auxiliary information in data privacy", KDD 2008) intersect the values of a
person's groups.  Here every release's counts are used: the adversary knows everyone's quasi-identifiers, so in each release the group
of each person (or, where labels overlap, the chances of each), and asks which tables fit all releases.  Every such table is equally
likely.  The belief is exact where a component of linked groups is small (`joined_exactly`) and balanced elsewhere (`joined`); the
answer says of how many people each is.  Of one release alone it is that release's own posterior.

    success      how often the greatest belief is right, with Wilson's interval; the baseline is the most frequent value
    alone        what the best single one of the releases reaches
    control      the same join where the other releases' values are shuffled over their rows: what joining with noise reaches
    believed     the mean belief in the guess: what `success` should be if beliefs are right
    exceeds      people of whom something is believed above what any of the releases promised (`exceeds_all`: above each of them)

A promise holds for each release alone, and speaks of no two of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from reticent.attacks.decoy import shuffled
from reticent.attacks.joined import Part, balanced, product
from reticent.attacks.joined_exactly import exactly
from reticent.attacks.laid_together import Together, alone, laid_together, refuse_misfits
from reticent.attacks.score import Outcome, score, wilson
from reticent.attacks.seen import Seen
from reticent.errors import RequestError

HALF = Fraction(1, 2)
ROUNDED = 1e-9
"""Sums of doubles are sure to so much: who is said to exceed a promise does so by more.  No release is judged by this."""


@dataclass(frozen=True, eq=False)
class Joined(Outcome):
    """What an attack answers, and beside it who exceeds what was promised, and how beliefs were had."""

    beside: Mapping[str, Any] = field(default_factory=dict)
    belief: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)), repr=False)
    people: np.ndarray = field(default_factory=lambda: np.zeros(0), repr=False)
    exact: Mapping[int, list[Fraction]] = field(default_factory=dict, repr=False)
    moved: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        return {**Outcome.to_dict(self), **self.beside}

    def above(self, limit: Fraction) -> int:
        """How many people may stand above a belief: exact ones compared exactly, balanced ones rounded against the publisher.

        A balanced belief stands for one that was not counted: it is below the limit only where it is so by more than it
        moved in the last round.
        """
        over = self.belief.max(axis=1) + self.moved >= float(limit)
        for point, beliefs in self.exact.items():
            over[point] = max(beliefs) > limit
        return int(self.people[over].sum())


def composition(
    release: Any,
    source: Any = None,
    *,
    missing: tuple[str, ...] = (),
    joined: Sequence[Any] = (),
    force_join: bool = False,
    seed: int = 0,
) -> Joined:
    """`joined` are the other releases, opened or their folders; `seed` shuffles the control's values."""
    if isinstance(release, Seen):
        if joined:
            raise RequestError("A plan is attacked alone: releases are joined.", attempt="rt.publish(...) first.")
        return of_together(alone(release), seed)
    releases = [_opened(one) for one in (release, *([joined] if isinstance(joined, str | Path) else joined))]
    if not force_join and len(releases) > 1:
        from reticent.owner.same_people import refuse_strangers

        refuse_strangers([one.folder for one in releases])
    together = laid_together(releases, source, missing)
    if not force_join:
        refuse_misfits(together)
    return of_together(together, seed)


def of_together(together: Together, seed: int = 0) -> Joined:
    """The attack on releases that are laid over their people."""
    parts, prior, people = together.parts, together.prior, together.people
    belief, moved = balanced(parts, people, prior)
    exact = exactly(parts, people)
    for point, beliefs in exact.items():
        belief[point] = [float(one) for one in beliefs]
    promised = [seen.promised for seen in together.seen if seen.promised is not None]
    scored = score("composition", belief, together.truth, max(promised, default=None))
    beside = {
        **_beside(together, belief, promised, moved),
        **_control(together, scored, seed),
        "releases": len(parts),
        "exact": int(people[list(exact)].sum()) if len(parts) > 1 else _known(together),
        "product_worst": float(product(parts, prior).max(initial=0.0)),
        "moved": moved,
        "rule": _rule(together, exact),
    }
    fields = {name: getattr(scored, name) for name in scored.__dataclass_fields__}
    return Joined(**fields, beside=beside, belief=belief, people=people, exact=exact, moved=moved)


def _known(together: Together) -> int:
    """Of one release: everybody, where the release says who is in which group."""
    return int(together.people.sum()) if together.parts[0].membership.known else 0


def _rule(together: Together, exact: Mapping[int, Any]) -> str:
    if len(together.parts) == 1:
        return "exact" if together.parts[0].membership.known else "balanced"
    return "exact" if len(exact) == len(together.people) else "exact and balanced" if exact else "balanced"


def _beside(together: Together, belief: np.ndarray, promised: Sequence[float], moved: float) -> dict[str, Any]:
    people, most = together.people, belief.max(axis=1, initial=0.0)
    surely = most - moved - ROUNDED
    own = [part.own(together.prior) for part in together.parts]
    targets = int(people.sum())
    half = int(people[most >= float(HALF)].sum())
    low, high = wilson(half, targets)
    return {
        "half": half / targets,
        "half_low": low,
        "half_high": high,
        "half_alone": max(float(people[one.max(axis=1) >= float(HALF)].sum()) for one in own) / targets,
        "worst_alone": max(float(one.max(initial=0.0)) for one in own),
        "exceeds": int(people[surely > min(promised)].sum()) if promised else None,
        "exceeds_all": int(people[surely > max(promised)].sum()) if promised else None,
        "alone": max(score("", one, together.truth, None).success for one in own),
        "believed": float((most * people).sum() / targets),
    }


def _control(together: Together, scored: Outcome, seed: int) -> dict[str, float]:
    """The same join where the other releases' values say nothing."""
    rng, parts = np.random.default_rng(seed), list(together.parts)
    noise = parts[:1] + [Part(part.membership, shuffled(part.counts, rng)) for part in parts[1:]]
    belief = product(noise, together.prior)
    hits = score("control", belief, together.truth, None).success
    low, high = wilson(round(hits * scored.targets), scored.targets)
    return {"control": hits, "control_low": low, "control_high": high}


def _opened(release: Any) -> Any:
    from reticent.opened import Release

    if isinstance(release, Release):
        return release
    if isinstance(release, str | Path) and Path(release).is_dir():
        return Release(release)
    raise RequestError(
        "Releases are joined as folders that `reticent publish` made: their manifests say how to read them.",
        attempt="a release folder.",
    )
