"""Random cells for methods: plain NumPy, a table from each number."""

from collections import Counter

import numpy as np

from reticent.data.cells import Cells, build_cells
from reticent.data.domain import Domain, build_range_domain, build_tree_domain
from reticent.data.hierarchy import Hierarchy
from reticent.recipe.recipe import WITHHELD_GROUP, Recipe


def random_tree(rng: np.random.Generator, leaves: int, prefix: str) -> Hierarchy:
    """Two or three levels over leaves in order."""
    middle = np.sort(rng.integers(0, max(leaves // 2, 1), leaves))
    rows = [[f"{prefix}{i}", f"{prefix}-{middle[i]}", "*"] for i in range(leaves)]
    return Hierarchy.from_rows(rows)


def random_domain(rng: np.random.Generator, name: str, size: int) -> Domain:
    if rng.random() < 0.5:
        return build_range_domain(name, "numeric", "Int64", [str(i) for i in range(size)], np.arange(size), null=False)
    return build_tree_domain(name, "String", random_tree(rng, size, name), null=False, is_from_steward=True)


def random_cells(number: int, *, most_rows: int = 60, null: bool | None = None) -> Cells:
    """A table of 2 .. most_rows rows with skewed sensitive values, now and then missing."""
    rng = np.random.default_rng(number)
    rows = int(rng.integers(2, most_rows))
    columns = int(rng.integers(1, 4))
    values = int(rng.integers(2, 7))
    null = rng.random() < 0.3 if null is None else null
    quasi = tuple(random_domain(rng, f"q{i}", int(rng.integers(1, 8))) for i in range(columns))
    sensitive = build_tree_domain("s", "String", random_tree(rng, values, "s"), null=null, is_from_steward=True)
    weights = rng.random(values + null) ** 2 + 0.02
    codes = np.column_stack([rng.integers(0, domain.size, rows) for domain in quasi]).astype(np.int32)
    drawn = rng.choice(values + null, rows, p=weights / weights.sum())
    return build_cells(quasi, (sensitive,), codes, drawn[:, None].astype(np.int32), np.ones(rows, np.int64))[0]


def histograms(recipe: Recipe) -> list[Counter]:
    """Each class's sensitive values as the oracle takes them: texts, None for the null."""
    domain = recipe.cells.sensitive[0]
    texts = [*domain.texts, None]
    found: dict[int, Counter] = {}
    published = recipe.published_values[:, 0]
    for group, code, quota in zip(recipe.group.tolist(), published.tolist(), recipe.quota.tolist(), strict=True):
        if group != WITHHELD_GROUP:
            found.setdefault(group, Counter())[texts[code]] += quota
    return list(found.values())


def line(values: list[int], positions: list[int] | None = None) -> Cells:
    """One numeric quasi-identifier and a sensitive column."""
    rows = len(values)
    positions = list(range(rows)) if positions is None else positions
    domain = build_range_domain(
        "x", "numeric", "Int64", [str(i) for i in range(max(positions) + 1)], np.arange(max(positions) + 1), null=False
    )
    flat = build_tree_domain(
        "s", "String", Hierarchy.flat([f"v{i}" for i in range(max(values) + 1)]), null=False, is_from_steward=False
    )
    return build_cells(
        (domain,),
        (flat,),
        np.array(positions, np.int32)[:, None],
        np.array(values, np.int32)[:, None],
        np.ones(rows, np.int64),
    )[0]
