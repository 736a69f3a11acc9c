"""Values of sensitive columns that few rows or few people hold: they keep groups large, and who has one is easily recognised.

The steward gets their number, and, on request, the values themselves with the rows of each. Where a column names persons
with several rows, values that have more rows are looked at too: all of these may be rows of a few people.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from reticent.data.cells import Cells
from reticent.data.domain import RangeDomain
from reticent.errors import pluralize

MAX_RARE_ROWS = 4  # rows, or people, up to which a value counts as rare
MAX_VALUES_SHOWN = 200  # rare values that are printed for their owner


@dataclass(frozen=True, slots=True)
class RareSensitiveValues:
    """The rare values of one sensitive column; `values`, each with its rows, are for their owner only.

    `of_few_people` are values with more rows that are all rows of few people, each with its rows and its people.
    """

    column: str
    distinct: int
    rows: int
    values: tuple[tuple[str, int], ...]
    max_rows: int = MAX_RARE_ROWS
    of_few_people: tuple[tuple[str, int, int], ...] = ()

    def __str__(self) -> str:
        counts = (
            f"{len(self.values):,} of its {pluralize(self.distinct, 'value')} "
            f"{'has' if len(self.values) == 1 else 'have'} at most {self.max_rows} rows ({pluralize(self.rows, 'row')} in all)"
        )
        if self.of_few_people:
            counts += (
                f", and {len(self.of_few_people):,} with more rows "
                f"{'is' if len(self.of_few_people) == 1 else 'are'} held by at most {self.max_rows} people"
            )
        return (
            f"Column {self.column!r}: {counts}. Promises about each value make large groups around them: `map` puts "
            "values under another one, a hierarchy with semantic-beta-likeness protects families of them. --show-values "
            "names them."
        )

    def list_values(self) -> list[str]:
        """List the values with their rows, the rarest first, for their owner."""
        listed = [f"{value!r} ({pluralize(rows, 'row')})" for value, rows in self.values]
        listed += [
            f"{value!r} ({pluralize(rows, 'row')} of {people:,} {'person' if people == 1 else 'people'})"
            for value, rows, people in self.of_few_people
        ]
        shown = listed[:MAX_VALUES_SHOWN]
        more = len(listed) - len(shown)
        return [*shown, f"and {more:,} more"] if more else shown

    def to_dict(self, *, show_values: bool = False) -> dict[str, Any]:
        facts = {
            "column": self.column,
            "distinct": self.distinct,
            "rare": len(self.values),
            "rows": self.rows,
            "max_rows": self.max_rows,
            "of_few_people": len(self.of_few_people),
        }
        if not show_values:
            return facts
        return facts | {
            "values": [list(entry) for entry in self.values],
            "values_of_few_people": [list(entry) for entry in self.of_few_people],
        }


def find_rare_sensitive_values(
    cells: Cells, max_rows: int = MAX_RARE_ROWS, person_rows: Mapping[str, pl.DataFrame] | None = None
) -> tuple[RareSensitiveValues, ...]:
    """Find the rare values of each sensitive column of categories; a column without any is not listed.

    `person_rows` has, for sensitive columns, the rows of each person with each value: a person, a value, and their rows.
    """
    columns = []
    for position, domain in enumerate(cells.sensitive):
        if isinstance(domain, RangeDomain) and domain.kind != "ordinal":
            continue
        totals = cells.totals(position)[: len(domain.texts)]
        rare = np.flatnonzero((totals > 0) & (totals <= max_rows))
        rows_of_persons = (person_rows or {}).get(domain.name)
        of_few_people: tuple[tuple[str, int, int], ...] = ()
        if rows_of_persons is not None:
            of_few_people = _find_values_of_few_people(domain.texts, totals, rows_of_persons, max_rows)
        if len(rare) or of_few_people:
            values = sorted(((domain.texts[code], int(totals[code])) for code in rare), key=lambda entry: entry[::-1])
            columns.append(
                RareSensitiveValues(
                    domain.name,
                    int((totals > 0).sum()),
                    int(totals[rare].sum()),
                    tuple(values),
                    max_rows,
                    of_few_people,
                )
            )
    return tuple(columns)


def _find_values_of_few_people(
    texts: tuple[str, ...], totals: np.ndarray, rows_of_persons: pl.DataFrame, max_people: int
) -> tuple[tuple[str, int, int], ...]:
    """Find the values with more rows than people may be few, whose rows are all of few people, those of fewest first.

    A value counts only if the rows of these people are all that the cells have of it.
    """
    person, value, rows = rows_of_persons.columns
    people = (
        rows_of_persons.group_by(pl.col(value).cast(pl.String).alias("value"))
        .agg(pl.col(person).n_unique().alias("people"), pl.col(rows).sum().alias("rows"))
        .filter((pl.col("people") <= max_people) & (pl.col("rows") > max_people))
    )
    counts = dict(zip(texts, totals.tolist(), strict=False))
    values = [(text, rows, count) for text, count, rows in people.iter_rows() if text and counts.get(text) == rows]
    return tuple(sorted(values, key=lambda entry: (entry[2], entry[1], entry[0])))
