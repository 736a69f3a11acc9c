"""Advice about engines is followed without a cluster: what Spark and regions refuse, other settings publish."""

from __future__ import annotations

import socket
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any
from unittest import mock

import polars as pl
import pytest

import reticent as rt
from reticent.engines.spark import error_translation, session, shim, sources
from reticent.engines.spark.engine import Spark
from reticent.errors import ColumnError, JobError, RequestError, SourceError, SourceUnreachable
from reticent.job.parse import parse_job
from reticent.partitioned.cell_encoding import count_marginals
from tests.advice.coverage import Trial, follows
from tests.advice.small_jobs import COLUMNS, ROWS, make_people, publish, publish_file, write_people
from tests.support.in_process_partitions import Spread

pytest.importorskip("pyspark", reason="PySpark is not installed: Spark's tests are skipped")
SESSION = "engines/spark/session.py"
FAULTS = "engines/spark/error_translation.py"
SOURCES = "engines/spark/sources.py"


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_people("people.csv")


@pytest.fixture(autouse=True)
def no_session():
    with mock.patch("pyspark.sql.SparkSession.getActiveSession", return_value=None):
        yield


def stream(**job: Any) -> None:
    publish(source={"path": "people.csv"}, engine="stream", **job)


def write_java(version: str) -> str:
    """Write a program that says which Java it is; return its home."""
    program = Path(version) / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2023' >&2\n")
    program.chmod(0o755)
    return str(Path(version).absolute())


@follows(SESSION, "installing OpenJDK …, or --engine stream, which needs none.")
@follows(SESSION, "JAVA_HOME of a Java …, or --engine stream, which needs none.")
def test_a_machine_without_a_java_that_is_new_enough(monkeypatch):
    monkeypatch.setenv("PATH", "nowhere")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(RequestError, match="none is found"):
        publish(engine="spark")
    monkeypatch.setenv("JAVA_HOME", write_java("11.0.2"))
    with pytest.raises(RequestError, match="has Java 11"):
        publish(engine="spark")
    stream()
    monkeypatch.setenv("JAVA_HOME", write_java("17.0.9"))
    session.require_java()
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", "17.0.9/bin")
    session.require_java()


@follows(SESSION, 'pip install "reticent[spark]".', 'pip install "pandas<3", or --engine stream.')
def test_packages_of_spark():
    def find_none(name: str) -> str:
        raise PackageNotFoundError

    with mock.patch.object(session, "require_java"):
        with mock.patch.object(session, "version", find_none), pytest.raises(RequestError, match="not installed"):
            session.require_spark()
        versions = {"pyspark": "4.0.0", "pandas": "3.0.1"}
        with mock.patch.object(session, "version", versions.__getitem__):
            with pytest.raises(RequestError, match=r"pandas 3\.0\.1"):
                session.require_spark()
            stream()
            versions["pandas"] = "2.3.1"
            session.require_spark()


@follows(SESSION, '"local[2]", "spark://host:7077", "yarn" or "k8s://https://host:443".')
@follows(SESSION, "the address that the master's page shows, and whether a firewall is between.")
def test_advice_about_masters_is_accepted():
    with pytest.raises(RequestError, match="no master that Spark knows"):
        session._require_reachable("http://host")
    with pytest.raises(SourceUnreachable, match="does not answer"):
        session._require_reachable("spark://127.0.0.1:1")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        shown = f"spark://127.0.0.1:{listening.getsockname()[1]}"
        for master in ("local[2]", shown, "yarn", "k8s://https://host:443"):
            session._require_reachable(master)


class Executors:
    """A Spark context whose executors have these versions."""

    def __init__(self, **versions: str | None):
        self.versions = {**next(shim.list_versions([0])), **versions}

    def parallelize(self, items: Any, parts: int) -> Executors:
        return self

    def mapPartitions(self, function: Any) -> Executors:
        return self

    def collect(self) -> list[Any]:
        return [self.versions]


@follows(SESSION, "… … on every executor.")
@follows(
    FAULTS,
    "pip install reticent (or numpy, polars, pyarrow and randomgen) in the executors' Python, and spark.pyspark.python "
    "for which one that is.",
)
def test_executors_with_other_packages():
    with pytest.raises(RequestError, match="lacks the module 'polars'"):
        session._require_same_versions(Executors(polars=None), ship=True)
    with pytest.raises(RequestError, match=r"An executor has polars 0\.1"):
        session._require_same_versions(Executors(polars="0.1"), ship=True)
    session._require_same_versions(Executors(polars=pl.__version__), ship=True)


@follows(FAULTS, "{facts['attempt']}")
@follows(FAULTS, "--engine stream, which reads the same rows on one machine and says what is wrong with them.")
def test_errors_of_tasks():
    def fail(error: Exception) -> None:
        with error_translation.translate_spark_errors("Counting"):
            raise error_translation.encode_fault(error)

    with pytest.raises(ColumnError) as refused:
        fail(ColumnError("It is refused.", attempt="another name."))
    assert refused.value.attempt == "another name."
    with pytest.raises(SourceError, match="withheld"):
        fail(ValueError("a value"))
    stream()


def open_jdbc(**options: Any) -> None:
    """Open a database as Spark does, with a session that takes whatever it is given."""
    sources._open_jdbc(mock.MagicMock(), rt.Source(**options))


def write_arrow() -> str:
    make_people().write_ipc("people.arrow")
    return "people.arrow"


def read_part(path: str) -> list[pl.DataFrame]:
    return list(sources._read_frames(rt.Source(path=path), ["name", "age", "city", "illness"], [0, 1, 2, 3]))


