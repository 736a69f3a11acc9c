"""Reader of the sampled kind: a row or a few for each group, with labels, a perturbed value, and the group's size G.

`SampledReader` reads, checks and answers; `SampledCounts` estimates the counts and sums behind a sampled release (Tao
et al. 2008, sections II-C and IV): tuples weighted, values reconstructed.

Of a group of G people n rows are drawn without replacement and published: one, or floor(G / k) where the manifest says
`draw` = "many".  Each stands for w = G / n people, and shows a value that was kept with probability p, or else drawn
from the m values of the domain.  For a score s(x) of a person's value, (s(y) - (1 - p) mean of s) / p has the mean s(x),
so that

    estimate    sum of w (s(y) - (1 - p) mean of s) / p        s: the share of the group's box that meets the condition, given x

is unbiased as far as that share is known.  The part of a score that is common to all values is added by G alone and is
exact.  The standard error includes both draws, of the tuples and of their values.  With sigma_G^2 the variance of scores
in a group and tau^2 the mean variance of what a person's row shows, given the person, n draws without replacement have

    variance    G^2 / n (tau^2 + sigma_G^2 (G - n) / (G - 1))

The rows of a group are few, so every group gets the spread of all selected ones: a row of theirs shows the variance V =
tau^2 + sigma^2, and people who are grouped at random have sigma_G^2 = sigma^2 (G - 1) / G on average, which makes it
G^2 / n V - G sigma^2.  The sum of w^2 over a group's rows is G^2 / n, and that of w is G: the variance is the sum of w^2
V - w sigma^2 over rows, however many of them a group has.  What groups differ by beyond chance is in sigma^2, and the
error is not made smaller by it.  A few rows do not determine that spread either, and may all show one value: the rows of
the whole release count as much as 30 of them, and among those every value of the domain as one row.

An interval holds each possible truth from which the estimate does not lie too far (`EstimateSpread`).  For a count of
values with the share v of the domain, which a share f of a group's people have, a row shows one with probability t = p
f + (1 - p) v, and the variance is the sum over rows of

    w^2 t (1 - t) / p^2 - w f (1 - f)

a quadratic in f: Wilson's interval, and the same for a set of values and for all others.  For sums the mean square of
shown scores is assumed to grow with their mean as it does over the values.  A mean's interval is Fieller's.  If labels
are cut, each person of the group is assumed to lie in the selected part with the share's probability, independently:
that adds G s (1 - s).  Shares are by the density that the question is asked with (`estimate.density`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np
import polars as pl

from reticent.catalogue import METHODS
from reticent.data.cells import Cells
from reticent.data.columns import Role
from reticent.data.parsing import parse_texts
from reticent.errors import BundleDamaged, RequestError, pluralize
from reticent.estimate.answer import Answer, EstimateSpread
from reticent.estimate.question import BoundQuestion, Question
from reticent.estimate.reconstruction import (
    BORROWED_ROWS,
    NO_AVERAGE_MESSAGE,
    SEEN_KEY,
    ValueScores,
    bound_any_value,
    combine_with_bounds,
    compute_covariances,
    compute_fieller_spread,
    compute_slope,
    require_no_extreme,
)
from reticent.estimate.row_weights import (
    SIZE_COLUMN,
    allot_people,
    compute_row_weights,
    count_rows_of_one_drawn,
    draws_many,
    list_label_columns,
)
from reticent.format import schema_checks
from reticent.format.data_files import (
    Schema,
    Tables,
    require_exact_total,
    require_integers_between,
    require_listed_values,
)
from reticent.format.manifest import Manifest, find_domain_declaration
from reticent.format.schema_checks import Checker, MisshapenValue, make_checker
from reticent.labels.range_ends import add_label_bounds
from reticent.limits import MAX_ROWS_OF_REDRAWN_PERSON
from reticent.release.kind import AdversaryView, AskedColumns, NeededColumns
from reticent.release.readme import (
    describe_coarser_columns,
    describe_several_rows,
    format_code,
    format_heading,
    format_limits,
    format_promises,
    format_reading_section,
    format_rows_per_person,
    list_file_subjects,
    render_page,
)
from reticent.release.readme_first_edition import render_first_sampled
from reticent.release.readme_questions import describe_random_answer, format_asking_section

SQUARES_KEY = "squares"
CUT_GROUPS_NOTE = "The condition selects parts of groups."
PLACES_BY_DENSITY = {
    "even": "Their people are taken to be spread evenly over what the labels cover",
    "likelihood": "Their people are taken to lie within their labels as all labels of a column together make likely",
}
BIAS_NOTE = "where it is otherwise, the estimate is biased, and neither the standard error nor the interval knows it."
DECLARATION_SENTENCES = {
    "hierarchy": "The domain is the leaves of the publisher's hierarchy, whichever of them occur.",
    "order": "The domain is the publisher's list of ordered values, whichever of them occur.",
    "range": "The domain is every whole number of a range that the publisher declared, whichever of them occur.",
    "list": "The domain was listed by the publisher, whichever of its values occur.",
}
"""What may have declared a domain, and what a README says of it."""
_METHOD_FIELDS = METHODS["perturbed-generalization"].fields


@dataclass(frozen=True, eq=False)
class SampledCounts:
    """The published rows as numbers: how many people each stands for, and the place of each value in the domain."""

    weight: np.ndarray
    value: np.ndarray
    domain: pl.Series
    p: float

    @classmethod
    def from_frame(cls, frame: pl.DataFrame, manifest: Manifest) -> SampledCounts:
        column = manifest.sensitive
        domain = parse_texts(list(manifest.own["domain"]), column.dtype).alias(column.name)
        place = pl.DataFrame({column.name: domain, "place": np.arange(len(domain))})
        value = frame.select(column.name).join(place, on=column.name, how="left", maintain_order="left")["place"]
        weight = compute_row_weights(frame[SIZE_COLUMN].to_numpy(), manifest)
        return cls(weight, value.to_numpy(), domain, float(Fraction(str(manifest.own["p"]))))

    def answer(self, scores: ValueScores, aggregate: str, *, by: str, bounds: Answer | None = None) -> Answer:
        """Estimate the number of selected people, or the sum or mean of their numbers."""
        require_no_extreme(aggregate)
        tallies = self._tally(scores)
        selected = scores.selected
        score = selected if aggregate == "count" else scores.number
        total = self._estimate_total(tallies, score)
        if by == "em":
            total = self._maximise_total(tallies, score)
        placed = self._compute_placement_variance(scores, score)
        if aggregate != "avg":
            error = float(np.sqrt(self._compute_variance(tallies, score, placed)))
            return Answer(total, std_error=error, spread=self._compute_spread(tallies, score, placed))
        people = self._maximise_total(tallies, selected) if by == "em" else self._estimate_total(tallies, selected)
        if people < 0.5:
            return Answer(None, note=NO_AVERAGE_MESSAGE)
        mean = total / people
        deviation = scores.number - selected * mean
        variances = compute_covariances(
            lambda any_score: self._compute_variance(
                tallies, any_score, self._compute_placement_variance(scores, any_score)
            ),
            deviation,
            selected,
        )
        error = float(np.sqrt(variances[0])) / people
        return Answer(mean, std_error=error, spread=compute_fieller_spread(mean, people, variances, bounds))

    def _tally(self, scores: ValueScores) -> RowTypeTallies:
        """Tally each row type: people, squares of rows' weights, and people by the value that their row shows."""
        tallies = scores.combined.tallies
        types = len(scores.selected)
        domain_size = len(self.domain)
        if SEEN_KEY not in tallies:
            word = scores.of_row * domain_size + self.value
            tallies[SEEN_KEY] = np.bincount(word, weights=self.weight, minlength=types * domain_size).reshape(
                types, domain_size
            )
            tallies[SQUARES_KEY] = np.bincount(scores.of_row, weights=self.weight**2, minlength=types)
        return RowTypeTallies(tallies[SEEN_KEY].sum(axis=1), tallies[SQUARES_KEY], tallies[SEEN_KEY])

    def _estimate_total(self, tallies: RowTypeTallies, score: np.ndarray) -> float:
        """Estimate a total; the part that is common to all values is exact, and only differences of values are reconstructed."""
        base = score[:, :1]
        differences = self._compute_shown_score(score - base)
        return float(tallies.people @ base[:, 0]) + float((tallies.seen * differences).sum())

    def _compute_shown_score(self, score: np.ndarray) -> np.ndarray:
        """Compute what a shown value adds to the estimate: its mean over the draw is the score of the true value."""
        shown_score: np.ndarray = (score - (1 - self.p) * score.mean(axis=1, keepdims=True)) / self.p
        return shown_score

    def _compute_moments(self, tallies: RowTypeTallies, score: np.ndarray) -> Moments:
        chance = self._estimate_chance(tallies)
        true_chance = np.maximum(chance - (1 - self.p) / len(chance), 0.0)
        true_chance = (
            true_chance / true_chance.sum() if true_chance.sum() > 0 else np.full(len(chance), 1 / len(chance))
        )
        shown_score = self._compute_shown_score(score)
        return Moments(chance, true_chance, shown_score)

    def _compute_variance(self, tallies: RowTypeTallies, score: np.ndarray, placed: np.ndarray) -> float:
        """Compute the variance of a sum of scores: of the drawn person, the redrawn value, and the place of people in their labels."""
        varying = (np.ptp(score, axis=1) > 0) | placed.any(axis=1)
        if not varying.any():
            return 0.0
        tallies = tallies.only(varying)
        score = score[varying]
        placed = placed[varying]
        return float(self._compute_variances(tallies, score, placed, self._compute_moments(tallies, score)).sum())

    def _compute_variances(
        self, tallies: RowTypeTallies, score: np.ndarray, placed: np.ndarray, moments: Moments
    ) -> np.ndarray:
        shown_variance = moments.shown**2 @ moments.chance - (moments.shown @ moments.chance) ** 2
        true_variance = score**2 @ moments.true - (score @ moments.true) ** 2
        variances: np.ndarray = (
            tallies.squares * shown_variance - tallies.people * true_variance + tallies.people * (placed @ moments.true)
        )
        return np.maximum(variances, 0.0)

    def _compute_spread(self, tallies: RowTypeTallies, score: np.ndarray, placed: np.ndarray) -> EstimateSpread | None:
        """Compute the spread of a sum: its variance at other truths, more of which goes to the less certain row types."""
        center = self._estimate_total(tallies, score)
        varying = ((np.ptp(score, axis=1) > 0) | placed.any(axis=1)) & (tallies.people > 0)
        if not varying.any():
            return None
        tallies = tallies.only(varying)
        score = score[varying]
        placed = placed[varying]
        tallies, score, placed = merge_alike(tallies, score, placed)
        moments = self._compute_moments(tallies, score)
        variance = self._compute_variances(tallies, score, placed, moments)
        if variance.sum() <= 0:
            return None
        people = tallies.people
        squares = tallies.squares
        means = self._compute_means(tallies, moments.shown)
        # the mean square of what is shown and of what is true, as functions of the mean
        shown_lift = compute_slope(moments.shown**2, moments.shown, moments.chance)
        true_lift = compute_slope(score**2, score, moments.true)
        shown_square = moments.shown**2 @ moments.chance + shown_lift * (means - moments.shown @ moments.chance)
        true_square = score**2 @ moments.true + true_lift * (means - score @ moments.true)
        constant = (
            squares * (shown_square - means**2) - people * (true_square - means**2) + people * (placed @ moments.true)
        )
        part = variance / variance.sum() / people
        slope = part * (squares * (shown_lift - 2 * means) - people * (true_lift - 2 * means))
        curvature = -(part**2) * (squares - people)
        return EstimateSpread(center, float(constant.sum()), float(slope.sum()), float(curvature.sum()))

    def _compute_means(self, tallies: RowTypeTallies, shown_score: np.ndarray) -> np.ndarray:
        """Compute the mean that each row type shows; types of few rows take most of it from all types together."""
        own_means = (tallies.seen * shown_score).sum(axis=1) / tallies.people
        overall_shares = tallies.seen.sum(axis=0) / tallies.people.sum()
        rows = tallies.people**2 / tallies.squares
        means = (rows * own_means + BORROWED_ROWS * (shown_score @ overall_shares)) / (rows + BORROWED_ROWS)
        shift = (tallies.people @ (own_means - means)) / tallies.people.sum()
        return means + shift

    def _compute_placement_variance(self, scores: ValueScores, score: np.ndarray) -> np.ndarray:
        """Compute the variance of one person's score if labels are cut: each person lies in the selected part, or does not."""
        selected = scores.selected
        cut = (selected > 0) & (selected < 1)
        full_score = np.divide(score, selected, out=np.zeros_like(score, dtype=float), where=cut)
        variance: np.ndarray = np.where(cut, selected * (1 - selected) * full_score**2, 0.0)
        return variance

    def _estimate_chance(self, tallies: RowTypeTallies) -> np.ndarray:
        """Estimate how likely a selected row shows each value: from selected rows, all rows of the release, and any value alike."""
        people = tallies.seen.sum(axis=0)
        if not people.sum():
            return self._overall
        rows = float(people.sum() ** 2 / tallies.squares.sum())
        return (rows * people / people.sum() + BORROWED_ROWS * self._overall) / (rows + BORROWED_ROWS)

    @cached_property
    def _overall(self) -> np.ndarray:
        """Estimate how likely any row shows each value: from all rows of the release, and any value alike."""
        people = np.bincount(self.value, weights=self.weight, minlength=len(self.domain))
        rows = float(self.weight.sum() ** 2 / (self.weight**2).sum())
        return (people / people.sum() * rows + np.ones(len(self.domain))) / (rows + len(self.domain))

    def _maximise_total(self, tallies: RowTypeTallies, score: np.ndarray) -> float:
        """Estimate by row types: the most likely non-negative counts of all people of the groups of a type."""
        domain_size = len(self.domain)
        return float(
            sum(
                maximise_counts(type_people, self.p, domain_size) @ type_score
                for type_people, type_score in zip(tallies.seen, score, strict=True)
            )
        )


