"""What is refused before any data is read: promises that a method cannot keep, labels that do not fit, withholding twice."""

from __future__ import annotations

from reticent import registry
from reticent.errors import JobError
from reticent.job import Job
from reticent.methods.compose import left_to_method


def refuse_unable(job: Job) -> None:
    """Before any data is read: a method that cannot keep a promise says which can."""
    refuse_withholding(job)
    refuse_partial(job)
    left = left_to_method(job.prepare, job.promises)
    for promise in left:
        if not isinstance(promise, job.method.keeps):
            able = [
                f"method = {name!r}" for name in registry.METHODS if isinstance(promise, registry.method(name).keeps)
            ]
            able += [
                f"a stage {name!r}" for name in registry.STAGES if isinstance(promise, registry.stage(name).can_keep)
            ]
            raise JobError(f"{job.method.name} cannot keep {promise.name}.", attempt=f"{' or '.join(able)}.")
    if hasattr(job.method, "refuse"):
        job.method.refuse(left)
    left.check_labels(getattr(job.method, "labels", None))


def refuse_withholding(job: Job) -> None:
    """`suppress_at_most` weighs what rows lose by being generalized, and would undo what a stage withheld for its promise."""
    if not job.release.suppress_at_most:
        return
    if not registry.writer(job.method.kind).generalizes:
        raise JobError(
            f"suppress_at_most is for generalized releases; {job.method.name} makes a {job.method.kind} one.",
            attempt="suppress_at_most = 0, or another method.",
        )
    if job.prepare:
        raise JobError(
            "suppress_at_most and a preparing stage both withhold rows, and the stage's promise is about those it chose.",
            attempt="one of them.",
        )


def refuse_partial(job: Job) -> None:
    """A promise about what the whole table teaches an adversary does not go with rows that are withheld."""
    for promise in job.promises:
        if getattr(promise, "whole_table", False) and (job.prepare or job.release.suppress_at_most):
            raise JobError(
                f"{promise.name} cannot be kept where rows are withheld.",
                why="Prior beliefs are estimated from all rows: whose rows they came from could not be recounted.",
                attempt="suppress_at_most = 0 and no preparing stage, or another promise.",
            )
