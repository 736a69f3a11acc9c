"""Metrics of a comparison: what a candidate achieves, what adversaries reach against it, what it loses, and what it costs.

`ComparisonSetting` is what all candidates of a comparison share: the rows, the people held back to be asked about, and
the number of runs. `evaluate_candidates` publishes each candidate to nowhere, once for each run, and measures the
releases; `evaluate_yardsticks` measures the trivial sanitizations in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from reticent import catalogue
from reticent.attacks.series import run_attacks
from reticent.compare.trivial_sanitizations import (
    TrivialSanitization,
    make_trivial_sanitizations,
    measure_source_privacy,
)
from reticent.data import passthrough
from reticent.data.cells import COUNT_COLUMN, Cells, encode_cells
from reticent.data.columns import Role, find_columns_with_role
from reticent.data.source import TextRows, collect_frame
from reticent.errors import JobError, RequestError, ReticentError
from reticent.evaluation import (
    BudgetClock,
    Candidate,
    Cost,
    Evaluation,
    Metric,
    evaluate,
    measure_cost,
    run_within_budget,
)
from reticent.job.job import Job
from reticent.job_table import read_rows
from reticent.publish import publish
from reticent.release.release import Release
from reticent.report.internal import collect_assumed_beliefs
from reticent.time_limit import TimeLimitReached
from reticent.utility.classification import Exam, score_release
from reticent.utility.loss import compute_row_loss
from reticent.utility.query_error import measure_average_errors, measure_average_ranges, measure_count_errors
from reticent.utility.resemblance import measure_resemblance
from reticent.utility.workload import Answerer, answer_from_view, make_answerer

HELD_BACK_SHARE = 0.2
"""The share of people who are left out of releases when classification is measured, and asked about."""
DEFAULT_KNOWLEDGE = {"background": {"bandwidth": "0.3", "t": "0.2"}}
"""Prior knowledge, and what counts as learned, of an adversary that no promise covers."""
NO_TIME_REASON = "There was no time left for it in the budget: a greater one (--budget), or fewer rows (--rows)."
OUTCOME_FIELDS = ("success", "low", "high", "baseline", "worst_posterior", "promised")
CANDIDATE_ROLE = "candidate"
TRIVIAL_ROLE = "trivial"
SOURCE_ROLE = "source"


@dataclass(frozen=True, eq=False)
class ComparisonSetting:
    """What all candidates share: `frame` are the rows as the source gives them.

    A run is a seed of publishing, of questions and of whom to hold back.
    """

    frame: pl.DataFrame
    runs: int
    seed: int
    attacks: tuple[str, ...]
    learning: bool
    progress: Callable[[str], None]
    of: int  # the rows of the source, of which `frame` may be a part
    has_types: bool = True  # False for a CSV
    clock: BudgetClock | None = None  # where all of it has a budget

    def to_publishable(self, rows: pl.DataFrame) -> Any:
        """Return rows as `publish` takes them for a frame: those of a CSV are marked as such."""
        return rows if self.has_types else TextRows(rows)

    def seconds_left(self) -> float | None:
        """Return the CPU seconds of the budget that are left; None where there is none."""
        return None if self.clock is None else self.clock.remaining()

    def limit_budget(self, share: float) -> ComparisonSetting:
        """Return the same setting with this share of what is left of the budget."""
        return self if self.clock is None else replace(self, clock=self.clock.take_share(share))

    def suffices(self, seconds: float) -> bool:
        """Whether there is time for something that takes so many CPU seconds, and as much again for measuring it."""
        return self.clock is None or 2 * seconds < self.clock.remaining()

    def seeds(self) -> list[int]:
        return [self.seed + run for run in range(self.runs)]

    def choose_held_back_rows(self, seed: int) -> np.ndarray:
        """Choose the rows to be asked about: the same for every candidate."""
        rng = np.random.default_rng([seed, 18])
        return rng.permutation(len(self.frame)) < max(int(len(self.frame) * HELD_BACK_SHARE), 1)

    def part(self, share: int) -> ComparisonSetting:
        """Return the same setting with one in `share` of its rows, drawn at random."""
        return replace(self, frame=self.frame.sample(max(len(self.frame) // share, 1), seed=self.seed))

    def encode_rows(self, job: Job) -> tuple[pl.DataFrame, Cells, np.ndarray]:
        """Return the rows as a job reads them, their cells, and the cell of each row."""
        lazy, columns = read_rows(job, self.to_publishable(self.frame))
        sensitive = find_columns_with_role(columns, Role.SENSITIVE)
        if len(sensitive) != 1:
            raise RequestError(
                f"A comparison is of jobs with one sensitive column; {len(sensitive)} are declared.",
                attempt="rt.sweep, which plans any job, or a job with one sensitive column.",
            )
        rows = collect_frame(
            lazy.select([*find_columns_with_role(columns, Role.QUASI), *sensitive]), "Reading the rows"
        )
        cells, cell_of_row = encode_cells(rows.with_columns(pl.lit(1, pl.Int64).alias(COUNT_COLUMN)), columns)
        rows_per_person = passthrough.profile_columns(lazy, columns).rows_per_person
        return rows, replace(cells, rows_per_person=rows_per_person), cell_of_row

    def exam(self, job: Job, seed: int) -> Exam:
        """Separate the people that releases are made of from those asked about, in the codes of all together."""
        is_held_back = self.choose_held_back_rows(seed)
        rows, cells, cell_of_row = self.encode_rows(job)
        return Exam(
            _select_cells(cells, cell_of_row[~is_held_back]),
            _select_cells(cells, cell_of_row[is_held_back]),
            rows.filter(pl.Series(is_held_back)),
        )

    def training_rows(self, seed: int) -> pl.DataFrame:
        return self.frame.filter(pl.Series(~self.choose_held_back_rows(seed)))


def summarize_spread(values: Sequence[float | None]) -> dict[str, Any] | None:
    """Summarize several runs: the mean, the least and the greatest, and what each gave; None where no run has a value."""
    numbers = [float(value) for value in values if value is not None and not np.isnan(value)]
    if not numbers:
        return None
    return {
        "value": float(np.mean(numbers)),
        "low": min(numbers),
        "high": max(numbers),
        "runs": len(numbers),
        "each": numbers,
    }


class PublishedRun(NamedTuple):
    """A release of a candidate that was published to nowhere, and what publishing cost."""

    release: Release
    cost: Cost


def evaluate_candidates(candidates: Sequence[Candidate], setting: ComparisonSetting) -> list[dict[str, Any]]:
    """Measure each candidate as a row; a row without figures has the reason.

    The reason is that the promise is out of reach, that the method cannot keep it, or that there was no time left.
    """
    metrics: list[Metric[list[PublishedRun]]] = [
        Metric("cost", _measure_costs),
        Metric("audit", _measure_audit),
        Metric("attacks", partial(_measure_release_attacks, setting=setting)),
        Metric("answers", partial(_measure_release_answers, setting=setting)),
        Metric("classification", partial(_measure_learners, setting=setting)),
    ]
    make = partial(_publish_runs, setting=setting)
    evaluations = evaluate(candidates, make, metrics, clock=setting.clock, refusals=(JobError,))
    return [_make_candidate_row(evaluation) for evaluation in evaluations]


def evaluate_yardsticks(
    yardsticks: Sequence[TrivialSanitization], setting: ComparisonSetting, job: Job
) -> list[dict[str, Any]]:
    """Measure each trivial sanitization as releases are measured; a row without figures has the reason."""
    by_name = {yardstick.name: yardstick for yardstick in yardsticks}
    metrics: list[Metric[TrivialSanitization]] = [
        Metric("privacy", _measure_yardstick_privacy),
        Metric("attacks", partial(_measure_yardstick_attacks, setting=setting)),
        Metric("answers", partial(_measure_yardstick_answers, setting=setting)),
        Metric("classification", partial(_measure_yardstick_learners, setting=setting)),
    ]

    def make(candidate: Candidate) -> TrivialSanitization:
        setting.progress(f"{candidate.label}: measuring")
        return by_name[candidate.label]

    candidates = [Candidate(name, job, method="") for name in by_name]
    rows = []
    for evaluation in evaluate(candidates, make, metrics, clock=setting.clock):
        yardstick = by_name[evaluation.candidate.label]
        row = {"name": yardstick.name, "role": TRIVIAL_ROLE, "gives_up": yardstick.gives_up}
        rows.append(_add_figures(row, evaluation))
    return rows


def measure_source(cells: Cells, setting: ComparisonSetting, job: Job) -> dict[str, Any]:
    """Measure the table as it is: no release can be better."""
    row: dict[str, Any] = {
        "name": "source as it is",
        "role": SOURCE_ROLE,
        "gives_up": "every promise",
        "reached": True,
        "why": "",
        "rows": cells.rows,
        "privacy": measure_source_privacy(cells),
        "row_loss": summarize_spread([0.0]),
    }
    if not setting.learning:
        return row
    setting.progress("source as it is: learning")
    exams = [setting.exam(job, seed) for seed in setting.seeds()]
    row["classification_baseline"] = summarize_spread([exam.baseline for exam in exams])
    try:
        row["classification"] = run_within_budget(
            setting.clock, lambda: _summarize_accuracies([exam.score_ideal() for exam in exams])
        )
    except TimeLimitReached:
        row |= {"classification": {}, "classification_left_out": NO_TIME_REASON}
    return row


def summarize_audit(report: Mapping[str, Any]) -> dict[str, Any]:
    """Summarize an audit's report: every measure, and what each promise achieves."""
    risk = report.get("risk") or {}
    return {
        **{name: report[name] for name in ("rows", "groups", "withheld", "kept", "promises")},
        "privacy": report["achieved"],
        "loss": report["utility"],
        "risk": {name: risk["prosecutor"][name] for name in ("highest", "average")} if risk else {},
    }


