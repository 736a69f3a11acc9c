"""False associations: people who change places, rows that move to other groups, random groups; and what is possible, by brute force.

A forgery gives other tables for a release, and every count in them fits.  Each oracle tries all ways in which the source's rows could
stand behind the published ones; it reads the tables alone and imports nothing of the package.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product

import numpy as np
import polars as pl

QUASI = ("age", "zone")
ILLNESSES = ("cold", "flu", "gout", "mumps")
Tables = dict[str, pl.DataFrame]
Forgery = Callable[[Tables, np.random.Generator], Tables | None]
Person = tuple[int, int, str]


def make_people(draw: np.random.Generator) -> pl.DataFrame:
    """A few people; ages and zones repeat, and illnesses go with them."""
    rows = int(draw.integers(6, 15))
    age = draw.integers(1, 5, rows)
    illness = (age + draw.integers(0, 3, rows)) % len(ILLNESSES)
    return pl.DataFrame(
        {"age": age, "zone": draw.integers(1, 4, rows), "illness": [ILLNESSES[place] for place in illness]}
    )


def people_of(source: pl.DataFrame) -> list[Person]:
    return [(row["age"], row["zone"], row["illness"]) for row in source.iter_rows(named=True)]


# --- tables with a group and its values apart ---


def _sorted_rows(rows: pl.DataFrame, group: Sequence[int]) -> pl.DataFrame:
    return rows.with_columns(pl.Series("group", group, dtype=pl.Int32)).sort("group", *QUASI)


def exchange_groups(tables: Tables, draw: np.random.Generator) -> Tables | None:
    """Two people of different groups change places."""
    group = tables["quasi"]["group"].to_list()
    pairs = [(a, b) for a, b in product(range(len(group)), repeat=2) if group[a] < group[b]]
    if not pairs:
        return None
    one, other = pairs[draw.integers(len(pairs))]
    group[one], group[other] = group[other], group[one]
    return {**tables, "quasi": _sorted_rows(tables["quasi"], group)}


def draw_groups(tables: Tables, draw: np.random.Generator) -> Tables | None:
    """Everybody is in a group at random; groups are as large as before."""
    group = draw.permutation(tables["quasi"]["group"].to_numpy()).tolist()
    return {**tables, "quasi": _sorted_rows(tables["quasi"], group)}


def _listed(sensitive: pl.DataFrame) -> Counter[tuple[int, str]]:
    rows = sensitive.select("group", "illness", "count").iter_rows()
    return Counter({(group, value): count for group, value, count in rows})


def _sensitive(listed: Mapping[tuple[int, str], int]) -> pl.DataFrame:
    rows = sorted((group, value, count) for (group, value), count in listed.items() if count)
    schema = {"group": pl.Int32, "illness": pl.String, "count": pl.Int32}
    return pl.DataFrame(rows, schema=schema, orient="row")


def exchange_listed_values(tables: Tables, draw: np.random.Generator) -> Tables | None:
    """Two groups exchange a value."""
    listed = _listed(tables["sensitive"])
    entries = sorted(listed)
    pairs = [(a, b) for a, b in product(entries, repeat=2) if a[0] < b[0] and a[1] != b[1]]
    if not pairs:
        return None
    one, other = pairs[draw.integers(len(pairs))]
    listed[one] -= 1
    listed[other] -= 1
    listed[one[0], other[1]] += 1
    listed[other[0], one[1]] += 1
    return {**tables, "sensitive": _sensitive(listed)}


def move_row(tables: Tables, draw: np.random.Generator) -> Tables | None:
    """A row, and some value of its group, go to another group."""
    rows = tables["quasi"]
    listed = _listed(tables["sensitive"])
    group = rows["group"].to_list()
    sizes = Counter(group)
    movable = [place for place, number in enumerate(group) if sizes[number] > 2]
    if not movable or len(sizes) < 2:
        return None
    place = movable[draw.integers(len(movable))]
    left = group[place]
    target = [number for number in sizes if number != left][draw.integers(len(sizes) - 1)]
    value = [value for (number, value), count in sorted(listed.items()) if number == left and count]
    moved = value[draw.integers(len(value))]
    listed[left, moved] -= 1
    listed[target, moved] += 1
    group[place] = target
    return {**tables, "quasi": _sorted_rows(rows, group), "sensitive": _sensitive(listed)}


def is_assignable(people: Sequence[Person], tables: Tables) -> bool:
    """Whether the people can stand in the groups: every way to give a group's values to its rows is tried."""
    left = Counter(people)
    groups: dict[int, tuple[list[tuple[int, int]], list[str]]] = {}
    for age, zone, number in tables["quasi"].select(*QUASI, "group").iter_rows():
        groups.setdefault(number, ([], []))[0].append((age, zone))
    for (number, value), count in _listed(tables["sensitive"]).items():
        groups.setdefault(number, ([], []))[1].extend([value] * count)
    order = [groups[number] for number in sorted(groups)]

    def give(place: int, row: int, values: list[str]) -> bool:
        if place == len(order):
            return True
        rows = order[place][0]
        if row == len(rows):
            return not values and give(place + 1, 0, list(order[place + 1][1]) if place + 1 < len(order) else [])
        for value in sorted(set(values)):
            person = (*rows[row], value)
            if left[person]:
                left[person] -= 1
                rest = list(values)
                rest.remove(value)
                if give(place, row + 1, rest):
                    left[person] += 1
                    return True
                left[person] += 1
        return False

    return give(0, 0, list(order[0][1]))


