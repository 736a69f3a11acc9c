"""Errors of a cluster, translated without the value of any record, and Ctrl-C while Spark works.

Spark's messages quote values and its logs travel.  A task catches what its libraries raise and names the type only
(`encode_fault`); an error that we raise there on purpose comes back word for word and is raised on the driver
(`translate_spark_errors`).

On Ctrl-C our jobs are cancelled first, and then the usual handling of the signal follows (`cancel_on_signal`). PySpark
waits for a job's end on its way out of a call, so an interruption alone would last as long as the job.
"""

from __future__ import annotations

import base64
import json
import logging
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import Any

from reticent import errors, operating_system
from reticent.engines.spark.shim import MISSING_MODULE_MARK
from reticent.errors import DiskError, RequestError, ReticentError, SourceError, SourceUnreachable

CANCEL_REQUEST_SECONDS = 10.0  # seconds for asking Spark to cancel
FAULT_MARK = "reticent-fault:"
JOB_TAG = "reticent"
CANCEL_SECONDS = 20.0  # seconds that cancelled tasks are waited for
_START_ADVICE = {
    "yarn": "HADOOP_CONF_DIR or YARN_CONF_DIR with the settings of the cluster.",
    "spark": "the address that the master's page shows, and a master of the same version of Spark as PySpark here.",
    "k8s": "`kubectl cluster-info` for the address, and spark.kubernetes.container.image.",
    "local": "settings that this machine's Java takes (spark.driver.memory), or --engine stream.",
}


@contextmanager
def silence_interrupt_logs() -> Iterator[None]:
    """Suppress log records of a Ctrl-C meanwhile; PySpark's gateway to Java logs its traceback by the root logger."""

    def is_other(record: logging.LogRecord) -> bool:
        return not (record.module == "java_gateway" and record.getMessage().startswith("KeyboardInterrupt"))

    root = logging.getLogger()
    root.addFilter(is_other)
    try:
        yield
    finally:
        root.removeFilter(is_other)


@contextmanager
def cancel_on_signal(cancel: Callable[[], Any]) -> Iterator[None]:
    """Call `cancel` before the handler of a signal that has one, in the main thread; other threads get no signals."""
    before = operating_system.get_signal_handlers(operating_system.list_ending_signals())
    before = {number: handler for number, handler in before.items() if callable(handler)}

    def end(number: int, frame: Any) -> None:
        canceller = threading.Thread(target=cancel, daemon=True)  # the main thread's way to Spark is in use
        canceller.start()
        canceller.join(CANCEL_REQUEST_SECONDS)
        before[number](number, frame)

    with operating_system.handle_signals(dict.fromkeys(before, end)):
        yield


def find_interruption(error: BaseException | None) -> BaseException | None:
    """Find the interruption that caused an error: a job that was cancelled by Ctrl-C fails."""
    while error is not None and isinstance(error, Exception):
        error = error.__context__
    return error


class TaskFault(Exception):
    """An error of a task, sent to the driver."""


def encode_fault(error: BaseException) -> TaskFault:
    """Encode an error to be sent: ours with its words, any other by its type."""
    if isinstance(error, ReticentError):
        facts = {"kind": type(error).__name__, "what": error.what, "why": error.why, "attempt": error.attempt}
    elif isinstance(error, OSError) and error.errno == 28:
        facts = {"kind": "DiskError", "what": "An executor's disk is full.", "why": "", "attempt": "more room for it."}
    else:
        facts = {"kind": "", "what": type(error).__name__}
    return TaskFault(FAULT_MARK + base64.b64encode(json.dumps(facts).encode()).decode() + ";")


@contextmanager
def translate_spark_errors(doing: str, session: Any = None) -> Iterator[None]:
    """Translate Spark's errors into ours, without Spark's own words.

    With a session, all jobs that were begun have ended when this ends, however it ends: a task that goes on would write
    rows where they were just removed.
    """
    context = None if session is None else session.sparkContext
    if context is not None:
        context.addJobTag(JOB_TAG)
    try:
        with (
            silence_interrupt_logs(),
            nullcontext() if context is None else cancel_on_signal(lambda: _cancel_jobs(context)),
        ):
            yield
    except BaseException as error:
        if context is not None:
            _end_jobs(context)
        if (stopped := find_interruption(error)) is not None:
            raise stopped from None
        if isinstance(error, ReticentError):
            raise
        raise _translate_error(error, doing) from None
    finally:
        if context is not None:
            with suppress(Exception):
                context.removeJobTag(JOB_TAG)


