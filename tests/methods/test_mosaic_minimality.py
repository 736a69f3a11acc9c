"""What an adversary gains who knows the method: small tables, every candidate table re-run, posteriors exact.

The adversary knows every row's quasi-identifiers, the promise, the method and even its seed, and sees the release.  Each
assignment of the published sensitive values to the rows is as likely as another; those whose release differs are ruled out.
docs/methods/mosaic.md quotes the figures asserted here.
"""

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from reticent.data.cells import build_cells
from reticent.data.domain import build_range_domain, build_tree_domain
from reticent.data.hierarchy import Hierarchy
from reticent.methods.mosaic import Mosaic
from reticent.models.beta_likeness import BetaLikeness
from reticent.models.k_anonymity import KAnonymity
from reticent.models.l_diversity import ProbabilisticLDiversity
from reticent.models.promise import Promises
from reticent.randomness import Random
from reticent.recipe.group_labels import merge_equal_labels

LINE = build_range_domain("q", "numeric", "Int64", list("0123456789"), np.arange(10), null=False)
VALUES = build_tree_domain("s", "String", Hierarchy.flat(list("abc")), null=False, is_from_steward=True)


def release(points: tuple[int, ...], values: tuple[int, ...], promise: object) -> tuple:
    """What is published: for each label the counts of each value."""
    cells = build_cells(
        (LINE,),
        (VALUES,),
        np.array(points, np.int32)[:, None],
        np.array(values, np.int32)[:, None],
        np.ones(len(points), np.int64),
    )[0]
    recipe = merge_equal_labels(
        Mosaic(effort="quick", threads=1).plan(cells, Promises.from_iterable([promise]), Random.from_seed(1))
    )[0]
    lower, upper = recipe.find_spans()
    counts = recipe.as_groups().histogram(0)
    return tuple(
        sorted(
            (int(lo), int(hi), *map(int, held)) for lo, hi, held in zip(lower[:, 0], upper[:, 0], counts, strict=True)
        )
    )


def consistent(points: tuple[int, ...], values: tuple[int, ...], seen: tuple) -> bool:
    """Whether rows with these values could have been published so, by an adversary who knows no method: each row has a
    place in some group that covers it."""
    if not seen:
        return not points
    (lo, hi, *held), rest = seen[0], seen[1:]
    return any(
        consistent(tuple(points[i] for i in out), tuple(values[i] for i in out), rest)
        for chosen, out in _choices(points, values, lo, hi, held)
    )


def _choices(points: tuple[int, ...], values: tuple[int, ...], lo: int, hi: int, held: list[int]):
    size = sum(held)
    for mask in range(1 << len(points)):
        chosen = [i for i in range(len(points)) if mask >> i & 1]
        fits = len(chosen) == size and all(lo <= points[i] <= hi for i in chosen)
        if fits and Counter(values[i] for i in chosen) == Counter({v: n for v, n in enumerate(held) if n}):
            yield chosen, [i for i in range(len(points)) if not mask >> i & 1]


def posterior(tables: list[tuple[int, ...]]) -> Fraction:
    """The surest guess about any row."""
    most = max(max(Counter(column).values()) for column in zip(*tables, strict=True))
    return Fraction(most, len(tables))


def attacked(promise: object, number: int) -> list[tuple[Fraction, Fraction, int]]:
    """(posterior knowing the method, posterior not knowing it, tables) of every release of one set of rows."""
    draw = np.random.default_rng(number)
    points = tuple(sorted(draw.integers(0, 10, 6).tolist()))
    tables = sorted(set(permutations((0, 0, 1, 1, 2, 2))))
    by_release = defaultdict(list)
    for values in tables:
        by_release[release(points, values, promise)].append(values)
    return [
        (posterior(same), posterior([t for t in tables if consistent(points, t, seen)]), len(same))
        for seen, same in by_release.items()
    ]


@pytest.mark.parametrize(
    ("promise", "promised", "quoted"),
    [
        (ProbabilisticLDiversity(2), Fraction(1, 2), (0.548, 0.674, 0.49)),
        (BetaLikeness(1, enhanced=False), Fraction(2, 3), (0.569, 0.663, 0.29)),
    ],
    ids=["probabilistic", "beta"],
)
def test_knowing_the_method_adds_to_what_a_release_tells_and_can_exceed_the_promise(
    promise: object, promised: Fraction, quoted: tuple[float, float, float]
):
    found = [entry for number in range(6) for entry in attacked(promise, number)]
    tables = sum(count for _, _, count in found)
    knowing = sum(float(known) * count for known, _, count in found) / tables
    unknowing = sum(float(naive) * count for _, naive, count in found) / tables
    assert knowing > unknowing + 0.05
    assert max(known for known, _, _ in found) > promised
    exceeding = sum(count for known, _, count in found if known > promised) / tables
    assert (round(unknowing, 3), round(knowing, 3), round(exceeding, 2)) == quoted


def test_for_k_alone_boxes_do_not_depend_on_the_sensitive_values():
    draw = np.random.default_rng(0)
    points = tuple(sorted(draw.integers(0, 10, 6).tolist()))
    boxes = {
        tuple((lo, hi, sum(held)) for lo, hi, *held in release(points, values, KAnonymity(2)))
        for values in set(permutations((0, 0, 1, 1, 2, 2)))
    }
    assert len(boxes) == 1