@dataclass(frozen=True, eq=False)
class RowTypeTallies:
    """Tallies of each row type: people, the sum of rows' squared weights, and people by the value that their row shows."""

    people: np.ndarray
    squares: np.ndarray
    seen: np.ndarray

    def only(self, selected: np.ndarray) -> RowTypeTallies:
        return RowTypeTallies(self.people[selected], self.squares[selected], self.seen[selected])


def merge_alike(
    tallies: RowTypeTallies, score: np.ndarray, placed: np.ndarray
) -> tuple[RowTypeTallies, np.ndarray, np.ndarray]:
    """Merge row types with equal scores into one."""
    _, first, kind = np.unique(np.column_stack([score, placed]), axis=0, return_index=True, return_inverse=True)
    kind = kind.reshape(-1)
    people_by_value = np.zeros((len(first), score.shape[1]))
    np.add.at(people_by_value, kind, tallies.seen)
    merged = RowTypeTallies(
        np.bincount(kind, weights=tallies.people, minlength=len(first)),
        np.bincount(kind, weights=tallies.squares, minlength=len(first)),
        people_by_value,
    )
    return merged, score[first], placed[first]


@dataclass(frozen=True, eq=False)
class Moments:
    """By row type: how likely each value is to be shown and to be true, and what each shown value adds."""

    chance: np.ndarray
    true: np.ndarray
    shown: np.ndarray


