"""Parameters from guarantees and back, from numbers alone: what `reticent calibrate METHOD` prints.

calibrate("suppression", counts=[10, 4, 2, 1, 1], l=3)    of one table, by how many rows hold each sensitive value
calibrate("suppression", rows=18, values=5, l=3)          of every table of so many rows in so many values, by enumeration
calibrate("perturbed-generalization", p=0.3, k=6, lambda_=0.1, rho1=0.2, domain=50)
"""

# ruff: noqa: E741  `l` is the field's own letter

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reticent.attacks.eligibility.attack import compute_suppression_risk
from reticent.attacks.eligibility.suppressed_tables import (
    CountPrior,
    compute_worst_posterior,
    compute_worst_withheld_posterior,
)
from reticent.errors import RequestError, suggest
from reticent.methods.suppression.stage import SUPPRESSION_KINDS, require_countable, require_enough_values
from reticent.validation import integer, integers, names, optional, require_known_options, text, validate_arguments

POSTERIOR_SAMPLES = 2_000
MAX_ENUMERATED_ROWS = 40  # tables of more rows are too many to list
METHOD_OPTIONS = {
    "suppression": ("l", "counts", "rows", "values", "prior", "kinds"),
    "perturbed-generalization": ("p", "k", "s", "lambda_", "rho1", "rho2", "delta", "domain", "rows"),
}


@validate_arguments(method=text)
def calibrate(method: str, **options: Any) -> dict[str, Any]:
    """Compute what a method would cost and what an adversary would learn; which numbers are needed depends on the method."""
    if method not in CALIBRATORS:
        raise RequestError(f"{method!r} cannot be calibrated.", attempt=suggest(str(method), CALIBRATORS))
    require_known_options(options, METHOD_OPTIONS[method], f"The calibration of {method}")
    return CALIBRATORS[method](**options)


@validate_arguments(
    l=integer, counts=optional(integers), rows=optional(integer), values=optional(integer), prior=text, kinds=names
)
def calibrate_suppression(
    *,
    l: int,
    counts: Sequence[int] | None = None,
    rows: int | None = None,
    values: int | None = None,
    prior: str = "uniform",
    kinds: Sequence[str] = tuple(SUPPRESSION_KINDS),
) -> dict[str, Any]:
    """Compute for each kind what it withholds on average, and the worst posteriors of an adversary who knows the algorithm."""
    CountPrior(prior)
    if l < 2:
        raise RequestError(f"l = {l} asks for nothing.", attempt="l = 2 or more.")
    for kind in kinds:
        if kind not in SUPPRESSION_KINDS:
            raise RequestError(
                f"suppression: kind {kind!r} is not known.", attempt=suggest(str(kind), SUPPRESSION_KINDS)
            )
    if counts is not None and rows is None and values is None:
        return _calibrate_counts([int(count) for count in counts], l, prior, kinds)
    if counts is None and rows is not None and values is not None:
        return _calibrate_every_table(rows, values, l, prior, kinds)
    raise RequestError(
        "suppression is calibrated from counts, or from rows and values.",
        attempt="counts=[10, 4, 2, 1, 1], l=3, or rows=18, values=5, l=3.",
    )


def calibrate_perturbed_generalization(**options: Any) -> dict[str, Any]:
    """Compute what p promises against corruption, or the largest p for a promise; `lambda_` is the adversary's skew."""
    from reticent.methods.perturbed_generalization.calibration import answer_calibration

    if options.get("domain") is not None:
        options["domain"] = integer(options["domain"], "domain")
    if options.get("rows") is not None:
        options["rows"] = integer(options["rows"], "rows")
    return answer_calibration({name.removesuffix("_"): value for name, value in options.items() if value is not None})


def _calibrate_counts(counts: list[int], l: int, prior: str, kinds: Sequence[str]) -> dict[str, Any]:
    if not counts or min(counts) < 1:
        raise RequestError("counts are whole numbers above 0.", attempt="counts=[10, 4, 2, 1, 1].")
    require_countable(counts)
    rows = sum(counts)
    greatest_count = max(counts)
    calibration: dict[str, Any] = {
        "method": "suppression",
        "counts": counts,
        "l": l,
        "prior": prior,
        "rows": rows,
        "eligible": l * greatest_count <= rows,
        "supports": rows // greatest_count,
        "bound": 1 / l,
    }
    if not calibration["eligible"]:
        require_enough_values(len(counts), l, "the given counts")
    by_kind: dict[str, dict[str, Any]] = {}
    for kind in kinds:
        risk = compute_suppression_risk(counts, l, kind, prior, samples=POSTERIOR_SAMPLES)
        by_kind[kind] = {
            "suppressed": risk.suppressed,
            "worst_posterior": risk.worst_posterior,
            "how": risk.how,
            "worst_withheld_posterior": risk.worst_withheld_posterior,
            "withheld_how": risk.withheld_how,
            "releases": risk.releases,
            "attacked": risk.attacked,
        }
        if risk.mean_posterior is not None and not calibration["eligible"]:
            by_kind[kind]["mean_posterior"] = risk.mean_posterior
        if risk.how != "exact":
            by_kind[kind] |= {"low": risk.low, "high": risk.high}
        if risk.withheld_how != "exact":
            by_kind[kind] |= {"withheld_low": risk.withheld_low, "withheld_high": risk.withheld_high}
    return _add_kinds(calibration, by_kind)


def _calibrate_every_table(rows: int, values: int, l: int, prior: str, kinds: Sequence[str]) -> dict[str, Any]:
    """Compute the worst of all releases of all tables that are not l-eligible.

    The prior `plausible` has no posterior of the withheld.
    """
    if not 2 <= values <= rows <= MAX_ENUMERATED_ROWS:
        raise RequestError(
            f"Every table of {rows} rows in {values} values cannot be listed.",
            why=f"There are at least 2 values, each occurs, and {MAX_ENUMERATED_ROWS} rows are as many as can be enumerated.",
            attempt="counts=[...] of one table.",
        )
    require_enough_values(values, l, "the given tables")
    if l * (rows - values + 1) <= rows:
        raise RequestError(
            f"Every table of {rows} rows in {values} values is {l}-eligible: no row would be withheld.",
            attempt="more rows, fewer values or a greater l.",
        )
    calibration: dict[str, Any] = {
        "method": "suppression",
        "rows": rows,
        "values": values,
        "l": l,
        "prior": prior,
        "bound": 1 / l,
    }
    by_kind: dict[str, dict[str, Any]] = {}
    for kind in kinds:
        by_kind[kind] = {
            "worst_posterior": float(compute_worst_posterior(rows, values, l, kind, prior)),
            "how": "exact",
        }
        if not CountPrior(prior).plausible:
            withheld = float(compute_worst_withheld_posterior(rows, values, l, kind, prior))
            by_kind[kind] |= {"worst_withheld_posterior": withheld, "withheld_how": "exact"}
    return _add_kinds(calibration, by_kind)


def _add_kinds(calibration: dict[str, Any], by_kind: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Add the figures of each kind: under `kinds`, and by its own name, as they were first, where that is no other key."""
    own_keys = {kind: figures for kind, figures in by_kind.items() if kind != "eligible"}
    return calibration | own_keys | {"kinds": by_kind}


CALIBRATORS = {"suppression": calibrate_suppression, "perturbed-generalization": calibrate_perturbed_generalization}