def is_diverse(tables: Tables, l: int) -> bool:  # noqa: E741  the field's own letter
    listed = _listed(tables["sensitive"])
    sizes = Counter(tables["quasi"]["group"].to_list())
    return all(count * l <= sizes[number] for (number, _), count in listed.items())


def are_transformed(people: Sequence[Person], tables: Tables) -> bool:
    """Whether each zone is one group, and every person has a node of their own that covers their value."""
    zones: dict[int, set[int]] = {}
    numbers: dict[int, set[int]] = {}
    held: dict[int, list[str]] = {}
    rows: Counter[tuple[int, int]] = Counter()
    for age, zone, number in tables["quasi"].select(*QUASI, "group").iter_rows():
        zones.setdefault(number, set()).add(zone)
        numbers.setdefault(zone, set()).add(number)
        rows[age, zone] += 1
    if any(len(several) > 1 for several in (*zones.values(), *numbers.values())):
        return False
    if rows != Counter((age, zone) for age, zone, _ in people):
        return False
    for _, zone, value in people:
        held.setdefault(next(iter(numbers[zone])), []).append(value)
    for number, values in held.items():
        nodes: list[tuple[str, str]] = []
        for low, high, count in tables["sensitive"].filter(group=number).select("lower", "upper", "count").iter_rows():
            nodes += [(low, high)] * count
        fits = [[place for place, (low, high) in enumerate(nodes) if low <= value <= high] for value in values]
        if match_all(fits) < len(values):
            return False
    return True


def exchange_nodes(tables: Tables, draw: np.random.Generator) -> Tables | None:
    """Two groups exchange all of their values."""
    numbers = sorted(set(tables["quasi"]["group"].to_list()))
    sizes = Counter(tables["quasi"]["group"].to_list())
    pairs = [(a, b) for a, b in product(numbers, repeat=2) if a < b and sizes[a] == sizes[b]]
    if not pairs:
        return None
    one, other = pairs[draw.integers(len(pairs))]
    swapped = tables["sensitive"].with_columns(pl.col("group").replace({one: other, other: one}))
    place = {value: at for at, value in enumerate(sorted(ILLNESSES))}
    order = [pl.col(name).replace_strict(place, return_dtype=pl.Int64) for name in ("lower", "upper")]
    return {**tables, "sensitive": swapped.sort("group", *order)}


# --- tables of one row for each person, or for each group ---


def exchange_column(column: str) -> Forgery:
    """Two rows exchange what they show in a column."""

    def forge(tables: Tables, draw: np.random.Generator) -> Tables | None:
        rows = tables["data"]
        shown = rows[column].to_list()
        pairs = [(a, b) for a, b in product(range(len(shown)), repeat=2) if a < b and shown[a] != shown[b]]
        if not pairs:
            return None
        one, other = pairs[draw.integers(len(pairs))]
        shown[one], shown[other] = shown[other], shown[one]
        return {"data": rows.with_columns(pl.Series(column, shown, dtype=rows[column].dtype))}

    return forge


def shuffle_column(column: str) -> Forgery:
    def forge(tables: Tables, draw: np.random.Generator) -> Tables | None:
        rows = tables["data"]
        order = draw.permutation(len(rows)).tolist()
        return {"data": rows.with_columns(rows[column].gather(order))}

    return forge


