"""A job for cells that were counted before: what the studies plan with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import reticent as rt


def job_for(cells: Any, promises: Sequence[Any], method: Any) -> rt.Job:
    """The promises and the method; each column only has its role, since the cells know its values."""
    quasi = {domain.name: rt.quasi() for domain in cells.quasi}
    return rt.Job(
        columns={**quasi, **{domain.name: rt.sensitive() for domain in cells.sensitive}},
        promises=promises,
        method=method,
    )
