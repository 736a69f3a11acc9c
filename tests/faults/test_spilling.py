"""What `stream` puts on disk while it writes: a full disk ends with 74, a kill leaves the old release, and nothing stays."""

from __future__ import annotations

import signal

import pytest

from tests.faults.injection import SCENARIOS, changes_of, digests, spoil, stale, template
from tests.support.command_line import JOB
from tests.support.interruption import interrupted

NAME = "replace by stream"
SPILLED = ("scattered/", "ranks-", "release/entries")


@pytest.fixture(scope="module")
def prepared(server, tmp_path_factory):
    place = tmp_path_factory.mktemp("spilling").resolve()
    template(server, place / "work", place / "before", SCENARIOS[NAME])
    changes_of(server, place / "before", place / "work", SCENARIOS[NAME], place / "log")
    return place, (place / "log").read_text().splitlines()


def spills(changes: list[str]) -> list[int]:
    """From the first file that is spilled to the last that is removed: what is written says no name."""
    named = [at for at, line in enumerate(changes, 1) if any(word in line for word in SPILLED)]
    removed = [at for at in named if changes[at - 1].split()[1] == "unlink" and "scattered/bucket" in changes[at - 1]]
    return list(range(named[0], removed[-1] + 1))


def test_stream_spills_beside_the_release_and_removes_it(server, prepared):
    place, changes = prepared
    assert {word for word in SPILLED if any(word in line for line in changes)} == set(SPILLED)
    assert not stale(place / "work")


@pytest.mark.parametrize("way", ["SIGKILL", "disk full from there on", "EIO once"])
def test_whatever_goes_wrong_while_it_spills_leaves_the_old_release(server, prepared, way):
    place, changes = prepared
    at = spills(changes)
    for change in at if way == "EIO once" else at[:: max(len(at) // 3, 1)]:
        assert not spoil(server, place / "before", place / "work", SCENARIOS[NAME], change, way), changes[change - 1]


def test_a_disk_that_fills_while_it_spills_ends_with_74(server, prepared):
    place, changes = prepared
    at = next(at for at in spills(changes) if changes[at - 1].split()[1] == "write")
    changes_of(server, place / "before", place / "work", SCENARIOS[NAME])
    old = digests(place / "work")
    ran = server.run(place / "work", SCENARIOS[NAME].words, at=at, mode="full")
    assert ran["code"] == 74, ran["said"]
    assert "No space left on device" in ran["said"]
    assert digests(place / "work") == old
    assert not stale(place / "work")


PHASES = {
    "looking": "reticent.engines.stream.StreamEngine.profile_columns",
    "counting": "reticent.engines.stream.StreamEngine.count",
    "planning": "reticent.methods.burel.Burel.plan",
    "ranking": "reticent.engines.external_sort.RowRanker.settle",
    "scattering": "reticent.engines.external_sort.DiskBuckets.put_rows",
    "gathering": "reticent.engines.stream._rank_frame",
    "writing": "reticent.release.bundle._write_manifest",
    "auditing": "reticent.tables.audit_staged",
}


@pytest.mark.parametrize("phase", PHASES)
def test_ctrl_c_in_every_phase_ends_with_130_and_nothing_is_written(phase, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RETICENT_LEDGER", str(tmp_path.parent / f"{tmp_path.name}-ledger"))
    rows = [f"p{at},{20 + at % 30},{['flu', 'cold', 'gout', 'mumps'][at % 4]},d{at % 3}" for at in range(80)]
    (tmp_path / "people.csv").write_text("person,age,illness,day\n" + "\n".join(rows) + "\n")
    job = JOB.replace('city    = { role = "quasi-identifying", hierarchy = "city.csv" }', 'day = "insensitive"')
    (tmp_path / "job.toml").write_text(job + '\n[method]\nname = "burel"\n')
    before = sorted(tmp_path.iterdir())
    flag = tmp_path.parent / f"{tmp_path.name}-flag"
    words = ["publish", "job.toml", "-o", "out/release", "--engine", "stream"]
    interrupted(PHASES[phase], words, flag, signal.SIGINT)
    assert sorted(tmp_path.iterdir()) == before
