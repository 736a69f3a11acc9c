"""An anatomized release against its source: values that the source has not, or not in the group where the people are.

Whose value is whose is told where all people of a combination share a value, or all of them are in one group.  For everybody
else an assignment of people to groups has to exist (`group_assignment`).
"""

from __future__ import annotations

import numpy as np
import polars as pl

from reticent.audit.group_assignment import EXISTS, NONE, UNDECIDED, Tally, decide_assignment
from reticent.audit.grouping import number
from reticent.audit.kind import Finding
from reticent.audit.links import Linked
from reticent.errors import some
from reticent.release.anatomized import COUNT, GROUP


class Told:
    """What is known of the values that groups list (`held`), from one part of the rows after another."""

    def __init__(self, held: pl.DataFrame, column: str):
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
        self._combinations += link.size

    def _assignment(self) -> str:
        """Whether the people whose group is not told at once could have been put into the groups, beside the others."""
        size = len(self.values)
        listed = Tally(self.group, self.listed, self.count.astype(np.int64))
        left = listed.take_away(self.pairs // size, self.pairs % size, self.certain)
        if not self._open_rows:
            return EXISTS if not len(left) else NONE
        rows, people = (np.concatenate(parts, axis=1) for parts in (self._open_rows, self._open_people))
        return decide_assignment(Tally.add_up(*rows), left, Tally.add_up(*people))

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
            UNDECIDED: "; whether the source's people can have been put into these groups could not be decided: "
            "nothing was found that rules it out, and no way to do it either",
        }
        return Finding(
            "values",
            {EXISTS: True, NONE: False, UNDECIDED: None}[assignment],
            {"foreign_values": foreign, "misplaced_values": misplaced, "assignment": assignment},
            f"{some(foreign, 'published value', 'does', 'do')} not occur in the source; groups have "
            f"{some(misplaced, 'value')} that their people do not have{sentences[assignment]}",
            needed=True,
        )


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
