"""Auditor of transformed releases: the three files must belong together, and measures are those of the groups' targets.

A group is the rows with one number in `quasi`; the distribution of their values is the group's target, if its nodes in
`sensitive` follow it (`measure/p_privacy.py`). Every measure is that of the targets (`measure_targets`), t and beta
against all groups' targets together. Shares are exact fractions where they decide a promise (alpha, l); a mixture of
many targets is reported by the nearest doubles.

`count_faulty_bounds` recomputes the table `bounds` from `sensitive`: each row, and that no slope changes between two
rows.

`GeneralizationCheck` compares with the source: each group's published nodes must be a generalization of its people's
values (definition 3.1), the rest fakes. A group's people are known, because quasi-identifiers are exact and people who
agree in all of them are in one group. Nodes form a tree, so that a matching is found from the leaves up: a value takes
the lowest node that is left, the rest goes on to the parent, and at the root nothing may be left. Nodes that no value
takes are fakes, of which there may be as many as the method declares.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import exp, lcm, log
from pathlib import Path
from typing import Any, cast

import numpy as np
import polars as pl

from reticent.audit.groups import SensitiveColumn, TargetedGroups
from reticent.audit.kind import (
    EXACT_QUASI_NOTE,
    PublishedSourceValues,
    RecomputedRelease,
    SourceFinding,
    SourceMatching,
    should_read_rows,
)
from reticent.audit.measure.counts import GroupCounts, parse_parameter
from reticent.audit.order import read_row_batches, require_sorted_rows
from reticent.audit.remainder import LOST_LINK, format_lost_share
from reticent.audit.row_matching import LinkedRows, link_rows, make_exact_keys
from reticent.audit.source_comparison import SourceComparison, convert_source
from reticent.audit.subject import Subject
from reticent.audit.transformed_groups import (
    ROWS_COLUMN,
    count_combinations,
    require_declared_groups,
    require_known_groups,
)
from reticent.data.columns import Role
from reticent.data.label_grammar import ANY_LABEL, format_range_label, format_set_label, format_value_label
from reticent.errors import BundleDamaged, RequestError, pluralize
from reticent.estimate.guaranteed_bounds import (
    COUNT_COLUMN,
    GROUP_COLUMN,
    SELECTED_COLUMN,
    AnnotatedHierarchy,
    find_nodes,
)
from reticent.exact_arithmetic import find_common_denominator, floor_shares, is_whole
from reticent.format.data_files import count_distinct_rows, read_data
from reticent.format.manifest import Manifest
from reticent.format.schema_checks import parse_fraction
from reticent.release.kind import find_data_files, list_schemas, reader_for

_MAX_SUM = 1 << 62
CHUNK_CELLS = 1 << 22  # groups times nodes that are matched together


@dataclass(frozen=True, slots=True)
class TransformedAuditor:
    """The `Auditor` of transformed releases."""

    def recount(self, subject: Subject, *, each_row: bool, thorough: bool) -> RecomputedRelease:
        manifest, folder = _require_manifest(subject)
        files = find_data_files(folder, manifest)
        schemas = list_schemas(manifest)
        sensitive = read_data(files["sensitive"], schemas["sensitive"])
        bounds = read_data(files["bounds"], schemas["bounds"])
        quasi = [column.name for column in subject.quasi]
        row_by_row = should_read_rows(subject, files["quasi"], schemas["quasi"], each_row=each_row, thorough=thorough)
        if row_by_row:
            rows_with_group = read_data(files["quasi"], schemas["quasi"])
            times = None
            frame = rows_with_group
            group = frame[GROUP_COLUMN]
        else:
            names = [*quasi, GROUP_COLUMN]
            rows_with_group, times = count_distinct_rows(files["quasi"], schemas["quasi"], only=names)
            frame = rows_with_group.drop(GROUP_COLUMN)
            group = read_data(files["quasi"], schemas["quasi"], only=[GROUP_COLUMN])[GROUP_COLUMN]
        checked = {"quasi": group.to_frame(), "sensitive": sensitive, "bounds": bounds}
        reader_for(subject.kind).check_tables(checked, manifest)
        annotated = AnnotatedHierarchy.from_manifest(manifest)
        rows = _count_group_rows(group, manifest.rows)
        combinations = count_combinations(rows_with_group, quasi, times)
        class_sizes = combinations[ROWS_COLUMN].to_numpy()
        require_declared_groups(combinations, rows, manifest.method.parameters)
        targeted = _read_targeted_groups(annotated, sensitive, rows)
        group_names = require_known_groups(files["quasi"], schemas["quasi"], manifest, len(rows))
        targeted = replace(targeted, names=group_names)
        _require_node_labels(annotated, sensitive, targeted, manifest)
        if faults := count_faulty_bounds(bounds, sensitive, rows, manifest):
            raise BundleDamaged(
                "The bounds of the release are not those of its values.",
                why=f"{pluralize(faults, 'row', 'differs', 'differ')}.",
            )
        if thorough:
            pieces = [frame] if row_by_row else read_row_batches(files["quasi"], schemas["quasi"])
            require_sorted_rows(subject, pieces, frame)
        name = manifest.sensitive.name
        column = SensitiveColumn(name, make_target_views(targeted), None)
        achieved = {"k-anonymity": int(class_sizes.min()), **measure_targets(targeted, manifest.sensitive.type)}
        utility = {**_measure_ranges(annotated, targeted, manifest), "c_avg": float(rows.mean())}
        domain = pl.DataFrame({name: reader_for(subject.kind).domain({}, manifest)})
        return RecomputedRelease(
            subject=subject,
            frame=frame,
            class_sizes=class_sizes,
            sizes=rows,
            sensitive=[column],
            measures=achieved,
            utility=utility,
            times=times,
            notes=(EXACT_QUASI_NOTE,),
            targeted=targeted,
            other_tables={"sensitive": sensitive, "bounds": bounds, "domain": domain},
        )

    def describe_sensitive_loss(self, rows: int, utility: Mapping[str, Any]) -> str:
        """Describe what is lost of sensitive values."""
        return f"{LOST_LINK}, as nodes or ranges, and {format_lost_share(float(utility['fakes']))} of these are fakes."

    def match(self, recount: RecomputedRelease, source: SourceComparison) -> SourceMatching:
        """Match rows by all columns of `quasi`; compare a group's values with those of the people who are in it."""
        subject = recount.subject
        names = [column.name for column in subject.columns if column.role != Role.SENSITIVE]
        name = subject.find_columns_with_role(Role.SENSITIVE)[0].name
        published_values = PublishedSourceValues(source, [entry.name for entry in subject.quasi])
        generalization = GeneralizationCheck(recount)
        unmatched = 0
        for ours, theirs in source.parts(
            make_exact_keys(subject.columns, names), [entry.name for entry in subject.columns]
        ):
            converted = convert_source(theirs.frame, subject.columns)
            link = link_rows(ours, converted, theirs, names)
            unmatched += link.unmatched
            published_values.add(theirs, link.stray)
            generalization.add(link, ours.frame[GROUP_COLUMN], converted.frame[name].filter(converted.readable))
        return SourceMatching(unmatched, published_values.values, findings=generalization.findings())


