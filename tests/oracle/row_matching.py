"""Does each published row stand for a source row of its own?  A perfect matching, by groups.

Source rows are `(cells, sensitive)`, published rows `(labels, sensitive)`.  A published row may stand for a source row
that its labels cover and whose sensitive value it bears.  Equal rows are counted together, and augmenting paths fill
the bipartite graph; `withheld` source rows may be left over, no more and no fewer.
"""

from collections import Counter, deque
from collections.abc import Hashable, Sequence

from tests.oracle.labels import Column, covers


def matched_rows(
    source: Sequence[tuple[tuple, Hashable]],
    published: Sequence[tuple[tuple, Hashable]],
    columns: Sequence[Column],
    same_sensitive: bool = True,
) -> int:
    """The greatest number of published rows that can be given source rows of their own."""
    supply = Counter(source)
    demand = Counter(published)
    links = {
        theirs: [ours for ours in supply if _may_stand_for(theirs, ours, columns, same_sensitive)] for theirs in demand
    }
    return _maximum_flow(demand, supply, links)


def is_covering(
    source: Sequence[tuple[tuple, Hashable]],
    published: Sequence[tuple[tuple, Hashable]],
    columns: Sequence[Column],
    withheld: int = 0,
    same_sensitive: bool = True,
) -> bool:
    complete = len(source) == len(published) + withheld
    return complete and matched_rows(source, published, columns, same_sensitive) == len(published)


def _may_stand_for(published: tuple, source: tuple, columns: Sequence[Column], same_sensitive: bool) -> bool:
    if same_sensitive and published[1] != source[1]:
        return False
    triples = zip(published[0], columns, source[0], strict=True)
    return all(covers(label, column, cell) for label, column, cell in triples)


def _maximum_flow(left: Counter, right: Counter, links: dict) -> int:
    """Shortest augmenting paths from unused left to unused right capacity."""
    flow: Counter = Counter()
    spare_left = Counter(left)
    spare_right = Counter(right)
    while True:
        path = _augmenting_path(spare_left, spare_right, links, flow)
        if path is None:
            _certify(flow, left, right, links)
            return sum(flow.values())
        pushed = min(spare_left[path[0]], spare_right[path[-1]])
        for i in range(1, len(path) - 1, 2):
            pushed = min(pushed, flow[path[i + 1], path[i]])
        for i in range(0, len(path) - 1, 2):
            flow[path[i], path[i + 1]] += pushed
        for i in range(1, len(path) - 1, 2):
            flow[path[i + 1], path[i]] -= pushed
        spare_left[path[0]] -= pushed
        spare_right[path[-1]] -= pushed


def _certify(flow: Counter, left: Counter, right: Counter, links: dict) -> None:
    """A matching is only worth its proof: along links alone, nothing negative, nobody used twice."""
    used_left = Counter()
    used_right = Counter()
    for (one, other), amount in flow.items():
        assert amount >= 0 and (amount == 0 or other in links[one])
        used_left[one] += amount
        used_right[other] += amount
    assert used_left <= left and used_right <= right


def _augmenting_path(spare_left: Counter, spare_right: Counter, links: dict, flow: Counter) -> list | None:
    """left, right, left, ..., right: along any link, back along one in use."""
    queue = deque([node] for node, spare in spare_left.items() if spare > 0)
    seen_left = {path[0] for path in queue}
    seen_right = set()
    while queue:
        path = queue.popleft()
        for right in links[path[-1]]:
            if right in seen_right:
                continue
            seen_right.add(right)
            if spare_right[right] > 0:
                return [*path, right]
            for left in links:
                if left not in seen_left and flow[left, right] > 0:
                    seen_left.add(left)
                    queue.append([*path, right, left])
    return None
