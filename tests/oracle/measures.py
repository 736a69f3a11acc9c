"""Every promise by its job name: what a table of groups achieves, and whether a promise holds.

`groups` is a list of histograms (`groups.histograms`).  The reference distribution is the published table's, the sum
of all groups.  Parameters bear their job names; a float is read as it is written.  `distance="ordered"` takes `order`
(the domain, least first), `distance="hierarchical"` takes `tree` (ARX rows).  A missing sensitive value is judged both
ways, see `groups.views`.  `k-map` counts a population under labels: `k_map`.
"""

from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction

from tests.oracle import closeness, diversity, likeness
from tests.oracle.groups import overall, views
from tests.oracle.labels import Column, covers
from tests.oracle.logarithm import exact

Histogram = Mapping[Hashable, int]


def k_anonymity(groups: Sequence[Histogram]) -> int:
    """The size of the smallest group.  Rows are counted whether or not their sensitive value is known."""
    return min(sum(group.values()) for group in groups)


def alpha(groups: Sequence[Histogram]) -> Fraction:
    return max(diversity.greatest_frequency(group) for view in views(groups) for group in view)


def distinct_l(groups: Sequence[Histogram]) -> int:
    return min(diversity.distinct(group) for view in views(groups) for group in view)


def probabilistic_l(groups: Sequence[Histogram]) -> Fraction:
    return min(diversity.probabilistic(group) for view in views(groups) for group in view)


def entropy_l(groups: Sequence[Histogram]) -> float:
    """For display; `holds` decides in integers."""
    return min(diversity.entropy(group) for view in views(groups) for group in view)


def recursive_c(groups: Sequence[Histogram], l: int) -> Fraction | None:  # noqa: E741 - the field's own letter
    """The least c at this l; None where none holds."""
    found = [diversity.recursive(group, l) for view in views(groups) for group in view]
    return None if None in found else max(found)


def t_closeness(
    groups: Sequence[Histogram],
    distance: str = "equal",
    order: Sequence[Hashable] | None = None,
    tree: Sequence[Sequence[str]] | None = None,
) -> Fraction:
    further = {"equal": (), "ordered": (order,), "hierarchical": (tree,)}[distance]
    measure = getattr(closeness, distance)
    return max(measure(group, reference, *further) for group, reference in _with_reference(groups))


def beta(groups: Sequence[Histogram], *, enhanced: bool = True, two_sided: bool = False) -> Fraction | None:
    """The least beta; None where none holds."""
    pairs = _with_reference(groups)
    found = [likeness.beta_achieved(g, r, enhanced=enhanced, two_sided=two_sided) for g, r in pairs]
    return None if None in found else max(found)


def delta(groups: Sequence[Histogram], *, absent: str = "break", base: object = "e") -> float | None:
    """Every greater delta holds; None where none does."""
    found = [likeness.delta_achieved(g, r, absent=absent, base=base) for g, r in _with_reference(groups)]
    return None if None in found else max(found)


def k_map(labels: Sequence[tuple[str | None, ...]], population: Sequence[tuple], columns: Sequence[Column]) -> int:
    """The least number of people of the population whom one published label tuple covers (Sweeney 2002)."""
    return min(
        sum(
            all(covers(label, column, cell) for label, column, cell in zip(tuple_, columns, person, strict=True))
            for person in population
        )
        for tuple_ in set(labels)
    )


def holds(model: str, groups: Sequence[Histogram], **asked: object) -> bool:
    """Whether the promise `model` with its job parameters is kept by these groups."""
    number = {name: exact(asked[name]) for name in ("k", "alpha", "l", "c", "t", "beta", "delta") if name in asked}
    if model == "k-anonymity":
        return k_anonymity(groups) >= number["k"]
    if model == "alpha-k-anonymity":
        return k_anonymity(groups) >= number["k"] and alpha(groups) <= number["alpha"]
    if model == "distinct-l-diversity":
        return distinct_l(groups) >= number["l"]
    if model == "probabilistic-l-diversity":
        return probabilistic_l(groups) >= number["l"]
    if model == "entropy-l-diversity":
        return all(diversity.entropy_holds(group, number["l"]) for view in views(groups) for group in view)
    if model == "recursive-l-diversity":
        least = recursive_c(groups, int(number["l"]))
        return least is not None and least <= number["c"]
    if model == "t-closeness":
        domain = {name: asked[name] for name in ("distance", "order", "tree") if name in asked}
        return t_closeness(groups, **domain) <= number["t"]
    if model == "beta-likeness":
        form = {name: asked[name] for name in ("enhanced", "two_sided") if name in asked}
        return all(likeness.beta_holds(g, r, number["beta"], **form) for g, r in _with_reference(groups))
    if model == "delta-disclosure":
        form = {name: asked[name] for name in ("absent", "base") if name in asked}
        return all(likeness.delta_holds(g, r, number["delta"], **form) for g, r in _with_reference(groups))
    raise ValueError(f"the oracle knows no promise named {model!r}")


def all_hold(groups: Sequence[Histogram], promises: Sequence[Mapping[str, object]]) -> bool:
    """A conjunction: each promise is a mapping with `model` and its parameters."""
    return all(holds(**{**promise, "groups": groups}) for promise in promises)


def achieved(
    groups: Sequence[Histogram],
    order: Sequence[Hashable] | None = None,
    tree: Sequence[Sequence[str]] | None = None,
) -> dict[str, object]:
    """The audit's table of measures, by the names it uses.  None where no parameter would hold."""
    table: dict[str, object] = {
        "k-anonymity": k_anonymity(groups),
        "alpha": alpha(groups),
        "distinct-l-diversity": distinct_l(groups),
        "probabilistic-l-diversity": probabilistic_l(groups),
        "entropy-l-diversity": entropy_l(groups),
        "t-closeness-equal": t_closeness(groups),
        "t-closeness-ordered": t_closeness(groups, "ordered", order=order),
        "beta-likeness-basic": beta(groups, enhanced=False),
        "beta-likeness-enhanced": beta(groups),
        "delta-disclosure": delta(groups),
    }
    if tree is not None:
        table["t-closeness-hierarchical"] = t_closeness(groups, "hierarchical", tree=tree)
    return table


def _with_reference(groups: Sequence[Histogram]) -> list[tuple[dict, dict]]:
    """Every group with its reference, in both views.  A group of nulls alone says nothing once they are removed."""
    pairs = []
    for view in views(groups):
        reference = dict(overall(view))
        pairs += [(group, reference) for group in view if group]
    return pairs
