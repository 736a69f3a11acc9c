"""Rows that columns withhold, and recoded values, by Spark: as by one machine, or refused with the reason."""

from __future__ import annotations

import random
from collections import Counter

import polars as pl
import pytest

import reticent as rt
from reticent.errors import JobError
from tests.support.spark_session import spark

pytestmark = [pytest.mark.filterwarnings("ignore::ResourceWarning")]


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    draw = random.Random(6)
    rows = [
        (
            f"p{draw.randrange(60)}",
            draw.choice([None, *range(20, 50)]),
            draw.choice([3, 14, 48, 95]),
            draw.randrange(100),
        )
        for _ in range(240)
    ]
    return pl.DataFrame(rows, schema=["name", "age", "cost", "visits"], orient="row")


def job(**changes) -> rt.Job:
    columns = {
        "name": rt.identifying(),
        "age": rt.quasi(missing="withhold"),
        "cost": rt.sensitive(round_to=10, top=90),
        "visits": rt.insensitive(round_to=20, bottom=20, top=80),
    }
    return rt.Job(columns=columns | changes, promises=rt.KAnonymity(3))


def test_spark_withholds_and_recodes_as_one_machine_does(people):
    release = rt.publish(job(), frame=people, seed=1, engine=spark())
    local = rt.publish(job(), frame=people, seed=1)
    assert release.manifest.withheld_before == local.manifest.withheld_before == {"missing": people["age"].null_count()}
    for name in ("age", "cost", "visits"):
        assert Counter(release.frame()[name]) == Counter(local.frame()[name])
    assert rt.audit(release, source=people).kept


def test_spark_draws_no_rows_of_a_person_and_says_why(people):
    declared = job(name=rt.identifying(rows_per_person=2, beyond="withhold"))
    with pytest.raises(JobError, match="spark engine") as caught:
        rt.publish(declared, frame=people, engine=spark())
    assert "stream" in caught.value.attempt
    rt.publish(declared, frame=people, engine="stream")
