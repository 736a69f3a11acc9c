"""Expected widths of guaranteed bounds, for `check` of a job by `distribution`: which groups, target and fakes leave the narrowest.

A release by `distribution` answers SUM, AVG and COUNT with guaranteed bounds (Koudas et al., VLDB 2009, section 3.3),
and how wide they are depends on settings whose effect nobody guesses.  So variants of the job are planned on its own
table, groupings x targets x exact or rounded, the narrowest of them x fakes x hierarchies (section 6.3: how many children a
node has), and the bounds on a workload are computed from each plan as a release of it would give them.

The workload is the method's own `workload`, if the job declares one: random ranges of its columns.  Else it is each
value of every column with few values (what GROUP BY asks), and random ranges of the columns with an order, a tenth to a
half of their values wide.  For each question the bounds on AVG (relative to the answer, they are those of SUM) and on
the number of rows with a sensitive value in a random range; COUNT without a condition on the sensitive column is exact.

Targets differ in what they let be believed: beside the widths stands the greatest probability that a target gives any
value.  A variant with another promise than the job's is never proposed without saying so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from reticent import registry
from reticent.data.cells import Cells
from reticent.data.domain import Domain
from reticent.errors import RequestError
from reticent.estimate.known_totals import DomainNumbers, KnownTotals, PublishedNodes
from reticent.evaluation import BudgetClock, run_within_budget
from reticent.job.job import Job, format_toml_value
from reticent.loss_explanation import format_promise_toml
from reticent.methods.distribution.method import Distribution
from reticent.methods.distribution.value_domain import ValueDomain, make_value_domain
from reticent.models.p_privacy import PPrivacy
from reticent.models.promise import Promises
from reticent.recipe.aggregate_bounds import AggregateBounds, IntervalCounts, compute_bounds
from reticent.recipe.recipe import Recipe, TransformedRecipe
from reticent.time_limit import TimeLimitReached

MAX_GROUP_BY_VALUES = 60  # of a column that is grouped by, in questions and in groupings
MAX_GROUPING_COLUMNS = 4  # of each sort that are tried as groupings
MAX_GROUP_BY_QUESTIONS = 80
RANGE_QUESTIONS = 40
MIN_RANGE_SHARE = 0.1
MAX_RANGE_SHARE = 0.5
BANDS = 5
MONDRIAN_SIZE = 50
CURVE_SIZE = 256  # rows of a subgroup along the curve
FAKE_SHARE = Fraction(1, 20)
VARIANTS_WITH_FAKES = 3
"""So many of the narrowest variants are tried with fakes too."""
ARITIES = (2, 3, 4, 8)
VARIANTS_WITH_ARITIES = 2
"""So many of the narrowest variants are tried with trees of other arities too."""
OTHER_TARGETS: tuple[Any, ...] = (
    "source",
    {"nearest": {"model": "probabilistic-l-diversity", "l": 4}},
    {"nearest": {"model": "t-closeness", "t": Fraction(1, 5)}},
    "group",
)
VARIANT_SHARE = 0.4  # of the time that is left, which a variant may take
WORKLOAD_SEED = 0  # the same questions to every variant, and in every run

PlanJob = Callable[[Job, BudgetClock], tuple[Any, Recipe | None]]


@dataclass(frozen=True, eq=False)
class BoundQuestions:
    """Questions: which cells each selects, which places of the sensitive domain its range has, and its sum and rows."""

    selections: Sequence[np.ndarray]
    ranges: Sequence[tuple[int, int]]
    sums: Sequence[float]
    rows: Sequence[int]

    def __len__(self) -> int:
        return len(self.selections)


@dataclass(frozen=True, eq=False)
class WidthVariant:
    """A variant of the job, and the mean widths of its bounds over the workload.

    `avg_width` is in the unit of the sensitive column; `relative_width` is its ratio to the mean answer, for AVG and SUM
    alike; both are None for categories. `count_width` is a share of the selected rows. `belief` is the greatest
    probability that a target gives a value. All are None if the variant is refused, and `why` gives the reason.
    """

    method: Distribution
    promise: PPrivacy
    is_own: bool
    keeps_promise: bool
    groups: int | None = None
    avg_width: float | None = None
    relative_width: float | None = None
    count_width: float | None = None
    belief: float | None = None
    why: str = ""

    @property
    def width(self) -> float:
        """What variants are compared by; infinite if the variant is refused."""
        if self.relative_width is not None:
            return self.relative_width
        return np.inf if self.count_width is None else self.count_width

    def to_dict(self) -> dict[str, Any]:
        method = registry.describe(self.method)
        promise = registry.describe(self.promise)
        figures = ("groups", "avg_width", "relative_width", "count_width", "belief", "why", "is_own", "keeps_promise")
        return {
            **{name: method.get(name) for name in ("group_by", "within", "fakes", "arity")},
            **{name: promise.get(name) for name in ("target", "exact")},
            **{name: getattr(self, name) for name in figures},
            "notices": list(self.method.notices(Promises((self.promise,)))),
            "paste": format_variant_toml(self),
        }


def measure_bound_widths(job: Job, cells: Cells, plan: PlanJob, clock: BudgetClock) -> tuple[dict[str, Any], ...]:
    """Measure the widths of variants of the job, and recommend; nothing if the job's method gives no guaranteed bounds.

    `plan` plans a job within a clock: it returns a summary, None if there was no time, and the recipe, None if the job
    is refused. Variants for which there was no time are counted as `skipped`.
    """
    if not isinstance(job.method, Distribution):
        return ()
    promise = job.promises.require_models(PPrivacy)[0]
    try:
        values = make_value_domain(cells, promise)
    except RequestError:  # the summary of the job's own plan gives the reason
        return ()
    workload = _run_or_none(clock, partial(draw_questions, cells, values, job.method.workload))
    if workload is None or not len(workload):
        return ()
    measure = partial(_measure_variant, job, cells, workload, plan, clock)
    outcomes = [measure(variant) for variant in _list_variants(job.method, promise, cells, values)]
    outcomes += [measure(variant) for variant in _list_variants_with_fakes(outcomes)]
    if values.hierarchy is None:
        outcomes += [measure(variant) for variant in _list_variants_with_arities(outcomes)]
    variants = [variant for variant in outcomes if variant is not None]
    return (_summarize_variants(variants, len(outcomes) - len(variants), workload, values),)


def draw_questions(cells: Cells, values: ValueDomain, declared: Mapping[str, Fraction] | None) -> BoundQuestions:
    """Draw the questions: ranges of a declared workload, else values of columns with few and ranges of those with an order."""
    draw = np.random.default_rng(WORKLOAD_SEED)
    selections = [] if declared else _list_group_by_selections(cells)
    selections += _draw_range_selections(cells, declared, draw)
    selections = [selection for selection in selections if selection.any()]
    place = values.of_code[cells.values[:, 0]]
    numbers = np.zeros(len(cells)) if values.positions is None else values.positions[place]
    size = len(values.texts)
    return BoundQuestions(
        selections,
        [_draw_range(size, draw.uniform(MIN_RANGE_SHARE, MAX_RANGE_SHARE), draw) for _ in selections],
        [float(numbers[selection] @ cells.counts[selection]) for selection in selections],
        [int(cells.counts[selection].sum()) for selection in selections],
    )


def measure_workload(
    recipe: TransformedRecipe, promise: PPrivacy, workload: BoundQuestions
) -> tuple[float | None, float]:
    """Measure the mean width of the bounds on AVG, None for categories, and of those on a share of the selected rows."""
    rows = np.bincount(recipe.group, weights=recipe.quota, minlength=recipe.groups).astype(np.int64)
    bounds = _compute_sum_bounds(recipe, rows)
    totals = _read_totals(recipe, promise, rows)
    numbers = None if totals is None or bounds is None else DomainNumbers.from_texts(list(recipe.texts))
    avg_widths = []
    count_widths = []
    for selection, (first, last) in zip(workload.selections, workload.ranges, strict=True):
        is_selected = selection[recipe.cell]
        selected = np.bincount(
            recipe.group[is_selected], weights=recipe.quota[is_selected], minlength=recipe.groups
        ).astype(np.int64)
        total = int(selected.sum())
        if bounds is not None:
            layers = None if totals is None or numbers is None else totals.bound_layers(selected)
            if layers is None or numbers is None:
                sum_width = _compute_sum_width(bounds, selected) / recipe.scale
            else:
                sum_width = float(numbers.add_up_layers(layers[1]) - numbers.add_up_layers(layers[0]))
            avg_widths.append(sum_width / total)
        count_widths.append(_compute_count_width(recipe, totals, selected, first, last) / total)
    return float(np.mean(avg_widths)) if avg_widths else None, float(np.mean(count_widths))


def format_variant_toml(variant: WidthVariant) -> str:
    """Format promise and method of a variant as a job file has them."""
    defaults = {parameter.name: registry.convert_to_plain(parameter.default) for parameter in fields(Distribution)}
    table = {
        name: value
        for name, value in registry.describe(variant.method).items()
        if name == "name" or defaults.get(name) != value
    }
    lines = [f"{name} = {format_toml_value(value)}" for name, value in table.items()]
    return "\n".join([format_promise_toml(variant.promise), "[method]", *lines])


def _measure_variant(
    job: Job, cells: Cells, workload: BoundQuestions, plan: PlanJob, clock: BudgetClock, variant: WidthVariant
) -> WidthVariant | None:
    """Plan a variant and measure it; None if there is no time."""
    variant_clock = clock if variant.is_own else clock.take_share(VARIANT_SHARE)
    summary, recipe = plan(job.at(method=variant.method, promises=[variant.promise]), variant_clock)
    if summary is None:
        return None
    if recipe is None:
        return replace(variant, why=summary.why or "refused")
    assert isinstance(recipe, TransformedRecipe)
    figures = _run_or_none(clock, partial(measure_workload, recipe, variant.promise, workload))
    if figures is None:
        return None
    avg_width, count_width = figures
    answers = np.abs(np.array(workload.sums) / np.array(workload.rows))
    mean_answer = float(answers.mean())
    return replace(
        variant,
        groups=recipe.groups,
        avg_width=avg_width,
        relative_width=None if avg_width is None or not mean_answer else avg_width / mean_answer,
        count_width=count_width,
        belief=_find_greatest_belief(recipe),
    )


def _list_variants(method: Distribution, promise: PPrivacy, cells: Cells, values: ValueDomain) -> list[WidthVariant]:
    """List groupings x targets x exact or rounded, in the order in which they are measured.

    First the job's own, then other groupings for its promise, then other promises for its grouping, then all others.
    Nearest targets are the last of these: they are computed exactly for each group, which takes long where there are
    many values.
    """
    variants = []
    for grouped in _list_groupings(method, cells, values):
        for target in (promise.target, *(target for target in OTHER_TARGETS if target != promise.target)):
            for exact in (promise.exact, not promise.exact):
                changed = replace(promise, target=target, exact=exact)
                is_own = grouped == method and changed == promise
                variants.append(WidthVariant(grouped, changed, is_own, changed == promise))

    def rank(variant: WidthVariant) -> tuple[int, bool]:
        is_nearest = isinstance(variant.promise.target, Mapping) and "nearest" in variant.promise.target
        if variant.is_own:
            return 0, False
        if variant.keeps_promise:
            return 1, False
        return (2 if variant.method == method else 3), is_nearest

    return sorted(variants, key=rank)


def _list_variants_with_fakes(outcomes: Sequence[WidthVariant | None]) -> list[WidthVariant]:
    """List the narrowest variants that were measured, with fakes if they had none and without if they had."""
    measured = [variant for variant in outcomes if variant is not None and np.isfinite(variant.width)]
    kept = sorted((variant for variant in measured if variant.keeps_promise), key=lambda variant: variant.width)
    others = sorted((variant for variant in measured if not variant.keeps_promise), key=lambda variant: variant.width)
    return [
        WidthVariant(
            replace(variant.method, fakes=Fraction(0) if variant.method.fakes else FAKE_SHARE),
            variant.promise,
            False,
            variant.keeps_promise,
        )
        for variant in (*kept[:VARIANTS_WITH_FAKES], *others[:VARIANTS_WITH_FAKES])
    ]


def _list_variants_with_arities(outcomes: Sequence[WidthVariant | None]) -> list[WidthVariant]:
    """List the narrowest variants that keep the promise, and the narrowest of the others, with trees of other arities."""
    measured = [variant for variant in outcomes if variant is not None and np.isfinite(variant.width)]
    measured.sort(key=lambda variant: variant.width)
    kept = [variant for variant in measured if variant.keeps_promise][:VARIANTS_WITH_ARITIES]
    others = [variant for variant in measured if not variant.keeps_promise][:1]
    return [
        WidthVariant(replace(variant.method, arity=arity), variant.promise, False, variant.keeps_promise)
        for variant in (*kept, *others)
        for arity in ARITIES
        if arity != variant.method.arity
    ]


def _list_groupings(method: Distribution, cells: Cells, values: ValueDomain) -> list[Distribution]:
    """List the job's method with its own groups and with others."""
    groupings = [method]
    plain = replace(method, within="sa-only", size=None, k=None)
    groupings.append(replace(plain, group_by=None))
    for domain in _rank_columns(cells, values):
        if getattr(domain, "kind", "") == "numeric" and domain.size > BANDS:
            groupings.append(replace(plain, group_by={domain.name: _list_band_edges(domain, cells)}))
        elif domain.size <= MAX_GROUP_BY_VALUES:
            groupings.append(replace(plain, group_by=[domain.name]))
    groupings.append(replace(plain, group_by="mondrian", k=MONDRIAN_SIZE))
    groupings.append(replace(method, within="qi-sa", size=None))
    groupings.append(replace(method, within="hilbert", size=CURVE_SIZE))
    distinct = {repr(grouping): grouping for grouping in groupings}
    return list(distinct.values())


