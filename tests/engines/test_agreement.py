"""Every engine publishes the same rows as `local`: every method and kind, with and without carried columns, in any pieces."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reticent as rt
from reticent import catalogue
from reticent.errors import JobError
from tests.support.engine_jobs import FIRST, SORTED, TURNS, by_local, outcome, tables
from tests.support.method_promise_pairs import drafted
from tests.support.release_comparison import ENGINES, assert_same, in_pieces, rows_of

pytestmark = pytest.mark.usefixtures("small_parts")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", TURNS)
@pytest.mark.parametrize("method", catalogue.METHODS)
def test_the_same_job_and_seed_give_the_same_rows_by_every_engine(method, name, engine):
    found = by_local(FIRST[method], name)
    if isinstance(found, str):
        draft = drafted(FIRST[method], *TURNS[name])
        with pytest.raises(JobError) as refused:
            rt.publish(draft.job(), frame=draft.frame, seed=11, engine=engine)
        assert str(refused.value) == found
        return
    release, job, table = found
    with in_pieces():
        other = rt.publish(job, frame=table, seed=11, engine=engine)
    assert_same(release, other)
    if release.kind in SORTED:
        assert all(other.tables[file].equals(frame) for file, frame in release.tables.items())
    assert rt.audit(other, source=table, job=job).source.passed


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("rows", [1, 7, 100, 1000])
def test_any_chunking_gives_the_same_rows(engine, rows, tmp_path):
    release, job, table = by_local(FIRST["burel"], "carried")
    table.write_parquet(tmp_path / "people.parquet", row_group_size=13)
    with in_pieces(rows):
        other = rt.publish(job.at(source=str(tmp_path / "people.parquet")), seed=11, engine=engine)
    assert_same(release, other)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("method", catalogue.METHODS)
def test_another_row_order_gives_the_same_multiset(method, engine):
    release, job, table = by_local(FIRST[method], "plain")
    with in_pieces():
        other = rt.publish(job, frame=table.sample(fraction=1.0, shuffle=True, seed=2), seed=11, engine=engine)
    assert rows_of(release) == rows_of(other)


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=20, deadline=None)
@given(table=tables, rows=st.integers(1, 70), seed=st.integers(0, 9), method=st.sampled_from(["mondrian", "anatomy"]))
def test_random_tables_in_random_pieces_are_published_alike(engine, table, rows, seed, method):
    frame = pl.DataFrame(table, schema={"q": pl.Int8, "s": pl.String, "text": pl.String, "number": pl.Float64})
    near = {name: rt.insensitive(acknowledge=True) for name in ("text", "number")}
    promise = rt.KAnonymity(2) if method == "mondrian" else rt.ProbabilisticLDiversity("3/2")
    job = rt.Job(columns={"q": rt.quasi(), "s": rt.sensitive(), **near}, promises=[promise], method=method)
    with in_pieces(rows):
        one, other = (outcome(job, frame, seed, name) for name in (catalogue.DEFAULT_ENGINE, engine))
    if isinstance(one, rt.Release) and isinstance(other, rt.Release):
        assert_same(one, other)
    else:
        assert one == other
