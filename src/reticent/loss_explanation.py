"""Explains the loss of a plan: which promise binds, on how rare a value, and what another promise would gain, measured.

Every figure is AIL of a plan by the same method on the same cells with one promise changed; nothing is estimated.
Changes for which there is no time are left out and named.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields, is_dataclass, replace
from fractions import Fraction
from typing import Any, cast

import numpy as np

from reticent import registry
from reticent.data.cells import Cells
from reticent.data.domain import TreeDomain, build_tree_domain
from reticent.data.hierarchy_builders import prefixes
from reticent.data.hierarchy_proposal import format_hierarchy_command, name_hierarchy_file
from reticent.errors import RequestError, pluralize, quote_list
from reticent.job import job
from reticent.models.beta_likeness import BetaLikeness, SemanticLikeness
from reticent.models.promise import CountCappedPromise, Promise, Promises
from reticent.recipe.group_labels import compute_column_losses
from reticent.recipe.recipe import Recipe
from reticent.time_limit import TimeLimitReached

_CODE_PATTERN = re.compile(r"[A-Za-z]{0,3}\d[\w.-]*")
STARRED_LOSS = 0.999  # a column that loses this much in every row is of no use
_WEAKER_PARAMETERS: Mapping[str, Callable[[Any], Any]] = {
    "k": lambda k: max(k // 2, 2),
    "l": lambda l_: max(l_ - 1, 2),
    "beta": lambda beta: 2 * beta,
    "t": lambda t: min(2 * t, Fraction(1)),
    "delta": lambda delta: 2 * delta,
    "alpha": lambda alpha: min((1 + alpha) / 2, Fraction(1)),
}
ProposedChange = tuple[str, str, Promises, Cells, str]


@dataclass(frozen=True, slots=True)
class RareValues:
    """The rarest values of a sensitive column: `values` of them have `rows` rows each, and how many rows they need around them."""

    column: str
    promise: str
    values: int
    of: int
    rows: int
    least_group: int
    table: int

    def __str__(self) -> str:
        return (
            f"The rarest values of {self.column!r} ({self.values:,} of {self.of:,}) have {pluralize(self.rows, 'row')} each, and by "
            f"{self.promise} a group that holds one must have at least {self.least_group:,} of the {self.table:,} rows: "
            f"at most {self.table // self.least_group:,} groups can hold one."
        )


@dataclass(frozen=True, slots=True)
class PromiseChange:
    """One promise left out, weakened or replaced: the loss then (None: no plan), and the text to paste."""

    promise: str
    what: str
    ail: float | None
    paste: str = ""


@dataclass(frozen=True, slots=True)
class LossExplanation:
    """`by_column` is the loss of each quasi-identifier; `skipped` counts the changes for which there was no time.

    `base` is the loss under the unchanged promises, by mondrian, as that of the changes is.
    """

    by_column: Mapping[str, float] = field(default_factory=dict)
    starred: tuple[str, ...] = ()
    rare: tuple[RareValues, ...] = ()
    changes: tuple[PromiseChange, ...] = ()
    skipped: int = 0
    base: float | None = None

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    def sentences(self) -> list[str]:
        lines = []
        if self.starred and len(self.starred) == len(self.by_column):
            lines.append(
                "Everything became `*`: of the quasi-identifiers nothing is left, and the rows say no more than a "
                "table of the sensitive values."
            )
        elif self.starred:
            starred_share = f"{len(self.starred)} of {len(self.by_column)} quasi-identifiers"
            lines.append(f"{starred_share} became `*` in every row: {quote_list(self.starred)}.")
        return lines + [str(values) for values in self.rare]


@dataclass(frozen=True, slots=True)
class PromiseTrials:
    """`measure` plans promises on cells and returns their loss, or raises `TimeLimitReached`; it is called while there is time `left`."""

    measure: Callable[[Cells, Promises], float | None]
    left: Callable[[], bool]
    base: float | None


def explain_loss(
    cells: Cells, promises: Promises, recipe: Recipe | None, trials: PromiseTrials | None = None
) -> LossExplanation:
    """Explain what the plan loses by column and for which values, and, by trials, what other promises would lose."""
    by_column: dict[str, float] = {}
    if recipe is not None:
        sizes = recipe.as_groups().sizes
        withheld = recipe.all_withheld
        losses = (sizes @ compute_column_losses(recipe) + withheld) / max(int(sizes.sum()) + withheld, 1)
        by_column = {domain.name: float(loss) for domain, loss in zip(cells.quasi, losses, strict=True)}
    starred = tuple(name for name, loss in by_column.items() if loss >= STARRED_LOSS)
    rare = tuple(values for promise in promises if (values := _find_rare_values(cells, promise)) is not None)
    changes = []
    skipped = 0
    proposals = [] if trials is None else _propose_changes(cells, promises, {values.column for values in rare})
    for promise, description, changed_promises, changed_cells, paste in proposals:
        if trials is None or not trials.left():
            skipped += 1
            continue
        try:
            changes.append(PromiseChange(promise, description, trials.measure(changed_cells, changed_promises), paste))
        except TimeLimitReached:
            skipped += 1
    return LossExplanation(by_column, starred, rare, tuple(changes), skipped, None if trials is None else trials.base)


def format_promise_toml(promise: Promise) -> str:
    """Format a promise as a job file has it."""
    defaults = {
        registry.strip_keyword_suffix(parameter.name): parameter.default for parameter in fields(cast("Any", promise))
    }
    table = {name: value for name, value in registry.describe(promise).items() if defaults.get(name, MISSING) != value}
    return "[[promise]]\n" + "\n".join(f"{name} = {job.format_toml_value(value)}" for name, value in table.items())


def _find_rare_values(cells: Cells, promise: Promise) -> RareValues | None:
    """Find what the rarest values require of a group, if that keeps the table from being divided into twenty groups."""
    if not isinstance(promise, CountCappedPromise) or not promise.needs_sensitive:
        return None
    column = cells.find_sensitive(getattr(promise, "column", None))
    domain = cells.sensitive[column]
    totals = cells.totals(column)
    caps = promise.caps(totals, domain.null_code)[0]
    if caps.upper is None:
        return None
    possible = np.flatnonzero((totals > 0) & (caps.upper[:, 0] > 0))
    rows_needed = -(-caps.upper[possible, 1] // caps.upper[possible, 0])
    least_group = int(rows_needed.max(initial=0))
    if least_group * 20 <= cells.rows:
        return None
    rows = int(totals[possible[rows_needed.argmax()]])
    equally_rare = int((totals[possible] == rows).sum())
    return RareValues(domain.name, promise.name, equally_rare, int((totals > 0).sum()), rows, least_group, cells.rows)


def _propose_changes(cells: Cells, promises: Promises, rare: set[str]) -> Iterator[ProposedChange]:
    """Yield (promise, what changes, the promises then, the cells then, what to paste), the most informative first."""
    every = tuple(promises)
    for position, promise in enumerate(every):
        rest = every[:position] + every[position + 1 :]
        if rest:
            yield promise.name, "left out", Promises(rest), cells, ""
    for position, promise in enumerate(every):
        if isinstance(promise, BetaLikeness) and _find_column_name(cells, promise) in rare:
            yield from _propose_families(cells, every, position)
    for position, promise in enumerate(every):
        if (weaker := _weaken_promise(promise)) is not None:
            changed = Promises((*every[:position], weaker[1], *every[position + 1 :]))
            yield promise.name, weaker[0], changed, cells, format_promise_toml(weaker[1])


def _find_column_name(cells: Cells, promise: Promise) -> str:
    return cells.sensitive[cells.find_sensitive(getattr(promise, "column", None))].name


def _propose_families(cells: Cells, every: tuple[Promise, ...], position: int) -> Iterator[ProposedChange]:
    """Propose beta-likeness of families of codes instead of single codes, over a hierarchy of their prefixes."""
    promise = every[position]
    if not isinstance(promise, BetaLikeness):
        return
    column = cells.find_sensitive(promise.column)
    domain = cells.sensitive[column]
    if isinstance(domain, TreeDomain) and domain.hierarchy.height > 1:
        tree = domain.hierarchy
        comment = ""
        changed_cells = cells
    elif isinstance(domain, TreeDomain) and all(map(_CODE_PATTERN.fullmatch, domain.texts)):
        tree = prefixes(list(domain.texts))
        comment = (
            f"# {format_hierarchy_command(domain.name)}\n"
            f'# {job.format_toml_key(domain.name)} = {{ role = "sensitive", hierarchy = "{name_hierarchy_file(domain.name)}" }}\n'
        )
        changed_cells = _apply_hierarchy(cells, column, tree)
    else:
        return  # words that begin alike are no family
    named = promise.column or domain.name
    for level in range(tree.height - 1, 0, -1):
        families = len(np.unique(tree.paths[:, level]))
        other = SemanticLikeness(promise.beta, level, promise.enhanced, promise.two_sided, named)
        description = f"semantic-beta-likeness of {families:,} families (level {level}) instead"
        yield (
            promise.name,
            description,
            Promises((*every[:position], other, *every[position + 1 :])),
            changed_cells,
            comment + format_promise_toml(other),
        )


def _weaken_promise(promise: Promise) -> tuple[str, Promise] | None:
    """Return a weaker promise and its words; None if there is none to name."""
    if not is_dataclass(promise):
        return None
    for parameter in fields(promise):
        value = getattr(promise, parameter.name)
        if (
            parameter.name not in _WEAKER_PARAMETERS
            or value is None
            or (weaker := _WEAKER_PARAMETERS[parameter.name](value)) == value
        ):
            continue
        try:
            return f"{parameter.name} = {registry.convert_to_plain(weaker)}", replace(
                cast("Any", promise), **{parameter.name: weaker}
            )
        except RequestError:  # beyond what the promise can express
            return None
    return None


def _apply_hierarchy(cells: Cells, column: int, tree: Any) -> Cells:
    """Return the cells with a sensitive column under another hierarchy: its codes in the hierarchy's order."""
    old = cells.sensitive[column]
    new = build_tree_domain(old.name, old.dtype, tree, null=old.null, is_from_steward=True)
    place = {text: code for code, text in enumerate(new.texts)}
    code = np.array([*(place[text] for text in old.texts), *([new.null_code] if old.null else [])], np.int32)
    values = cells.values.copy()
    values[:, column] = code[values[:, column]]
    sensitive = (*cells.sensitive[:column], new, *cells.sensitive[column + 1 :])
    return replace(cells, sensitive=sensitive, values=values)
