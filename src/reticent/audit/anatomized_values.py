"""An anatomized release against its source: values that the source has not, or not in the group where the people are.

Whose value is whose is told where all people of a combination share a value, or all of them are in one group.  For everybody
else an assignment of people to groups has to exist (`group_assignment`): the one that the owner's witness shows, or any other.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl

from reticent.audit.compared import Rows
from reticent.audit.group_assignment import EXISTS, NONE, UNDECIDED, Tally, decide_assignment, is_assignment
from reticent.audit.grouping import number
from reticent.audit.kind import Finding
from reticent.audit.links import Linked
from reticent.errors import some
from reticent.release.anatomized import COUNT, GROUP, value_type

OPEN = (
    "; whether the source's people can have been put into these groups could not be decided: nothing was found that rules it out, "
    "and no way to do it either"
)
HOW_TO_DECIDE = {
    True: "; the witness in the owner's notes does not fit: this release and this source are not the ones of that publication",
    False: "; an audit decides it where the release was published, with the owner's notes and the ledger (RETICENT_LEDGER) of then, "
    "which keep a witness",
}


class Told:
    """What is known of the values that groups list (`held`), from one part of the rows after another.

    `read_witness` returns, of so many bytes, the owner's witness: the value of each published row in the order of the file, as the
    place of its first appearance in `held`; None where there is none.
    """

    def __init__(
        self, held: pl.DataFrame, column: str, read_witness: Callable[[int], bytes | None] = lambda size: None
    ):
        values = number(held[column])
        self.values, self.listed = values.distinct, values.codes.astype(np.int64)
        self.group, self.count = held[GROUP].to_numpy().astype(np.int64), held[COUNT].to_numpy()
        self.shown = np.bincount(self.listed, weights=self.count, minlength=len(values))
        self.true = np.zeros(len(values))
        self.pairs, self.certain = np.zeros(0, np.int64), np.zeros(0, np.int64)
        self.unlisted = 0  # of people who hold a value that no group lists
        self._combinations = 0
        self._open_rows: list[np.ndarray] = []  # (combination, group, rows), of people whose group is not told at once
        self._open_people: list[np.ndarray] = []  # (combination, value, people) of the same
        self._open_witnessed: list[np.ndarray] = []  # (combination, group, value) of the same rows, one by one
        self._witness = self._number_witness(read_witness)

    def _number_witness(self, read_witness: Callable[[int], bytes | None]) -> np.ndarray | None:
        """The value of each published row, numbered as those of `listed`; None where no witness can be read."""
        kind = value_type(len(self.values))
        content = read_witness(int(self.count.sum()) * kind.itemsize)
        if content is None:
            return None
        codes = np.frombuffer(content, kind).astype(np.int64)
        distinct, first = np.unique(self.listed, return_index=True)
        if codes.max(initial=0) >= len(distinct):
            return None
        return distinct[np.argsort(first)][codes]

    def add(self, link: Linked, group: pl.Series, people: pl.Series) -> None:
        """Rows with their `group`, and the value of each of the `people` whose row can be read."""
        both = number(pl.concat([self.values, people.rename(self.values.name)]))
        true = both.codes[len(self.values) :].astype(np.int64)
        place = np.full(len(both), -1)
        place[both.codes[: len(self.values)]] = np.arange(len(self.values))
        times = link.rows[1].each[link.whole]
        known = place[true] >= 0
        self.true += np.bincount(place[true][known], weights=times[known], minlength=len(self.values))
        of_row = group.to_numpy().astype(np.int64)
        told, value, many, undetermined = _determined(link, of_row, true)
        self._note_undetermined(link, of_row, place[true], undetermined)
        value = place[value]
        self.unlisted += int(many[value < 0].sum())
        self._gather(told[value >= 0] * len(self.values) + value[value >= 0], many[value >= 0])

    def _note_undetermined(self, link: Linked, group: np.ndarray, value: np.ndarray, undetermined: np.ndarray) -> None:
        """Keep the rows and the people of combinations for which an assignment has to be found."""
        if undetermined.any():
            ours, theirs = undetermined[link.ours], undetermined[link.theirs]
            unlisted = np.where(value < 0, len(self.values), value)
            rows = (link.ours[ours] + self._combinations, group[ours], link.rows[0].each[ours])
            people = (
                link.theirs[theirs] + self._combinations,
                unlisted[theirs],
                link.rows[1].each[link.whole][theirs],
            )
            self._open_rows.append(np.stack(rows))
            self._open_people.append(np.stack(people))
            if self._witness is not None:
                place = _places_in_file(link.rows[0], ours, len(self._witness))
                each = [np.repeat(codes, rows[2]) for codes in rows[:2]]
                self._open_witnessed.append(np.stack([*each, self._witness[place]]))
        self._combinations += link.size

    def _assignment(self) -> str:
        """Whether the people whose group is not told at once could have been put into the groups, beside the others."""
        size = len(self.values)
        listed = Tally(self.group, self.listed, self.count.astype(np.int64))
        left = listed.take_away(self.pairs // size, self.pairs % size, self.certain)
        if not self._open_rows:
            return EXISTS if not len(left) else NONE
        rows, people = (Tally.add_up(*np.concatenate(parts, axis=1)) for parts in (self._open_rows, self._open_people))
        if self._open_witnessed and is_assignment(rows, left, people, *np.concatenate(self._open_witnessed, axis=1)):
            return EXISTS
        return decide_assignment(rows, left, people)

    def _gather(self, pairs: np.ndarray, many: np.ndarray) -> None:
        both = np.concatenate([self.pairs, pairs])
        self.pairs, at = np.unique(both, return_inverse=True)
        weights = np.concatenate([self.certain, many])
        self.certain = np.bincount(at, weights=weights, minlength=len(self.pairs)).astype(np.int64)

    def finding(self) -> Finding:
        foreign = int(np.maximum(self.shown - self.true, 0).sum())
        stated = self.group * len(self.values) + self.listed
        order = np.argsort(stated, kind="stable")
        stated, count = stated[order], self.count[order]
        at = np.minimum(np.searchsorted(stated, self.pairs), max(len(stated) - 1, 0))
        lacking = np.where(stated[at] == self.pairs, count[at], 0) if len(stated) else np.zeros(len(self.pairs))
        misplaced = int(np.maximum(self.certain - lacking, 0).sum()) + self.unlisted
        assignment = NONE if foreign or misplaced else self._assignment()
        sentences = {
            EXISTS: "",
            NONE: "; the source's people cannot have been put into these groups",
            UNDECIDED: OPEN + HOW_TO_DECIDE[self._witness is not None],
        }
        return Finding(
            "values",
            {EXISTS: True, NONE: False, UNDECIDED: None}[assignment],
            {"foreign_values": foreign, "misplaced_values": misplaced, "assignment": assignment},
            f"{some(foreign, 'published value', 'does', 'do')} not occur in the source; groups have "
            f"{some(misplaced, 'value')} that their people do not have{sentences[assignment]}",
            needed=True,
        )


def _places_in_file(published: Rows, chosen: np.ndarray, rows: int) -> np.ndarray:
    """Where each row that the `chosen` ones stand for is in the file: equal rows, which are counted together, are neighbours there.

    Where they are not, the places are some others: a witness that is read there does not fit.
    """
    if published.places is None:
        return np.flatnonzero(chosen)
    times, places = published.each[chosen], published.places[chosen].astype(np.int64)
    first = (places - times * (times - 1) // 2) // times
    following = np.arange(int(times.sum())) - np.repeat(np.cumsum(times) - times, times)
    return np.clip(np.repeat(first, times) + following, 0, rows - 1)


def _determined(
    link: Linked, group: np.ndarray, true: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(group, value, rows) that can be told: the people of a combination share a value, or all of them are in one group.

    The last array marks published combinations of which it cannot be told.
    """
    least, most = np.full(link.size, np.iinfo(np.int64).max), np.full(link.size, -1)
    np.minimum.at(least, link.theirs, true)
    np.maximum.at(most, link.theirs, true)
    first, last = np.full(link.size, np.iinfo(np.int64).max), np.full(link.size, -1)
    np.minimum.at(first, link.ours, group)
    np.maximum.at(last, link.ours, group)
    published, there = link.counts
    one_value = least == most
    one_group = (first == last) & (published == there) & ~one_value
    ours, theirs = one_value[link.ours], one_group[link.theirs]
    of_group, of_value = last[link.theirs[theirs]], most[link.ours[ours]]
    rows, people = link.rows[0].each[ours], link.rows[1].each[link.whole][theirs]
    return (
        np.concatenate([group[ours], of_group]),
        np.concatenate([of_value, true[theirs]]),
        np.concatenate([rows, people]),
        ~one_value & ~one_group & (published > 0),
    )