def count_faulty_bounds(bounds: pl.DataFrame, sensitive: pl.DataFrame, rows: np.ndarray, manifest: Manifest) -> int:
    """Count the rows of `bounds` that differ from the definition, are in another order, or are missing."""
    if sum(bounds[name].null_count() for name in bounds.columns):
        return len(bounds)
    group = bounds[GROUP_COLUMN].to_numpy().astype(np.int64)
    selected = bounds[SELECTED_COLUMN].to_numpy().astype(np.int64)
    ascending = (np.diff(group) > 0) | ((np.diff(group) == 0) & (np.diff(selected) > 0))
    fits = (group >= 0) & (group < len(rows))
    if not ascending.all() or not fits.all() or (selected < 1).any() or (selected > rows[group]).any():
        return len(bounds)
    if manifest.sensitive.type != "numeric":
        is_complete = np.array_equal(group, np.arange(len(rows))) and np.array_equal(selected, rows)
        return 0 if is_complete else max(len(bounds), len(rows))
    return _count_wrong_numbers(bounds, sensitive, rows, group, selected)


class TooFineCounts(list):
    """Stands for counts that do not fit 64 bits: any access is refused."""

    def __getitem__(self, index: Any) -> Any:
        raise RequestError(
            "The targets of this release are too fine to judge this promise of them.", attempt="its own p-privacy."
        )

    def __iter__(self) -> Iterator[Any]:
        return self[0]


