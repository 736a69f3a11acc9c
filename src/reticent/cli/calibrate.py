"""`reticent calibrate METHOD`: parameters from guarantees and back, without data.  Each method has its own options and answer."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from reticent.cli.options import Json

EXAMPLE = "reticent calibrate perturbed-generalization --p 0.3 --k 6 --lambda 0.1 --rho1 0.2 --domain 50"
CALIBRATION_MODULES = {
    "suppression": "reticent.cli.calibration.suppression",
    "perturbed-generalization": "reticent.cli.calibration.perturbed_generalization",
}
"""Each module has `OPTIONS`, the names of those it takes, `answer(options)` and `show(found)`."""


def calibrate(
    method: Annotated[
        str, typer.Argument(metavar="METHOD", help="suppression or perturbed-generalization.", show_default=False)
    ],
    counts: Annotated[
        str | None,
        typer.Option(
            "--counts",
            metavar="N,N,...",
            help="suppression: how many rows hold each sensitive value.",
            show_default=False,
        ),
    ] = None,
    l: Annotated[  # noqa: E741
        int | None,
        typer.Option(
            "--l", metavar="N", help="suppression: at most one in l rows may hold a value.", show_default=False
        ),
    ] = None,
    prior: Annotated[
        str | None,
        typer.Option(
            "--prior",
            metavar="NAME",
            help="suppression: what the adversary believes beforehand: uniform (if left out), shapes, records or plausible.",
            show_default=False,
        ),
    ] = None,
    p: Annotated[
        str | None,
        typer.Option(
            "--p", metavar="P", help="perturbed-generalization: the retention probability.", show_default=False
        ),
    ] = None,
    k: Annotated[
        str | None,
        typer.Option("--k", metavar="N", help="perturbed-generalization: the least group.", show_default=False),
    ] = None,
    s: Annotated[
        str | None,
        typer.Option(
            "--s",
            metavar="RATE",
            help="perturbed-generalization: the share of rows published, instead of --k.",
            show_default=False,
        ),
    ] = None,
    skew: Annotated[
        str | None,
        typer.Option(
            "--lambda",
            metavar="P",
            help="perturbed-generalization: the most that is believed of one value beforehand.",
            show_default=False,
        ),
    ] = None,
    domain: Annotated[
        int | None,
        typer.Option(
            "--domain",
            metavar="N",
            help="perturbed-generalization: how many sensitive values there are.",
            show_default=False,
        ),
    ] = None,
    rho1: Annotated[
        str | None,
        typer.Option("--rho1", metavar="P", help="perturbed-generalization: a belief beforehand.", show_default=False),
    ] = None,
    rho2: Annotated[
        str | None,
        typer.Option(
            "--rho2",
            metavar="P",
            help="perturbed-generalization: the most it may become; asks for the largest p.",
            show_default=False,
        ),
    ] = None,
    delta: Annotated[
        str | None,
        typer.Option(
            "--delta",
            metavar="P",
            help="perturbed-generalization: the most a belief may grow by; asks for the largest p.",
            show_default=False,
        ),
    ] = None,
    rows: Annotated[
        int | None,
        typer.Option(
            "--rows",
            metavar="N",
            help="perturbed-generalization: how many people there are; says how many are drawn, and how certain a count is.",
            show_default=False,
        ),
    ] = None,
    json: Json = False,
) -> None:
    """What a method would cost and what an adversary would learn, from numbers alone.

    suppression: for each kind, how many records it withholds (on average) to restore l-eligibility, and the worst posteriors of the
    eligibility attack: how surely who knows the algorithm can name the value that was the most frequent, and the value that somebody
    has who was withheld. They are exact, or for large tables between certain bounds; with other priors than the uniform one they
    may be sampled, and a 95 % interval is given.

    perturbed-generalization: what p promises against corruption, rounded up at the sixth decimal, or the largest p for a promise,
    rounded down: by the tight bounds, and by theorems 2 and 3 as printed. Without --k or --s, k is the one that makes counts most certain.
    """
    from importlib import import_module

    from reticent.cli.output import say_json, show_progress
    from reticent.errors import RequestError, suggest

    if method not in CALIBRATION_MODULES:
        raise RequestError(f"{method!r} cannot be calibrated.", attempt=suggest(method, CALIBRATION_MODULES))
    options: dict[str, Any] = {
        "counts": counts,
        "l": l,
        "prior": prior,
        "p": p,
        "k": k,
        "s": s,
        "lambda": skew,
        "domain": domain,
        "rho1": rho1,
        "rho2": rho2,
        "delta": delta,
        "rows": rows,
    }
    used = {name: value for name, value in options.items() if value is not None}
    module = import_module(CALIBRATION_MODULES[method])
    other = [f"--{name}" for name in used if name not in module.OPTIONS]
    if other:
        raise RequestError(
            f"{method} is not calibrated from {' and '.join(other)}.",
            attempt=f"{', '.join(f'--{name}' for name in module.OPTIONS)}.",
        )
    with show_progress(json) as progress:
        progress("calibrating")
        result = module.answer(used)
    if json:
        say_json(result)
    else:
        module.show(result)
