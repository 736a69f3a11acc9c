"""Corruption attack: steps A1 to A3 for every victim, or for one, and the worst of them beside the bounds.

The attack is that of Tao, Xiao, Li & Zhang (ICDE 2008).  The adversary knows an external list of people and the values
of the corrupted people on it.  A corrupted person is a line of a table with the sensitive column, empty where the
person is known to be extraneous; it stands for a person of the external list who agrees with it in every other column
that both tables have (`find_corrupted_people`).

On a sampled release the posterior is that of equations 4 to 19, exact in fractions (`LinkingSituation`).  A victim's
crucial tuple shows y and stands for G people.  Beside the victim e people on the external list lie under its labels; of
them alpha are corrupted, beta with a value and the others known to be extraneous.  Each of the rest is in the group
with probability g = (G - 1 - beta) / (e - alpha); where everyone is corrupted there is no rest and g = 0 (ERRATA 5.4).

The worst attack on every group (`find_worst_case`) has the worst prior within lambda and the worst predicate, for what
is known of the others.  By equations 9 to 19, with w the prior of y, q that of Q (y in it; theorem 1), and S what the
others contribute,

    P_post(Q) - q = p w (1 - q) / (p w + u + S)

so the worst posterior at prior rho1 has w = min(lambda, rho1), and the worst growth has q = w at sqrt(a^2 + a) - a, a =
(u + S) / p, moved into what a lambda-skewed prior allows.  One array operation covers all victims; the worst of each is
computed again in fractions.

A domain that nobody declared is the values that occur, and the adversary reads it too (`DomainKnowledge`).  Every value
of such a domain has a holder.  If no corrupted person has a value, one of the n people who are not corrupted has it: a
prior w of it becomes w / (1 - (1 - w)^n), certainty where the victim alone is left.  A declared domain reveals nothing.

On a release that shows people's values (`find_unmasked_people`, lemmas 1 and 2) an adversary who knows everyone else's
value subtracts these from what is published.  Lemma 2: where a value is left over, it is the victim's, for certain,
however little was believed before.  Of a complete release one is left over for everybody.  Of a random sample of one
this is so for people who have a value of which the sample shows as many as people have: `are_unmasked` finds them, for
whole tables or group by group.  Redrawn values are no counts, but the manifest of a perturbed release has the overall
distribution, which is: its promise is about an adversary who knows that distribution and nobody else's value.  Lemma 1,
without any corruption: the values of a group with u different ones, less the l - 2 that (c,l)-diversity lets an
adversary rule out, make a predicate with the prior (u - l + 2) / (|U| - l + 2) that is certain afterwards.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl

from reticent.attacks.scoring import AttackOutcome, compute_wilson_interval
from reticent.data.cells import Cells
from reticent.data.columns import Role
from reticent.data.csv import suggest_column
from reticent.data.parsing import parse_texts
from reticent.data.source import Source, collect_frame, scan_source
from reticent.errors import BundleDamaged, RequestError, pluralize, quote_list
from reticent.format.manifest import Manifest, find_domain_declaration
from reticent.labels.crucial_tuple import find_crucial_rows, read_column
from reticent.models import corruption_guarantees as bounds
from reticent.models.corruption_guarantees import validate_skew
from reticent.models.rational_bounds import parse_fraction

MAX_INFORMATIVE_PEOPLE = 10_000  # more people than that tell the adversary next to nothing
PriorBelief = Sequence[Fraction]


@dataclass(frozen=True, slots=True)
class CorruptionAdversary:
    """The adversary's prior: `lambda_`-skewed, and of at most `rho1` in the predicate."""

    lambda_: Fraction
    rho1: Fraction


@dataclass(frozen=True, slots=True)
class WorstCase:
    """The highest posterior from rho1, the highest growth, and how surely the tuple is the victim's there."""

    posterior: float
    growth: float
    h: float


@dataclass(frozen=True, eq=False)
class CorruptionVictims:
    """For each victim the group's size, and of the others in it: corrupted, those of them at y, uncorrupted candidates."""

    size: np.ndarray
    corrupted: np.ndarray
    at_y: np.ndarray
    candidates: np.ndarray


