"""Phase 2, generalization (properties G1 to G3): disjoint groups of at least k rows, by cuts that see quasi-identifiers alone.

Strict cuts as `mondrian` makes them, by loss or at the median.  Nothing here knows a sensitive value, perturbed or not: that is
what theorems 2 and 3 and the tight bounds assume (ERRATA 5.9).  G3, no two labels cover one person, is what the attack's "crucial
tuple" stands on (ERRATA 5.7): rows with missing quasi-identifiers form groups of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from reticent.errors import PromiseUnreachable
from reticent.methods.mondrian.acceptance import Acceptance
from reticent.methods.mondrian.loss_cuts import NEVER, LossCuts
from reticent.methods.mondrian.median_cuts import MedianCuts
from reticent.methods.mondrian.membership import nodes_of_known_members
from reticent.methods.mondrian.nodes import Nodes
from reticent.methods.mondrian.spans import Spans
from reticent.methods.weights import weights_of
from reticent.models.promises import BoundPromises, Promises
from reticent.table.cells import Cells


def whole_parts(cells: Cells, promises: Promises, k: int) -> tuple[BoundPromises, Nodes]:
    """What is cut: the table parted by which quasi-identifiers are missing; each part has k rows (times those of a person)."""
    least = k * cells.rows_per_person
    if cells.rows < least:
        raise PromiseUnreachable(
            f"Groups of {least:,} rows cannot be made of {cells.rows:,}.",
            why=f"k = {k}" + (f" and {cells.rows_per_person} rows per person." if least > k else "."),
            attempt="a smaller k, or more rows.",
        )
    bound = BoundPromises(cells, least, (), ())
    return bound, nodes_of_known_members(cells, bound, promises)


def strict_groups(cells: Cells, promises: Promises, k: int, cuts: str, weights: Mapping[str, Any] | None) -> np.ndarray:
    """The group of each cell."""
    bound, nodes = whole_parts(cells, promises, k)
    accepts = Acceptance(bound, nodes)
    spans = Spans.of(cells.quasi, weights_of([domain.name for domain in cells.quasi], weights))
    chooser: LossCuts | MedianCuts = (
        LossCuts(nodes, accepts, spans, NEVER)
        if cuts == "loss"
        else MedianCuts(nodes, accepts, spans, fallback=True, apart=False)
    )
    while len(nodes):
        chosen, found = chooser.choose()
        nodes.close(chosen)
        nodes.cut(found)
    return nodes.group_of_cell()
