"""Values that remain for a victim whose neighbours are all corrupted, in transformed releases and in plain tables (lemma 2).

An adversary who knows everyone else's value takes these away from what a group publishes (Tao, Xiao, Li & Zhang, ICDE 2008,
lemma 2).  Who is left with one possible value is unmasked.

A transformed group publishes nodes of a hierarchy, some of them fakes.  The victim may have x if everyone else's values and
x find nodes of their own.  Nodes form a tree, so values are matched from the leaves up: a node takes what arrives as far as
it has room, and the rest goes on to its parent.  Without the victim, whose value is v, room is made at the first node on the
way up from v where nothing went on; other nodes have room where fakes are left.  What arrives at a leaf x goes up until there
is room: x is possible if a node above it (or itself) has room.  Values to which the group's target gives no mass do not
occur.  Where the promise states exact totals (an exact "source" or "group"), everyone else's values and these totals leave one
value for anybody, whatever the groups are (`estimate/known_totals.py`).

A plain table is complete or a random sample of one: a value's holder is unmasked if a group shows as many of it as people
of the group have, all but one of whom are known.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from reticent.attacks.target import AttackTarget, count_source_cells
from reticent.errors import RequestError
from reticent.estimate.guaranteed_bounds import (
    COUNT_COLUMN,
    GROUP_COLUMN,
    AnnotatedHierarchy,
    find_nodes,
    read_known_totals,
)
from reticent.labels.adversary_view import build_members

CHUNK_CELLS = 1 << 22  # groups times nodes that are matched together
ValueCounts = dict[str | None, int]


def find_unmasked_by_nodes(release: Any, people: pl.DataFrame) -> tuple[ValueCounts, ValueCounts, dict[str, Any]]:
    """Count the published people with each value of a transformed release, those of them who are unmasked, and facts.

    Raises RequestError if the people are not those that the release was made from.
    """
    manifest = release.manifest
    annotated = AnnotatedHierarchy.from_manifest(manifest)
    holders = _count_holders(release, people, annotated)
    totals = read_known_totals(release.tables, manifest, annotated)
    has_exact_totals = totals is not None and totals.distance == 0
    unmasked = holders if has_exact_totals else _find_unmasked_holders(release, annotated, holders)
    counts = [
        dict(zip(annotated.texts, number.sum(axis=0).astype(int).tolist(), strict=True))
        for number in (holders, unmasked)
    ]
    facts = {"unmasked_by": "totals" if has_exact_totals else "nodes"}
    return (
        {value: count for value, count in counts[0].items() if count},
        {value: count for value, count in counts[1].items() if count},
        facts,
    )


def find_unmasked_by_groups(target: AttackTarget) -> tuple[ValueCounts, ValueCounts]:
    """Count the people with each value of a plain table's source, and those of them who are unmasked.

    Group by group where every person is under the labels of one group; otherwise over the whole table.
    """
    truth = target.truth
    group_of_point = _find_only_groups(target)
    groups = len(target.counts)
    if group_of_point is None:
        group_of_point = np.zeros(truth.points, np.int64)
        published = target.counts.sum(axis=0, keepdims=True)
        groups = 1
    else:
        published = target.counts
    holders = np.zeros((groups, published.shape[1]), np.int64)
    inside = group_of_point[truth.point] >= 0
    np.add.at(holders, (group_of_point[truth.point][inside], truth.value[inside]), truth.people[inside])
    unmasked = np.where((holders > 0) & (published > holders - 1), holders, 0).sum(axis=0)
    everybody = np.bincount(truth.value, weights=truth.people, minlength=published.shape[1]).astype(int)
    texts = [*target.sensitive.texts, *([None] * (published.shape[1] - len(target.sensitive.texts)))]
    return (
        {text: int(count) for text, count in zip(texts, everybody.tolist(), strict=True) if count},
        {text: int(count) for text, count in zip(texts, unmasked.tolist(), strict=True) if count},
    )


def find_possible_values(
    annotated: AnnotatedHierarchy, nodes: Mapping[int, int], holders: np.ndarray, value: int, target: int
) -> np.ndarray:
    """Return which values the victim of one group may have, who has `value`; `holders` are all people of the group by value."""
    free = np.zeros((1, len(annotated.first)), np.int64)
    for node, count in nodes.items():
        free[0, node] = count
    with_mass = annotated.float_probabilities[target] > 0
    room, slot = _match_values(annotated, free, holders[None, :])
    is_possible = _cover_leaves(annotated, room)[0]
    node = int(slot[0, annotated.leaves[value]])
    is_possible[annotated.first[node] : annotated.last[node] + 1] = True
    return is_possible & with_mass


def _count_holders(release: Any, people: pl.DataFrame, annotated: AnnotatedHierarchy) -> np.ndarray:
    """Count (groups, values): the published people of each group with each value."""
    cells = count_source_cells(release.columns, people)
    quasi = release.tables["quasi"]
    names = [domain.name for domain in cells.quasi]
    rows = np.bincount(quasi[GROUP_COLUMN].to_numpy())
    distinct = quasi.select(*names, GROUP_COLUMN).unique()
    members = build_members(distinct, distinct[GROUP_COLUMN], np.zeros((len(rows), 1)), cells)
    codes = np.concatenate([members.codes, cells.codes])
    _, number = np.unique(codes, axis=0, return_inverse=True)
    number = number.reshape(-1)
    group_by_number = np.full(int(number.max(initial=0)) + 1, -1, np.int64)
    group_by_number[number[: len(members.codes)]] = members.group
    group = group_by_number[number[len(members.codes) :]]
    column = pl.Series([*cells.sensitive[0].texts], dtype=pl.String)
    place_of_text = {text: place for place, text in enumerate(annotated.texts)}
    places = [place_of_text.get(text, -1) for text in column.to_list()]
    places += [-1] * (cells.sensitive[0].size - len(places))
    value = np.array(places, np.int64)[cells.values[:, 0]]
    is_published = (group >= 0) & (value >= 0)
    holders = np.zeros((len(rows), len(annotated.texts)), np.int64)
    np.add.at(holders, (group[is_published], value[is_published]), cells.counts[is_published])
    if (holders.sum(axis=1) != rows).any():
        raise RequestError(
            "The source is not what the release was made from, or rows of published people were withheld.",
            why=f"{int((holders.sum(axis=1) != rows).sum()):,} of {len(rows):,} groups have another number of people in it.",
            attempt="the data that was published.",
        )
    return holders


def _find_unmasked_holders(release: Any, annotated: AnnotatedHierarchy, holders: np.ndarray) -> np.ndarray:
    """Count (groups, values): the people who are left with one possible value."""
    sensitive = release.tables["sensitive"]
    group = sensitive[GROUP_COLUMN].to_numpy().astype(np.int64)
    node = find_nodes(annotated, sensitive)
    count = sensitive[COUNT_COLUMN].to_numpy().astype(np.int64)
    targets = annotated.find_targets(np.arange(len(holders)))
    has_mass = annotated.float_probabilities > 0
    leaves = np.array(annotated.leaves)
    unmasked = np.zeros_like(holders)
    groups_per_chunk = max(CHUNK_CELLS // len(annotated.first), 1)
    for start in range(0, len(holders), groups_per_chunk):
        part = slice(start, start + groups_per_chunk)
        free = np.zeros((len(holders[part]), len(annotated.first)), np.int64)
        inside = (group >= start) & (group < start + groups_per_chunk)
        np.add.at(free, (group[inside] - start, node[inside]), count[inside])
        room, slot = _match_values(annotated, free, holders[part])
        mass = has_mass[targets[part]]
        covered = _cover_leaves(annotated, room) & mass
        slots = slot[:, leaves]
        sums = [_sum_under(annotated, marks, slots) for marks in (mass, covered)]
        possible = sums[0] + covered.sum(axis=1, keepdims=True) - sums[1]
        unmasked[part] = np.where(possible == 1, holders[part], 0)
    return unmasked


def _match_values(
    annotated: AnnotatedHierarchy, free: np.ndarray, holders: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Match values with nodes; return (groups, nodes): the room that is left, and where room is made by a value that goes.

    Nodes come after their parents.
    """
    parent = annotated.parent.tolist()
    order = sorted(range(len(parent)), key=lambda node: annotated.last[node] - annotated.first[node])
    arriving = np.zeros_like(free)
    arriving[:, annotated.leaves] = holders
    for node in order:
        excess = np.maximum(arriving[:, node] - free[:, node], 0)
        if parent[node] >= 0:
            arriving[:, parent[node]] += excess
        elif excess.any():
            raise RequestError(
                "The source is not what the release was made from.",
                why="People have values without a node in their group.",
                attempt="the data that was published.",
            )
    slot = np.empty_like(free)
    for node in reversed(order):
        passes_on = arriving[:, node] > free[:, node]
        slot[:, node] = np.where(passes_on, slot[:, parent[node]], node) if parent[node] >= 0 else node
    return np.maximum(free - arriving, 0), slot


