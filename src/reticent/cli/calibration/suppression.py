"""Suppression: what each kind withholds, and what the eligibility attack learns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

OPTIONS = ("counts", "l", "prior")
KINDS = ("unsafe", "safe", "randomized", "calibrated")
POSTERIOR_FIELDS = ("worst_posterior", "worst_withheld_posterior")


def answer(asked: Mapping[str, Any]) -> dict[str, Any]:
    from reticent.errors import RequestError

    if "counts" not in asked or "l" not in asked:
        raise RequestError("suppression is calibrated from counts and l.", attempt="--counts 10,4,2,1,1 --l 3.")
    from reticent.calibrate import calibrate

    return calibrate(
        "suppression", counts=_parse_counts(asked["counts"]), l=asked["l"], prior=asked.get("prior", "uniform")
    )


def _parse_counts(text: str) -> list[int]:
    from reticent.errors import RequestError

    try:
        found = [int(part) for part in text.split(",") if part.strip()]
    except ValueError:
        found = []
    if not found or min(found) < 1:
        raise RequestError(
            "--counts takes whole numbers above 0, with commas between them.", attempt="--counts 10,4,2,1,1."
        )
    return found


def show(found: dict[str, Any]) -> None:
    from reticent.cli.output import say, say_table

    verdict = "is" if found["eligible"] else "IS NOT"
    say(
        f"{found['rows']:,} rows in {len(found['counts'])} values: the table {verdict} {found['l']}-eligible; without withholding it "
        f"supports l = {found['supports']}.",
        "",
    )
    rows = [
        (
            name,
            f"{one['suppressed']:,.6g}",
            f"{one['suppressed'] / found['rows']:.1%}",
            _format_posterior(one["worst_posterior"], one["how"], one.get("low"), one.get("high")),
            _format_posterior(
                one["worst_withheld_posterior"], one["withheld_how"], one.get("withheld_low"), one.get("withheld_high")
            ),
        )
        for name in KINDS
        for one in [found[name]]
    ]
    say_table(("kind", "withheld (mean)", "of all", "which value led", "whose value was withheld"), rows, indent=2)
    say(
        "",
        "The worst posteriors of who knows the algorithm: of the most frequent value before, and of a withheld person's value.",
        f"One above {found['bound']:.4f} tells more than one in {found['l']}. Prior: {found['prior']}.",
    )
    say(*_format_advice(found))


def _format_advice(found: dict[str, Any]) -> list[str]:
    """Format where a figure may not be the worst of all, and where `safe` is the kind to take."""
    proven = {"calibrated"} if found["prior"] == "uniform" else set()  # to stay within 1 / l
    some = [
        f"{name} {one['attacked']:,} of {one['releases']:,}"
        for name in ("randomized", "calibrated")
        for one in [found[name]]
        if one["attacked"] < one["releases"] and name not in proven
    ]
    lines = []
    if some:
        lines.append(
            f"Not every release that may result was attacked: {', '.join(some)}. The worst of all may be worse."
        )
    above = [name for name in KINDS if max(found[name][key] for key in POSTERIOR_FIELDS) > found["bound"]]
    if above:
        lines.append(f'Above it, or not shown to stay within it: {", ".join(above)}. kind = "safe" stays within it.')
    return lines


def _format_posterior(worst: float, how: str, low: float | None, high: float | None) -> str:
    if how == "exact":
        return f"{worst:.4f}, exact"
    return f"{low:.6g} to {high:.6g}, {'certain' if how == 'bounds' else '95 %'}"
