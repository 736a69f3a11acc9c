"""The audit's eyes on a perturbed release: the promise from the published parameters, group sizes from the published rows.

The matrix and the overall distribution show what the promise is worth if the values were redrawn as the manifest says.  That they
were, no file can show: a promise that the parameters keep is "undecided" (None) with the evidence "from parameters"; one that they
break is broken.  Against the source (`redrawn`) it is kept, where people, distribution and redrawing are as stated.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from reticent.audit.as_published import as_published
from reticent.audit.compared import Compared, looked_up
from reticent.audit.data_rows import data_rows
from reticent.audit.evidence import Redrawing
from reticent.audit.grouping import number
from reticent.audit.kind import Finding, Kept, Matching, Recounted
from reticent.audit.links import keys_of, linked
from reticent.audit.measure import posterior
from reticent.audit.measure.comparison import exact
from reticent.audit.order import Seen
from reticent.audit.redrawn import Comparison
from reticent.audit.sensitive import ranks
from reticent.audit.subject import Subject
from reticent.errors import BundleDamaged
from reticent.exact import is_whole
from reticent.release.kind import reader
from reticent.release.manifest import Manifest
from reticent.table.roles import Role

NOTE = "quasi-identifiers are published as they are: k is 1 wherever a combination is unique, and that is no fault of this kind"


@dataclass(frozen=True, slots=True)
class Perturbed:
    def recount(self, subject: Subject, *, each_row: bool, thorough: bool) -> Recounted:
        manifest = subject.manifest
        if manifest is None or subject.path is None:
            raise BundleDamaged("A perturbed release is a folder.")
        frame, times = data_rows(subject, manifest, subject.path, each_row=each_row)
        reader(subject.kind).check_tables({"data": frame}, manifest)
        redrawing = parameters(manifest)
        quasi = [column.name for column in subject.quasi]
        rows = pl.Series("\x00rows", np.ones(len(frame), np.int64) if times is None else times)
        alike = (
            frame.select(quasi).with_columns(rows).group_by(quasi).agg(pl.col("\x00rows").sum())["\x00rows"].to_numpy()
        )
        achieved, utility = _achieved(redrawing)
        achieved = {"k-anonymity": int(alike.min()), **achieved}
        return Recounted(subject, frame, alike, alike, [], achieved, utility, times, notes=(NOTE,), redrawing=redrawing,
                         explained=frozenset(redrawing.values))  # fmt: skip

    def match(self, recounted: Recounted, source: Compared) -> Matching:
        """Rows by all that is published of them but the redrawn value, which is tested against the matrix."""
        subject, redrawing = recounted.subject, recounted.redrawing
        assert redrawing is not None
        shown = [entry.name for entry in subject.columns if entry.role != Role.SENSITIVE]
        keys, ranked = keys_of(subject.columns, shown), _Ranked(subject, source)
        kept, seen = Kept(source, [entry.name for entry in subject.quasi]), Seen()
        compared, unmatched = Comparison(subject.columns, redrawing), 0
        for ours, theirs in source.parts(keys, [entry.name for entry in subject.columns]):
            there = as_published(theirs.frame, subject.columns)
            link = linked(ours, there, theirs, shown)
            unmatched += link.unmatched
            kept.add(theirs, link.stray)
            borne = (link.ours, link.theirs) if there.whole.all() else None
            seen.add(ours, theirs, [link.mean_place, link.mean(ranked.of(there.frame))], borne)
            compared.add(ours, there, theirs)
        drawn = compared.redrawn(subject.withheld)
        return Matching(unmatched, kept.values, seen.order(source.agreeing(keys), source.rows),
                        findings=(Finding("redrawn", drawn.passed, {"redrawn": drawn.to_dict()}, str(drawn)),),
                        redrawing=replace(redrawing, proven=drawn.passed))  # fmt: skip


class _Ranked:
    """The sensitive values of all source rows in the order of their domain."""

    def __init__(self, subject: Subject, source: Compared):
        column = subject.named(Role.SENSITIVE)[0]
        held = as_published(source.values(column.name)[0].to_frame(), [column]).frame[column.name]
        self._name, self._distinct = column.name, number(held).distinct
        self._rank = ranks(column, self._distinct)[0].astype(np.float64)

    def of(self, frame: pl.DataFrame) -> np.ndarray:
        return self._rank[looked_up(frame[self._name], self._distinct)]


def _achieved(redrawing: Redrawing) -> tuple[dict[str, Any], dict[str, Any]]:
    p = redrawing.distribution
    if p is None:
        return {}, {}
    betas = {
        "beta-likeness-basic": posterior.beta(redrawing.matrix, p, enhanced=False, two_sided=False),
        "beta-likeness-enhanced": posterior.beta(redrawing.matrix, p, enhanced=True, two_sided=False),
    }
    retention = sum(float(share * row[i]) for i, (share, row) in enumerate(zip(p, redrawing.matrix, strict=True)))
    return betas, {"retention": retention}


def parameters(manifest: Manifest) -> Redrawing:
    """The matrix and the distribution as exact numbers."""
    own = manifest.own
    try:
        known = {entry: exact(entry) for entry in {entry for row in own["matrix"] for entry in row}}  # few are distinct
        matrix = [[known[entry] for entry in row] for row in own["matrix"]]
        distribution = [exact(p) for p in own["distribution"]] if "distribution" in own else None
    except (TypeError, ValueError, ArithmeticError):
        raise BundleDamaged("The matrix or the distribution of this release cannot be read.") from None
    if not all(is_whole(manifest.rows * share) for share in distribution or ()):
        raise BundleDamaged(f"The distribution of this release is none of {manifest.rows:,} people.")
    fits = len(matrix) == len(own["values"]) and (distribution is None or len(distribution) == len(matrix))
    if (
        not fits
        or not posterior.stochastic(matrix)
        or (distribution is not None and (sum(distribution) != 1 or min(distribution) < 0))
    ):
        raise BundleDamaged("The matrix and the distribution of this release are no probabilities of its values.")
    if distribution is not None and manifest.withheld:
        raise BundleDamaged(
            "The overall distribution is published beside withheld rows.",
            why="Together they say which values the withheld people had.",
        )
    return Redrawing(own["values"], matrix, distribution)


EYES = Perturbed()
