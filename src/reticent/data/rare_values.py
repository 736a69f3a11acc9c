"""Values of sensitive columns that few rows hold: they keep groups large, and who has one is easily recognised.

The steward gets their number, and, on request, the values themselves with the rows of each. Rows are counted, which are
as many people or more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from reticent.data.cells import Cells
from reticent.data.domain import RangeDomain
from reticent.errors import pluralize

MAX_RARE_ROWS = 4  # rows up to which a value counts as rare
MAX_VALUES_SHOWN = 200  # rare values that are printed for their owner


@dataclass(frozen=True, slots=True)
class RareSensitiveValues:
    """The rare values of one sensitive column; `values`, each with its rows, are for their owner only."""

    column: str
    distinct: int
    rows: int
    values: tuple[tuple[str, int], ...]
    max_rows: int = MAX_RARE_ROWS

    def __str__(self) -> str:
        return (
            f"Column {self.column!r}: {len(self.values):,} of its {pluralize(self.distinct, 'value')} "
            f"{'has' if len(self.values) == 1 else 'have'} at most {self.max_rows} rows ({pluralize(self.rows, 'row')} in "
            "all). Promises about each value make large groups around them: `map` puts values under another one, a "
            "hierarchy with semantic-beta-likeness protects families of them. --show-values names them."
        )

    def list_values(self) -> list[str]:
        """List the values with their rows, the rarest first, for their owner."""
        shown = [f"{value!r} ({pluralize(rows, 'row')})" for value, rows in self.values[:MAX_VALUES_SHOWN]]
        more = len(self.values) - len(shown)
        return [*shown, f"and {more:,} more"] if more else shown

    def to_dict(self, *, show_values: bool = False) -> dict[str, Any]:
        facts = {
            "column": self.column,
            "distinct": self.distinct,
            "rare": len(self.values),
            "rows": self.rows,
            "max_rows": self.max_rows,
        }
        return facts | ({"values": [list(entry) for entry in self.values]} if show_values else {})


def find_rare_sensitive_values(cells: Cells, max_rows: int = MAX_RARE_ROWS) -> tuple[RareSensitiveValues, ...]:
    """Find the rare values of each sensitive column of categories; a column without any is not listed."""
    columns = []
    for position, domain in enumerate(cells.sensitive):
        if isinstance(domain, RangeDomain) and domain.kind != "ordinal":
            continue
        totals = cells.totals(position)[: len(domain.texts)]
        rare = np.flatnonzero((totals > 0) & (totals <= max_rows))
        if len(rare):
            values = sorted(((domain.texts[code], int(totals[code])) for code in rare), key=lambda entry: entry[::-1])
            columns.append(
                RareSensitiveValues(
                    domain.name, int((totals > 0).sum()), int(totals[rare].sum()), tuple(values), max_rows
                )
            )
    return tuple(columns)