def measure_attacks(
    release: Any, setting: ComparisonSetting, name: str, promised: Sequence[str], **roles: Any
) -> dict[str, Any]:
    """Measure what every attack reached, and why those did not run that do not apply. `roles` describe a plain table.

    Controls are not computed: a comparison has its own yardsticks.
    """

    def collect_options(attack: str) -> dict[str, Any]:
        stated = collect_assumed_beliefs(release, attack) if isinstance(release, Release) else {}
        return {**_find_default_knowledge(attack, promised), **stated}

    all_roles = {"job": None, "quasi": None, "sensitive": None, "hierarchy": None, **roles}
    return _run_attacks(release, setting.frame, setting, collect_options, promised, all_roles, f"{name}: ")


def measure_answers(answerers: Sequence[Answerer], cells: Cells, setting: ComparisonSetting) -> dict[str, Any]:
    """Measure errors of each run's answers, and how the columns of the first run resemble the source's."""
    seeds = setting.seeds()[: len(answerers)]
    counts = []
    averages = []
    for answerer, seed in zip(answerers, seeds, strict=True):
        counts.append(measure_count_errors(answerer, cells, seed))
        averages.append(measure_average_errors(answerer, cells, seed))
    return {
        "count_error": summarize_spread([errors["median"] for errors in counts]),
        "count_error_mean": summarize_spread([errors["mean"] for errors in counts]),
        "count_error_by_dimension": counts[0]["by_dimension"],
        "count_error_by_selectivity": counts[0]["by_selectivity"],
        "average_error": summarize_spread([None if errors is None else errors["median"] for errors in averages]),
        "average_error_mean": summarize_spread([None if errors is None else errors["mean"] for errors in averages]),
        "average_of": None if averages[0] is None else averages[0]["column"],
        **measure_resemblance(answerers[0], cells),
    }


