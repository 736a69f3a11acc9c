"""Advice on which method to take for a purpose.

All methods that can keep the job's promises are measured on the steward's own data:

    advice = rt.advise(job, frame=people, purpose="counts")
    advice.best            the method that did best, and `advice.level` those within each other's spread
    print(advice)
    rt.advise(compared, purpose="averages")    from a comparison that was made already

Nothing is published. One figure decides for each purpose (`PURPOSES`), over several runs; each candidate's spread goes
from the least to the most that the runs gave.

Two candidates are level (`is_level`) where the runs do not show that one is better: where their spreads overlap; or
where the mean of their differences, run by run (all candidates of a run are asked the same questions), lies no further
from 0 than Student's t allows at 95 %, since three runs may all fall on one side by chance. With two runs t has too
little to decide.

On a part of the rows, a quarter of it is measured too, and `find_possible_overtakers` names candidates that may
overtake on all rows. It extrapolates figures from two parts, one four times the other. A figure is taken to change as a
power of the number of rows, as errors of samples (1 / sqrt(n)) and widths of groups do. Its spread over runs gives two
lines: a hopeful one from the worst of the smaller part to the best of the larger, and a doubtful one the other way
round; and as the power itself changes with the rows, it is taken to be off by half. Whatever two parts show, a
candidate that is behind may gain as samples do and groups over two columns, by 1 / sqrt(n), unless it is of the kind of
the one ahead, which then gains as much: of these the means that were measured decide (mondrian is not named where mosaic
leads and gains as it does). This is a guess and never a measurement: it names who may overtake, and ranks nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log, sqrt
from statistics import fmean, stdev
from time import process_time
from typing import Any

from reticent import catalogue, registry
from reticent.compare.candidates import check_method_names, make_candidates
from reticent.compare.compare import Comparison, make_setting, measure_candidates
from reticent.errors import RequestError, pluralize, suggest
from reticent.evaluation import BudgetClock
from reticent.html_repr import render_page, render_table
from reticent.job.job import Job
from reticent.validation import integer, is_callable, is_job, names, optional, seconds, text, validate_arguments

Figures = Mapping[str, Mapping[str, Any]]
EXPONENT_ERROR = 0.5
SQUARE_ROOT_EXPONENT = 0.5
"""The relative error that is assumed of an exponent, and the exponent that is always possible."""
SAMPLE_RATIO = 4
"""How many times as many rows the larger part has as the smaller one."""
MIN_PAIRED_RUNS = 3
STUDENT_T_95 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)
"""Both tails at 95 %, by degrees of freedom from 1 on."""
NORMAL_95 = 1.96
DEFAULT_RUNS = 3
MIN_CPU_SECONDS = 20.0
READING_TIME_FACTOR = 60


@dataclass(frozen=True, slots=True)
class Projection:
    """Where a figure may be on all rows, at best and at worst."""

    hopeful: float
    doubtful: float

    @classmethod
    def from_figures(
        cls, small: Mapping[str, Any], large: Mapping[str, Any], times: float, further: float, less_is_better: bool
    ) -> Projection:
        """Project a figure: from `small` to `large` there were `times` as many rows, to all rows there are `further` as
        many.
        """
        (small_low, small_high), (large_low, large_high) = (
            _compute_shortfall(figure, less_is_better) for figure in (small, large)
        )
        steps = log(further) / log(times)
        hopeful = _divide_safely(large_low, small_high)
        doubtful = _divide_safely(large_high, small_low)
        ends = (
            large_low * min(hopeful ** (steps * (1 + EXPONENT_ERROR)), further**-SQUARE_ROOT_EXPONENT),
            large_high * doubtful ** (steps * (1 - EXPONENT_ERROR if doubtful < 1 else 1 + EXPONENT_ERROR)),
        )
        return cls(*ends) if less_is_better else cls(*(1 - end for end in ends))


def find_possible_overtakers(
    small: Figures,
    large: Figures,
    first: str,
    *,
    times: float,
    further: float,
    less_is_better: bool,
    same_kind: Collection[str] = (),
) -> list[str]:
    """Find the candidates that may be better than `first` on all rows.

    A candidate without a figure for the smaller part counts as one of them. What more rows may give to a release, beyond
    what the two parts show, they give to every release of its kind: of candidates of the `same_kind` as `first`, which
    is ahead, the measured figures alone decide.
    """
    if first not in small:
        return [name for name in large if name != first]
    projections = {
        name: Projection.from_figures(small[name], large[name], times, further, less_is_better)
        if name in small
        else None
        for name in large
    }
    projection_of_first = projections[first]
    assert projection_of_first is not None

    def may(name: str, projection: Projection | None) -> bool:
        if projection is not None and name in same_kind:
            ends = [_project_mean(small[each], large[each], times, further, less_is_better) for each in (name, first)]
            return ends[0] < ends[1]
        return projection is None or (
            projection.hopeful < projection_of_first.doubtful
            if less_is_better
            else projection.hopeful > projection_of_first.doubtful
        )

    return [name for name, way in projections.items() if name != first and may(name, way)]


def is_level(a: Mapping[str, Any], b: Mapping[str, Any]) -> bool:
    """Whether the runs do not show that one of two candidates is better."""
    if a["low"] <= b["high"] and b["low"] <= a["high"]:
        return True
    ours = a.get("each") or ()
    theirs = b.get("each") or ()
    if len(ours) != len(theirs) or len(ours) < MIN_PAIRED_RUNS:
        return False
    differences = [our_value - their_value for our_value, their_value in zip(ours, theirs, strict=True)]
    return abs(fmean(differences)) <= get_student_t(len(differences) - 1) * stdev(differences) / sqrt(len(differences))


def get_student_t(freedom: int) -> float:
    """Return Student's t at 95 %; for many degrees to the first order, which is a little more than the normal law's."""
    return STUDENT_T_95[freedom - 1] if freedom <= len(STUDENT_T_95) else NORMAL_95 + 2.7 / freedom


@dataclass(frozen=True, slots=True)
class Purpose:
    """What a release is wanted for: the figure that decides, and whether less of it is better."""

    figure: str
    meaning: str
    less_is_better: bool = True
    uses_learners: bool = False
    lacking: str = "no column holds numbers"  # why there may be no such figure


PURPOSES = {
    "counts": Purpose("count_error", "median relative error of COUNT questions"),
    "averages": Purpose("average_error", "median error of AVG questions, as a share of the column's span"),
    "classification": Purpose(
        "accuracy",
        "share of people not in the release whose class is told",
        less_is_better=False,
        uses_learners=True,
        lacking="no classifier was taught",
    ),
    "sharing-rows": Purpose("row_loss", "share of a person's row that is not shown"),
}


@dataclass(frozen=True, eq=False)
class Advice:
    """Result of `advise`: `ranked` are candidates and yardsticks with a figure, best first; `refused` the methods that
    were not measured, and why.
    """

    purpose: str
    ranked: tuple[Mapping[str, Any], ...]
    refused: Mapping[str, str]
    compared: Comparison
    before: Mapping[str, Mapping[str, Any]] | None = (
        None  # of a part of the rows: the figures of a quarter of that part
    )

    @property
    def candidates(self) -> list[Mapping[str, Any]]:
        return [row for row in self.ranked if row["role"] == "candidate"]

    @property
    def best(self) -> Mapping[str, Any]:
        return self.candidates[0]

    @property
    def level(self) -> list[Mapping[str, Any]]:
        """The candidates that the runs do not show to be worse than the best one, itself the first."""
        return [row for row in self.candidates if is_level(row, self.best)]

    @property
    def trivially_better(self) -> list[Mapping[str, Any]]:
        """Yardsticks that no candidate is truly better than."""
        trivial = [row for row in self.ranked if row["role"] == "trivial"]
        if PURPOSES[self.purpose].less_is_better:
            return [row for row in trivial if row["low"] <= self.best["high"]]
        return [row for row in trivial if row["high"] >= self.best["low"]]

    @property
    def may_overtake(self) -> list[Mapping[str, Any]]:
        """Candidates that may be better than the best one on all rows, where a part was measured; none where all were."""
        if not self.compared.sampled or self.before is None:
            return []
        figures = {row["name"]: row for row in self.candidates}
        further = self.compared.of / self.compared.people
        less_is_better = PURPOSES[self.purpose].less_is_better
        names_of = find_possible_overtakers(
            self.before,
            figures,
            self.best["name"],
            times=SAMPLE_RATIO,
            further=further,
            less_is_better=less_is_better,
            same_kind=[row["name"] for row in self.candidates if row["kind"] == self.best["kind"]],
        )
        return [row for row in self.candidates if row["name"] in names_of]

    def sentences(self) -> list[str]:
        """Describe the advice in words."""
        chosen = PURPOSES[self.purpose]
        meaning = PURPOSES[self.purpose].meaning
        best = self.best
        lines = [f"For {self.purpose} take {best['name']} ({best['kind']}): its {meaning} is {_format_figure(best)}."]
        if rest := [row for row in self.level if row is not best]:
            lines.append(
                f"Within its spread: {', '.join(_format_row(row) for row in rest)}. The data does not say which of them is better."
            )
        if behind := [row for row in self.candidates if row not in self.level]:
            lines.append(f"Behind: {', '.join(_format_row(row) for row in behind)}.")
        if self.trivially_better:
            names_of = " and ".join(f"{row['name']!r} ({_format_figure(row)})" for row in self.trivially_better)
            better = "less" if chosen.less_is_better else "more"
            subject = "On these rows no" if self.compared.sampled else "No"
            lines.append(f"{subject} method is truly better than {names_of}, which needs none ({better} is better).")
        lines += [
            f"{row['kind']} ({row['name']}) gives up: {row['gives_up']}."
            for row in _select_one_of_each_kind(self.candidates)
        ]
        lines += [_describe_corruption(self.compared), *self._describe_sample()]
        return [*lines, *(f"{name} was not measured: {why}" for name, why in self.refused.items())]

    def _describe_sample(self) -> list[str]:
        """Describe what a part of the rows does not show."""
        if not self.compared.sampled:
            return []
        sample = f"This is of {self.compared.people:,} of {self.compared.of:,} rows, drawn at random"
        if self.before is None:
            return [f"{sample}: on all rows another method may do best."]
        fewer = f"{max(self.compared.people // SAMPLE_RATIO, 1):,} of them"
        if not self.may_overtake:
            return [f"{sample}; beside {fewer}, no other method is on its way to do best on all rows."]
        ways = ", ".join(_format_change(self.before.get(row["name"]), row) for row in (self.best, *self.may_overtake))
        return [
            f"{sample}; beside {fewer}, who gains by more rows: {ways}.",
            f"So on all rows {' or '.join(row['name'] for row in self.may_overtake)} may do best: measure more rows, or all.",
        ]

    def to_dict(self) -> dict[str, Any]:
        chosen = PURPOSES[self.purpose]
        return {
            "purpose": self.purpose,
            "figure": chosen.figure,
            "less_is_better": chosen.less_is_better,
            "best": self.best["name"],
            "level": [row["name"] for row in self.level],
            "may_overtake": [row["name"] for row in self.may_overtake],
            "ranked": [dict(row) for row in self.ranked],
            "refused": dict(self.refused),
            "sentences": self.sentences(),
            "comparison": self.compared.to_dict(),
        }

    def _repr_html_(self) -> str:
        head = ("name", "kind", "role", "value", "low", "high", "gives_up")
        rows = [[row[name] for name in head] for row in self.ranked]
        return render_page(self.sentences()[0], render_table(head, rows))

    def __str__(self) -> str:
        return "\n".join(self.sentences())


def _check_job_or_comparison(value: Any, name: str) -> Job | Comparison:
    return value if isinstance(value, Comparison) else is_job(value, name)


@validate_arguments(
    job=_check_job_or_comparison,
    purpose=text,
    methods=optional(names),
    rows=optional(integer),
    runs=integer,
    seed=integer,
    budget=optional(seconds),
    progress=is_callable,
)
def advise(
    job: Job | Comparison,
    *,
    purpose: str,
    frame: Any = None,
    methods: Sequence[str] | None = None,
    rows: int | None = None,
    runs: int = DEFAULT_RUNS,
    seed: int = 1,
    budget: float | None = None,
    progress: Callable[[str], None] = lambda stage: None,
) -> Advice:
    """Measure the methods that keep the job's promises (or those named) and rank them for a purpose.

    `purpose` is "counts", "averages", "classification" or "sharing-rows". The job's own method is tried as the job has
    it, the others with their own parameters. `budget`: CPU seconds that all of it may take, by default MIN_CPU_SECONDS
    or, if that is more, READING_TIME_FACTOR times the time that reading took; methods there was no time for are named.
    Instead of a job, a comparison that was made already can be given: nothing is measured again.
    """
    if purpose not in PURPOSES:
        raise RequestError(f"There is no advice for {purpose!r}.", attempt=suggest(purpose, PURPOSES))
    if isinstance(job, Comparison):
        if frame is not None or methods is not None or rows is not None:
            raise RequestError(
                "A comparison has been measured already, and its rows and methods stay as they are.",
                attempt="rt.advise(compared, purpose=...), or a job instead of the comparison.",
            )
        return _make_advice(job, purpose, {})
    candidates = make_candidates(job, check_method_names(methods) or tuple(catalogue.METHODS), {})
    measurable = [candidate for candidate in candidates if candidate.job is not None]
    if not measurable:
        raise RequestError(
            "No method that is known keeps the promises of the job.", attempt="fewer promises, or others."
        )
    began = process_time()
    setting = make_setting(job, frame, rows, runs, (), PURPOSES[purpose].uses_learners, seed, progress, budget)
    if budget is None:
        setting = replace(
            setting, clock=BudgetClock(max(MIN_CPU_SECONDS, READING_TIME_FACTOR * (process_time() - began)))
        )
    measurable.sort(
        key=lambda candidate: getattr(registry.load_method_class(candidate.method), "anytime", False)
    )  # what takes any time there is, last
    compared = measure_candidates(measurable, setting, job)
    if compared.sampled:
        compared = replace(compared, smaller=measure_candidates(measurable, setting.part(SAMPLE_RATIO), job))
    return _make_advice(
        compared, purpose, {candidate.method: candidate.why for candidate in candidates if candidate.job is None}
    )


def _compute_shortfall(figure: Mapping[str, Any], less_is_better: bool) -> tuple[float, float]:
    """Return the figure's ends as something to be made small: where more is better, what is missing to 1."""
    return (figure["low"], figure["high"]) if less_is_better else (1 - figure["high"], 1 - figure["low"])


