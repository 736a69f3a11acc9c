"""Comparison of several methods, promises or parameters on one source.

    compared = rt.compare(job, frame=people, methods=["mondrian", "burel"], beta=[1, 2, 4])
    compared.frame()       a row for each candidate, the trivial sanitizations and the source
    compared.chart()       what adversaries gain over what is lost

Every candidate is published to a temporary folder, audited, attacked and queried, and its folder is removed: nothing is
published, nothing enters the ledger. `Comparison` holds the rows as measured, a flat table of them, and the frontier of
privacy and utility.

A plain table that another tool made of the source can be measured beside the candidates, as they are
(`measure_tables`). Its people cannot be held back any more: a learner is asked about the people whom the table is of,
and the row notes it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from reticent import catalogue, charts
from reticent.attacks.target import locate_plain_labels
from reticent.audit.audit import audit
from reticent.compare.candidates import check_method_names, make_candidates, name_jobs
from reticent.compare.frontier import draw_measured_frontier, write_frontier_title
from reticent.compare.metrics import (
    ComparisonSetting,
    evaluate_candidates,
    evaluate_yardsticks,
    measure_answers,
    measure_attacks,
    measure_source,
    summarize_audit,
    summarize_spread,
)
from reticent.compare.trivial_sanitizations import make_trivial_sanitizations
from reticent.data import source as sources
from reticent.data.cells import Cells
from reticent.data.columns import has_types
from reticent.data.domain import TreeDomain
from reticent.data.hierarchy_builders import BuiltHierarchy
from reticent.data.label_grammar import ANY_LABEL
from reticent.errors import ColumnError, RequestError, suggest
from reticent.evaluation import BudgetClock, Candidate
from reticent.html_repr import render_page, render_picture, render_table
from reticent.job.job import Job
from reticent.plugins import load_plugin_if_named
from reticent.utility.classification import Exam, require_stats_extra
from reticent.utility.loss import compute_table_loss
from reticent.utility.workload import answer_from_view
from reticent.validation import (
    flag,
    integer,
    is_callable,
    mapping,
    names,
    optional,
    path_or_table,
    seconds,
    text,
    validate_arguments,
)

SPREAD_FIGURES = ("row_loss", "count_error", "count_error_mean", "average_error", "average_error_mean", "seconds")
PLAIN_FIGURES = ("rows", "groups", "withheld", "kept", "marginal_error", "association_error")
PRIVACY_FIGURE = "attack_gain"
UTILITY_FIGURE = "count_error"
FIGURE_WORDS = {
    "attack_gain": "what adversaries gain over the baseline",
    "count_error": "median relative error of counts",
    "count_error_mean": "mean relative error of counts",
    "average_error": "median error of averages, by the span",
    "average_range": "mean width of guaranteed averages, by the span",
    "row_loss": "row loss",
    "loss": "information loss",
    "marginal_error": "mean error of marginals",
    "association_error": "mean error of associations",
    "seconds": "CPU seconds of publishing",
}
"""Names of figures in a chart."""
TABLE_ROLE = "table"
CLASSIFICATION_NOTE = "learned from the table of all people, and asked about them"
GIVES_UP_TEXT = "what it says of itself is not known: it has no manifest"
YARDSTICK_SHARE = 0.25
"""The share of a budget that the yardsticks may use; the rest is for candidates."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """Result of `compare`: `rows` as measured, candidates first, then the trivial sanitizations, then the source as it
    is.
    """

    rows: tuple[Mapping[str, Any], ...]
    people: int
    runs: int
    seed: int
    of: int  # the rows of the source; `people` of them were drawn where that is fewer
    smaller: Comparison | None = None  # the same of a part of these rows, where it was made for advice

    @property
    def sampled(self) -> bool:
        return self.people < self.of

    def frame(self) -> pl.DataFrame:
        """Return a row for each candidate and yardstick, a column for each figure; null where there is none."""
        flat = [self._flatten(row) for row in self.rows]
        names = list(dict.fromkeys(name for row in flat for name in row if name != "why"))
        return pl.DataFrame(
            {name: [row.get(name) for row in flat] for name in [*names, "why"]}, strict=False, infer_schema_length=None
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything that was measured, with each figure's spread."""
        frontier = find_frontier(self.frame(), PRIVACY_FIGURE, UTILITY_FIGURE)
        rows = [
            {**row, "attack_gain": compute_gain(row), "frontier": is_on_frontier}
            for row, is_on_frontier in zip(self.rows, frontier, strict=True)
        ]
        return {
            "people": self.people,
            "of": self.of,
            "runs": self.runs,
            "seed": self.seed,
            "published": False,
            "rows": rows,
        }

    @validate_arguments(privacy=text, utility=text)
    def chart(self, privacy: str = PRIVACY_FIGURE, utility: str = UTILITY_FIGURE) -> charts.Chart:
        """Chart every candidate and yardstick by two figures of the table, less being better for both.

        A line joins the candidates that no other candidate beats; a yardstick below and to the left of it beats them
        all.
        """
        figures = self.frame()
        numeric = [name for name, dtype in figures.schema.items() if dtype.is_numeric()]
        for name in (privacy, utility):
            if name not in numeric:
                raise ColumnError(f"The comparison measured no {name!r}.", attempt=suggest(name, numeric))
        tried = figures.with_columns(pl.when(pl.col("role") != "trivial").then(pl.col(privacy)).alias(privacy))
        figures = figures.with_columns(pl.Series("frontier", find_frontier(tried, privacy, utility)))
        complete = figures.drop_nulls([privacy, utility])
        up = FIGURE_WORDS.get(privacy, privacy)
        across = FIGURE_WORDS.get(utility, utility)
        return charts.draw_frontier(complete.rename({privacy: up, utility: across}), across, up, f"{up}, by {across}")

    def _flatten(self, row: Mapping[str, Any]) -> dict[str, Any]:
        figures: dict[str, Any] = {name: row.get(name) for name in ("name", "role", "method", "kind", "reached")}
        figures |= {**(row.get("parameters") or {}), **{name: row.get(name) for name in PLAIN_FIGURES}}
        figures["loss"] = (row.get("loss") or {}).get("ail")
        for name in SPREAD_FIGURES:
            figures[name] = None if row.get(name) is None else row[name]["value"]
        figures["average_range"] = (row.get("average_range") or {}).get("mean")
        figures |= {"memory": row.get("memory"), "attack_gain": compute_gain(row), "accuracy": find_best_accuracy(row)}
        for learner, accuracy in (row.get("classification") or {}).items():
            figures[f"accuracy {learner}"] = None if accuracy is None else accuracy["value"]
        for name, value in (row.get("privacy") or {}).items():
            figures[name] = value if not isinstance(value, list | dict) else str(value)
        for name, outcome in (row.get("attacks") or {}).items():
            figures |= {f"{name} {part}": outcome[part] for part in ("success", "baseline", "worst_posterior")}
        return {**figures, "why": row.get("why", "")}

    def _repr_html_(self) -> str:
        names = ("name", "kind", "kept", "attack_gain", "loss", "count_error", "average_error", "accuracy", "seconds")
        flat = [self._flatten(row) for row in self.rows]
        lines = [[row.get(name) for name in names] for row in flat]
        measured = self.to_dict()["rows"]
        picture = render_picture(
            write_frontier_title(measured),
            "Across: detail lost of the whole row. Up: what adversaries gain over guessing. Lower left is better; crosses need no method.",
            draw_measured_frontier(measured),
        )
        return render_page(
            f"{len(flat)} ways to publish {self.people:,} rows; nothing was published",
            picture,
            render_table(names, lines),
        )

    def __repr__(self) -> str:
        tried = sum(row["role"] == "candidate" for row in self.rows)
        reached = sum(row["role"] == "candidate" and row["reached"] for row in self.rows)
        return f"<comparison of {tried} candidates on {self.people:,} rows: {reached} reach their promise>"