def move_to_another_group(tables: Tables, draw: np.random.Generator) -> Tables | None:
    """A row gets the quasi-identifiers of another one."""
    rows = tables["data"]
    shown = rows.select(QUASI).rows()
    pairs = [(a, b) for a, b in product(range(len(shown)), repeat=2) if shown[a] != shown[b]]
    if not pairs:
        return None
    one, other = pairs[draw.integers(len(pairs))]
    shown[one] = shown[other]
    columns = list(zip(*shown, strict=True))
    return {
        "data": rows.with_columns(
            pl.Series(name, list(values), dtype=rows[name].dtype) for name, values in zip(QUASI, columns, strict=True)
        )
    }


def move_person(tables: Tables, draw: np.random.Generator) -> Tables | None:
    """A group has one person more, and another one fewer."""
    rows = tables["data"]
    sizes = rows["G"].to_list()
    large = [place for place, size in enumerate(sizes) if size > 2]
    if not large or len(sizes) < 2:
        return None
    one = large[draw.integers(len(large))]
    other = [place for place in range(len(sizes)) if place != one][draw.integers(len(sizes) - 1)]
    sizes[one] -= 1
    sizes[other] += 1
    return {"data": rows.with_columns(pl.Series("G", sizes, dtype=rows["G"].dtype))}


def read_label(label: object) -> tuple[float, float]:
    """The least and the greatest number that a label covers."""
    if label == "*":
        return -np.inf, np.inf
    ends = [float(end) for end in re.findall(r"-?\d+(?:\.\d+)?", str(label))]
    return min(ends), max(ends)


def covers(row: Mapping[str, object], person: Person) -> bool:
    ends = [read_label(row[name]) for name in QUASI]
    return all(low <= person[place] <= high for place, (low, high) in enumerate(ends))


def match_all(fits: Sequence[Iterable[int]]) -> int:
    """How many of the left side find a partner of their own (augmenting paths)."""
    partner: dict[int, int] = {}

    def augment(left: int, seen: set[int]) -> bool:
        for right in fits[left]:
            if right not in seen:
                seen.add(right)
                if right not in partner or augment(partner[right], seen):
                    partner[right] = left
                    return True
        return False

    return sum(augment(left, set()) for left in range(len(fits)))


def are_generalized(people: Sequence[Person], tables: Tables) -> bool:
    """Whether each published row stands for a person of its own."""
    rows = list(tables["data"].iter_rows(named=True))
    fits = [
        [place for place, person in enumerate(people) if person[2] == row["illness"] and covers(row, person)]
        for row in rows
    ]
    return match_all(fits) == len(rows)


def are_anonymous(tables: Tables, k: int) -> bool:
    return min(Counter(tables["data"].select(QUASI).rows()).values()) >= k


def are_shown(people: Sequence[Person], tables: Tables) -> bool:
    """Whether the published quasi-identifiers are those of the people."""
    return Counter(tables["data"].select(QUASI).rows()) == Counter((age, zone) for age, zone, _ in people)


def are_sampled(people: Sequence[Person], tables: Tables) -> bool:
    """Whether every person is under one label, every label over as many as its rows say, and half of them are drawn (k = 2)."""
    labels = list(tables["data"].group_by("age", "zone", "G").len("rows").iter_rows(named=True))
    over = [[person for person in people if covers(label, person)] for label in labels]
    alone = all(sum(covers(label, person) for label in labels) == 1 for person in people)
    return alone and all(
        len(some) == label["G"] and label["rows"] == label["G"] // 2 for some, label in zip(over, labels, strict=True)
    )


FORGERIES: dict[str, dict[str, Forgery]] = {
    "generalized": {
        "people who change places": exchange_column("illness"),
        "a row that moves to another group": move_to_another_group,
        "values at random": shuffle_column("illness"),
        "groups at random": shuffle_column("zone"),
    },
    "anatomized": {
        "people who change places": exchange_groups,
        "values that change places": exchange_listed_values,
        "a row that moves to another group": move_row,
        "groups at random": draw_groups,
    },
    "perturbed": {
        "people who change places": exchange_column("zone"),
        "a row that moves to another group": move_to_another_group,
        "groups at random": shuffle_column("age"),
    },
    "transformed": {
        "people who change places": exchange_groups,
        "values that change places": exchange_nodes,
        "groups at random": draw_groups,
    },
    "sampled": {
        "people who change places": exchange_column("age"),
        "a person who moves to another group": move_person,
        "groups at random": shuffle_column("zone"),
    },
}
POSSIBLE: dict[str, Callable[[Sequence[Person], Tables], bool]] = {
    "generalized": are_generalized,
    "anatomized": is_assignable,
    "perturbed": are_shown,
    "transformed": are_transformed,
    "sampled": are_sampled,
}
