"""Column weights (equation 4 of paper 1) reach the manifest and the audited loss."""

from __future__ import annotations

import pytest

import reticent as rt
from tests.support.two_sensitive_columns import people

COLUMNS = {"age": rt.quasi(), "city": rt.quasi(), "illness": rt.sensitive(), "wage": rt.insensitive()}


@pytest.mark.parametrize("method", ["mondrian", "mosaic"])
def test_the_audit_weighs_columns_as_the_job_does(tmp_path, method):
    people().write_csv(tmp_path / "people.csv")
    (tmp_path / "job.toml").write_text(
        f"""
        [source]
        path = "people.csv"
        [columns]
        age = "quasi"
        city = "quasi"
        illness = "sensitive"
        [[promise]]
        model = "k-anonymity"
        k = 20
        [method]
        name = "{method}"
        weights = {{ age = 2.5, city = 1 }}
        [release]
        undeclared = "drop"
        """
    )
    release = rt.publish(rt.Job.read(tmp_path / "job.toml"), seed=1)
    assert release.manifest.weights == {"age": 2.5, "city": 1}
    utility = rt.audit(release.folder).to_dict()["utility"]
    each = utility["ail_by_column"]
    assert utility["ail"] == pytest.approx((2.5 * each["age"] + each["city"]) / 3.5)
