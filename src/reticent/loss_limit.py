"""The limit of loss that a job sets (`loss_at_most` in [release]): whether a loss is within it, and the refusal above it."""

from __future__ import annotations

from math import ceil

from reticent.errors import LossTooHigh
from reticent.job.job import Job
from reticent.labels.label_loss import ReleaseLoss, format_kept_share

MAX_COLUMNS_NAMED = 3


def is_within_limit(job: Job, loss: float | None) -> bool | None:
    """Tell whether a loss is within the job's limit; None where it sets none, or the loss is not known."""
    limit = job.release.loss_at_most
    return None if limit is None or loss is None else loss <= limit


def require_loss_within_limit(job: Job, loss: ReleaseLoss | None) -> None:
    """Raise `LossTooHigh` if the loss is above the job's limit, with the columns that cost most and what to try."""
    if loss is None or loss.ail is None or is_within_limit(job, loss.ail) is not False:
        return
    assert job.release.loss_at_most is not None
    costly = sorted(loss.by_column.items(), key=lambda pair: -pair[1])[:MAX_COLUMNS_NAMED]
    columns = ", ".join(f"{name!r} ({lost:.4f})" for name, lost in costly)
    enough = min(ceil(loss.ail * 100) / 100, 1)
    raise LossTooHigh(
        f"The release would have a loss of {loss.ail:.4f}, and loss_at_most is {float(job.release.loss_at_most):g}; "
        "nothing was published.",
        why=f"The promises can be kept, but a row would keep {format_kept_share(1 - loss.ail)} of its quasi-identifiers. "
        f"Most is lost in {columns}.",
        attempt="`reticent check JOB`, which measures what other methods and weaker promises lose; a hierarchy, fewer "
        f"values or no place in the job for {costly[0][0]!r}; or loss_at_most = {enough:g}, which publishes the release as it is.",
    )
