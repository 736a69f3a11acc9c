"""Guarantees from p, or the largest p for a guarantee, as `reticent calibrate` answers (Tao et al., ICDE 2008, table III)."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from reticent.errors import RequestError
from reticent.exact import is_whole
from reticent.methods.perturbed_generalization.calibration import check_domain, group_size, guarantees, retentions
from reticent.models.delta_growth import DeltaGrowth
from reticent.models.exact import exact
from reticent.models.rho_guarantee import RhoGuarantee, checked_skew


def answer(asked: Mapping[str, Any]) -> dict[str, Any]:
    """One object, keys as the options are named."""
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
            return int(value) if is_whole(value) else float(value)
        return value

    return {name: number(value) for name, value in found.items()}
