"""Random tables, roles, hierarchies and promises for the property tests: plain data, the one place they are drawn.

A table is `Table(rows, columns, sensitive)`: rows are dicts (null is None), `columns` maps each name to a dict with
`role`, `kind` ("numeric" | "ordinal" | "date" | "categorical"), `hierarchy` (ARX rows, leaf first, `*` last, or None)
and `order` (the values of an ordinal column, least first, or None).  A promise is a dict: `model` and its parameters.
"""

from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal

from hypothesis import strategies as st

AWKWARD = ["*", "[1, 2]", "{a, b}", '"quoted"', "a, b", "null", "", " ", "NA", "[", "{}", "ä;ö", "1e5", "\\", "true"]
"""Values that collide with the grammar of labels, or that a careless reader takes for something else."""


@dataclass(frozen=True)
class Table:
    rows: list[dict]
    columns: dict[str, dict]
    sensitive: str = "s"
    quasi: list[str] = field(default_factory=list)

    def column(self, name: str) -> list:
        return [row[name] for row in self.rows]


def names(prefix: str, least: int, most: int) -> st.SearchStrategy[list[str]]:
    """Distinct values with a common prefix."""
    return st.integers(least, most).map(lambda count: [f"{prefix}{i}" for i in range(count)])


@st.composite
def trees(draw: st.DrawFn, leaves: list[str], most_levels: int = 3) -> list[list[str]]:
    """A random hierarchy over the leaves, in random leaf order: rows of one length, each node's parent fixed."""
    paths = [[leaf] for leaf in draw(st.permutations(leaves))]
    nodes = [path[0] for path in paths]
    for level in range(1, draw(st.integers(1, most_levels))):
        count = draw(st.integers(1, len(nodes)))
        parent = {node: f"n{level}.{draw(st.integers(0, count - 1))}" for node in nodes}
        for path in paths:
            path.append(parent[path[-1]])
        nodes = sorted(set(parent.values()))
    return [[*path, "*"] for path in paths]


def with_missing(values: st.SearchStrategy, missing: bool) -> st.SearchStrategy:
    return st.one_of(values, values, values, st.none()) if missing else values


@st.composite
def quasi_columns(draw: st.DrawFn, missing: bool = True, awkward: bool = False) -> tuple[dict, st.SearchStrategy]:
    """A quasi-identifier: its description and the strategy of its cells."""
    kind = draw(st.sampled_from(["numeric", "ordinal", "date", "categorical", "tree"]))
    order = hierarchy = None
    if kind == "numeric":
        scale = draw(st.sampled_from([1, 0.1, 2.5, -3]))
        cells = st.integers(0, draw(st.integers(0, 12))).map(lambda i: i * scale)
    elif kind == "date":
        cells = st.integers(0, 40).map(lambda i: date.fromordinal(738_000 + 11 * i))
    else:
        values = draw(names("v", 1, 6))
        if awkward:
            values += draw(st.lists(st.sampled_from(AWKWARD), max_size=3, unique=True))
        cells = st.sampled_from(values)
        if kind == "ordinal":
            order = draw(st.permutations(values))
        if kind == "tree":
            kind = "categorical"
            hierarchy = draw(trees(values))
    description = {"role": "quasi-identifying", "kind": kind, "hierarchy": hierarchy, "order": order}
    return description, with_missing(cells, missing and draw(st.booleans()))


@st.composite
def tables(
    draw: st.DrawFn,
    least_rows: int = 1,
    most_rows: int = 40,
    most_quasi: int = 3,
    missing: bool = True,
    missing_sensitive: bool = False,
    awkward: bool = False,
    carried: bool = False,
) -> Table:
    """A table with one to `most_quasi` quasi-identifiers `q0, q1, ...`, a sensitive column `s` and, if asked for, a
    carried one `c`.  Cells come from a small pool, so that equal rows are common.
    """
    columns = {}
    cells = {}
    for i in range(draw(st.integers(1, most_quasi))):
        columns[f"q{i}"], cells[f"q{i}"] = draw(quasi_columns(missing, awkward))
    quasi = list(columns)
    values = draw(names("s", 1, 6))
    hierarchy = draw(st.one_of(st.none(), trees(values)))
    columns["s"] = {"role": "sensitive", "kind": "categorical", "hierarchy": hierarchy, "order": None}
    cells["s"] = with_missing(st.sampled_from(values), missing_sensitive)
    if carried:
        columns["c"] = {"role": "insensitive", "kind": "categorical", "hierarchy": None, "order": None}
        cells["c"] = st.sampled_from(["c0", "c1"])
    rows = draw(st.lists(st.fixed_dictionaries(cells), min_size=least_rows, max_size=most_rows))
    return Table(rows, columns, "s", quasi)


