"""Measurement of one candidate: what it achieves, what adversaries reach against it, what it loses, and what it costs.

`ComparisonSetting` is what all candidates of a comparison share: the rows, the people held back to be asked about, and
the number of runs. `measure_cost` measures CPU seconds and memory of a step, of this process and its threads; memory is
known on Linux alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import polars as pl

from reticent import catalogue
from reticent.attacks.series import run_attacks
from reticent.budget import BudgetClock
from reticent.compare.candidates import Candidate
from reticent.compare.trivial_sanitizations import (
    TrivialSanitization,
    make_trivial_sanitizations,
    measure_source_privacy,
)
from reticent.data import passthrough
from reticent.data.cells import Cells
from reticent.data.codec import COUNT_COLUMN, encode_cells
from reticent.data.columns import Role, find_columns_with_role
from reticent.data.source import TextRows, collect_frame
from reticent.errors import JobError, PromiseUnreachable, RequestError, ReticentError
from reticent.job.job import Job
from reticent.job_table import read_rows
from reticent.publish import publish
from reticent.release.release import Release
from reticent.report.internal import collect_assumed_beliefs
from reticent.time_limit import TimeLimitReached, run_within
from reticent.utility.classification import Exam, score_release
from reticent.utility.loss import compute_row_loss
from reticent.utility.query_error import measure_average_errors, measure_average_ranges, measure_count_errors
from reticent.utility.resemblance import measure_resemblance
from reticent.utility.workload import Answerer, answer_from_view, make_answerer


@dataclass
class Cost:
    """Cost of a step.

    `memory`: the most bytes held at once, above what was held before; None where the system does not report it.
    """

    seconds: float = 0.0
    memory: int | None = None


@contextmanager
def measure_cost() -> Iterator[Cost]:
    """Measure the CPU seconds and memory of a block."""
    cost = Cost()
    before = _read_memory_field("VmRSS") if _reset_high_water_mark() else None
    started = time.process_time()
    yield cost
    cost.seconds = time.process_time() - started
    most = _read_memory_field("VmHWM")
    cost.memory = None if before is None or most is None else max(most - before, 0)


def _reset_high_water_mark() -> bool:
    """Reset the high-water mark of what ran before."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True


def _read_memory_field(field: str) -> int | None:
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith(f"{field}:")), None)


T = TypeVar("T")
HELD_BACK_SHARE = 0.2
"""The share of people who are left out of releases when classification is measured, and asked about."""


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

    def run(self, function: Callable[[], T]) -> T:
        """Return what the function returns, or raise `TimeLimitReached` when the budget is used."""
        return function() if self.clock is None else run_within(self.clock.remaining(), function)

    def limit_budget(self, share: float) -> ComparisonSetting:
        """Return the same setting with this share of what is left of the budget."""
        if self.clock is None:
            return self
        return replace(self, clock=BudgetClock.starting_now(share * self.clock.remaining()))

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
        keys = [*find_columns_with_role(columns, Role.QUASI), *find_columns_with_role(columns, Role.SENSITIVE)]
        if len(find_columns_with_role(columns, Role.SENSITIVE)) != 1:
            raise RequestError(
                f"A comparison is of jobs with one sensitive column; {len(find_columns_with_role(columns, Role.SENSITIVE))} are declared.",
                attempt="rt.sweep, which plans any job, or a job with one sensitive column.",
            )
        rows = collect_frame(lazy.select(keys), "Reading the rows")
        cells, cell = encode_cells(rows.with_columns(pl.lit(1, pl.Int64).alias(COUNT_COLUMN)), columns)
        return rows, replace(cells, rows_per_person=passthrough.profile_columns(lazy, columns).rows_per_person), cell

    def exam(self, job: Job, seed: int) -> Exam:
        """Separate the people that releases are made of from those asked about, in the codes of all together."""
        asked = self.choose_held_back_rows(seed)
        rows, cells, cell = self.encode_rows(job)
        return Exam(
            _select_cells(cells, cell[~asked]), _select_cells(cells, cell[asked]), rows.filter(pl.Series(asked))
        )

    def training_rows(self, seed: int) -> pl.DataFrame:
        return self.frame.filter(pl.Series(~self.choose_held_back_rows(seed)))


def _select_cells(cells: Cells, chosen: np.ndarray) -> Cells:
    counts = np.bincount(chosen, minlength=len(cells)).astype(np.int64)
    keep = np.flatnonzero(counts)
    return replace(cells, codes=cells.codes[keep], values=cells.values[keep], counts=counts[keep])


def summarize_spread(values: Sequence[float | None]) -> dict[str, Any] | None:
    """Summarize several runs: the mean, the least and the greatest, and what each gave; None where no run has a value."""
    known = [float(value) for value in values if value is not None and not np.isnan(value)]
    if not known:
        return None
    return {"value": float(np.mean(known)), "low": min(known), "high": max(known), "runs": len(known), "each": known}


