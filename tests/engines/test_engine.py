"""Every engine of the catalogue has every verb, and what it cannot do is refused before anything is read."""

from __future__ import annotations

import pytest

import reticent as rt
from reticent import catalogue, registry
from reticent.engines.engine import Engine

VERBS = [name for name in (*vars(Engine), *Engine.__annotations__) if not name.startswith("_")]


@pytest.mark.parametrize("name", catalogue.ENGINES)
def test_an_engine_has_every_verb(name):
    asked = "scan cache cast profile_columns count count_distinct_rows filter_equal apply map regions name"
    assert set(asked.split()) <= set(VERBS)
    assert [verb for verb in VERBS if not hasattr(registry.load_engine(name), verb)] == []


def test_what_holds_the_cells_of_all_rows_takes_no_regions(tmp_path):
    job = rt.Job(source=str(tmp_path / "absent.csv"), columns={"a": rt.quasi()}, promises=[rt.KAnonymity(2)])
    with pytest.raises(rt.RequestError, match="Checking holds the cells of all rows"):
        rt.check(job, engine=rt.Spark(regions=4))
    with pytest.raises(rt.RequestError, match="Cutting batches holds the cells of all rows"):
        rt.publish_batches(job, "day", tmp_path / "out", engine=rt.Spark(regions=4))
    assert not list(tmp_path.iterdir())


def test_an_engine_that_lacks_a_verb_is_refused_at_the_door(tmp_path):
    class Half:
        def scan(self): ...

        profile_columns = count = apply = scan

    with pytest.raises(rt.RequestError, match="engine must be the name of an engine"):
        rt.publish(rt.Job(columns={"a": rt.quasi()}, promises=[rt.KAnonymity(2)]), engine=Half())
