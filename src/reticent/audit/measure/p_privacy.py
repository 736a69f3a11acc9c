"""P-privacy (Koudas, Srivastava, Yu & Zhang, VLDB 2009, definition 3.2), recounted in whole numbers for every group.

With m(N) the published values at and below a node, definition 3.2 requires: of what the children of N hold together,
each child C holds its share w(C) / W(N). Then the target is compared with the one that the promise names, where that
can be computed: declared curves from the domain alone, the table's own distribution where the source is at hand, a
file's weights where the job is. The distance is exact. Targets that cannot be compared here are counted.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import exp
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from reticent.audit.groups import Evidence, Judgement, TargetedGroups
from reticent.audit.measure.counts import compare_ln, parse_parameter
from reticent.errors import BundleDamaged, ReticentError
from reticent.format.schema_checks import parse_fraction
from reticent.limits import read_text_file

CHUNK_CELLS = 1 << 22
NINTH_DIGIT = Fraction(1, 10**9)


def judge_p_privacy(parameters: Mapping[str, Any], evidence: Evidence, column: str | None) -> Judgement:
    """Judge P-privacy: every group follows its target, and the target is the one that is promised."""
    targeted = evidence.targeted
    if targeted is None:
        raise BundleDamaged(
            "P-privacy is kept by a transformed release alone.",
            why="It is about the target distribution that each group states, and this table states none.",
            attempt=evidence.suggest_promise(),
        )
    broken = count_not_private(targeted)
    believed = max(max(shares) for shares in targeted.shares)
    stated = _list_stated_targets(parameters.get("target", "source"), targeted)
    distance = _measure_named_distance(stated, evidence, evidence.column(column).name)
    achieved: dict[str, Any] = {"alpha": believed, "groups_off_target": broken}
    if distance is not None:
        achieved["distance"] = distance
    uncompared = _count_uncompared(parameters.get("target", "source"), stated, evidence)
    if uncompared:
        achieved["targets_not_compared"] = uncompared
    allowed = _bound_drawing_error(parameters, targeted)
    if not parameters.get("exact", False):
        allowed += parse_parameter(parameters.get("distance", "1/20"))
    table = _compute_source_masses(evidence, evidence.column(column).name)
    named = all(are_nearest_kept(target, shares, table) for target, shares in stated)
    is_near = distance is None or distance <= allowed
    return Judgement(achieved, not broken and named and is_near)


def count_not_private(targeted: TargetedGroups) -> int:
    """Count the groups that do not follow their target."""
    nodes = len(targeted.parent)
    broken = 0
    group = np.unique(targeted.group)
    groups_per_chunk = max(CHUNK_CELLS // nodes, 1)
    for target in range(len(targeted.weights)):
        group_numbers = group[targeted.target[group] == target]
        for start in range(0, len(group_numbers), groups_per_chunk):
            broken += _count_off_target(
                targeted, group_numbers[start : start + groups_per_chunk], targeted.weights[target]
            )
    return broken


def are_nearest_kept(target: Any, targets: Sequence[Sequence[Fraction]], table: Sequence[Fraction] | None) -> bool:
    """Whether targets that should keep a classic promise do.

    t and beta are against the table, and count as kept where it is not at hand.
    """
    promised = target.get("nearest") if isinstance(target, Mapping) else None
    if promised is None:
        return True
    if promised["model"] == "probabilistic-l-diversity":
        return all(max(shares) * parse_parameter(promised["l"]) <= 1 for shares in targets)
    if table is None:
        return True
    base = [count / sum(table) for count in table]
    if promised["model"] == "t-closeness":
        ordered = promised.get("distance", "equal") == "ordered"
        return all(_measure_moved_mass(shares, base, ordered) <= parse_parameter(promised["t"]) for shares in targets)
    beta = parse_parameter(promised["beta"])
    enhanced = bool(promised.get("enhanced", True))
    gains = [(p, q / p - 1) for shares in targets for p, q in zip(base, shares, strict=True) if p]
    absent = any(q for shares in targets for p, q in zip(base, shares, strict=True) if not p)
    return not absent and all(g <= beta and (not enhanced or g <= 0 or compare_ln(1 / p, g) >= 0) for p, g in gains)


def compute_declared_masses(target: Mapping[str, Any], values: Sequence[str]) -> list[Fraction]:
    """Compute a curve over the domain by its formula; weights are as listed."""
    kind, declared = next(iter(target.items()))
    if kind == "weights":
        listed = {str(value): parse_parameter(weight) for value, weight in declared.items()}
        if not set(listed) <= set(values):  # spelled otherwise: 3 and 3.0 are one number
            return _match_listed_weights(listed, values)
        return [listed.get(text, Fraction(0)) for text in values]
    if kind == "zipf":
        return [Fraction((place + 1) ** -float(parse_parameter(declared["s"]))) for place in range(len(values))]
    mean = float(parse_parameter(declared["mean"]))
    std = float(parse_parameter(declared["std"]))
    density = [exp(-(((float(text) - mean) / std) ** 2) / 2) for text in values]
    return [Fraction(max(height, max(density) * 1e-9)) for height in density]


def read_target_files(promises: Iterable[Any]) -> dict[str, dict[str, Fraction]]:
    """Read the weights in the files that promises of a job name as targets; by the last part of their paths.

    A file that cannot be read, and two of one name that differ, are left out.
    """
    weights_by_name: dict[str, dict[str, Fraction]] = {}
    ambiguous = set()
    for path in _list_target_files([getattr(promise, "target", None) for promise in promises]):
        weights = _read_target_file(path)
        if weights is not None and weights_by_name.setdefault(path.name, weights) != weights:
            ambiguous.add(path.name)
    return {name: weights for name, weights in weights_by_name.items() if name not in ambiguous}


def _list_target_files(targets: Iterable[Any]) -> Iterator[Path]:
    for target in targets:
        if isinstance(target, Mapping):
            if isinstance(target.get("file"), str | Path):
                yield Path(target["file"])
            yield from _list_target_files(target.values())


def _read_target_file(path: Path) -> dict[str, Fraction] | None:
    """Read a value and a weight from each line; None if it is not that."""
    try:
        lines = [line for line in read_text_file(path).splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError, ReticentError):
        return None
    for delimiter in (";", ",", "\t", "|"):
        rows = list(csv.reader(lines, delimiter=delimiter))
        if any(len(row) != 2 for row in rows):
            continue
        weights = [(value.strip(), _parse_weight(weight)) for value, weight in rows]
        if weights and weights[0][1] is None:
            weights = weights[1:]
        if weights and all(weight is not None for _, weight in weights):
            return {value: weight for value, weight in weights if weight is not None}
    return None


def _parse_weight(text: str) -> Fraction | None:
    try:
        return parse_fraction(text.strip())
    except (ValueError, TypeError, ArithmeticError):
        return None


def _count_uncompared(target: Any, stated: list[tuple[Any, list[Sequence[Fraction]]]], evidence: Evidence) -> int:
    """Count the targets that a promise names by a file, or by groups whose names are not known, and nothing compares."""
    if isinstance(target, Mapping) and "groups" in target and not stated:
        return len(target["groups"])
    return sum(
        isinstance(named, Mapping) and "file" in named and Path(str(named["file"])).name not in evidence.target_files
        for named, _ in stated
    )


def _list_stated_targets(target: Any, targeted: TargetedGroups) -> list[tuple[Any, list[Sequence[Fraction]]]]:
    """List each target that the promise names, by group where it does, with the different targets that groups have."""
    if not (isinstance(target, Mapping) and "groups" in target):
        return [(target, list(targeted.shares))]
    if targeted.names is None:
        return []
    pairs = {(name, int(targeted.target[group])) for group, name in targeted.names.items()}
    return [(target["groups"][name], [targeted.shares[number]]) for name, number in sorted(pairs)]


def _measure_named_distance(
    stated: list[tuple[Any, list[Sequence[Fraction]]]], evidence: Evidence, column: str
) -> Fraction | None:
    """Measure the greatest distance between a group's target and the one that the promise names.

    Return None where it cannot be computed here.
    """
    distances = []
    for target, targets in stated:
        wanted = _find_wanted_masses(target, evidence, column)
        if wanted is None:
            continue
        total = sum(wanted)
        for shares in targets:
            distance = sum((abs(p - w / total) for p, w in zip(shares, wanted, strict=True)), Fraction(0)) / 2
            distances.append(distance)
    return max(distances, default=None)


def _bound_drawing_error(parameters: Mapping[str, Any], targeted: TargetedGroups) -> Fraction:
    """Bound how far a declared curve may be off by being drawn.

    Each value is within half of the ninth digit of the greatest, so that the total variation is at most a digit for
    each value, the doubles of both formulas included.
    """
    target = parameters.get("target")
    listed = target["groups"].values() if isinstance(target, Mapping) and "groups" in target else [target]
    curve = any(isinstance(declared, Mapping) and bool(set(declared) & {"normal", "zipf"}) for declared in listed)
    return len(targeted.values) * NINTH_DIGIT if curve else Fraction(0)


def _compute_source_masses(evidence: Evidence, column: str) -> list[Fraction] | None:
    """Compute the source's own distribution over the domain; nothing is withheld from releases of this kind."""
    source = evidence.source
    if source is None or evidence.targeted is None or column not in source.frame.columns:
        return None
    times = np.ones(len(source.frame), np.int64) if source.times is None else source.times
    counted = pl.DataFrame({"value": source.frame[column].cast(pl.String), "times": times}).group_by("value").sum()
    numbers: dict[str, int] = dict(counted.iter_rows())
    texts = evidence.targeted.values
    if not set(numbers) <= set(texts):  # spelled otherwise: 3 and 3.0 are one number
        try:
            count_of_number: dict[Fraction, int] = {}
            for text, count in numbers.items():
                count_of_number[Fraction(text)] = count_of_number.get(Fraction(text), 0) + count
            return [Fraction(count_of_number.get(Fraction(text), 0)) for text in texts]
        except ValueError:
            return None
    return [Fraction(numbers.get(text, 0)) for text in texts]


