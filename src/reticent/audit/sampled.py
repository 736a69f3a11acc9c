"""Auditor of sampled releases: disjoint boxes of at least k people, values of the domain, promises from the parameters.

The files show that labels are disjoint, that no group is smaller than k, that of each no more rows are published than
are drawn of it (one, or its size / k rounded down), and that p, k and the domain give what is promised; no file can show that values were drawn and perturbed so, and a promise that the parameters keep is
"undecided" (None). Compared with the source, every row must lie in exactly one box, G must be the number of rows that
do, and p, the domain and the groups' true values must explain the published values (`assess_draws` of
`measure/statistical_tests.py`): then the promise is kept, if so many groups would have shown values that were left as
they were, and still undecided if not. That cuts saw quasi-identifiers alone is stated by the manifest only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import exp
from typing import Any

import numpy as np
import polars as pl

from reticent.audit.groups import (
    NumberedColumn,
    SamplingParameters,
    group_rows,
    number_values,
    pack_columns,
    rank_in_order,
)
from reticent.audit.kind import PublishedSourceValues, RecomputedRelease, SourceFinding, SourceMatching
from reticent.audit.measure import corruption
from reticent.audit.measure.counts import parse_parameter
from reticent.audit.measure.statistical_tests import DrawAssessment, assess_draws
from reticent.audit.order import assess_order
from reticent.audit.source_comparison import ComparedRows, SourceComparison, convert_source, find_places
from reticent.audit.subject import Subject
from reticent.data.columns import Role
from reticent.data.parsing import parse_texts
from reticent.errors import BundleDamaged, pluralize
from reticent.format.manifest import ColumnEntry, Manifest, find_domain_declaration
from reticent.labels.cover import rebuild_hierarchy
from reticent.labels.crucial_tuple import LabelledColumn, find_crucial_rows, read_column, read_distinct_labels
from reticent.labels.label_loss import ColumnLabels, format_kept_share, make_tree_labels
from reticent.labels.scale import LeafExtents, TreeScale
from reticent.release.kind import read_tables
from reticent.utility import loss

SIZE_COLUMN = "G"


@dataclass(frozen=True, slots=True)
class SampledAuditor:
    """The `Auditor` of sampled releases."""

    def recount(self, subject: Subject, *, each_row: bool, thorough: bool) -> RecomputedRelease:
        manifest = subject.manifest
        if manifest is None or subject.path is None:
            raise BundleDamaged("A sampled release is a folder.")
        frame = read_tables(subject.path, manifest)["data"]
        if len(frame) != manifest.rows or not len(frame):
            raise BundleDamaged(f"The data has {len(frame)} rows, the manifest says {manifest.rows}.")
        row_sizes = _read_group_sizes(manifest, frame)
        labels = {column.name: number_values(frame[column.name]) for column in subject.quasi}
        drawn = _group_drawn_rows(manifest, list(labels.values()), row_sizes)
        sizes = row_sizes[drawn.first_row]
        try:
            columns = [
                read_distinct_labels(entry, labels[entry.name].codes[drawn.first_row], labels[entry.name].distinct)
                for entry in subject.quasi
            ]
        except (ValueError, RecursionError):  # Unreadable, or quoted and no JSON
            raise BundleDamaged("A column holds labels that its schema does not explain.") from None
        if find_crucial_rows(columns) is None:
            raise BundleDamaged(
                "Labels of two published rows cover the same person.",
                why="Groups of a sampled release are disjoint: the promise is about the rows of the one group that covers a person.",
            )
        sampling = _read_parameters(manifest)
        achieved = {"k-anonymity": int(sizes.min()) // manifest.rows_per_person, **_measure_achieved(subject, sampling)}
        losses = [_make_labels(column, sizes).measure_loss() for column in columns]
        utility = loss.compute_loss_measures(
            losses, sizes, withheld=subject.withheld, k=sampling.k, weights=subject.weights
        )
        utility |= {"retention": sampling.p, "published_share": len(frame) / int(sizes.sum())}
        if _draws_many(manifest):
            utility["rows_per_group"] = len(frame) / len(sizes)
        recomputed = RecomputedRelease(
            subject=subject,
            frame=frame,
            class_sizes=sizes,
            sizes=sizes,
            sensitive=[],
            measures=achieved,
            utility=utility,
            sampling=sampling,
            explained=frozenset(manifest.own["domain"]),
            labelled=False,
        )
        people = np.zeros(len(frame), np.int64)
        people[drawn.first_row] = sizes  # a group's people are counted once
        recomputed.__dict__.update(labels=labels, groups=group_rows(list(labels.values()), len(frame), people))
        return recomputed

    def describe_sensitive_loss(self, rows: int, utility: Mapping[str, Any]) -> str:
        """Describe what is lost of sensitive values."""
        published = f"One row of each group is published: {pluralize(rows, 'row')}"
        if "rows_per_group" in utility:
            published = f"Of each group a share of its rows is published, drawn at random: {pluralize(rows, 'row')}"
        if "published_share" in utility:
            published += f", {format_kept_share(float(utility['published_share']))} of them all"
        chance = format_kept_share(float(utility["retention"]))
        owner = "a row's" if "rows_per_group" in utility else "its"
        return (
            f"{published}; {owner} sensitive value is its own with a chance of {chance}, and drawn at random otherwise."
        )

    def match(self, recount: RecomputedRelease, source: SourceComparison) -> SourceMatching:
        """Match every source row with the one group that covers it, and test the published values."""
        subject = recount.subject
        frame = recount.frame
        assert subject.manifest is not None
        drawn = _group_drawn_rows(
            subject.manifest, list(recount.labels.values()), frame[SIZE_COLUMN].to_numpy().astype(np.int64)
        )
        group_labels = frame[drawn.first_row]
        sampling = recount.sampling
        assert sampling is not None
        rows = source.count_rows(
            [entry.name for entry in (*subject.quasi, *subject.find_columns_with_role(Role.SENSITIVE))]
        )
        people = [_replace_nan(rows.frame[entry.name]) for entry in subject.quasi]
        columns = [read_column(_rebuild_column(entry, source), group_labels[entry.name]) for entry in subject.quasi]
        owner = find_crucial_rows(columns, people)
        if owner is None:
            owner = np.full(len(rows), -1)
        covered = owner >= 0
        covered_rows = rows.tally(owner[covered], len(recount.sizes), covered)
        unmatched = int(np.abs(covered_rows - recount.sizes).sum())
        places = np.bincount(owner[covered], weights=rows.positions[covered], minlength=len(recount.sizes))
        source_values = _find_true_values(subject, rows)
        test = None
        if covered.all() and not unmatched:
            group_positions = _locate_groups(subject, rows, owner, recount.sizes)
            test = _assess_published_values(
                subject, frame, drawn.group_of_row, rows, source_values, owner, sampling, group_positions
            )
        holders = rows.tally(source_values[source_values >= 0], sampling.domain, source_values >= 0)
        proven: bool | None = test is not None and test.passed
        if test is not None and test.passed and not test.has_power:
            proven = None  # values left as they were would have passed too
        published_values = PublishedSourceValues(source, [entry.name for entry in subject.quasi])
        published_values.add(rows, ~covered)
        return SourceMatching(
            unmatched,
            published_values.values,
            assess_order((places / np.maximum(covered_rows, 1))[drawn.group_of_row]),
            findings=(_report_draws(test), *_check_domain(sampling, holders)),
            sampling=replace(
                sampling,
                proven=proven,
                fewest_holders=int(holders[holders > 0].min(initial=rows.rows)),
            ),
            missing=int(rows.multiplicities[~covered].sum()),
        )


def _read_group_sizes(manifest: Manifest, frame: pl.DataFrame) -> np.ndarray:
    """Read the size of each row's group; none may be smaller than k allows."""
    min_rows = manifest.own["k"] * manifest.rows_per_person
    small = int((frame[SIZE_COLUMN].fill_null(0) < min_rows).sum())
    if small:
        raise BundleDamaged(
            f"{pluralize(small, 'group', 'has', 'have')} fewer than {min_rows} rows, the least that k allows."
        )
    return frame[SIZE_COLUMN].to_numpy().astype(np.int64)


