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

Where a group shows several tuples (`draw` = "many"), the likelihood of all of them decides (`drawn_tuples`), and more than
one value may be lifted.  Groups are looked at in the order of a bound on what they can reach, until no other can be worse
(`find_worst_of_many`): with n tuples of N people, s the share of the tuples that show the most frequent value and r = n / N,
no value's likelihood exceeds another's by more than r p s / u / (1 - r + r s) of it, because A >= u B_i.

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
adversary rule out, make a predicate with the prior (u - l + 2) / (|U| - l + 2) that is certain afterwards.  Of a
transformed release a node is left over (`remaining_values.py`), and of a plain table labels and values.

Where people have several rows, and columns of the source tell whose a row is, each person is a victim once, none of whose
rows is known: what all of them show is weighed together (`person_rows.py`).  Otherwise each row is a victim by itself.

With a predicate or a prior of one's own (`stated_belief.py`) the beliefs are those that are stated, and so are the bounds
beside them: lambda is then the greatest probability of a value, and rho1 that of the predicate.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl

from reticent.attacks.drawn_tuples import DrawnTuples, compute_lifts, find_worst_belief
from reticent.attacks.person_rows import GroupTuples, PersonRows, find_worst_person
from reticent.attacks.remaining_values import find_unmasked_by_groups, find_unmasked_by_nodes
from reticent.attacks.scoring import AttackOutcome, compute_wilson_interval
from reticent.attacks.stated_belief import (
    Confidence,
    StatedBelief,
    confide,
    find_worst_prior,
    read_predicate,
    read_prior,
)
from reticent.attacks.target import AttackTarget
from reticent.data.cells import Cells
from reticent.data.columns import Role
from reticent.data.csv import suggest_column
from reticent.data.parsing import parse_texts
from reticent.data.source import Source, collect_frame, scan_source
from reticent.errors import BundleDamaged, RequestError, pluralize, quote_list
from reticent.estimate.row_weights import SIZE_COLUMN, draws_many
from reticent.format.manifest import ColumnEntry, Manifest, find_domain_declaration
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

    def select(self, chosen: np.ndarray) -> CorruptionVictims:
        """Return the chosen victims."""
        return CorruptionVictims(self.size[chosen], self.corrupted[chosen], self.at_y[chosen], self.candidates[chosen])


