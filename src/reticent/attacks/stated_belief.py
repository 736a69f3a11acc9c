"""Beliefs of an adversary's own in the corruption attack: a condition on the victim's value, and a prior.

The adversary of Tao, Xiao, Li & Zhang (ICDE 2008) asks whether the victim's value satisfies a predicate Q, and believes in
each value beforehand (definition 2).  What is published makes some values more likely than others: `lifts` is, of each
value that is lifted, by how much its likelihood exceeds that of the others, relative to it.  So a prior P becomes

    P_post(Q) = sum over Q of P(x) (1 + lift(x))  /  sum over all x of P(x) (1 + lift(x))

(equations 9 to 19, where the one tuple shows y and lift(y) = p / (u + S)), in fractions (`confide`).

A predicate is a condition on the sensitive column as SQL has it (`read_predicate`).  A prior (`read_prior`) is "uniform",
or a table: a value and its probability in each row, for everybody or, with columns that tell people apart, for each person;
or one row for each person with a column for each value.  Values that are not listed share what is left evenly.  Without a
prior the worst is taken that is lambda-skewed and believes in Q with rho1, as far as these allow (`find_worst_prior`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl

from reticent.errors import RequestError, pluralize, quote_list
from reticent.format.manifest import ColumnEntry

PriorBelief = Sequence[Fraction]
Lifts = Mapping[int, Fraction]
MAX_PRIOR_ERROR = Fraction(1, 10**6)  # of a sum of probabilities that were written with few digits
VALUE_COLUMNS = ("value",)
PROBABILITY_COLUMNS = ("probability", "belief")
PRIOR_FORMS = (
    "columns value and probability, beside them columns that tell people apart where each has a prior of their own; or one row "
    "for each person, with a column for each value."
)


@dataclass(frozen=True, eq=False)
class StatedBelief:
    """What an adversary asks and believes: `predicate` is a mask over the domain, None for the value that gains most.

    `priors` are the different priors, and `prior_of_person` the one of each person of a list; None where everybody has
    the first. No priors: the worst ones.
    """

    predicate: np.ndarray | None
    priors: tuple[PriorBelief, ...] = ()
    prior_of_person: np.ndarray | None = None


@dataclass(frozen=True, slots=True)
class Confidence:
    """How much is believed of a predicate before and after, and the greatest belief in one value before."""

    prior: Fraction
    posterior: Fraction
    skew: Fraction

    @property
    def growth(self) -> Fraction:
        return self.posterior - self.prior


def confide(prior: PriorBelief, lifts: Lifts, predicate: np.ndarray | None) -> Confidence:
    """Compute what is believed of a predicate before and after; without one, of the value that gains most."""
    lifted = sum((prior[value] * lift for value, lift in lifts.items()), Fraction(0))
    if predicate is None:
        gains = {value: prior[value] * (lift - lifted) for value, lift in lifts.items()}
        chosen = {max(gains, key=lambda value: gains[value])} if gains else {0}
    else:
        chosen = set(np.flatnonzero(predicate).tolist())
    before = sum((prior[value] for value in chosen), Fraction(0))
    gained = sum((prior[value] * lift for value, lift in lifts.items() if value in chosen), Fraction(0))
    return Confidence(before, (before + gained) / (1 + lifted), max(prior))


def find_worst_prior(
    domain: int, lifts: Lifts, predicate: np.ndarray, skew: Fraction, rho1: Fraction
) -> list[Fraction] | None:
    """Find the lambda-skewed prior that makes most of a predicate; None if the predicate is of all values or of none.

    It believes in the predicate with rho1, less where its values cannot hold so much, more where the others cannot hold
    the rest. Inside, the most lifted values have lambda as long as there is something to give; outside the least lifted.
    """
    inside = int(predicate.sum())
    if not 0 < inside < domain:
        return None
    believed = max(min(rho1, skew * inside), 1 - skew * (domain - inside))
    prior = [Fraction(0)] * domain
    for is_inside, mass in ((True, believed), (False, 1 - believed)):
        values = np.flatnonzero(predicate == is_inside).tolist()
        values.sort(key=lambda value: lifts.get(value, Fraction(0)), reverse=is_inside)
        remaining = mass
        for value in values:
            prior[value] = min(skew, remaining)
            remaining -= prior[value]
    return prior


def read_predicate(text: str, column: ColumnEntry, domain: Sequence[str]) -> np.ndarray:
    """Read a condition on the sensitive column, such as "salary_class >= 40", as a mask over the domain.

    Raises RequestError for what is no condition on that column alone, and for one that every value meets, or none.
    """
    from reticent.data.parsing import parse_texts
    from reticent.estimate.condition import ConditionPieces, list_atoms, make_value_axis
    from reticent.query.sql import check_condition, make_condition, parse_statements, write_column_name

    name = write_column_name(column.name)
    attempt = f"a condition on the sensitive column, such as {name} = ... or {name} IN (...)."
    trees = parse_statements(text, "The predicate", attempt)
    if len(trees) != 1 or trees[0] is None:
        raise RequestError("A predicate is one condition.", attempt=attempt)
    checked = check_condition(trees[0], {column.name: column})
    condition = make_condition(checked, {column.name: column})
    if condition is None or checked.key == "boolean":
        raise RequestError(f"The predicate says nothing of {column.name!r}.", attempt=attempt)
    values = parse_texts(list(domain), column.dtype).alias(column.name)
    axis = make_value_axis(column.name, np.arange(len(values)), values, list(list_atoms(condition)))
    is_met = np.asarray(ConditionPieces.from_condition([axis], condition).met[axis.may.argmax(axis=1)], bool)
    if is_met.all() or not is_met.any():
        amount = "Every" if is_met.all() else "No"
        raise RequestError(
            f"{amount} value of the domain meets the predicate.",
            why="What is true or false whatever the victim has is believed to be so before and after.",
            attempt="a condition that some of the values meet.",
        )
    return is_met


def read_prior(prior: Any, people: pl.DataFrame, sensitive: str, domain: Sequence[str]) -> StatedBelief:
    """Read the adversary's prior of everybody, or of each of the `people` that it lists; of others every value is as likely.

    `prior` is "uniform", a path or a frame. Raises RequestError for a table of another form.
    """
    even = [Fraction(1, len(domain))] * len(domain)
    if isinstance(prior, str) and prior == "uniform":
        return StatedBelief(None, (even,))
    from reticent.data.source import Source, collect_frame, scan_source

    table = prior if isinstance(prior, pl.DataFrame) else None
    source = Source(path=None if table is not None else str(prior))
    rows = collect_frame(scan_source(source, table), "Reading the prior")
    value_column = next((name for name in (*VALUE_COLUMNS, sensitive) if name in rows.columns), None)
    probability_column = next((name for name in PROBABILITY_COLUMNS if name in rows.columns), None)
    if not len(rows):
        raise RequestError("The prior has no rows.", attempt=PRIOR_FORMS)
    if value_column is not None and probability_column is not None:
        keys = [name for name in rows.columns if name not in (value_column, probability_column)]
        listed = rows.select(
            *(pl.col(name).cast(pl.String) for name in keys),
            pl.col(value_column).cast(pl.String).alias("\x00value"),
            pl.col(probability_column).cast(pl.String).alias("\x00probability"),
        )
    else:
        values = [name for name in rows.columns if name in set(domain) and name not in people.columns]
        keys = [name for name in rows.columns if name not in values]
        if not values or not keys:
            raise RequestError("The prior cannot be read.", attempt=PRIOR_FORMS)
        texts = rows.select(*(pl.col(name).cast(pl.String) for name in rows.columns))
        if texts.select(keys).is_duplicated().any():
            raise RequestError("A person has two rows in the prior.", attempt="one row for each person.")
        listed = texts.unpivot(values, index=keys, variable_name="\x00value", value_name="\x00probability")
    if not keys:
        return StatedBelief(None, (_complete_prior(listed, domain),))
    return _read_own_priors(listed, keys, people, sensitive, domain, even)


def _read_own_priors(
    listed: pl.DataFrame,
    keys: Sequence[str],
    people: pl.DataFrame,
    sensitive: str,
    domain: Sequence[str],
    even: PriorBelief,
) -> StatedBelief:
    """Read a prior for each person that the table lists."""
    unknown = [name for name in keys if name not in people.columns or name == sensitive]
    if unknown:
        raise RequestError(
            f"The prior has {pluralize(len(unknown), 'column')} that the list of people lacks: {quote_list(unknown)}.",
            attempt=PRIOR_FORMS,
        )
    numbered = listed.select(keys).unique(maintain_order=True).with_row_index("\x00prior", offset=1)
    persons = _join_left(people.select(*(pl.col(name).cast(pl.String) for name in keys)), numbered, keys)
    prior_of_person = persons["\x00prior"].fill_null(0).to_numpy().astype(np.int64)
    strangers = len(numbered) - len(np.unique(prior_of_person[prior_of_person > 0]))
    if strangers:
        raise RequestError(
            f"The prior lists {pluralize(strangers, 'person', 'who is', 'who are')} not on the list of people.",
            attempt="lines that agree with it in every column that both have.",
        )
    parts = _join_left(listed, numbered, keys).partition_by("\x00prior", maintain_order=True)
    priors = [even, *(_complete_prior(part, domain) for part in parts)]
    return StatedBelief(None, tuple(priors), prior_of_person)


def _join_left(rows: pl.DataFrame, others: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    return rows.join(others, on=list(keys), how="left", nulls_equal=True, maintain_order="left")


def _complete_prior(listed: pl.DataFrame, domain: Sequence[str]) -> list[Fraction]:
    """Make a prior over the domain of values and their probabilities; what is left is shared by the others evenly."""
    place = {text: position for position, text in enumerate(domain)}
    prior: list[Fraction | None] = [None] * len(domain)
    for value, text in listed.select("\x00value", "\x00probability").iter_rows():
        if value not in place:
            raise RequestError("The prior lists a value that is not in the release's domain.")
        if prior[place[value]] is not None:
            raise RequestError("The prior lists a value twice.", attempt="each value once.")
        prior[place[value]] = _parse_probability(text)
    total = sum((probability for probability in prior if probability is not None), Fraction(0))
    unlisted = sum(probability is None for probability in prior)
    if total > 1 + MAX_PRIOR_ERROR or (not unlisted and total < 1 - MAX_PRIOR_ERROR):
        raise RequestError(
            f"The probabilities of a prior add up to {float(total):.6g}.", attempt="probabilities that add up to 1."
        )
    if unlisted and total < 1:
        return [(1 - total) / unlisted if probability is None else probability for probability in prior]
    return [(probability or Fraction(0)) / total for probability in prior]


def _parse_probability(text: str | None) -> Fraction:
    try:
        probability = Fraction(text or "")
    except (ValueError, ZeroDivisionError):
        probability = Fraction(-1)
    if not 0 <= probability <= 1:
        raise RequestError("A probability of the prior is no number from 0 to 1.")
    return probability
