"""Alignment of several releases with one table: the people, and who is in which group of each release.

Releases may publish different quasi-identifiers of the same people, by other hierarchies and types.  The table is
counted once over all columns that any of them uses; each release reads these combinations as its own manifest declares
its columns.

A release may have been made from an earlier state of the table: since then people have left it, or have another value.
Then it publishes rows that are of nobody of the table.  They are in its groups as *departed* people, who are in no
other release, and beliefs are joined over the people whom both have.  The table they came from need not be at hand:
departed rows are the fewest that explain a release, in each group those that it publishes beyond what the table has
there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl

from reticent.attacks.composition.joint_beliefs import ReleasePart
from reticent.attacks.group_membership import GroupMembership, find_membership
from reticent.attacks.scoring import TrueValues
from reticent.attacks.target import AttackTarget, declare_columns, make_target, select_source_columns, widen_spans
from reticent.data.cells import COUNT_COLUMN, Cells, encode_cells, find_distinct_rows
from reticent.data.columns import Column, Role
from reticent.data.declared_hierarchy import is_built_from_values, read_declared_hierarchy
from reticent.data.declared_withholding import has_values, list_complete_columns
from reticent.data.parsing import parse_texts
from reticent.data.source import collect_frame, is_text
from reticent.data.text_formats import parse_declared
from reticent.errors import BundleDamaged, RequestError, pluralize, quote_list
from reticent.labels.adversary_view import Boxes, build_boxes
from reticent.release.kind import AdversaryView

MIN_STRANGER_RATIO = 2
"""Values of a release misfit a table of the same people at most half as often as a table whose values were dealt at random."""
MAX_DEPARTED_SHARE = 0.5
"""A release more of whose rows are of nobody of the table is taken to be of other people."""
MAX_UNPLACED_SHARE = 0.05
"""The same of a release whose groups overlap, where nothing says in which group a row misfits."""


@dataclass(frozen=True, eq=False)
class SourceChanges:
    """Rows that one release publishes of people who are no longer in the table, or no longer with that value.

    `departed` counts such rows by group, or all together where groups overlap, and `values` by value.  `doubtful` are
    the points some of whose people may be those who changed.  `moved` people at the most, of those at the points
    `candidates`, are in the release with other quasi-identifiers. `by_chance` is how many rows beyond those that groups
    are too large by would misfit if values were dealt at random.
    """

    departed: np.ndarray
    values: np.ndarray
    doubtful: np.ndarray
    candidates: np.ndarray
    moved: int
    beyond: int
    by_chance: int | None

    @property
    def rows(self) -> int:
        return round(float(self.departed.sum()))


@dataclass(frozen=True, eq=False)
class AlignedReleases:
    """Several releases over one table: `people` and the true values of each point, and one part for each release.

    A point has a combination of all quasi-identifiers.  The parts have points after these: `departed` people, each of
    whom is in one release only.
    """

    people: np.ndarray
    truth: TrueValues  # for the scorer alone
    parts: tuple[ReleasePart, ...]
    seen: tuple[AttackTarget, ...]
    departed: np.ndarray = field(default_factory=lambda: np.zeros(0))
    changes: tuple[SourceChanges, ...] = ()
    prior_counts: np.ndarray | None = None

    @property
    def prior(self) -> np.ndarray:
        """The overall distribution of the first release, and of departed people: what everyone who has it knows."""
        if self.prior_counts is None:
            return self.seen[0].prior
        return self.prior_counts / self.prior_counts.sum()

    @property
    def everybody(self) -> np.ndarray:
        """People at the points, and those who departed after them."""
        return np.concatenate([self.people, self.departed])

    @property
    def doubtful(self) -> np.ndarray:
        """The points that may be of people who changed since one of the releases."""
        are_doubtful = np.zeros(len(self.people), bool)
        for change in self.changes:
            are_doubtful |= change.doubtful
        return are_doubtful


def align_single_release(target: AttackTarget) -> AlignedReleases:
    """Align one release, as the attack sees it."""
    return AlignedReleases(
        target.people, target.truth, (ReleasePart(find_membership(target), target.counts),), (target,)
    )


def align_releases(releases: Sequence[Any], source: Any, missing: tuple[str, ...] = ()) -> AlignedReleases:
    """Align opened releases, the first being attacked, with the table that they were made from, or a later state of it."""
    declared = [declare_columns(release.columns) for release in releases]
    sensitive = {name for columns in declared for name, column in columns.items() if column.role == "sensitive"}
    if len(sensitive) != 1:
        raise RequestError(
            "Joining needs releases with one sensitive column, the same in all of them.",
            why=f"These have {len(sensitive)}: {quote_list(sorted(sensitive))}.",
        )
    names = list(dict.fromkeys(name for columns in declared for name in columns))
    rows = select_source_columns(source, names, missing)
    combined = collect_frame(_cast_to_texts(rows.group_by(names).len(name=COUNT_COLUMN)), "Counting the rows")
    counts = combined[COUNT_COLUMN].to_numpy().astype(np.int64)
    placements = [
        _place_release(release, columns, combined) for release, columns in zip(releases, declared, strict=True)
    ]
    place, point_of_row = find_distinct_rows(np.column_stack([placed.point for placed in placements]))
    texts = list(dict.fromkeys(text for placed in placements for text in placed.texts))
    number = {text: code for code, text in enumerate(texts)}
    value = np.array([number[text] for text in placements[0].values], np.int64)
    truth = TrueValues.count(point_of_row, value, counts, points=len(place), values=len(texts))
    people = truth.by_point
    reconciled = []
    for release, placed in enumerate(placements):
        published = _reorder_counts(texts, placed)
        total = _count_rows_beyond_totals(published, truth) if isinstance(placed.seen.sight, Boxes) else 0
        membership = find_membership(placed.seen, total)
        if (place[:, release] == membership.points).any():
            membership = _add_stranger_point(membership)
        reconciled.append(
            _reconcile_release(lift_membership(membership, place[:, release], people), published, people, truth)
        )
    return _join_parts(people, truth, [placed.seen for placed in placements], reconciled)


@dataclass(frozen=True, eq=False)
class PlacedRelease:
    """A release over the counted combinations: the point of each, and the text of its sensitive value."""

    seen: AttackTarget
    point: np.ndarray
    values: list[str | None]

    @property
    def texts(self) -> list[str | None]:
        domain = self.seen.sensitive
        return [*domain.texts, *([None] if domain.null else []), *dict.fromkeys(self.values)]


def lift_membership(membership: GroupMembership, coarse_point: np.ndarray, people: np.ndarray) -> GroupMembership:
    """Return the same membership of finer points: `coarse_point` is the point that each of them belongs to."""
    if membership.points == len(coarse_point) and np.array_equal(coarse_point, np.arange(len(coarse_point))):
        return membership
    order = np.argsort(membership.point, kind="stable")
    start = np.searchsorted(membership.point[order], coarse_point)
    entry_counts = np.searchsorted(membership.point[order], coarse_point, side="right") - start
    ends = np.cumsum(entry_counts)
    entry = order[np.arange(int(entry_counts.sum())) + np.repeat(start - ends + entry_counts, entry_counts)]
    point = np.repeat(np.arange(len(coarse_point)), entry_counts)
    by_group = np.argsort(membership.group[entry], kind="stable")
    entry = entry[by_group]
    point = point[by_group]
    weight = membership.shares[entry] * people[point]
    return replace(membership, point=point, group=membership.group[entry], people=weight, points=len(coarse_point))


def require_fitting_releases(aligned: AlignedReleases) -> None:
    """Refuse a release whose rows the table's people do not fit: it was made from another one.

    Some rows may be of people who left or changed since.  Values that misfit in their groups nearly as often as if they were
    dealt at random are those of others.
    """
    for number, changes in enumerate(aligned.changes):
        rows = float(aligned.parts[number].counts.sum())
        if changes.by_chance is None:
            is_strange = changes.rows > MAX_UNPLACED_SHARE * rows
        else:
            misfit = changes.beyond * MIN_STRANGER_RATIO > changes.by_chance
            is_strange = changes.rows > MAX_DEPARTED_SHARE * rows or (changes.beyond > 0 and misfit)
        if is_strange:
            subject = "The release attacked" if number == 0 else f"Release {number} of those to join"
            raise RequestError(
                f"{subject} was made from other data: it publishes {pluralize(changes.rows, 'row')} more of some values than the source has.",
                why="Beliefs about different people cannot be joined.",
                attempt="the data that all of them were made from, or --force-join (force_join=True).",
            )


def _cast_to_texts(lazy: pl.LazyFrame) -> pl.LazyFrame:
    texts = [name for name, dtype in lazy.collect_schema().items() if is_text(dtype) and dtype != pl.String]
    return lazy.with_columns(pl.col(texts).cast(pl.String)) if texts else lazy


def _place_release(release: Any, declared: Mapping[str, Column], combined: pl.DataFrame) -> PlacedRelease:
    """Place a release over the counted combinations; those that its columns cannot hold are at a point of their own, the last."""
    typed = collect_frame(
        parse_declared(combined.select(*declared, COUNT_COLUMN).lazy(), declared), "Reading the values"
    )
    holdable = _are_holdable(typed, declared)
    texts = [name for name, dtype in typed.schema.items() if is_text(dtype) and dtype != pl.String]
    typed = typed.with_columns(pl.col(texts).cast(pl.String))
    lost_value_rows = _make_rows_of_lost_values(release, typed)
    readable_columns = {name: replace(column, missing="category") for name, column in declared.items()}
    cells, cell = encode_cells(pl.concat([typed.filter(pl.Series(holdable)), lost_value_rows]), readable_columns)
    cells = widen_spans(cells, release.columns)
    target = make_target(cells, _view_release(release, cells), release.manifest.promises)
    point = np.full(len(typed), len(target.points), np.int64)
    point[holdable] = cells.point[cell[: int(holdable.sum())]]
    domain = cells.sensitive[0]
    value_texts = [*domain.texts, *([None] if domain.null else [])]
    values = typed[domain.name].cast(pl.String).to_list()
    for row, code in zip(np.flatnonzero(holdable).tolist(), cells.values[cell, 0].tolist(), strict=False):
        values[row] = value_texts[code]
    return PlacedRelease(target, point, values)


def _reorder_counts(texts: Sequence[str | None], placed: PlacedRelease) -> np.ndarray:
    """Reorder a release's counts to an order of values: hierarchies may order them otherwise."""
    domain = placed.seen.sensitive
    code_of_text = {text: code for code, text in enumerate([*domain.texts, *([None] if domain.null else [])])}
    counts = np.zeros((len(placed.seen.counts), len(texts)), placed.seen.counts.dtype)
    for code, text in enumerate(texts):
        if text in code_of_text:
            counts[:, code] = placed.seen.counts[:, code_of_text[text]]
    return counts


