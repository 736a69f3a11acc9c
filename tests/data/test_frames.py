"""A table may come as pandas, Polars or Arrow, to every function that takes one, and a release goes out as each of them."""

from __future__ import annotations

import pandas
import polars as pl
import pyarrow
import pytest

import reticent as rt
from tests.support.public_calls import PEOPLE, columns

FORMS = {"pandas": PEOPLE.to_pandas, "polars": lambda: PEOPLE, "lazy": PEOPLE.lazy, "arrow": PEOPLE.to_arrow}
TAKES = {
    "publish": lambda job, table: rt.publish(job, frame=table, seed=1).frame().rows(),
    "check": lambda job, table: rt.check(job, frame=table, methods=[]).to_dict(),
    "count": lambda job, table: rt.count(job, frame=table).counts.tolist(),
    "plan": lambda job, table: rt.plan(job, frame=table, seed=1).groups.rows(),
    "audit": lambda job, table: rt.audit(rt.publish(job, frame=PEOPLE), source=table).kept,
    "audit of a table": lambda job, table: rt.audit(table, quasi=["age"], sensitive=["d"]).to_dict(),
    "risk": lambda job, table: rt.risk(table, quasi=["age", "city"]).to_dict(),
    "population": lambda job, table: rt.publish(job.at(promises=rt.KMap(3, table)), frame=PEOPLE).audited.kept,
    "population of a risk": lambda job, table: rt.risk(PEOPLE, quasi="age", population=table).to_dict(),
    "attack": lambda job, table: rt.attack(rt.publish(job, frame=PEOPLE), table, "skewness").to_dict(),
}


@pytest.fixture
def job():
    return rt.Job(columns=columns(), promises=rt.KAnonymity(3))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("function", TAKES)
def test_every_function_takes_a_table_of_every_form(job, form, function):
    assert TAKES[function](job, FORMS[form]()) == TAKES[function](job, PEOPLE)


@pytest.mark.parametrize("form", FORMS)
def test_batches_are_made_of_a_table_of_every_form(job, form, tmp_path):
    by_city = job.at(columns={"age": rt.quasi(), "d": rt.sensitive()}, promises=rt.KAnonymity(2))
    found = rt.publish_batches(by_city, "city", tmp_path / "batches", frame=FORMS[form]())
    assert found["published"] == 2


@pytest.mark.parametrize("bounds", [False, True])
def test_a_release_goes_out_as_pandas_and_as_arrow(job, bounds):
    release = rt.publish(job, frame=PEOPLE.to_pandas())
    frame = release.to_pandas(bounds=bounds)
    table = release.to_arrow(bounds=bounds)
    assert isinstance(frame, pandas.DataFrame)
    assert isinstance(table, pyarrow.Table)
    assert pl.from_pandas(frame).equals(release.frame(bounds=bounds))
    assert pl.DataFrame(table).equals(release.frame(bounds=bounds))


def test_a_pandas_index_is_no_column_and_is_not_published(job):
    indexed = PEOPLE.to_pandas().set_index(pandas.Index([f"person {at}" for at in range(12)], name="name"))
    assert rt.publish(job, frame=indexed).to_pandas().columns.tolist() == ["age", "city", "d"]


def test_a_missing_library_is_named_with_how_to_install_it(job, monkeypatch):
    release = rt.publish(job, frame=PEOPLE)
    monkeypatch.setattr(pl.DataFrame, "to_pandas", lambda self: __import__("a_library_that_is_not_there"))
    with pytest.raises(rt.RequestError, match="pandas is not installed"):
        release.to_pandas()


def test_what_a_release_was_audited_as_is_what_an_audit_gives(job, tmp_path):
    release = rt.publish(job, frame=PEOPLE)
    release.save(tmp_path / "release")
    opened = rt.open(tmp_path / "release")
    for one in (release, opened):
        assert isinstance(one.audited, rt.Audit)
        found = one.audited.to_dict()
        asked = rt.audit(tmp_path / "release").to_dict()
        assert {**found, "identity": None} == {**asked, "identity": None}  # the owner's note came with saving