def maximise_counts(shown_counts: np.ndarray, p: float, domain: int, steps: int = 2000) -> np.ndarray:
    """Expectation-maximisation for a retained or uniformly redrawn value: never negative (ERRATA 5.8)."""
    total = shown_counts.sum()
    noise = (1 - p) / domain
    estimate = np.full(len(shown_counts), total / max(domain, 1))
    for _ in range(steps):
        expected = p * estimate + noise * estimate.sum()
        ratio = np.divide(shown_counts, expected, out=np.zeros_like(shown_counts, dtype=float), where=expected > 0)
        better = estimate * (p * ratio + noise * ratio.sum())
        moved = np.abs(better - estimate).sum()
        estimate = better
        if moved <= 1e-9 * max(total, 1):
            break
    return estimate


@dataclass(frozen=True, slots=True)
class SampledReader:
    kind: ClassVar[str] = "sampled"
    assumption: ClassVar[str] = "every point of a row's labels is as likely"
    draws_rows: ClassVar[bool] = True
    files: ClassVar[tuple[str, ...]] = ("data",)
    own: ClassVar[dict[str, Checker]] = {
        "p": make_checker(_METHOD_FIELDS["p"]),
        "k": lambda value: make_checker(_METHOD_FIELDS["k"])(schema_checks.check_count(value)),
        "domain": schema_checks.check_list_of(schema_checks.check_text),
        "declared": schema_checks.check_one_of(*DECLARATION_SENTENCES),
    }
    optional: ClassVar[frozenset[str]] = frozenset({"declared"})
    labelled: ClassVar[bool] = True
    elsewhere: ClassVar[bool] = True

    def check(self, manifest: Manifest) -> None:
        if not manifest.find_columns_with_role(Role.QUASI) or len(manifest.find_columns_with_role(Role.SENSITIVE)) != 1:
            raise MisshapenValue("a sampled release has quasi-identifiers and one sensitive column", inside=True)
        if len(manifest.columns) != len(manifest.find_columns_with_role(Role.QUASI)) + 1:
            raise MisshapenValue("a sampled release carries no other column", inside=True)
        domain = manifest.own["domain"]
        if len(set(domain)) != len(domain) or len(domain) < 2:
            raise MisshapenValue("a domain has two different values or more", inside=True)
        _require_true_declaration(manifest)
        if manifest.rows_per_person > MAX_ROWS_OF_REDRAWN_PERSON:
            raise MisshapenValue("a person has more rows than odds are multiplied over", inside=True)
        if SIZE_COLUMN in {column.name for column in manifest.columns}:
            raise MisshapenValue(f"a column is named {SIZE_COLUMN}", inside=True)

    def schemas(self, manifest: Manifest) -> dict[str, Schema]:
        rows = {c.name: "String" if c.role == Role.QUASI else c.dtype for c in manifest.columns}
        return {"data": {**rows, SIZE_COLUMN: "Int64"}}

    def check_tables(self, tables: Tables, manifest: Manifest) -> None:
        require_integers_between(tables["data"], SIZE_COLUMN, 1, schema_checks.MAX_COUNT)
        require_exact_total(tables["data"][SIZE_COLUMN])
        if draws_many(manifest) and len(tables["data"]) == manifest.rows:  # not where a batch of rows is read
            _require_drawn_rows(tables["data"], manifest)
        require_listed_values(tables["data"], manifest.sensitive.name, manifest.own["domain"])

    def frame(self, tables: Tables, manifest: Manifest, *, bounds: bool) -> pl.DataFrame:
        data = tables["data"]
        return add_label_bounds(data, manifest).with_columns(data[SIZE_COLUMN]) if bounds else data

    def sight(self, tables: Tables, manifest: Manifest, cells: Cells) -> AdversaryView:
        raise RequestError(
            "This attack reads the values that groups hold; a sampled release shows perturbed values of the few people who were drawn.",
            attempt="--as corruption, the attack that it is made against.",
        )

    def value_counts(self, tables: Tables, manifest: Manifest, column: str) -> pl.DataFrame:
        raise RequestError(
            "In a sampled release perturbed values of the few people who were drawn are published: counts of them are not those of the "
            "people.",
            attempt="release.count, which estimates them.",
        )

    def domain(self, tables: Tables, manifest: Manifest) -> pl.Series:
        column = manifest.sensitive
        return parse_texts(list(manifest.own["domain"]), column.dtype).alias(column.name)

    def list_needed_columns(
        self, manifest: Manifest, question_columns: AskedColumns
    ) -> dict[str, NeededColumns] | None:
        """Return None: every column is needed, and hardly two rows are alike."""
        return None

    def estimate(self, tables: Tables, manifest: Manifest, question: Question) -> Answer:
        """Estimate by reconstruction, weighted by G; over quasi-identifiers alone G is exact, and so are the bounds."""
        data = tables["data"]
        column = manifest.sensitive.name
        if question.where is not None and column in question.where.meta.root_names():
            raise RequestError(
                f"{column!r} was perturbed: a condition on it would select by noise.",
                attempt="values=[...], which reconstructs how many have them.",
            )
        shown_frame = None if question.where is None else self.frame(tables, manifest, bounds=True)
        people = question.known.get("people")
        if people is None:
            people = allot_people(data, manifest)
            question.known["people"] = people
        bound_question = BoundQuestion.bind(data, manifest, question, shown_frame, labels=True, people=people)
        if not bound_question.sensitive:
            return bound_question.answer_row_by_row(people)
        if "sampled" not in question.known:
            question.known["sampled"] = SampledCounts.from_frame(data, manifest)
        counts: SampledCounts = question.known["sampled"]

        require_no_extreme(bound_question.aggregate)
        if question.by == "shrunk":
            raise RequestError(
                "Estimates from a sampled release are not shrunk.",
                why="Its manifest does not say how frequent values are among everybody: a baseline would come from the same sample, and "
                "most of what is uncertain is who was drawn.",
                attempt='by = "inversion" or "em".',
            )

        def ask(part: BoundQuestion) -> Answer:
            scores = ValueScores.from_rows(part.rows, counts.domain, part.condition, part.column)
            bounds = bound_any_value(part, counts.domain, people)
            if not scores.depend_on_value(part.aggregate):
                return bounds
            estimated = counts.answer(scores, part.aggregate, by=question.by, bounds=bounds)
            if scores.cut and estimated.estimate is not None:
                note = f"{CUT_GROUPS_NOTE} {PLACES_BY_DENSITY[question.density]}; {BIAS_NOTE}"
                estimated = replace(estimated, note=note, density=question.density)
            return combine_with_bounds(estimated, bounds)

        return bound_question.answer_about_source(ask)

    def readme(self, manifest: Manifest) -> str:
        if manifest.readme == 1:
            return render_first_sampled(manifest)
        column = format_code(manifest.sensitive.name)
        own = manifest.own
        domain_size = len(own["domain"])
        if draws_many(manifest):
            return _render_many(manifest)
        summary = (
            f"One row stands for each group of people: its columns cover the whole group, and its {column} was drawn at random. No row "
            "says what a person has, and counts over many rows can be estimated."
        )
        return render_page(
            [
                *format_heading(manifest, summary),
                *format_reading_section(
                    manifest,
                    f"- {list_file_subjects(manifest)[0]} one row for each group of at least {_describe_groups(manifest)} people. The columns but {column} "
                    "and `G` are made coarser, so that they cover everybody in the group: a value, a range `[low, high]` with both ends "
                    "included, a set `{a, b}` or a node of the hierarchy in `manifest.json`; `*` is any value.",
                    f"- {column} is that of one person of the group, drawn at random. It was kept with probability p = {own['p']}, or else drawn from "
                    f"the {domain_size:,} values that are possible (`domain` in `manifest.json`), each being equally likely. {_describe_domain(manifest)}",
                    f"- `{SIZE_COLUMN}` is how many rows of the source the group has.",
                    f"- Absurd rows, such as a value that nobody with these labels can have, are expected: a redrawn {column} goes with anything.",
                    f"- Do not count rows as they are printed: ask as below, or weight each row by `{SIZE_COLUMN}` and take the redrawing back: of N "
                    f"people, those with one of v values are estimated as (the sum of `{SIZE_COLUMN}` over rows that show one - (1 - p) N v / {domain_size}) / p.",
                    *describe_coarser_columns(manifest),
                    labelled=True,
                ),
                *format_asking_section(manifest, *describe_random_answer(column, manifest)),
                *format_promises(manifest),
                *_describe_limits(manifest),
            ]
        )


