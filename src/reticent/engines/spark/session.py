"""A Spark session that can run our tasks: the caller's own, one that is active already, or a new one.

Existing sessions are neither stopped nor configured.  A session that we start ends with the process; on one machine it
listens on the loopback address only, and its log is not printed, because logs quote records.

Java: `require_java` finds Java 17 or later before anything is started.

Paths: Spark's paths are not URLs: `%20` is no blank there but a folder of that name, which nobody would remove; and
`a[1]` is a pattern unless an option turns patterns off.  `to_file_url` names a path literally.

Folders: a session that we start has a folder on this machine (`get_session_folder`) for its catalogue, the archive for
executors, and rows that Spark spills.  It is staged as everything temporary is: it is removed when the process ends
and, if the process is killed, by the next command that writes, through the record in the user's ledger. By default
Spark would make its catalogue's folder in the working directory; nothing is written there, because we only read tables.
Spilled rows would stay in the temporary folder after a kill.  Settings that the user made, also a Hive catalogue, are
left as they are (`build_warehouse_settings`, `build_spill_settings`).

Code: `build_archive` packs the package, kernels included, into an archive that Spark unpacks on every executor.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import pickle
import re
import shutil
import socket
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from reticent.engines.spark import shim
from reticent.engines.spark.error_translation import (
    make_missing_module_error,
    translate_spark_errors,
    translate_start_errors,
)
from reticent.errors import RequestError, SourceUnreachable
from reticent.ledger import staging
from reticent.operating_system import restore_interrupt_handler

MIN_JAVA_VERSION = 17
LITERAL_PATH_OPTIONS = {"__globPaths__": "false"}  # of every reader
_SESSION_STACK = ExitStack()
WAREHOUSE_SETTING = "spark.sql.warehouse.dir"
CATALOG_SETTING = "spark.sql.catalogImplementation"
JAVA_OPTIONS_SETTING = "spark.driver.extraJavaOptions"
SPILL_SETTING = "spark.local.dir"
SPILL_VARIABLE = "SPARK_LOCAL_DIRS"
PACKAGE_FOLDER = Path(__file__).parents[2]
_EXCLUDED_SUFFIXES = {".c", ".pyc", ".html"}
MASTER_VARIABLE = "RETICENT_SPARK_MASTER"
SESSION_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.caseSensitive": "true",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
    "spark.sql.legacy.parquet.nanosAsLong": "true",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",  # `sources.py` knows the types
}
LOOPBACK_SETTINGS = {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
_shipped_archives: dict[tuple[str, bool], str] = {}
"""By application: the archive that executors were sent, once they were asked what they have."""


def require_java() -> None:
    """Refuse a machine without a Java that Spark 4 runs on."""
    home = os.environ.get("JAVA_HOME")
    path = os.path.join(home, "bin", "java") if home else shutil.which("java")
    java_version = None if path is None else read_java_version(path)
    if java_version is None:
        place = "in JAVA_HOME" if home else "on the PATH"
        raise RequestError(
            f"The engine spark needs Java {MIN_JAVA_VERSION} or later, and none is found {place}.",
            attempt=f"installing OpenJDK {MIN_JAVA_VERSION}, or --engine stream, which needs none.",
        )
    if java_version < MIN_JAVA_VERSION:
        holder = "JAVA_HOME" if home else "the PATH"
        raise RequestError(
            f"The engine spark needs Java {MIN_JAVA_VERSION} or later, and {holder} has Java {java_version}.",
            attempt=f"JAVA_HOME of a Java {MIN_JAVA_VERSION}, or --engine stream, which needs none.",
        )


def read_java_version(path: str) -> int | None:
    """Return the major version of a Java; None if it does not run."""
    try:
        output = subprocess.run([path, "-version"], capture_output=True, text=True, timeout=60, check=False).stderr
    except (OSError, subprocess.SubprocessError):
        return None
    match = re.search(r'version "(\d+)(?:\.(\d+))?', output)
    if match is None:
        return None
    return int(match[2] or 0) if match[1] == "1" else int(match[1])


def to_file_url(path: Path) -> str:
    """Return the address of a path on this machine, as Spark reads it literally."""
    return f"file://{path.resolve()}"


@cache
def get_session_folder() -> Path:
    """Return the folder; it is made on the first call."""
    folder = _SESSION_STACK.enter_context(staging.stage_folder(None))
    atexit.register(staging.discard_staged, folder)
    return folder


def make_session_folder(name: str) -> Path:
    """Make a folder of this name in the session's folder."""
    folder = get_session_folder() / name
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder.resolve()


