"""What Spark cannot do is refused before anything is read or written, in words that hold no record's value.  No Spark is started."""

from __future__ import annotations

import socket
import sys
from pathlib import Path
from unittest import mock

import pytest

import reticent as rt
from reticent.engines.spark import error_translation, session, shim
from reticent.errors import ColumnError, DiskError, JobError, RequestError, SourceError, SourceUnreachable

pytest.importorskip("pyspark", reason="PySpark is not installed: Spark's tests are skipped")
JOB = rt.Job(source="nowhere.csv", columns={"q": rt.quasi()}, promises=[rt.KAnonymity(2)])


@pytest.fixture(autouse=True)
def no_session():
    with mock.patch("pyspark.sql.SparkSession.getActiveSession", return_value=None):
        yield


def a_java(folder, said: str) -> str:
    (folder / "bin").mkdir()
    path = folder / "bin" / "java"
    path.write_text(f"#!/bin/sh\necho '{said}' >&2\n")
    path.chmod(0o755)
    return str(folder)


def test_a_machine_without_java_is_refused_and_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(RequestError, match="needs Java 17 or later, and none is found on the PATH"):
        rt.publish(JOB, to=tmp_path / "out", engine="spark")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("said", "version"), [('java version "1.8.0_392"', "Java 8"), ('openjdk version "11.0.2" 2019', "Java 11")]
)
def test_a_java_that_is_too_old_is_refused_by_its_version(tmp_path, monkeypatch, said, version):
    monkeypatch.setenv("JAVA_HOME", a_java(tmp_path, said))
    with pytest.raises(RequestError, match=version):
        rt.publish(JOB, to=tmp_path / "out", engine="spark")
    assert not (tmp_path / "out").exists()