def _require_drawn_rows(data: pl.DataFrame, manifest: Manifest) -> None:
    """Refuse rows of one label that differ in their group's size, or are not as many as are drawn of it."""
    groups = data.group_by(list_label_columns(manifest)).agg(
        pl.len().alias("rows"), pl.col(SIZE_COLUMN).min().alias("least"), pl.col(SIZE_COLUMN).max().alias("most")
    )
    wrong = (groups["least"] != groups["most"]) | (
        groups["rows"] != groups["least"] // count_rows_of_one_drawn(manifest)
    )
    if wrong.any():
        raise BundleDamaged(
            f"{pluralize(int(wrong.sum()), 'label')} of {len(groups):,} {'has' if wrong.sum() == 1 else 'have'} another number of rows than "
            f"{SIZE_COLUMN} / {count_rows_of_one_drawn(manifest)}, rounded down, or rows that differ in {SIZE_COLUMN}.",
            why="So many rows of each group were drawn, and each is weighted by their number.",
        )


def _render_many(manifest: Manifest) -> str:
    """Render the README of a release of several rows of a group."""
    column = format_code(manifest.sensitive.name)
    own = manifest.own
    domain_size = len(own["domain"])
    drawn, none = ("people", "nobody") if manifest.rows_per_person == 1 else ("rows", "none")
    summary = (
        f"A few rows stand for each group of people: their columns cover the whole group, and their {column} was drawn at random. No row "
        "says what a person has, and counts over many rows can be estimated."
    )
    weight = f"`{SIZE_COLUMN}` / n"
    return render_page(
        [
            *format_heading(manifest, summary),
            *format_reading_section(
                manifest,
                f"- {list_file_subjects(manifest)[0]} n rows for each group of at least {_describe_groups(manifest)} people, n being `{SIZE_COLUMN}` / {count_rows_of_one_drawn(manifest)} rounded "
                f"down: so many of its {drawn} were drawn at random, {none} twice. The columns but {column} and `{SIZE_COLUMN}` are made coarser, "
                "so that they cover everybody in the group: a value, a range `[low, high]` with both ends included, a set `{a, b}` or a "
                "node of the hierarchy in `manifest.json`; `*` is any value. Groups are apart: rows with the same labels are of one group.",
                f"- {column} is that of the person who was drawn. It was kept with probability p = {own['p']}, or else drawn from "
                f"the {domain_size:,} values that are possible (`domain` in `manifest.json`), each being equally likely. {_describe_domain(manifest)}",
                f"- `{SIZE_COLUMN}` is how many rows of the source the group has. It stands in each of the group's rows, so its sum over rows counts nobody.",
                f"- Absurd rows, such as a value that nobody with these labels can have, are expected: a redrawn {column} goes with anything.",
                f"- Do not count rows as they are printed: ask as below, or weight each row by {weight} and take the redrawing back: of N "
                f"people, those with one of v values are estimated as (the sum of {weight} over rows that show one - (1 - p) N v / {domain_size}) / p.",
                *describe_coarser_columns(manifest),
                labelled=True,
            ),
            *format_asking_section(manifest, *describe_random_answer(column, manifest)),
            *format_promises(manifest),
            *_describe_limits(manifest),
        ]
    )