def _project_mean(
    small: Mapping[str, Any], large: Mapping[str, Any], times: float, further: float, less_is_better: bool
) -> float:
    """Project the mean of a figure, as something to be made small, by the power of the rows that two parts show."""
    before = small["value"] if less_is_better else 1 - small["value"]
    after = large["value"] if less_is_better else 1 - large["value"]
    exponent: float = log(further) / log(times)
    return float(after * _divide_safely(after, before) ** exponent)


def _describe_corruption(compared: Comparison) -> str:
    """Describe whether a promise holds against an adversary who knows the sensitive values of others, and which would."""
    promised = [promise["model"] for row in compared.rows for promise in row.get("promises") or ()]
    adversary = catalogue.ATTACKS["corruption"]
    if covered := adversary.select_promises(promised):
        verb = "holds" if len(covered) == 1 else "hold"
        return f"{' and '.join(covered)} {verb} against an adversary too who knows the sensitive values of other people (corruption)."
    promise_classes = {registry.load_promise_class(promise) for promise in adversary.promises}
    able = [name for name in catalogue.METHODS if promise_classes & set(_list_kept_classes(name))]
    return (
        "No promise here bounds what an adversary learns who knows the sensitive values of other people (corruption): "
        f"{' and '.join(adversary.promises)} do, which {' and '.join(able)} keeps."
    )


