"""Disks that are full or read-only and memory that is short: an error that says so, and nothing kept."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.faults.injection import SCENARIOS, broken, digests, disagreeing, stale, template


@pytest.fixture
def replacing(server, tmp_path) -> Path:
    place = tmp_path.resolve()
    template(server, place / "work", place / "before", SCENARIOS["replace"])
    os.rename(place / "before", place / "work")
    return place / "work"


@pytest.mark.parametrize("megabytes", [60, 100, 200, 400])
def test_memory_that_is_short_ends_with_an_error_and_leaves_the_old_release(server, replacing, megabytes):
    """Above what the process has already; `test_memory` has limits for processes that begin."""
    before = digests(replacing)
    held = int(Path(f"/proc/{server.process.pid}/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    ran = server.run(replacing, SCENARIOS["replace"].words, memory=held + megabytes * 2**20)
    assert ran["code"] in (0, 74), ran["said"][-500:]
    assert (digests(replacing) == before) == (ran["code"] == 74)
    server.run(replacing, ("audit", "out/none"))
    assert not [*broken(replacing), *disagreeing(replacing), *stale(replacing)], ran["said"][-500:]
    assert set(digests(replacing)) == set(before)


def test_a_read_only_place_ends_with_74_and_changes_nothing(server, replacing):
    """Where mounting is allowed, a real one."""
    before = digests(replacing)
    mount = subprocess.run(["mount", "--bind", str(replacing), str(replacing)], capture_output=True, check=False)
    if mount.returncode:
        pytest.skip("mounting is not allowed here")
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", str(replacing)], check=True, capture_output=True)
        ran = server.run(replacing, SCENARIOS["replace"].words)
        assert ran["code"] == 74, ran["said"]
        assert "Read-only file system" in ran["said"]
        assert server.run(replacing, ("audit", "out/release"))["code"] == 0
    finally:
        subprocess.run(["umount", str(replacing)], check=False, capture_output=True)
    assert digests(replacing) == before
    assert not [*broken(replacing), *disagreeing(replacing), *stale(replacing)]


@pytest.mark.parametrize("room", ["size=44k", "size=72k", "size=100k", "nr_inodes=30", "nr_inodes=40"])
def test_a_full_disk_leaves_the_old_release_and_agrees_with_the_ledger(server, tmp_path, room):
    """Release, owner's folder and ledger on one small disk."""
    disk = tmp_path.resolve() / "work"
    before = tmp_path.resolve() / "before"
    template(server, disk, before, SCENARIOS["replace"])
    disk.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", room, "tmpfs", str(disk)], capture_output=True, check=False)
    if done.returncode:
        pytest.skip("mounting a small disk is not allowed here")
    try:
        if subprocess.run(["cp", "-a", f"{before}/.", str(disk)], capture_output=True, check=False).returncode:
            pytest.skip("the old release alone does not fit")
        old = digests(disk)
        ran = server.run(disk, SCENARIOS["replace"].words)
        assert ran["code"] in (0, 74), ran["said"]
        assert (digests(disk) == old) == (ran["code"] == 74)
        assert not [*broken(disk), *disagreeing(disk), *stale(disk)]
    finally:
        subprocess.run(["umount", str(disk)], check=False, capture_output=True)
