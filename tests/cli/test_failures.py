"""Failures that are nobody's request: a bug of ours, a full disk, a missing right, Ctrl-C."""

from __future__ import annotations

import errno
import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import reticent as rt
from reticent.engines import local
from reticent.ledger import journal
from reticent.release import bundle
from tests.support.command_line import CANARY, Place
from tests.support.interruption import interrupted


def raising(error: BaseException):
    def call(*_, **__):
        raise error

    return call


@pytest.mark.parametrize("words", [(), ("--json",), ("--traceback",)])
def test_a_bug_of_ours_ends_with_70_and_its_message_is_withheld(run, place, monkeypatch, words):
    monkeypatch.setattr(local, "count_rows", raising(KeyError(CANARY)))
    before = place.contents()
    ran = run("publish", "job.toml", "-o", "release", *words)
    assert ran.code == 70
    assert "A bug of ours: KeyError in local.py" in ran.err
    assert CANARY not in ran.out + ran.err
    assert ("KeyError: (message withheld)" in ran.err) == ("--traceback" in words)
    assert place.contents() == before


def test_the_traceback_can_be_asked_for_by_the_environment(run, place, monkeypatch):
    monkeypatch.setenv("RETICENT_TRACEBACK", "1")
    monkeypatch.setattr(local, "count_rows", raising(ValueError(CANARY)))
    ran = run("publish", "job.toml", "-o", "release")
    assert 'publish.py", line' in ran.err
    assert CANARY not in ran.err


def test_what_led_to_a_bug_is_told_without_its_message(run, place, monkeypatch):
    error = ValueError(CANARY)
    error.__cause__ = KeyError(CANARY)
    monkeypatch.setattr(local, "count_rows", raising(error))
    ran = run("publish", "job.toml", "-o", "release", "--traceback")
    assert "KeyError: (message withheld)\nwhich led to" in ran.err
    assert CANARY not in ran.err


def test_memory_that_ran_out_is_said_so(run, place, monkeypatch):
    monkeypatch.setattr(local, "count_rows", raising(MemoryError()))
    ran = run("publish", "job.toml", "-o", "release")
    assert ran.code == 74
    assert "memory ran out" in ran.err


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EACCES, errno.EROFS, errno.EDQUOT])
@pytest.mark.parametrize(
    "at",
    [
        "reticent.ledger.staging.add_record",
        "reticent.ledger.private_files.make_private_folder",
        "reticent.ledger.staging.write_note",
        "reticent.release.bundle.write_bundle",
        "os.rename",
        "reticent.ledger.journal.append_entry",
    ],
)
def test_a_disk_that_refuses_ends_with_74_and_leaves_nothing(run, place, monkeypatch, at, number):
    before = place.contents()
    monkeypatch.setattr(at, raising(OSError(number, os.strerror(number), "x")))
    ran = run("publish", "job.toml", "-o", "a/release", "--json")
    assert ran.code == 74
    assert os.strerror(number) in ran.err
    assert json.loads(ran.out)["error"]["kind"] == "DiskError"
    assert place.contents() == before


def test_a_disk_that_refuses_leaves_the_old_release_and_its_notes(run, place, monkeypatch):
    assert run("publish", "job.toml", "-o", "release").code == 0
    before = place.contents()
    monkeypatch.setattr(journal, "append_entry", raising(OSError(errno.ENOSPC, "No space left on device")))
    assert run("publish", "job.toml", "-o", "release", "--force", "--again").code == 74
    assert place.contents() == before
    assert rt.audit("release").kept


def test_a_disk_that_refuses_a_draft_leaves_none(run, place, monkeypatch):
    before = place.contents()
    monkeypatch.setattr(Path, "write_text", raising(OSError(errno.ENOSPC, "No space left on device")))
    assert run("init", "people.csv").code == 74
    assert place.contents() == before


