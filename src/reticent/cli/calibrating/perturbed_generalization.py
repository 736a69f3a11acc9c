"""Perturbed generalization: guarantees from p, or the largest p for a guarantee (Tao et al., ICDE 2008, table III)."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

OPTIONS = ("p", "k", "s", "lambda", "domain", "rho1", "rho2", "delta")
SIZES, RETENTIONS = (1, 2, 4, 6, 8, 10), tuple(Fraction(part, 100) for part in range(15, 50, 5))


def answer(asked: Mapping[str, Any]) -> dict[str, Any]:
    """One object, keys as the options are named."""
    from reticent.methods.perturbed_generalization.calibration import group_size, guarantees, retentions
    from reticent.models.exact import exact

    domain, skew = _checked(asked)
    k = group_size(asked.get("k"), asked.get("s"))
    found: dict[str, Any] = {"method": "perturbed-generalization", "k": k, "domain": domain, "lambda": skew}
    found |= {name: exact(asked[name], name) for name in ("s", "rho1") if name in asked}
    if "p" in asked:
        found |= {"p": exact(asked["p"], "p"), **guarantees(asked["p"], k, domain, skew, asked.get("rho1"))}
        return _plain(found)
    wanted = {name: exact(asked[name], name) for name in ("rho1", "rho2", "delta") if name in asked}
    found |= wanted | retentions(k, domain, skew, **wanted)
    if "rho1" in asked and "rho2" in asked:
        found["downward"] = [1 - wanted["rho1"], 1 - wanted["rho2"]]
    return _plain(found)


def _checked(asked: Mapping[str, Any]) -> tuple[int, Fraction]:
    from reticent.errors import RequestError
    from reticent.methods.perturbed_generalization.calibration import check_domain
    from reticent.models.delta_growth import DeltaGrowth
    from reticent.models.exact import exact
    from reticent.models.rho_guarantee import RhoGuarantee, checked_skew

    lacking = [f"--{name}" for name in ("lambda", "domain") if name not in asked]
    lacking += [] if "k" in asked or "s" in asked else ["--k or --s"]
    lacking += [] if {"p", "rho2", "delta"} & set(asked) else ["--p, --rho2 or --delta"]
    if lacking:
        raise RequestError(
            f"perturbed-generalization is calibrated from more: {', '.join(lacking)}.",
            attempt="--p 0.3 --k 6 --lambda 0.1 --rho1 0.2 --domain 50.",
        )
    if len({"p", "rho2", "delta"} & set(asked)) > 1:
        raise RequestError("One of --p, --rho2 and --delta is given, and the others are answered.")
    if "rho2" in asked and "rho1" not in asked:
        raise RequestError("--rho2 is what a belief of --rho1 may become.", attempt="--rho1 0.2 with it.")
    skew = checked_skew(asked["lambda"], "the guarantee")
    promise = (
        RhoGuarantee(asked["rho1"], asked["rho2"], skew)
        if "rho2" in asked
        else DeltaGrowth(asked.get("delta", 1), skew)
    )
    if "rho1" in asked and not 0 <= exact(asked["rho1"], "rho1") < 1:
        raise RequestError("rho1 must be a probability below 1.", attempt="--rho1 0.2.")
    check_domain([promise], asked["domain"])
    return asked["domain"], skew


def _plain(found: Mapping[str, Any]) -> dict[str, Any]:
    def number(value: Any) -> Any:
        if isinstance(value, list):
            return [number(one) for one in value]
        if isinstance(value, Fraction):
            return int(value) if value.denominator == 1 else float(value)
        return value

    return {name: number(value) for name, value in found.items()}


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