def _draws_many(manifest: Manifest) -> bool:
    """Whether the manifest says that its size / k rows are drawn of each group; without the word it is one."""
    return manifest.method.parameters.get("draw", "one") != "one"


@dataclass(frozen=True, eq=False)
class DrawnRows:
    """The published rows by group: the group of each row, and the first row of each group."""

    group_of_row: np.ndarray
    first_row: np.ndarray


def _group_drawn_rows(manifest: Manifest, labels: list[NumberedColumn], sizes: np.ndarray) -> DrawnRows:
    """Group rows by their labels; a group has no more of them than were drawn of so many people, and one size.

    Where one row of each is drawn every row is a group of its own, and equal labels are found to overlap.
    """
    if not _draws_many(manifest):
        rows = np.arange(len(sizes))
        return DrawnRows(rows, rows)
    _, first_row, group_of_row, rows_of_group = np.unique(
        pack_columns(labels, len(sizes)), return_index=True, return_inverse=True, return_counts=True
    )
    group_of_row = group_of_row.reshape(-1)
    allowed = sizes[first_row] // (int(manifest.own["k"]) * manifest.rows_per_person)
    wrong = rows_of_group != allowed
    wrong[group_of_row[sizes != sizes[first_row][group_of_row]]] = True
    if wrong.any():
        raise BundleDamaged(
            f"{pluralize(int(wrong.sum()), 'group', 'has', 'have')} another number of rows than are drawn of so many people, or rows "
            "that differ in their group's size.",
            why=f"Of a group of {SIZE_COLUMN} people {SIZE_COLUMN} / {int(manifest.own['k']) * manifest.rows_per_person} rows are drawn, rounded down: the promise is about so many.",
        )
    return DrawnRows(group_of_row, first_row)