DEFAULT_KNOWLEDGE = {"background": {"bandwidth": "0.3", "t": "0.2"}}
"""Prior knowledge, and what counts as learned, of an adversary that no promise covers."""
NO_TIME_REASON = "There was no time left for it in the budget: a greater one (--budget), or fewer rows (--rows)."
CANDIDATE_ROLE = "candidate"
TRIVIAL_ROLE = "trivial"
SOURCE_ROLE = "source"


def measure_candidate(candidate: Candidate, setting: ComparisonSetting) -> dict[str, Any]:
    """Measure a candidate as a row; its reason where the promise is out of reach, the method cannot keep it or there is
    no time left.
    """
    try:
        return setting.run(lambda: _measure_candidate_runs(candidate, setting))
    except TimeLimitReached:
        return {**_start_row(candidate), "reached": False, "why": NO_TIME_REASON}


def _start_row(candidate: Candidate) -> dict[str, Any]:
    kind = catalogue.METHODS[candidate.method].kind
    return {
        "name": candidate.name,
        "role": CANDIDATE_ROLE,
        "method": candidate.method,
        "kind": kind,
        "parameters": dict(candidate.chosen),
        "gives_up": catalogue.KINDS[kind].gives_up,
    }


def _measure_candidate_runs(candidate: Candidate, setting: ComparisonSetting) -> dict[str, Any]:
    row = _start_row(candidate)
    if candidate.job is None:
        return {**row, "reached": False, "why": candidate.why}
    row["job"] = {
        name: part for name, part in candidate.job.to_dict().items() if name in ("promise", "method", "prepare")
    }
    releases: list[tuple[Release, Any]] = []
    try:
        for seed in setting.seeds():
            if releases and not setting.suffices(releases[-1][1].seconds):
                break  # fewer runs: the figures state of how many they are
            setting.progress(f"{candidate.name}: publishing to nowhere")
            with measure_cost() as cost:
                release = publish(candidate.job, frame=setting.to_publishable(setting.frame), seed=seed)
            releases.append((release, cost))
    except (PromiseUnreachable, JobError) as error:
        if isinstance(error, JobError) and not candidate.listed:
            raise
        return {**row, "reached": False, "why": error.what}
    row |= {"reached": True, "why": ""} | _summarize_costs([cost for _, cost in releases])
    first = releases[0][0]
    row |= summarize_audit(first.audited.to_dict())
    row |= measure_attacks(first, setting, candidate.name, [promise.name for promise in first.manifest.promises])
    return row | _measure_usefulness(candidate, [release for release, _ in releases], setting)


def _summarize_costs(costs: list[Any]) -> dict[str, Any]:
    memory = [cost.memory for cost in costs if cost.memory is not None]
    return {"seconds": summarize_spread([cost.seconds for cost in costs]), "memory": max(memory) if memory else None}


def summarize_audit(found: Mapping[str, Any]) -> dict[str, Any]:
    """Summarize an audit's report: every measure, and what each promise achieves."""
    risk = found.get("risk") or {}
    return {
        **{name: found[name] for name in ("rows", "groups", "withheld", "kept", "promises")},
        "privacy": found["achieved"],
        "loss": found["utility"],
        "risk": {name: risk["prosecutor"][name] for name in ("highest", "average")} if risk else {},
    }


def measure_attacks(
    release: Any, setting: ComparisonSetting, name: str, promised: Sequence[str], **roles: Any
) -> dict[str, Any]:
    """Measure what every attack reached, and why those did not run that do not apply. `roles` describe a plain table.

    Controls are not computed: a comparison has its own yardsticks.
    """

    def how(adversary: str) -> dict[str, Any]:
        stated = collect_assumed_beliefs(release, adversary) if isinstance(release, Release) else {}
        return {**_find_default_knowledge(adversary, promised), **stated}

    given = {"job": None, "quasi": None, "sensitive": None, "hierarchy": None, **roles}
    return _run_attacks(release, setting.frame, setting, how, promised, given, f"{name}: ")


def _run_attacks(
    release: Any,
    source: Any,
    setting: ComparisonSetting,
    how: Callable[[str], Mapping[str, Any]],
    promised: Sequence[str],
    roles: Mapping[str, Any] | None = None,
    said: str = "",
) -> dict[str, Any]:
    series = run_attacks(
        release,
        source,
        setting.attacks,
        roles=roles,
        how=how,
        budget=setting.seconds_left(),
        control=False,
        progress=lambda step: setting.progress(f"{said}{step}") if said else None,
    )
    found = {}
    for outcome in series.outcomes:
        told = outcome.to_dict()
        found[told["attack"]] = {
            **_select_outcome_fields(told),
            "spoken_of": catalogue.ATTACKS[told["attack"]].select_promises(promised),
        }
    left = {adversary: why for why, names in series.skipped.items() for adversary in names}
    return {"attacks": found, "attacks_left_out": left}


def _find_default_knowledge(adversary: str, promised: Iterable[str]) -> dict[str, Any]:
    """Find the knowledge that an attack needs, where no promise states it."""
    return {} if catalogue.ATTACKS[adversary].select_promises(promised) else DEFAULT_KNOWLEDGE.get(adversary, {})


def _select_outcome_fields(found: Mapping[str, Any]) -> dict[str, Any]:
    return {name: found[name] for name in ("success", "low", "high", "baseline", "worst_posterior", "promised")}


