"""Auditor of perturbed releases: promises from the published parameters, group sizes from the published rows.

The matrix and the overall distribution show what the promise is worth if the values were redrawn as the manifest
states. No file can show that they were: a promise that the parameters keep is "undecided" (None) with the evidence
"from parameters"; one that they break is broken. Compared with the source it is kept, where people, distribution and
redrawing are as stated.

`PerturbationComparison` links rows by all columns that are published as they were (`row_matching.link_blocks`) and
tests the values they show (`measure/statistical_tests.py`) over all rows and over parts of them: bands of about equal
rows by each such column, and by pairs of quasi-identifiers (`list_partitions`). An honest release is condemned once in
1 / PERTURBATION_SIGNIFICANCE audits at most: that much is divided among the families of tests, and within a family
among its tests (Bonferroni).

`PerturbationResult.passed` is True only where these tests would have detected a release that was not redrawn: all of
it; each band, of a sixteenth of the rows or more, of any one column; and every second value, taken at random, over all
rows. Where the rows could not have shown that, it is None.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from math import exp, inf, log
from typing import Any

import numpy as np
import polars as pl

from reticent.audit.groups import Perturbation, number_values, rank_values
from reticent.audit.kind import (
    EXACT_QUASI_NOTE,
    PublishedSourceValues,
    RecomputedRelease,
    SourceFinding,
    SourceMatching,
    read_data_rows,
)
from reticent.audit.measure import likeness
from reticent.audit.measure.counts import parse_parameter
from reticent.audit.measure.statistical_tests import (
    TEST_KINDS,
    PartitionSums,
    PartitionTests,
    TransitionMatrix,
    score_blocks,
)
from reticent.audit.order import OrderStatistics
from reticent.audit.row_matching import LinkedBlocks, join_blocks, link_blocks, link_rows, make_exact_keys
from reticent.audit.source_comparison import (
    ComparedRows,
    ConvertedSource,
    SourceComparison,
    convert_source,
    find_places,
)
from reticent.audit.subject import Subject
from reticent.data.columns import Role
from reticent.data.parsing import parse_texts
from reticent.errors import BundleDamaged
from reticent.exact_arithmetic import is_whole
from reticent.format.manifest import ColumnEntry, Manifest
from reticent.labels.label_loss import format_kept_share
from reticent.release.kind import reader_for

ROWS_COLUMN = "\x00rows"
COARSE_BANDS = 8
FINE_BANDS = 64
MAX_PAIRED_COLUMNS = 8  # columns with the most values, of which all pairs are tested
PARTITION_SCOPES = ("all rows", "one column", "two columns")
PERTURBATION_SIGNIFICANCE = 1e-6
MIN_P_VALUE = 1e-300  # smaller p-values are given as this one; 0 is what cannot happen
TEST_FAMILIES = len(TEST_KINDS) * len(PARTITION_SCOPES)


@dataclass(frozen=True, slots=True)
class PerturbedAuditor:
    """The `Auditor` of perturbed releases."""

    def recount(self, subject: Subject, *, each_row: bool, thorough: bool) -> RecomputedRelease:
        manifest = subject.manifest
        if manifest is None or subject.path is None:
            raise BundleDamaged("A perturbed release is a folder.")
        frame, times = read_data_rows(subject, manifest, subject.path, each_row=each_row)
        reader_for(subject.kind).check_tables({"data": frame}, manifest)
        perturbation = read_perturbation(manifest)
        quasi = [column.name for column in subject.quasi]
        rows = pl.Series(ROWS_COLUMN, np.ones(len(frame), np.int64) if times is None else times)
        classes = frame.select(quasi).with_columns(rows).group_by(quasi).agg(pl.col(ROWS_COLUMN).sum())
        class_sizes = classes[ROWS_COLUMN].to_numpy()
        betas, utility = _measure_achieved(perturbation)
        return RecomputedRelease(
            subject=subject,
            frame=frame,
            class_sizes=class_sizes,
            sizes=class_sizes,
            sensitive=[],
            measures={"k-anonymity": int(class_sizes.min()), **betas},
            utility=utility,
            times=times,
            notes=(EXACT_QUASI_NOTE,),
            perturbation=perturbation,
            explained=frozenset(perturbation.values),
        )

    def describe_sensitive_loss(self, rows: int, utility: Mapping[str, Any]) -> str:
        """Describe what is lost of sensitive values."""
        if "retention" not in utility:
            return "Lost is the sensitive value: it was redrawn by the chances of the manifest's matrix."
        chance = format_kept_share(float(utility["retention"]))
        return f"Lost is the sensitive value: it was redrawn, and is the row's own with a chance of {chance}."

    def match(self, recount: RecomputedRelease, source: SourceComparison) -> SourceMatching:
        """Match rows by all published columns but the redrawn one, which is tested against the matrix."""
        subject = recount.subject
        perturbation = recount.perturbation
        assert perturbation is not None
        names = [entry.name for entry in subject.columns if entry.role != Role.SENSITIVE]
        keys = make_exact_keys(subject.columns, names)
        ranked = _RankedValues(subject, source)
        published_values = PublishedSourceValues(source, [entry.name for entry in subject.quasi])
        order = OrderStatistics()
        comparison = PerturbationComparison(subject.columns, perturbation)
        unmatched = 0
        for ours, theirs in source.parts(keys, [entry.name for entry in subject.columns]):
            converted = convert_source(theirs.frame, subject.columns)
            link = link_rows(ours, converted, theirs, names)
            unmatched += link.unmatched
            published_values.add(theirs, link.stray)
            shared_values = (link.ours, link.theirs) if converted.readable.all() else None
            order.add(ours, theirs, [link.mean_place, link.mean(ranked.rank_rows(converted.frame))], shared_values)
            comparison.add(ours, converted, theirs)
        result = comparison.judge_redrawing(subject.withheld - subject.withheld_missing)
        return SourceMatching(
            unmatched,
            published_values.values,
            order.order(source.count_agreeing(keys), source.rows),
            findings=(SourceFinding("redrawn", result.passed, {"redrawn": result.to_dict()}, str(result)),),
            perturbation=replace(perturbation, proven=result.passed),
        )


def read_perturbation(manifest: Manifest) -> Perturbation:
    """Read the matrix and the distribution as exact numbers."""
    own = manifest.own
    try:
        distinct = {entry for row in own["matrix"] for entry in row}  # few of the entries are
        parsed = {entry: parse_parameter(entry) for entry in distinct}
        matrix = [[parsed[entry] for entry in row] for row in own["matrix"]]
        distribution = [parse_parameter(p) for p in own["distribution"]] if "distribution" in own else None
    except (TypeError, ValueError, ArithmeticError):
        raise BundleDamaged("The matrix or the distribution of this release cannot be read.") from None
    if not all(is_whole(manifest.rows * share) for share in distribution or ()):
        raise BundleDamaged(f"The distribution of this release is none of {manifest.rows:,} people.")
    are_probabilities = len(matrix) == len(own["values"]) and likeness.is_stochastic(matrix)
    if distribution is not None:
        are_probabilities &= len(distribution) == len(matrix) and sum(distribution) == 1 and min(distribution) >= 0
    if not are_probabilities:
        raise BundleDamaged("The matrix and the distribution of this release are no probabilities of its values.")
    if distribution is not None and manifest.withheld > manifest.withheld_missing:
        raise BundleDamaged(
            "The overall distribution is published beside withheld rows.",
            why="Together they say which values the withheld people had.",
        )
    return Perturbation(own["values"], matrix, distribution)


@dataclass(frozen=True, eq=False)
class PerturbationResult:
    """Result of comparing a perturbed release with its source.

    `unmatched` people are in one table only. For `linked` rows the source's value is known. `tested` statements about
    the redrawing were tested, each over all rows or one part of them; `worst` is the least p-value, multiplied by the
    number of tests it had to compete with, and what it is about. In `parts` parts, values left as they were would have
    been detected.
    """

    rows: int
    unmatched: int
    distribution: bool
    linked: int
    tested: int
    worst: tuple[float, str]
    parts: int
    unseen: str  # what these rows could not have shown; empty if nothing
    significance: float = PERTURBATION_SIGNIFICANCE

    @property
    def passed(self) -> bool | None:
        if self.unmatched or not self.distribution or self.worst[0] <= self.significance:
            return False
        return None if self.unseen else True

    @property
    def why(self) -> str:
        """The reason for the verdict, in a sentence."""
        if self.unmatched:
            return f"{self.unmatched:,} people are in one table only"
        if not self.distribution:
            return "the stated distribution is not the source's"
        if self.worst[0] <= self.significance:
            chance = f"a probability of at most {self.worst[0]:.1e}" if self.worst[0] else "no probability at all"
            return f"an honest release would show this with {chance}: {self.worst[1]}"
        if self.unseen:
            return f"nothing here could show {self.unseen}"
        return (
            f"the matrix explains what is published, overall and in {self.parts:,} parts "
            "that would have shown values left as they were"
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "rows": self.rows,
            "unmatched": self.unmatched,
            "distribution": self.distribution,
            "linked": self.linked,
            "tested": self.tested,
            "worst": {"p_value": self.worst[0], "of": self.worst[1]},
            "parts": self.parts,
            "significance": self.significance,
            "passed": self.passed,
            "why": self.why,
        }

    def __str__(self) -> str:
        return (
            f"{'undecided: ' if self.passed is None else ''}{self.why};\n"
            f"    {self.tested:,} statements about the redrawing were tested, {self.linked:,} rows linked one by one;\n"
            f"    an honest release fails once in {1 / self.significance:,.0f} audits at most"
        )


def compare_perturbed_rows(
    frame: pl.DataFrame,
    columns: Sequence[ColumnEntry],
    perturbation: Perturbation,
    converted: ConvertedSource,
    withheld: int = 0,
) -> PerturbationResult:
    """Compare a perturbed release's rows with its source as it would be published.

    `withheld` rows are stated to be missing.
    """
    comparison = PerturbationComparison(columns, perturbation)
    comparison.add(ComparedRows(frame), converted, ComparedRows(converted.frame))
    return comparison.judge_redrawing(withheld)


class PerturbationComparison:
    """Compares published rows with source rows, one part after another.

    In memory are blocks, as many as there are combinations.
    """

    def __init__(self, columns: Sequence[ColumnEntry], perturbation: Perturbation):
        self.perturbation = perturbation
        self.blocks = list[LinkedBlocks]()
        self.sensitive = next(column for column in columns if column.role == Role.SENSITIVE)
        self.keys = [column.name for column in columns if column.role != Role.SENSITIVE]
        self.quasi = [column.name for column in columns if column.role == Role.QUASI]
        self.rows = 0
        self.unread = 0
        self.counts = np.zeros(len(perturbation.values), np.int64)

    def add(self, ours: ComparedRows, converted: ConvertedSource, theirs: ComparedRows) -> None:
        """Add a part; `converted` are the rows `theirs` as they would be published."""
        values = self.perturbation.values
        name = self.sensitive.name
        readable = converted.readable.to_numpy()
        published_codes, source_codes = _encode_values(self.sensitive, values, ours.frame[name], converted.frame[name])
        self.rows += theirs.rows
        self.unread += int(theirs.multiplicities[~readable].sum())
        listed = source_codes >= 0
        self.counts += np.bincount(
            source_codes[listed], weights=theirs.multiplicities[listed], minlength=len(values)
        ).astype(np.int64)
        readable_rows = ComparedRows(converted.frame.filter(converted.readable), theirs.multiplicities[readable])
        self.blocks.append(
            link_blocks(ours, readable_rows, self.keys, (published_codes, source_codes[readable]), len(values))
        )

    def judge_redrawing(self, withheld: int) -> PerturbationResult:
        """Test all that was added; `withheld` rows are stated to be missing."""
        distribution = self.perturbation.distribution
        is_as_stated = True
        if distribution is not None and withheld <= 0:
            is_as_stated = [Fraction(n, max(self.rows, 1)) for n in self.counts.tolist()] == list(distribution)
        blocks = join_blocks(self.blocks)
        absent = blocks.absent + self.unread
        unmatched = blocks.unmatched + abs(absent - withheld) + blocks.unknown
        linked = int(blocks.sizes[blocks.single].sum())
        matrix = TransitionMatrix.from_fractions(self.perturbation.matrix)
        tested, worst, parts, unseen = _run_tests(blocks, matrix, self.quasi)
        return PerturbationResult(
            rows=self.rows,
            unmatched=unmatched,
            distribution=is_as_stated,
            linked=linked,
            tested=tested,
            worst=worst,
            parts=parts,
            unseen=unseen,
        )


@dataclass(frozen=True, eq=False)
class BlockPartition:
    """A partition of the blocks: `part` is the part of each block.

    In `claimed` partitions every large part must be able to show that it was not redrawn.
    """

    scope: str
    name: str
    part: np.ndarray
    size: int
    claimed: bool = False


def assign_bands(place: np.ndarray, rows: np.ndarray, count: int) -> np.ndarray:
    """Put consecutive values into up to `count` bands of about equal rows; return the band of each block."""
    weight = np.bincount(place, weights=rows)
    middle = np.cumsum(weight) - weight / 2
    return compact_codes((middle * count / max(weight.sum(), 1)).astype(np.int64))[place]


def compact_codes(codes: np.ndarray) -> np.ndarray:
    """Renumber codes from 0 on, in the same order."""
    return (np.cumsum(np.bincount(codes) > 0) - 1)[codes]


def list_partitions(blocks: LinkedBlocks, quasi: Sequence[str]) -> Iterator[BlockPartition]:
    """List the partitions of blocks to test: all rows, bands of each column, and bands of pairs of quasi-identifiers."""
    yield BlockPartition("all rows", "", np.zeros(len(blocks.sizes), np.int64), 1)
    coarse = {}
    distinct = {}
    for name, place in blocks.places.items():
        codes = compact_codes(place)
        size = int(codes.max(initial=-1)) + 1
        if size < 2:
            continue
        part = assign_bands(codes, blocks.sizes, COARSE_BANDS)
        distinct[name] = size
        coarse[name] = part
        yield BlockPartition("one column", repr(name), part, int(part.max()) + 1, claimed=True)
        if size > int(part.max()) + 1:
            part = assign_bands(codes, blocks.sizes, FINE_BANDS)
            yield BlockPartition("one column", repr(name), part, int(part.max()) + 1)
    several = sorted((name for name in quasi if name in coarse), key=lambda name: -distinct[name])
    for first, second in combinations(several[:MAX_PAIRED_COLUMNS], 2):
        part = compact_codes(coarse[first] * COARSE_BANDS + coarse[second])
        yield BlockPartition("two columns", f"{first!r} and {second!r}", part, int(part.max()) + 1)


def _measure_achieved(perturbation: Perturbation) -> tuple[dict[str, Any], dict[str, Any]]:
    """Measure beta-likeness by the matrix, and the share of values that it retains; nothing without a distribution."""
    matrix = perturbation.matrix
    distribution = perturbation.distribution
    if distribution is None:
        return {}, {}
    basic = likeness.measure_perturbation_beta(matrix, distribution, enhanced=False, two_sided=False)
    enhanced = likeness.measure_perturbation_beta(matrix, distribution, enhanced=True, two_sided=False)
    retention = sum(float(share * matrix[i][i]) for i, share in enumerate(distribution))
    return {"beta-likeness-basic": basic, "beta-likeness-enhanced": enhanced}, {"retention": retention}


class _RankedValues:
    """The sensitive values of all source rows in the order of their domain."""

    def __init__(self, subject: Subject, source: SourceComparison):
        column = subject.find_columns_with_role(Role.SENSITIVE)[0]
        converted = convert_source(source.values(column.name)[0].to_frame(), [column]).frame[column.name]
        self._name = column.name
        self._distinct = number_values(converted).distinct
        self._rank = rank_values(column, self._distinct)[0].astype(np.float64)

    def rank_rows(self, frame: pl.DataFrame) -> np.ndarray:
        return self._rank[find_places(frame[self._name], self._distinct)]


def _encode_values(column: ColumnEntry, values: Sequence[str], *series: pl.Series) -> list[np.ndarray]:
    """Return the place of each value in the manifest's list, -1 for others."""
    try:
        listed = parse_texts(list(values), column.dtype)
    except pl.exceptions.PolarsError:  # its message quotes values
        raise BundleDamaged(f"The manifest lists values that column {column.name!r} cannot hold.") from None
    combined = number_values(pl.concat([listed, *(column_values.rename(listed.name) for column_values in series)]))
    place = np.full(len(combined), -1)
    place[combined.codes[: len(listed)]] = np.arange(len(listed))
    if (place >= 0).sum() < len(listed):
        raise BundleDamaged(f"The manifest lists a value of column {column.name!r} twice.")
    return np.split(
        place[combined.codes[len(listed) :]], np.cumsum([len(column_values) for column_values in series])[:-1]
    )


