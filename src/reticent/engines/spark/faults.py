"""What goes wrong on a cluster, told without a record's value.

Spark's messages quote values and its logs travel.  A task catches what its libraries raise and names the type only; what we
raise there on purpose comes back word for word and is raised here as it was.
"""

from __future__ import annotations

import base64
import json
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import Any

from reticent import errors
from reticent.engines.spark.interrupts import first, interruption, untold
from reticent.engines.spark.shim import LACKS
from reticent.errors import DiskError, RequestError, ReticentError, SourceError, SourceUnreachable

MARK = "reticent-fault:"
TAG = "reticent"
PATIENCE = 20.0  # seconds that cancelled tasks are waited for


class TaskFault(Exception):
    """What a task says to the driver."""


def told(error: BaseException) -> TaskFault:
    """An error as it crosses: ours with its words, any other by its type."""
    if isinstance(error, ReticentError):
        said = {"kind": type(error).__name__, "what": error.what, "why": error.why, "attempt": error.attempt}
    elif isinstance(error, OSError) and error.errno == 28:
        said = {"kind": "DiskError", "what": "An executor's disk is full.", "why": "", "attempt": "more room for it."}
    else:
        said = {"kind": "", "what": type(error).__name__}
    return TaskFault(MARK + base64.b64encode(json.dumps(said).encode()).decode() + ";")


@contextmanager
def answering(doing: str, session: Any = None) -> Iterator[None]:
    """Whatever Spark raises, as an error of ours without Spark's own words.

    Of a session, what was begun is over when this ends, however it ends: a task that runs on would write rows where they were
    just removed.
    """
    context = None if session is None else session.sparkContext
    if context is not None:
        context.addJobTag(TAG)
    try:
        with untold(), nullcontext() if context is None else first(lambda: _cancelled(context)):
            yield
    except BaseException as error:
        if context is not None:
            _ended(context)
        if (stopped := interruption(error)) is not None:
            raise stopped from None
        if isinstance(error, ReticentError):
            raise
        raise _ours(error, doing) from None
    finally:
        if context is not None:
            with suppress(Exception):
                context.removeJobTag(TAG)


def _cancelled(context: Any) -> None:
    with suppress(Exception):
        context.cancelJobsWithTag(TAG)


def _ended(context: Any) -> None:
    """Our jobs cancelled, and their tasks waited for; a session that is gone has none."""
    _cancelled(context)
    with suppress(Exception):
        until = time.monotonic() + PATIENCE
        while context.statusTracker().getActiveStageIds() and time.monotonic() < until:
            time.sleep(0.05)


def _ours(error: BaseException, doing: str) -> Exception:
    words = str(error)
    if found := re.search(re.escape(MARK) + r"([A-Za-z0-9+/=]+);", words):
        return _as_told(json.loads(base64.b64decode(found[1])), doing)
    if found := re.search(re.escape(LACKS) + r"([A-Za-z0-9_.]*);", words):
        return lacking(found[1])
    if "No space left on device" in words:
        return DiskError(f"{doing}: a disk of the cluster is full.", attempt="more room, or spark.local.dir elsewhere.")
    if "maxResultSize" in words:
        return RequestError(
            f"{doing}: the cells are more than Spark lets its driver hold.",
            why="Rows stay on the executors, but a plan is made from the distinct combinations, on the driver.",
            attempt="--regions, a greater spark.driver.maxResultSize, or fewer distinct values (round_to, a coarser column).",
        )
    return SourceError(
        f"{doing} failed on Spark: {_condition(error)}.",
        why="Spark's message is withheld, because it may quote a record.",
        attempt="the logs of the executors, and partitions that all have the columns and types of the first.",
    )


def _condition(error: BaseException) -> str:
    """Spark's own name for what happened, which holds no value; or the type."""
    asked = getattr(error, "getCondition", None) or getattr(error, "getErrorClass", None)
    try:
        name = asked() if asked else None
    except Exception:
        name = None
    if name is None and (found := re.search(r"\[([A-Z][A-Z_]+(?:\.[A-Z_]+)?)\]", str(error))):
        name = found[1]
    return name or type(error).__name__


_STARTING = {
    "yarn": "HADOOP_CONF_DIR or YARN_CONF_DIR with the settings of the cluster.",
    "spark": "the address that the master's page shows, and a master of the same version of Spark as PySpark here.",
    "k8s": "`kubectl cluster-info` for the address, and spark.kubernetes.container.image.",
    "local": "settings that this machine's Java takes (spark.driver.memory), or --engine stream.",
}


@contextmanager
def starting(master: str) -> Iterator[None]:
    """Whatever keeps Spark from starting, by its name; what it says may hold settings, and these a password."""
    try:
        with untold():
            yield
    except Exception as error:
        if (stopped := interruption(error)) is not None:
            raise stopped from None
        found = getattr(error, "java_exception", None)
        with suppress(Exception):
            found = None if found is None else str(found.getClass().getSimpleName())
        named = found if isinstance(found, str) else _condition(error)
        advice = next(said for kind, said in _STARTING.items() if master.startswith(kind))
        raise SourceUnreachable(
            f"Spark does not start with the master {master.split(':')[0]}: {named}.",
            why="Nothing was read yet.",
            attempt=advice,
        ) from None


def lacking(module: str) -> RequestError:
    return RequestError(
        f"An executor lacks the module {module!r}.",
        why="Executors run this package: it is shipped to them, but what it imports must be installed there.",
        attempt="pip install reticent (or numpy, polars, pyarrow and randomgen) in the executors' Python, and "
        "spark.pyspark.python for which one that is.",
    )


def _as_told(said: dict[str, str], doing: str) -> Exception:
    kind = getattr(errors, said["kind"], None) if said["kind"] else None
    if isinstance(kind, type) and issubclass(kind, ReticentError):
        return kind(said["what"], why=said["why"], attempt=said["attempt"])
    return SourceError(
        f"{doing} failed on an executor: {said['what']}.",
        why="Its message is withheld, because it may quote a record.",
        attempt="--engine stream, which reads the same rows on one machine and says what is wrong with them.",
    )
