"""Tables that may lie behind a release, and what the minimality attack concludes from those that publish it again.

`CandidateTables` are the tables behind a release, whatever its method: values are dealt anew within blocks of people.
A block is all people who are linked by the labels of groups that may hold them: the values that those groups publish
are theirs.  Where no two labels cover one person a block is a group.  A `Conclusion` is what was concluded of each
person, and how sure the greatest belief is.

`conclude_by_enumeration` is exact: every table is published again, with each of some keys.  A table is believed in
proportion to the keys with which it leads to this release.  The adversary does not know the key: all that are tried are
equally likely.  Shares are of whole numbers of (table, key) pairs.

`conclude_from_uncut_groups` is for large releases by Mondrian: that no group was cut further is known of each group by
itself.  Whether a group can be cut depends on its own people and on the table's totals, which the release shows.  So
values are dealt anew in all groups at once, and of each group those deals count after which it would be left whole:
draws that are independent, and exact where a group's deals are so few that each is tried once.  Cuts that were refused
further up the tree are not used: an adversary who used them would know more.

`conclude_by_walk` is a Metropolis walk over the tables that publish this release, where they are too many to list.  A
step deals the values of some blocks anew: a step back is as likely as a step forth, and it is taken only where the
method publishes the same release again.  So in the long run every table that can be reached is met equally often.  The
walk begins at the true table, the only one that is known to publish the release.  In its first third, which is left
out, it finds how many blocks can be dealt at once.

The walk's interval is honest: the first half of what is left chooses who has the greatest belief, and the belief is
that of the second half, which did not choose, with the interval of ten batch means.  Of people whose value changed less
than ten times in either half nothing is concluded: a walk that begins at the truth would only repeat the truth.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, product
from math import factorial, prod, sqrt
from typing import Any

import numpy as np

from reticent.attacks.beliefs import Beliefs
from reticent.attacks.group_membership import GroupMembership, find_linked_points
from reticent.attacks.minimality.publisher import Publisher, ShownGroups
from reticent.attacks.scoring import compute_wilson_interval
from reticent.attacks.target import AttackTarget
from reticent.data.cells import Cells
from reticent.methods.base import resolve_weights
from reticent.methods.mondrian.method import LOOK_AHEAD_NEVER, LossCuts, MedianCuts
from reticent.methods.mondrian.nodes import Acceptance, PartitionNodes, SpanLosses

MIN_UNCUT_DRAWS = 8
"""Of a group that was left whole in fewer draws nothing is concluded, unless all of its deals were tried."""
WALK_BATCHES = 10
STUDENT_QUANTILE_95 = 2.2621571628540993  # 95 %, nine degrees of freedom
MIN_CHANGES = 10
STEP_GROWTH = 1.5
STEP_SHRINKAGE = 1.2  # about three steps in ten are taken


@dataclass(frozen=True, eq=False)
class CandidateTables:
    """The tables behind a release.

    `true` are the values of the people, in the order of their points; `blocks` are the people among whom values are
    dealt.
    """

    true: np.ndarray
    blocks: tuple[np.ndarray, ...]
    values: int

    @classmethod
    def from_target(cls, target: AttackTarget, membership: GroupMembership) -> CandidateTables:
        point = target.truth.point
        value = target.truth.value
        people = target.truth.people
        component = find_linked_points(membership.point, membership.group, membership.points)[np.repeat(point, people)]
        order = np.argsort(component, kind="stable")
        starts = np.flatnonzero(np.diff(component[order], prepend=-1))
        return cls(np.repeat(value, people), tuple(np.split(order, starts[1:])), target.truth.values)

    @property
    def table_count(self) -> int:
        """How many tables there are, exactly."""
        return prod(count_deals(np.bincount(self.true[block])) for block in self.blocks)

    def all(self) -> Iterator[np.ndarray]:
        """Yield every one of the tables."""
        dealt = [
            list(list_deals(np.bincount(self.true[block], minlength=self.values).tolist())) for block in self.blocks
        ]
        for deals in product(*dealt):
            table = self.true.copy()
            for block, values in zip(self.blocks, deals, strict=True):
                table[block] = values
            yield table


def count_deals(counts: np.ndarray) -> int:
    """Count the ways in which a block's values can be dealt to its people."""
    return factorial(int(counts.sum())) // prod(factorial(int(count)) for count in counts)


