"""Methods of the kinds that forgers change, and a data file that is rewritten with its folder sealed again."""

from __future__ import annotations

from pathlib import Path

import reticent as rt
from tests.support.release_folders import resealed

METHODS = {
    "generalized": (rt.Mondrian(), [rt.KAnonymity(5)]),
    "anatomized": (rt.Anatomy(), [rt.ProbabilisticLDiversity(4)]),
    "perturbed": (rt.BetaPerturbation(), [rt.BetaLikeness(4)]),
}


def rewritten(folder: Path, name: str, change) -> Path:
    """A data file with its rows changed, written as the writer writes rows, and the folder sealed again."""
    from reticent.format.data_writer import write_data

    path = next(folder.glob(f"{name}.*"))
    release = rt.open(folder)
    write_data(path, change(release.tables[name]), path.suffix[1:])
    resealed(folder)
    return folder
