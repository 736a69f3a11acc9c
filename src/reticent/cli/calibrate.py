"""`reticent calibrate METHOD`: parameters from guarantees and back, without data."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from reticent.cli.options import Json

EXAMPLE = "reticent calibrate suppression --counts 10,4,2,1,1 --l 3"
METHODS = ("suppression",)


def calibrate(
    method: Annotated[str, typer.Argument(metavar="METHOD", help="suppression.", show_default=False)],
    counts: Annotated[
        str | None, typer.Option("--counts", metavar="N,N,...", help="How many rows hold each sensitive value.", show_default=False)
    ] = None,
    l: Annotated[int | None, typer.Option("--l", help="At most one in l rows may hold a value.", show_default=False)] = None,  # noqa: E741
    prior: Annotated[
        str, typer.Option("--prior", help="What the adversary believes beforehand: uniform, shapes, records or plausible.")
    ] = "uniform",
    json: Json = False,
) -> None:  # fmt: skip
    """What a method would cost and what an adversary would learn, from numbers alone.

    suppression: for each kind, how many records it withholds (on average) to restore l-eligibility, and the worst posterior of the
    eligibility attack: how surely who knows the algorithm can name the value that was the most frequent. Small tables are attacked
    exactly; for large ones the posterior is sampled, and an interval is given.
    """
    from reticent.errors import RequestError, suggest

    if method not in METHODS:
        raise RequestError(f"{method!r} cannot be calibrated.", attempt=suggest(method, METHODS))
    if counts is None or l is None:
        raise RequestError("suppression is calibrated from counts and l.", attempt="--counts 10,4,2,1,1 --l 3.")
    from reticent.cli.printing import say_json, stages

    with stages(json) as progress:
        progress("attacking")
        found = suppression(_counts(counts), l, prior)
    if json:
        say_json(found)
    else:
        _show(found)


def suppression(counts: list[int], l: int, prior: str) -> dict[str, Any]:  # noqa: E741
    """One object with an entry for each kind."""
    from reticent.attacks.eligibility import risk
    from reticent.attacks.priors import Prior
    from reticent.errors import RequestError
    from reticent.methods.suppression.stage import KINDS, refuse_few_values

    if l < 2:
        raise RequestError(f"l = {l} asks for nothing.", attempt="--l 2 or more.")
    Prior(prior)
    rows, most = sum(counts), max(counts)
    found: dict[str, Any] = {"method": "suppression", "counts": counts, "l": l, "prior": prior, "rows": rows,
                             "eligible": l * most <= rows, "supports": rows // most, "bound": 1 / l}  # fmt: skip
    if not found["eligible"]:
        refuse_few_values(len(counts), l, "the given counts")
    for name in KINDS:
        one = risk(counts, l, name, prior, draws=6, samples=150)
        found[name] = {"suppressed": one.suppressed, "worst_posterior": one.worst_posterior}
        if not one.exact:
            found[name] |= {"low": one.low, "high": one.high, "sampled": True}
    return found


def _counts(text: str) -> list[int]:
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


def _show(found: dict[str, Any]) -> None:
    from reticent.cli.printing import say, say_table

    verdict = "is" if found["eligible"] else "IS NOT"
    say(f"{found['rows']:,} rows in {len(found['counts'])} values: {found['l']}-eligible it {verdict}; without withholding it supports "
        f"l = {found['supports']}.", "")  # fmt: skip
    rows = [(name, f"{one['suppressed']:,.6g}", f"{one['suppressed'] / found['rows']:.1%}", f"{one['worst_posterior']:.4f}", _interval(one))
            for name in ("unsafe", "safe", "randomized", "calibrated") for one in [found[name]]]  # fmt: skip
    say_table(("kind", "withheld (mean)", "of all", "worst posterior", "95 % interval"), rows, indent=2)
    say("", f"A posterior above {found['bound']:.4f} tells more than one in {found['l']}. Prior: {found['prior']}.")


def _interval(one: dict[str, Any]) -> str:
    return f"{one['low']:.4f} to {one['high']:.4f}" if one.get("sampled") else "exact"