def _rank_columns(cells: Cells, values: ValueDomain) -> list[Domain]:
    """List the columns that explain most of the sensitive column's variance, of categories those with the fewest values."""
    place = values.of_code[cells.values[:, 0]]
    numbers = place.astype(float) if values.positions is None else values.positions[place]
    scores = []
    for index in range(len(cells.quasi)):
        codes = cells.codes[:, index]
        rows = np.bincount(codes, weights=cells.counts)
        sums = np.bincount(codes, weights=cells.counts * numbers)
        scores.append(float((sums[rows > 0] ** 2 / rows[rows > 0]).sum()))
    order = np.argsort(scores)[::-1][:MAX_GROUPING_COLUMNS]
    return [cells.quasi[index] for index in order.tolist()]


def _list_band_edges(domain: Domain, cells: Cells) -> list[Any]:
    """List the edges of bands with about as many rows each."""
    index = next(number for number, quasi in enumerate(cells.quasi) if quasi.name == domain.name)
    positions = np.asarray(getattr(domain, "positions"))  # noqa: B009 - domains without numbers have none
    rows = np.bincount(cells.codes[:, index], weights=cells.counts, minlength=len(positions))[: len(positions)]
    until = np.cumsum(rows) / max(rows.sum(), 1)
    places = np.searchsorted(until, np.arange(1, BANDS) / BANDS) + 1
    edges = sorted({float(positions[place]) for place in places.tolist() if place < len(positions)})
    return [int(edge) if edge == int(edge) else edge for edge in edges]


