"""Several releases laid over one table: the people, and who is in which group of each release.

Releases may publish different quasi-identifiers of the same people, by other hierarchies and types.  The table is counted once over
all columns that any of them uses; each release reads these combinations as its own manifest declares its columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from reticent.attacks.joined import Part
from reticent.attacks.membership import Membership, membership
from reticent.attacks.seen import Seen, coded, declared_of, of_cells, raw
from reticent.errors import RequestError, listed, some
from reticent.table.cells import distinct_rows
from reticent.table.codec import COUNT
from reticent.table.source import collect, is_text


@dataclass(frozen=True, eq=False)
class Together:
    """`people` and the true values of each point, which has a combination of all quasi-identifiers; one part by release."""

    people: np.ndarray
    truth: np.ndarray  # (points, values): for the scorer alone
    parts: tuple[Part, ...]
    seen: tuple[Seen, ...]

    @property
    def prior(self) -> np.ndarray:
        """The overall distribution of the first release: what anyone knows who has it."""
        return self.seen[0].prior


def alone(seen: Seen) -> Together:
    """One release, as it is seen."""
    return Together(seen.people, seen.truth, (Part(membership(seen), seen.counts),), (seen,))


def laid_together(releases: Sequence[Any], source: Any, missing: tuple[str, ...] = ()) -> Together:
    """Opened releases, the first being attacked, and the table that they were made from."""
    declared = [declared_of(release.columns) for release in releases]
    sensitive = {name for columns in declared for name, column in columns.items() if column.role == "sensitive"}
    if len(sensitive) != 1:
        raise RequestError(
            "Joining needs releases with one sensitive column, the same in all of them.",
            why=f"These have {len(sensitive)}: {listed(sorted(sensitive))}.",
        )
    names = list(dict.fromkeys(name for columns in declared for name in columns))
    rows = raw(source, names, missing)
    combined = collect(_texts(rows.group_by(names).len(name=COUNT)), "Counting the rows")
    counts = combined[COUNT].to_numpy().astype(np.int64)
    laid, points = [], []
    for release, columns in zip(releases, declared, strict=True):
        cells, cell = coded(combined.select(*columns, COUNT).lazy(), columns, release.columns)
        laid.append((of_cells(cells, release.sight(cells), release.manifest.promises), cells.values[cell, 0]))
        points.append(cells.point[cell])
    place, at = distinct_rows(np.column_stack(points))
    first, value = laid[0]
    truth = np.zeros((len(place), first.truth.shape[1]), np.int64)
    np.add.at(truth, (at, value), counts)
    people = truth.sum(axis=1)
    parts = [
        Part(lifted(membership(seen), place[:, i], people), _in_values_of(first, seen))
        for i, (seen, _) in enumerate(laid)
    ]
    return Together(people, truth, tuple(parts), tuple(seen for seen, _ in laid))


def _texts(lazy: pl.LazyFrame) -> pl.LazyFrame:
    texts = [name for name, dtype in lazy.collect_schema().items() if is_text(dtype) and dtype != pl.String]
    return lazy.with_columns(pl.col(texts).cast(pl.String)) if texts else lazy


def _in_values_of(first: Seen, seen: Seen) -> np.ndarray:
    """A release's counts with its values in the first release's order: hierarchies may order them otherwise."""
    texts = [*first.sensitive.texts, *([None] if first.sensitive.null else [])]
    own = {text: at for at, text in enumerate([*seen.sensitive.texts, *([None] if seen.sensitive.null else [])])}
    return seen.counts[:, [own[text] for text in texts]]


def lifted(found: Membership, of: np.ndarray, people: np.ndarray) -> Membership:
    """The same membership of finer points: `of` says which point each of them is of."""
    if found.points == len(of) and np.array_equal(of, np.arange(len(of))):
        return found
    order = np.argsort(found.point, kind="stable")
    start = np.searchsorted(found.point[order], of)
    many = np.searchsorted(found.point[order], of, side="right") - start
    ends = np.cumsum(many)
    entry = order[np.arange(int(many.sum())) + np.repeat(start - ends + many, many)]
    point = np.repeat(np.arange(len(of)), many)
    by_group = np.argsort(found.group[entry], kind="stable")
    entry, point = entry[by_group], point[by_group]
    weight = found.shares[entry] * people[point]
    return replace(found, point=point, group=found.group[entry], people=weight, points=len(of))


def refuse_misfits(together: Together) -> None:
    """Refuse a release that publishes more people of a value than the table has: it was made from another one."""
    held = together.truth.sum(axis=0)
    for number, part in enumerate(together.parts):
        published = part.counts.sum(axis=0)
        beyond = int(np.maximum(np.round(published) - held, 0).sum())
        if beyond > 0 and np.array_equal(part.counts, np.round(part.counts)):
            which = "The release attacked" if number == 0 else f"Release {number} of those to join"
            raise RequestError(
                f"{which} was made from other data: it publishes {some(beyond, 'row')} more of some values than the source has.",
                why="Beliefs about different people cannot be joined.",
                attempt="the data that all of them were made from, or --force-join (force_join=True).",
            )
