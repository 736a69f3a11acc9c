"""The audit's eyes on a transformed release: that its three files belong together, what each group says, and where it came from.

A group is the rows with one number in `quasi`; what it says of their values is its target, if its nodes in `sensitive` follow it
(`measure/target.py`).  Every measure is that of the targets.  `bounds` is recomputed from `sensitive`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import numpy as np
import polars as pl

from reticent.audit.as_published import as_published
from reticent.audit.compared import Compared
from reticent.audit.declared_groups import ROWS, count_combinations, require_declared_groups
from reticent.audit.evidence import Targeted
from reticent.audit.group_names import refuse_strange_groups
from reticent.audit.kind import Kept, Matching, Recounted, reads_rows
from reticent.audit.links import keys_of, linked
from reticent.audit.recomputed_bounds import faulty_bounds
from reticent.audit.sensitive import Sensitive
from reticent.audit.sorted_rows import NOTE, read_pieces, refuse_disorder
from reticent.audit.subject import Subject
from reticent.audit.target_measures import measures, views_of
from reticent.audit.underlying import Underlying
from reticent.errors import BundleDamaged, some
from reticent.release.annotated import Annotated
from reticent.release.data import count_data, read_data
from reticent.release.guaranteed import COUNT, GROUP, nodes_of
from reticent.release.kind import data_files, reader, schemas_of
from reticent.release.manifest import Manifest
from reticent.release.numbers import fraction
from reticent.table.grammar import ANY, range_label, set_label, value_label
from reticent.table.roles import Role


@dataclass(frozen=True, slots=True)
class Transformed:
    def recount(self, subject: Subject, *, each_row: bool, thorough: bool) -> Recounted:
        manifest, folder = _opened(subject)
        files, schemas = data_files(folder, manifest), schemas_of(manifest)
        held, bounds = (read_data(files[name], schemas[name]) for name in ("sensitive", "bounds"))
        quasi = [column.name for column in subject.quasi]
        whole = reads_rows(subject, files["quasi"], schemas["quasi"], each_row=each_row, thorough=thorough)
        if whole:
            frame, times = read_data(files["quasi"], schemas["quasi"]), None
            group = frame[GROUP]
        else:
            counted, times = count_data(files["quasi"], schemas["quasi"], only=[*quasi, GROUP])
            frame, group = counted.drop(GROUP), read_data(files["quasi"], schemas["quasi"], only=[GROUP])[GROUP]
        checked = {"quasi": group.to_frame(), "sensitive": held, "bounds": bounds}
        reader(subject.kind).check_tables(checked, manifest)
        annotated = Annotated.of(manifest)
        rows = _rows(group, manifest.rows)
        combinations = count_combinations(frame if whole else counted, quasi, times)
        alike = combinations[ROWS].to_numpy()
        require_declared_groups(combinations, rows, manifest.method.parameters)
        targeted = _targeted(annotated, held, rows)
        names = refuse_strange_groups(files["quasi"], schemas["quasi"], manifest, len(rows))
        targeted = replace(targeted, names=names)
        _refuse_foreign(annotated, held, targeted, manifest)
        if faults := faulty_bounds(bounds, held, rows, manifest):
            raise BundleDamaged(
                "The bounds of the release are not those of its values.",
                why=f"{some(faults, 'row', 'differs', 'differ')}.",
            )
        if thorough:
            refuse_disorder(subject, [frame] if whole else read_pieces(files["quasi"], schemas["quasi"]), frame)
        name = manifest.sensitive.name
        column = Sensitive(name, views_of(targeted), None)
        achieved = {"k-anonymity": int(alike.min()), **measures(targeted, manifest.sensitive.type)}
        utility = {**_ranges(annotated, held, targeted, manifest), "c_avg": float(rows.mean())}
        domain = pl.DataFrame({name: reader(subject.kind).domain({}, manifest)})
        return Recounted(subject, frame, alike, rows, [column], achieved, utility, times, notes=(NOTE,), targeted=targeted,
                         beside={"sensitive": held, "bounds": bounds, "domain": domain})  # fmt: skip

    def match(self, recounted: Recounted, source: Compared) -> Matching:
        """Rows by all that `quasi` shows of them; a group's values by the people who are in it."""
        subject = recounted.subject
        shown = [column.name for column in subject.columns if column.role != Role.SENSITIVE]
        name = subject.named(Role.SENSITIVE)[0].name
        kept, under, unmatched = Kept(source, [entry.name for entry in subject.quasi]), Underlying(recounted), 0
        for ours, theirs in source.parts(keys_of(subject.columns, shown), [entry.name for entry in subject.columns]):
            there = as_published(theirs.frame, subject.columns)
            link = linked(ours, there, theirs, shown)
            unmatched += link.unmatched
            kept.add(theirs, link.stray)
            under.add(link, ours.frame[GROUP], there.frame[name].filter(there.whole))
        return Matching(unmatched, kept.values, findings=under.findings())