def build_warehouse_settings(config: Mapping[str, str]) -> dict[str, str]:
    """Return the setting for a session with this configuration, unless the user has made it."""
    stated = {**_read_defaults(), **config}
    if WAREHOUSE_SETTING in stated or stated.get(CATALOG_SETTING, "in-memory") != "in-memory":
        return {}
    return {WAREHOUSE_SETTING: make_session_folder("catalogue").as_uri()}


def build_spill_settings(config: Mapping[str, str]) -> dict[str, str]:
    """Return the settings that have a session on this machine spill, and Java keep its own files, in the session's folder.

    Settings that the user made are left as they are.
    """
    stated = {**_read_defaults(), **config}
    settings = {}
    if SPILL_SETTING not in stated and not os.environ.get(SPILL_VARIABLE):
        settings[SPILL_SETTING] = str(make_session_folder("spilled"))
    if JAVA_OPTIONS_SETTING not in stated:
        settings[JAVA_OPTIONS_SETTING] = f'"-Djava.io.tmpdir={make_session_folder("java")}"'
    return settings


@cache
def build_archive() -> tuple[Path, str]:
    """Return the path of the archive, and the name that it is unpacked under: another one for other code."""
    folder = make_session_folder("shipped")
    digest = hashlib.blake2b(digest_size=8)
    path = folder / "reticent.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for file in sorted(PACKAGE_FOLDER.rglob("*")):
            if file.is_file() and file.suffix not in _EXCLUDED_SUFFIXES:
                name = str(file.relative_to(PACKAGE_FOLDER.parent))
                content = file.read_bytes()
                digest.update(name.encode() + b"\0" + content)
                archive.writestr(name, content)
    return path, f"reticent-{digest.hexdigest()}"


def open_session(master: str | None, config: Mapping[str, str]) -> Any:
    """Open a session for reading: its settings for reading are its own, the application may be another's."""
    require_spark()
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is None or active.sparkContext._jsc is None:
        return _start_session(master or os.environ.get(MASTER_VARIABLE) or "local[*]", config)
    if master is not None and master != active.sparkContext.master:
        raise RequestError(
            f"A Spark session with the master {active.sparkContext.master} is active; --master asks for another.",
            attempt="leaving master out, or stopping that session first.",
        )
    return _apply_settings(active.newSession())


def require_spark() -> None:
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
    require_java()


def build_task(session: Any, ship: bool, function: Callable, *arguments: Any, shared: Sequence[Any] = ()) -> Callable:
    """Wrap a function of `tasks.py`, its arguments and broadcast values after them, as a task that Spark runs on executors."""
    from pyspark import cloudpickle

    cloudpickle.register_pickle_by_value(shim)
    archive = _ship_package(session, ship)
    return shim.wrap_task(archive, pickle.dumps((function, arguments), protocol=5), tuple(shared))


def map_on_executors(
    session: Any, ship: bool, function: Callable, argument_lists: Iterable[tuple[Any, ...]]
) -> list[Any]:
    """Call a function with each tuple of arguments on the executors; arguments are unpickled once the package is there."""
    from reticent.engines.spark.tasks import call_each

    items = [pickle.dumps(arguments, protocol=5) for arguments in argument_lists]
    run = build_task(session, ship, call_each, function)
    with translate_spark_errors("Planning regions", session):
        results = session.sparkContext.parallelize(items, max(len(items), 1)).mapPartitions(run).collect()
    return [pickle.loads(result) for result in results]