def make_target_views(targeted: TargetedGroups) -> list[GroupCounts]:
    """Count the groups as if their values were spread by their targets, in whole numbers: a row for each target."""
    rows = np.bincount(targeted.target, weights=targeted.rows, minlength=len(targeted.shares)).astype(np.int64).tolist()
    unit = 1
    for shares in targeted.shares:
        unit = lcm(unit, find_common_denominator(shares))
        if unit * sum(rows) >= _MAX_SUM:
            return TooFineCounts()
    table = np.array(
        [[int(share * unit) * n for share in shares] for shares, n in zip(targeted.shares, rows, strict=True)], np.int64
    )
    group, value = np.nonzero(table)
    return [GroupCounts(group.astype(np.int64), value.astype(np.int64), table[group, value], table.sum(axis=0))]


def measure_targets(targeted: TargetedGroups, kind: str) -> dict[str, Any]:
    """Measure what the targets achieve by the classic measures; t and beta against all groups' targets together."""
    alpha = max(max(shares) for shares in targeted.shares)
    table = np.array([[float(share) for share in shares] for shares in targeted.shares])
    rows = np.bincount(targeted.target, weights=targeted.rows, minlength=len(table))
    overall = rows @ table / rows.sum()
    difference = table - overall if len(table) > 1 else np.zeros_like(table)
    measures: dict[str, Any] = {
        "alpha": alpha,
        "distinct-l-diversity": min(sum(share > 0 for share in shares) for shares in targeted.shares),
        "probabilistic-l-diversity": Fraction(1) / alpha,
        "entropy-l-diversity": min(exp(-sum(p * log(p) for p in row if p > 0)) for row in table.tolist()),
        "t-closeness-equal": float(np.abs(difference).sum(axis=1).max() / 2),
        "t-closeness-ordered": float(
            np.abs(np.cumsum(difference, axis=1)).sum(axis=1).max() / max(table.shape[1] - 1, 1)
        ),
        "beta-likeness-basic": float(np.max(np.where(overall > 0, difference / np.where(overall > 0, overall, 1), 0))),
    }
    if kind == "categorical":
        del measures["t-closeness-ordered"]
    return measures


class GeneralizationCheck:
    """Collects the people of each group and the values they hold, from one part of the rows after another."""

    def __init__(self, recount: RecomputedRelease):
        # Only a transformed release comes here.
        assert recount.targeted is not None and recount.subject.manifest is not None
        self.recount = recount
        self.targeted = recount.targeted
        self.method = recount.subject.manifest.method.parameters
        self.scattered = 0
        self.foreign = 0
        self.pairs = np.zeros(0, np.int64)
        self.count = np.zeros(0, np.int64)

    def add(self, link: LinkedRows, rows: pl.Series, people: pl.Series) -> None:
        """Add rows with their group, and the value of each of the `people` whose row can be read."""
        group = rows.to_numpy().astype(np.int64)
        times = link.rows[1].multiplicities[link.readable]
        lowest = np.full(link.size, np.iinfo(np.int64).max)
        highest = np.full(link.size, -1)
        np.minimum.at(lowest, link.ours, group)
        np.maximum.at(highest, link.ours, group)
        theirs = highest[link.theirs]
        self.scattered += int(times[(lowest[link.theirs] != theirs) & (theirs >= 0)].sum())
        value = _find_domain_places(self.targeted, people)
        self.foreign += int(times[(value < 0) & (theirs >= 0)].sum())
        is_placed = (theirs >= 0) & (value >= 0)
        pairs = np.concatenate([self.pairs, theirs[is_placed] * len(self.targeted.values) + value[is_placed]])
        self.pairs, code = np.unique(pairs, return_inverse=True)
        weights = np.concatenate([self.count, times[is_placed]])
        self.count = np.bincount(code, weights=weights, minlength=len(self.pairs)).astype(np.int64)

    def findings(self) -> tuple[SourceFinding, ...]:
        """Judge all that was added: values without a node, scattered people, excess fakes, and targets."""
        targeted = self.targeted
        group, value = np.divmod(self.pairs, len(targeted.values))
        unmatched = _count_unmatched_people(targeted, group, value, self.count)
        excess = _count_excess_values(targeted, parse_parameter(self.method.get("fakes", 0)))
        fine = not (self.scattered or unmatched or self.foreign or excess)
        without_node = unmatched + self.foreign
        facts = {
            "values_without_node": without_node,
            "scattered_people": self.scattered,
            "fakes_beyond_declared": excess,
        }
        return (
            SourceFinding(
                "generalization",
                fine,
                facts,
                f"people have {pluralize(without_node, 'value')} without a node in their group; the release has {pluralize(excess, 'fake')} more than declared",
            ),
            *_compare_targets(self.recount, targeted, self.method, (group, value, self.count)),
        )


