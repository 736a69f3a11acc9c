"""Of a large release by Mondrian: that no group was cut further is known of each group by itself.

Whether a group can be cut depends on its own people and on the table's totals, which the release shows.  So values are dealt anew
in all groups at once, and of each group those deals count after which it would be left whole: draws that are independent, and
exact where a group's deals are so few that each is tried once.  Cuts that were refused further up the tree are not used: an
adversary who used them would know more.
"""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np

from reticent.attacks.beliefs import Beliefs
from reticent.attacks.minimality.behind import Tables, arrangements
from reticent.attacks.minimality.behind import deals as all_deals
from reticent.attacks.minimality.beliefs import Concluded
from reticent.attacks.minimality.run_again import Publisher
from reticent.attacks.score import wilson
from reticent.methods.mondrian.acceptance import Acceptance
from reticent.methods.mondrian.loss_cuts import NEVER, LossCuts
from reticent.methods.mondrian.median_cuts import MedianCuts
from reticent.methods.mondrian.nodes import Nodes
from reticent.methods.mondrian.spans import Spans
from reticent.methods.weights import weights_of
from reticent.table.cells import Cells

LEAST = 8
"""Of a group that was left whole in fewer draws nothing is concluded, unless all of its deals were tried."""


def left_whole(publisher: Publisher, tables: Tables, draws: int, rng: np.random.Generator) -> Concluded | None:
    """None where the groups of the release are not those that the method left whole."""
    block = np.empty(len(tables.true), np.int64)
    for number, people in enumerate(tables.blocks):
        block[people] = number
    whole = kept_whole(publisher, tables.true, block)
    if not whole.any():
        return None
    deals = _listed(tables, draws)
    counts = Halves(tables.values)
    accepted = np.zeros((2, len(tables.blocks)), np.int64)
    for draw in range(draws):
        table = _drawn(tables, block, deals, draw, rng)
        fine = kept_whole(publisher, table, block)
        for number, listed in deals.items():
            fine[number] &= draw < len(listed)
        half = draw % 2
        accepted[half] += fine
        counts.add(half, table, fine[block])
    return _concluded(counts.count(), accepted, whole, block, deals, draws)


class Halves:
    """How often each person had each value in the draws that count, every other draw apart."""

    def __init__(self, values: int):
        self.values = values
        self.draws: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])

    def add(self, half: int, table: np.ndarray, fine: np.ndarray) -> None:
        """Note a draw: the value of each person, or none of a person whose draw does not count."""
        self.draws[half].append(np.where(fine, table, -1).astype(np.int32))

    def count(self) -> tuple[Beliefs, Beliefs, Beliefs]:
        """The first half, the second, and both: a row for each person, a number in place of a belief."""
        first, second = (self._count(drawn) for drawn in self.draws)
        return first, second, self._count([*self.draws[0], *self.draws[1]])

    def _count(self, drawn: list[np.ndarray]) -> Beliefs:
        people = len(self.draws[0][0])
        value = np.sort(np.column_stack(drawn) if drawn else np.zeros((people, 0), np.int32), axis=1)
        row, at = np.nonzero(value >= 0)
        return Beliefs.of_pairs(row, value[row, at], np.ones(len(row)), people, self.values)


def kept_whole(publisher: Publisher, values: np.ndarray, block: np.ndarray) -> np.ndarray:
    """Which groups of people Mondrian would not cut, if they had these values."""
    cells = publisher.table(values)
    nodes = _nodes(cells, block[np.searchsorted(publisher.point, np.arange(len(publisher.points)))])
    bound = publisher.promises.bind(cells)
    accepts = Acceptance(bound, nodes)
    chooser = _chooser(publisher, cells, nodes, accepts)
    chosen, _ = chooser.choose()
    return ~chosen


