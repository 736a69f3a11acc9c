"""Columns may be called as Spark's tasks call what they put beside them."""

from __future__ import annotations

import reticent as rt
from tests.support.column_names import assert_any_name_is_carried, table
from tests.support.spark_session import spark


def test_carried_columns_have_any_name_by_spark():
    assert_any_name_is_carried(spark())


def test_columns_of_every_role_have_any_name_by_spark():
    names = ("times", "cell", "count")
    frame = table(dict(zip("abc", names, strict=True)))
    columns = {names[0]: rt.quasi(), names[1]: rt.quasi(), names[2]: rt.sensitive()}
    job = rt.Job(columns=columns, promises=[rt.BetaLikeness(3)], method=rt.Burel())
    release = rt.publish(job, frame=frame, engine=spark(), seed=1)
    assert rt.audit(release, source=frame, job=job).source.passed