def compute_gain(row: Mapping[str, Any]) -> float | None:
    """Compute the most that guesses of sensitive values gained over the baseline, by adversaries with the release
    alone; never below 0.
    """
    attacks = [outcome for name, outcome in (row.get("attacks") or {}).items() if catalogue.ATTACKS[name].guesses]
    return max((max(outcome["success"] - outcome["baseline"], 0.0) for outcome in attacks), default=None)


def find_best_accuracy(row: Mapping[str, Any]) -> float | None:
    """Find the accuracy of the best learner."""
    accuracies = [accuracy["value"] for accuracy in (row.get("classification") or {}).values() if accuracy is not None]
    return max(accuracies, default=None)


def find_frontier(figures: pl.DataFrame, privacy: str, utility: str) -> list[bool]:
    """Find the rows that no other one beats: less or equal in both figures, and less in one of them."""
    if privacy not in figures.columns or utility not in figures.columns:
        return [False] * len(figures)
    points: Sequence[tuple[Any, Any]] = list(zip(figures[privacy], figures[utility], strict=True))

    def is_beaten(a: Any, b: Any) -> bool:
        return any(c is not None and d is not None and c <= a and d <= b and (c < a or d < b) for c, d in points)

    return [a is not None and b is not None and not is_beaten(a, b) for a, b in points]


