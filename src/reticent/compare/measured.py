"""One candidate measured: what it reaches, what adversaries reach against it, what it loses, and what it costs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from reticent import catalogue
from reticent.attacks.series import run_attacks
from reticent.compare.candidates import Candidate
from reticent.compare.cost import measured
from reticent.compare.setting import Setting, spread
from reticent.compare.trivial import Trivial, source_achieved, trivials
from reticent.errors import JobError, PromiseUnreachable, ReticentError
from reticent.job import Job
from reticent.opened import Release
from reticent.publish import publish
from reticent.report.attacked import assumed
from reticent.table.cells import Cells
from reticent.time_limit import TimeLimitReached
from reticent.utility.answering import Ask, answering, of_sight
from reticent.utility.classification import taught_by
from reticent.utility.questions import average_errors, count_errors
from reticent.utility.ranges import average_ranges
from reticent.utility.resemblance import resemblance
from reticent.utility.rows import row_loss

TOLD = {"background": {"bandwidth": "0.3", "t": "0.2"}}
"""How much is known beforehand and what counts as learned, of an adversary that no promise speaks of."""
NO_TIME = "There was no time left for it in the budget: a greater one (--budget), or fewer rows (--rows)."
CANDIDATE, TRIVIAL, SOURCE = "candidate", "trivial", "source"


def of_candidate(candidate: Candidate, setting: Setting) -> dict[str, Any]:
    """A row; where the promise is out of reach, the method cannot keep it or there is no time left, its reason."""
    try:
        return setting.run(lambda: _of_candidate(candidate, setting))
    except TimeLimitReached:
        return {**_row_of(candidate), "reached": False, "why": NO_TIME}


def _row_of(candidate: Candidate) -> dict[str, Any]:
    kind = catalogue.METHODS[candidate.method].kind
    return {"name": candidate.name, "role": CANDIDATE, "method": candidate.method, "kind": kind,
                           "parameters": dict(candidate.chosen), "gives_up": catalogue.KINDS[kind].gives_up}  # fmt: skip


def _of_candidate(candidate: Candidate, setting: Setting) -> dict[str, Any]:
    row = _row_of(candidate)
    if candidate.job is None:
        return {**row, "reached": False, "why": candidate.why}
    row["job"] = {
        name: part for name, part in candidate.job.to_dict().items() if name in ("promise", "method", "prepare")
    }
    releases: list[tuple[Release, Any]] = []
    try:
        for seed in setting.seeds():
            if releases and not setting.suffices(releases[-1][1].seconds):
                break  # fewer runs: the figures say of how many they are
            setting.progress(f"{candidate.name}: publishing to nowhere")
            with measured() as cost:
                release = publish(candidate.job, frame=setting.handed(setting.frame), seed=seed)
            releases.append((release, cost))
    except (PromiseUnreachable, JobError) as error:
        if isinstance(error, JobError) and not candidate.listed:
            raise
        return {**row, "reached": False, "why": error.what}
    row |= {"reached": True, "why": ""} | _costs([cost for _, cost in releases])
    first = releases[0][0]
    row |= audited(first.audited.to_dict())
    row |= attacked(first, setting, candidate.name, [promise.name for promise in first.manifest.promises])
    return row | _useful(candidate, [release for release, _ in releases], setting)


def _costs(costs: list[Any]) -> dict[str, Any]:
    memory = [cost.memory for cost in costs if cost.memory is not None]
    return {"seconds": spread([cost.seconds for cost in costs]), "memory": max(memory) if memory else None}


def audited(found: Mapping[str, Any]) -> dict[str, Any]:
    """What an audit reports: every measure, and what each promise achieves."""
    risk = found.get("risk") or {}
    return {
        **{name: found[name] for name in ("rows", "groups", "withheld", "kept", "promises")},
        "privacy": found["achieved"],
        "loss": found["utility"],
        "risk": {name: risk["prosecutor"][name] for name in ("highest", "average")} if risk else {},
    }


def attacked(release: Any, setting: Setting, name: str, promised: Sequence[str], **roles: Any) -> dict[str, Any]:
    """What every attack reached; why those did not run that do not apply.  `roles` describe a plain table.

    Controls are not computed: a comparison has its own yardsticks.
    """

    def how(adversary: str) -> dict[str, Any]:
        stated = assumed(release, adversary) if isinstance(release, Release) else {}
        return {**_told(adversary, promised), **stated}

    given = {"job": None, "quasi": None, "sensitive": None, "hierarchy": None, **roles}
    return _attack(release, setting.frame, setting, how, promised, given, f"{name}: ")


def _attack(
    release: Any,
    source: Any,
    setting: Setting,
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
            **_outcome(told),
            "spoken_of": catalogue.ATTACKS[told["attack"]].spoken_of(promised),
        }
    left = {adversary: why for why, names in series.skipped.items() for adversary in names}
    return {"attacks": found, "attacks_left_out": left}


def _told(adversary: str, promised: Iterable[str]) -> dict[str, Any]:
    """What an attack must be told, where no promise says it."""
    return {} if catalogue.ATTACKS[adversary].spoken_of(promised) else TOLD.get(adversary, {})


def _outcome(found: Mapping[str, Any]) -> dict[str, Any]:
    return {name: found[name] for name in ("success", "low", "high", "baseline", "worst_posterior", "promised")}


def _useful(candidate: Candidate, releases: list[Release], setting: Setting) -> dict[str, Any]:
    """Errors of questions of each run, each on questions of its own; classification from releases of fewer people."""
    setting.progress(f"{candidate.name}: asking")
    assert candidate.job is not None
    _, cells, _ = setting.coded(candidate.job)
    asks = [answering(release.tables, release.manifest, cells) for release in releases]
    found = asked_of(asks, cells, setting)
    first = releases[0]
    found["average_range"] = average_ranges(first.tables, first.manifest, cells, setting.seed)
    found["row_loss"] = spread([row_loss(release, release.audited.to_dict(), cells) for release in releases])
    return found | _learned(candidate, setting)


def asked_of(asks: Sequence[Ask], cells: Cells, setting: Setting) -> dict[str, Any]:
    """Errors of each run's answers, and how the columns of the first run resemble the source's."""
    runs = [_asked(ask, cells, seed) for ask, seed in zip(asks, setting.seeds()[: len(asks)], strict=True)]
    return _joined(runs) | resemblance(asks[0], cells)


def _asked(ask: Ask, cells: Cells, seed: int) -> dict[str, Any]:
    return {"counts": count_errors(ask, cells, seed), "averages": average_errors(ask, cells, seed)}


def _joined(runs: list[dict[str, Any]]) -> dict[str, Any]:
    counts, averages = [run["counts"] for run in runs], [run["averages"] for run in runs]
    return {
        "count_error": spread([one["median"] for one in counts]),
        "count_error_mean": spread([one["mean"] for one in counts]),
        "count_error_by_dimension": counts[0]["by_dimension"],
        "count_error_by_selectivity": counts[0]["by_selectivity"],
        "average_error": spread([None if one is None else one["median"] for one in averages]),
        "average_error_mean": spread([None if one is None else one["mean"] for one in averages]),
        "average_of": None if averages[0] is None else averages[0]["column"],
    }


def _learned(candidate: Candidate, setting: Setting) -> dict[str, Any]:
    """The accuracy of each learner: taught by a release of four in five people, and asked about the others."""
    if not setting.learning:
        return {}
    assert candidate.job is not None
    runs: list[dict[str, float]] = []
    for seed in setting.seeds():
        setting.progress(f"{candidate.name}: learning")
        try:
            release = publish(candidate.job, frame=setting.handed(setting.taught(seed)), seed=seed)
            runs.append(taught_by(release, setting.exam(candidate.job, seed)))
        except ReticentError as error:
            return {"classification": {}, "classification_left_out": error.what}
    return {"classification": _accuracies(runs)}


def _accuracies(runs: list[dict[str, float]]) -> dict[str, Any]:
    return {name: spread([run.get(name) for run in runs]) for name in runs[0]}


def of_trivial(trivial: Trivial, setting: Setting, job: Job) -> dict[str, Any]:
    """A yardstick, measured as a release is; where there is no time left, the reason."""
    try:
        return setting.run(lambda: _of_trivial(trivial, setting, job))
    except TimeLimitReached:
        return {"name": trivial.name, "role": TRIVIAL, "gives_up": trivial.gives_up, "reached": False, "why": NO_TIME}


def _of_trivial(trivial: Trivial, setting: Setting, job: Job) -> dict[str, Any]:
    setting.progress(f"{trivial.name}: measuring")
    row: dict[str, Any] = {"name": trivial.name, "role": TRIVIAL, "gives_up": trivial.gives_up, "reached": True, "why": "",
                           "rows": trivial.cells.rows, "privacy": trivial.achieved, "row_loss": spread([trivial.row_loss])}  # fmt: skip
    row |= _attack(trivial, None, setting, lambda adversary: _told(adversary, ()), ())
    row |= asked_of([of_sight(trivial.sight)] * setting.runs, trivial.cells, setting)
    if setting.learning:
        exams = [setting.exam(job, seed) for seed in setting.seeds()]
        row["classification"] = _accuracies([exam.of_groups(_alike(trivial, exam.known)) for exam in exams])
    return row


def _alike(trivial: Trivial, known: Cells) -> Any:
    """The same yardstick of the people who are not asked about."""
    return next(one.sight for one in trivials(known) if one.name == trivial.name)


def of_source(cells: Cells, setting: Setting, job: Job) -> dict[str, Any]:
    """The table as it is: what no release can be better than."""
    row: dict[str, Any] = {"name": "source as it is", "role": SOURCE, "gives_up": "every promise", "reached": True, "why": "",
                           "rows": cells.rows, "privacy": source_achieved(cells), "row_loss": spread([0.0])}  # fmt: skip
    if not setting.learning:
        return row
    setting.progress("source as it is: learning")
    exams = [setting.exam(job, seed) for seed in setting.seeds()]
    row["classification_baseline"] = spread([exam.baseline for exam in exams])
    try:
        row["classification"] = setting.run(lambda: _accuracies([exam.ideal() for exam in exams]))
    except TimeLimitReached:
        row |= {"classification": {}, "classification_left_out": NO_TIME}
    return row
