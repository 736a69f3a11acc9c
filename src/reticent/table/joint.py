"""Several sensitive columns taken together (`jointly = true`): a derived column whose values are the combinations that occur.

A promise without a `column` then speaks of the combined values, one with a `column` of that column alone.  The cells stay
the same cells in the same order, because a combination is a function of its parts: a recipe planned on the result is a
recipe for the original cells, and only these are published.

What it gives: a bound on each combination's frequency bounds any value's only as far as the model's own sum does (basic
beta-likeness and t-closeness carry over to each column; l-diversity does not: two combinations may share a value).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from reticent.errors import ColumnError, listed
from reticent.table.cells import Cells, pack
from reticent.table.domain import tree_domain
from reticent.table.hierarchy import Hierarchy


def jointly(cells: Cells) -> Cells:
    """The cells with a last sensitive column that combines all others; unchanged where there are fewer than two."""
    if len(cells.sensitive) < 2 or cells.joint >= 0:
        return cells
    lacking = [domain.name for at, domain in enumerate(cells.sensitive) if domain.null and cells.totals(at)[-1]]
    if lacking:
        raise ColumnError(f"Sensitive columns are to be taken jointly, but {listed(lacking)} has missing values.",
                          why="A combination with a part missing is neither a value nor missing.",
                          attempt="jointly = false with a promise for each column, or withholding these rows.")  # fmt: skip
    combinations, code = np.unique(_words(cells), axis=0, return_inverse=True)
    name = " & ".join(domain.name for domain in cells.sensitive)
    # Numbered, not spelled out: the combined column is never published.
    domain = tree_domain(name, "String", Hierarchy.flat([str(number) for number in range(len(combinations))]),
                         null=False, given=False)  # fmt: skip
    values = np.column_stack([cells.values, code.reshape(-1)]).astype(np.int32)
    return replace(cells, sensitive=(*cells.sensitive, domain), values=values, joint=len(cells.sensitive))


def jointly_as(cells: Cells, whole: Cells) -> Cells:
    """Cells of a part of the table with the last column of the `whole` table's, numbered as there."""
    if whole.joint < 0:
        return cells
    plain = replace(whole, sensitive=whole.sensitive[: whole.joint], values=whole.values[:, : whole.joint])
    both = np.concatenate([_words(plain), _words(cells)])
    number = np.unique(both, axis=0, return_inverse=True)[1].reshape(-1)[len(plain) :]
    values = np.column_stack([cells.values, number]).astype(np.int32)
    return replace(cells, sensitive=whole.sensitive, values=values, joint=whole.joint)


def _words(cells: Cells) -> np.ndarray:
    return np.column_stack(pack(cells.values, np.array([domain.size for domain in cells.sensitive])))
