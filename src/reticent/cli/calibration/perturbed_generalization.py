"""Perturbed generalization: guarantees from p, or the largest p for a guarantee (Tao et al., ICDE 2008, table III)."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

OPTIONS = ("p", "k", "s", "lambda", "domain", "rho1", "rho2", "delta", "rows")
GROUP_SIZES = (1, 2, 4, 6, 8, 10)
RETENTION_PROBABILITIES = tuple(Fraction(part, 100) for part in range(15, 50, 5))


def answer(options: Mapping[str, Any]) -> dict[str, Any]:
    from reticent.methods.perturbed_generalization.calibration import answer_calibration

    return answer_calibration(options)


def show(result: dict[str, Any]) -> None:
    """Print the answer, and a table like table III: what other p and k would give."""
    from reticent.cli.output import say, say_table

    if "p_theorem2" in result or "p_theorem3" in result:
        printed = "p_theorem2" if "p_theorem2" in result else "p_theorem3"
        if result.get("k_chosen"):
            say(f"k = {result['k']} is taken: counts are most certain there, as far as labels lose nothing.")
        say(
            f"The largest p for it is {_format_six_digits(result['p'])}; theorem {printed[-1]} would allow {_format_six_digits(result[printed])}.",
            "",
        )
    if "published" in result:
        say(
            f"Of {result['rows']:,} rows at most {result['published']:,} are drawn (k = {result['k']}). Of a value that a tenth of the people have, "
            f"the estimated count has a standard error of about {result['std_error']:,.0f} ({100 * result['std_error_share']:.2g} % of all "
            "people), beside what labels lose.",
            "",
        )
    rows = (
        [_format_row(result, k, Fraction(str(result["p"]))) for k in sorted({*GROUP_SIZES, result["k"]})]
        if result["p"]
        else []
    )
    rows += [_format_row(result, result["k"], p) for p in RETENTION_PROBABILITIES]
    say_table(("k", "p", "rho2", "theorem 2", "Delta", "theorem 3"), rows, indent=2)
    say(
        "",
        "rho2 is what a belief of rho1 can become, Delta how much any can grow, with everyone else corrupted; rounded up.",
    )
    if "rho1" in result:
        say(
            f"rho1 = {result['rho1']:g}. As many: a belief of at least {1 - result['rho1']:g} falls to no less than 1 - rho2."
        )
    say('With grouping = "specialization" read the line of k = 1: its cuts look at perturbed values.')


def _format_six_digits(value: Any) -> str:
    return "-" if value is None else f"{float(value):.6f}"


def _format_row(result: Mapping[str, Any], k: int, p: Fraction) -> tuple[str, ...]:
    from reticent.methods.perturbed_generalization.calibration import compute_guarantees

    guarantees = compute_guarantees(
        p, k, result["domain"], str(result["lambda"]), str(result["rho1"]) if "rho1" in result else None
    )
    names = ("rho2", "rho2_theorem2", "delta", "delta_theorem3")
    return str(k), f"{float(p):g}", *(_format_six_digits(guarantees.get(name)) for name in names)