def _require_manifest(subject: Subject) -> tuple[Manifest, Path]:
    if subject.manifest is None or subject.path is None:
        raise BundleDamaged("A transformed release is a folder of three files.")
    return subject.manifest, subject.path


def _count_group_rows(group: pl.Series, stated: int) -> np.ndarray:
    """Count the rows of each group; groups are numbered from 0, and none may be left out."""
    if len(group) != stated or not stated:
        raise _make_mismatch_error(f"The data has {len(group)} rows, the manifest says {stated}.")
    if group.null_count() or cast("int", group.min()) < 0:
        raise _make_mismatch_error("A row has no group.")
    rows = np.bincount(group.to_numpy())
    if (rows == 0).any():
        raise _make_mismatch_error(f"{pluralize(int((rows == 0).sum()), 'group', 'has', 'have')} no rows.")
    return rows


def _read_targeted_groups(annotated: AnnotatedHierarchy, sensitive: pl.DataFrame, rows: np.ndarray) -> TargetedGroups:
    if (
        sum(sensitive[name].null_count() for name in sensitive.columns)
        or not len(sensitive)
        or (sensitive[COUNT_COLUMN] < 1).any()
    ):
        raise _make_mismatch_error("A value of a group is missing, or its count is not positive.")
    group = sensitive[GROUP_COLUMN].to_numpy().astype(np.int64)
    count = sensitive[COUNT_COLUMN].to_numpy().astype(np.int64)
    node = find_nodes(annotated, sensitive)
    if (node < 0).any():
        raise _make_mismatch_error(f"{int((node < 0).sum())} entries are no nodes of the hierarchy.")
    if group.min() < 0 or group.max() >= len(rows):
        raise _make_mismatch_error("`sensitive` has groups that `quasi` lacks.")
    short = int((np.bincount(group, weights=count, minlength=len(rows)) < rows).sum())
    if short:
        raise _make_mismatch_error(f"{pluralize(short, 'group', 'has', 'have')} fewer values than rows.")
    if int(annotated.assigned[-1, 0]) >= len(rows):
        raise _make_mismatch_error("A target is assigned to a group that no row has.")
    shares = [annotated.distribution(target) for target in range(len(annotated.weights))]
    target = annotated.find_targets(np.arange(len(rows)))
    return TargetedGroups(
        group, node, count, annotated.parent, annotated.weights, target, shares, rows, annotated.texts
    )