def find_worst_case(victims: CorruptionVictims, p: Fraction, domain: int, adversary: CorruptionAdversary) -> WorstCase:
    """Find the worst case of all victims; the uncorrupted have any value equally likely."""
    u = (1 - p) / domain
    uncorrupted = victims.size - 1 - victims.corrupted
    rest = float(u) * victims.corrupted + float(p) * victims.at_y + uncorrupted / domain
    worst = int(rest.argmin())
    others = (
        u * int(victims.corrupted[worst]) + p * int(victims.at_y[worst]) + Fraction(int(uncorrupted[worst]), domain)
    )
    w = min(adversary.lambda_, adversary.rho1)
    pull = p * w
    posterior = adversary.rho1 + pull * (1 - adversary.rho1) / (pull + u + others)
    return WorstCase(
        float(posterior),
        _compute_worst_growth(p, u + others, domain, adversary.lambda_),
        float((pull + u) / (pull + u + others)),
    )


@dataclass(frozen=True, slots=True)
class DomainBelief:
    """The highest posterior from rho1 and the highest growth that the domain alone gives."""

    posterior: Fraction
    growth: Fraction


@dataclass(frozen=True, eq=False)
class DomainKnowledge:
    """Knowledge from a domain that is the values that occur.

    `single_holders` people have a value that nobody else has; `alone[i]` is whether victim i is one of them. `unknown`
    people, the victim among them, share the values that no corrupted person has; None where there is no such value.
    """

    single_holders: int
    alone: np.ndarray
    unknown: int | None

    @classmethod
    def of_everyone_else(cls, holders: np.ndarray, true_codes: np.ndarray) -> DomainKnowledge:
        """Make the knowledge of an adversary who has corrupted everybody but the victim, for every victim."""
        alone = holders[true_codes] == 1
        return cls(int(alone.sum()), alone, 1 if alone.any() else None)

    @classmethod
    def of_some(cls, holders: np.ndarray, unknown: int | None) -> DomainKnowledge:
        """Make the knowledge of an adversary who has corrupted some people.

        `holders[v]` corrupted people have value v, and `unknown` people of the table are not corrupted (None: not
        known).
        """
        unheld = int((holders == 0).sum())
        informative_unknown = unknown if unheld else None
        return cls(unheld if informative_unknown == 1 else 0, np.zeros(0, bool), informative_unknown)

    def posteriors(self, adversary: CorruptionAdversary) -> DomainBelief:
        if self.unknown is None or self.unknown > MAX_INFORMATIVE_PEOPLE:
            return DomainBelief(adversary.rho1, Fraction(0))
        w = min(adversary.lambda_, adversary.rho1)
        nobody_else = (1 - w) ** (self.unknown - 1)
        somebody = 1 - nobody_else * (1 - w)
        rest = (adversary.rho1 - w) * (1 - nobody_else)
        posterior = (w + rest) / somebody if w else adversary.rho1
        return DomainBelief(posterior, posterior - adversary.rho1)


def read_people(people: Any, missing: Sequence[str] = ()) -> pl.DataFrame:
    """Read a path, a `Source` or a frame as rows."""
    if isinstance(people, Source):
        return collect_frame(scan_source(people), "Reading the people")
    is_path = not hasattr(people, "columns")
    source = Source(path=str(people) if is_path else None, missing=tuple(missing))
    return collect_frame(scan_source(source, None if is_path else people), "Reading the people")


def require_columns(people: pl.DataFrame, columns: Sequence[str], table_name: str) -> None:
    lacking = [name for name in columns if name not in people.columns]
    if lacking:
        raise RequestError(
            f"The {table_name} lacks {pluralize(len(lacking), 'column')}: {quote_list(lacking)}.",
            attempt="a table with every quasi-identifier of the release.",
        )


