"""l-dichotomy judged from a release: what is recounted, what follows from parameters, what is not given."""

import polars as pl
import pytest

import reticent as rt
from reticent.methods.suppression import Suppression
from reticent.models.l_dichotomy import LDichotomy
from tests.support.release_folders import resealed

FRAME = pl.DataFrame(
    {"age": [20 + i % 7 for i in range(60)], "illness": ["a"] * 35 + ["b"] * 12 + ["c"] * 7 + ["d"] * 6}
)
COLUMNS = {"age": rt.quasi(), "illness": rt.sensitive()}


def published(kind: str, promised: int = 3) -> rt.Release:
    job = rt.Job(
        columns=COLUMNS,
        promises=[rt.ProbabilisticLDiversity(3), LDichotomy(promised)],
        prepare=[Suppression(l=3, kind=kind, prior="uniform" if kind == "calibrated" else None)],
    )
    return rt.publish(job, frame=FRAME)


def verdict(release: rt.Release) -> dict:
    return next(entry for entry in rt.audit(release.folder).to_dict()["promises"] if entry["model"] == "l-dichotomy")


def forged(release: rt.Release, **changes) -> rt.Release:
    resealed(release.folder, lambda manifest: manifest.update(changes))
    return release


def test_safe_is_recounted():
    found = verdict(published("safe"))
    assert (found["kept"], found["evidence"]) == (True, "recounted")
    assert found["achieved"]["l"] >= 3


def test_calibrated_is_from_parameters():
    found = verdict(published("calibrated"))
    assert (found["kept"], found["evidence"]) == (None, "from parameters")


@pytest.mark.parametrize(
    "stage", [{"name": "suppression", "kind": "randomized", "l": 3}, {"name": "suppression", "kind": "safe", "l": 2}]
)
def test_a_stage_that_does_not_give_it_breaks_it(stage):
    assert verdict(forged(published("safe"), prepare=[stage]))["kept"] is False


def test_a_promise_above_what_the_table_shows_is_broken():
    promises = [{"model": "l-dichotomy", "l": 9}]
    found = verdict(forged(published("safe"), promises=promises))
    assert (found["kept"], found["evidence"]) == (False, "recounted")


def test_an_eligible_table_from_which_nothing_is_withheld_keeps_it():
    job = rt.Job(columns=COLUMNS, promises=[rt.ProbabilisticLDiversity(2), LDichotomy(2)], prepare=[Suppression(l=2)])
    release = rt.publish(job, frame=FRAME.filter(pl.col("illness") != "a"))
    assert release.manifest.withheld == 0
    assert verdict(release)["kept"] is True
    assert "cannot be told" in (release.folder / "README.md").read_text()