def _require_node_labels(
    annotated: AnnotatedHierarchy, sensitive: pl.DataFrame, targeted: TargetedGroups, manifest: Manifest
) -> None:
    """Require that labels are those of their nodes, and that each entry is listed once, in order.

    Entries are sorted by group and by the first and last value of the node.
    """
    first = annotated.first[targeted.node]
    last = annotated.last[targeted.node]
    order = np.lexsort((last, first, targeted.group))
    key = targeted.group * len(annotated.first) + targeted.node
    if (np.diff(order) != 1).any() or len(np.unique(key)) != len(key):
        raise _make_mismatch_error(
            "The groups' values are not listed once each, sorted by group and value: another order can say more."
        )
    numeric = manifest.sensitive.type == "numeric"
    labels = {node: _format_node_label(annotated, node, numeric) for node in np.unique(targeted.node).tolist()}
    wrong_labels = sum(
        labels[node] != label
        for node, label in set(zip(targeted.node.tolist(), sensitive["label"].to_list(), strict=True))
    )
    if wrong_labels:
        raise _make_mismatch_error(
            f"{pluralize(wrong_labels, 'label', 'is not that of its value', 'are not those of their values')}."
        )


def _measure_ranges(annotated: AnnotatedHierarchy, targeted: TargetedGroups, manifest: Manifest) -> dict[str, float]:
    """Compute the sum of ranges (problem 4.1) and the share of fakes among the published values."""
    if manifest.sensitive.type == "numeric":
        place = np.array([float(parse_fraction(text)) for text in annotated.texts])
        node_range = place[annotated.last] - place[annotated.first]
    else:
        size = annotated.last - annotated.first + 1
        node_range = np.where(size > 1, size, 0)
    values = int(targeted.count.sum())
    return {
        "sum_of_ranges": float(node_range[targeted.node] @ targeted.count),
        "fakes": (values - int(targeted.rows.sum())) / values,
    }


