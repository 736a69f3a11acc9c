"""A budget of CPU seconds for comparing methods, and a trial on few cells that predicts the cost of all of them."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time

from reticent.progress import ProgressEvent

BUDGET_FACTOR = 2.0  # times what reading and the job's own plan took
OWN_PLAN_FRACTION = 1 / (1 + BUDGET_FACTOR)  # the part of a run that reading and the job's own plan are
END_FRACTION = 0.95
MIN_CPU_SECONDS = 2.0  # CPU seconds that are always there
MIN_LATE_STEP_SECONDS = 0.2  # CPU seconds for each of the last looks, whatever the budget
TRIAL_STRIDE = 16  # one cell in so many is tried first, if there are MIN_CELLS_FOR_TRIAL cells
MIN_CELLS_FOR_TRIAL = 20_000
OWN_PLAN_SECONDS = 30.0
READING_TIME_FACTOR = 10
"""Without a budget the job's own plan has OWN_PLAN_SECONDS, or READING_TIME_FACTOR times what reading took if that is more."""
OWN_PLAN_SHARE = 0.6
COMPARISON_SHARE = 0.85
"""With a budget: when these shares of it are used, the job's own plan ends, and comparing and explaining do."""
SAMPLE_STRIDES = (16, 256)
"""Where the own plan does not end, one cell in so many is planned."""


class BudgetClock:
    """Measures what reading and the first plan took, and how much of the budget is left since."""

    def __init__(self, budget: float | None):
        self.began = process_time()
        self.budget = budget

    @classmethod
    def starting_now(cls, seconds: float) -> BudgetClock:
        """Make a clock whose budget is a number of CPU seconds from now."""
        return cls(seconds)

    def start(self) -> None:
        now = process_time()
        self.budget = max(BUDGET_FACTOR * (now - self.began), MIN_CPU_SECONDS) if self.budget is None else self.budget
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

    def step(self, words: str) -> ProgressEvent:
        """Make a progress event; comparing and explaining end with the budget, so the share done is the share used of it."""
        return ProgressEvent(words, OWN_PLAN_FRACTION + (END_FRACTION - OWN_PLAN_FRACTION) * self.compute_used_share())

    def suffices(self, cells: int, attempt: Callable[[slice], None]) -> bool:
        """Tell from a plan on a few cells whether a plan on all would fit: planning costs at least in proportion."""
        if not self.has_time_left():
            return False
        if cells < MIN_CELLS_FOR_TRIAL:
            return True
        began = process_time()
        attempt(slice(None, None, TRIAL_STRIDE))
        return process_time() + TRIAL_STRIDE * (process_time() - began) - self.began < (self.budget or 0.0)