def _require_true_declaration(manifest: Manifest) -> None:
    """Refuse a manifest whose domain of the column differs from the one that a hierarchy or an order declares."""
    column = manifest.sensitive
    domain = manifest.own["domain"]
    declaration = manifest.own.get("declared")
    stated: list[str] | None = None
    if declaration == "hierarchy":
        stated = [row[0] for row in column.hierarchy or ()]
    elif declaration == "order":
        stated = list(column.order or ())
    elif declaration == "list" and "domain" in manifest.method.parameters:
        stated = [str(value) for value in manifest.method.parameters["domain"]]
    elif declaration == "range":
        stated = _list_whole_numbers(domain)
    if stated is not None and sorted(stated) != sorted(domain):
        raise MisshapenValue("a domain is not the one that is said to declare it", inside=True)


def _describe_groups(manifest: Manifest) -> str:
    rows_per_person = manifest.rows_per_person
    return f"{manifest.own['k']}" + (
        ""
        if rows_per_person == 1
        else f" ({manifest.own['k'] * rows_per_person} rows: at most {rows_per_person} of one person)"
    )


def _describe_domain(manifest: Manifest) -> str:
    if "declared" in manifest.own:
        return DECLARATION_SENTENCES[manifest.own["declared"]]
    if find_domain_declaration(manifest) is not None:
        return "The domain was declared by the publisher."
    return "The domain is the values that occur in the data: `manifest.json` tells which they are."