def _count_wrong_numbers(
    bounds: pl.DataFrame, sensitive: pl.DataFrame, rows: np.ndarray, group: np.ndarray, selected: np.ndarray
) -> int:
    """Count the rows of numeric `bounds` with a wrong number, and those that are missing or too many.

    A row is needed for all rows of a group, and wherever the slope of a sum changes.
    """
    low_scale, low = _convert_to_units(sensitive["lower"])
    high_scale, high = _convert_to_units(sensitive["upper"])
    scale = max(low_scale, high_scale)
    low = low * (scale // low_scale)
    high = high * (scale // high_scale)
    of_entry = sensitive[GROUP_COLUMN].to_numpy().astype(np.int64)
    count = sensitive[COUNT_COLUMN].to_numpy().astype(np.int64)
    rising = np.lexsort((low, of_entry))
    falling = np.lexsort((-high, of_entry))
    sum_lower, max_lower, slope_lower = _sum_first_values(
        of_entry[rising], low[rising], count[rising], group, selected, rows
    )
    sum_upper, min_upper, slope_upper = _sum_first_values(
        of_entry[falling], high[falling], count[falling], group, selected, rows
    )
    expected = {
        "sum_lower": sum_lower,
        "sum_upper": sum_upper,
        "min_lower": _find_group_extremes(of_entry, low, np.minimum)[group],
        "min_upper": min_upper,
        "max_lower": max_lower,
        "max_upper": _find_group_extremes(of_entry, high, np.maximum)[group],
    }
    is_wrong = np.zeros(len(bounds), bool)
    for name, values in expected.items():
        is_wrong |= ~_match_numbers(bounds[name], values, scale, name)
    width = int(rows.max()) + 1
    slopes = [of_group * width + position for of_group, position in (slope_lower, slope_upper)]
    needed = np.unique(np.concatenate([*slopes, np.arange(len(rows)) * width + rows]))
    return int(is_wrong.sum()) + len(np.setxor1d(needed, group * width + selected, assume_unique=True))


def _find_domain_places(targeted: TargetedGroups, people: pl.Series) -> np.ndarray:
    """Find the place of each value in the domain, -1 where it is not in it."""
    place_of_text: dict[Any, int] = {text: place for place, text in enumerate(targeted.values)}
    distinct = people.unique().drop_nulls()
    texts = distinct.cast(pl.String).to_list()
    if people.dtype.is_numeric() and not set(texts) <= set(place_of_text):
        numbers = {Fraction(text): place for text, place in place_of_text.items()}
        places = [numbers.get(Fraction(text), -1) for text in texts]
    else:
        places = [place_of_text.get(text, -1) for text in texts]
    return people.replace_strict(
        distinct, pl.Series(places, dtype=pl.Int64), default=-1, return_dtype=pl.Int64
    ).to_numpy()


def _count_unmatched_people(targeted: TargetedGroups, group: np.ndarray, value: np.ndarray, count: np.ndarray) -> int:
    """Count the people for whom no node is left; `count` people of a group have a value, sorted by group."""
    nodes = len(targeted.parent)
    groups = len(targeted.rows)
    leaf = _find_leaves(targeted)
    depth = np.zeros(nodes, np.int64)
    for node, above in enumerate(targeted.parent.tolist()):
        depth[node] = depth[above] + 1 if above >= 0 else 0
    order = np.argsort(-depth, kind="stable").tolist()
    unmatched = 0
    groups_per_chunk = max(CHUNK_CELLS // nodes, 1)
    for start in range(0, groups, groups_per_chunk):
        people_entries = slice(*np.searchsorted(group, [start, start + groups_per_chunk]))
        node_entries = slice(*np.searchsorted(targeted.group, [start, start + groups_per_chunk]))
        shape = (min(groups_per_chunk, groups - start), nodes)
        waiting = np.zeros(shape, np.int64)
        free = np.zeros(shape, np.int64)
        np.add.at(waiting, (group[people_entries] - start, leaf[value[people_entries]]), count[people_entries])
        free[targeted.group[node_entries] - start, targeted.node[node_entries]] = targeted.count[node_entries]
        for node in order:
            excess = np.maximum(waiting[:, node] - free[:, node], 0)
            if targeted.parent[node] < 0:
                unmatched += int(excess.sum())
            else:
                waiting[:, targeted.parent[node]] += excess
    return unmatched


def _count_excess_values(targeted: TargetedGroups, fakes: Fraction) -> int:
    """Count values beyond rows that are more than the method may add to a group."""
    rows = targeted.rows
    extra = np.bincount(targeted.group, weights=targeted.count, minlength=len(rows)).astype(np.int64) - rows
    allowed = np.full(len(rows), int(fakes)) if fakes >= 1 else floor_shares(rows, fakes)
    return int(np.maximum(extra - allowed, 0).sum())


def _compare_targets(
    recount: RecomputedRelease,
    targeted: TargetedGroups,
    method: Mapping[str, Any],
    people: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> tuple[SourceFinding, ...]:
    """Where each group's own distribution is the target, measure how far the published target is from it.

    Subgroups have the target of the group that they are cut from, and are taken together. A promise may name targets
    by group: of these, the groups whose target is their own are compared.
    """
    promised: Mapping[str, Any] = next((p.parameters for p in recount.subject.promises if p.name == "p-privacy"), {})
    group, value, count = people
    by_group = method.get("within", "sa-only") == "sa-only"
    part_of_group = _number_own_targets(promised.get("target"), targeted, by_group=by_group)
    if part_of_group is None:
        return ()
    part = part_of_group[group]
    allowed = Fraction(0) if promised.get("exact", False) else parse_parameter(promised.get("distance", "1/20"))
    worst = Fraction(0)
    size = len(targeted.values)
    for number in np.unique(part[part >= 0]).tolist():
        value_counts = (
            np.bincount(value[part == number], weights=count[part == number], minlength=size).astype(np.int64).tolist()
        )
        rows = sum(value_counts)
        for target in np.unique(targeted.target[part_of_group == number]).tolist():
            shares = targeted.shares[target]
            distance = (
                sum((abs(p - Fraction(h, rows)) for p, h in zip(shares, value_counts, strict=True)), Fraction(0)) / 2
            )
            worst = max(worst, distance)
    sentence = (
        f"every target is within {float(worst):.3g} of its group's own distribution; {float(allowed):.3g} is declared"
    )
    return (SourceFinding("targets", worst <= allowed, {"target_distance": float(worst)}, sentence),)


def _number_own_targets(target: Any, targeted: TargetedGroups, *, by_group: bool) -> np.ndarray | None:
    """Number the parts whose own distribution is their target, for each group; -1 where the target is another.

    None if no group's is.
    """
    groups = np.arange(len(targeted.target))
    if target == "group":
        return groups if by_group else targeted.target
    if not isinstance(target, Mapping) or "groups" not in target or targeted.names is None:
        return None
    own_names = sorted(name for name, named in target["groups"].items() if named == "group")
    place = {name: number for number, name in enumerate(own_names)}
    if not place:
        return None
    return np.array([place.get(targeted.names.get(number, ""), -1) for number in groups.tolist()])


def _make_mismatch_error(why: str) -> BundleDamaged:
    return BundleDamaged("The files of the release do not belong together.", why=why)


def _format_node_label(annotated: AnnotatedHierarchy, node: int, numeric: bool) -> str:
    first = int(annotated.first[node])
    last = int(annotated.last[node])
    if first == last:
        return format_value_label(annotated.texts[first])
    if numeric:
        return format_range_label(annotated.texts[first], annotated.texts[last])
    covers_domain = last - first + 1 == len(annotated.texts)
    return ANY_LABEL if covers_domain else format_set_label(annotated.texts[first : last + 1])


def _convert_to_units(series: pl.Series) -> tuple[int, np.ndarray]:
    """Convert numbers to whole multiples of a decimal unit."""
    if series.dtype.is_integer():
        return 1, series.to_numpy().astype(np.int64)
    distinct = series.unique()
    numbers = {value: parse_fraction(text) for value, text in zip(distinct, distinct.cast(pl.String), strict=True)}
    scale = 1
    while not all(is_whole(scale * number) for number in numbers.values()):
        scale *= 10
    return scale, np.array([int(numbers[value] * scale) for value in series.to_list()], np.int64)


def _sum_first_values(
    of_entry: np.ndarray,
    value: np.ndarray,
    count: np.ndarray,
    group: np.ndarray,
    selected: np.ndarray,
    rows: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Compute, for each (group, selected), the sum of the first `selected` values and the last of them.

    Also return where the next value differs.
    """
    starts = np.searchsorted(of_entry, np.arange(len(rows)))
    until = np.cumsum(count)
    offset = np.append(0, until)[starts]
    place = np.searchsorted(until, offset[group] + selected)
    paid = np.append(0, np.cumsum(count * value))
    total = paid[place] - paid[starts[group]] + (offset[group] + selected - np.append(0, until)[place]) * value[place]
    inside = until - offset[of_entry]
    differs = np.append((of_entry[1:] == of_entry[:-1]) & (value[1:] != value[:-1]), False) & (inside < rows[of_entry])
    return total, value[place], (of_entry[differs], inside[differs])


def _find_group_extremes(of_entry: np.ndarray, value: np.ndarray, take: np.ufunc) -> np.ndarray:
    """Find the least or greatest value of each group; `take` is the minimum or maximum."""
    order = np.argsort(of_entry, kind="stable")
    return take.reduceat(value[order], np.flatnonzero(np.diff(of_entry[order], prepend=-1)))


def _match_numbers(series: pl.Series, values: np.ndarray, scale: int, name: str) -> np.ndarray:
    """Compare whole numbers exactly; others with the nearest double on the safe side, at most one further."""
    if series.dtype.is_integer():
        return series.to_numpy() == values
    published = series.to_numpy()
    near = values / scale
    if not name.startswith("sum"):
        return published == near
    outward = -np.inf if name.endswith("lower") else np.inf
    next_double = np.nextafter(near, outward)
    return np.where(values % scale == 0, published == near, published == next_double)


def _find_leaves(targeted: TargetedGroups) -> np.ndarray:
    """Find the node of each value: leaves from left to right, children in the order of their numbers."""
    children: dict[int, list[int]] = {}
    for node, above in enumerate(targeted.parent.tolist()):
        children.setdefault(above, []).append(node)
    leaves = []
    waiting = [children[-1][0]]
    while waiting:
        node = waiting.pop()
        if node in children:
            waiting += reversed(children[node])
        else:
            leaves.append(node)
    return np.array(leaves, np.int64)


AUDITOR = TransformedAuditor()
