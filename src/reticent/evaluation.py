"""Evaluation of candidates: variants of a job, each planned or published, and then measured, within a budget of CPU seconds.

`check`, `sweep`, `compare` and `advise` make `Candidate`s and lay out in their own way what `evaluate` yields of them:

    for evaluation in evaluate(candidates, plan_candidate, [Metric("loss", measure_loss)], clock=BudgetClock(60)):
        evaluation.reached      True; False if the promise is out of reach; None if there was no time
        evaluation.figures      what each metric returned, by its name

The rules of a budget stand here alone. A candidate is not begun when the budget is used, and is stopped where it is
when its time is over (`run_within_budget`). `BudgetClock.require_time_for` predicts from a plan of few cells whether
there is time for all of them; `take_cells` takes the few. `measure_cost` measures CPU seconds and memory of a step, of
this process and its threads; memory is known on Linux alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from time import process_time
from typing import Any, Generic, TypeVar

from reticent.data.cells import Cells
from reticent.data.declared_withholding import NONE_WITHHELD
from reticent.errors import PromiseUnreachable, ReticentError
from reticent.job.job import Job
from reticent.operating_system import read_process_memory, reset_peak_memory
from reticent.time_limit import TimeLimitReached, run_within

T = TypeVar("T")
Subject = TypeVar("Subject")
TRIAL_STRIDE = 16  # one cell in so many is tried first, if there are MIN_CELLS_FOR_TRIAL cells
MIN_CELLS_FOR_TRIAL = 20_000


@dataclass(frozen=True, eq=False)
class Candidate:
    """A variant of a job: the job under a label, and the parameters that make it this variant.

    `job` is None if the method cannot keep the promises, and `why` is the reason. `is_alternative`: its method is one
    of several that are tried, and a method that cannot be applied is a finding instead of an error.
    """

    label: str
    job: Job | None
    method: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    why: str = ""
    is_alternative: bool = False


@dataclass(frozen=True, eq=False)
class Metric(Generic[Subject]):
    """A named function of a candidate and of what was made of it: a plan, or releases."""

    name: str
    measure: Callable[[Candidate, Subject], Any]


@dataclass(frozen=True, eq=False)
class Evaluation(Generic[Subject]):
    """Result of evaluating a candidate.

    `reached` is None if there was no time to make anything of the candidate, and False if it was refused: `refusal` is
    the error, and None if the candidate had no job to begin with. `unmeasured` is the metric there was no time for, and
    those after it were not begun.
    """

    candidate: Candidate
    reached: bool | None
    subject: Subject | None = None
    figures: Mapping[str, Any] = field(default_factory=dict)
    refusal: ReticentError | None = None
    unmeasured: str = ""


def evaluate(
    candidates: Iterable[Candidate],
    make: Callable[[Candidate], Subject],
    metrics: Sequence[Metric[Subject]],
    *,
    clock: BudgetClock | None = None,
    refusals: tuple[type[ReticentError], ...] = (),
    announce: Callable[[int, Candidate], None] = lambda number, candidate: None,
) -> Iterator[Evaluation[Subject]]:
    """Make a plan or releases of each candidate and measure it; yield each result as soon as it is there.

    `make` raises `PromiseUnreachable` if the promise is out of reach, and `TimeLimitReached` if it foresees that the
    time does not suffice. Of candidates that are alternatives, the errors named in `refusals` are findings too; any
    other error is raised. Without a `clock` there is no limit. `announce` is called before each candidate.
    """
    for number, candidate in enumerate(candidates):
        announce(number, candidate)
        yield _evaluate_candidate(candidate, make, metrics, clock, refusals)


class BudgetClock:
    """Measures how many CPU seconds of a budget are used since it was made or started."""

    def __init__(self, budget: float | None):
        self.began = process_time()
        self.budget = budget

    def start(self, factor: float, min_seconds: float) -> None:
        """Start the clock now; without a budget it gets `factor` times the time that was used before, and at least `min_seconds`."""
        now = process_time()
        if self.budget is None:
            self.budget = max(factor * (now - self.began), min_seconds)
        self.began = now

    def has_time_left(self, share: float = 1.0) -> bool:
        """Tell whether less than this share of the budget is used."""
        return process_time() - self.began < share * (self.budget or 0.0)

    def remaining(self, share: float = 1.0) -> float:
        """Return the CPU seconds that are left of this share of the budget."""
        return max(share * (self.budget or 0.0) - (process_time() - self.began), 0.0)

    def compute_used_share(self) -> float:
        """Return the share of the budget that is used, at most 1."""
        return min((process_time() - self.began) / self.budget, 1.0) if self.budget else 1.0

    def take_share(self, share: float) -> BudgetClock:
        """Make a clock that has this share of what is left, from now on."""
        return BudgetClock(share * self.remaining())

    def require_time_for(
        self, cells: Cells, plan: Callable[[Cells], object], min_cells: int = MIN_CELLS_FOR_TRIAL
    ) -> None:
        """Raise `TimeLimitReached` if a plan of a few cells shows that a plan of all does not fit what is left.

        Planning costs at least in proportion to the cells. Of fewer than `min_cells` no plan is tried.
        """
        if not self.has_time_left():
            raise TimeLimitReached
        if len(cells) < min_cells:
            return
        began = process_time()
        plan(take_cells(cells, TRIAL_STRIDE))
        if process_time() + TRIAL_STRIDE * (process_time() - began) - self.began >= (self.budget or 0.0):
            raise TimeLimitReached


def run_within_budget(clock: BudgetClock | None, function: Callable[[], T]) -> T:
    """Return what the function returns, or raise `TimeLimitReached` when the budget is used; no clock is no limit."""
    return function() if clock is None else run_within(clock.remaining(), function)


def take_cells(cells: Cells, stride: int) -> Cells:
    """Take one cell in so many."""
    return replace(
        cells,
        codes=cells.codes[::stride].copy(),
        values=cells.values[::stride].copy(),
        counts=cells.counts[::stride].copy(),
        withheld_before=NONE_WITHHELD,
    )


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
    memory_before = read_process_memory("VmRSS") if reset_peak_memory() else None
    started = process_time()
    yield cost
    cost.seconds = process_time() - started
    high_water_mark = read_process_memory("VmHWM")
    if memory_before is not None and high_water_mark is not None:
        cost.memory = max(high_water_mark - memory_before, 0)


def _evaluate_candidate(
    candidate: Candidate,
    make: Callable[[Candidate], Subject],
    metrics: Sequence[Metric[Subject]],
    clock: BudgetClock | None,
    refusals: tuple[type[ReticentError], ...],
) -> Evaluation[Subject]:
    if clock is not None and not clock.remaining():
        return Evaluation(candidate, None)
    if candidate.job is None:
        return Evaluation(candidate, False)
    try:
        subject = run_within_budget(clock, partial(make, candidate))
    except TimeLimitReached:
        return Evaluation(candidate, None)
    except PromiseUnreachable as error:
        return Evaluation(candidate, False, refusal=error)
    except refusals as error:
        if not candidate.is_alternative:
            raise
        return Evaluation(candidate, False, refusal=error)
    figures: dict[str, Any] = {}
    for metric in metrics:
        try:
            figures[metric.name] = run_within_budget(clock, partial(metric.measure, candidate, subject))
        except TimeLimitReached:
            return Evaluation(candidate, True, subject, figures, unmeasured=metric.name)
    return Evaluation(candidate, True, subject, figures)
