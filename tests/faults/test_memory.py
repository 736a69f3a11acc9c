"""Memory that runs out, anywhere: exit 74 or an error of ours, nothing kept, the old release whole, no release condemned."""

from __future__ import annotations

import dataclasses
import gzip
import importlib
import json
import os
import resource
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import reticent as rt
from reticent import memory
from reticent.cli.main import main
from reticent.engines import local
from reticent.errors import OutOfMemory
from reticent.ledger import commit, journal
from reticent.release import bundle
from tests.faults.injection import broken, digests, disagreeing, stale
from tests.support.hostile_cases import prepare

auditing, reading = (importlib.import_module(f"reticent.{name}") for name in ("audit.audit", "job_table"))
PLACES = {
    "reading": (reading, "scan_job_source"),
    "counting": (local, "count_rows"),
    "applying": (local, "apply_recipe"),
    "writing": (bundle, "write_bundle"),
    "auditing": (auditing, "auditor_for"),
    "journalling": (journal, "write_journal"),
    "putting in place": (commit, "_place_release"),
    "noting": (journal, "append_entry"),
}
PUBLISH = ["publish", "job.toml", "-o", "out/release", "--json"]
AGAIN = [*PUBLISH, "--force", "--again"]


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with a good job; the ledger lies in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RETICENT_LEDGER", str(tmp_path / "ledger"))
    monkeypatch.delenv("RETICENT_OWNER", raising=False)
    prepare(tmp_path)
    return tmp_path.resolve()


def run_out(*_, **__):
    raise MemoryError


@pytest.mark.parametrize("where", PLACES)
@pytest.mark.parametrize("before", [None, PUBLISH], ids=["publish", "replace"])
def test_memory_that_runs_out_anywhere_ends_with_74_and_leaves_what_was(place, monkeypatch, capsys, where, before):
    assert before is None or main(before) == 0
    old = digests(place)
    capsys.readouterr()
    with monkeypatch.context() as patch:
        patch.setattr(*PLACES[where], run_out)
        assert main(AGAIN) == 74
    assert json.loads(capsys.readouterr().out)["error"]["kind"] == "OutOfMemory"
    assert digests(place) == old
    assert not [*broken(place), *disagreeing(place), *stale(place)]
    assert main(AGAIN) == 0


def test_an_export_that_runs_out_of_memory_does_not_call_the_release_damaged(place, monkeypatch):
    assert main(PUBLISH) == 0

    def few(*_, **__):
        raise pa.ArrowMemoryError("malloc of size 4096 failed")
        yield

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", few)
    with pytest.raises(OutOfMemory):
        rt.open("out/release").to_database("sqlite:///people.db", "people")
    assert not (place / "people.db").exists()


def test_an_audit_that_runs_out_of_memory_says_nothing_of_the_folder(place, monkeypatch, capsys):
    assert main(PUBLISH) == 0
    monkeypatch.setattr(auditing, "auditor_for", run_out)
    assert main(["audit", "out/release"]) == 74
    assert "The memory ran out" in capsys.readouterr().err
    with pytest.raises(OutOfMemory) as caught:
        rt.audit("out/release")
    assert isinstance(caught.value, MemoryError), "who catches Python's own error catches ours"


def limited(place, limit, *words):
    """A command in a process of its own that may take so many bytes of addresses."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "reticent", *words]
    return subprocess.run(
        command,
        cwd=place,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )


@pytest.mark.skipif(sys.platform != "linux", reason="limits of addresses are Linux's")
@pytest.mark.parametrize("mebibytes", [80, 300, 1_000, 2_047])
def test_a_limit_of_addresses_that_is_too_small_is_refused_before_anything_is_loaded(place, mebibytes):
    assert main(PUBLISH) == 0
    old = digests(place)
    for words in (AGAIN, [*PUBLISH[:3], "out/second"], ["audit", "out/release"]):
        ran = limited(place, mebibytes << 20, *words)
        assert ran.returncode == 74, ran.stderr
        assert f"{mebibytes:,} MiB of addresses" in ran.stderr
    assert digests(place) == old
    assert not [*broken(place), *disagreeing(place), *stale(place)]


@pytest.mark.skipif(sys.platform != "linux", reason="limits of addresses are Linux's")
def test_within_two_gibibytes_of_addresses_a_small_table_is_published_replaced_and_audited(place):
    for words in (PUBLISH, AGAIN, ["audit", "out/release", "--source", "people.csv"]):
        ran = limited(place, 2 << 30, *words)
        assert ran.returncode == 0, ran.stderr


def test_a_table_that_would_not_fit_under_a_limit_is_refused_with_both_numbers(place, monkeypatch):
    monkeypatch.setattr(memory, "get_addresses_left", lambda: memory.RESERVED_ADDRESS_BYTES + (100 << 20))
    with open("people.csv", "a") as rows:
        rows.write("\n".join(f"n{at},40,Ulm,flu" for at in range(600_000)) + "\n")
    with pytest.raises(OutOfMemory, match=r"takes about 1\d\d MiB, and 100 are left"):
        rt.publish(rt.Job.read("job.toml"), to="out/release")
    assert not (place / "out").exists()


@pytest.mark.parametrize(
    ("error", "short"),
    [
        (MemoryError(), True),
        (OSError(12, "Cannot allocate memory"), True),
        (OSError(28, "No space"), False),
        (ImportError("libx.so: failed to map segment from shared object"), True),
        (ImportError("no module"), False),
        (ValueError("Cannot allocate memory"), False),
    ],
)
def test_what_others_call_it_is_known(error, short):
    assert memory.is_memory_error(error) is short


def test_a_packed_file_is_measured_by_what_it_opens_to(place, monkeypatch):
    monkeypatch.setattr(memory, "get_addresses_left", lambda: memory.RESERVED_ADDRESS_BYTES + (100 << 20))
    rows = b"person,age,city,illness\n" + b"n,40,Ulm,flu\n" * 1_000_000
    (place / "people.csv.gz").write_bytes(gzip.compress(rows, 1))
    job = dataclasses.replace(rt.Job.read("job.toml"), source="people.csv.gz")
    with pytest.raises(OutOfMemory, match=r"(?s)people.csv.gz is too large .* takes about 1\d\d MiB"):
        rt.publish(job, to="out/release")


def test_a_parquet_file_that_claims_more_rows_than_memory_is_refused_before_it_is_read(place, monkeypatch):
    monkeypatch.setattr(memory, "get_available_memory", lambda: 70 << 20)
    rows = 10_000_000
    values = pa.DictionaryArray.from_arrays(pa.repeat(pa.scalar(0, pa.int32()), rows), pa.array(["a"]))
    pq.write_table(pa.table(dict.fromkeys(("person", "age", "city", "illness"), values)), place / "p.parquet")
    assert (place / "p.parquet").stat().st_size < 1 << 20
    job = dataclasses.replace(rt.Job.read("job.toml"), source="p.parquet")
    with pytest.raises(OutOfMemory, match="claims 10,000,000 rows"):
        rt.publish(job, to="out/release")