def test_a_java_that_is_new_enough_passes(tmp_path, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", a_java(tmp_path, 'openjdk version "21" 2023-09-19'))
    session.require_java()


def test_pandas_3_beside_pyspark_is_refused(tmp_path):
    versions = {"pyspark": "4.3.0", "pandas": "3.0.1"}
    with (
        mock.patch.object(session, "version", versions.__getitem__),
        pytest.raises(RequestError, match=r"pandas 3\.0\.1"),
    ):
        rt.publish(JOB, to=tmp_path / "out", engine="spark")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("master", ["spark://127.0.0.1:1", "spark://127.0.0.1:99999", "spark://127.0.0.1"])
def test_a_master_that_does_not_answer_is_refused_before_java_is_started(tmp_path, master):
    with mock.patch.object(session, "require_java"), pytest.raises(SourceUnreachable, match="does not answer"):
        rt.publish(JOB, to=tmp_path / "out", engine=rt.Spark(master=master))
    assert not (tmp_path / "out").exists()


def test_a_port_that_does_not_exist_is_not_taken_for_another(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1] + (1 << 16)
        with pytest.raises(SourceUnreachable, match="does not answer"):
            session._require_reachable(f"spark://127.0.0.1:{port}")


@pytest.mark.parametrize("master", ["", "http://host", "locale", "spark:/host"])
def test_a_master_that_spark_does_not_know_is_refused(master):
    with mock.patch.object(session, "require_java"), pytest.raises(RequestError, match="no master that Spark knows"):
        session._start_session(master, {})


@pytest.mark.parametrize(
    ("master", "advice"),
    [
        ("yarn", "YARN_CONF_DIR"),
        ("k8s://https://host", "kubectl"),
        ("local[2]", "driver.memory"),
        ("spark://host:7077", "same version"),
    ],
)
def test_a_spark_that_does_not_start_is_named_without_its_words(master, advice):
    with (
        pytest.raises(SourceUnreachable, match=f"JAVA_GATEWAY_EXITED(.|\n)*{advice}") as found,
        error_translation.translate_start_errors(master),
    ):
        raise RuntimeError("[JAVA_GATEWAY_EXITED] CANARY")
    assert "CANARY" not in str(found.value) and found.value.__suppress_context__


class Executors:
    """A Spark context whose executors have these things."""

    def __init__(self, **have):
        self.found = {**next(shim.list_versions([0])), **have}

    def parallelize(self, items, parts):
        return self

    def mapPartitions(self, function):
        return self

    def collect(self):
        return [self.found]


def test_an_executor_without_a_module_or_with_another_version_is_refused():
    session._require_same_versions(Executors(reticent=None), ship=True)
    with pytest.raises(RequestError, match="lacks the module 'reticent'"):
        session._require_same_versions(Executors(reticent=None), ship=False)
    with pytest.raises(RequestError, match="lacks the module 'polars'"):
        session._require_same_versions(Executors(polars=None), ship=True)
    with pytest.raises(RequestError, match=r"An executor has polars 0\.1, and the driver"):
        session._require_same_versions(Executors(polars="0.1"), ship=True)


def test_a_package_that_is_there_without_pips_notes_is_not_missing():
    from importlib.metadata import PackageNotFoundError

    with mock.patch("importlib.metadata.version", side_effect=PackageNotFoundError):
        assert next(shim.list_versions([0]))["reticent"] == rt.__version__


def raised(error: BaseException) -> Exception:
    """What the driver raises of an error that a task met."""
    with pytest.raises(Exception) as found, error_translation.translate_spark_errors("Counting"):
        raise RuntimeError(f"Job aborted: worker said {error_translation.encode_fault(error)} and more")
    return found.value


def test_who_says_where_the_catalogue_is_has_it_there(tmp_path, monkeypatch):
    monkeypatch.delenv("SPARK_HOME", raising=False)
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    assert list(session.build_warehouse_settings({})) == [session.WAREHOUSE_SETTING]
    assert session.build_warehouse_settings({session.WAREHOUSE_SETTING: "hdfs:///tables"}) == {}
    assert session.build_warehouse_settings({session.CATALOG_SETTING: "hive"}) == {}
    said = tmp_path / "spark-defaults.conf"
    for line in ("spark.sql.warehouse.dir   hdfs:///tables", "spark.sql.catalogImplementation=hive"):
        said.write_text(f"# where tables are\n\n{line}\n")
        assert session.build_warehouse_settings({}) == {}
    said.write_text("# spark.sql.warehouse.dir /tables\nspark.ui.enabled\n")
    assert list(session.build_warehouse_settings({})) == [session.WAREHOUSE_SETTING]


def test_an_error_of_ours_crosses_word_for_word_and_any_other_by_its_type():
    ours = ColumnError("Column 'a' has 3 bad values.", why="They are none.", attempt="others.")
    assert type(raised(ours)) is ColumnError and str(raised(ours)) == str(ours)
    assert "ValueError" in str(raised(ValueError("CANARY"))) and "CANARY" not in str(raised(ValueError("CANARY")))
    assert type(raised(OSError(28, "CANARY"))) is DiskError


@pytest.mark.parametrize(
    ("words", "kind", "said"),
    [
        ("[CANNOT_MERGE_SCHEMAS] CANARY", SourceError, "CANNOT_MERGE_SCHEMAS"),
        ("java.io.IOException: No space left on device CANARY", DiskError, "is full"),
        ("is bigger than spark.driver.maxResultSize CANARY", RequestError, "more than Spark lets its driver hold"),
        (f"{shim.MISSING_MODULE_MARK}polars; CANARY", RequestError, "lacks the module 'polars'"),
    ],
)
def test_sparks_own_words_are_withheld(words, kind, said):
    with pytest.raises(kind, match=said) as found, error_translation.translate_spark_errors("Counting"):
        raise RuntimeError(words)
    assert "CANARY" not in str(found.value)
    assert found.value.__suppress_context__


def test_a_job_that_fails_because_it_was_cancelled_is_an_interruption():
    def cancelled() -> None:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt:
            raise RuntimeError("[SPARK_JOB_CANCELLED] the job was cancelled") from None

    with pytest.raises(KeyboardInterrupt), error_translation.translate_spark_errors("Counting"):
        cancelled()


def test_a_signal_cancels_before_it_interrupts():
    import os
    import signal

    from reticent.engines.spark.error_translation import cancel_on_signal

    said = []
    handler = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever started the tests may ignore it

    def interrupted() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        signal.pause()

    try:
        with pytest.raises(KeyboardInterrupt), cancel_on_signal(lambda: said.append("cancelled")):
            interrupted()
        assert said == ["cancelled"]
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, handler)