@dataclass(frozen=True, eq=False)
class KnownValues:
    """How many people of each group an adversary knows to have each value: (group, value, people), by group.

    `leaves_out_victim`: the victim is one of those counted, whoever of them it is.
    """

    group: np.ndarray
    value: np.ndarray
    people: np.ndarray
    leaves_out_victim: bool

    @classmethod
    def count(cls, group: np.ndarray, value: np.ndarray, domain: int, leaves_out_victim: bool) -> KnownValues:
        pairs, people = np.unique(group.astype(np.int64) * domain + value, return_counts=True)
        return cls(pairs // domain, pairs % domain, people, leaves_out_victim)

    def list_of_group(self, group: int) -> dict[int, int]:
        """List how many people of one group are known to have each value."""
        begin, end = np.searchsorted(self.group, [group, group + 1])
        return dict(zip(self.value[begin:end].tolist(), self.people[begin:end].tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class ShownTuples:
    """How many tuples of each group show each value: (group, value, tuples), by group."""

    group: np.ndarray
    value: np.ndarray
    tuples: np.ndarray

    def list_of_group(self, group: int) -> dict[int, int]:
        """List how many tuples of one group show each value."""
        begin, end = np.searchsorted(self.group, [group, group + 1])
        return dict(zip(self.value[begin:end].tolist(), self.tuples[begin:end].tolist(), strict=True))


def find_worst_of_many(
    sampled: SampledTarget, groups: np.ndarray, known: KnownValues, adversary: CorruptionAdversary
) -> WorstCase:
    """Find the worst case of all victims in these groups, which show several tuples each."""
    p = float(sampled.p)
    domain = len(sampled.domain)
    reach = _bound_what_groups_reach(sampled, groups, adversary)
    worst: tuple[float, DrawnTuples | None] = (-1.0, None)
    growth = 0.0
    for place in np.lexsort((-reach.growth, -reach.posterior)):
        if reach.posterior[place] <= worst[0] and reach.growth[place] <= growth:
            continue
        group = int(groups[place])
        shown = sampled.shown.list_of_group(group)
        size = int(sampled.size[group])
        for others in _list_possible_others(known, group, shown):
            holders = np.array([others.get(value, 0) for value in shown])
            unknown = size - 1 - sum(others.values())
            lifts = compute_lifts(np.array(list(shown.values())), holders, size, unknown, p, domain)
            ordered = np.sort(lifts)[::-1].tolist()
            reached = find_worst_belief(ordered, domain, float(adversary.lambda_), float(adversary.rho1))
            growth = max(growth, reached.growth)
            if reached.posterior > worst[0]:
                worst = float(reached.posterior), DrawnTuples(sampled.p, domain, size, shown, others)
    assert worst[1] is not None
    exact_lifts = sorted(worst[1].list_lifts().items(), key=lambda item: -item[1])
    exact = find_worst_belief([lift for _, lift in exact_lifts], domain, adversary.lambda_, adversary.rho1)
    belief = {value: Fraction(share) for (value, _), share in zip(exact_lifts, exact.belief, strict=True)}
    if len(belief) == domain:  # no value is left that is not shown: the rest is believed of the least lifted
        belief[exact_lifts[-1][0]] += 1 - sum(belief.values())
    return WorstCase(float(exact.posterior), growth, float(worst[1].compute_chance_of_draw(belief)))


@dataclass(frozen=True, eq=False)
class GroupReach:
    """Bounds on the posterior from rho1 and on the growth that the tuples of each group can reach."""

    posterior: np.ndarray
    growth: np.ndarray


def _bound_what_groups_reach(sampled: SampledTarget, groups: np.ndarray, adversary: CorruptionAdversary) -> GroupReach:
    p = float(sampled.p)
    redrawn = (1 - p) / len(sampled.domain)
    most_shown = np.zeros(len(sampled.size), np.int64)
    np.maximum.at(most_shown, sampled.shown.group, sampled.shown.tuples)
    share = most_shown[groups] / sampled.drawn[groups]
    rate = sampled.drawn[groups] / sampled.size[groups]
    most_lifted = rate * p * share / redrawn / (1 - rate + rate * share)  # any one value
    all_lifted = rate * p / redrawn  # all values together
    rho1 = float(adversary.rho1)
    skew = float(adversary.lambda_)
    lifted = np.minimum(rho1 * most_lifted, min(skew, rho1) * all_lifted)
    a = 1 / most_lifted
    growth = 1 + 2 * a - 2 * np.sqrt(a * a + a)  # at any prior
    rounding = 1 + 1e-9
    return GroupReach((rho1 + lifted) / (1 + lifted) * rounding, growth * rounding)


def _list_possible_others(known: KnownValues, group: int, shown: Mapping[int, int]) -> list[dict[int, int]]:
    """List what the others of a group may be known to have, by value: one entry, or one for each value of a victim.

    Victims whose values are not shown leave the same holders of those that are.
    """
    people = known.list_of_group(group)
    if not known.leaves_out_victim:
        return [people]
    unshown = next((value for value in people if value not in shown), None)
    values = [value for value in people if value in shown or value == unshown]
    return [{**people, value: people[value] - 1} for value in values]


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
    values: frozenset[str | None] = frozenset()  # that unmasked people have


def find_unmasked_people(release: Any, people: pl.DataFrame, naming: Sequence[str] = ()) -> UnmaskedPeople:
    """Find whose value everyone else's leave over; `naming` columns tell whose a row is where people have several."""
    if len(release.manifest.find_columns_with_role("sensitive")) != 1:
        raise RequestError("An attack needs a release with one sensitive column.")
    if "tree" in release.manifest.own:
        true_counts, unmasked_counts, facts = find_unmasked_by_nodes(release, people)
        return _make_unmasked_people(true_counts, unmasked_counts, facts)
    column = release.manifest.sensitive.name
    is_perturbed = "matrix" in release.manifest.own
    published_counts = (
        _read_manifest_counts(release.manifest) if is_perturbed else _to_value_counts(release.value_counts(column))
    )
    true_counts = _to_value_counts(people.group_by(pl.col(column).alias("value")).len("count"))
    unmasked_counts = {}
    for value, rows_of_holder, rows in _list_rows_of_holders(people, column, naming):
        published = np.array([published_counts.get(value, 0)])
        if are_unmasked(published, np.array([true_counts[value]]), rows_of_holder).any():
            unmasked_counts[value] = unmasked_counts.get(value, 0) + rows
    facts = {} if is_perturbed else _apply_lemma1(release, people, len(true_counts))
    return _make_unmasked_people(true_counts, unmasked_counts, facts)


def _make_unmasked_people(
    true_counts: Mapping[str | None, int], unmasked_counts: Mapping[str | None, int], facts: dict[str, Any]
) -> UnmaskedPeople:
    """Make the outcome from how many people have each value, and how many of them are unmasked."""
    total = sum(true_counts.values())
    hits = sum(unmasked_counts.values())
    rarest = min((true_counts[value] for value, count in unmasked_counts.items() if count), default=0) / total
    values = frozenset(value for value, count in unmasked_counts.items() if count)
    return UnmaskedPeople(total, hits, max(true_counts.values()) / total, rarest, facts, values)


def _list_rows_of_holders(
    people: pl.DataFrame, column: str, naming: Sequence[str]
) -> list[tuple[str | None, int, int]]:
    """List (value, rows of one person that hold it, rows of all such persons); without `naming` each row is a person's only one."""
    value = pl.col(column).cast(pl.String).alias("\x00value")
    columns = [name for name in naming if name in people.columns]
    if columns:
        persons = pl.struct(pl.col(columns)).alias("\x00person")
        holdings = people.select(value, persons).group_by("\x00value", "\x00person").len("\x00rows")
    else:
        holdings = people.select(value, pl.lit(1).alias("\x00rows"))
    holder_counts = holdings.group_by("\x00value", "\x00rows").len("\x00holders")
    return [(text, rows, rows * holders) for text, rows, holders in holder_counts.iter_rows()]


def are_unmasked(published: np.ndarray, true_counts: np.ndarray, rows_of_holder: int = 1) -> np.ndarray:
    """Tell where the holder of a value is unmasked: all but `rows_of_holder` rows of it are known, and more than these are published."""
    return (true_counts > 0) & (published > true_counts - rows_of_holder)


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
    lambda_: Any = None,
    rho1: Any = None,
    predicate: str | None = None,
    prior: Any = None,
    missing: tuple[str, ...] = (),
    naming: Sequence[str] = (),
) -> CorruptionOutcome:
    """Attack as an adversary with the external list (default: the source) and the values of `corrupted` people on it.

    Where no corrupted people are passed, everyone but the victim is corrupted: the worst there is. Where people have several
    rows, and `naming` columns of the source tell whose a row is, that is nobody's row but the victim's, all of which are
    weighed together; otherwise each row is a victim by itself, its person's other rows being known. `predicate` is a
    condition on the sensitive column, `prior` what is believed of values beforehand; without them the worst ones are taken
    for an adversary who believes in a value with at most `lambda_` (0.1, or 1 / |U| where fewer than ten values are
    possible) and in a condition with at most `rho1` (0.2).
    """
    if prior is not None and (lambda_ is not None or rho1 is not None):
        raise RequestError(
            "A prior of one's own says how much is believed beforehand; lambda and rho1 are not taken beside it.",
            attempt="--prior FILE alone, or --lambda and --rho1 without it.",
        )
    adversary = CorruptionAdversary(
        validate_skew("0.1" if lambda_ is None else lambda_, "the attack"),
        parse_fraction("0.2" if rho1 is None else rho1, "rho1"),
    )
    if not 0 <= adversary.rho1 < 1:
        raise RequestError("rho1 must be a probability below 1.", attempt="--rho1 0.2.")
    stated = StatedOptions(predicate, prior)
    if isinstance(release, AttackTarget):
        _require_nobody_named(external, corrupted, victim, "a plain table")
        return _attack_plain_table(release, adversary, stated)
    is_sampled = "p" in release.manifest.own  # perturbed tuples of each group; otherwise values are people's
    if not is_sampled:
        _require_nobody_named(external, corrupted, victim, "any other")
    people = read_people(source, missing)
    require_columns(people, [column.name for column in release.columns], "source")
    if not is_sampled:
        several = naming if release.manifest.rows_per_person > 1 else ()
        return _attack_unmasked(release, people, several, adversary, stated)
    external_people = None if external is None else read_people(external, missing)
    corrupted_people = None if corrupted is None else read_people(corrupted, missing)
    sampled = SampledTarget(release, people, external_people, corrupted_people, victim)
    if prior is not None or lambda_ is None:  # a prior's skew is its own, and none over |U| values is below 1 / |U|
        adversary = replace(adversary, lambda_=max(adversary.lambda_, Fraction(1, len(sampled.domain))))
    outcome = _attack_sampled(sampled, adversary)
    if sampled.rows_per_person > 1:
        is_everybody_known = stated.is_empty and not has_partial_knowledge(sampled)
        outcome = _attack_persons(sampled, naming if is_everybody_known else (), adversary, outcome)
    return outcome if stated.is_empty else _confide_in_sampled(sampled, stated, adversary, outcome)


@dataclass(frozen=True, eq=False)
class StatedOptions:
    """A predicate and a prior as options have them."""

    predicate: str | None
    prior: Any

    @property
    def is_empty(self) -> bool:
        return self.predicate is None and self.prior is None

    def read(self, people: pl.DataFrame, column: ColumnEntry, domain: Sequence[str]) -> StatedBelief:
        """Read them for these people."""
        belief = StatedBelief(None) if self.prior is None else read_prior(self.prior, people, column.name, domain)
        if self.predicate is None:
            return belief
        return replace(belief, predicate=read_predicate(self.predicate, column, domain))


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
        self.rows_per_person = int(release.manifest.rows_per_person)
        self.sensitive = release.manifest.sensitive
        self.domain = parse_texts(list(own["domain"]), self.sensitive.dtype).cast(pl.String).to_list()
        row_values = self.codes(self.frame[self.sensitive.name])
        group_of_row, first_row = self._group_rows()
        self.labels = self.frame[first_row]  # of each group
        self.size = self.labels[SIZE_COLUMN].to_numpy()
        self.drawn = np.bincount(group_of_row, minlength=len(self.size))
        pairs, tuples = np.unique(group_of_row * len(self.domain) + row_values, return_counts=True)
        self.shown = ShownTuples(pairs // len(self.domain), pairs % len(self.domain), tuples)
        self.y = self._find_most_shown()
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

    def _group_rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Number the groups: the group of each row, and the first row of each group."""
        if not draws_many(self.release.manifest):
            rows = np.arange(len(self.frame))
            return rows, rows
        quasi = [entry.name for entry in self.release.manifest.find_columns_with_role(Role.QUASI)]
        numbered = self.frame.select(quasi).with_row_index("\x00row")
        first_of_row = numbered.select(pl.col("\x00row").first().over(quasi))["\x00row"].to_numpy()
        first_row, group_of_row = np.unique(first_of_row.astype(np.int64), return_inverse=True)
        return group_of_row.reshape(-1), first_row

    def _find_most_shown(self) -> np.ndarray:
        """Find the value that most tuples of each group show, the first of the domain where several do."""
        order = np.lexsort((self.shown.value, -self.shown.tuples, self.shown.group))
        _, first = np.unique(self.shown.group[order], return_index=True)
        return self.shown.value[order][first]

    def find_crucial_groups(self, people: pl.DataFrame, table_name: str) -> np.ndarray:
        """Find the group that covers each of the people (step A1), -1 for none."""
        quasi = self.release.manifest.find_columns_with_role(Role.QUASI)
        require_columns(people, [entry.name for entry in quasi], table_name)
        columns = [read_column(entry, self.labels[entry.name], people[entry.name]) for entry in quasi]
        crucial_groups = find_crucial_rows(columns, [people[entry.name] for entry in quasi])
        if crucial_groups is None:
            raise BundleDamaged("Labels of two published groups cover the same person.")
        return crucial_groups

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


def _attack_unmasked(
    release: Any,
    people: pl.DataFrame,
    naming: Sequence[str],
    adversary: CorruptionAdversary,
    stated: StatedOptions,
) -> CorruptionOutcome:
    unmasked = find_unmasked_people(release, people, naming)
    belief = None
    domain: list[str] = []
    if not stated.is_empty:
        column = release.manifest.sensitive
        domain = [text for text in people[column.name].cast(pl.String).unique().sort().to_list() if text is not None]
        belief = stated.read(people, column, domain)
        if belief.prior_of_person is not None:
            raise RequestError(
                "A prior of each person is for sampled releases.",
                why="Of a release that shows values, who is unmasked is certain whatever was believed.",
                attempt="one prior for everybody: columns value and probability.",
            )
    return _make_unmasked_outcome(unmasked, adversary, belief, domain)


def _make_unmasked_outcome(
    unmasked: UnmaskedPeople, adversary: CorruptionAdversary, belief: StatedBelief | None, domain: Sequence[str]
) -> CorruptionOutcome:
    """Make the outcome of lemma 2: of who is unmasked, what is true is certain, however little was believed before."""
    targets = unmasked.targets
    hits = unmasked.unmasked
    low, high = compute_wilson_interval(hits, targets)
    certain = 1.0 if hits else float(adversary.rho1)
    growth = 1 - unmasked.rarest if hits else 0.0
    facts = dict(unmasked.facts)
    if belief is not None:
        confidence = _find_unmasked_confidence(belief, adversary, [text in unmasked.values for text in domain])
        certain = float(confidence.posterior)
        growth = float(confidence.growth)
        facts |= _describe_confidence(belief, confidence)
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
        growth,
        None,
        None,
        None,
        None,
        None,
        facts,
    )


def _find_unmasked_confidence(
    belief: StatedBelief, adversary: CorruptionAdversary, is_unmasked: Sequence[bool]
) -> Confidence:
    """Find what is believed least beforehand and is certain afterwards, of the people who are unmasked.

    A predicate is certain if somebody with a value that meets it is unmasked; without one, their value is.
    """
    predicate = belief.predicate
    priors = belief.priors or (None,)
    confidences = []
    for prior in priors:
        for value in np.flatnonzero(is_unmasked).tolist():
            if predicate is not None and not predicate[value]:
                continue
            if prior is None:
                before = adversary.rho1
                skew = adversary.lambda_
            else:
                chosen = [value] if predicate is None else np.flatnonzero(predicate).tolist()
                before = sum((prior[place] for place in chosen), Fraction(0))
                skew = max(prior)
            confidences.append(Confidence(before, Fraction(1), skew))
    return min(
        confidences,
        key=lambda confidence: confidence.prior,
        default=Confidence(adversary.rho1, adversary.rho1, adversary.lambda_),
    )


def _attack_plain_table(
    target: AttackTarget, adversary: CorruptionAdversary, stated: StatedOptions
) -> CorruptionOutcome:
    """Attack a table that another tool made: complete, or a random sample of one (the end of section III)."""
    if not stated.is_empty:
        raise RequestError(
            "A predicate and a prior are read by the domain of a release, and a plain table states none.",
            attempt="leaving --predicate and --prior out, or a folder that `reticent publish` made.",
        )
    true_counts, unmasked_counts = find_unmasked_by_groups(target)
    facts: dict[str, Any] = {"published_rows": int(target.counts.sum())}
    return _make_unmasked_outcome(_make_unmasked_people(true_counts, unmasked_counts, facts), adversary, None, [])


def _require_nobody_named(external: Any, corrupted: Any, victim: str | None, subject: str) -> None:
    """Refuse lists of people where the adversary knows everyone but the victim."""
    named = [
        word
        for word, given in (("--external", external), ("--corrupted", corrupted), ("--victim", victim))
        if given is not None
    ]
    if named:
        raise RequestError(
            f"{' and '.join(named)} {'is' if len(named) == 1 else 'are'} for sampled releases; of {subject} everyone but the "
            "victim is taken to be corrupted, each person in turn.",
            attempt="leaving them out.",
        )


def _confide_in_sampled(
    sampled: SampledTarget, stated: StatedOptions, adversary: CorruptionAdversary, outcome: CorruptionOutcome
) -> CorruptionOutcome:
    """Compute what an adversary with a predicate or a prior of their own believes of the worst victim, beside its bounds."""
    listed = sampled.people if sampled.external is None else sampled.external
    belief = stated.read(listed, sampled.sensitive, sampled.domain)
    situations = _list_victim_lifts(sampled, belief)
    domain = len(sampled.domain)
    worst: Confidence | None = None
    growth = Fraction(0)
    for prior_number, lifts in situations:
        if belief.priors:
            prior: PriorBelief | None = belief.priors[prior_number]
        else:
            assert belief.predicate is not None
            prior = find_worst_prior(domain, lifts, belief.predicate, adversary.lambda_, adversary.rho1)
        assert prior is not None
        confidence = confide(prior, lifts, belief.predicate)
        growth = max(growth, confidence.growth)
        if worst is None or confidence.posterior > worst.posterior:
            worst = confidence
    assert worst is not None
    facts = {**(outcome.facts or {}), **_describe_confidence(belief, worst)}
    believing = CorruptionAdversary(worst.skew, worst.prior)
    outcome = replace(
        outcome,
        worst_posterior=float(worst.posterior),
        worst_growth=float(growth),
        promised=_find_promised_rho2(sampled.release, believing),
        facts=facts,
    )
    if not 0 < worst.prior < 1 or worst.skew == 1:  # what is certain beforehand stays so
        return replace(outcome, bound=None, bound_theorem2=None, growth_bound=None, growth_bound_theorem3=None, h=None)
    setting = bounds.CorruptionSetting(sampled.p, sampled.counted_on, domain, worst.skew, sampled.rows_per_person)
    return replace(
        outcome,
        bound=float(bounds.round_up(bounds.compute_rho2(setting, worst.prior))),
        bound_theorem2=_state_theorem(
            setting, float(bounds.round_up(bounds.compute_rho2_theorem2(setting, worst.prior)))
        ),
        growth_bound=float(bounds.find_least_bound(lambda x: bounds.delta_holds(setting, x))),
        growth_bound_theorem3=_state_theorem(
            setting, float(bounds.find_least_bound(lambda x: bounds.theorem3_holds(setting, x)))
        ),
        h=None,
    )


def _state_theorem(setting: bounds.CorruptionSetting, bound: float) -> float | None:
    """Return the bound of a theorem, which is about one row of a person; None where people have several."""
    return bound if setting.rows == 1 else None


def _list_victim_lifts(sampled: SampledTarget, belief: StatedBelief) -> list[tuple[int, dict[int, Fraction]]]:
    """List the different situations of victims: the number of the victim's prior, and the lift of each lifted value.

    The one tuple of a group shows y, and lifts y alone: with S what the others contribute, by p / (u + S).  The lifts of
    several tuples are computed in floating point (`compute_lifts`).
    """
    owner = sampled.find_crucial_groups(sampled.people, "source")
    true_codes = sampled.codes(sampled.people[sampled.sensitive.name])
    is_partial = has_partial_knowledge(sampled)
    victims, groups, known, _ = (
        _corrupt_some(sampled) if is_partial else _corrupt_everyone_else(sampled, owner, true_codes)
    )
    prior_number = np.zeros(len(groups), np.int64)
    if belief.prior_of_person is not None:
        if sampled.victim is not None:
            listed = sampled.people if sampled.external is None else sampled.external
            prior_number[:] = belief.prior_of_person[find_victim(listed, sampled.victim)]
        elif is_partial:
            raise RequestError(
                "A prior of each person needs to know who the victim is.",
                attempt="--victim COLUMN=VALUE, or neither --external nor --corrupted: then each person is the victim in turn.",
            )
        else:
            prior_number = belief.prior_of_person
    single = sampled.drawn[groups] == 1
    of_one = _lift_by_one_tuple(sampled, victims.select(single), groups[single], prior_number[single])
    own_values = true_codes if known.leaves_out_victim else np.full(len(groups), -1)
    return of_one + _lift_by_tuples(sampled, known, groups[~single], prior_number[~single], own_values[~single])


def _lift_by_one_tuple(
    sampled: SampledTarget, victims: CorruptionVictims, groups: np.ndarray, prior_number: np.ndarray
) -> list[tuple[int, dict[int, Fraction]]]:
    domain = len(sampled.domain)
    redrawn = (1 - sampled.p) / domain
    situations = np.unique(
        np.column_stack([prior_number, sampled.y[groups], victims.size, victims.corrupted, victims.at_y]), axis=0
    )
    listed_lifts = []
    for number, shown, size, corrupted, at_y in situations.tolist():
        others = redrawn * corrupted + sampled.p * at_y + Fraction(size - 1 - corrupted, domain)
        listed_lifts.append((number, {shown: sampled.p / (redrawn + others)}))
    return listed_lifts


def _lift_by_tuples(
    sampled: SampledTarget, known: KnownValues, groups: np.ndarray, prior_number: np.ndarray, own_values: np.ndarray
) -> list[tuple[int, dict[int, Fraction]]]:
    """List the lifts of victims whose group shows several tuples; `own_values` are theirs, -1 where they are not counted."""
    listed_lifts = []
    for number, group, own_value in np.unique(np.column_stack([prior_number, groups, own_values]), axis=0).tolist():
        shown = sampled.shown.list_of_group(group)
        others = known.list_of_group(group)
        if own_value >= 0:
            others = {**others, own_value: others[own_value] - 1}
        size = int(sampled.size[group])
        holders = np.array([others.get(value, 0) for value in shown])
        unknown = size - 1 - sum(others.values())
        tuples = np.array(list(shown.values()))
        lifts = compute_lifts(tuples, holders, size, unknown, float(sampled.p), len(sampled.domain))
        listed_lifts.append(
            (number, {value: Fraction(lift) for value, lift in zip(shown, lifts.tolist(), strict=True)})
        )
    return listed_lifts


def _describe_confidence(belief: StatedBelief, confidence: Confidence) -> dict[str, Any]:
    return {
        "predicate_values": None if belief.predicate is None else int(belief.predicate.sum()),
        "predicate_prior": float(confidence.prior),
        "predicate_posterior": float(confidence.posterior),
    }


def _attack_sampled(sampled: SampledTarget, adversary: CorruptionAdversary) -> CorruptionOutcome:
    if adversary.lambda_ * len(sampled.domain) < 1:
        least = Fraction(1, len(sampled.domain))
        raise RequestError(
            f"lambda is below 1/{len(sampled.domain)}: no prior over the domain is as even.",
            attempt=f"--lambda {float(bounds.round_up(least)):g} or more, or leaving it out.",
        )
    owner = sampled.find_crucial_groups(sampled.people, "source")
    if (owner < 0).any() or (sampled.count(owner) != sampled.size).any():
        raise RequestError(
            "The source is not what the release was made from.",
            why="Some of its people are under no label, or a group's G is another number.",
            attempt="the data that was published.",
        )
    true_codes = sampled.codes(sampled.people[sampled.sensitive.name])
    is_partial = has_partial_knowledge(sampled)
    victims, groups, known, learned = (
        _corrupt_some(sampled) if is_partial else _corrupt_everyone_else(sampled, owner, true_codes)
    )
    share = np.bincount(owner, weights=true_codes == sampled.y[owner], minlength=len(sampled.size)) / sampled.size
    guesses = share[groups]  # the guess is the value that is shown most
    domain_belief = learned.posteriors(adversary)
    if not sampled.declared and not is_partial:
        guesses = np.where(learned.alone, 1.0, guesses)  # or the value that nobody else has
    targets = len(groups)
    hits = float(guesses.sum())
    worst_case = _find_worst_of_all(sampled, victims, groups, known, adversary)
    if not sampled.declared:
        worst_case = replace(
            worst_case,
            posterior=max(worst_case.posterior, float(domain_belief.posterior)),
            growth=max(worst_case.growth, float(domain_belief.growth)),
        )
    setting = bounds.CorruptionSetting(
        sampled.p, sampled.counted_on, len(sampled.domain), adversary.lambda_, sampled.rows_per_person
    )
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
        _state_theorem(setting, float(bounds.round_up(bounds.compute_rho2_theorem2(setting, adversary.rho1)))),
        float(bounds.find_least_bound(lambda x: bounds.delta_holds(setting, x))),
        _state_theorem(setting, float(bounds.find_least_bound(lambda x: bounds.theorem3_holds(setting, x)))),
        worst_case.h,
        {"domain_declared": sampled.declared, "single_holders": learned.single_holders},
    )


def _find_worst_of_all(
    sampled: SampledTarget,
    victims: CorruptionVictims,
    groups: np.ndarray,
    known: KnownValues,
    adversary: CorruptionAdversary,
) -> WorstCase:
    """Find the worst case of the victims whose group shows one tuple, and of those whose group shows several."""
    cases = []
    single = sampled.drawn[groups] == 1
    if single.any():
        cases.append(find_worst_case(victims.select(single), sampled.p, len(sampled.domain), adversary))
    if not single.all():
        cases.append(find_worst_of_many(sampled, np.unique(groups[~single]), known, adversary))
    worst = max(cases, key=lambda case: case.posterior)
    return replace(worst, growth=max(case.growth for case in cases))


def has_partial_knowledge(sampled: SampledTarget) -> bool:
    """Tell whether the adversary is one of whom it is said what they know, and not who knows everybody but the victim."""
    return sampled.external is not None or sampled.corrupted is not None or sampled.victim is not None


def _attack_persons(
    sampled: SampledTarget, naming: Sequence[str], adversary: CorruptionAdversary, outcome: CorruptionOutcome
) -> CorruptionOutcome:
    """Return the outcome with the worst of what all rows of a person say together; `rows_together` tells whether they did."""
    columns = [name for name in naming if name in sampled.people.columns]
    facts = {**(outcome.facts or {}), "rows_together": bool(columns)}
    if not columns:
        return replace(outcome, facts=facts)
    owner = sampled.find_crucial_groups(sampled.people, "source")
    true_codes = sampled.codes(sampled.people[sampled.sensitive.name])
    person = sampled.people.select(pl.struct(pl.col(columns)).rank("dense")).to_series().to_numpy().astype(np.int64)
    known = KnownValues.count(owner, true_codes, len(sampled.domain), leaves_out_victim=True)
    most_shown = np.zeros(len(sampled.size), np.int64)
    np.maximum.at(most_shown, sampled.shown.group, sampled.shown.tuples)
    tuples = GroupTuples(
        sampled.p,
        len(sampled.domain),
        sampled.size,
        sampled.drawn,
        most_shown,
        sampled.shown.list_of_group,
        known.list_of_group,
    )
    worst = find_worst_person(tuples, PersonRows.sort(person, owner, true_codes), adversary.lambda_, adversary.rho1)
    is_worse = worst.posterior > outcome.worst_posterior
    return replace(
        outcome,
        worst_posterior=max(outcome.worst_posterior, worst.posterior),
        worst_growth=max(outcome.worst_growth, worst.growth),
        h=None if is_worse else outcome.h,
        facts=facts,
    )


def _find_promised_l(manifest: Manifest) -> int:
    promised = [int(p.parameters["l"]) for p in manifest.promises if p.name == "recursive-l-diversity"]
    return min(promised, default=2)


def _corrupt_some(sampled: SampledTarget) -> tuple[CorruptionVictims, np.ndarray, KnownValues, DomainKnowledge]:
    """Corrupt some people: of each group what is known, with one victim in it, or the one victim of the option."""
    external_people = sampled.people if sampled.external is None else sampled.external
    owner = sampled.find_crucial_groups(external_people, "external list")
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
    is_known = inside & (values >= 0)
    known = KnownValues.count(owner[is_known], values[is_known], len(sampled.domain), leaves_out_victim=False)
    victims = CorruptionVictims(size, corrupted, at_y, candidates)
    return victims, groups, known, DomainKnowledge.of_some(holders, unknown)


def _corrupt_everyone_else(
    sampled: SampledTarget, owner: np.ndarray, true_codes: np.ndarray
) -> tuple[CorruptionVictims, np.ndarray, KnownValues, DomainKnowledge]:
    """Corrupt everyone else: each person of the source is a victim once."""
    matches_by_group = np.bincount(owner, weights=true_codes == sampled.y[owner], minlength=len(sampled.size)).astype(
        np.int64
    )
    others_at_y = matches_by_group[owner] - (true_codes == sampled.y[owner])
    size = sampled.size[owner]
    holders = np.bincount(true_codes, minlength=len(sampled.domain))
    learned = DomainKnowledge.of_everyone_else(holders, true_codes)
    known = KnownValues.count(owner, true_codes, len(sampled.domain), leaves_out_victim=True)
    return CorruptionVictims(size, size - 1, others_at_y, np.zeros_like(size)), owner, known, learned


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