def _count_rows_beyond_totals(published: np.ndarray, truth: TrueValues) -> int:
    """Count the rows that a release publishes beyond what the table has of each value, or in all."""
    if not np.array_equal(published, np.round(published)):
        return 0
    excess = np.maximum(published.sum(axis=0) - truth.by_value, 0).sum()
    return int(max(excess, published.sum() - truth.total, 0))


def _add_stranger_point(membership: GroupMembership) -> GroupMembership:
    """Add a last point, of combinations that the release cannot hold: they are in none of its groups."""
    return replace(
        membership,
        point=np.append(membership.point, membership.points),
        group=np.append(membership.group, membership.groups),
        people=np.append(membership.people, 1.0),
        points=membership.points + 1,
    )


def _reconcile_release(
    membership: GroupMembership, counts: np.ndarray, people: np.ndarray, truth: TrueValues
) -> tuple[GroupMembership, np.ndarray, SourceChanges]:
    """Return who is in which group, without the people who changed since, and the rows that are of nobody any more."""
    groups = membership.groups
    sizes = counts.sum(axis=1)
    are_integers = bool(np.array_equal(counts, np.round(counts)))
    nobody = np.zeros(len(people), bool)
    if not membership.known:
        departed = _count_rows_beyond_totals(counts, truth)
        beyond = departed - int(max(sizes.sum() - people.sum(), 0))
        values = np.maximum(counts.sum(axis=0) - truth.by_value, 0)
        absent = int(people.sum() - (sizes.sum() - departed))
        moved = min(departed, absent)
        return (
            membership,
            counts,
            SourceChanges(np.array([departed]), values, nobody, nobody | (moved > 0), moved, beyond, None),
        )
    group_people = membership.held[:groups]
    size_excess = np.maximum(sizes - np.round(group_people), 0)
    are_clear = are_integers & _have_single_points_only(membership)
    covered_entries = np.flatnonzero(membership.group < groups)
    in_clear = covered_entries[are_clear[membership.group[covered_entries]]]
    true_counts = _sum_values_by_group(truth, membership.point[in_clear], membership.group[in_clear], counts.shape)
    excess = np.where(are_clear[:, None], np.maximum(counts - true_counts, 0), 0)
    shortfall = np.where(are_clear[:, None], np.maximum(true_counts - counts, 0), 0)
    departed = np.maximum(size_excess, excess.sum(axis=1)).astype(np.float64)
    unseen = _count_rows_beyond_totals(counts, truth) - departed.sum()
    if unseen > 0 and not are_clear.all():  # in groups whose people's values are not known apart
        departed += np.where(are_clear, 0, sizes) / sizes[~are_clear].sum() * unseen
    staying = np.divide(sizes - departed, group_people, out=np.ones(groups), where=(group_people > 0) & (departed > 0))
    changed = (departed > 0) & (staying < 1)
    values = np.where(are_clear[:, None], excess, size_excess[:, None] * counts / np.maximum(sizes, 1)[:, None]).sum(
        axis=0
    )
    doubtful = nobody.copy()
    doubtful[membership.point[covered_entries][changed[membership.group[covered_entries]]]] = True
    uncovered_points = membership.point[
        membership.group == groups
    ]  # people whom no label covers may have been elsewhere
    outside = _sum_values_by_group(
        truth, uncovered_points, np.zeros(len(uncovered_points), np.int64), (1, counts.shape[1])
    )[0]
    shared = np.minimum(excess.sum(axis=0), shortfall.sum(axis=0) + outside)
    are_short = np.append(
        shortfall.sum(axis=1) > 0, True
    )  # groups some of whose people, and who is in none, may be those who moved
    candidates = nobody.copy()
    candidates[membership.point[are_short[membership.group]]] = True
    holders = nobody.copy()
    holders[truth.point[(shared > 0)[truth.value]]] = True
    candidates &= holders
    moved = int(shared.sum())
    beyond = int((departed - size_excess)[are_clear].sum())
    by_chance = _expect_misfits_by_chance(counts, true_counts, are_clear, size_excess)
    changes = SourceChanges(departed, values, doubtful, candidates, moved, beyond, by_chance)
    return _keep_staying_people(membership, staying, changed), counts, changes


