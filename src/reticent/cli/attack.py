"""`reticent attack RELEASE`: try what an adversary would, against the data the release was made from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reticent.cli.options import Json, Missing

COLUMNS = ("attack", "targets", "success", "low", "high", "baseline", "worst_posterior", "promised")
EXAMPLE = "reticent attack patients-release --source patients.csv --as naive-bayes"


def attack(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="A release folder.", show_default=False)],
    source: Annotated[
        Path | None, typer.Option("--source", metavar="DATA", help="The data it was made from: the targets; eligibility and algorithm need none.", show_default=False)
    ] = None,
    name: Annotated[
        str | None,
        typer.Option("--as", metavar="NAME", help="naive-bayes, definetti, skewness, similarity, corruption, eligibility or algorithm; all of them if left out.", show_default=False),
    ] = None,
    external: Annotated[
        Path | None, typer.Option("--external", metavar="FILE", help="corruption: everybody whom the adversary knows of; the source if left out.", show_default=False)
    ] = None,
    corrupted: Annotated[
        Path | None, typer.Option("--corrupted", metavar="FILE", help="corruption: people whose value is known; everyone but the victim if left out.", show_default=False)
    ] = None,
    victim: Annotated[
        str | None, typer.Option("--victim", metavar="COLUMN=VALUE,...", help="corruption: one person of the list; each in turn if left out.", show_default=False)
    ] = None,
    skew: Annotated[str | None, typer.Option("--lambda", metavar="P", help="corruption: the most that is believed of one value beforehand (0.1).", show_default=False)] = None,
    rho1: Annotated[str | None, typer.Option("--rho1", metavar="P", help="corruption: the most that is believed of a condition beforehand (0.2).", show_default=False)] = None,
    missing: Missing = None,
    json: Json = False,
) -> int:  # fmt: skip
    """Attack a release as an adversary who knows everyone's quasi-identifiers, and count how often its guess is right.

    Compare success with the baseline: always guessing the most frequent value. What a promise bounds is the belief in a value, not
    what statistics over everyone teach.
    """
    from reticent.attacks import ATTACKS
    from reticent.attacks import attack as run
    from reticent.cli.printing import number, say, say_json, say_table, stages
    from reticent.errors import RequestError

    if not release.is_dir():
        raise RequestError(f"There is no release folder {release}.", attempt="the folder that `reticent publish` made.")
    given = {"external": external, "corrupted": corrupted, "victim": victim, "lambda_": skew, "rho1": rho1}
    given = {option: value for option, value in given.items() if value is not None}
    if given and name != "corruption":
        raise RequestError("--external, --corrupted, --victim, --lambda and --rho1 are for --as corruption.")
    outcomes, skipped = [], []
    if not name and source is None:
        lacking = ", ".join(known for known, row in ATTACKS.items() if row.needs_source)
        skipped.append(f"{lacking}: they need the data that the release was made from. Try --source DATA.")
    for one in (
        [name] if name else [known for known, row in ATTACKS.items() if source is not None or not row.needs_source]
    ):
        try:
            with stages(json) as progress:
                progress(f"attacking as {one}")
                outcomes.append(run(release, source, one, missing=tuple(missing or ()), **given).to_dict())
        except RequestError as error:
            if name:
                raise
            skipped.append(f"{one}: {error.what}")
    if json:
        say_json(outcomes[0] if name else outcomes)
        return 0
    rows = [[number(found[name]) if found[name] is not None else "-" for name in COLUMNS] for found in outcomes]
    say_table(["attack", "targets", "success", "95 % from", "to", "baseline", "worst belief", "promised"], rows)
    say(*(f"left out: {line}" for line in skipped))
    for found in outcomes:
        if found.get("bound") is not None:
            say(f"corruption: no belief of {rho1 or '0.2'} can exceed {found['bound']:.6f} (theorem 2: {found['bound_theorem2']:.6f}); "
                f"beliefs grew by {found['worst_growth']:.6f}, at most by {found['growth_bound']:.6f}")  # fmt: skip
    return 0