def _list_kept_classes(method: str) -> tuple[type, ...]:
    """List the classes of promises that a method says it keeps."""
    keeps = registry.load_method_class(method).keeps
    return keeps if isinstance(keeps, tuple) else (keeps,)


def _divide_safely(after: float, before: float) -> float:
    return after / before if before > 0 else 1.0


def _format_figure(row: Mapping[str, Any]) -> str:
    return f"{row['value']:.4g}, {row['low']:.4g} to {row['high']:.4g} in {pluralize(row['runs'], 'run')}"


def _format_row(row: Mapping[str, Any]) -> str:
    return f"{row['name']} ({row['value']:.4g})"


def _select_one_of_each_kind(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    first: dict[str, Mapping[str, Any]] = {}
    for row in rows:
        first.setdefault(row["kind"], row)
    return list(first.values())


def _format_change(before: Mapping[str, Any] | None, row: Mapping[str, Any]) -> str:
    first = "not known" if before is None else f"{before['value']:.4g}"
    return f"{row['name']} ({first} to {row['value']:.4g})"


def _make_advice(compared: Comparison, purpose: str, refused: dict[str, str]) -> Advice:
    chosen = PURPOSES[purpose]
    unreached = {row["name"]: row["why"] for row in compared.rows if not row["reached"]}
    refused |= unreached
    ranked = _rank_rows(compared, chosen)
    if not any(row["role"] == "candidate" for row in ranked):
        raise RequestError(
            f"No method was measured for {purpose}.",
            why=next(iter((unreached or refused).values()), f"There is no {chosen.meaning}: {chosen.lacking}."),
            attempt="another purpose, a weaker promise, or a greater budget.",
        )
    fewer = compared.smaller
    before = None if fewer is None else {row["name"]: row for row in _rank_rows(fewer, chosen)}
    return Advice(purpose, ranked, refused, compared, before)


def _rank_rows(compared: Comparison, chosen: Purpose) -> tuple[dict[str, Any], ...]:
    ranked = []
    for row in compared.rows:
        figure = _find_figure(row, chosen)
        if row["role"] != "source" and row["reached"] and figure is not None:
            identity = {name: row.get(name) for name in ("name", "role", "method", "kind", "gives_up")}
            ranked.append({**identity, **figure})
    return tuple(sorted(ranked, key=lambda row: row["value"] if chosen.less_is_better else -row["value"]))


def _find_figure(row: Mapping[str, Any], chosen: Purpose) -> dict[str, Any] | None:
    """Find a figure with its spread; of several learners, the best one's."""
    if chosen.uses_learners:
        accuracies = [accuracy for accuracy in (row.get("classification") or {}).values() if accuracy is not None]
        return max(accuracies, key=lambda accuracy: accuracy["value"], default=None)
    return row.get(chosen.figure)