def _select_cells(cells: Cells, cell_of_row: np.ndarray) -> Cells:
    """Return the cells of these rows, counted."""
    counts = np.bincount(cell_of_row, minlength=len(cells)).astype(np.int64)
    occurring = np.flatnonzero(counts)
    return replace(cells, codes=cells.codes[occurring], values=cells.values[occurring], counts=counts[occurring])


def _measure_costs(candidate: Candidate, runs: Sequence[PublishedRun]) -> dict[str, Any]:
    memory = [run.cost.memory for run in runs if run.cost.memory is not None]
    return {"seconds": summarize_spread([run.cost.seconds for run in runs]), "memory": max(memory, default=None)}


def _measure_audit(candidate: Candidate, runs: Sequence[PublishedRun]) -> dict[str, Any]:
    return summarize_audit(runs[0].release.audited.to_dict())


def _measure_release_attacks(
    candidate: Candidate, runs: Sequence[PublishedRun], setting: ComparisonSetting
) -> dict[str, Any]:
    release = runs[0].release
    return measure_attacks(release, setting, candidate.label, [promise.name for promise in release.manifest.promises])


def _measure_release_answers(
    candidate: Candidate, runs: Sequence[PublishedRun], setting: ComparisonSetting
) -> dict[str, Any]:
    """Measure errors of each run, on questions of its own."""
    setting.progress(f"{candidate.label}: asking")
    assert candidate.job is not None
    _, cells, _ = setting.encode_rows(candidate.job)
    releases = [run.release for run in runs]
    answerers = [make_answerer(release.tables, release.manifest, cells) for release in releases]
    first = releases[0]
    return {
        **measure_answers(answerers, cells, setting),
        "average_range": measure_average_ranges(first.tables, first.manifest, cells, setting.seed),
        "row_loss": summarize_spread(
            [compute_row_loss(release, release.audited.to_dict(), cells) for release in releases]
        ),
    }