def _join_parts(
    people: np.ndarray,
    truth: TrueValues,
    targets: Sequence[AttackTarget],
    reconciled: Sequence[tuple[GroupMembership, np.ndarray, SourceChanges]],
) -> AlignedReleases:
    """Make the parts over all people: those of the table, and after them those who departed from each release."""
    departed = []
    owner = []
    entries = []
    start = len(people)
    for number, (membership, counts, changes) in enumerate(reconciled):
        departed_groups = np.flatnonzero(changes.departed > 0)
        if membership.known:
            point = start + np.arange(len(departed_groups))
            group = departed_groups
            weight = changes.departed[departed_groups].astype(np.float64)
        else:  # one point, spread over all groups as their rows are
            sizes = counts.sum(axis=1)
            group = np.flatnonzero(sizes) if len(departed_groups) else np.zeros(0, np.int64)
            point = np.full(len(group), start)
            weight = sizes[group] / sizes.sum() * changes.rows
        entries.append((point, group, weight))
        release_departed = np.bincount(point - start, weights=weight, minlength=0) if len(point) else np.zeros(0)
        departed.append(release_departed)
        owner += [number] * len(release_departed)
        start += len(release_departed)
    gone_people = np.concatenate(departed) if departed else np.zeros(0)
    owner_of_point = np.array(owner, np.int64)
    parts = []
    for number, ((membership, counts, _), (point, group, weight)) in enumerate(zip(reconciled, entries, strict=True)):
        others = len(people) + np.flatnonzero(owner_of_point != number)
        joined = replace(
            membership,
            point=np.concatenate([membership.point, point, others]),
            group=np.concatenate([membership.group, group, np.full(len(others), membership.groups)]),
            people=np.concatenate([membership.people, weight, gone_people[others - len(people)]]),
            points=start,
        )
        parts.append(ReleasePart(_sort_by_group(joined) if start > len(people) else membership, counts))
    prior = reconciled[0][1].sum(axis=0) + sum(changes.values for _, _, changes in reconciled)
    all_changes = tuple(changes for _, _, changes in reconciled)
    return AlignedReleases(people, truth, tuple(parts), tuple(targets), gone_people, all_changes, prior)


