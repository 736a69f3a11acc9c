"""Auditor of anatomized releases: two files that must belong together, measured on the groups' histograms.

A group is the rows with one number in the file `quasi`; its histogram is what the file `sensitive` lists for that
number. Every measure is the one for generalized releases, on these histograms. k counts rows that agree in every
quasi-identifier, and quasi-identifiers are exact: k is 1 wherever a combination is unique, which is no fault of this
kind.

`GroupHistograms` holds the sensitive file, each group's values with their counts. Nothing is taken on trust: a file
whose rows are not in the order of group and value, or that lists a value twice for a group, is damage.

`GroupValueCheck` compares the release with its source: it looks for values that the source does not have, or does not
have in the group where the people are. Whose value is whose is known where all people of a combination share a value,
or all of them are in one group. For everybody else an assignment of people to groups has to exist (`group_assignment`):
the one that the owner's witness shows, or any other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from reticent.audit.group_assignment import (
    ASSIGNMENT_EXISTS,
    ASSIGNMENT_UNDECIDED,
    NO_ASSIGNMENT,
    PairTally,
    decide_assignment,
    is_assignment,
)
from reticent.audit.groups import GroupedRows, make_sensitive_column, number_values, rank_values, take_in_pieces
from reticent.audit.kind import (
    EXACT_QUASI_NOTE,
    PublishedSourceValues,
    RecomputedRelease,
    SourceFinding,
    SourceMatching,
    measure_column,
    should_read_rows,
)
from reticent.audit.measure.counts import GroupCounts, list_views
from reticent.audit.order import read_row_batches, require_sorted_rows
from reticent.audit.remainder import LOST_LINK, format_lost_share
from reticent.audit.row_matching import LinkedRows, link_rows, make_exact_keys
from reticent.audit.source_comparison import ComparedRows, SourceComparison, convert_source
from reticent.audit.subject import Subject
from reticent.data.columns import Role
from reticent.errors import BundleDamaged, pluralize
from reticent.format.data_files import ROW_COUNT_COLUMN, count_distinct_rows, read_data
from reticent.format.manifest import ColumnEntry, Manifest
from reticent.ledger.witness import read_witness
from reticent.release.anatomized import COUNT_COLUMN, GROUP_COLUMN, value_type
from reticent.release.kind import find_data_files, list_schemas, reader_for

UNDECIDED_SENTENCE = (
    "; whether the source's people can have been put into these groups could not be decided: nothing was found that rules it out, "
    "and no way to do it either"
)
HOW_TO_DECIDE = {
    True: "; the witness in the owner's notes does not fit: this release and this source are not the ones of that publication",
    False: "; an audit decides it where the release was published, with the owner's notes and the ledger (RETICENT_LEDGER) of then, "
    "which keep a witness",
}


@dataclass(frozen=True, slots=True)
class AnatomizedAuditor:
    """The `Auditor` of anatomized releases."""

    def recount(self, subject: Subject, *, each_row: bool, thorough: bool) -> RecomputedRelease:
        manifest, folder = _require_manifest(subject)
        files = find_data_files(folder, manifest)
        schemas = list_schemas(manifest)
        sensitive = read_data(files["sensitive"], schemas["sensitive"])
        quasi = [column.name for column in subject.quasi]
        row_by_row = should_read_rows(subject, files["quasi"], schemas["quasi"], each_row=each_row, thorough=thorough)
        if row_by_row:
            frame = read_data(files["quasi"], schemas["quasi"])
            times = None
            class_sizes = frame.group_by(quasi).len(name=ROW_COUNT_COLUMN)[ROW_COUNT_COLUMN].to_numpy()
            rows = frame[GROUP_COLUMN]
        else:
            frame, times = count_distinct_rows(files["quasi"], schemas["quasi"], only=quasi)
            class_sizes = times
            rows = read_data(files["quasi"], schemas["quasi"], only=[GROUP_COLUMN])[GROUP_COLUMN]
        reader_for(subject.kind).check_tables({"rows": rows.to_frame(), "sensitive": sensitive}, manifest)
        listed = _build_matching_histograms(rows, sensitive, manifest.sensitive, manifest.rows)
        if thorough:
            pieces = [frame] if row_by_row else read_row_batches(files["quasi"], schemas["quasi"])
            require_sorted_rows(subject, pieces, frame)
        column = make_sensitive_column(manifest.sensitive, list_views(listed.distinct(), listed.null), listed.ordered)
        achieved = {"k-anonymity": int(class_sizes.min()), **measure_column(replace(column, paths=None))}
        utility = {"rce": listed.reconstruction_error(), "c_avg": float(listed.sizes.mean())}
        return RecomputedRelease(
            subject=subject,
            frame=frame,
            class_sizes=class_sizes,
            sizes=listed.sizes,
            sensitive=[column],
            measures=achieved,
            utility=utility,
            times=times,
            notes=(EXACT_QUASI_NOTE,),
            other_tables={"sensitive": sensitive},
            grouped=GroupedRows(
                partial(count_distinct_rows, files["quasi"], schemas["quasi"], only=[*quasi, GROUP_COLUMN]),
                sensitive,
                GROUP_COLUMN,
                COUNT_COLUMN,
            ),
        )

    def describe_sensitive_loss(self, rows: int, utility: Mapping[str, Any]) -> str:
        """Describe what is lost of sensitive values."""
        chance = format_lost_share(float(utility["rce"]))
        return f"{LOST_LINK}, and one drawn from them is not its own with a chance of {chance}."

    def match(self, recount: RecomputedRelease, source: SourceComparison) -> SourceMatching:
        """Match rows by all columns of `quasi`.

        Compare each group's values with those of the people whose group is determined.
        """
        subject = recount.subject
        sensitive = recount.other_tables["sensitive"]
        names = [column.name for column in subject.columns if column.role != Role.SENSITIVE]
        column = subject.find_columns_with_role(Role.SENSITIVE)[0].name
        published_values = PublishedSourceValues(source, [entry.name for entry in subject.quasi])
        unmatched = 0
        value_check = GroupValueCheck(sensitive, column, partial(read_witness, _require_manifest(subject)[1]))
        for ours, theirs in source.parts(
            make_exact_keys(subject.columns, names), [entry.name for entry in subject.columns]
        ):
            converted = convert_source(theirs.frame, subject.columns)
            link = link_rows(ours, converted, theirs, names)
            unmatched += link.unmatched
            published_values.add(theirs, link.stray)
            value_check.add(link, ours.frame[GROUP_COLUMN], converted.frame[column].filter(converted.readable))
        return SourceMatching(unmatched, published_values.values, findings=(value_check.finding(),))


def count_uneven_groups(rows: np.ndarray, groups: np.ndarray, sizes: np.ndarray) -> int:
    """Count the groups that have not as many rows as values.

    `rows` has the group of each row, `sizes` the number of values of each of `groups`.
    """
    if (rows[1:] < rows[:-1]).any():
        rows = np.sort(rows)
    starts = np.flatnonzero(np.append(True, rows[1:] != rows[:-1]))
    row_groups = rows[starts]
    lengths = np.diff(np.append(starts, len(rows)))
    if np.array_equal(row_groups, groups):
        return int((lengths != sizes).sum())
    all_groups = np.union1d(row_groups, groups)
    row_counts = np.zeros(len(all_groups), np.int64)
    value_counts = np.zeros(len(all_groups), np.int64)
    row_counts[np.searchsorted(all_groups, row_groups)] = lengths
    value_counts[np.searchsorted(all_groups, groups)] = sizes
    return int((row_counts != value_counts).sum())


@dataclass(frozen=True, eq=False)
class GroupHistograms:
    """Histograms of all groups: entries sorted by group and then by value, in the order of the domain with a null last."""

    groups: np.ndarray  # the number of each
    starts: np.ndarray  # first entry of each group
    value: np.ndarray
    count: np.ndarray
    totals: np.ndarray
    null: np.ndarray
    ordered: pl.Series  # the values themselves

    @cached_property
    def lengths(self) -> np.ndarray:
        return np.diff(np.append(self.starts, len(self.value)))

    @cached_property
    def alone(self) -> bool:
        """Whether every value is listed with a count of one, as Anatomy does."""
        return int(self.count.max()) == 1

    @cached_property
    def sizes(self) -> np.ndarray:
        return self.lengths if self.alone else np.add.reduceat(self.count, self.starts, dtype=np.int64)

    def reconstruction_error(self) -> float:
        """Compute RCE (Xiao & Tao 2006, section 4): the mean squared distance of a row's value from its group's histogram.

        Of a group of s rows with counts c: sum c ((1 - c/s)^2 + sum of the other (c'/s)^2) = s - sum c^2 / s.
        """
        squares = self.sizes if self.alone else np.add.reduceat(self.count.astype(np.float64) ** 2, self.starts)
        return float((self.sizes - squares / self.sizes).sum() / self.sizes.sum())

    def distinct(self) -> GroupCounts:
        """Count each different histogram once: measures are extremes over groups, so equal groups add nothing."""
        return self._drop_groups(self._mark_repeated())._merge_equal_groups()

    def _mark_repeated(self) -> np.ndarray:
        """Mark groups whose histogram equals that of the group before, among the groups of the most frequent length."""
        length = int(np.bincount(self.lengths).argmax())
        repeats = self.lengths == length
        repeats[1:] &= repeats[:-1]
        repeats[0] = False
        differs = np.ones(len(self.value), bool)
        np.not_equal(self.value[length:], self.value[:-length], out=differs[length:])
        if not self.alone:
            differs[length:] |= self.count[length:] != self.count[:-length]
        return repeats & ~np.logical_or.reduceat(differs, self.starts)

    def _drop_groups(self, dropped: np.ndarray) -> GroupHistograms:
        entry = np.repeat(~dropped, self.lengths)
        starts = np.cumsum(self.lengths[~dropped]) - self.lengths[~dropped]
        return GroupHistograms(
            self.groups[~dropped], starts, self.value[entry], self.count[entry], self.totals, self.null, self.ordered
        )

    def _merge_equal_groups(self) -> GroupCounts:
        """Merge groups with equal histograms.

        A random sum over a histogram proposes which are equal; then entries are compared one by one.
        """
        mix = np.random.default_rng().integers(0, 1 << 64, len(self.totals), np.uint64)
        key = np.add.reduceat(mix[self.value] * self.count.astype(np.uint64), self.starts)
        _, first, number = np.unique(key, return_index=True, return_inverse=True)
        candidate = first[number.reshape(-1)]
        is_equal = self.lengths[candidate] == self.lengths
        offset = np.arange(len(self.value)) - np.repeat(self.starts, self.lengths)
        other = np.minimum(np.repeat(self.starts[candidate], self.lengths) + offset, len(self.value) - 1)
        equal = (self.value[other] == self.value) & (self.count[other] == self.count)
        is_equal &= np.logical_and.reduceat(equal, self.starts)
        keep = np.zeros(len(self.starts), bool)
        keep[first] = True
        keep |= ~is_equal
        entry = np.repeat(keep, self.lengths)
        group = np.repeat(np.arange(int(keep.sum())), self.lengths[keep])
        return GroupCounts(group, self.value[entry].astype(np.int64), self.count[entry].astype(np.int64), self.totals)


def read_histograms(column: ColumnEntry, sensitive: pl.DataFrame) -> GroupHistograms:
    """Read the histograms from the sensitive file and number its values; a value listed twice for a group is damage."""
    numbered = number_values(sensitive[column.name])
    rank, _ = rank_values(column, numbered.distinct)
    size = int(rank.max()) + 1
    group = sensitive[GROUP_COLUMN].to_numpy()
    count = sensitive[COUNT_COLUMN].to_numpy()
    value = take_in_pieces(rank.astype(np.int32), numbered.codes)
    same_group = group[1:] == group[:-1]
    if not ((group[1:] > group[:-1]) | (same_group & (value[1:] > value[:-1]))).all():
        raise BundleDamaged(
            "The groups' values are not listed once each, sorted by group and value.",
            why="Another order can say which row of a group has which value.",
            attempt="the publisher: somebody changed the release after it was published.",
        )
    null = np.zeros(size, bool)
    null[rank] = numbered.distinct.is_null().to_numpy()
    starts = np.flatnonzero(np.append(True, ~same_group))
    totals = np.bincount(value, weights=None if int(count.max()) == 1 else count, minlength=size).astype(np.int64)
    value_of_rank = np.zeros(size, np.int64)  # a value of each rank
    value_of_rank[rank] = np.arange(len(rank))
    return GroupHistograms(group[starts], starts, value, count, totals, null, numbered.distinct.gather(value_of_rank))


class GroupValueCheck:
    """Checks the values that groups list (`sensitive`) against the source, from one part of the rows after another.

    `read_witness` takes a number of bytes and returns the owner's witness of that size: the value of each published row
    in the order of the file, as the place of its first appearance in `sensitive`; None where there is no witness.
    """

    def __init__(
        self, sensitive: pl.DataFrame, column: str, read_witness: Callable[[int], bytes | None] = lambda size: None
    ):
        values = number_values(sensitive[column])
        self.values = values.distinct
        self.listed = values.codes.astype(np.int64)
        self.group = sensitive[GROUP_COLUMN].to_numpy().astype(np.int64)
        self.count = sensitive[COUNT_COLUMN].to_numpy()
        self.listed_totals = np.bincount(self.listed, weights=self.count, minlength=len(values))
        self.source_totals = np.zeros(len(values))
        self.pairs = np.zeros(0, np.int64)
        self.certain = np.zeros(0, np.int64)
        self.unlisted = 0  # people who hold a value that no group lists
        self._combinations = 0
        self._open_rows: list[np.ndarray] = []  # (combination, group, rows) of people whose group is not determined
        self._open_people: list[np.ndarray] = []  # (combination, value, people) of the same
        self._open_witnessed: list[np.ndarray] = []  # (combination, group, value) of the same rows, one by one
        self._witness = self._number_witness(read_witness)

    def _number_witness(self, read_witness: Callable[[int], bytes | None]) -> np.ndarray | None:
        """Number the value of each published row as the values of `listed` are numbered.

        Return None where no witness can be read.
        """
        kind = value_type(len(self.values))
        content = read_witness(int(self.count.sum()) * kind.itemsize)
        if content is None:
            return None
        codes = np.frombuffer(content, kind).astype(np.int64)
        distinct, first = np.unique(self.listed, return_index=True)
        if codes.max(initial=0) >= len(distinct):
            return None
        return distinct[np.argsort(first)][codes]

    def add(self, link: LinkedRows, group: pl.Series, people: pl.Series) -> None:
        """Add published rows with their `group`, and the value of each of the `people` whose row can be read."""
        combined = number_values(pl.concat([self.values, people.rename(self.values.name)]))
        source_code = combined.codes[len(self.values) :].astype(np.int64)
        place = np.full(len(combined), -1)
        place[combined.codes[: len(self.values)]] = np.arange(len(self.values))
        times = link.rows[1].multiplicities[link.readable]
        is_listed = place[source_code] >= 0
        self.source_totals += np.bincount(
            place[source_code][is_listed], weights=times[is_listed], minlength=len(self.values)
        )
        of_row = group.to_numpy().astype(np.int64)
        determined_group, value, people_count, undetermined = _find_determined(link, of_row, source_code)
        self._note_undetermined(link, of_row, place[source_code], undetermined)
        value = place[value]
        self.unlisted += int(people_count[value < 0].sum())
        self._add_certain(determined_group[value >= 0] * len(self.values) + value[value >= 0], people_count[value >= 0])

    def _note_undetermined(
        self, link: LinkedRows, group: np.ndarray, value: np.ndarray, undetermined: np.ndarray
    ) -> None:
        """Keep the rows and the people of combinations for which an assignment has to be found."""
        if undetermined.any():
            ours = undetermined[link.ours]
            theirs = undetermined[link.theirs]
            unlisted = np.where(value < 0, len(self.values), value)
            rows = (link.ours[ours] + self._combinations, group[ours], link.rows[0].multiplicities[ours])
            people = (
                link.theirs[theirs] + self._combinations,
                unlisted[theirs],
                link.rows[1].multiplicities[link.readable][theirs],
            )
            self._open_rows.append(np.stack(rows))
            self._open_people.append(np.stack(people))
            if self._witness is not None:
                place = _places_in_file(link.rows[0], ours, len(self._witness))
                row_codes = [np.repeat(codes, rows[2]) for codes in rows[:2]]
                self._open_witnessed.append(np.stack([*row_codes, self._witness[place]]))
        self._combinations += link.size

    def _decide_assignment(self) -> str:
        """Decide whether the people whose group is not determined could be in the groups, beside the others."""
        size = len(self.values)
        listed = PairTally(self.group, self.listed, self.count.astype(np.int64))
        remaining = listed.take_away(self.pairs // size, self.pairs % size, self.certain)
        if not self._open_rows:
            return NO_ASSIGNMENT if len(remaining) else ASSIGNMENT_EXISTS
        rows = PairTally.add_up(*np.concatenate(self._open_rows, axis=1))
        people = PairTally.add_up(*np.concatenate(self._open_people, axis=1))
        if self._open_witnessed and is_assignment(
            rows, remaining, people, *np.concatenate(self._open_witnessed, axis=1)
        ):
            return ASSIGNMENT_EXISTS
        return decide_assignment(rows, remaining, people)

    def _add_certain(self, pairs: np.ndarray, people_count: np.ndarray) -> None:
        """Add people who certainly have a value in a group; `pairs` are group and value as one number."""
        all_pairs = np.concatenate([self.pairs, pairs])
        self.pairs, code = np.unique(all_pairs, return_inverse=True)
        weights = np.concatenate([self.certain, people_count])
        self.certain = np.bincount(code, weights=weights, minlength=len(self.pairs)).astype(np.int64)

    def finding(self) -> SourceFinding:
        """Judge all that was added: values that the source lacks, misplaced values, and whether an assignment exists."""
        foreign = int(np.maximum(self.listed_totals - self.source_totals, 0).sum())
        stated = self.group * len(self.values) + self.listed
        order = np.argsort(stated, kind="stable")
        stated = stated[order]
        count = self.count[order]
        position = np.minimum(np.searchsorted(stated, self.pairs), max(len(stated) - 1, 0))
        listed_count = np.zeros(len(self.pairs))
        if len(stated):
            listed_count = np.where(stated[position] == self.pairs, count[position], 0)
        misplaced = int(np.maximum(self.certain - listed_count, 0).sum()) + self.unlisted
        assignment = NO_ASSIGNMENT if foreign or misplaced else self._decide_assignment()
        sentences = {
            ASSIGNMENT_EXISTS: "",
            NO_ASSIGNMENT: "; the source's people cannot have been put into these groups",
            ASSIGNMENT_UNDECIDED: UNDECIDED_SENTENCE + HOW_TO_DECIDE[self._witness is not None],
        }
        return SourceFinding(
            "values",
            {ASSIGNMENT_EXISTS: True, NO_ASSIGNMENT: False, ASSIGNMENT_UNDECIDED: None}[assignment],
            {"foreign_values": foreign, "misplaced_values": misplaced, "assignment": assignment},
            f"{pluralize(foreign, 'published value', 'does', 'do')} not occur in the source; groups have "
            f"{pluralize(misplaced, 'value')} that their people do not have{sentences[assignment]}",
            needed=True,
        )


def _require_manifest(subject: Subject) -> tuple[Manifest, Path]:
    if subject.manifest is None or subject.path is None:
        raise BundleDamaged("An anatomized release is a folder of two files.")
    return subject.manifest, subject.path


def _build_matching_histograms(
    rows: pl.Series, sensitive: pl.DataFrame, column: ColumnEntry, stated: int
) -> GroupHistograms:
    """Build the groups' histograms if both files have the same groups, with as many rows as values.

    Otherwise raise `BundleDamaged`.
    """
    faults = []
    if len(rows) != stated:
        faults.append(f"the data has {len(rows)} rows, the manifest says {stated}")
    if not len(rows):
        faults.append("there are no rows")
    has_missing = rows.null_count() or sensitive[GROUP_COLUMN].null_count() or sensitive[COUNT_COLUMN].null_count()
    if has_missing or (sensitive[COUNT_COLUMN] < 1).any():
        faults.append("a group or a count is missing or not positive")
    if not faults and not len(sensitive):
        faults.append("no group has values")
    if not faults:
        listed = read_histograms(column, sensitive)
        if not (uneven := count_uneven_groups(rows.to_numpy(), listed.groups, listed.sizes)):
            return listed
        faults.append(f"{pluralize(uneven, 'group', 'has', 'have')} not as many rows as values")
    raise BundleDamaged("The two files of the release do not belong together.", why="; ".join(faults) + ".")


def _find_determined(
    link: LinkedRows, group: np.ndarray, source_value: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """List the (group, value, rows) that are determined.

    The people of a combination share a value, or all of them are in one group. The last array marks published combinations that are not determined.
    """
    lowest_value = np.full(link.size, np.iinfo(np.int64).max)
    highest_value = np.full(link.size, -1)
    np.minimum.at(lowest_value, link.theirs, source_value)
    np.maximum.at(highest_value, link.theirs, source_value)
    lowest_group = np.full(link.size, np.iinfo(np.int64).max)
    highest_group = np.full(link.size, -1)
    np.minimum.at(lowest_group, link.ours, group)
    np.maximum.at(highest_group, link.ours, group)
    published, in_source = link.counts
    one_value = lowest_value == highest_value
    one_group = (lowest_group == highest_group) & (published == in_source) & ~one_value
    ours = one_value[link.ours]
    theirs = one_group[link.theirs]
    of_group = highest_group[link.theirs[theirs]]
    of_value = highest_value[link.ours[ours]]
    rows = link.rows[0].multiplicities[ours]
    people = link.rows[1].multiplicities[link.readable][theirs]
    return (
        np.concatenate([group[ours], of_group]),
        np.concatenate([of_value, source_value[theirs]]),
        np.concatenate([rows, people]),
        ~one_value & ~one_group & (published > 0),
    )


def _places_in_file(published: ComparedRows, chosen: np.ndarray, rows: int) -> np.ndarray:
    """Find the place in the file of each row that the `chosen` ones stand for.

    Equal rows, which are counted together, are neighbours there. Where they are not, the places are wrong, and a witness
    that is read there does not fit.
    """
    if published.places is None:
        return np.flatnonzero(chosen)
    times = published.multiplicities[chosen]
    places = published.places[chosen].astype(np.int64)
    first = (places - times * (times - 1) // 2) // times
    following = np.arange(int(times.sum())) - np.repeat(np.cumsum(times) - times, times)
    return np.clip(np.repeat(first, times) + following, 0, rows - 1)


AUDITOR = AnatomizedAuditor()
