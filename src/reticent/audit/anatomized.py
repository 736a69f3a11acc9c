"""The audit's eyes on an anatomized release: that its two files belong together, and what each group's values promise.

A group is the rows with one number in `quasi`; its histogram is what `sensitive` lists for that number.  Every measure is the one
for generalized releases, on these histograms.  k counts rows that agree in every quasi-identifier, and those are exact: k is 1
wherever a combination is unique, which is no fault of this kind.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from reticent.audit.anatomized_histograms import Histograms, histograms
from reticent.audit.anatomized_values import Told
from reticent.audit.as_published import as_published
from reticent.audit.compared import Compared
from reticent.audit.kind import Kept, Matching, Recounted, reads_rows
from reticent.audit.links import keys_of, linked
from reticent.audit.measure.counts import views
from reticent.audit.measures import measures
from reticent.audit.sensitive import of_counts
from reticent.audit.sorted_rows import NOTE, read_pieces, refuse_disorder
from reticent.audit.subject import Subject
from reticent.errors import BundleDamaged, some
from reticent.owner.witness import read_witness
from reticent.release.anatomized import COUNT, GROUP
from reticent.release.data import COUNT as EACH
from reticent.release.data import count_data, read_data
from reticent.release.kind import data_files, reader, schemas_of
from reticent.release.manifest import ColumnEntry, Manifest
from reticent.table.roles import Role


@dataclass(frozen=True, slots=True)
class Anatomized:
    def recount(self, subject: Subject, *, each_row: bool, thorough: bool) -> Recounted:
        manifest, folder = _opened(subject)
        files, schemas = data_files(folder, manifest), schemas_of(manifest)
        held = read_data(files["sensitive"], schemas["sensitive"])
        quasi = [column.name for column in subject.quasi]
        whole = reads_rows(subject, files["quasi"], schemas["quasi"], each_row=each_row, thorough=thorough)
        if whole:
            frame, times = read_data(files["quasi"], schemas["quasi"]), None
            alike, rows = frame.group_by(quasi).len(name=EACH)[EACH].to_numpy(), frame[GROUP]
        else:
            frame, times = count_data(files["quasi"], schemas["quasi"], only=quasi)
            alike, rows = times, read_data(files["quasi"], schemas["quasi"], only=[GROUP])[GROUP]
        reader(subject.kind).check_tables({"rows": rows.to_frame(), "sensitive": held}, manifest)
        listed = _together(rows, held, manifest.sensitive, manifest.rows)
        if thorough:
            refuse_disorder(subject, [frame] if whole else read_pieces(files["quasi"], schemas["quasi"]), frame)
        column = of_counts(manifest.sensitive, views(listed.distinct(), listed.null), listed.ordered)
        achieved = {"k-anonymity": int(alike.min()), **measures(replace(column, paths=None))}
        utility = {"rce": listed.reconstruction_error(), "c_avg": float(listed.sizes.mean())}
        return Recounted(subject, frame, alike, listed.sizes, [column], achieved, utility, times, notes=(NOTE,),
                         beside={"sensitive": held})  # fmt: skip

    def match(self, recounted: Recounted, source: Compared) -> Matching:
        """Rows by all that `quasi` shows of them; the values of each group by those of the rows that can be told apart."""
        subject, held = recounted.subject, recounted.beside["sensitive"]
        shown = [column.name for column in subject.columns if column.role != Role.SENSITIVE]
        column = subject.named(Role.SENSITIVE)[0].name
        kept, unmatched = Kept(source, [entry.name for entry in subject.quasi]), 0
        told = Told(held, column, partial(read_witness, _opened(subject)[1]))
        for ours, theirs in source.parts(keys_of(subject.columns, shown), [entry.name for entry in subject.columns]):
            there = as_published(theirs.frame, subject.columns)
            link = linked(ours, there, theirs, shown)
            unmatched += link.unmatched
            kept.add(theirs, link.stray)
            told.add(link, ours.frame[GROUP], there.frame[column].filter(there.whole))
        return Matching(unmatched, kept.values, findings=(told.finding(),))


def _opened(subject: Subject) -> tuple[Manifest, Path]:
    if subject.manifest is None or subject.path is None:
        raise BundleDamaged("An anatomized release is a folder of two files.")
    return subject.manifest, subject.path


def _together(rows: pl.Series, held: pl.DataFrame, column: ColumnEntry, stated: int) -> Histograms:
    """The groups' histograms, if both files have the same groups, with as many rows as values."""
    faults = []
    if len(rows) != stated:
        faults.append(f"the data has {len(rows)} rows, the manifest says {stated}")
    if not len(rows):
        faults.append("there are no rows")
    if rows.null_count() or held[GROUP].null_count() or held[COUNT].null_count() or (held[COUNT] < 1).any():
        faults.append("a group or a count is missing or not positive")
    if not faults and not len(held):
        faults.append("no group has values")
    if not faults:
        listed = histograms(column, held)
        if not (wrong := uneven(rows.to_numpy(), listed.groups, listed.sizes)):
            return listed
        faults.append(f"{some(wrong, 'group', 'has', 'have')} not as many rows as values")
    raise BundleDamaged("The two files of the release do not belong together.", why="; ".join(faults) + ".")


def uneven(rows: np.ndarray, groups: np.ndarray, sizes: np.ndarray) -> int:
    """How many groups have another number of rows (`rows` has the group of each) than of values (`sizes`, of each of `groups`)."""
    if (rows[1:] < rows[:-1]).any():
        rows = np.sort(rows)
    starts = np.flatnonzero(np.append(True, rows[1:] != rows[:-1]))
    mine, lengths = rows[starts], np.diff(np.append(starts, len(rows)))
    if np.array_equal(mine, groups):
        return int((lengths != sizes).sum())
    both = np.union1d(mine, groups)
    has, holds = np.zeros((2, len(both)), np.int64)
    has[np.searchsorted(both, mine)] = lengths
    holds[np.searchsorted(both, groups)] = sizes
    return int((has != holds).sum())


EYES = Anatomized()