def list_deals(remaining: list[int]) -> Iterator[list[int]]:
    """List every order of values of which so many are left."""
    if not any(remaining):
        yield []
        return
    for value, count in enumerate(remaining):
        if count:
            remaining[value] -= 1
            for rest in list_deals(remaining):
                yield [value, *rest]
            remaining[value] += 1


@dataclass(frozen=True, eq=False)
class Conclusion:
    """What was concluded: `beliefs` has a row for each person; `worst` is the greatest of anybody, between `low` and `high`.

    `looked_at` marks the people of whom anything was concluded: the others keep the belief by their groups.  `sure` is
    how many independent tables a person's belief rests on; None where it is exact.
    """

    beliefs: Beliefs
    looked_at: np.ndarray
    worst: float
    low: float
    high: float
    how: str
    runs: int
    behind: int  # tables found that publish this release, or the part of it that was looked at
    sure: np.ndarray | None = None
    whose: tuple[int, int] | None = None  # of a walk: the person and the value of the greatest belief
    moved: float | None = None  # of a walk: the share of people whose value ever changed

    @cached_property
    def belief(self) -> np.ndarray:
        """(people, values): for small tables."""
        return self.beliefs.to_dense()


def conclude_by_enumeration(
    publisher: Publisher, tables: CandidateTables, shown_groups: ShownGroups, keys: Sequence[int]
) -> Conclusion | None:
    """Conclude from every table and key; None if no table leads to this release with any of these keys."""
    people = np.arange(len(tables.true))
    counts = np.zeros((len(people), tables.values), np.int64)
    runs = 0
    behind = 0
    for table in tables.all():
        matches = sum(publisher.publish_table(table, key) == shown_groups for key in keys)
        counts[people, table] += matches
        runs = runs + len(keys)
        behind = behind + bool(matches)
    total = int(counts[0].sum()) if len(people) else 0
    if not total:
        return None
    belief = counts / total
    worst = float(belief.max())
    return Conclusion(Beliefs.of_table(belief), np.ones(len(people), bool), worst, worst, worst, "exact", runs, behind)


def conclude_from_uncut_groups(
    publisher: Publisher, tables: CandidateTables, draws: int, rng: np.random.Generator
) -> Conclusion | None:
    """Conclude from groups that were not cut; None if the groups of the release are not those that the method left whole."""
    block = np.empty(len(tables.true), np.int64)
    for number, people in enumerate(tables.blocks):
        block[people] = number
    uncut = find_uncut_groups(publisher, tables.true, block)
    if not uncut.any():
        return None
    deals = _list_block_deals(tables, draws)
    counts = DrawHalves(tables.values)
    accepted = np.zeros((2, len(tables.blocks)), np.int64)
    for draw in range(draws):
        table = _draw_table(tables, block, deals, draw, rng)
        are_uncut = find_uncut_groups(publisher, table, block)
        for number, block_deals in deals.items():
            are_uncut[number] &= draw < len(block_deals)
        half = draw % 2
        accepted[half] += are_uncut
        counts.add(half, table, are_uncut[block])
    return _conclude_from_draws(counts.count(), accepted, uncut, block, deals, draws)


class DrawHalves:
    """Counts of how often each person had each value in the draws that count, every other draw apart."""

    def __init__(self, values: int):
        self.values = values
        self.draws: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])

    def add(self, half: int, table: np.ndarray, are_counted: np.ndarray) -> None:
        """Add a draw: the value of each person, or none of a person whose draw does not count."""
        self.draws[half].append(np.where(are_counted, table, -1).astype(np.int32))

    def count(self) -> tuple[Beliefs, Beliefs, Beliefs]:
        """Count the first half, the second, and both: a row for each person, a number in place of a belief."""
        first, second = (self._count(half_draws) for half_draws in self.draws)
        return first, second, self._count([*self.draws[0], *self.draws[1]])

    def _count(self, draws: list[np.ndarray]) -> Beliefs:
        people = len(self.draws[0][0])
        value = np.sort(np.column_stack(draws) if draws else np.zeros((people, 0), np.int32), axis=1)
        row, draw = np.nonzero(value >= 0)
        return Beliefs.of_pairs(row, value[row, draw], np.ones(len(row)), people, self.values)