def _are_holdable(typed: pl.DataFrame, declared: Mapping[str, Column]) -> np.ndarray:
    """Tell which combinations have values that the hierarchies and orders of a release know.

    Those without a value of a column where that withholds a row are in no group of the release either.
    """
    holdable = np.ones(len(typed), bool)
    complete_names = list_complete_columns(declared)
    if complete_names:
        holdable &= typed.select(has_values(typed.schema, complete_names)).to_series().to_numpy()
    for name, column in declared.items():
        known_values: list[str] | None = None
        if column.order is not None:
            known_values = list(column.order)
        elif column.hierarchy is not None and not is_built_from_values(column.hierarchy) and column.type != "numeric":
            known_values = [row[0] for row in read_declared_hierarchy(column.hierarchy, name).rows()]
        if known_values is not None:
            values = typed[name].cast(pl.String)
            holdable &= (values.is_in(known_values) | values.is_null()).to_numpy()
    return holdable


def _make_rows_of_lost_values(release: Any, typed: pl.DataFrame) -> pl.DataFrame:
    """Make a row, of nobody, for each value that the release names and the table has lost, so that the release can be read."""
    columns: dict[str, pl.Series] = {}
    for entry in release.columns:
        if entry.role == Role.QUASI and entry.values:
            is_flag = entry.dtype == "Boolean"  # of which Polars reads no texts
            columns[entry.name] = parse_texts(entry.values, entry.dtype) if is_flag else pl.Series(entry.values)
    parts = [_make_rows_of_nobody(typed, {name: values}) for name, values in columns.items() if name in typed.columns]
    exact = release.tables.get("quasi")
    if exact is not None:
        names = [entry.name for entry in release.columns if entry.role == Role.QUASI]
        parts.append(_make_rows_of_nobody(typed, {name: exact[name] for name in names}))
    sensitive = release.manifest.sensitive.name
    with suppress(RequestError):  # some kinds do not publish people's values
        parts.append(_make_rows_of_nobody(typed, {sensitive: release.value_counts(sensitive)[sensitive]}))
    return pl.concat([typed.clear(), *parts])


