"""Suppression relabelled in a manifest that was sealed again: the source shows what the declared kind cannot have withheld."""

import polars as pl
import pytest

import reticent as rt
from tests.support.release_folders import resealed

COUNTS = {"flu": 40, "gout": 10, "asthma": 5, "ulcer": 2, "mumps": 1}
METHODS = {"mondrian": rt.Mondrian(), "anatomy": rt.Anatomy()}


def people(counts=COUNTS) -> pl.DataFrame:
    illness = [name for name, count in counts.items() for _ in range(count)]
    return pl.DataFrame({"age": [20 + n % 60 for n in range(len(illness))], "illness": illness})


def published(folder, method: str, kind: str, counts=COUNTS):
    job = rt.Job(
        columns={"age": rt.quasi(), "illness": rt.sensitive()},
        promises=[rt.ProbabilisticLDiversity(3)],
        prepare=[rt.Suppression(l=3, kind=kind, prior="uniform" if kind == "calibrated" else None, acknowledge=True)],
        method=METHODS[method],
    )
    rt.publish(job, frame=people(counts), to=folder, seed=2)
    return folder


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["eligible", "unsafe", "safe", "randomized", "calibrated"])
def test_what_a_kind_withheld_is_possible_for_it(kind, method, tmp_path):
    found = rt.audit(published(tmp_path / "release", method, kind), source=people())
    assert found.source.to_dict()["suppression_possible"] is True and found.source.passed


@pytest.mark.parametrize("method", METHODS)
def test_unsafe_suppression_relabelled_calibrated_is_found(method, tmp_path):
    folder = published(tmp_path / "release", method, "unsafe")
    resealed(folder, lambda manifest: manifest["prepare"][0].update(kind="calibrated"))
    found = rt.audit(folder, source=people())
    assert found.source.to_dict()["suppression_possible"] is False and found.kept is False


def test_what_the_declared_kind_could_have_drawn_is_said_with_its_probability_and_is_never_called_kept(tmp_path):
    """Of these counts calibrated suppression withholds as little as `unsafe` once in 212 times: one release cannot tell."""
    counts = {"flu": 900, "gout": 160, "asthma": 120, "ulcer": 90, "mumps": 60}
    folder = published(tmp_path / "release", "mondrian", "unsafe", counts)

    def relabel(manifest: dict) -> None:
        manifest["prepare"][0]["kind"] = "calibrated"
        manifest["promises"].insert(0, {"model": "l-dichotomy", "l": 3})

    resealed(folder, relabel)
    found = rt.audit(folder, source=people(counts))
    assert 0 < found.source.to_dict()["suppression_probability"] < 0.005
    assert found.promises[0].kept is None and found.kept is None