def _read_parameters(manifest: Manifest) -> SamplingParameters:
    grouping = manifest.method.parameters.get("grouping", "mondrian")
    k = int(manifest.own["k"])
    return SamplingParameters(
        parse_parameter(manifest.own["p"]),
        k,
        len(manifest.own["domain"]),
        k if grouping == "mondrian" else 1,
        declared=find_domain_declaration(manifest) is not None,
        rows_per_person=manifest.rows_per_person,
    )


def _measure_achieved(subject: Subject, sampling: SamplingParameters) -> dict[str, Fraction]:
    """Measure the tight figures for what was asked; the worst of several."""
    measures: dict[str, Fraction] = {}
    for promise in subject.promises:
        parameters = promise.parameters
        if "lambda" not in parameters or not Fraction(1, sampling.domain) <= parse_parameter(parameters["lambda"]) < 1:
            continue
        skew = parse_parameter(parameters["lambda"])
        if "rho1" in parameters:
            rho1 = parse_parameter(parameters["rho1"])
            reached = corruption.compute_highest_posterior(sampling, rho1, skew)
            measures["rho-guarantee"] = max(measures.get("rho-guarantee", Fraction(0)), reached)
        if "delta" in parameters:
            measures["delta-growth"] = max(
                measures.get("delta-growth", Fraction(0)), corruption.compute_highest_growth(sampling, skew)
            )
    return measures


def _make_labels(column: LabelledColumn, sizes: np.ndarray) -> ColumnLabels:
    rows = np.bincount(column.label, weights=sizes, minlength=len(column.extents)).astype(np.int64)
    if isinstance(column.scale, TreeScale) and isinstance(column.extents, LeafExtents):
        return make_tree_labels(column.entry.name, column.scale, column.extents, rows)
    return ColumnLabels(column.entry.name, column.scale, column.extents, rows)


def _replace_nan(series: pl.Series) -> pl.Series:
    """Replace NaN by null."""
    return series.fill_nan(None) if series.dtype.is_float() else series


def _rebuild_column(entry: ColumnEntry, source: SourceComparison) -> ColumnEntry:
    """Return a column with the whole of a hierarchy that was built from its values."""
    values, times = source.values(entry.name)
    return rebuild_hierarchy(entry, _replace_nan(values), times.tolist())


def _find_true_values(subject: Subject, source: ComparedRows) -> np.ndarray:
    """Find the place of each source row's value in the domain, -1 for a value that is not in it."""
    assert subject.manifest is not None
    column = subject.find_columns_with_role(Role.SENSITIVE)[0]
    domain = parse_texts(list(subject.manifest.own["domain"]), column.dtype)
    values = convert_source(source.frame.select(column.name), [column]).frame[column.name]
    return find_places(values, domain)


def _locate_groups(
    subject: Subject, source: ComparedRows, owner: np.ndarray, sizes: np.ndarray
) -> dict[str, np.ndarray]:
    """Locate each group by each quasi-identifier, as the mean rank of its people's values, and by its size.

    Values rank as they are ordered, those of a hierarchy as its leaves are listed; the value that the group shows does
    not influence it.
    """
    positions = {}
    for entry in subject.quasi:
        values = number_values(_replace_nan(source.frame[entry.name]))
        ranks = _rank_values(values.distinct, entry)[values.codes]
        total = np.bincount(owner, weights=ranks * source.multiplicities, minlength=len(sizes))
        positions[repr(entry.name)] = total / np.maximum(sizes, 1)
    return {**positions, "group size": sizes.astype(np.float64)}


