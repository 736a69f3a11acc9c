"""Every test has a ledger of its own, not the one in the user's home, and every job that a test reads fits the schema."""

from __future__ import annotations

import itertools
import tempfile
import time
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import settings

from tests.support.worker_shares import share_of

_NUMBERS = itertools.count()
settings.register_profile("untimed", deadline=None)  # a test never asserts a time
settings.load_profile("untimed")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """By path and not by the mark `xdist_group`: pytest-xdist 3.8 writes that into a name which pytest 9.2 does not read."""
    from xdist.scheduler import LoadScopeScheduling

    class Shares(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return share_of(nodeid)

    return Shares(config, log)


@pytest.fixture(scope="session", autouse=True)
def _ledgers(tmp_path_factory: pytest.TempPathFactory):
    """For fixtures of the whole session."""
    folder = tmp_path_factory.mktemp("ledgers")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RETICENT_LEDGER", str(folder / "shared"))
        yield folder


@pytest.fixture(scope="module", autouse=True)
def _module_ledger(_ledgers):
    """For fixtures of a module: the people of one module are never the people of another."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RETICENT_LEDGER", str(_ledgers / f"module-{next(_NUMBERS)}"))
        yield


@pytest.fixture(autouse=True)
def _ledger(_ledgers, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("RETICENT_LEDGER", str(_ledgers / str(next(_NUMBERS))))


@pytest.fixture(scope="module")
def small_parts():
    """Parts of a data file may have a few rows here: the tables of tests are small."""
    from reticent.catalogue.job_fields import RELEASE_FIELDS
    from reticent.catalogue.manifest_fields import MANIFEST_FIELDS

    with pytest.MonkeyPatch.context() as patch:
        for fields in (RELEASE_FIELDS, MANIFEST_FIELDS):
            patch.setitem(fields, "part_rows", replace(fields["part_rows"], least=1))
        yield


@pytest.fixture(scope="session", autouse=True)
def _jobs_fit_the_schema():
    """Whatever is accepted as a job, in tests and in examples of the docs, the schema for editors accepts as well."""
    from jsonschema import Draft202012Validator

    from reticent.job.job import Job
    from reticent.job.schema import build_job_schema

    validator = Draft202012Validator(build_job_schema())
    made = Job.from_dict.__func__

    def checked(cls: type[Job], table: Mapping[str, Any], *rest: Any, **named: Any) -> Job:
        job = made(cls, table, *rest, **named)
        found = [f"{'.'.join(map(str, error.path))}: {error.message}" for error in validator.iter_errors(table)]
        assert not found, "reticent.job.schema refuses a job that is good:\n" + "\n".join(found)
        return job

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Job, "from_dict", classmethod(checked))
        yield


@pytest.fixture(scope="session")
def postgres():
    """The address of a real PostgreSQL server.

    As root its files belong to another user, and must not lie in pytest's folder of temporary files: whoever starts pytest, as some
    tests do, closes that folder to other users, and a running server then ends at the next file that it opens.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pgserver = pytest.importorskip("pgserver", reason="pgserver has no wheel for this Python")

        for attempt in range(4):  # two workers may set up their clusters at once, which its installer does not expect
            try:
                server = pgserver.get_server(tempfile.mkdtemp(prefix="postgres-of-tests-"), cleanup_mode="delete")
                break
            except Exception:
                if attempt == 3:
                    raise
                time.sleep(2 + attempt)
    yield server.get_uri()
    server.cleanup()
