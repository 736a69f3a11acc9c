"""Were rows withheld as the manifest says?  Asked of the source, for releases from which suppression alone withheld."""

from __future__ import annotations

import numpy as np
import polars as pl

from reticent.audit.as_published import as_published
from reticent.audit.grouping import number
from reticent.audit.kind import Finding, Recounted
from reticent.audit.measure.comparison import exact
from reticent.audit.order import SIGNIFICANCE
from reticent.audit.withheld import withholding
from reticent.release.kind import reader
from reticent.table.roles import Role


def withheld_as_stated(found: Recounted, source: pl.DataFrame) -> tuple[Finding, ...]:
    """Whether the declared kind of suppression can have left what is published; nothing where no stage, or several, withheld."""
    stages = found.subject.stages
    if len(stages) != 1 or stages[0].name != "suppression" or found.redrawing is not None:
        return ()
    stage = stages[0]
    column = stage.column or found.subject.named(Role.SENSITIVE)[0].name
    before, after = _counts(found, source, column)
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


def _counts(found: Recounted, source: pl.DataFrame, column: str) -> tuple[list[int], list[int]]:
    """How many rows of the source and of the release hold each value, at the same place; rows without one are left out."""
    subject = found.subject
    entry = next(entry for entry in subject.columns if entry.name == column)
    kind = reader(subject.kind)
    assert subject.manifest is not None  # a table of another tool has no stages
    tables = {kind.files[0]: found.frame, **found.beside}
    shown = kind.value_counts(tables, subject.manifest, column).drop_nulls(column)
    held = as_published(source, [entry]).frame[column].drop_nulls()
    both = number(shown[column].append(held))
    ours, theirs = both.codes[: len(shown)], both.codes[len(shown) :]
    after = np.bincount(ours, weights=shown["count"].to_numpy(), minlength=len(both))
    return np.bincount(theirs, minlength=len(both)).tolist(), after.astype(np.int64).tolist()