@pytest.fixture
def small_disk(tmp_path_factory):
    """Mounts a tiny file system, by its options; skips where that is not allowed."""
    mounted = []

    def mount(options: str) -> Path:
        folder = tmp_path_factory.mktemp("disk")
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], capture_output=True, check=False
        )
        if done.returncode:
            pytest.skip("mounting a small disk is not allowed here")
        mounted.append(folder)
        return folder

    try:
        yield mount
    finally:
        for folder in mounted:
            subprocess.run(["umount", str(folder)], check=False, capture_output=True)


@pytest.mark.parametrize("format", ["parquet", "csv"])
@pytest.mark.parametrize("limit", ["size=4k", "size=8k", "size=12k", *(f"nr_inodes={n}" for n in range(1, 9))])
def test_a_disk_that_is_full_ends_with_74_and_leaves_nothing_wherever_it_fills(run, place, small_disk, limit, format):
    try:
        disk = Place(small_disk(limit))
    except FileNotFoundError:
        pytest.skip("there is no mount command here")
    ran = run("publish", "job.toml", "-o", disk / "release", "--format", format)
    if ran.code == 0:  # just enough room
        assert rt.audit(disk / "release").kept
    else:
        assert ran.code == 74, ran.err
        assert CANARY not in ran.err
        assert disk.contents() == {}


def test_a_file_that_may_not_grow_ends_with_74(place):
    """The same through a real process, where no file system can be mounted."""
    before = place.contents()
    done = subprocess.run(
        [sys.executable, "-m", "reticent.cli.main", "publish", "job.toml", "-o", "release"],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (700, 700)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 74, done.stderr
    assert "\nDiskError: release cannot be written: File too large." in done.stderr
    assert place.contents() == before


STAGES = {
    "reading": "reticent.engines.local.count_rows",
    "planning": "reticent.methods.mondrian.Mondrian.plan",
    "writing": "reticent.release.bundle._write_manifest",
    "auditing": "reticent.tables.audit_staged",
}


@pytest.mark.parametrize(
    ("stage", "number"),
    [*((stage, signal.SIGINT) for stage in STAGES), ("writing", signal.SIGTERM), ("writing", signal.SIGHUP)],
)
def test_ctrl_c_or_an_order_to_end_ends_with_130_and_nothing_is_written(place, tmp_path_factory, stage, number):
    before = place.contents()
    flag = tmp_path_factory.mktemp("flag") / "here"
    err = interrupted(STAGES[stage], ["publish", "job.toml", "-o", "a/release"], flag, number)
    assert err == "Interrupted: Interrupted; nothing was written.\n"
    assert place.contents() == before


def test_ctrl_c_while_the_release_is_put_in_place_comes_too_late(run, place, monkeypatch):
    add = journal.append_entry

    def interrupted(*given):
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGTERM)
        add(*given)

    monkeypatch.setattr(journal, "append_entry", interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert run("publish", "job.toml", "-o", "release").code == 0
        assert rt.audit("release").kept
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_an_audit_that_disagrees_keeps_nothing_and_ends_with_3(run, place, monkeypatch):
    """A method that lies: its release is staged, recounted and thrown away."""
    from reticent.methods.mondrian import Mondrian
    from reticent.recipe.recipe import Recipe

    def each_cell_alone(self, cells, promises, rng):
        return Recipe.of_groups(cells, list(range(len(cells))))

    monkeypatch.setattr(Mondrian, "plan", each_cell_alone)
    before = place.contents()
    ran = run("publish", "job.toml", "-o", "release")
    assert ran.code == 3
    assert "does not keep k-anonymity, beta-likeness; nothing was published" in ran.err
    assert place.contents() == before


def test_a_release_that_was_staged_is_readable_by_its_maker_only(run, place, monkeypatch):
    modes = []
    write = bundle.write_bundle

    def seen(folder, *given, **named):
        modes.append(folder.stat().st_mode & 0o777)
        return write(folder, *given, **named)

    monkeypatch.setattr(bundle, "write_bundle", seen)
    assert run("publish", "job.toml", "-o", "release").code == 0
    assert modes == [0o700]
    assert Path("release").stat().st_mode & 0o777 == 0o755
