"""A Spark session that can run our tasks: the caller's own, one that is active already, or a new one.

Sessions that were there are not stopped and not configured.  One that we start ends with the process; on one machine it
listens on the loopback address only, and its log is not printed, because logs quote records.
"""

from __future__ import annotations

import os
import pickle
import re
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from reticent.engines.spark import java, shim, warehouse
from reticent.engines.spark.faults import answering, lacking, starting
from reticent.engines.spark.shipped import archived
from reticent.errors import RequestError, SourceUnreachable

MASTER = "RETICENT_SPARK_MASTER"
OWN = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.caseSensitive": "true",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
    "spark.sql.legacy.parquet.nanosAsLong": "true",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",  # `parquet.py` knows the types
}
LOOPBACK = {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
_asked: dict[tuple[str, bool], str] = {}
"""By application: the archive that executors were sent, once they were asked what they have."""


def session_of(master: str | None, config: Mapping[str, str]) -> Any:
    """A session for reading: the settings of what is read are its own, the application may be somebody else's."""
    refuse_unfit()
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is None or active.sparkContext._jsc is None:
        return _started(master or os.environ.get(MASTER) or "local[*]", config)
    if master is not None and master != active.sparkContext.master:
        raise RequestError(
            f"A Spark session with the master {active.sparkContext.master} is active; --master asks for another.",
            attempt="leaving master out, or stopping that session first.",
        )
    return _set(active.newSession())


def refuse_unfit() -> None:
    """Refuse a machine on which Spark cannot run, before anything is started."""
    try:
        version("pyspark")
    except PackageNotFoundError:
        raise RequestError(
            "The engine spark needs PySpark, which is not installed.", attempt='pip install "reticent[spark]".'
        ) from None
    try:
        pandas = version("pandas")
    except PackageNotFoundError:
        pandas = "0"
    if int(pandas.split(".")[0]) >= 3:
        raise RequestError(
            f"pandas {pandas} is installed beside PySpark.",
            why="PySpark 4 is made for pandas 2, and imports whichever is there.",
            attempt='pip install "pandas<3", or --engine stream.',
        )
    java.refuse_unfit()


def _started(master: str, config: Mapping[str, str]) -> Any:
    from pyspark.sql import SparkSession

    _refuse_unreachable(master)
    here = master.startswith("local")
    builder = SparkSession.builder.master(master).appName("reticent")
    python = config.get("spark.pyspark.python") or (sys.executable if here else None)
    settings = {**OWN, **warehouse.apart(config)}
    if here:
        settings |= LOOPBACK | warehouse.spill_settings(config)
    settings |= config
    for name, value in settings.items():
        builder = builder.config(name, str(value))
    said = {"SPARK_LOCAL_IP": "127.0.0.1"} if here else {}
    said |= {"PYSPARK_PYTHON": python} if python else {}  # PySpark asks the environment, and no setting
    with starting(master), _quietly(said):
        return _as_it_was(builder.getOrCreate)


def _as_it_was(start: Callable[[], Any]) -> Any:
    """PySpark puts itself in charge of Ctrl-C; it is ours, and cancels our own jobs."""
    if threading.current_thread() is not threading.main_thread():
        return start()
    before = signal.getsignal(signal.SIGINT)
    try:
        return start()
    finally:
        signal.signal(signal.SIGINT, before)


def _set(session: Any) -> Any:
    for name, value in OWN.items():
        if name.startswith("spark.sql."):
            session.conf.set(name, value)
    return session


def _refuse_unreachable(master: str) -> None:
    """A standalone master is knocked at: Spark would take a minute to say that nobody is there."""
    if not re.fullmatch(r"local(-cluster)?(\[.*\])?|spark://.+|yarn|k8s://.+", master):
        raise RequestError(
            f"{master!r} is no master that Spark knows.",
            attempt='"local[2]", "spark://host:7077", "yarn" or "k8s://https://host:443".',
        )
    if not master.startswith("spark://"):
        return
    for place in master.removeprefix("spark://").split(","):
        host, _, port = place.rpartition(":")
        try:
            with socket.create_connection((host, int(port)), timeout=5):
                return
        except (OSError, ValueError, OverflowError):
            continue
    raise SourceUnreachable(
        "The Spark master does not answer.",
        why="No host that --master names accepts a connection.",
        attempt="the address that the master's page shows, and whether a firewall is between.",
    )


@contextmanager
def _quietly(said: Mapping[str, str]) -> Iterator[None]:
    """What Spark's Java prints goes nowhere: it quotes records, and nobody asked for it.  `said` is its environment."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    before = {name: os.environ.get(name) for name in said}
    os.environ.update(said)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def task(session: Any, ship: bool, function: Callable, *arguments: Any, shared: Sequence[Any] = ()) -> Callable:
    """A function of `tasks.py` with its arguments and with broadcast values after them, as Spark runs it on executors."""
    from pyspark import cloudpickle

    cloudpickle.register_pickle_by_value(shim)
    archive = _shipped(session, ship)
    return shim.entered(archive, pickle.dumps((function, arguments), protocol=5), tuple(shared))


def each(session: Any, ship: bool, function: Callable, asked: Iterable[tuple[Any, ...]]) -> list[Any]:
    """A function called with each of some arguments on the executors, which open them once they have the package."""
    from reticent.engines.spark.tasks import called

    items = [pickle.dumps(arguments, protocol=5) for arguments in asked]
    run = task(session, ship, called, function)
    with answering("Planning regions", session):
        found = session.sparkContext.parallelize(items, max(len(items), 1)).mapPartitions(run).collect()
    return [pickle.loads(one) for one in found]


def _shipped(session: Any, ship: bool) -> str:
    """The name of the archive that executors have, sent once for each application; "" where the package is installed."""
    context = session.sparkContext
    key = (context.applicationId, ship)
    if key not in _asked:
        name = ""
        if ship:
            path, name = archived()
            with answering("Shipping the package"):
                context.addArchive(f"{path.resolve().as_uri()}#{name}")  # an address: its folder may be called anything
        _refuse_unlike(context, ship)
        _asked[key] = name
    return _asked[key]


def _refuse_unlike(context: Any, ship: bool) -> None:
    """Ask executors what they have, before data is read: modules that are missing, or of another version than here."""
    with answering("Asking the executors"):
        rows = context.parallelize(range(8), 8).mapPartitions(shim.versions).collect()
    here = next(shim.versions([0]))
    for found in rows:
        for name, mine in here.items():
            if name == "reticent" and ship:
                continue
            if found[name] is None:
                raise lacking(name)
            if name in ("python", "polars", "reticent") and found[name] != mine:
                raise RequestError(
                    f"An executor has {name} {found[name]}, and the driver {mine}.",
                    why="Engines agree where they run the same code.",
                    attempt=f"{name} {mine} on every executor.",
                )