def find_corrupted_people(
    external: pl.DataFrame, corrupted: pl.DataFrame, sensitive: str
) -> tuple[np.ndarray, pl.Series]:
    """Find the person on the external list that each corrupted one is, and the values that were learned."""
    require_columns(corrupted, [sensitive], "list of corrupted people")
    keys = [name for name in external.columns if name in corrupted.columns and name != sensitive]
    if not keys:
        raise RequestError(
            "The list of corrupted people shares no column with the external list.",
            attempt="the columns that tell people apart, and the sensitive one.",
        )
    texts = [pl.col(name).cast(pl.String) for name in keys]
    # Several people may read the same: the first of them is the first corrupted, and so on.
    turn = pl.int_range(pl.len()).over(keys).alias("\x00turn")
    people_on_list = external.select(*texts, turn, pl.int_range(pl.len()).alias("\x00person"))
    corrupted_texts = corrupted.select(*texts, turn)
    persons = corrupted_texts.join(
        people_on_list, on=[*keys, "\x00turn"], how="left", nulls_equal=True, maintain_order="left"
    )["\x00person"]
    if persons.null_count():
        raise RequestError(
            f"{pluralize(persons.null_count(), 'corrupted person', 'is', 'are')} not on the external list.",
            attempt="lines that agree with it in every column that both have.",
        )
    return persons.to_numpy(), corrupted[sensitive]


def find_victim(external: pl.DataFrame, description: str) -> int:
    """Find the one person whose columns match: "name=Ellie" or "age=50,sex=F"."""
    matches = pl.lit(True)
    for part in description.split(","):
        name, equals, value = part.partition("=")
        if not equals or name.strip() not in external.columns:
            raise RequestError(
                "A victim is named by columns of the external list.",
                why=f"{name.strip()!r} is none of them." if equals else "",
                attempt=f"column=value[,column=value]. {suggest_column(name.strip(), external.columns, external.lazy())}",
            )
        matches &= pl.col(name.strip()).cast(pl.String) == value.strip()
    persons = np.flatnonzero(external.select(matches.alias("x")).to_series().fill_null(False).to_numpy())
    if len(persons) != 1:
        raise RequestError(f"{len(persons)} people on the list are as the victim is described.", attempt="exactly one.")
    return int(persons[0])


@dataclass(frozen=True, slots=True)
class UnmaskedPeople:
    """People whose value follows from everyone else's, of `targets` people; `rarest` is the share of their rarest value."""

    targets: int
    unmasked: int
    baseline: float
    rarest: float
    facts: dict[str, Any] = field(default_factory=dict)


def find_unmasked_people(release: Any, people: pl.DataFrame) -> UnmaskedPeople:
    if len(release.manifest.find_columns_with_role("sensitive")) != 1:
        raise RequestError("An attack needs a release with one sensitive column.")
    column = release.manifest.sensitive.name
    is_perturbed = "matrix" in release.manifest.own
    published_counts = (
        _read_manifest_counts(release.manifest) if is_perturbed else _to_value_counts(release.value_counts(column))
    )
    true_counts = _to_value_counts(people.group_by(pl.col(column).alias("value")).len("count"))
    values = sorted(true_counts, key=str)
    true_numbers = np.array([true_counts[value] for value in values])
    published = np.array([published_counts.get(value, 0) for value in values])
    is_unmasked = are_unmasked(published, true_numbers)
    hits = int(true_numbers[is_unmasked].sum())
    total = int(true_numbers.sum())
    rarest = float(true_numbers[is_unmasked].min() / total) if hits else 0.0
    facts = {} if is_perturbed else _apply_lemma1(release, people, len(values))
    return UnmaskedPeople(total, hits, float(true_numbers.max() / total), rarest, facts)


def are_unmasked(published: np.ndarray, true_counts: np.ndarray) -> np.ndarray:
    """Tell where the holder of a value is unmasked: all holders but one are known, and more than these are published."""
    return (true_counts > 0) & (published > true_counts - 1)


def compute_certain_predicate_prior(distinct: int, domain: int, l: int) -> Fraction:  # noqa: E741  the field's own letter
    """Compute the prior of a predicate that is certain once the group is seen (lemma 1)."""
    return Fraction(distinct - l + 2, domain - l + 2)