def _measure_learners(candidate: Candidate, runs: Sequence[PublishedRun], setting: ComparisonSetting) -> dict[str, Any]:
    """Measure the accuracy of each learner: taught by a release of four in five people, and asked about the others."""
    if not setting.learning:
        return {}
    assert candidate.job is not None
    accuracies: list[dict[str, float]] = []
    for seed in setting.seeds():
        setting.progress(f"{candidate.label}: learning")
        try:
            release = publish(candidate.job, frame=setting.to_publishable(setting.training_rows(seed)), seed=seed)
            accuracies.append(score_release(release, setting.exam(candidate.job, seed)))
        except ReticentError as error:
            return {"classification": {}, "classification_left_out": error.what}
    return {"classification": _summarize_accuracies(accuracies)}


def _publish_runs(candidate: Candidate, setting: ComparisonSetting) -> list[PublishedRun]:
    """Publish a candidate to nowhere, once for each run; if there is no time for all of them, fewer times."""
    assert candidate.job is not None
    runs: list[PublishedRun] = []
    for seed in setting.seeds():
        if runs and not setting.suffices(runs[-1].cost.seconds):
            break  # the figures state of how many runs they are
        setting.progress(f"{candidate.label}: publishing to nowhere")
        with measure_cost() as cost:
            release = publish(candidate.job, frame=setting.to_publishable(setting.frame), seed=seed)
        runs.append(PublishedRun(release, cost))
    return runs


def _make_candidate_row(evaluation: Evaluation[list[PublishedRun]]) -> dict[str, Any]:
    candidate = evaluation.candidate
    kind = catalogue.METHODS[candidate.method].kind
    row: dict[str, Any] = {
        "name": candidate.label,
        "role": CANDIDATE_ROLE,
        "method": candidate.method,
        "kind": kind,
        "parameters": dict(candidate.parameters),
        "gives_up": catalogue.KINDS[kind].gives_up,
    }
    if candidate.job is not None and evaluation.reached is not None and not evaluation.unmeasured:
        parts = candidate.job.to_dict()
        row["job"] = {name: part for name, part in parts.items() if name in ("promise", "method", "prepare")}
    return _add_figures(row, evaluation)


