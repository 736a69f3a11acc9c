"""Calibration: p, k and the guarantees they give, from one another (Tao, Xiao, Li & Zhang, ICDE 2008, sections IV and VI).

k = ceil(1 / s).  p is the *largest* value that keeps every promise (ERRATA 5.1: both bounds grow with p), rounded down
at the sixth decimal; a guarantee is rounded up there.  `answer_calibration` gives the guarantees of p, or the largest p
for a guarantee, as `reticent calibrate` prints them (table III).

`choose_group_size` chooses k where nobody does.  The tight bounds hang on p / (k (1 - p)) alone, so if p1 is the largest
p of k = 1 and a = p1 / (1 - p1), that of k is k a / (1 + k a).  One row in k is drawn, and what each adds to a count has a
variance of about 1 / p^2, so a count's variance goes as k / p^2 = (1 + k a)^2 / (k a^2): least at k = 1 / a = (1 - p1) /
p1, where p is 1/2.  It is flat there (within 1.13 of the least from half to twice as many).  What coarser labels lose is
no part of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import ceil
from typing import Any

from reticent.catalogue import METHODS
from reticent.errors import JobError, PromiseUnreachable, RequestError
from reticent.exact_arithmetic import is_whole
from reticent.limits import MAX_ROWS_OF_REDRAWN_PERSON
from reticent.models import corruption_guarantees as bounds
from reticent.models.corruption_guarantees import CorruptionSetting, DeltaGrowth, RhoGuarantee, validate_skew
from reticent.models.rational_bounds import parse_fraction
from reticent.recipe.planned_loss import expect_count_error
from reticent.validation import accept_parameter

RETENTION_ADVICE = {
    "set": "a larger k, or a weaker promise.",
    "chosen": "more rows, or a weaker promise.",
    "specialization": 'grouping = "mondrian" without categories, or a weaker promise.',
}
"""What to try where no p keeps a promise: k is set, is as large as the table allows, or counts as 1 (ERRATA 5.9)."""


def resolve_group_size(k: object, s: object) -> int:
    """Return k, or ceil(1 / s): then at most |D| s rows are published."""
    if k is not None and s is not None:
        raise JobError("perturbed-generalization takes k or s, not both.", attempt="k = 6, or s = 0.16.")
    if s is not None:
        return ceil(1 / _accept_parameter(s, "s"))
    return _accept_parameter(k, "k")


def parse_retention(p: object) -> Fraction:
    """Parse a retention probability."""
    return _accept_parameter(p, "p")


def require_few_rows_per_person(rows_per_person: int) -> None:
    """Refuse persons with more rows than their odds are multiplied over."""
    if rows_per_person > MAX_ROWS_OF_REDRAWN_PERSON:
        raise JobError(
            f"perturbed-generalization is not calibrated for persons with {rows_per_person} rows.",
            why=f"The odds of a person's rows multiply, and are computed for {MAX_ROWS_OF_REDRAWN_PERSON:,} rows at most.",
            attempt="a table with one row of each person, and rows_per_person = 1.",
        )


def require_usable_domain(promises: Iterable[Any], domain: int) -> None:
    """Refuse a domain of one value, which has nothing to hide, and a lambda below 1 / |U|, which no prior has."""
    if domain < 2:
        raise JobError(
            "The sensitive column has a domain of one value.",
            why="There is nothing to perturb: everybody's value is known.",
            attempt="a declared domain of two values or more: a hierarchy, an order, or domain = [...] of the method.",
        )
    for promise in promises:
        if promise.lambda_ * domain < 1:
            raise JobError(
                f"{promise.name}: lambda = {float(promise.lambda_):g} is below 1/{domain}.",
                why=f"Over {domain} values some value has a prior of at least 1/{domain}: no adversary is as ignorant.",
                attempt=f"lambda = {float(ceil(Fraction(10**6, domain))) / 10**6:g} or more.",
            )


def choose_group_size(promises: Iterable[Any], domain: int, rows: int = 1) -> int:
    """Choose k so that counts are most certain at the largest p that it allows: (1 - p1) / p1, rounded, and at least 1.

    Where a person has several `rows`, that is the number of rows of a group, and k the people who may have as many.
    """
    retentions = [_find_largest_for_promise(each_promise, 1, domain, rows) for each_promise in promises]
    largest = min(p or Fraction(1, bounds.GUARANTEE_SCALE) for p in retentions)
    return max(1, round((1 - largest) / largest / rows))


def find_largest_retention(
    promises: Iterable[Any], k: int, domain: int, k_origin: str = "set", rows: int = 1
) -> Fraction:
    """Find the largest p that keeps every promise; `k_origin`, one of RETENTION_ADVICE, says where k is from."""
    retentions = [(_find_largest_for_promise(each_promise, k, domain, rows), each_promise) for each_promise in promises]
    for p, promise in retentions:
        if p is None:
            raise PromiseUnreachable(
                f"{promise.name} cannot be kept by perturbed-generalization with k = {k} and {domain} values.",
                why=f"Even p = {1 / bounds.GUARANTEE_SCALE:g} lets a belief grow by more.",
                attempt=RETENTION_ADVICE[k_origin],
            )
    return min(p for p, _ in retentions if p is not None)


def compute_guarantees(p: object, k: int, domain: int, lambda_: object, rho1: object = None) -> dict[str, Any]:
    """Compute the guarantees of p: the tight bounds and those of theorems 2 and 3, rounded up at the sixth decimal."""
    setting = CorruptionSetting(parse_retention(p), k, domain, parse_fraction(lambda_, "lambda"))
    guarantees: dict[str, Any] = {
        "delta": bounds.find_least_bound(lambda bound: bounds.delta_holds(setting, bound)),
        "delta_theorem3": bounds.find_least_bound(lambda bound: bounds.theorem3_holds(setting, bound)),
    }
    if rho1 is not None:
        before = parse_fraction(rho1, "rho1")
        guarantees["rho2"] = bounds.round_up(bounds.compute_rho2(setting, before))
        guarantees["rho2_theorem2"] = bounds.round_up(bounds.compute_rho2_theorem2(setting, before))
        guarantees["downward"] = [1 - before, 1 - guarantees["rho2"]]
    return guarantees


def compute_retentions(
    k: int, domain: int, lambda_: object, *, rho1: object = None, rho2: object = None, delta: object = None
) -> dict[str, Any]:
    """Compute the largest p for a promise: by the tight bound, and by the theorem as printed."""
    skew = parse_fraction(lambda_, "lambda")

    def make_setting(p: Fraction) -> CorruptionSetting:
        return CorruptionSetting(p, k, domain, skew)

    if rho2 is not None:
        before = parse_fraction(rho1, "rho1")
        after = parse_fraction(rho2, "rho2")
        tight = bounds.find_largest_p(lambda p: bounds.compute_rho2(make_setting(p), before) <= after)
        return {
            "p": tight,
            "p_theorem2": bounds.find_largest_p(lambda p: bounds.theorem2_holds(make_setting(p), before, after)),
        }
    bound = parse_fraction(delta, "delta")
    tight = bounds.find_largest_p(lambda p: bounds.delta_holds(make_setting(p), bound))
    return {"p": tight, "p_theorem3": bounds.find_largest_p(lambda p: bounds.theorem3_holds(make_setting(p), bound))}


def answer_calibration(question: Mapping[str, Any]) -> dict[str, Any]:
    """Answer a calibration question as one object, with keys named as the options are.

    With `rows`, it has at most how many of so many rows are published, and the expected standard error of a count of a
    tenth of them.
    """
    domain, skew, promise = _validate_question(question)
    if "k" in question or "s" in question:
        k = resolve_group_size(question.get("k"), question.get("s"))
    else:
        k = choose_group_size([promise], domain)
    answer: dict[str, Any] = {"method": "perturbed-generalization", "k": k, "domain": domain, "lambda": skew}
    if "k" not in question and "s" not in question:
        answer["k_chosen"] = True
    answer |= {name: parse_fraction(question[name], name) for name in ("s", "rho1") if name in question}
    if "p" in question:
        answer |= {
            "p": parse_fraction(question["p"], "p"),
            **compute_guarantees(question["p"], k, domain, skew, question.get("rho1")),
        }
        return _to_plain_numbers(answer | _expect_precision(question, answer["p"], k, domain))
    wanted = {name: parse_fraction(question[name], name) for name in ("rho1", "rho2", "delta") if name in question}
    answer |= wanted | compute_retentions(k, domain, skew, **wanted)
    if "rho1" in question and "rho2" in question:
        answer["downward"] = [1 - wanted["rho1"], 1 - wanted["rho2"]]
    return _to_plain_numbers(answer | _expect_precision(question, answer["p"], k, domain))


def _expect_precision(question: Mapping[str, Any], p: Fraction | None, k: int, domain: int) -> dict[str, Any]:
    """Expect how many of `rows` rows are published, in groups that k divides, and how certain a count of a tenth is."""
    if "rows" not in question or p is None:
        return {}
    rows = int(question["rows"])
    if rows < k:
        raise RequestError(f"Groups of {k:,} rows cannot be made of {rows:,}.", attempt=f"--rows {k} or more.")
    published = rows // k
    error = expect_count_error(float(p), domain, rows, rows * rows / published)
    return {"rows": rows, "published": published, "std_error": error, "std_error_share": error / rows}


def _accept_parameter(value: object, name: str) -> Any:
    return accept_parameter(METHODS["perturbed-generalization"].fields[name], value, name, "perturbed-generalization")


def _find_largest_for_promise(promise: Any, k: int, domain: int, rows: int = 1) -> Fraction | None:
    return bounds.find_largest_p(lambda p: promise.holds(p, k, domain, rows))


def _validate_question(question: Mapping[str, Any]) -> tuple[int, Fraction, Any]:
    lacking = [f"--{name}" for name in ("lambda", "domain") if name not in question]
    lacking += [] if "k" in question or "s" in question or "p" not in question else ["--k or --s"]
    lacking += [] if {"p", "rho2", "delta"} & set(question) else ["--p, --rho2 or --delta"]
    if lacking:
        raise RequestError(
            f"perturbed-generalization is calibrated from more: {', '.join(lacking)}.",
            attempt="p=0.3, k=6, lambda_=0.1, rho1=0.2, domain=50 (--p 0.3 --k 6 --lambda 0.1 --rho1 0.2 --domain 50).",
        )
    if len({"p", "rho2", "delta"} & set(question)) > 1:
        raise RequestError("One of --p, --rho2 and --delta is given, and the others are answered.")
    if "rho2" in question and "rho1" not in question:
        raise RequestError("--rho2 is what a belief of --rho1 may become.", attempt="rho1=0.2 (--rho1 0.2) with it.")
    skew = validate_skew(question["lambda"], "the guarantee")
    promise = (
        RhoGuarantee(question["rho1"], question["rho2"], skew)
        if "rho2" in question
        else DeltaGrowth(question.get("delta", 1), skew)
    )
    if "rho1" in question and not 0 <= parse_fraction(question["rho1"], "rho1") < 1:
        raise RequestError("rho1 must be a probability below 1.", attempt="rho1=0.2 (--rho1 0.2).")
    if question["domain"] < 2:
        raise RequestError(
            "A domain of one value has nothing to perturb: everybody's value is known.",
            attempt="domain=2 (--domain 2) or more.",
        )
    require_usable_domain([promise], question["domain"])
    return question["domain"], skew, promise


def _to_plain_numbers(answer: Mapping[str, Any]) -> dict[str, Any]:
    def number(value: Any) -> Any:
        if isinstance(value, list):
            return [number(element) for element in value]
        if isinstance(value, Fraction):
            return int(value) if is_whole(value) else float(value)
        return value

    return {name: number(value) for name, value in answer.items()}
