"""Check against the source the rows that a release states to have withheld before anything was planned.

Two sorts of rows are withheld because a column declares it, and the manifest states how many of each:

    missing   rows without a value in a column that says `missing = "withhold"`. Which rows these are the source shows:
              exactly those that lack a value there. They are set aside before a release is compared with its source
              (`select_complete_rows`), so that everything else is compared with the rows that were planned, and their
              number must be the one stated (`check_missing_rows`).
    surplus   rows of persons with more than `rows_per_person`. Which rows were drawn no file shows, but the source that
              names persons shows how many there must be, and that no group holds more rows than its persons may have in
              it (`check_row_limits`): the rows that a label covers, of each person at most the limit.

Nothing here uses the code that withholds.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from reticent.audit.groups import number_values
from reticent.audit.kind import RecomputedRelease, SourceFinding
from reticent.audit.person_counts import count_surplus_under, join_labels
from reticent.audit.source_comparison import read_as_stated
from reticent.data.source import collect_frame
from reticent.data.text_formats import Table
from reticent.errors import pluralize, quote_list

SourceTable = pl.DataFrame | pl.LazyFrame


def select_complete_rows(source: Table, names: Sequence[str]) -> Table:
    """Select the source's rows that have a value in each of these columns; NaN is none."""
    present = source.collect_schema()
    for name in names:
        if name in present:
            is_present = pl.col(name).is_not_null()
            if present[name].is_float():
                is_present &= ~pl.col(name).is_nan()
            source = source.filter(is_present)
    return source


def check_missing_rows(recount: RecomputedRelease, set_aside: int) -> tuple[SourceFinding, ...]:
    """Check that as many source rows lack a value as the manifest states to have withheld for it."""
    subject = recount.subject
    if not subject.complete:
        return ()
    stated = subject.withheld_missing
    names = quote_list(subject.complete)
    if set_aside == stated:
        sentence = (
            f"{pluralize(set_aside, 'source row', 'lacks', 'lack')} a value in {names}, and none of them is published"
        )
    else:
        sentence = (
            f"{pluralize(set_aside, 'source row', 'lacks', 'lack')} a value in {names}, and the release states that "
            f"{stated:,} were withheld for it"
        )
    return (SourceFinding("missing", set_aside == stated, {"withheld_missing": set_aside}, sentence),)


def check_row_limits(
    recount: RecomputedRelease, source: SourceTable, naming: Sequence[str]
) -> tuple[SourceFinding, ...]:
    """Check that nobody can have more rows published than the manifest states, where the source names persons.

    `source` are the complete rows, `naming` the columns that name persons. Nothing is returned where no such column is
    in the source, or every row may be a person's own.
    """
    subject = recount.subject
    present = source.collect_schema().names()
    names = [name for name in naming if name in present]
    if subject.manifest is None or not names or not (subject.withheld_surplus or subject.rows_per_person > 1):
        return ()
    limit = subject.rows_per_person
    beyond = [_count_beyond(source, name, limit) for name in names]
    least = max(beyond)
    fits = least <= subject.withheld - subject.withheld_missing
    if len(names) == 1:
        fits = fits and least == subject.withheld_surplus
    crowded = 0
    if fits and least and isinstance(source, pl.DataFrame) and recount.sampling is None:
        crowded = max(_count_crowded_groups(recount, source, name, limit) for name in names)
    facts = {"withheld_surplus": least, "crowded_groups": crowded}
    people = f"more than {pluralize(limit, 'row')}"
    if not fits:
        sentence = (
            f"{pluralize(least, 'source row', 'is', 'are')} of people with {people} beyond these, and the release states "
            f"that {subject.withheld_surplus:,} were withheld for it"
        )
    elif crowded:
        sentence = f"{pluralize(crowded, 'group', 'has', 'have')} {people} of one person"
    elif least:
        sentence = f"the {pluralize(least, 'row')} of people with {people} beyond these are withheld"
    else:
        sentence = f"nobody has {people}"
    return (SourceFinding("rows per person", fits and not crowded, facts, sentence),)


def _count_beyond(source: SourceTable, name: str, limit: int) -> int:
    """Count the rows beyond the limit of each person; rows without a person are each somebody's only row."""
    persons = source.lazy().filter(pl.col(name).is_not_null()).group_by(name).len(name="\x00rows")
    surplus = (pl.col("\x00rows").cast(pl.Int64) - limit).clip(lower_bound=0).sum()
    return int(collect_frame(persons.select(surplus), "Counting the rows of persons", "streaming").item())


def _count_crowded_groups(recount: RecomputedRelease, source: pl.DataFrame, name: str, limit: int) -> int:
    """Count the groups with more rows than their persons may have under its labels."""
    rows = source.filter(pl.col(name).is_not_null())
    lone_rows = source.filter(pl.col(name).is_null())
    typed = read_as_stated(pl.concat([rows, lone_rows]), recount.subject.columns)
    person = number_values(typed[name]).codes.astype(np.int64)
    person[len(rows) :] = person.max(initial=0) + 1 + np.arange(len(lone_rows))
    regions = join_labels(recount, typed)
    boxes = len(recount.groups)
    capacity = regions.total(np.ones(len(typed), np.int64), boxes) - count_surplus_under(regions, person, boxes, limit)
    return int((recount.groups.sizes > capacity).sum())
