"""What an audit would report of planned groups, by the audit's own formulas; no file is written or read."""

from __future__ import annotations

from typing import Any

import numpy as np

from reticent import registry
from reticent.audit.measure import anonymity
from reticent.audit.measure.counts import Counts, views
from reticent.audit.measures import measures, worst
from reticent.audit.result import plain
from reticent.audit.sensitive import Sensitive, paths_of
from reticent.door import a_plan, door
from reticent.planning import Plan
from reticent.release.reading.scale import scale
from reticent.table.domain import TreeDomain
from reticent.utility import loss


@door(planned=a_plan)
def measure(planned: Plan) -> dict[str, Any]:
    """What the planned groups achieve and lose: every measure that an audit of their release would report."""
    planned.refuse_unlabelled()
    sizes, cells = planned.sizes, planned.cells
    achieved = worst([measures(_sensitive(planned, at)) for at in _measured(planned)])
    return plain(
        {
            "rows": int(sizes.sum()),
            "groups": len(sizes),
            "withheld": planned.withheld,
            "k-anonymity": anonymity.k(sizes, cells.rows_per_person),
            **achieved,
            **_utility(planned),
        }
    )


def _measured(planned: Plan) -> list[int]:
    """The sensitive columns that an audit measures: each, or taken jointly the combination and those that a promise names."""
    cells = planned.cells
    named = {getattr(promise, "column", None) for promise in planned.job.promises}
    alone = [at for at, domain in enumerate(cells.sensitive) if at != cells.joint]
    return alone if cells.joint < 0 else [cells.joint, *(at for at in alone if cells.sensitive[at].name in named)]


def _sensitive(planned: Plan, at: int) -> Sensitive:
    """A column's groups as an audit counts them: values that no published row holds are not there."""
    domain = planned.cells.sensitive[at]
    counts = planned.histogram(domain.name)
    occurring = np.flatnonzero(counts.sum(axis=0))
    counts = counts[:, occurring]
    group, value = np.nonzero(counts)
    held = Counts(group, value, counts[group, value], counts.sum(axis=0))
    paths = None
    if isinstance(domain, TreeDomain) and domain.given and domain.kind == "categorical":
        texts = [*domain.texts, *([None] if domain.null else [])]
        paths = paths_of(domain.hierarchy, [texts[code] for code in occurring])
    return Sensitive(domain.name, views(held, occurring == domain.null_code), paths, joint=at == planned.cells.joint)


def _utility(planned: Plan) -> dict[str, Any]:
    """Information loss from the labels, as a recipient reads them."""
    labels, columns = planned.labels, []
    for at, entry in enumerate(planned.entries):
        lines = scale(entry, labels.texts[at], foreign=False)
        rows = np.bincount(labels.of_group[:, at], weights=planned.sizes, minlength=len(labels.texts[at]))
        held = loss.Labelled(entry.name, lines, lines.read(labels.texts[at]), rows.astype(np.int64))
        columns.append(held.measured())
    promised = [registry.describe(promise).get("k", 1) for promise in planned.job.promises]
    weights = getattr(planned.job.method, "weights", None)
    return loss.measures(columns, planned.sizes, withheld=planned.withheld, k=int(max(promised)), weights=weights)