def _run_tests(
    blocks: LinkedBlocks, matrix: TransitionMatrix, quasi: Sequence[str]
) -> tuple[int, tuple[float, str], int, str]:
    """Run all tests.

    Return how many, the worst, how many parts would have shown values left as they were, and what would not show.
    """
    if not len(blocks.sizes):
        return 0, (1.0, "nothing"), 0, "anything: no row of the release is a row of the source"
    scores = score_blocks(blocks, matrix)
    results: list[tuple[BlockPartition, PartitionTests]] = []
    forgeries: list[_ForgeryTest] = []
    is_redrawn = 1 - np.diag(matrix.chance) > 0
    for partition in list_partitions(blocks, quasi):
        sums = PartitionSums(blocks, scores, matrix, partition.part, partition.size)
        results.append((partition, sums.run_tests()))
        applies = sums.source_counts[:, is_redrawn].sum(axis=1) > 0  # elsewhere the matrix itself leaves all as it was
        forgeries += _list_forgeries(partition, sums, applies)
    tests = {
        (scope, kind): sum(tested.tests.get(kind, 0) for partition, tested in results if partition.scope == scope)
        for scope in PARTITION_SCOPES
        for kind in TEST_KINDS
    }
    unseen = ""
    noticed = 0
    for forgery in forgeries:
        detected = forgery.detect(tests)
        if not unseen and (forgery.applies & ~detected).any():
            unseen = forgery.description
        if forgery.scope != "all rows":
            noticed += int((forgery.applies & detected).sum())
    return sum(tests.values()), _find_worst_test(results, tests, len(matrix)), noticed, unseen