def _cover_leaves(annotated: AnnotatedHierarchy, room: np.ndarray) -> np.ndarray:
    """Return (groups, values): whether a node above the value, or its own, has room."""
    steps = np.zeros((len(room), len(annotated.texts) + 1), np.int64)
    has_room = (room > 0).astype(np.int64)
    for node in np.flatnonzero(has_room.any(axis=0)).tolist():
        steps[:, annotated.first[node]] += has_room[:, node]
        steps[:, annotated.last[node] + 1] -= has_room[:, node]
    return np.cumsum(steps, axis=1)[:, :-1] > 0


def _sum_under(annotated: AnnotatedHierarchy, marks: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """Sum the marks of values under a node for each group and value."""
    until = np.concatenate([np.zeros((len(marks), 1), np.int64), np.cumsum(marks, axis=1)], axis=1)
    return np.take_along_axis(until, annotated.last[nodes] + 1, axis=1) - np.take_along_axis(
        until, annotated.first[nodes], axis=1
    )


def _find_only_groups(target: AttackTarget) -> np.ndarray | None:
    """Find the group of each point, -1 for none; None if a point is under the labels of several."""
    point, group, _ = target.sight.memberships(target.points, target.people, 2)
    if len(np.unique(point)) < len(point):
        return None
    group_of_point = np.full(len(target.points), -1, np.int64)
    group_of_point[point] = group
    return group_of_point
