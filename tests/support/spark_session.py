"""Spark for the tests: one session for the whole suite, on this machine's loopback, or a reason why there is none."""

from __future__ import annotations

from functools import cache

import pytest

import reticent as rt
from reticent.engines.spark import session
from reticent.errors import RequestError

SETTINGS = {
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",  # a few rows are not worth compiling for
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Dderby.stream.error.file=/dev/null",
    "spark.driver.memory": "1g",
}
MASTER = "local[2,3]"  # two cores, and a task may fail twice


@cache
def lacking() -> str:
    """Why Spark cannot run here, or nothing."""
    try:
        session.require_spark()
    except RequestError as error:
        return str(error).splitlines()[0]
    return ""


def spark() -> rt.Spark:
    """The engine that every test shares; its session is started once, and ends with the process."""
    if lacking():
        pytest.skip(lacking())
    return rt.Spark(master=MASTER, config=SETTINGS)
