"""The corruption attack on a release: steps A1 to A3 for every victim, or for one, and the worst of them beside the bounds.

On a sampled release the posterior is that of equations 4 to 19.  A domain that nobody declared is the values that occur: the adversary
reads it too, and who has a value that no corrupted person has is certain where only the victim is left (`domain_knowledge`).  On a release that shows every person's value, whoever knows all
others subtracts: what is left over is the victim's (lemma 2), `unmasked`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from reticent.attacks.corruption.domain_knowledge import DomainKnowledge
from reticent.attacks.corruption.people import corrupted_people, refuse_lacking, table, victim_person
from reticent.attacks.corruption.search import Adversary, Victims, worst
from reticent.attacks.corruption.unmasked import unmasked
from reticent.attacks.score import Outcome, wilson
from reticent.errors import BundleDamaged, RequestError
from reticent.models import corruption_bounds as bounds
from reticent.models.exact import exact
from reticent.models.rho_guarantee import checked_skew
from reticent.release.domain_declaration import declaration_of
from reticent.release.reading.crucial import crucial_rows, read_column
from reticent.table.roles import Role
from reticent.table.types import typed


@dataclass(frozen=True, eq=False)
class CorruptionOutcome(Outcome):
    """Beside what every attack answers: the worst growth, the bounds (tight, and of theorem 2), and h at the worst."""

    worst_growth: float = 0.0
    bound: float | None = None
    bound_theorem2: float | None = None
    growth_bound: float | None = None
    growth_bound_theorem3: float | None = None
    h: float | None = None
    facts: dict[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        own = ("worst_growth", "bound", "bound_theorem2", "growth_bound", "growth_bound_theorem3", "h")
        return {**Outcome.to_dict(self), **{name: getattr(self, name) for name in own}, **(self.facts or {})}


def corruption(release: Any, source: Any, *, external: Any = None, corrupted: Any = None, victim: str | None = None,
               lambda_: Any = "0.1", rho1: Any = "0.2", missing: tuple[str, ...] = ()) -> CorruptionOutcome:  # fmt: skip
    """Attack as who knows the external list (the source where none is given) and the values of `corrupted` people on it.

    Where no corrupted people are given, everyone but the victim is corrupted: the worst there is.
    """
    adversary = Adversary(checked_skew(lambda_, "the attack"), exact(rho1, "rho1"))
    if not 0 <= adversary.rho1 < 1:
        raise RequestError("rho1 must be a probability below 1.", attempt="--rho1 0.2.")
    if source is None:
        raise RequestError("The attack 'corruption' needs the data that the release was made from: its targets.",
                           attempt="source=..., --source DATA.")  # fmt: skip
    people = table(source, missing)
    refuse_lacking(people, [column.name for column in release.columns], "source")
    if "p" not in release.manifest.own:  # not one perturbed tuple of each group: its values are people's
        return _unmasked(release, people, adversary)
    listed = None if external is None else table(external, missing)
    known = None if corrupted is None else table(corrupted, missing)
    return _on_sampled(Attacked(release, people, listed, known, victim), adversary)


class Attacked:
    """A sampled release, its source, and what the adversary knows."""

    def __init__(self, release: Any, people: pl.DataFrame, external: pl.DataFrame | None, corrupted: pl.DataFrame | None,
                 victim: str | None):  # fmt: skip
        own = release.manifest.own
        self.release, self.people, self.frame = release, people, release.tables["data"]
        self.p, self.k = exact(own["p"]), int(own["k"])
        grouping = release.manifest.method.parameters.get("grouping", "mondrian")
        self.counted_on = self.k if grouping == "mondrian" else 1
        self.sensitive = release.manifest.sensitive
        self.domain = typed(list(own["domain"]), self.sensitive.dtype).cast(pl.String).to_list()
        self.size = self.frame["G"].to_numpy()
        self.y = self.codes(self.frame[self.sensitive.name])
        self.external, self.corrupted, self.victim = external, corrupted, victim
        self.declared = declaration_of(release.manifest) is not None

    def codes(self, values: pl.Series) -> np.ndarray:
        """Places in the domain; -1 for a null, which stands for an extraneous person."""
        place = {text: at for at, text in enumerate(self.domain)}
        texts = values.cast(pl.String)
        found = texts.replace_strict(place, default=-1, return_dtype=pl.Int64).to_numpy()
        if ((found < 0) & ~texts.is_null().to_numpy()).any():
            raise RequestError(f"Column {self.sensitive.name!r} holds values that are not in the release's domain.")
        return found

    def crucial(self, people: pl.DataFrame, what: str) -> np.ndarray:
        """Step A1 for each of the people: the row that covers them, -1 for none."""
        quasi = self.release.manifest.named(Role.QUASI)
        refuse_lacking(people, [entry.name for entry in quasi], what)
        columns = [read_column(entry, self.frame[entry.name], people[entry.name]) for entry in quasi]
        found = crucial_rows(columns, [people[entry.name] for entry in quasi])
        if found is None:
            raise BundleDamaged("Labels of two published rows cover the same person.")
        return found

    def count(self, owner: np.ndarray) -> np.ndarray:
        return np.bincount(owner[owner >= 0], minlength=len(self.size))


def _on_sampled(at: Attacked, adversary: Adversary) -> CorruptionOutcome:
    if adversary.lambda_ * len(at.domain) < 1:
        raise RequestError(f"lambda is below 1/{len(at.domain)}: no prior over the domain is as even.")
    owner = at.crucial(at.people, "source")
    if (owner < 0).any() or (at.count(owner) != at.size).any():
        raise RequestError("The source is not what the release was made from.",
                           why="Some of its people are under no label, or a group's G is another number.",
                           attempt="the data that was published.")  # fmt: skip
    true = at.codes(at.people[at.sensitive.name])
    known = at.external is not None or at.corrupted is not None or at.victim is not None
    victims, groups, learned = _partly(at) if known else _everyone(at, owner, true)
    share = np.bincount(owner, weights=true == at.y[owner], minlength=len(at.size)) / at.size
    guesses = share[groups]  # the guess is the value that is shown
    told = learned.posteriors(adversary)
    if not at.declared and not known:
        guesses = np.where(learned.alone, 1.0, guesses)  # or the value that nobody else has
    targets, hits = len(groups), float(guesses.sum())
    found = worst(victims, at.p, len(at.domain), adversary)
    if not at.declared:
        found = replace(
            found, posterior=max(found.posterior, float(told.posterior)), growth=max(found.growth, float(told.growth))
        )
    setting = bounds.Setting(at.p, at.counted_on, len(at.domain), adversary.lambda_)
    low, high = wilson(round(hits), targets)
    most = np.bincount(true, minlength=len(at.domain)).max() / len(true)
    return CorruptionOutcome(
        "corruption", targets, hits / targets, low, high, float(most), found.posterior, _promised(at.release, adversary),
        np.zeros(0), np.zeros(0), found.growth,
        float(bounds.rounded_up(bounds.rho2(setting, adversary.rho1))),
        float(bounds.rounded_up(bounds.rho2_theorem2(setting, adversary.rho1))),
        float(bounds.least(lambda x: bounds.delta_holds(setting, x))),
        float(bounds.least(lambda x: bounds.theorem3_holds(setting, x))), found.h,
        {"domain_declared": at.declared, "single_holders": learned.single_holders},
    )  # fmt: skip


def _everyone(at: Attacked, owner: np.ndarray, true: np.ndarray) -> tuple[Victims, np.ndarray, DomainKnowledge]:
    """Everyone else is corrupted: each person of the source is a victim once."""
    same = np.bincount(owner, weights=true == at.y[owner], minlength=len(at.size)).astype(np.int64)
    others_at_y = same[owner] - (true == at.y[owner])
    size = at.size[owner]
    holders = np.bincount(true, minlength=len(at.domain))
    learned = DomainKnowledge.of_everyone_else(holders, true)
    return Victims(size, size - 1, others_at_y, np.zeros_like(size)), owner, learned


def _partly(at: Attacked) -> tuple[Victims, np.ndarray, DomainKnowledge]:
    """Some are corrupted: of each group what is known, with one victim in it, or the one victim asked for."""
    listed = at.people if at.external is None else at.external
    owner = at.crucial(listed, "external list")
    present = at.count(owner)
    if (present < at.size).any():
        raise RequestError(
            "The external list does not cover the release.",
            why=f"Of {len(at.size):,} groups {int((present < at.size).sum()):,} have more people than the list has under their labels.",
            attempt="a list with everybody in the release.",
        )
    person = None if at.victim is None else victim_person(listed, at.victim)
    values = np.full(len(listed), -2)  # -2: not corrupted, -1: extraneous
    if at.corrupted is not None:
        who, learned = corrupted_people(listed, at.corrupted, at.sensitive.name)
        values[who] = at.codes(learned)
    elif at.external is None:
        values[:] = at.codes(at.people[at.sensitive.name])
    if person is not None and at.corrupted is not None and values[person] != -2:
        raise RequestError(
            "The victim is among the corrupted people.",
            why="Who has learned the victim's value has nothing left to find out.",
            attempt="a list of corrupted people without the victim, or another victim.",
        )
    if person is not None:
        values[person] = -2
    inside = owner >= 0
    groups = np.flatnonzero(at.count(owner[inside & (values == -2)])) if person is None else owner[[person]]
    if not len(groups) or groups.min() < 0:
        raise RequestError("The victim is under no label of the release." if person is not None else "Nobody is left to attack.",
                           attempt="a victim who is in the data and not corrupted.")  # fmt: skip
    corrupted = at.count(owner[inside & (values >= 0)])[groups]
    at_y = np.bincount(owner[inside], weights=(values == at.y[owner])[inside], minlength=len(at.size)).astype(np.int64)[
        groups
    ]
    candidates = at.count(owner[inside & (values == -2)])[groups] - 1
    size = at.size[groups]
    left = size - 1 - corrupted
    if ((left < 0) | (left > candidates)).any():
        raise RequestError("What is known of a group contradicts its size.",
                           why="More people are corrupted, or extraneous, than a group's G allows.",
                           attempt="corrupted people with the values that they have.")  # fmt: skip
    unknown = int((values == -2).sum()) if at.external is None else None  # on a longer list some are in no group
    holders = np.bincount(values[values >= 0], minlength=len(at.domain))
    return Victims(size, corrupted, at_y, candidates), groups, DomainKnowledge.of_some(holders, unknown)


def _promised(release: Any, adversary: Adversary) -> float | None:
    """The least rho2 promised to who believes no more than this adversary."""
    fit = [
        exact(asked["rho2"])
        for asked in (promise.parameters for promise in release.manifest.promises)
        if "rho2" in asked and exact(asked["lambda"]) >= adversary.lambda_ and exact(asked["rho1"]) >= adversary.rho1
    ]
    return float(min(fit)) if fit else None


def _unmasked(release: Any, people: pl.DataFrame, adversary: Adversary) -> CorruptionOutcome:
    found = unmasked(release, people)
    targets, hits = found.targets, found.unmasked
    low, high = wilson(hits, targets)
    certain = 1.0 if hits else float(adversary.rho1)
    return CorruptionOutcome("corruption", targets, hits / targets, low, high, found.baseline, certain, None, np.zeros(0),
                             np.zeros(0), 1 - found.rarest if hits else 0.0, None, None, None, None, None,
                             found.facts)  # fmt: skip
