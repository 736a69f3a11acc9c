"""The yardsticks of Brickell & Shmatikov (KDD 2008): what anybody could publish without a method.

quasi-identifiers dropped     the sensitive column alone: one group of everybody, under labels that cover everything
sensitive column dropped      quasi-identifiers as they are; of sensitive values only which there are, each taken to be as likely
columns apart                 both of these tables: quasi-identifiers as they are beside the overall distribution

A method is worth something where it does better than all of them.  `source` is the other end: the table as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from reticent.attacks.seen import Seen, of_cells
from reticent.audit.measure import anonymity
from reticent.audit.measure.counts import Counts, views
from reticent.audit.measures import measures
from reticent.audit.result import plain
from reticent.audit.sensitive import Sensitive
from reticent.release.reading.boxes import Boxes
from reticent.release.reading.members import Members
from reticent.table.cells import Cells

QUASI_DROPPED, SENSITIVE_DROPPED, APART = "quasi-identifiers dropped", "sensitive column dropped", "columns apart"


@dataclass(frozen=True, eq=False)
class Trivial:
    """`row_loss`: how much of a row is not there, as for releases."""

    name: str
    sight: Any
    cells: Cells
    achieved: dict[str, Any]
    row_loss: float
    gives_up: str

    def seen(self) -> Seen:
        """As an attack takes a plan."""
        return of_cells(self.cells, self.sight)


def trivials(cells: Cells) -> list[Trivial]:
    totals = cells.totals(0)
    shared = _measures(cells, totals)
    points, people = _points(cells)
    alone = anonymity.k(people, cells.rows_per_person)
    everything = np.array([[domain.size - 1] for domain in cells.quasi], np.int64)
    until = np.concatenate([[0], np.cumsum(totals)])[None, :]
    box = Boxes.of_spans(np.zeros_like(everything), everything, until)
    group = np.zeros(len(points), np.int64)
    weight = people.astype(np.float64)
    even = np.full((1, len(totals)), cells.rows / len(totals))
    columns = len(cells.quasi) + 1
    own = float((totals / cells.rows) @ (totals / cells.rows))
    return [
        Trivial(QUASI_DROPPED, box, cells, {"k-anonymity": anonymity.k(np.array([cells.rows]), cells.rows_per_person), **shared},
                len(cells.quasi) / columns, "nothing is said of any quasi-identifier"),
        Trivial(SENSITIVE_DROPPED, Members(points, group, weight, even), cells, {"k-anonymity": alone}, 1 / columns,
                "nothing is said of the sensitive column"),
        Trivial(APART, Members(points, group, weight, totals[None, :]), cells, {"k-anonymity": alone, **shared}, (1 - own) / columns,
                "nothing is said of how the sensitive column goes with any other"),
    ]  # fmt: skip


def _points(cells: Cells) -> tuple[np.ndarray, np.ndarray]:
    points, at = np.unique(cells.codes, axis=0, return_inverse=True)
    return points, np.bincount(at.reshape(-1), weights=cells.counts).astype(np.int64)


def _measures(cells: Cells, totals: np.ndarray) -> dict[str, Any]:
    """What an audit would say of one group that holds everybody."""
    held = np.flatnonzero(totals)
    counts = Counts(np.zeros(len(held), np.int64), np.arange(len(held)), totals[held], totals[held])
    domain = cells.sensitive[0]
    return plain(measures(Sensitive(domain.name, views(counts, held == domain.null_code), None)))


def source_achieved(cells: Cells) -> dict[str, Any]:
    """Of the table as it is: how many people share all quasi-identifiers, at the least."""
    return {"k-anonymity": anonymity.k(_points(cells)[1], cells.rows_per_person)}
