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
    counts = np.zeros((2, len(block), tables.values), np.int32)
    accepted = np.zeros((2, len(tables.blocks)), np.int64)
    everybody = np.arange(len(block))
    for draw in range(draws):
        table = _drawn(tables, block, deals, draw, rng)
        fine = kept_whole(publisher, table, block)
        for number, listed in deals.items():
            fine[number] &= draw < len(listed)
        half = draw % 2
        accepted[half] += fine
        counts[half][everybody, table] += fine[block]
    return _concluded(counts, accepted, whole, block, deals, draws)


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
    counts: np.ndarray,
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
    belief = counts.sum(axis=0) / np.maximum(total[block], 1)[:, None]
    sure = np.where(listed, np.inf, total)[block]
    worst, low, high = _worst(counts, accepted, looked, listed, block, belief)
    return Concluded(belief, looked[block], worst, low, high, "left whole", draws, int(total[looked].sum()), sure=sure)


def _worst(
    counts: np.ndarray,
    accepted: np.ndarray,
    looked: np.ndarray,
    listed: np.ndarray,
    block: np.ndarray,
    belief: np.ndarray,
) -> tuple[float, float, float]:
    """The greatest belief: exact among listed groups; of drawn ones chosen by every other draw, and told by the others."""
    exact = float(belief[(looked & listed)[block]].max(initial=0.0))
    drawn = (looked & ~listed & (accepted > 0).all(axis=0))[block]
    if not drawn.any():
        return exact, exact, exact
    first = np.where(drawn[:, None], counts[0] / np.maximum(accepted[0][block], 1)[:, None], -1)
    person, value = np.unravel_index(int(first.argmax()), first.shape)
    hits, tried = int(counts[1, person, value]), int(accepted[1, block[person]])
    low, high = wilson(hits, tried)
    return max(exact, hits / tried), max(exact, low), max(exact, high)