def histograms(
    most_groups: int = 5, most_values: int = 5, most_count: int = 6, null: bool = False
) -> st.SearchStrategy[list[dict]]:
    """Groups as histograms of a sensitive column: no group is empty."""
    values = st.sampled_from([f"s{i}" for i in range(most_values)] + ([None] if null else []))
    group = st.dictionaries(values, st.integers(1, most_count), min_size=1, max_size=most_values)
    return st.lists(group, min_size=1, max_size=most_groups)


def decimals(least: str, most: str, places: int = 2) -> st.SearchStrategy[Decimal]:
    return st.decimals(Decimal(least), Decimal(most), allow_nan=False, allow_infinity=False, places=places)


PARAMETERS: dict[str, dict[str, st.SearchStrategy]] = {
    "k-anonymity": {"k": st.integers(2, 6)},
    "alpha-k-anonymity": {"alpha": decimals("0.1", "1"), "k": st.integers(2, 6)},
    "distinct-l-diversity": {"l": st.integers(2, 4)},
    "probabilistic-l-diversity": {"l": st.integers(2, 4)},
    "entropy-l-diversity": {"l": st.one_of(st.integers(2, 4), decimals("1.1", "4"))},
    "recursive-l-diversity": {"c": decimals("0.1", "4"), "l": st.integers(2, 4)},
    "t-closeness": {"t": decimals("0.01", "1"), "distance": st.sampled_from(["equal", "ordered", "hierarchical"])},
    "delta-disclosure": {
        "delta": decimals("0.05", "4"),
        "absent": st.sampled_from(["break", "ignore"]),
        "base": st.sampled_from(["e", 2]),
    },
    "beta-likeness": {"beta": decimals("0.1", "5"), "enhanced": st.booleans(), "two_sided": st.booleans()},
}
"""Every grouped promise of the job file with the strategy of each of its parameters."""


@st.composite
def promises(draw: st.DrawFn, models: list[str] | None = None, hierarchical: bool = True) -> dict:
    """One promise.  `hierarchical=False` where the sensitive column has no tree."""
    model = draw(st.sampled_from(models or sorted(PARAMETERS)))
    promise = {"model": model, **{name: draw(values) for name, values in PARAMETERS[model].items()}}
    if not hierarchical and promise.get("distance") == "hierarchical":
        promise["distance"] = "equal"
    return promise


def conjunctions(models: list[str] | None = None, hierarchical: bool = True) -> st.SearchStrategy[list[dict]]:
    """One to three promises, each of another model."""
    one = promises(models, hierarchical)
    return st.lists(one, min_size=1, max_size=3, unique_by=lambda promise: promise["model"])


def for_the_oracle(table: Table, promises: list[dict]) -> list[dict]:
    """Promises with what the oracle needs of a sensitive column's hierarchy: the tree, or the order of its leaves."""
    tree = table.columns[table.sensitive]["hierarchy"]
    known = {} if tree is None else {"hierarchical": {"tree": tree}, "ordered": {"order": pre_order(tree)}}
    return [{**promise, **known.get(promise.get("distance"), {})} for promise in promises]


def pre_order(rows: list[list[str]], level: int = -1) -> list[str]:
    """The leaves, those under one node together, nodes in the order in which the rows name them."""
    if level == -len(rows[0]):
        return [row[0] for row in rows]
    nodes = dict.fromkeys(row[level] for row in rows)
    return [leaf for node in nodes for leaf in pre_order([row for row in rows if row[level] == node], level - 1)]