@contextmanager
def translate_start_errors(master: str) -> Iterator[None]:
    """Translate errors that keep Spark from starting, by their name; their text may hold settings, and these a password."""
    try:
        with silence_interrupt_logs():
            yield
    except Exception as error:
        if (stopped := find_interruption(error)) is not None:
            raise stopped from None
        exception_name = getattr(error, "java_exception", None)
        with suppress(Exception):
            exception_name = None if exception_name is None else str(exception_name.getClass().getSimpleName())
        error_name = exception_name if isinstance(exception_name, str) else _name_condition(error)
        advice = next(text for kind, text in _START_ADVICE.items() if master.startswith(kind))
        raise SourceUnreachable(
            f"Spark does not start with the master {master.split(':')[0]}: {error_name}.",
            why="Nothing was read yet.",
            attempt=advice,
        ) from None


def make_missing_module_error(module: str) -> RequestError:
    """Make the error for an executor that lacks a module."""
    return RequestError(
        f"An executor lacks the module {module!r}.",
        why="Executors run this package: it is shipped to them, but what it imports must be installed there.",
        attempt="pip install reticent (or numpy, polars, pyarrow and randomgen) in the executors' Python, and "
        "spark.pyspark.python for which one that is.",
    )


def _cancel_jobs(context: Any) -> None:
    with suppress(Exception):
        context.cancelJobsWithTag(JOB_TAG)


def _end_jobs(context: Any) -> None:
    """Cancel our jobs and wait for their tasks; a session that is gone has none."""
    _cancel_jobs(context)
    with suppress(Exception):
        deadline = time.monotonic() + CANCEL_SECONDS
        while context.statusTracker().getActiveStageIds() and time.monotonic() < deadline:
            time.sleep(0.05)


def _translate_error(error: BaseException, doing: str) -> Exception:
    words = str(error)
    if match := re.search(re.escape(FAULT_MARK) + r"([A-Za-z0-9+/=]+);", words):
        return _decode_fault(json.loads(base64.b64decode(match[1])), doing)
    if match := re.search(re.escape(MISSING_MODULE_MARK) + r"([A-Za-z0-9_.]*);", words):
        return make_missing_module_error(match[1])
    if "No space left on device" in words:
        return DiskError(f"{doing}: a disk of the cluster is full.", attempt="more room, or spark.local.dir elsewhere.")
    if "maxResultSize" in words:
        return RequestError(
            f"{doing}: the cells are more than Spark lets its driver hold.",
            why="Rows stay on the executors, but a plan is made from the distinct combinations, on the driver.",
            attempt="--regions, a greater spark.driver.maxResultSize, or fewer distinct values (round_to, a coarser column).",
        )
    return SourceError(
        f"{doing} failed on Spark: {_name_condition(error)}.",
        why="Spark's message is withheld, because it may quote a record.",
        attempt="the logs of the executors, and partitions that all have the columns and types of the first.",
    )


def _name_condition(error: BaseException) -> str:
    """Return Spark's own name of the error, which holds no value; or the type."""
    get_condition = getattr(error, "getCondition", None) or getattr(error, "getErrorClass", None)
    try:
        name = get_condition() if get_condition else None
    except Exception:
        name = None
    if name is None and (match := re.search(r"\[([A-Z][A-Z_]+(?:\.[A-Z_]+)?)\]", str(error))):
        name = match[1]
    return name or type(error).__name__


def _decode_fault(facts: dict[str, str], doing: str) -> Exception:
    kind = getattr(errors, facts["kind"], None) if facts["kind"] else None
    if isinstance(kind, type) and issubclass(kind, ReticentError):
        return kind(facts["what"], why=facts["why"], attempt=facts["attempt"])
    return SourceError(
        f"{doing} failed on an executor: {facts['what']}.",
        why="Its message is withheld, because it may quote a record.",
        attempt="--engine stream, which reads the same rows on one machine and says what is wrong with them.",
    )