def _view_release(release: Any, cells: Cells) -> AdversaryView:
    """Return what the adversary sees of a release; labels may cover nobody who is still in the table."""
    try:
        view: AdversaryView = release.sight(cells)
    except BundleDamaged:
        entries = [entry for entry in release.columns if entry.role == Role.QUASI]
        return build_boxes(entries, release.frame(), cells, others=True)
    return view


def _have_single_points_only(membership: GroupMembership) -> np.ndarray:
    """Tell of each group whether all people of its points are in it."""
    are_shared = np.bincount(membership.point, minlength=membership.points)[membership.point] > 1
    single_only = np.ones(membership.groups + 1, bool)
    single_only[membership.group[are_shared]] = False
    return single_only[: membership.groups]


def _sum_values_by_group(truth: TrueValues, point: np.ndarray, group: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Add up the true values of points, each of which is in one group, by group: (groups, values)."""
    of_point = np.full(truth.points, -1, np.int64)
    of_point[point] = group
    inside = of_point[truth.point] >= 0
    sums = np.zeros(shape)
    np.add.at(sums, (of_point[truth.point[inside]], truth.value[inside]), truth.people[inside])
    return sums


def _expect_misfits_by_chance(
    counts: np.ndarray, true_counts: np.ndarray, are_clear: np.ndarray, size_excess: np.ndarray
) -> int:
    """Compute how many rows, beyond those that groups are too large by, would misfit if the table's values were dealt at random."""
    clear_counts = true_counts[are_clear].astype(np.int64)
    values = np.random.default_rng(0).permutation(np.repeat(np.arange(clear_counts.shape[1]), clear_counts.sum(axis=0)))
    group = np.repeat(np.arange(len(clear_counts)), clear_counts.sum(axis=1))
    dealt = np.zeros(clear_counts.shape)
    np.add.at(dealt, (group, values), 1)
    return int(np.maximum(np.maximum(counts[are_clear] - dealt, 0).sum(axis=1) - size_excess[are_clear], 0).sum())


def _keep_staying_people(membership: GroupMembership, staying: np.ndarray, changed: np.ndarray) -> GroupMembership:
    """Return the same membership, where of the people of some groups a share is in none: they changed."""
    if not changed.any():
        return membership
    inside = np.append(changed, False)[membership.group]
    share = np.append(staying, 1.0)[membership.group]
    gone_people = membership.people[inside] * (1 - share[inside])
    people = np.where(inside, membership.people * share, membership.people)
    point = np.concatenate([membership.point, membership.point[inside]])
    group = np.concatenate([membership.group, np.full(int(inside.sum()), membership.groups)])
    people = np.concatenate([people, gone_people])
    occurring = people > 0
    return _sort_by_group(replace(membership, point=point[occurring], group=group[occurring], people=people[occurring]))


def _sort_by_group(membership: GroupMembership) -> GroupMembership:
    order = np.argsort(membership.group, kind="stable")
    return replace(
        membership, point=membership.point[order], group=membership.group[order], people=membership.people[order]
    )


def _make_rows_of_nobody(typed: pl.DataFrame, columns: Mapping[str, pl.Series]) -> pl.DataFrame:
    """Make combinations that nobody has: these values, and in all other columns the first value that occurs."""
    combinations = pl.DataFrame([values.alias(name) for name, values in columns.items()]).unique(maintain_order=True)
    combinations = combinations.with_columns(
        pl.col(name).cast(typed.schema[name], strict=False) for name in combinations.columns
    )
    names = list(columns)
    combinations = combinations.join(
        typed.select(names).unique(), on=names, how="anti", nulls_equal=True, maintain_order="left"
    )
    others = [
        pl.lit(typed[name].first(), dtype=typed.schema[name]).alias(name)
        for name in typed.columns
        if name not in columns and name != COUNT_COLUMN
    ]
    nobody = pl.lit(0, dtype=typed.schema[COUNT_COLUMN]).alias(COUNT_COLUMN)
    return combinations.with_columns(*others, nobody).select(typed.columns)