def _opened(subject: Subject) -> tuple[Manifest, Path]:
    if subject.manifest is None or subject.path is None:
        raise BundleDamaged("A transformed release is a folder of three files.")
    return subject.manifest, subject.path


def _apart(why: str) -> BundleDamaged:
    return BundleDamaged("The files of the release do not belong together.", why=why)


def _rows(group: pl.Series, stated: int) -> np.ndarray:
    """How many rows each group has; groups are numbered from 0, none is left out."""
    if len(group) != stated or not stated:
        raise _apart(f"The data has {len(group)} rows, the manifest says {stated}.")
    if group.null_count() or cast("int", group.min()) < 0:
        raise _apart("A row has no group.")
    rows = np.bincount(group.to_numpy())
    if (rows == 0).any():
        raise _apart(f"{some(int((rows == 0).sum()), 'group', 'has', 'have')} no rows.")
    return rows


def _targeted(annotated: Annotated, held: pl.DataFrame, rows: np.ndarray) -> Targeted:
    if sum(held[name].null_count() for name in held.columns) or not len(held) or (held[COUNT] < 1).any():
        raise _apart("A value of a group is missing, or its count is not positive.")
    group, count = held[GROUP].to_numpy().astype(np.int64), held[COUNT].to_numpy().astype(np.int64)
    node = nodes_of(annotated, held)
    if (node < 0).any():
        raise _apart(f"{int((node < 0).sum())} entries are no nodes of the hierarchy.")
    if group.min() < 0 or group.max() >= len(rows):
        raise _apart("`sensitive` has groups that `quasi` lacks.")
    short = int((np.bincount(group, weights=count, minlength=len(rows)) < rows).sum())
    if short:
        raise _apart(f"{some(short, 'group', 'has', 'have')} fewer values than rows.")
    if int(annotated.assigned[-1, 0]) >= len(rows):
        raise _apart("A target is assigned to a group that no row has.")
    shares = [annotated.distribution(target) for target in range(len(annotated.weights))]
    target = annotated.target_of(np.arange(len(rows)))
    return Targeted(group, node, count, annotated.parent, annotated.weights, target, shares, rows, annotated.texts)


def _refuse_foreign(annotated: Annotated, held: pl.DataFrame, targeted: Targeted, manifest: Manifest) -> None:
    """Labels are those of their nodes; entries are listed once, sorted by group and by the first and last value of the node."""
    first, last = annotated.first[targeted.node], annotated.last[targeted.node]
    order = np.lexsort((last, first, targeted.group))
    key = targeted.group * len(annotated.first) + targeted.node
    if (np.diff(order) != 1).any() or len(np.unique(key)) != len(key):
        raise _apart(
            "The groups' values are not listed once each, sorted by group and value: another order can say more."
        )
    numeric = manifest.sensitive.type == "numeric"
    labels = {node: _label(annotated, node, numeric) for node in np.unique(targeted.node).tolist()}
    wrong = sum(
        labels[node] != label for node, label in set(zip(targeted.node.tolist(), held["label"].to_list(), strict=True))
    )
    if wrong:
        raise _apart(f"{some(wrong, 'label', 'is not that of its value', 'are not those of their values')}.")


def _label(annotated: Annotated, node: int, numeric: bool) -> str:
    first, last = int(annotated.first[node]), int(annotated.last[node])
    if first == last:
        return value_label(annotated.texts[first])
    if numeric:
        return range_label(annotated.texts[first], annotated.texts[last])
    whole = last - first + 1 == len(annotated.texts)
    return ANY if whole else set_label(annotated.texts[first : last + 1])


def _ranges(annotated: Annotated, held: pl.DataFrame, targeted: Targeted, manifest: Manifest) -> dict[str, float]:
    """The sum of ranges (problem 4.1) and the share of fakes among the published values."""
    if manifest.sensitive.type == "numeric":
        place = np.array([float(fraction(text)) for text in annotated.texts])
        each = place[annotated.last] - place[annotated.first]
    else:
        size = annotated.last - annotated.first + 1
        each = np.where(size > 1, size, 0)
    values = int(targeted.count.sum())
    return {
        "sum_of_ranges": float(each[targeted.node] @ targeted.count),
        "fakes": (values - int(targeted.rows.sum())) / values,
    }


EYES = Transformed()