def check_tables(tables: Any) -> dict[str, Any]:
    """Check tables by name, each a path or a frame."""
    if tables is None:
        return {}
    return {str(name): path_or_table(table, f"tables[{name!r}]") for name, table in mapping(tables, "tables").items()}


def measure_tables(
    tables: Mapping[str, Any], job: Job, setting: ComparisonSetting, sampled: bool
) -> list[dict[str, Any]]:
    if tables and sampled:
        raise RequestError(
            "A table of another tool is of all rows, and a part of them is compared.", attempt="leaving rows out."
        )
    return [_measure_table(name, table, job, setting) for name, table in tables.items()]


@validate_arguments(
    methods=optional(names),
    rows=optional(integer),
    runs=integer,
    attacks=optional(names),
    classification=optional(flag),
    seed=integer,
    budget=optional(seconds),
    progress=is_callable,
)
def compare(
    jobs: Any,
    *,
    frame: Any = None,
    methods: Sequence[str] | None = None,
    rows: int | None = None,
    runs: int = 1,
    attacks: Sequence[str] | None = None,
    classification: bool | None = None,
    tables: Mapping[str, Any] | None = None,
    seed: int = 1,
    budget: float | None = None,
    progress: Callable[[str], None] = lambda stage: None,
    **parameters: Sequence[Any],
) -> Comparison:
    """Measure jobs (one, a list, or by name) with several methods and every combination of the parameters listed.

    `rows`: on so many rows drawn at random; `runs`: how often everything is drawn again, for the spread; `attacks`: which (all, or
    none by an empty list); `classification` None: where the extra `stats` is installed; `tables`: plain tables by name (paths or
    frames) that other tools made of the same rows; `budget`: CPU seconds that all of it may take, and what there was no time for
    is named with the reason.
    """
    candidates = make_candidates(jobs, check_method_names(methods), parameters)
    plain_tables = check_tables(tables)
    setting = make_setting(
        next(iter(name_jobs(jobs).values())), frame, rows, runs, attacks, classification, seed, progress, budget
    )
    first = next(iter(name_jobs(jobs).values()))
    return measure_candidates(
        candidates, setting, first, lambda: measure_tables(plain_tables, first, setting, rows is not None)
    )


