"""Which rows a release may publish where columns withhold rows: from values alone, with nothing of ours.

`expected_counts` counts the rows that lack a value and, of the others, those beyond the most rows of a person.
`most_explained` says how many published rows the source can explain by rows of its own: each published row by a source row
that it covers, each source row once, and of each person at most so many. It is a greatest flow, by augmenting paths.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]


def is_missing(value: Any) -> bool:
    return value is None or value != value  # NaN is no value


def complete(rows: Sequence[Row], names: Sequence[str]) -> list[Row]:
    return [row for row in rows if not any(is_missing(row[name]) for name in names)]


def expected_counts(rows: Sequence[Row], names: Sequence[str], person: str | None, limit: int) -> tuple[int, int]:
    """(rows that lack a value, rows beyond `limit` of a person among the others)."""
    left = complete(rows, names)
    beyond = 0
    if person is not None:
        beyond = sum(max(0, times - limit) for times in Counter(row[person] for row in left).values())
    return len(rows) - len(left), beyond


def most_explained(
    published: Sequence[Row], source: Sequence[Row], covers: Callable[[Row, Row], bool], person: str | None, limit: int
) -> int:
    """The most published rows that can each have a source row of their own, no person more than `limit`."""
    room: dict[Any, dict[Any, int]] = {"begin": {}, "end": {}}

    def join(a: Any, b: Any, capacity: int) -> None:
        room.setdefault(a, {})[b] = capacity
        room.setdefault(b, {}).setdefault(a, 0)

    for number, theirs in enumerate(source):
        who = ("person", number if person is None else theirs[person])
        join(("theirs", number), who, 1)
        join(who, "end", limit if person is not None else 1)
    for number, ours in enumerate(published):
        join("begin", ("ours", number), 1)
        for place, theirs in enumerate(source):
            if covers(ours, theirs):
                join(("ours", number), ("theirs", place), 1)
    flow = 0
    while (path := _augmenting_path(room)) is not None:
        for a, b in path:
            room[a][b] -= 1
            room[b][a] += 1
        flow += 1
    return flow


def _augmenting_path(room: dict[Any, dict[Any, int]]) -> list[tuple[Any, Any]] | None:
    came_from: dict[Any, Any] = {"begin": None}
    queue = deque(["begin"])
    while queue:
        node = queue.popleft()
        if node == "end":
            path = []
            while came_from[node] is not None:
                path.append((came_from[node], node))
                node = came_from[node]
            return path
        for other, capacity in room[node].items():
            if capacity and other not in came_from:
                came_from[other] = node
                queue.append(other)
    return None
