"""Were rows withheld as the manifest says?  Asked of the source, for releases from which suppression alone withheld."""

from __future__ import annotations

import numpy as np
import polars as pl

from reticent.audit.as_published import as_published
from reticent.audit.compared import Compared
from reticent.audit.grouping import number, pack
from reticent.audit.kind import Finding, Recounted
from reticent.audit.measure.comparison import exact
from reticent.audit.order import SIGNIFICANCE
from reticent.audit.withheld import withholding
from reticent.release.data import COUNT
from reticent.release.kind import reader
from reticent.table.roles import Role


def withheld_as_stated(found: Recounted, source: Compared) -> tuple[Finding, ...]:
    """Whether the declared kind of suppression can have left what is published; nothing where no stage, or several, withheld."""
    stages = found.subject.stages
    if len(stages) != 1 or stages[0].name != "suppression" or found.redrawing is not None:
        return ()
    stage = stages[0]
    names = [entry.name for entry in found.subject.named(Role.SENSITIVE)]
    columns = [stage.column] if stage.column else names if found.subject.jointly else names[:1]
    before, after = _counts(found, source, columns)
    kind = stage.parameters.get("kind", "calibrated")
    judged = withholding(kind, exact(stage.parameters["l"]), before, after)
    if judged.possible is None:
        return ()
    chance = 1.0 if judged.probability is None else float(judged.probability)
    fine = judged.possible and chance >= SIGNIFICANCE
    return (
        Finding(
            "suppression",
            fine,
            {"suppression_possible": fine, "suppression_probability": chance},
            f"{kind} suppression for l = {stage.parameters['l']} withholds as little as here, or less, with a probability of "
            f"{chance:.2g}",
        ),
    )


def _counts(found: Recounted, source: Compared, columns: list[str]) -> tuple[list[int], list[int]]:
    """How many rows of the source and of the release hold each value, or each combination of several columns' values.

    The counts of a value stand at the same place; rows without one are left out.
    """
    subject = found.subject
    rows = source.counted(columns)
    held = as_published(rows.frame, [entry for entry in subject.columns if entry.name in columns]).frame
    held = held.select(columns).with_columns(pl.Series(COUNT, rows.each)).drop_nulls(columns)
    shown = _shown(found, columns).drop_nulls(columns)
    word = pack([number(shown[name].append(held[name])) for name in columns], len(shown) + len(held))
    distinct, codes = np.unique(word, return_inverse=True)
    sides = ((codes[: len(shown)], shown), (codes[len(shown) :], held))
    after, before = (
        np.bincount(place, weights=side.to_series(-1).to_numpy(), minlength=len(distinct)).astype(np.int64).tolist()
        for place, side in sides
    )
    return before, after


def _shown(found: Recounted, columns: list[str]) -> pl.DataFrame:
    """The published values with how many rows hold each, last; combinations, and labelled rows', are of one file."""
    if len(columns) > 1 or found.labelled:
        each = found.frame.select(columns).with_columns(pl.Series(COUNT, found.each))
        return each.group_by(columns).agg(pl.col(COUNT).sum())
    kind, manifest = reader(found.subject.kind), found.subject.manifest
    assert manifest is not None  # a table of another tool has no stages
    return kind.value_counts({kind.files[0]: found.frame, **found.beside}, manifest, columns[0])
