"""What used to be found out after a release was written, as damage or as a fault of ours: refused before, and nothing is there."""

from __future__ import annotations

import polars as pl
import pytest

import reticent as rt
from reticent import limits
from reticent.data.hierarchy import Hierarchy, require_publishable
from reticent.errors import HierarchyError, JobError

QUASI = "quasi-identifying"
AGES = [[str(age), "young" if age < 25 else "old", "*"] for age in range(50)]
PEOPLE = pl.DataFrame({"age": [at % 50 for at in range(300)], "illness": [f"d{at * at % 7}" for at in range(300)]})


def publish(folder, columns, promise, method="mondrian"):
    job = rt.Job(columns=columns, promises=[promise], method=method)
    return rt.publish(job, frame=PEOPLE, to=folder / "out", seed=1)


@pytest.mark.parametrize("method", ["mondrian", "mosaic", "sabre"])
def test_hierarchical_closeness_needs_a_hierarchy_that_is_published(method, tmp_path):
    """Categories without one have a flat tree while planning, which no manifest holds."""
    closeness = {"model": "t-closeness", "t": 0.5, "distance": "hierarchical"}
    with pytest.raises(JobError, match="needs a hierarchy over 'illness'"):
        publish(tmp_path, {"age": QUASI, "illness": "sensitive"}, closeness, method)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("leaf", ["NaN", "nan", "inf", "-inf", "1e400"])
def test_a_numeric_hierarchy_has_finite_leaves(leaf, tmp_path):
    columns = {"age": rt.quasi(type="numeric", hierarchy=[*AGES, [leaf, "old", "*"]]), "illness": "sensitive"}
    with pytest.raises(HierarchyError) as caught:
        publish(tmp_path, columns, rt.KAnonymity(5))
    assert "nowhere on the line" in str(caught.value) or "not one of ranges" in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_a_belief_of_nothing_is_no_guarantee():
    with pytest.raises(JobError, match=r"rho1 = 0\."):
        rt.RhoGuarantee(0, 0.5, 0.1)


def test_a_skyline_has_as_many_points_as_can_be_judged():
    rt.Skyline([{"bandwidth": 0.3, "t": 0.5}] * 100)
    with pytest.raises(JobError, match="points has 10,000 entries; 100 are the most"):
        rt.Skyline([{"bandwidth": 0.3, "t": 0.5}] * 10_000)


def test_a_hierarchy_that_no_manifest_could_hold_is_refused():
    assert limits.MAX_HIERARCHY_VALUES < limits.MAX_MANIFEST_VALUES
    rows = [[f"v{at}", f"g{at // 10}", "*"] for at in range(251)]
    with pytest.raises(HierarchyError, match="too large to be published"):
        require_publishable(rows, "code", max_values=1_000)
    require_publishable(rows[:250], "code", max_values=1_000)


def test_a_hierarchy_is_measured_before_it_is_built_whether_it_is_a_file_or_rows(tmp_path):
    rows = [["v", "*"]] * (limits.MAX_HIERARCHY_VALUES // 3 + 1)
    (tmp_path / "codes.csv").write_text("v;*\n" * len(rows))
    for given in (rows, tmp_path / "codes.csv"):
        with pytest.raises(HierarchyError, match="too large to be published"):
            Hierarchy.of(given, "code")


def test_an_earlier_release_under_another_hierarchy_can_be_joined(tmp_path):
    """A leaf that only one of them knows is nobody's value."""
    illness = [[f"d{at}", "mild" if at < 4 else "grave", "*"] for at in range(7)]
    for number, more in enumerate(([], [["d7", "grave", "*"]])):
        columns = {"age": QUASI, "illness": rt.sensitive(hierarchy=[*illness, *more])}
        job = rt.Job(columns=columns, promises=[rt.KAnonymity(5 + number)])
        rt.publish(job, frame=PEOPLE, to=tmp_path / f"out{number}", seed=1, again=True)
    assert rt.audit(tmp_path / "out1", source=PEOPLE).kept