def _describe_limits(manifest: Manifest) -> list[str]:
    corrupted = "- It holds against somebody who has learned the true values of other people, of everyone else even, whoever they are."
    looked = (
        "- Groups were made by looking at perturbed values; the promise is calibrated as if each group were one person."
    )
    followed = "- Groups follow a table of other people, by its publisher's word: what that table says of anybody in this one, labels may tell."
    grouping = manifest.method.parameters.get("grouping", "mondrian")
    return format_limits(
        manifest,
        corrupted,
        "  It assumes that what is believed of this person's value does not hang on theirs.",
        "- Who was surer of one value beforehand than the promise allows is outside of it.",
        *([looked] if grouping == "specialization" else []),
        *([followed] if manifest.method.parameters.get("cuts") == "gain" else []),
        "- Whether someone is in the data is not hidden: labels and group sizes are those of everybody in it.",
        "- Ends and members of labels are values that people have, drawn or not.",
        f"- It is about this release alone, and it assumes {format_rows_per_person(manifest)}: a second release draws again, and both say more.",
        *describe_several_rows(
            manifest, "rows that lie in different groups are drawn and perturbed apart, and together say more"
        ),
        labelled=True,
    )


def _list_whole_numbers(domain: list[str]) -> list[str]:
    """List every whole number from the first to the last of a domain; none if the domain has other values."""
    try:
        lowest = int(domain[0])
        highest = int(domain[-1])
    except ValueError:
        return []
    return [str(number) for number in range(lowest, highest + 1)] if highest - lowest < 2 * len(domain) else []


READER = SampledReader()