def make_setting(
    job: Job,
    frame: Any,
    rows: int | None,
    runs: int,
    attacks: Sequence[str] | None,
    classification: bool | None,
    seed: int,
    progress: Callable[[str], None],
    budget: float | None = None,
) -> ComparisonSetting:
    """Make the setting that all candidates share; arguments are checked before any data is read."""
    if runs < 1 or (rows is not None and rows < 10):
        raise RequestError(
            "A comparison has 1 run or more, on 10 rows or more.",
            attempt="runs=3, rows=10_000 (--runs 3 --rows 10000).",
        )
    if seed < 0:
        raise RequestError("A seed is a whole number from 0 on.", attempt="seed=1 (--seed 1).")
    clock = None if budget is None else BudgetClock(budget)  # first: the packages of learners take seconds to load
    chosen = _select_attacks(attacks)
    learning = _can_learn(classification)
    progress("reading")
    people = sources.collect_frame(sources.scan_source(job.source, frame), "Reading the source")
    of = len(people)
    if rows is not None and rows < of:
        people = people.sample(rows, seed=seed)
    return ComparisonSetting(people, runs, seed, chosen, learning, progress, of, has_types(job.source, frame), clock)


def measure_candidates(
    candidates: Sequence[Candidate],
    setting: ComparisonSetting,
    job: Job,
    measure_others: Callable[[], list[dict[str, Any]]] = list,
) -> Comparison:
    """Measure every candidate, then the yardsticks, with the columns as the first job declares them."""
    _, cells, _ = setting.encode_rows(job)
    first = setting.limit_budget(YARDSTICK_SHARE)  # the trivial sanitizations, before the others use the budget
    yardsticks = evaluate_yardsticks(make_trivial_sanitizations(cells), first, job)
    rows = [
        *measure_others(),
        *evaluate_candidates(candidates, setting),
        *yardsticks,
        measure_source(cells, setting, job),
    ]
    return Comparison(tuple(rows), len(setting.frame), setting.runs, setting.seed, setting.of)


def _measure_table(name: str, table: Any, job: Job, setting: ComparisonSetting) -> dict[str, Any]:
    setting.progress(f"{name}: measuring")
    rows, cells, _ = setting.encode_rows(job)
    sight = locate_plain_labels(table, cells, job)
    report = audit(table, job=job, hierarchy=_list_hierarchies(cells)).to_dict()
    row: dict[str, Any] = {
        "name": name,
        "role": TABLE_ROLE,
        "gives_up": GIVES_UP_TEXT,
        "reached": True,
        "why": "",
        **summarize_audit(report),
    }
    row |= measure_attacks(table, setting, name, [promise.name for promise in job.promises], job=job)
    row |= measure_answers([answer_from_view(sight)] * setting.runs, cells, setting)
    row["row_loss"] = summarize_spread([compute_table_loss(report, cells)])
    if setting.learning:
        learned = Exam(cells, cells, rows).of_groups(sight)
        row |= {
            "classification": {learner: summarize_spread([accuracy]) for learner, accuracy in learned.items()},
            "classification_asked": CLASSIFICATION_NOTE,
        }
    return row


def _list_hierarchies(cells: Cells) -> dict[str, list[list[str]]]:
    """List the hierarchies that the source's rows give: trees that the job builds of them, and bare lists of values.

    Labels of another tool that are values lose nothing.
    """
    trees = [domain for domain in cells.quasi if isinstance(domain, TreeDomain) and domain.kind == "categorical"]
    built = [domain for domain in trees if isinstance(domain.hierarchy, BuiltHierarchy)]
    flat = [domain for domain in cells.quasi if isinstance(domain, TreeDomain) and domain.hierarchy.height == 1]
    return {domain.name: domain.hierarchy.rows() for domain in built} | {
        domain.name: [[text, ANY_LABEL] for text in domain.texts]
        for domain in flat
        if domain.texts and ANY_LABEL not in domain.texts
    }


def _select_attacks(names: Sequence[str] | None) -> tuple[str, ...]:
    if names is None:
        return tuple(catalogue.ATTACKS)
    for name in names:
        if not load_plugin_if_named("attacks", name) and name not in catalogue.ATTACKS:
            raise RequestError(f"There is no attack {name!r}.", attempt=suggest(name, catalogue.ATTACKS))
    return tuple(names)


def _can_learn(classification: bool | None) -> bool:
    """Whether learners are tried; refuses, and names the extra, if they are requested and it is not installed."""
    if classification is False:
        return False
    try:
        require_stats_extra()
    except RequestError:
        if classification:
            raise
        return False
    return True