def _measure_usefulness(candidate: Candidate, releases: list[Release], setting: ComparisonSetting) -> dict[str, Any]:
    """Measure errors of each run, on questions of its own; classification from releases of fewer people."""
    setting.progress(f"{candidate.name}: asking")
    assert candidate.job is not None
    _, cells, _ = setting.encode_rows(candidate.job)
    asks = [make_answerer(release.tables, release.manifest, cells) for release in releases]
    found = measure_answers(asks, cells, setting)
    first = releases[0]
    found["average_range"] = measure_average_ranges(first.tables, first.manifest, cells, setting.seed)
    found["row_loss"] = summarize_spread(
        [compute_row_loss(release, release.audited.to_dict(), cells) for release in releases]
    )
    return found | _measure_learners(candidate, setting)


def measure_answers(asks: Sequence[Answerer], cells: Cells, setting: ComparisonSetting) -> dict[str, Any]:
    """Measure errors of each run's answers, and how the columns of the first run resemble the source's."""
    runs = [
        _measure_run_answers(ask, cells, seed) for ask, seed in zip(asks, setting.seeds()[: len(asks)], strict=True)
    ]
    return _combine_runs(runs) | measure_resemblance(asks[0], cells)


def _measure_run_answers(ask: Answerer, cells: Cells, seed: int) -> dict[str, Any]:
    return {"counts": measure_count_errors(ask, cells, seed), "averages": measure_average_errors(ask, cells, seed)}


def _combine_runs(runs: list[dict[str, Any]]) -> dict[str, Any]:
    counts = [run["counts"] for run in runs]
    averages = [run["averages"] for run in runs]
    return {
        "count_error": summarize_spread([one["median"] for one in counts]),
        "count_error_mean": summarize_spread([one["mean"] for one in counts]),
        "count_error_by_dimension": counts[0]["by_dimension"],
        "count_error_by_selectivity": counts[0]["by_selectivity"],
        "average_error": summarize_spread([None if one is None else one["median"] for one in averages]),
        "average_error_mean": summarize_spread([None if one is None else one["mean"] for one in averages]),
        "average_of": None if averages[0] is None else averages[0]["column"],
    }


def _measure_learners(candidate: Candidate, setting: ComparisonSetting) -> dict[str, Any]:
    """Measure the accuracy of each learner: taught by a release of four in five people, and asked about the others."""
    if not setting.learning:
        return {}
    assert candidate.job is not None
    runs: list[dict[str, float]] = []
    for seed in setting.seeds():
        setting.progress(f"{candidate.name}: learning")
        try:
            release = publish(candidate.job, frame=setting.to_publishable(setting.training_rows(seed)), seed=seed)
            runs.append(score_release(release, setting.exam(candidate.job, seed)))
        except ReticentError as error:
            return {"classification": {}, "classification_left_out": error.what}
    return {"classification": _summarize_accuracies(runs)}


def _summarize_accuracies(runs: list[dict[str, float]]) -> dict[str, Any]:
    return {name: summarize_spread([run.get(name) for run in runs]) for name in runs[0]}


def measure_trivial(trivial: TrivialSanitization, setting: ComparisonSetting, job: Job) -> dict[str, Any]:
    """Measure a yardstick as a release is measured; its reason where there is no time left."""
    try:
        return setting.run(lambda: _measure_trivial_runs(trivial, setting, job))
    except TimeLimitReached:
        return {
            "name": trivial.name,
            "role": TRIVIAL_ROLE,
            "gives_up": trivial.gives_up,
            "reached": False,
            "why": NO_TIME_REASON,
        }


def _measure_trivial_runs(trivial: TrivialSanitization, setting: ComparisonSetting, job: Job) -> dict[str, Any]:
    setting.progress(f"{trivial.name}: measuring")
    row: dict[str, Any] = {
        "name": trivial.name,
        "role": TRIVIAL_ROLE,
        "gives_up": trivial.gives_up,
        "reached": True,
        "why": "",
        "rows": trivial.cells.rows,
        "privacy": trivial.achieved,
        "row_loss": summarize_spread([trivial.row_loss]),
    }
    row |= _run_attacks(trivial, None, setting, lambda adversary: _find_default_knowledge(adversary, ()), ())
    row |= measure_answers([answer_from_view(trivial.sight)] * setting.runs, trivial.cells, setting)
    if setting.learning:
        exams = [setting.exam(job, seed) for seed in setting.seeds()]
        row["classification"] = _summarize_accuracies(
            [exam.of_groups(_find_same_trivial(trivial, exam.known)) for exam in exams]
        )
    return row


def _find_same_trivial(trivial: TrivialSanitization, known: Cells) -> Any:
    """Find the same yardstick of the people who are not asked about."""
    return next(one.sight for one in make_trivial_sanitizations(known) if one.name == trivial.name)


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
        row["classification"] = setting.run(lambda: _summarize_accuracies([exam.score_ideal() for exam in exams]))
    except TimeLimitReached:
        row |= {"classification": {}, "classification_left_out": NO_TIME_REASON}
    return row