def find_uncut_groups(publisher: Publisher, values: np.ndarray, block: np.ndarray) -> np.ndarray:
    """Find which groups of people Mondrian would not cut, if they had these values."""
    cells = publisher.table(values)
    nodes = _make_nodes(cells, block[np.searchsorted(publisher.point, np.arange(len(publisher.points)))])
    bound = publisher.promises.bind(cells)
    accepts = Acceptance(bound, nodes)
    chooser = _make_cut_chooser(publisher, cells, nodes, accepts)
    are_cut, _ = chooser.choose()
    return ~are_cut


@dataclass(eq=False)
class TableWalk:
    """State of a walk and what it met: (batches, people, values), and how often each half changed a person's value."""

    table: np.ndarray
    met: np.ndarray
    changed: np.ndarray
    taken: int = 0
    at_once: float = 1.0

    @classmethod
    def start(cls, tables: CandidateTables) -> TableWalk:
        people = len(tables.true)
        return cls(
            tables.true.copy(),
            np.zeros((2 * WALK_BATCHES, people, tables.values), np.int32),
            np.zeros((2, people), int),
        )


def conclude_by_walk(
    publisher: Publisher,
    tables: CandidateTables,
    shown_groups: ShownGroups,
    key: int,
    steps: int,
    rng: np.random.Generator,
) -> Conclusion | None:
    """Conclude from a walk; None if nobody's value changed often enough."""
    walk = TableWalk.start(tables)
    people = np.arange(len(tables.true))
    burn = steps // 3
    mixed_blocks = [block for block in tables.blocks if len(np.unique(tables.true[block])) > 1]
    for step in range(steps if mixed_blocks else 0):
        proposal = _deal_some_values(walk.table, mixed_blocks, min(round(walk.at_once), len(mixed_blocks)), rng)
        accepted = publisher.publish_table(proposal, key) == shown_groups
        if step < burn:
            walk.at_once = (
                min(walk.at_once * STEP_GROWTH, len(mixed_blocks))
                if accepted
                else max(walk.at_once / STEP_SHRINKAGE, 1.0)
            )
        batch = (step - burn) * 2 * WALK_BATCHES // (steps - burn)
        if accepted and step >= burn:
            walk.changed[batch // WALK_BATCHES] += proposal != walk.table
        walk.taken += accepted
        walk.table = proposal if accepted else walk.table
        if step >= burn:
            walk.met[batch, people, walk.table] += 1
    return _conclude_from_walk(walk, steps)


def _list_block_deals(tables: CandidateTables, draws: int) -> dict[int, list[list[int]]]:
    """List all deals of the blocks that have no more of them than there are draws."""
    deals = {}
    for number, people in enumerate(tables.blocks):
        counts = np.bincount(tables.true[people], minlength=tables.values)
        if len(people) <= 12 and count_deals(counts) <= draws:
            deals[number] = list(islice(list_deals(counts.tolist()), draws))
    return deals


def _draw_table(
    tables: CandidateTables, block: np.ndarray, deals: dict[int, list[list[int]]], draw: int, rng: np.random.Generator
) -> np.ndarray:
    """Deal values anew in every block: the next listed deal, or a random one."""
    order = np.lexsort((rng.random(len(block)), block))
    table = np.empty_like(tables.true)
    table[np.argsort(block, kind="stable")] = tables.true[order]
    for number, block_deals in deals.items():
        table[tables.blocks[number]] = block_deals[draw % len(block_deals)]
    return table


def _conclude_from_draws(
    counts: tuple[Beliefs, Beliefs, Beliefs],
    accepted: np.ndarray,
    uncut: np.ndarray,
    block: np.ndarray,
    deals: dict[int, list[list[int]]],
    draws: int,
) -> Conclusion:
    are_listed = np.zeros(len(uncut), bool)
    are_listed[list(deals)] = True
    total = accepted.sum(axis=0)
    are_looked_at = uncut & (total > 0) & (are_listed | (total >= MIN_UNCUT_DRAWS))
    total_counts = counts[2]
    beliefs = Beliefs(
        total_counts.starts,
        total_counts.value,
        total_counts.belief / np.maximum(total[block], 1)[total_counts.row],
        total_counts.values,
    )
    supporting_tables = np.where(are_listed, np.inf, total)[block]
    worst, low, high = _find_worst_belief(counts, accepted, are_looked_at, are_listed, block, beliefs)
    return Conclusion(
        beliefs,
        are_looked_at[block],
        worst,
        low,
        high,
        "left whole",
        draws,
        int(total[are_looked_at].sum()),
        sure=supporting_tables,
    )


def _make_nodes(cells: Cells, group_of_point: np.ndarray) -> PartitionNodes:
    """Make the groups open nodes, in the order of their numbers."""
    root = PartitionNodes.from_cells(cells)
    order = np.argsort(group_of_point, kind="stable")
    start = np.flatnonzero(np.diff(group_of_point[order], prepend=-1)).astype(np.int64)
    stop = np.append(start[1:], len(order)).astype(np.int64)
    return PartitionNodes(cells, root.first, root.words[order], root.atom[order], root.count[order], start, stop)


def _make_cut_chooser(publisher: Publisher, cells: Cells, nodes: PartitionNodes, accepts: Acceptance) -> Any:
    """Choose cuts as `Mondrian.plan` does; whether there is one does not depend on looking ahead."""
    method = publisher.method
    promises = publisher.promises
    disjoint = method.labels_for(promises) == "nodes" and not promises.union_closed
    spans = SpanLosses.from_domains(
        cells.quasi, resolve_weights([domain.name for domain in cells.quasi], method.weights), disjoint=disjoint
    )
    if method.cuts == "loss":
        return LossCuts(nodes, accepts, spans, LOOK_AHEAD_NEVER)
    return MedianCuts(nodes, accepts, spans, fallback=method.fallback, disjoint=disjoint)


def _deal_some_values(
    table: np.ndarray, mixed_blocks: list[np.ndarray], count: int, rng: np.random.Generator
) -> np.ndarray:
    proposal = table.copy()
    for number in rng.choice(len(mixed_blocks), count, replace=False):
        proposal[mixed_blocks[number]] = rng.permutation(proposal[mixed_blocks[number]])
    return proposal


def _conclude_from_walk(walk: TableWalk, steps: int) -> Conclusion | None:
    are_looked_at: np.ndarray = walk.changed.min(axis=0) >= MIN_CHANGES
    if not are_looked_at.any():
        return None
    first = walk.met[:WALK_BATCHES].sum(axis=0)
    person, value = np.unravel_index(int(np.where(are_looked_at[:, None], first, -1).argmax()), first.shape)
    means = walk.met[WALK_BATCHES:, person, value] / np.maximum(walk.met[WALK_BATCHES:, person].sum(axis=1), 1)
    worst = float(means.mean())
    half = STUDENT_QUANTILE_95 * float(means.std(ddof=1)) / sqrt(WALK_BATCHES)
    visits = walk.met.sum(axis=0)
    belief = visits / visits.sum(axis=1, keepdims=True)
    return Conclusion(
        Beliefs.of_table(belief),
        are_looked_at,
        worst,
        max(worst - half, 0.0),
        min(worst + half, 1.0),
        "walked",
        steps,
        walk.taken,
        whose=(int(person), int(value)),
        moved=float((walk.changed.sum(axis=0) > 0).mean()),
    )


def _find_worst_belief(
    counts: tuple[Beliefs, Beliefs, Beliefs],
    accepted: np.ndarray,
    are_looked_at: np.ndarray,
    are_listed: np.ndarray,
    block: np.ndarray,
    beliefs: Beliefs,
) -> tuple[float, float, float]:
    """Find the greatest belief: exact among listed groups; of drawn ones chosen by every other draw, and measured by the others."""
    exact = float(beliefs.greatest[(are_looked_at & are_listed)[block]].max(initial=0.0))
    are_drawn = (are_looked_at & ~are_listed & (accepted > 0).all(axis=0))[block]
    if not are_drawn.any():
        return exact, exact, exact
    first = counts[0]
    second = counts[1]
    share = first.belief / np.maximum(accepted[0][block], 1)[first.row]
    candidate = int(np.where(are_drawn[first.row], share, -1.0).argmax())
    person = int(first.row[candidate])
    value = int(first.value[candidate])
    entries = slice(second.starts[person], second.starts[person + 1])
    hits = int(second.belief[entries][second.value[entries] == value].sum())
    trials = int(accepted[1, block[person]])
    low, high = compute_wilson_interval(hits, trials)
    return max(exact, hits / trials), max(exact, low), max(exact, high)