def _count_off_target(targeted: TargetedGroups, groups: np.ndarray, weights: Sequence[int]) -> int:
    """Count groups off their target.

    A table of (groups, nodes) is added up towards the root, and every split is compared with its weights.
    """
    # Entries are in the order of their groups.
    window = slice(*np.searchsorted(targeted.group, [groups[0], groups[-1] + 1]))
    entries = np.flatnonzero(np.isin(targeted.group[window], groups)) + window.start
    below = np.zeros((len(groups), len(weights)), np.int64)
    below[np.searchsorted(groups, targeted.group[entries]), targeted.node[entries]] = targeted.count[entries]
    children: dict[int, list[int]] = {}
    for node, above in enumerate(targeted.parent.tolist()):
        if above >= 0:
            children.setdefault(above, []).append(node)
    off = np.zeros(len(groups), bool)
    large = max(weights) * int(targeted.count.sum()) * max(map(len, children.values()), default=1) >= 1 << 62
    for node in sorted(children, key=lambda node_number: -_find_depth(node_number, targeted.parent)):
        child_counts = below[:, children[node]]
        passed = child_counts.sum(axis=1)
        share = np.array([weights[child] for child in children[node]], object if large else np.int64)
        off |= (child_counts * share.sum() != passed[:, None] * share[None, :]).any(axis=1)
        below[:, node] += passed
    return int(off.sum())