TRIALS = [
    Trial("engines/spark/engine.py", "regions = 64.", lambda: rt.Spark(regions=1), lambda: rt.Spark(regions=64)),
    Trial(
        SOURCES,
        'url = "…postgresql://host/name" with a driver in spark.jars, or --engine stream.',
        lambda: open_jdbc(url="postgresql://host/name", table="people"),
        lambda: [open_jdbc(url="jdbc:postgresql://host/name", table="people"), stream()],
    ),
    Trial(
        SOURCES,
        'table = "people".',
        lambda: open_jdbc(url="jdbc:postgresql://host/name"),
        lambda: open_jdbc(url="jdbc:postgresql://host/name", table="people"),
    ),
    Trial(
        SOURCES,
        "a path that this machine and every executor see alike, and a file that nobody removes meanwhile.",
        lambda: read_part("absent.csv"),
        lambda: read_part("people.csv"),
    ),
]


@pytest.mark.parametrize("trial", TRIALS, ids=str)
def test_sources_and_regions_of_spark(trial):
    trial.run()


@follows("engines/local.py", "a file with at least k rows.")
@follows("partitioned/cell_encoding.py", "a file with at least k rows.")
def test_a_file_without_rows():
    Path("header.csv").write_text("name,age,city,illness\n")
    for engine in ("local", "stream"):
        with pytest.raises(SourceError, match="no rows"):
            publish(source={"path": "header.csv"}, engine=engine)
        publish(source={"path": "people.csv"}, engine=engine)
    empty, whole = (
        Spread(2).count_combinations(rows.lazy(), ["age"], Path(f"parts of {len(rows)}"))
        for rows in (make_people().clear(), make_people())
    )
    with pytest.raises(SourceError, match="no rows"):
        count_marginals(empty, ["age"])
    count_marginals(whole, ["age"])


def make_job(**columns: Any) -> rt.Job:
    return parse_job({"columns": {**COLUMNS, **columns}, "promise": [{"model": "k-anonymity", "k": 3}]})


@follows(
    "engines/spark/engine.py", '--engine stream (engine="stream"), or rows_per_person as high as anybody has rows.'
)
def test_rows_beyond_those_of_a_person_on_spark():
    names = [f"p{row // 2}" for row in range(ROWS)]
    write_people("people.csv", name=names)
    with pytest.raises(JobError, match="not known to the spark engine"):
        Spark().drop_surplus(None, {"name": 1}, None)
    surplus = {"role": "identifying", "rows_per_person": 1, "beyond": "withhold"}
    stream(columns={"name": surplus})
    publish_file(columns={"name": {"role": "identifying", "rows_per_person": 2}})


@follows(
    "preconditions.py", "to=... with it.", "an engine without regions, on as many of the rows as one machine plans."
)
def test_plans_in_regions():
    job = make_job()
    with pytest.raises(JobError, match="needs a folder"):
        rt.publish(job, frame=make_people(), engine=Spread(2), seed=1)
    rt.publish(job, frame=make_people(), engine=Spread(2), to="release", seed=1, ledger="ledger")
    with pytest.raises(JobError, match="holds the cells of all rows"):
        rt.check(job, frame=make_people(), engine=Spread(2), methods=["mondrian"])
    rt.check(job, frame=make_people(), engine="stream", methods=["mondrian"])


@follows("publish.py", 'to="release".', "--engine local or stream, or a source without them (`reticent forget`).")
def test_people_who_are_new():
    job = make_job()
    with pytest.raises(RequestError, match="no ledger is asked"):
        rt.publish(job, frame=make_people(), only_new=True)
    with pytest.raises(RequestError, match="on one machine"):
        rt.publish(job, frame=make_people(), only_new=True, to="release", ledger="ledger", engine=Spread(2))
    rt.publish(job, frame=make_people(), only_new=True, to="release", ledger="ledger", seed=1)
    later = make_people(name=[f"q{row}" for row in range(ROWS)], age=[80 + row % 9 for row in range(ROWS)])
    rt.publish(job, frame=later, only_new=True, to="later", ledger="ledger", engine="stream", seed=1)


@follows(
    "batches.py",
    "{suggest_column(by, names, readable_rows)}",
    "an insensitive column or one without a role, such as the day of a delivery.",
    "filling it.",
    "a column with fewer values, such as the week instead of the minute.",
    "another name.",
)
def test_advice_about_batches_is_accepted():
    people = make_people(
        day=["Monday", "Tuesday"] * 30, gap=[None, *["Monday"] * 59], minute=[f"8:{row}" for row in range(ROWS)]
    )
    job = make_job().at(release=rt.Output(undeclared="drop"))

    def cut(by: str, to: str = "batches") -> None:
        rt.publish_batches(job, by, to, frame=people, seed=1, ledger="ledger", again=True)

    for by, fault in (("dai", "no column 'dai'"), ("age", "cannot make batches"), ("minute", "near-unique")):
        with pytest.raises(ColumnError, match=fault):
            cut(by)
    with pytest.raises(ColumnError, match="is missing in 1 row"):
        rt.publish_batches(job, "gap", "batches", frame=people, ledger="ledger")
    filled = people.with_columns(pl.col("gap").fill_null("Monday"))
    rt.publish_batches(job, "gap", "filled", frame=filled, seed=1, ledger="ledger")
    rt.publish(job, frame=make_people(), to="release", seed=1, ledger="other ledger")
    with pytest.raises(RequestError, match="batches cannot be put into it"):
        cut("day", "release")
    cut("day")
    assert len(list(Path("batches").iterdir())) == 2
