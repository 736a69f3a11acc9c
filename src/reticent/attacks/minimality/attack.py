"""Knowing the method: why did it make just these groups? (Wong, Fu, Wang & Pei, "Minimality attack", VLDB 2007.)

A method that looks at sensitive values makes other groups of other tables.  The adversary knows everybody's quasi-identifiers, the
method with its options, the promises and the release, and not the secret key.  Every table that fits the release is equally likely
beforehand; those from which the method makes another release are ruled out.

    exact         tables are few: each is published again, with each of `keys` keys (`enumerated`)
    walked        a Metropolis walk over tables that publish the same release, with an interval (`walked`)
    left whole    large releases of Mondrian: that no group was cut further, group by group, sampled (`left_whole`)
    groups alone  the method cannot be run to the same release (a secret key decided, ends were padded, rows withheld): nothing is
                  added to what the groups say, and `why` says why

    success      how often the greatest belief is right, with Wilson's interval
    control      the same for somebody who reads the groups and does not know the method: what knowing it adds is the difference
    believed     the mean belief in the guess
    exceeds      people of whom something is believed above what was promised, by more than chance where tables are sampled

No promise of this library speaks of this adversary: promises are about groups, and not about why they were made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any

import numpy as np

from reticent.attacks.joined import Part
from reticent.attacks.membership import membership
from reticent.attacks.minimality.behind import Tables
from reticent.attacks.minimality.beliefs import Concluded
from reticent.attacks.minimality.enumerated import enumerated
from reticent.attacks.minimality.left_whole import left_whole
from reticent.attacks.minimality.run_again import Publisher, published, publisher
from reticent.attacks.minimality.walked import walked
from reticent.attacks.score import Outcome, score, wilson
from reticent.attacks.seen import Seen, seen
from reticent.errors import RequestError, some

RUNS = 2_000
"""So many runs of the method are made at most to be exact."""
PER_ROW = 20
"""A walk has so many steps for each row, or it would not move everybody: of more rows it is not begun."""


@dataclass(frozen=True, eq=False)
class Minimal(Outcome):
    """What an attack answers, and beside it how beliefs were had and what they add."""

    beside: Mapping[str, Any] = field(default_factory=dict)
    belief: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)), repr=False)

    def to_dict(self) -> dict[str, Any]:
        return {**Outcome.to_dict(self), **self.beside}


def minimality(
    release: Any,
    source: Any,
    *,
    missing: tuple[str, ...] = (),
    keys: int = 20,
    key: int | None = None,
    steps: int = 1_000,
    draws: int = 24,
    seed: int = 0,
) -> Minimal:
    """`keys` are tried where the key is secret; `key` is one that the adversary has learned (a release that was made with a seed).

    `steps` of a walk, `draws` of a large release; `seed` chooses them.
    """
    _refuse(release, keys, steps, draws)
    people = seen(release, source, missing=missing)
    made = publisher(release, source, missing)
    asked = [key] if key is not None else list(range(keys))
    found, why = _why(release, people, made, asked, steps, draws, np.random.default_rng(seed))
    return _outcome(people, found, why)


def _refuse(release: Any, keys: int, steps: int, draws: int) -> None:
    if "targets" in release.manifest.own:
        raise RequestError(
            "This attack runs a method again that makes groups; a transformed release was generalized to a target.",
            attempt="the attack 'algorithm', which knows that method.",
        )
    for name, value in (("keys", keys), ("steps", steps), ("draws", draws)):
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise RequestError(f"{name} is a whole number of at least 1.", attempt=f"{name} = 20.")


def _why(release: Any, people: Seen, made: Publisher | str, keys: list[int], steps: int, draws: int,
         rng: np.random.Generator) -> tuple[Concluded | None, str | None]:  # fmt: skip
    """What knowing the method lets somebody conclude; or why nothing."""
    if isinstance(made, str):
        return None, made
    who, keys = membership(people), keys if made.draws else keys[:1]
    tables = Tables.of(people, who)
    if tables.many * len(keys) <= RUNS:
        found = enumerated(made, tables, published(release, people), keys)
        return found, None if found else f"no table leads to this release with any of {some(len(keys), 'key')}"
    if made.draws and len(keys) > 1:
        return None, "the method draws by a secret key, and the tables are too many to be published with each of " + (
            f"{len(keys)} keys"
        )
    found, why = None, f"a walk over {len(tables.true):,} rows would have {PER_ROW * len(tables.true):,} steps or more"
    if len(tables.true) * PER_ROW <= steps:
        shown = published(release, people)
        if made.shown(tables.true, keys[0]) != shown:
            return None, "the method, run on the source, makes another release"
        found, why = walked(made, tables, shown, keys[0], steps, rng), "the walk changed nobody's value often enough"
    if found is None and getattr(made.method, "cuts", "blind") == "blind" and not made.draws:
        return (
            None,
            "its groups depend on sensitive values by one number alone, how large they are, and that was not used",
        )
    if found is None and getattr(made.method, "strict", False) and who.single and not made.draws:
        found = left_whole(made, tables, draws, rng)
    return found, None if found else why


def _outcome(people: Seen, found: Concluded | None, why: str | None) -> Minimal:
    groups = Part(membership(people), people.counts).own(people.prior)
    belief = groups.copy()
    point = np.repeat(np.arange(len(people.people)), people.people)
    if found is not None:
        whole = np.zeros_like(belief)
        np.add.at(whole, point, np.where(found.looked_at[:, None], found.belief, groups[point]))
        belief = whole / people.people[:, None]
    scored = score("minimality", belief, people.truth, people.promised)
    unknowing = score("control", groups, people.truth, None)
    low, high = wilson(round(unknowing.success * unknowing.targets), unknowing.targets)
    beside = {
        "control": unknowing.success,
        "control_low": low,
        "control_high": high,
        "believed": float((belief.max(axis=1) * people.people).sum() / scored.targets),
        "worst_group": float(groups.max(initial=0.0)),
        "worst_low": scored.worst_posterior if found is None else found.low,
        "worst_high": scored.worst_posterior if found is None else found.high,
        "exceeds": _exceeding(people, found, belief, point),
        "looked_at": 0 if found is None else int(found.looked_at.sum()),
        "how": "groups alone" if found is None else found.how,
        "why": why,
        "runs": 0 if found is None else found.runs,
        "behind": None if found is None else found.behind,
        "moved": None if found is None else found.moved,
    }
    fields = {name: getattr(scored, name) for name in scored.__dataclass_fields__}
    if found is not None:
        fields["worst_posterior"] = max(found.worst, float(groups[point[~found.looked_at]].max(initial=0.0)))
    return Minimal(**fields, beside=beside, belief=belief)


def _exceeding(people: Seen, found: Concluded | None, belief: np.ndarray, point: np.ndarray) -> int | None:
    """How many people stand above the promise; None where there is no cap, or a walk cannot tell."""
    if people.promised is None or (found is not None and found.how == "walked"):
        return None
    if found is None or found.sure is None:
        return int(people.people[belief.max(axis=1) > people.promised].sum())
    most = found.belief.max(axis=1)
    at = np.flatnonzero(found.looked_at & (most > people.promised))
    z = NormalDist().inv_cdf(1 - 0.025 / max(len(at), 1))  # all of them are asked about at once
    above = [
        rows == np.inf or wilson(round(share * rows), int(rows), z)[0] > people.promised
        for share, rows in zip(most[at], found.sure[at], strict=True)
    ]
    return int(np.sum(above))