def _measure_yardstick_privacy(candidate: Candidate, yardstick: TrivialSanitization) -> dict[str, Any]:
    return {
        "rows": yardstick.cells.rows,
        "privacy": yardstick.achieved,
        "row_loss": summarize_spread([yardstick.row_loss]),
    }


def _measure_yardstick_attacks(
    candidate: Candidate, yardstick: TrivialSanitization, setting: ComparisonSetting
) -> dict[str, Any]:
    return _run_attacks(yardstick, None, setting, lambda attack: _find_default_knowledge(attack, ()), ())


def _measure_yardstick_answers(
    candidate: Candidate, yardstick: TrivialSanitization, setting: ComparisonSetting
) -> dict[str, Any]:
    return measure_answers([answer_from_view(yardstick.sight)] * setting.runs, yardstick.cells, setting)


def _measure_yardstick_learners(
    candidate: Candidate, yardstick: TrivialSanitization, setting: ComparisonSetting
) -> dict[str, Any]:
    """Measure learners that are taught by the same yardstick of the people who are not asked about."""
    if not setting.learning:
        return {}
    assert candidate.job is not None
    accuracies = []
    for exam in [setting.exam(candidate.job, seed) for seed in setting.seeds()]:
        yardstick_of_known = next(
            other for other in make_trivial_sanitizations(exam.known) if other.name == yardstick.name
        )
        accuracies.append(exam.of_groups(yardstick_of_known.sight))
    return {"classification": _summarize_accuracies(accuracies)}


def _add_figures(row: dict[str, Any], evaluation: Evaluation[Any]) -> dict[str, Any]:
    """Add what the metrics returned, or the reason why there are no figures."""
    if evaluation.reached is None or evaluation.unmeasured:
        return {**row, "reached": False, "why": NO_TIME_REASON}
    if not evaluation.reached:
        refusal = evaluation.refusal
        return {**row, "reached": False, "why": evaluation.candidate.why if refusal is None else refusal.what}
    row = {**row, "reached": True, "why": ""}
    for figures in evaluation.figures.values():
        row |= figures
    return row


def _summarize_accuracies(accuracies: Sequence[Mapping[str, float]]) -> dict[str, Any]:
    return {learner: summarize_spread([run.get(learner) for run in accuracies]) for learner in accuracies[0]}


def _find_default_knowledge(attack: str, promised: Iterable[str]) -> dict[str, Any]:
    """Find the knowledge that an attack needs, where no promise states it."""
    return {} if catalogue.ATTACKS[attack].select_promises(promised) else DEFAULT_KNOWLEDGE.get(attack, {})


def _run_attacks(
    release: Any,
    source: Any,
    setting: ComparisonSetting,
    collect_options: Callable[[str], Mapping[str, Any]],
    promised: Sequence[str],
    roles: Mapping[str, Any] | None = None,
    prefix: str = "",
) -> dict[str, Any]:
    """Run the attacks of the comparison; with a `prefix` their progress is reported after it."""
    series = run_attacks(
        release,
        source,
        setting.attacks,
        roles=roles,
        options_of=collect_options,
        budget=setting.seconds_left(),
        control=False,
        progress=lambda step: setting.progress(f"{prefix}{step}") if prefix else None,
    )
    outcomes = {}
    for outcome in (result.to_dict() for result in series.outcomes):
        fields = {name: outcome[name] for name in OUTCOME_FIELDS}
        spoken_of = catalogue.ATTACKS[outcome["attack"]].select_promises(promised)
        outcomes[outcome["attack"]] = {**fields, "spoken_of": spoken_of}
    left_out = {attack: why for why, attacks in series.skipped.items() for attack in attacks}
    return {"attacks": outcomes, "attacks_left_out": left_out}