def _read_defaults() -> dict[str, str]:
    """Read spark-defaults.conf, which Spark reads by itself: a name, and after a blank, "=" or ":" its value."""
    home = os.environ.get("SPARK_HOME")
    folder = os.environ.get("SPARK_CONF_DIR") or (os.path.join(home, "conf") if home else None)
    if folder is None:
        return {}
    try:
        lines = (Path(folder) / "spark-defaults.conf").read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return {}
    pairs = (
        line.replace("=", " ", 1).replace(":", " ", 1).split(None, 1) for line in lines if line.strip()[:1] not in "#!"
    )
    return {pair[0]: pair[1].strip() for pair in pairs if len(pair) == 2}


def _start_session(master: str, config: Mapping[str, str]) -> Any:
    from pyspark.sql import SparkSession

    _require_reachable(master)
    is_local = master.startswith("local")
    builder = SparkSession.builder.master(master).appName("reticent")
    python = config.get("spark.pyspark.python") or (sys.executable if is_local else None)
    settings = {**SESSION_SETTINGS, **build_warehouse_settings(config)}
    if is_local:
        settings |= LOOPBACK_SETTINGS | build_spill_settings(config)
    settings |= config
    for name, value in settings.items():
        builder = builder.config(name, str(value))
    environment = {"SPARK_LOCAL_IP": "127.0.0.1"} if is_local else {}
    environment |= {"PYSPARK_PYTHON": python} if python else {}  # PySpark asks the environment, and no setting
    with translate_start_errors(master), _silence_java(environment):
        return _restore_sigint_after(builder.getOrCreate)


def _apply_settings(session: Any) -> Any:
    for name, value in SESSION_SETTINGS.items():
        if name.startswith("spark.sql."):
            session.conf.set(name, value)
    return session


def _ship_package(session: Any, ship: bool) -> str:
    """Return the name of the archive that executors have, sent once for each application; "" if the package is installed."""
    context = session.sparkContext
    key = (context.applicationId, ship)
    if key not in _shipped_archives:
        name = ""
        if ship:
            path, name = build_archive()
            with translate_spark_errors("Shipping the package"):
                context.addArchive(f"{path.resolve().as_uri()}#{name}")  # an address: its folder may be called anything
        _require_same_versions(context, ship)
        _shipped_archives[key] = name
    return _shipped_archives[key]


def _require_reachable(master: str) -> None:
    """Connect to a standalone master first: Spark would take a minute to report that it does not answer."""
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
            if int(port) >= 1 << 16:  # the system would take such a number modulo 2^16, for another port
                continue
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
def _silence_java(environment: Mapping[str, str]) -> Iterator[None]:
    """Discard what Spark's Java prints, because it quotes records; `environment` is what Java gets besides."""
    stderr_copy = os.dup(2)
    devnull = os.open(os.devnull, os.O_WRONLY)
    before = {name: os.environ.get(name) for name in environment}
    os.environ.update(environment)
    try:
        os.dup2(devnull, 2)
        yield
    finally:
        os.dup2(stderr_copy, 2)
        os.close(stderr_copy)
        os.close(devnull)
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _restore_sigint_after(start: Callable[[], Any]) -> Any:
    """Restore our handler of Ctrl-C, which cancels our own jobs, after a start in which PySpark replaces it."""
    with restore_interrupt_handler():
        return start()


def _require_same_versions(context: Any, ship: bool) -> None:
    """Ask executors for missing modules and other versions, before data is read."""
    with translate_spark_errors("Asking the executors"):
        rows = context.parallelize(range(8), 8).mapPartitions(shim.list_versions).collect()
    own_versions = next(shim.list_versions([0]))
    for versions in rows:
        for name, own_version in own_versions.items():
            if name == "reticent" and ship:
                continue
            if versions[name] is None:
                raise make_missing_module_error(name)
            if name in ("python", "polars", "reticent") and versions[name] != own_version:
                raise RequestError(
                    f"An executor has {name} {versions[name]}, and the driver {own_version}.",
                    why="Engines agree where they run the same code.",
                    attempt=f"{name} {own_version} on every executor.",
                )