def _measure_moved_mass(first: Sequence[Fraction], second: Sequence[Fraction], ordered: bool) -> Fraction:
    """Measure the earth mover's distance: half the sum of differences or, by order, the mean of the cumulated ones."""
    gaps = [a - b for a, b in zip(first, second, strict=True)]
    if not ordered:
        return sum(map(abs, gaps), Fraction(0)) / 2
    return sum((abs(sum(gaps[: index + 1], Fraction(0))) for index in range(len(gaps))), Fraction(0)) / (len(gaps) - 1)


def _match_listed_weights(listed: Mapping[str, Fraction], values: Sequence[str]) -> list[Fraction]:
    weight_of_number = {Fraction(text): weight for text, weight in listed.items()}
    return [weight_of_number.get(Fraction(text), Fraction(0)) for text in values]


def _find_wanted_masses(target: Any, evidence: Evidence, column: str) -> list[Fraction] | None:
    """Find the masses that a target asks for, over the domain; None where they cannot be computed here."""
    targeted = evidence.targeted
    if targeted is None:
        return None
    if target == "source":
        return _compute_source_masses(evidence, column)
    if target == "uniform":
        return [Fraction(1)] * len(targeted.values)
    if isinstance(target, Mapping) and set(target) & {"normal", "zipf", "weights"}:
        return compute_declared_masses(target, targeted.values)
    if isinstance(target, Mapping) and "file" in target:
        weights = evidence.target_files.get(Path(str(target["file"])).name)
        return None if weights is None else compute_declared_masses({"weights": weights}, targeted.values)
    return None


def _find_depth(node: int, parent: np.ndarray) -> int:
    depth = 0
    while parent[node] >= 0:
        node = int(parent[node])
        depth = depth + 1
    return depth