def _list_group_by_selections(cells: Cells) -> list[np.ndarray]:
    """List the cells with each value of every column that has few values."""
    selections = []
    for index, domain in enumerate(cells.quasi):
        if 1 < domain.size <= MAX_GROUP_BY_VALUES:
            selections += [cells.codes[:, index] == code for code in range(domain.size)]
    step = -(-len(selections) // MAX_GROUP_BY_QUESTIONS) or 1
    return selections[::step]


def _draw_range_selections(
    cells: Cells, declared: Mapping[str, Fraction] | None, draw: np.random.Generator
) -> list[np.ndarray]:
    """Draw the cells in random ranges of the declared columns, or of those whose values have an order."""
    places = [
        index
        for index, domain in enumerate(cells.quasi)
        if (domain.name in declared if declared else domain.size > 2 and hasattr(domain, "positions"))
    ]
    selections = []
    for number in range(RANGE_QUESTIONS if places else 0):
        index = places[number % len(places)]
        domain = cells.quasi[index]
        share = float(declared[domain.name]) if declared else draw.uniform(MIN_RANGE_SHARE, MAX_RANGE_SHARE)
        first, last = _draw_range(domain.size, share, draw)
        selections.append((cells.codes[:, index] >= first) & (cells.codes[:, index] <= last))
    return selections


def _draw_range(size: int, share: float, draw: np.random.Generator) -> tuple[int, int]:
    """Draw a range of so large a share of the places 0 .. size - 1."""
    length = min(max(round(size * share), 1), size)
    first = int(draw.integers(size - length + 1))
    return first, first + length - 1


def _compute_sum_bounds(recipe: TransformedRecipe, rows: np.ndarray) -> AggregateBounds | None:
    if recipe.units is None:
        return None
    units = np.asarray(recipe.units)
    listed = recipe.listed
    low = units[recipe.first[listed.value]]
    high = units[recipe.last[listed.value]]
    return compute_bounds(IntervalCounts(listed.group, low, high, listed.count), rows)


def _compute_sum_width(bounds: AggregateBounds, selected: np.ndarray) -> float:
    """Compute the width of the bounds on the sum of so many rows of each group (section 3.3)."""
    groups = np.flatnonzero(selected)
    stride = int(bounds.selected.max()) + 1
    place = np.searchsorted(bounds.group * stride + bounds.selected, groups * stride + selected[groups])
    shortfall = bounds.selected[place] - selected[groups]
    upper = bounds.columns["sum_upper"][place] - shortfall * bounds.columns["min_upper"][place]
    lower = bounds.columns["sum_lower"][place] - shortfall * bounds.columns["max_lower"][place]
    return float((upper - lower).sum())


def _read_totals(recipe: TransformedRecipe, promise: PPrivacy, rows: np.ndarray) -> KnownTotals | None:
    """Read the totals across groups that a release of the recipe would state; None if it would state none."""
    if promise.target not in ("source", "group"):
        return None
    listed = recipe.listed
    nodes = PublishedNodes(listed.group, recipe.first[listed.value], recipe.last[listed.value], listed.count)
    distance = Fraction(0) if promise.exact else promise.distance
    return KnownTotals.from_target(
        promise.target, distance, nodes, rows, np.asarray(recipe.target), _compute_value_shares(recipe)
    )


def _compute_count_width(
    recipe: TransformedRecipe, totals: KnownTotals | None, selected: np.ndarray, first: int, last: int
) -> float:
    """Compute the width of the bounds on how many of the selected rows have a value in a range of the domain."""
    listed = recipe.listed
    node_first = recipe.first[listed.value]
    node_last = recipe.last[listed.value]
    within = (node_first >= first) & (node_last <= last)
    touching = (node_first <= last) & (node_last >= first)
    published, certain, possible = (
        np.bincount(listed.group, weights=listed.count * chosen, minlength=recipe.groups)
        for chosen in (np.ones(len(within)), within, touching)
    )
    if totals is not None:
        wanted = np.zeros(len(recipe.texts), bool)
        wanted[first : last + 1] = True
        least, most = totals.narrow_count(selected, possible, published - certain, wanted)
        return float(most - least)
    lower = np.maximum(selected - (published - certain), 0)
    upper = np.minimum(selected, possible)
    return float((upper - lower).sum())


def _find_greatest_belief(recipe: TransformedRecipe) -> float:
    """Find the greatest probability that a target gives a single value."""
    return float(_compute_value_shares(recipe).max())


def _compute_value_shares(recipe: TransformedRecipe) -> np.ndarray:
    """Compute (targets, values): the probability of each value of the domain by each target."""
    weights = np.array(recipe.weights, float)
    spans = list(zip(recipe.first.tolist(), recipe.last.tolist(), strict=True))
    parent = _find_parents(spans)
    inner = parent >= 0
    parts = np.zeros_like(weights)
    for target in range(len(weights)):
        parts[target] = np.bincount(parent[inner], weights=weights[target][inner], minlength=len(spans))
    probabilities = np.ones_like(weights)
    depth = np.zeros(len(spans), np.int64)
    for node in np.flatnonzero(inner).tolist():  # nodes come after their parents
        depth[node] = depth[parent[node]] + 1
    for level in range(1, int(depth.max()) + 1):
        nodes = np.flatnonzero(depth == level)
        above = parent[nodes]
        probabilities[:, nodes] = probabilities[:, above] * weights[:, nodes] / np.maximum(parts[:, above], 1)
    leaves = np.flatnonzero(recipe.first == recipe.last)
    return probabilities[:, leaves[np.argsort(recipe.first[leaves])]]


def _find_parents(spans: Sequence[tuple[int, int]]) -> np.ndarray:
    """Find the parent of each node of a tree whose nodes are stretches of the domain; that of the root is -1."""
    parent = np.full(len(spans), -1, np.int64)
    ancestors: list[int] = []
    for node in sorted(range(len(spans)), key=lambda number: (spans[number][0], -spans[number][1])):
        while ancestors and spans[ancestors[-1]][1] < spans[node][0]:
            ancestors.pop()
        if ancestors:
            parent[node] = ancestors[-1]
        ancestors.append(node)
    return parent


def _summarize_variants(
    variants: Sequence[WidthVariant], skipped: int, workload: BoundQuestions, values: ValueDomain
) -> dict[str, Any]:
    """Summarize the variants, the narrowest first, with the one to recommend for the promise as it is, and for another."""
    measured = sorted(
        (variant for variant in variants if np.isfinite(variant.width)), key=lambda variant: variant.width
    )
    kept = next((variant for variant in measured if variant.keeps_promise), None)
    other = next(
        (variant for variant in measured if not variant.keeps_promise and variant.promise.target != "group"), None
    )
    if other is not None and kept is not None and other.width >= kept.width:
        other = None
    own = next((variant for variant in variants if variant.is_own), None)
    mean_answer = float(np.abs(np.array(workload.sums) / np.array(workload.rows)).mean())
    return {
        "about": "bounds",
        "column": values.name,
        "questions": len(workload),
        "mean_answer": None if values.units is None else mean_answer,
        "variants": [variant.to_dict() for variant in measured],
        "refused": [variant.to_dict() for variant in variants if variant.why],
        "skipped": skipped,
        "own": None if own is None or own.why else own.to_dict(),
        "recommended": None if kept is None else kept.to_dict(),
        "recommended_target": None if other is None else other.to_dict(),
        "why": _explain_recommendation(own, kept, other),
    }


def _explain_recommendation(
    own: WidthVariant | None, kept: WidthVariant | None, other: WidthVariant | None
) -> list[str]:
    """Explain what is recommended, in sentences."""
    if kept is None:
        return ["There was no time to measure a variant that keeps the promise as it is."]
    subject = "AVG and SUM" if kept.relative_width is not None else "COUNT"
    unit = "of the answer" if kept.relative_width is not None else "of the selected rows"
    sentences = []
    if own is not None and own is not kept and np.isfinite(own.width):
        sentences.append(
            f"Guaranteed bounds on {subject} would be {own.width:.0%} {unit} wide by the job as it is, and {kept.width:.0%} "
            "by the first variant that keeps its promise."
        )
    else:
        sentences.append(
            f"Guaranteed bounds on {subject} would be {kept.width:.0%} {unit} wide; no variant that keeps the promise is narrower."
        )
    narrowest = kept if other is None else other
    if narrowest.relative_width is not None and narrowest.relative_width > 1:
        sentences.append(
            "Even the narrowest bounds are wider than the answers. A few far values stretch every range: a grid as the promise's domain, "
            "a hierarchy of the values, or fewer, rounder values in the source narrow them."
        )
    if other is not None:
        sentences.append(
            f"Another target is narrower, {other.width:.0%}, and is another promise: it lets a value be believed with up to "
            f"{other.belief:.3f}, the job's own with up to {kept.belief:.3f}."
        )
    return sentences


def _run_or_none(clock: BudgetClock, function: Callable[[], Any]) -> Any:
    try:
        return run_within_budget(clock, function)
    except TimeLimitReached:
        return None