@dataclass(frozen=True, eq=False)
class CorruptionOutcome(AttackOutcome):
    """Outcome of an attack with the worst growth, the bounds (tight, and of theorem 2), and h at the worst."""

    worst_growth: float = 0.0
    bound: float | None = None
    bound_theorem2: float | None = None
    growth_bound: float | None = None
    growth_bound_theorem3: float | None = None
    h: float | None = None
    facts: dict[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        own = ("worst_growth", "bound", "bound_theorem2", "growth_bound", "growth_bound_theorem3", "h")
        return {**AttackOutcome.to_dict(self), **{name: getattr(self, name) for name in own}, **(self.facts or {})}


def attack_by_corruption(
    release: Any,
    source: Any,
    *,
    external: Any = None,
    corrupted: Any = None,
    victim: str | None = None,
    lambda_: Any = "0.1",
    rho1: Any = "0.2",
    missing: tuple[str, ...] = (),
) -> CorruptionOutcome:
    """Attack as an adversary with the external list (default: the source) and the values of `corrupted` people on it.

    Where no corrupted people are passed, everyone but the victim is corrupted: the worst there is.
    """
    adversary = CorruptionAdversary(validate_skew(lambda_, "the attack"), parse_fraction(rho1, "rho1"))
    if not 0 <= adversary.rho1 < 1:
        raise RequestError("rho1 must be a probability below 1.", attempt="--rho1 0.2.")
    people = read_people(source, missing)
    require_columns(people, [column.name for column in release.columns], "source")
    if "p" not in release.manifest.own:  # not one perturbed tuple of each group: its values are people's
        return _attack_unmasked(release, people, adversary)
    external_people = None if external is None else read_people(external, missing)
    corrupted_people = None if corrupted is None else read_people(corrupted, missing)
    return _attack_sampled(SampledTarget(release, people, external_people, corrupted_people, victim), adversary)


class SampledTarget:
    """A sampled release, its source, and what the adversary knows."""

    def __init__(
        self,
        release: Any,
        people: pl.DataFrame,
        external: pl.DataFrame | None,
        corrupted: pl.DataFrame | None,
        victim: str | None,
    ):
        own = release.manifest.own
        self.release = release
        self.people = people
        self.frame = release.tables["data"]
        self.p = parse_fraction(own["p"])
        self.k = int(own["k"])
        grouping = release.manifest.method.parameters.get("grouping", "mondrian")
        self.counted_on = self.k if grouping == "mondrian" else 1
        self.sensitive = release.manifest.sensitive
        self.domain = parse_texts(list(own["domain"]), self.sensitive.dtype).cast(pl.String).to_list()
        self.size = self.frame["G"].to_numpy()
        self.y = self.codes(self.frame[self.sensitive.name])
        self.external = external
        self.corrupted = corrupted
        self.victim = victim
        self.declared = find_domain_declaration(release.manifest) is not None

    def codes(self, values: pl.Series) -> np.ndarray:
        """Return places in the domain; -1 for a null, which stands for an extraneous person."""
        place = {text: position for position, text in enumerate(self.domain)}
        texts = values.cast(pl.String)
        value_codes = texts.replace_strict(place, default=-1, return_dtype=pl.Int64).to_numpy()
        if ((value_codes < 0) & ~texts.is_null().to_numpy()).any():
            raise RequestError(f"Column {self.sensitive.name!r} holds values that are not in the release's domain.")
        return value_codes

    def find_crucial_rows(self, people: pl.DataFrame, table_name: str) -> np.ndarray:
        """Find the row that covers each of the people (step A1), -1 for none."""
        quasi = self.release.manifest.find_columns_with_role(Role.QUASI)
        require_columns(people, [entry.name for entry in quasi], table_name)
        columns = [read_column(entry, self.frame[entry.name], people[entry.name]) for entry in quasi]
        crucial_rows = find_crucial_rows(columns, [people[entry.name] for entry in quasi])
        if crucial_rows is None:
            raise BundleDamaged("Labels of two published rows cover the same person.")
        return crucial_rows

    def count(self, owner: np.ndarray) -> np.ndarray:
        return np.bincount(owner[owner >= 0], minlength=len(self.size))


@dataclass(frozen=True, slots=True)
class LinkingSituation:
    """The situation of step A3: `corrupted` are the values of the beta people, `others` the priors of the e - alpha uncorrupted."""

    p: Fraction
    domain: int
    y: int
    size: int
    corrupted: tuple[int, ...] = ()
    others: tuple[PriorBelief, ...] = ()

    def __post_init__(self) -> None:
        uncorrupted = self.size - 1 - len(self.corrupted)
        if not 0 <= uncorrupted <= len(self.others):
            raise RequestError(
                "What is known of a group contradicts its size.",
                why=f"It has {self.size} people: the victim, {len(self.corrupted)} corrupted, and {len(self.others)} candidates "
                "for the rest.",
                attempt="an external list that holds everybody in the release, and corrupted people as they are.",
            )

    @property
    def redrawn(self) -> Fraction:
        return (1 - self.p) / self.domain

    def chance(self, x: int) -> Fraction:
        """Compute P[x -> y], equation 11."""
        return self.redrawn + (self.p if x == self.y else 0)

    @property
    def g(self) -> Fraction:
        """Equation 13."""
        uncorrupted = self.size - 1 - len(self.corrupted)
        return Fraction(uncorrupted, len(self.others)) if self.others else Fraction(0)

    def chance_of_showing(self, prior: PriorBelief) -> Fraction:
        """Compute the chance that a person with this prior shows y: the bracket of equations 15 and 19."""
        return self.p * prior[self.y] + self.redrawn

    def compute_h(self, prior: PriorBelief) -> Fraction:
        """Compute h, the probability that the tuple is the victim's (equations 14 to 19)."""
        own = self.chance_of_showing(prior)
        rest = sum((self.chance(x) for x in self.corrupted), Fraction(0))
        rest += self.g * sum((self.chance_of_showing(other) for other in self.others), Fraction(0))
        return own / (own + rest)

    def posterior(self, prior: PriorBelief) -> list[Fraction]:
        """Compute P[X = x | y] for every x, equations 9 and 12."""
        h = self.compute_h(prior)
        own = self.chance_of_showing(prior)
        return [h * w * self.chance(x) / own + (1 - h) * w for x, w in enumerate(prior)]

    def confidence(self, prior: PriorBelief, predicate: Collection[int]) -> tuple[Fraction, Fraction]:
        """Compute P_prior(Q) and P_post(Q), equations 5 and 10."""
        posterior = self.posterior(prior)
        return sum((prior[x] for x in predicate), Fraction(0)), sum((posterior[x] for x in predicate), Fraction(0))


def _compute_worst_growth(p: Fraction, rest: Fraction, domain: int, skew: Fraction) -> float:
    a = float(rest / p)
    least_prior = max(0.0, 1 - (domain - 1) * float(skew))
    w = min(max((a * a + a) ** 0.5 - a, least_prior), float(skew))
    return w * (1 - w) / (w + a)


def _read_manifest_counts(manifest: Manifest) -> dict[str | None, int]:
    """Read how many people have each value, as far as a manifest of redrawn values reveals it.

    With the overall distribution it reveals all of them.  Without, the list of values reveals of each that at least one
    person has it, unless a hierarchy or an order lists them.
    """
    values = manifest.own["values"]
    column = manifest.sensitive
    if "distribution" in manifest.own:
        shares = [Fraction(str(share)) for share in manifest.own["distribution"]]
        return {value: round(share * manifest.rows) for value, share in zip(values, shares, strict=True)}
    declared = column.hierarchy is not None or column.order is not None
    return dict.fromkeys(values, 0 if declared else 1)


def _to_value_counts(counted: pl.DataFrame) -> dict[str | None, int]:
    """Count the rows that hold each value, from values with their counts."""
    return dict(zip(counted.to_series(0).cast(pl.String).to_list(), counted.to_series(1).to_list(), strict=True))


def _apply_lemma1(release: Any, people: pl.DataFrame, values: int) -> dict[str, Any]:
    """Compute the prior of a predicate that a group makes certain."""
    from reticent.attacks.target import count_source_cells

    cells: Cells = count_source_cells(release.columns, people)
    distinct = int((release.sight(cells).counts > 0).sum(axis=1).min())
    ruled_out = max(_find_promised_l(release.manifest) - 2, 0)
    prior = compute_certain_predicate_prior(distinct, values, ruled_out + 2)
    return {"predicate_prior": float(prior), "predicate_posterior": 1.0}


def _attack_unmasked(release: Any, people: pl.DataFrame, adversary: CorruptionAdversary) -> CorruptionOutcome:
    unmasked = find_unmasked_people(release, people)
    targets = unmasked.targets
    hits = unmasked.unmasked
    low, high = compute_wilson_interval(hits, targets)
    certain = 1.0 if hits else float(adversary.rho1)
    return CorruptionOutcome(
        "corruption",
        targets,
        hits / targets,
        low,
        high,
        unmasked.baseline,
        certain,
        None,
        np.zeros(0),
        np.zeros(0),
        1 - unmasked.rarest if hits else 0.0,
        None,
        None,
        None,
        None,
        None,
        unmasked.facts,
    )


def _attack_sampled(sampled: SampledTarget, adversary: CorruptionAdversary) -> CorruptionOutcome:
    if adversary.lambda_ * len(sampled.domain) < 1:
        raise RequestError(f"lambda is below 1/{len(sampled.domain)}: no prior over the domain is as even.")
    owner = sampled.find_crucial_rows(sampled.people, "source")
    if (owner < 0).any() or (sampled.count(owner) != sampled.size).any():
        raise RequestError(
            "The source is not what the release was made from.",
            why="Some of its people are under no label, or a group's G is another number.",
            attempt="the data that was published.",
        )
    true_codes = sampled.codes(sampled.people[sampled.sensitive.name])
    has_partial_knowledge = sampled.external is not None or sampled.corrupted is not None or sampled.victim is not None
    victims, groups, learned = (
        _corrupt_some(sampled) if has_partial_knowledge else _corrupt_everyone_else(sampled, owner, true_codes)
    )
    share = np.bincount(owner, weights=true_codes == sampled.y[owner], minlength=len(sampled.size)) / sampled.size
    guesses = share[groups]  # the guess is the value that is shown
    domain_belief = learned.posteriors(adversary)
    if not sampled.declared and not has_partial_knowledge:
        guesses = np.where(learned.alone, 1.0, guesses)  # or the value that nobody else has
    targets = len(groups)
    hits = float(guesses.sum())
    worst_case = find_worst_case(victims, sampled.p, len(sampled.domain), adversary)
    if not sampled.declared:
        worst_case = replace(
            worst_case,
            posterior=max(worst_case.posterior, float(domain_belief.posterior)),
            growth=max(worst_case.growth, float(domain_belief.growth)),
        )
    setting = bounds.CorruptionSetting(sampled.p, sampled.counted_on, len(sampled.domain), adversary.lambda_)
    low, high = compute_wilson_interval(round(hits), targets)
    most_frequent_share = np.bincount(true_codes, minlength=len(sampled.domain)).max() / len(true_codes)
    return CorruptionOutcome(
        "corruption",
        targets,
        hits / targets,
        low,
        high,
        float(most_frequent_share),
        worst_case.posterior,
        _find_promised_rho2(sampled.release, adversary),
        np.zeros(0),
        np.zeros(0),
        worst_case.growth,
        float(bounds.round_up(bounds.compute_rho2(setting, adversary.rho1))),
        float(bounds.round_up(bounds.compute_rho2_theorem2(setting, adversary.rho1))),
        float(bounds.find_least_bound(lambda x: bounds.delta_holds(setting, x))),
        float(bounds.find_least_bound(lambda x: bounds.theorem3_holds(setting, x))),
        worst_case.h,
        {"domain_declared": sampled.declared, "single_holders": learned.single_holders},
    )


def _find_promised_l(manifest: Manifest) -> int:
    promised = [int(p.parameters["l"]) for p in manifest.promises if p.name == "recursive-l-diversity"]
    return min(promised, default=2)


def _corrupt_some(sampled: SampledTarget) -> tuple[CorruptionVictims, np.ndarray, DomainKnowledge]:
    """Corrupt some people: of each group what is known, with one victim in it, or the one victim of the option."""
    external_people = sampled.people if sampled.external is None else sampled.external
    owner = sampled.find_crucial_rows(external_people, "external list")
    present = sampled.count(owner)
    if (present < sampled.size).any():
        raise RequestError(
            "The external list does not cover the release.",
            why=f"Of {len(sampled.size):,} groups {int((present < sampled.size).sum()):,} have more people than the list has under their labels.",
            attempt="a list with everybody in the release.",
        )
    person = None if sampled.victim is None else find_victim(external_people, sampled.victim)
    values = np.full(len(external_people), -2)  # -2: not corrupted, -1: extraneous
    if sampled.corrupted is not None:
        corrupted_persons, learned = find_corrupted_people(external_people, sampled.corrupted, sampled.sensitive.name)
        values[corrupted_persons] = sampled.codes(learned)
    elif sampled.external is None:
        values[:] = sampled.codes(sampled.people[sampled.sensitive.name])
    if person is not None and sampled.corrupted is not None and values[person] != -2:
        raise RequestError(
            "The victim is among the corrupted people.",
            why="Who has learned the victim's value has nothing left to find out.",
            attempt="a list of corrupted people without the victim, or another victim.",
        )
    if person is not None:
        values[person] = -2
    inside = owner >= 0
    # Where all rows of a group are of corrupted people, whoever else is under its label is not in the data.
    has_room = sampled.count(owner[inside & (values >= 0)]) != sampled.size
    candidates_left = sampled.count(owner[inside & (values == -2)]) * has_room
    groups = np.flatnonzero(candidates_left) if person is None else owner[[person]]
    if not len(groups) or groups.min() < 0:
        raise RequestError(
            "The victim is under no label of the release." if person is not None else "Nobody is left to attack.",
            attempt="a victim who is in the data and not corrupted.",
        )
    corrupted = sampled.count(owner[inside & (values >= 0)])[groups]
    at_y = np.bincount(owner[inside], weights=(values == sampled.y[owner])[inside], minlength=len(sampled.size)).astype(
        np.int64
    )[groups]
    candidates = sampled.count(owner[inside & (values == -2)])[groups] - 1
    size = sampled.size[groups]
    uncorrupted = size - 1 - corrupted
    if ((uncorrupted < 0) | (uncorrupted > candidates)).any():
        raise RequestError(
            "What is known of a group contradicts its size.",
            why="More people are corrupted, or extraneous, than a group's G allows.",
            attempt="corrupted people with the values that they have.",
        )
    unknown = int((values == -2).sum()) if sampled.external is None else None  # on a longer list some are in no group
    holders = np.bincount(values[values >= 0], minlength=len(sampled.domain))
    return CorruptionVictims(size, corrupted, at_y, candidates), groups, DomainKnowledge.of_some(holders, unknown)


def _corrupt_everyone_else(
    sampled: SampledTarget, owner: np.ndarray, true_codes: np.ndarray
) -> tuple[CorruptionVictims, np.ndarray, DomainKnowledge]:
    """Corrupt everyone else: each person of the source is a victim once."""
    matches_by_group = np.bincount(owner, weights=true_codes == sampled.y[owner], minlength=len(sampled.size)).astype(
        np.int64
    )
    others_at_y = matches_by_group[owner] - (true_codes == sampled.y[owner])
    size = sampled.size[owner]
    holders = np.bincount(true_codes, minlength=len(sampled.domain))
    learned = DomainKnowledge.of_everyone_else(holders, true_codes)
    return CorruptionVictims(size, size - 1, others_at_y, np.zeros_like(size)), owner, learned


def _find_promised_rho2(release: Any, adversary: CorruptionAdversary) -> float | None:
    """Find the least rho2 promised against an adversary who believes no more than this one."""
    promised = [
        parse_fraction(parameters["rho2"])
        for parameters in (promise.parameters for promise in release.manifest.promises)
        if "rho2" in parameters
        and parse_fraction(parameters["lambda"]) >= adversary.lambda_
        and parse_fraction(parameters["rho1"]) >= adversary.rho1
    ]
    return float(min(promised)) if promised else None