@dataclass(frozen=True, eq=False)
class _ForgeryTest:
    """The tests of a forged release: in which parts it `applies`, and what the tests of that scope would show of it."""

    description: str
    scope: str
    tested: PartitionTests
    applies: np.ndarray

    def detect(self, tests: Mapping[tuple[str, str], int]) -> np.ndarray:
        """Tell in which parts the tests would have detected the forgery.

        The least ln p of each part is multiplied by the number of tests of its family and of families.
        """
        adjusted = [
            logs + log(max(tests[self.scope, kind], 1)) + log(TEST_FAMILIES) for kind, logs in self.tested.logs.items()
        ]
        return np.min(adjusted, axis=0) <= log(PERTURBATION_SIGNIFICANCE)


def _list_forgeries(partition: BlockPartition, sums: PartitionSums, applies: np.ndarray) -> list[_ForgeryTest]:
    """List the forgeries that the tests of a partition must be able to detect."""
    if partition.scope == "all rows":
        return [
            _ForgeryTest("that nothing was redrawn", partition.scope, sums.run_tests(1.0), applies),
            _ForgeryTest("that every second value was left as it was", partition.scope, sums.run_tests(0.5), applies),
        ]
    if not partition.claimed:
        return []
    is_large = sums.rows * 2 * COARSE_BANDS >= sums.rows.sum()
    description = f"that one of the parts by {partition.name} was not redrawn"
    return [_ForgeryTest(description, partition.scope, sums.run_tests(1.0), applies & is_large)]


