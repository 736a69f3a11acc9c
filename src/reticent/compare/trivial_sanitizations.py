"""The yardsticks of Brickell & Shmatikov (KDD 2008): what anybody could publish without a method.

    quasi-identifiers dropped     the sensitive column alone: one group of everybody, under labels that cover everything
    sensitive column dropped      quasi-identifiers as they are; of sensitive values only which there are, each taken to be
                                  as likely
    columns apart                 both of these tables: quasi-identifiers as they are beside the overall distribution

A method is worth something where it does better than all of them. `source` is the other end: the table as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from reticent.attacks.target import AttackTarget, make_target
from reticent.audit.groups import SensitiveColumn
from reticent.audit.measure import anonymity
from reticent.audit.measure.column_measures import measure_column
from reticent.audit.measure.counts import GroupCounts, list_views
from reticent.audit.result import convert_to_plain
from reticent.data.cells import Cells
from reticent.labels.adversary_view import Boxes, GroupMembers

QUASI_DROPPED = "quasi-identifiers dropped"
SENSITIVE_DROPPED = "sensitive column dropped"
COLUMNS_APART = "columns apart"


@dataclass(frozen=True, eq=False)
class TrivialSanitization:
    """One yardstick; `row_loss` is how much of a row is not there, as for releases."""

    name: str
    sight: Any
    cells: Cells
    achieved: dict[str, Any]
    row_loss: float
    gives_up: str

    def to_attack_target(self) -> AttackTarget:
        """Return it as the target that an attack takes, as for a plan."""
        return make_target(self.cells, self.sight)


def make_trivial_sanitizations(cells: Cells) -> list[TrivialSanitization]:
    totals = cells.totals(0)
    shared = _measure_one_group(cells, totals)
    points, people = _count_points(cells)
    alone = anonymity.measure_k(people, cells.rows_per_person)
    everything = np.array([[domain.size - 1] for domain in cells.quasi], np.int64)
    until = np.concatenate([[0], np.cumsum(totals)])[None, :]
    box = Boxes.from_spans(np.zeros_like(everything), everything, until)
    group = np.zeros(len(points), np.int64)
    weight = people.astype(np.float64)
    even = np.full((1, len(totals)), cells.rows / len(totals))
    columns = len(cells.quasi) + 1
    own = float((totals / cells.rows) @ (totals / cells.rows))
    return [
        TrivialSanitization(
            QUASI_DROPPED,
            box,
            cells,
            {"k-anonymity": anonymity.measure_k(np.array([cells.rows]), cells.rows_per_person), **shared},
            len(cells.quasi) / columns,
            "nothing is said of any quasi-identifier",
        ),
        TrivialSanitization(
            SENSITIVE_DROPPED,
            GroupMembers(points, group, weight, even),
            cells,
            {"k-anonymity": alone},
            1 / columns,
            "nothing is said of the sensitive column",
        ),
        TrivialSanitization(
            COLUMNS_APART,
            GroupMembers(points, group, weight, totals[None, :]),
            cells,
            {"k-anonymity": alone, **shared},
            (1 - own) / columns,
            "nothing is said of how the sensitive column goes with any other",
        ),
    ]


def measure_source_privacy(cells: Cells) -> dict[str, Any]:
    """Measure how many people share all quasi-identifiers in the table as it is, at the least."""
    return {"k-anonymity": anonymity.measure_k(_count_points(cells)[1], cells.rows_per_person)}


def _measure_one_group(cells: Cells, totals: np.ndarray) -> dict[str, Any]:
    """Measure one group that holds everybody, as an audit would."""
    occurring = np.flatnonzero(totals)
    counts = GroupCounts(
        np.zeros(len(occurring), np.int64), np.arange(len(occurring)), totals[occurring], totals[occurring]
    )
    domain = cells.sensitive[0]
    return convert_to_plain(
        measure_column(SensitiveColumn(domain.name, list_views(counts, occurring == domain.null_code), None))
    )


def _count_points(cells: Cells) -> tuple[np.ndarray, np.ndarray]:
    points, point_of_cell = np.unique(cells.codes, axis=0, return_inverse=True)
    return points, np.bincount(point_of_cell.reshape(-1), weights=cells.counts).astype(np.int64)
