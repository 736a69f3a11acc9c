"""The audit of a perturbed release: the promise from the published parameters, group sizes from the published rows.

The matrix and the overall distribution show what the promise is worth if the values were redrawn as the manifest says.  That they
were, no file can show: a promise that the parameters keep is "undecided" (None) with the evidence "from parameters"; one that they
break is broken.  Against the source (`redrawn`) it is kept, where people, distribution and redrawing are as stated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from reticent.audit.judge import NEEDS_SOURCE, Verdict
from reticent.audit.measure import posterior
from reticent.audit.measure.comparison import exact
from reticent.audit.redrawn import Redrawn, against_source
from reticent.audit.result import Audit
from reticent.errors import BundleDamaged
from reticent.release import bundle
from reticent.release.perturbed import read_data

FROM_PARAMETERS = "from parameters"


def audit_perturbed(
    folder: str | Path, expect_digest: str | None = None, source: Any = None, missing: Sequence[str] = ()
) -> Audit:
    """Judge every promise of a perturbed folder; a damaged or changed one is refused."""
    folder = Path(folder)
    manifest = bundle.verify(folder, expect_digest)
    frame = read_data(folder / manifest["data"][0], manifest["columns"])
    if len(frame) != manifest["rows"]:
        raise BundleDamaged(f"The data has {len(frame)} rows, the manifest says {manifest['rows']}.")
    matrix, distribution = parameters(manifest)
    _check_values(manifest, frame)
    quasi = [column["name"] for column in manifest["columns"] if column["role"] == "quasi-identifying"]
    sizes = frame.group_by(quasi).len()["len"]
    proven = None
    if source is not None:
        proven = against_source(frame, manifest["columns"], manifest["values"], matrix, distribution, source, missing)
    verdicts = tuple(judge(promise, matrix, distribution, proven) for promise in manifest["promises"])
    achieved: dict[str, Any] = {"k-anonymity": int(sizes.min())}  # type: ignore[arg-type]
    if distribution is not None:
        achieved["beta-likeness-basic"] = posterior.beta(matrix, distribution, enhanced=False, two_sided=False)
        achieved["beta-likeness-enhanced"] = posterior.beta(matrix, distribution, enhanced=True, two_sided=False)
    notes = (
        "quasi-identifiers are published as they are: k is 1 wherever a combination is unique, and that is no fault of this kind",
    )
    retention = sum(float(p * row[i]) for i, (p, row) in enumerate(zip(distribution or [], matrix, strict=False)))
    utility = {"retention": retention} if distribution is not None else {}
    return Audit(
        "perturbed",
        len(frame),
        len(sizes),
        manifest["withheld"],
        verdicts,
        achieved,
        utility,
        source=proven,
        notes=notes,
    )


def parameters(manifest: Mapping[str, Any]) -> tuple[list[list[Fraction]], list[Fraction] | None]:
    """The matrix and the distribution as exact numbers."""
    try:
        known = {entry: exact(entry) for row in manifest["matrix"] for entry in row}  # few of the entries are distinct
        matrix = [[known[entry] for entry in row] for row in manifest["matrix"]]
        distribution = [exact(p) for p in manifest["distribution"]] if "distribution" in manifest else None
    except (TypeError, ValueError, ZeroDivisionError):
        raise BundleDamaged("The matrix or the distribution of this release cannot be read.") from None
    fits = len(matrix) == len(manifest["values"]) and (distribution is None or len(distribution) == len(matrix))
    if (
        not fits
        or not posterior.stochastic(matrix)
        or (distribution is not None and (sum(distribution) != 1 or min(distribution) < 0))
    ):
        raise BundleDamaged("The matrix and the distribution of this release are no probabilities of its values.")
    if distribution is not None and manifest["withheld"]:
        raise BundleDamaged(
            "The overall distribution is published beside withheld rows.",
            why="Together they say which values the withheld people had.",
        )
    return matrix, distribution


def _check_values(manifest: Mapping[str, Any], frame: Any) -> None:
    column = next(entry["name"] for entry in manifest["columns"] if entry["role"] == "sensitive")
    import polars as pl

    unknown = len(set(frame[column].cast(pl.String).unique()) - set(manifest["values"]))
    if unknown:
        raise BundleDamaged(f"Column {column!r} shows {unknown} value(s) that the manifest does not list.")


def judge(
    promise: Mapping[str, Any],
    matrix: list[list[Fraction]],
    distribution: list[Fraction] | None,
    proven: Redrawn | None = None,
) -> Verdict:
    asked = {name: value for name, value in promise.items() if name not in ("model", "column")}
    column = promise.get("column")
    if promise["model"] != "beta-likeness" or distribution is None:
        return Verdict(promise["model"], column, asked, {}, None, NEEDS_SOURCE)
    form = {"enhanced": bool(asked.get("enhanced", True)), "two_sided": bool(asked.get("two_sided", False))}
    found = posterior.beta(matrix, distribution, **form)
    shown = True if proven is not None and proven.passed else None
    kept = shown if found is not None and found <= exact(asked["beta"]) else False
    return Verdict(promise["model"], column, asked, {"beta": found}, kept, FROM_PARAMETERS)
