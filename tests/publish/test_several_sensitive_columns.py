"""Two sensitive columns: each protected alone, or both taken together; shown by the oracle."""

from __future__ import annotations

import polars as pl
import pytest

import reticent as rt
from reticent.errors import JobError
from tests.oracle import measures
from tests.oracle.groups import histograms, rows_of
from tests.support.two_sensitive_columns import people

COLUMNS = {"age": rt.quasi(), "city": rt.quasi(), "illness": rt.sensitive(), "wage": rt.sensitive(type="categorical")}


def groups(release: rt.Release, sensitive: str | list[str]) -> list:
    return histograms(rows_of(release.frame().to_dicts(), ["age", "city"], sensitive))


def test_both_promises_hold_each_on_its_own_column():
    promises = [rt.BetaLikeness(1, column="illness"), rt.TCloseness("0.2", column="wage"), rt.KAnonymity(5)]
    release = rt.publish(rt.Job(columns=COLUMNS, promises=promises), frame=people())
    assert measures.holds("beta-likeness", groups(release, "illness"), beta=1)
    assert measures.holds("t-closeness", groups(release, "wage"), t="0.2")
    assert measures.k_anonymity(groups(release, "wage")) >= 5
    assert len(groups(release, "wage")) > 1
    assert "Each sensitive column is protected alone" in (release.folder / "README.md").read_text()


def test_jointly_a_promise_holds_on_the_combined_values_and_one_that_names_a_column_on_that():
    promises = [rt.BetaLikeness(2), rt.ProbabilisticLDiversity(2, column="illness")]
    release = rt.publish(rt.Job(columns=COLUMNS, promises=promises, jointly=True), frame=people())
    assert measures.holds("beta-likeness", groups(release, ["illness", "wage"]), beta=2)
    assert measures.holds("probabilistic-l-diversity", groups(release, "illness"), l=2)
    assert len(groups(release, "wage")) > 1
    assert release.frame().columns == ["age", "city", "illness", "wage"]
    found = rt.audit(release.folder).to_dict()
    assert found["kept"] is True
    assert "Each sensitive column is protected alone" not in (release.folder / "README.md").read_text()


def test_a_promise_must_say_which_column_it_means():
    with pytest.raises(JobError, match="which sensitive column"):
        rt.publish(rt.Job(columns=COLUMNS, promises=[rt.BetaLikeness(1)]), frame=people())
    with pytest.raises(JobError, match="not a sensitive column"):
        rt.publish(rt.Job(columns=COLUMNS, promises=[rt.BetaLikeness(1, column="age")]), frame=people())


def test_a_population_promise_is_audited_against_its_population(tmp_path):
    population = pl.concat([people().select("age", "city")] * 4)
    population.write_csv(tmp_path / "population.csv")
    source = people()
    source.write_csv(tmp_path / "people.csv")
    (tmp_path / "job.toml").write_text(
        """
        [source]
        path = "people.csv"
        [columns]
        age = "quasi"
        city = "quasi"
        illness = "sensitive"
        [[promise]]
        model = "k-map"
        k = 12
        population = "population.csv"
        [release]
        undeclared = "drop"
        """
    )
    release = rt.publish(rt.Job.read(tmp_path / "job.toml"), to=tmp_path / "release")
    assert release.audited.promises[0].kept is True
    assert str(tmp_path) not in (tmp_path / "release/manifest.json").read_text()


def test_combined_values_have_no_ordered_distance_whatever_the_order_of_the_rows():
    columns = {"age": rt.quasi(), "illness": rt.sensitive(), "city": rt.sensitive()}
    job = rt.Job(columns=columns, promises=[rt.KAnonymity(5)], jointly=True, release=rt.Output(undeclared="drop"))
    release = rt.publish(job, frame=people(), seed=1)
    assert "t-closeness-equal" in release.audited.achieved
    assert "t-closeness-ordered" not in release.audited.achieved
