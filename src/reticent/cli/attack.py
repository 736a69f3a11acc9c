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
        typer.Option("--as", metavar="NAME", help="naive-bayes, definetti, skewness, similarity, eligibility or algorithm; all of them if left out.", show_default=False),
    ] = None,
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
    outcomes, skipped = [], []
    for one in (
        [name] if name else [known for known, row in ATTACKS.items() if source is not None or not row.needs_source]
    ):
        try:
            with stages(json) as progress:
                progress(f"attacking as {one}")
                outcomes.append(run(release, source, one, missing=tuple(missing or ())).to_dict())
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
    return 0
