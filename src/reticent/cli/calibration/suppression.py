"""Suppression: what each kind withholds, and what the eligibility attack learns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

OPTIONS = ("counts", "l", "prior")
KINDS = ("eligible", "unsafe", "safe", "randomized", "calibrated")
POSTERIOR_FIELDS = ("worst_posterior", "worst_withheld_posterior")


def answer(options: Mapping[str, Any]) -> dict[str, Any]:
    from reticent.errors import RequestError

    if "counts" not in options or "l" not in options:
        raise RequestError("suppression is calibrated from counts and l.", attempt="--counts 10,4,2,1,1 --l 3.")
    from reticent.calibrate import calibrate

    return calibrate(
        "suppression", counts=_parse_counts(options["counts"]), l=options["l"], prior=options.get("prior", "uniform")
    )


def show(result: dict[str, Any]) -> None:
    from reticent.cli.output import say, say_table

    verdict = "is" if result["eligible"] else "IS NOT"
    say(
        f"{result['rows']:,} rows in {len(result['counts'])} values: the table {verdict} {result['l']}-eligible; without withholding it "
        f"supports l = {result['supports']}.",
        "",
    )
    rows = [
        (
            name,
            f"{figures['suppressed']:,.6g}",
            f"{figures['suppressed'] / result['rows']:.1%}",
            _format_posterior(figures["worst_posterior"], figures["how"], figures.get("low"), figures.get("high")),
            _format_posterior(
                figures["worst_withheld_posterior"],
                figures["withheld_how"],
                figures.get("withheld_low"),
                figures.get("withheld_high"),
            ),
        )
        for name in KINDS
        for figures in [result["kinds"][name]]
    ]
    say_table(("kind", "withheld (mean)", "of all", "which value led", "whose value was withheld"), rows, indent=2)
    say(
        "",
        "The worst posteriors of who knows the algorithm: of the most frequent value before, and of a withheld person's value.",
        f"One above {result['bound']:.4f} tells more than one in {result['l']}. Prior: {result['prior']}.",
    )
    say(*_format_advice(result))


def _parse_counts(text: str) -> list[int]:
    from reticent.errors import RequestError

    try:
        counts = [int(part) for part in text.split(",") if part.strip()]
    except ValueError:
        counts = []
    if not counts or min(counts) < 1:
        raise RequestError(
            "--counts takes whole numbers above 0, with commas between them.", attempt="--counts 10,4,2,1,1."
        )
    return counts


def _format_posterior(worst: float, method: str, low: float | None, high: float | None) -> str:
    if method == "exact":
        return f"{worst:.4f}, exact"
    return f"{low:.6g} to {high:.6g}, {'certain' if method == 'bounds' else '95 %'}"


def _format_advice(result: dict[str, Any]) -> list[str]:
    """Format where a figure may not be the worst of all, and where `safe` is the kind to take."""
    proven = {"calibrated"} if result["prior"] == "uniform" else set()  # to stay within 1 / l
    partly_attacked = [
        f"{name} {figures['attacked']:,} of {figures['releases']:,}"
        for name in ("randomized", "calibrated")
        for figures in [result["kinds"][name]]
        if figures["attacked"] < figures["releases"] and name not in proven
    ]
    lines = []
    if partly_attacked:
        lines.append(
            f"Not every release that may result was attacked: {', '.join(partly_attacked)}. The worst of all may be worse."
        )
    above = [name for name in KINDS if max(result["kinds"][name][key] for key in POSTERIOR_FIELDS) > result["bound"]]
    if above:
        lines.append(f'Above it, or not shown to stay within it: {", ".join(above)}. kind = "safe" stays within it.')
    return lines
