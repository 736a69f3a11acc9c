"""Perturbed generalization: guarantees from p, or the largest p for a guarantee (Tao et al., ICDE 2008, table III)."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

OPTIONS = ("p", "k", "s", "lambda", "domain", "rho1", "rho2", "delta")
SIZES, RETENTIONS = (1, 2, 4, 6, 8, 10), tuple(Fraction(part, 100) for part in range(15, 50, 5))


def answer(asked: Mapping[str, Any]) -> dict[str, Any]:
    from reticent.methods.perturbed_generalization.answers import answer as answered

    return answered(asked)


def show(found: dict[str, Any]) -> None:
    """The answer, and a table like table III: what other p and k would give."""
    from reticent.cli.printing import say, say_table

    if "p_theorem2" in found or "p_theorem3" in found:
        printed = "p_theorem2" if "p_theorem2" in found else "p_theorem3"
        say(
            f"The largest p for it is {_six(found['p'])}; theorem {printed[-1]} would allow {_six(found[printed])}.", ""
        )
    rows = [_row(found, k, Fraction(str(found["p"]))) for k in sorted({*SIZES, found["k"]})] if found["p"] else []
    rows += [_row(found, found["k"], p) for p in RETENTIONS]
    say_table(("k", "p", "rho2", "theorem 2", "Delta", "theorem 3"), rows, indent=2)
    say(
        "",
        "rho2 is what a belief of rho1 can become, Delta how much any can grow, with everyone else corrupted; rounded up.",
    )
    if "rho1" in found:
        say(
            f"rho1 = {found['rho1']:g}. As many: a belief of at least {1 - found['rho1']:g} falls to no less than 1 - rho2."
        )
    say('With grouping = "specialization" read the line of k = 1: its cuts look at perturbed values.')


def _row(found: Mapping[str, Any], k: int, p: Fraction) -> tuple[str, ...]:
    from reticent.methods.perturbed_generalization.calibration import guarantees

    given = guarantees(p, k, found["domain"], str(found["lambda"]), str(found["rho1"]) if "rho1" in found else None)
    names = ("rho2", "rho2_theorem2", "delta", "delta_theorem3")
    return str(k), f"{float(p):g}", *(_six(given.get(name)) for name in names)


def _six(value: Any) -> str:
    return "-" if value is None else f"{float(value):.6f}"
