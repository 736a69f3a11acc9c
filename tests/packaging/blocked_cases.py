"""What works, and what is refused, on a system that has only what every Python has.

Run where that is so: `pytest -p tests.support.blocked_modules tests/packaging/blocked_cases.py`, as `test_blocked_modules.py`
and `make blocked` do.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

import reticent as rt
from reticent import operating_system
from reticent.cli.main import main
from reticent.errors import OutputExists, RequestError
from reticent.ledger import journal, private_files
from reticent.ledger.ledger import Ledger
from tests.support.ledger_tables import job, people


def read_everything(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def release(tmp_path):
    return rt.publish(job(), frame=people(), to=tmp_path / "release")


def test_nothing_is_left_that_only_some_systems_have():
    assert not any(operating_system.list_capabilities().values())
    assert operating_system.get_user_id() == -1
    assert operating_system.get_address_limit() is None


def test_a_release_is_published_audited_attacked_asked_and_reported(tmp_path, release):
    people().write_csv(tmp_path / "people.csv")
    assert rt.audit(release.folder, source=tmp_path / "people.csv").kept
    assert rt.risk(release.folder)
    assert rt.attack(release.folder, tmp_path / "people.csv")
    assert rt.open(release.folder).count(values=["flu"]).estimate > 0
    assert "<html" in rt.report(release.folder).html()
    release.to_csv(tmp_path / "tables")
    assert [entry.state for entry in rt.releases()] == ["in place"]


def test_every_command_of_the_demo_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["demo", "--rows", "1000", "--to", "demo"]) == 0
    assert main(["audit", "demo/release"]) == 0
    assert main(["releases"]) == 0


def test_every_file_of_text_has_the_same_line_ends(tmp_path, release):
    release.to_csv(tmp_path / "tables")
    texts = [path for path in tmp_path.rglob("*") if path.suffix in (".md", ".json", ".toml", ".csv", ".txt")]
    assert len(texts) > 5
    assert not [path for path in texts if b"\r" in path.read_bytes()]


def test_what_stands_there_is_not_replaced(tmp_path, release):
    release.to_csv(tmp_path / "tables")
    before = read_everything(tmp_path)
    with pytest.raises(OutputExists, match="cannot replace a folder safely"):
        rt.publish(job(), frame=people(seed=2), to=release.folder, force=True)
    with pytest.raises(OutputExists, match="cannot replace a folder safely"):
        release.to_csv(tmp_path / "tables", force=True)
    assert read_everything(tmp_path) == before
    rt.publish(job(), frame=people(seed=2), to=tmp_path / "another")
    assert rt.audit(tmp_path / "another").kept


def test_what_a_killed_process_left_is_not_settled_and_nothing_is_published(tmp_path, release):
    ledger = Ledger.open().folder
    (ledger / journal.JOURNAL_FOLDER).mkdir()
    before = read_everything(tmp_path), read_everything(ledger)
    assert journal.recover(ledger) == []
    with pytest.raises(RequestError, match="no user ids, modes, locks or folder handles"):
        rt.publish(job(), frame=people(seed=2), to=tmp_path / "another")
    assert (read_everything(tmp_path), read_everything(ledger)) == before
    assert not (tmp_path / "another").exists()


def test_a_release_is_withdrawn_and_removed(tmp_path, release):
    assert rt.withdraw(release.folder, reason="wrong", delete=True)[0].withdrawal is not None
    assert not release.folder.exists()
    assert not list(tmp_path.glob(".reticent-*"))


def test_a_step_that_fails_leaves_nothing(tmp_path, release, monkeypatch):
    before = read_everything(tmp_path), read_everything(Ledger.open().folder)

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(journal, "append_entry", refuse)
    with pytest.raises(rt.errors.DiskError):
        rt.publish(job(), frame=people(seed=2), to=tmp_path / "another")
    assert (read_everything(tmp_path), read_everything(Ledger.open().folder)) == before


def test_one_publication_at_a_time_writes_to_a_ledger(tmp_path):
    ledger = tmp_path / "ledger"

    def publish(seed: int) -> bool:
        rt.publish(job(), frame=people(rows=60, seed=seed), to=tmp_path / f"release-{seed}", ledger=ledger)
        return rt.audit(tmp_path / f"release-{seed}").kept

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(publish, range(4)))
    assert len(Ledger.open(ledger).read_entries()) == 4
    assert not list(ledger.glob("*.held"))


def test_a_lock_that_a_killed_process_left_keeps_everybody_out(tmp_path, release, monkeypatch):
    ledger = Ledger.open().folder
    (ledger / "ledger.lock.held").touch()
    before = read_everything(tmp_path), read_everything(ledger)
    hold_at_once = partial(private_files._hold_exclusive_file, max_seconds=0)
    monkeypatch.setattr(private_files, "_hold_exclusive_file", hold_at_once)
    with pytest.raises(RequestError, match="another process writes to this ledger"):
        rt.publish(job(), frame=people(seed=2), to=tmp_path / "another")
    assert (read_everything(tmp_path), read_everything(ledger)) == before