def _nodes(cells: Cells, group_of_point: np.ndarray) -> Nodes:
    """The groups as open nodes, in the order of their numbers."""
    one = Nodes.of(cells)
    order = np.argsort(group_of_point, kind="stable")
    start = np.flatnonzero(np.diff(group_of_point[order], prepend=-1)).astype(np.int64)
    stop = np.append(start[1:], len(order)).astype(np.int64)
    return Nodes(cells, one.first, one.words[order], one.atom[order], one.count[order], start, stop)


def _chooser(publisher: Publisher, cells: Cells, nodes: Nodes, accepts: Acceptance) -> Any:
    """As `Mondrian.plan` chooses cuts; whether there is one does not depend on looking ahead."""
    method, promises = publisher.method, publisher.promises
    apart = method.labels_for(promises) == "nodes" and not promises.union_closed
    spans = Spans.of(cells.quasi, weights_of([domain.name for domain in cells.quasi], method.weights), apart=apart)
    if method.cuts == "loss":
        return LossCuts(nodes, accepts, spans, NEVER)
    return MedianCuts(nodes, accepts, spans, fallback=method.fallback, apart=apart)


def _listed(tables: Tables, draws: int) -> dict[int, list[list[int]]]:
    """All deals of the blocks that have no more of them than there are draws."""
    found = {}
    for number, people in enumerate(tables.blocks):
        held = np.bincount(tables.true[people], minlength=tables.values)
        if len(people) <= 12 and arrangements(held) <= draws:
            found[number] = list(islice(all_deals(held.tolist()), draws))
    return found


def _drawn(
    tables: Tables, block: np.ndarray, deals: dict[int, list[list[int]]], draw: int, rng: np.random.Generator
) -> np.ndarray:
    """Values dealt anew in every block: the next listed deal, or a random one."""
    order = np.lexsort((rng.random(len(block)), block))
    table = np.empty_like(tables.true)
    table[np.argsort(block, kind="stable")] = tables.true[order]
    for number, listed in deals.items():
        table[tables.blocks[number]] = listed[draw % len(listed)]
    return table


def _concluded(
    counts: tuple[Beliefs, Beliefs, Beliefs],
    accepted: np.ndarray,
    whole: np.ndarray,
    block: np.ndarray,
    deals: dict[int, list[list[int]]],
    draws: int,
) -> Concluded:
    listed = np.zeros(len(whole), bool)
    listed[list(deals)] = True
    total = accepted.sum(axis=0)
    looked = whole & (total > 0) & (listed | (total >= LEAST))
    both = counts[2]
    beliefs = Beliefs(both.starts, both.value, both.belief / np.maximum(total[block], 1)[both.row], both.values)
    sure = np.where(listed, np.inf, total)[block]
    worst, low, high = _worst(counts, accepted, looked, listed, block, beliefs)
    return Concluded(beliefs, looked[block], worst, low, high, "left whole", draws, int(total[looked].sum()), sure=sure)


def _worst(
    counts: tuple[Beliefs, Beliefs, Beliefs],
    accepted: np.ndarray,
    looked: np.ndarray,
    listed: np.ndarray,
    block: np.ndarray,
    beliefs: Beliefs,
) -> tuple[float, float, float]:
    """The greatest belief: exact among listed groups; of drawn ones chosen by every other draw, and told by the others."""
    exact = float(beliefs.greatest[(looked & listed)[block]].max(initial=0.0))
    drawn = (looked & ~listed & (accepted > 0).all(axis=0))[block]
    if not drawn.any():
        return exact, exact, exact
    first, second = counts[0], counts[1]
    share = first.belief / np.maximum(accepted[0][block], 1)[first.row]
    chosen = int(np.where(drawn[first.row], share, -1.0).argmax())
    person, value = int(first.row[chosen]), int(first.value[chosen])
    again = slice(second.starts[person], second.starts[person + 1])
    hits = int(second.belief[again][second.value[again] == value].sum())
    tried = int(accepted[1, block[person]])
    low, high = wilson(hits, tried)
    return max(exact, hits / tried), max(exact, low), max(exact, high)