def test_no_traceback_of_ctrl_c_is_logged_and_everything_else_is(caplog):
    import logging

    from py4j import java_gateway

    from reticent.engines.spark.error_translation import silence_interrupt_logs

    def logged(said: str) -> None:
        record = logging.LogRecord("root", logging.ERROR, java_gateway.__file__, 1, said, None, None)
        logging.getLogger().handle(record)

    before = list(logging.getLogger().filters)
    with silence_interrupt_logs():
        with silence_interrupt_logs():
            logged("KeyboardInterrupt while sending command.")
        logged("KeyboardInterrupt while sending command.")
        logged("Exception while sending command.")
    assert [one.getMessage() for one in caplog.records] == ["Exception while sending command."]
    assert logging.getLogger().filters == before


def test_a_task_says_what_it_lacks_where_the_package_is_not():
    payload = b"\x80\x04cno_such_module\nthing\n."
    with pytest.raises(RuntimeError, match=f"{shim.MISSING_MODULE_MARK}no_such_module;"):
        list(shim.wrap_task("", payload, ())([]))


WHOLE = {
    "burel": (rt.Burel(), rt.BetaLikeness(2)),
    "sabre": (rt.Sabre(), rt.TCloseness("1/2")),
    "mosaic": (rt.Mosaic(), rt.KAnonymity(2)),
    "anatomy": (rt.Anatomy(), rt.ProbabilisticLDiversity(2)),
    "k-map counts a population": (rt.Mondrian(), rt.KMap(2, population="people.csv")),
    "bt-privacy has a prior": (rt.Mondrian(), rt.BTPrivacy("1/4", "1/4")),
}


@pytest.mark.parametrize("name", WHOLE)
def test_what_needs_all_rows_at_once_is_not_planned_in_regions_and_no_data_is_read(name, tmp_path):
    method, promise = WHOLE[name]
    job = rt.Job(
        source=str(tmp_path / "nowhere.csv"),
        columns={"q": rt.quasi(), "s": rt.sensitive()},
        promises=[promise],
        method=method,
    )
    with pytest.raises(JobError, match="cannot be planned in regions") as refused:
        rt.publish(job, engine=rt.Spark(regions=4))
    assert name in str(refused.value)


def test_withheld_rows_and_stages_are_not_planned_in_regions():
    withholding = JOB.at(release=rt.Output(suppress_at_most=0.1))
    with pytest.raises(JobError, match="best withheld are chosen among all"):
        rt.publish(withholding, engine=rt.Spark(regions=4))
    with pytest.raises(JobError, match="regions must be from 2"):
        rt.Spark(regions=1)


def test_a_thing_without_verbs_is_no_engine():
    for thing in (7, rt.Spark, object()):
        with pytest.raises(JobError, match="name of an engine"):
            rt.publish(JOB, engine=thing)


def test_publishing_locally_loads_no_spark_and_no_pandas():
    import subprocess

    script = (
        "import sys, polars as pl, reticent as rt\n"
        "job = rt.Job(columns={'q': rt.quasi()}, promises=[rt.KAnonymity(2)])\n"
        "rt.publish(job, frame=pl.DataFrame({'q': [1, 1, 2]}))\n"
        "print(*(name for name in ('pyspark', 'py4j', 'pandas') if name in sys.modules))"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == ""


def test_a_session_on_this_machine_spills_into_a_folder_that_recovery_knows(tmp_path, monkeypatch):
    monkeypatch.delenv(session.SPILL_VARIABLE, raising=False)
    monkeypatch.delenv("SPARK_HOME", raising=False)
    monkeypatch.delenv("SPARK_CONF_DIR", raising=False)
    settings = session.build_spill_settings({})
    container = Path(settings[session.SPILL_SETTING]).parent.parent
    assert container.name.startswith(".reticent-staging-")
    assert container.stat().st_mode & 0o777 == 0o700
    assert str(container) in settings[session.JAVA_OPTIONS_SETTING]
    said = {session.SPILL_SETTING: "/data", session.JAVA_OPTIONS_SETTING: "-Xss4m"}
    assert session.build_spill_settings(said) == {}, "what somebody set is left as it is"
    monkeypatch.setenv(session.SPILL_VARIABLE, "/data")
    assert session.SPILL_SETTING not in session.build_spill_settings({})