def _assess_published_values(
    subject: Subject,
    frame: pl.DataFrame,
    group_of_row: np.ndarray,
    source: ComparedRows,
    source_values: np.ndarray,
    owner: np.ndarray,
    sampling: SamplingParameters,
    group_positions: dict[str, np.ndarray],
) -> DrawAssessment | None:
    """Test the published values against the groups' true ones; None where a true value is not in the domain."""
    assert subject.manifest is not None
    if (source_values < 0).any():
        return None
    column = subject.find_columns_with_role(Role.SENSITIVE)[0]
    domain = parse_texts(list(subject.manifest.own["domain"]), column.dtype)
    published_codes = find_places(frame[column.name], domain)
    pairs, code = np.unique(owner * len(domain) + source_values, return_inverse=True)
    count = source.tally(code, len(pairs))
    return assess_draws(
        pairs // len(domain),
        pairs % len(domain),
        count,
        published_codes,
        float(sampling.p),
        len(domain),
        group_positions,
        group_of_row,
    )


def _report_draws(test: DrawAssessment | None) -> SourceFinding:
    if test is None:
        facts: dict[str, dict[str, Any]] = {"drawn": {"passed": False}}
        return SourceFinding(
            "drawn", False, facts, "the groups are not those of the source, so the values were not tested"
        )
    verb_phrase = "explain" if test.passed else "do NOT explain"
    power = "would" if test.has_power else "would not be enough to"
    facts = {"drawn": {"passed": test.passed, "tests": test.tests, "p_value": test.worst, "telling": test.has_power}}
    regions = test.regions
    p_value = exp(regions.worst)
    facts["drawn"]["regions"] = {
        "p_value": p_value,
        "worst": regions.region,
        "groups": regions.groups,
        "found_from": regions.detectable_groups,
    }
    neighbours = f"the least likely region, {pluralize(regions.groups, 'neighbouring group')} by {regions.region}, has a p-value of {p_value:.2g}"
    if regions.detectable_groups is None:
        detection = "values left as they were in one region only would not be seen"
    else:
        detection = f"values left as they were in any {regions.detectable_groups:,} neighbouring groups would be"
    return SourceFinding(
        "drawn",
        test.passed,
        facts,
        f"the true values of the groups, redrawn with p over the domain, {verb_phrase} the {test.values:,} published values "
        f"({test.tests} tests and those of regions, worst p-value {test.worst:.2g}); this number of groups {power} reveal values that "
        f"were not redrawn; {neighbours}; {detection}",
    )


def _check_domain(sampling: SamplingParameters, holders: np.ndarray) -> tuple[SourceFinding, ...]:
    """Check what the domain reveals to an adversary who knows everybody else's value.

    It reveals nothing where it is declared and has other values too.
    """
    single = int((holders == 1).sum())
    occurring = int((holders > 0).sum())
    facts = {"declared": sampling.declared, "values": len(holders), "occurring": occurring, "single_holders": single}
    if not sampling.declared:
        holders_phrase = "1 person has" if single == 1 else f"{single:,} people have"
        sentence = (
            f"the manifest does not say that the domain was declared, and {holders_phrase} a value in it that nobody else has: who knows "
            "everybody else's value knows theirs for certain"
        )
        return (SourceFinding("domain", False if single else None, {"domain": facts}, sentence),)
    if occurring == len(holders) and single:
        sentence = (
            f"every value of the declared domain occurs, {single:,} of them with one holder: had it been taken from the source, who knows "
            "everybody else's value would know theirs; that it was not is the manifest's word"
        )
        return (SourceFinding("domain", True, {"domain": facts}, sentence),)
    return ()


def _rank_values(distinct: pl.Series, entry: ColumnEntry) -> np.ndarray:
    """Rank distinct values: those of a hierarchy as its leaves are listed, others as they are ordered."""
    if entry.hierarchy is None:
        return rank_in_order(distinct).astype(np.float64)
    leaves = {row[0]: place for place, row in enumerate(entry.hierarchy)}
    keys = [leaves.get(text, len(leaves)) for text in distinct.cast(pl.String).to_list()]
    order = np.argsort(keys, kind="stable")
    ranks = np.empty(len(order), np.float64)
    ranks[order] = np.arange(len(order))
    return ranks


AUDITOR = SampledAuditor()