def _find_worst_test(
    results: list[tuple[BlockPartition, PartitionTests]], tests: Mapping[tuple[str, str], int], m: int
) -> tuple[float, str]:
    """Find the least p-value, adjusted for the number of tests, and describe its test."""
    lowest = inf
    description = "nothing"
    for partition, tested in results:
        for kind, logs in tested.logs.items():
            part = int(logs.argmin())
            adjusted = float(logs[part]) + log(max(tests[partition.scope, kind], 1)) + log(TEST_FAMILIES)
            if adjusted < lowest:
                lowest = adjusted
                description = _describe_test(partition, kind, part, int(tested.worst_tests[kind][part]), m)
    p_value = 0.0 if lowest == -inf else max(exp(min(lowest, 0.0)), MIN_P_VALUE)
    return p_value, description


def _describe_test(partition: BlockPartition, kind: str, part: int, test: int, m: int) -> str:
    """Describe what a test is about; values are named by their place in the manifest's list."""
    about = {
        "likeness": "how many rows show their own value",
        "unchanged": "how many combinations show just the values they held",
        "margins": f"how many rows show value {test + 1} of the manifest's list",
        "transitions": f"how many rows with value {test // m + 1} of the manifest's list show value {test % m + 1}",
    }[kind]
    return about if not partition.name else f"{about}, in part {part + 1} of {partition.size} by {partition.name}"


AUDITOR = PerturbedAuditor()
