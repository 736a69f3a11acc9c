"""What only withheld people have is nowhere in the folder, whatever the kind."""

import polars as pl
import pytest

import reticent as rt

METHODS = {
    "mondrian": (rt.Mondrian(), rt.ProbabilisticLDiversity(3)),
    "anatomy": (rt.Anatomy(), rt.ProbabilisticLDiversity(3)),
    "beta-perturbation": (rt.BetaPerturbation(), rt.BetaLikeness(4)),
}


@pytest.mark.parametrize("format", ["csv", "parquet"])
@pytest.mark.parametrize("method", METHODS)
def test_quasi_identifiers_of_withheld_people_are_not_listed(method, format, tmp_path):
    """Every row has a town of its own: a town of a withheld row in the manifest would say that its person was withheld."""
    illness = ["flu"] * 200 + ["gout"] * 60 + ["asthma"] * 50 + ["ulcer"] * 40
    towns = [f"town-{number:04d}" for number in range(len(illness))]
    people = pl.DataFrame({"town": towns, "illness": illness})
    planner, promise = METHODS[method]
    job = rt.Job(
        columns={"town": rt.quasi(), "illness": rt.sensitive()},
        promises=[promise],
        prepare=[rt.Suppression(l=3, kind="safe")],
        method=planner,
        release=rt.Output(format=format),
    )
    release = rt.publish(job, frame=people, to=tmp_path / "release", seed=1)
    assert release.manifest.withheld > 0
    written = b"".join(path.read_bytes() for path in sorted((tmp_path / "release").iterdir())).decode("latin-1")
    if (
        method == "mondrian"
    ):  # a group's label may name towns of withheld people only if it is a value of somebody published
        shown = {t for label in release.frame()["town"].unique() for t in label.strip("{}").split(", ")}
        listed = next(column for column in release.columns if column.name == "town").values or []
        assert set(listed) <= shown | {"*"}
    else:
        shown = set(release.frame()["town"])
        assert not [town for town in towns if town not in shown and town in written]
    found = rt.audit(tmp_path / "release", source=people)
    assert found.source.passed, str(found)
