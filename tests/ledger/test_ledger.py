"""One ledger for all of an owner's releases: where it lies, who can read it, and what it does when it is broken."""

from __future__ import annotations

import hashlib
import json
import os
import re
from pathlib import Path

import pytest

import reticent as rt
from reticent.errors import AlreadyPublished, RequestError
from reticent.ledger.ledger import Ledger
from reticent.ledger.private_files import LEDGER_FILE, LEDGER_FORMAT
from reticent.ledger.withdrawals import WITHDRAWALS_FILE, WITHDRAWALS_FORMAT
from tests.support.ledger_tables import job, people


@pytest.fixture
def home(tmp_path, monkeypatch) -> Path:
    """A user without any setting."""
    for name in ("RETICENT_LEDGER", "RETICENT_OWNER", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_without_a_setting_the_ledger_is_in_the_user_s_state_folder(home, tmp_path, monkeypatch):
    assert Ledger.open().folder == home / ".local" / "state" / "reticent"
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert Ledger.open().folder == tmp_path / "state" / "reticent"
    monkeypatch.setenv("RETICENT_LEDGER", str(tmp_path / "ours"))
    assert Ledger.open().folder == tmp_path / "ours"
    assert Ledger.open(tmp_path / "given").folder == tmp_path / "given"


def test_the_output_folder_makes_no_difference(home, tmp_path):
    rt.publish(job(), frame=people(), to=tmp_path / "a" / "one")
    with pytest.raises(AlreadyPublished):
        rt.publish(job(), frame=people(), to=tmp_path / "b" / "two")
    assert not (tmp_path / "a" / "reticent-owner" / "ledger.jsonl").exists()
    assert (tmp_path / "a" / "reticent-owner" / "one" / "digest.txt").exists()


def test_another_ledger_knows_other_releases(tmp_path):
    release = rt.publish(job(), frame=people(), to=tmp_path / "one", ledger=tmp_path / "first")
    rt.publish(job(), frame=people(), to=tmp_path / "two", ledger=tmp_path / "second")
    assert release.digest == Ledger.open(tmp_path / "first").read_entries()[0]["digest"]
    temporary = rt.publish(job(), frame=people(), ledger=tmp_path / "second")
    with pytest.raises(AlreadyPublished, match="'two'"):
        temporary.save(tmp_path / "three")
    temporary.save(tmp_path / "three", ledger=tmp_path / "third")


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o277])
def test_only_the_owner_can_read_it_whatever_the_umask(tmp_path, monkeypatch, umask):
    monkeypatch.delenv("RETICENT_OWNER", raising=False)
    before = os.umask(umask)
    try:
        rt.publish(job(), frame=people(), to=tmp_path / "one")
    finally:
        os.umask(before)
    owners = [Ledger.open().folder, tmp_path / "reticent-owner"]
    for path in [*owners, *(inner for folder in owners for inner in folder.rglob("*"))]:
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path


def test_a_folder_that_a_team_shares_stays_shared(tmp_path):
    team = tmp_path / "team"
    team.mkdir()
    team.chmod(0o770)
    rt.publish(job(), frame=people(), to=tmp_path / "one", ledger=team)
    assert team.stat().st_mode & 0o777 == 0o770
    assert (team / "ledger.jsonl").stat().st_mode & 0o777 == 0o660
    assert (team / "ledger.key").stat().st_mode & 0o777 == 0o660
    (sketch,) = (team / "ledger-sketches").iterdir()
    assert (sketch.parent.stat().st_mode & 0o777, sketch.stat().st_mode & 0o777) == (0o770, 0o660)


def test_it_holds_no_value_and_its_hashes_need_its_key(tmp_path):
    marks = []
    for name in ("one", "two"):
        rt.publish(job(), frame=people(), to=tmp_path / name, ledger=tmp_path / f"of-{name}")
        held = b"".join(path.read_bytes() for path in (tmp_path / f"of-{name}").rglob("*") if path.is_file())
        held = re.sub(rb"[0-9a-f]{32,}", b"", held)  # a hash holds five given digits by chance
        for value in (*people()["zip"].cast(str).to_list(), "mumps"):
            assert value.encode() not in held
        marks.append(Ledger.open(tmp_path / f"of-{name}").read_entries()[0]["content"])
    assert marks[0] != marks[1]


@pytest.mark.parametrize("lost", ["ledger.key", "ledger-sketches", "ledger.jsonl"])
def test_a_broken_ledger_stops_a_publication(tmp_path, lost):
    rt.publish(job(), frame=people(), to=tmp_path / "one")
    path = Ledger.open().folder / lost
    for file in path.iterdir() if path.is_dir() else [path]:
        file.write_text("broken\n")
    with pytest.raises(RequestError, match="cannot be read"):
        rt.publish(job(), frame=people(seed=2), to=tmp_path / "two")
    if lost != "ledger.jsonl":
        for file in path.iterdir() if path.is_dir() else [path]:
            file.unlink()
        with pytest.raises(RequestError, match="is missing"):
            rt.publish(job(), frame=people(seed=2), to=tmp_path / "two")
    assert not (tmp_path / "two").exists()


@pytest.mark.parametrize("name", [LEDGER_FILE, WITHDRAWALS_FILE])
def test_a_ledger_of_a_later_version_stops_whoever_would_read_too_little_of_it(tmp_path, name):
    rt.publish(job(), frame=people(), to=tmp_path / "one")
    rt.withdraw(tmp_path / "one", reason="wrong column")
    path = Ledger.open().folder / name
    known = json.loads(path.read_text())
    assert known["format"] == {LEDGER_FILE: LEDGER_FORMAT, WITHDRAWALS_FILE: WITHDRAWALS_FORMAT}[name]
    later = json.dumps({**known, "format": known["format"] + 1})
    path.write_text(f"{later}\n{later}\n")
    for use in (
        lambda: rt.publish(job(), frame=people(seed=2), to=tmp_path / "two"),
        lambda: rt.publish(job(), frame=people(seed=2), to=tmp_path / "two", again=True),
        lambda: rt.releases(),
        lambda: rt.withdraw(tmp_path / "one", reason="once more"),
    ):
        with pytest.raises(RequestError, match=rf"states format {known['format'] + 1}, .* up to {known['format']}"):
            use()
    assert path.read_text() == f"{later}\n{later}\n" and not (tmp_path / "two").exists()
    rt.publish(job(), frame=people(seed=2), to=tmp_path / "two", ledger=tmp_path / "another")


@pytest.mark.parametrize("number", [0, -1, True, "2", 2.5, None, [2]])
def test_a_ledger_whose_format_is_no_number_is_refused(tmp_path, number):
    rt.publish(job(), frame=people(), to=tmp_path / "one")
    for name in (LEDGER_FILE, WITHDRAWALS_FILE):
        path = Ledger.open().folder / name
        before = path.read_text() if path.exists() else None
        path.write_text(json.dumps({**json.loads(before or "{}"), "format": number}) + "\n")
        with pytest.raises(RequestError, match="cannot be read"):
            rt.releases()
        if before is not None:
            path.write_text(before)


def test_a_ledger_of_the_first_version_is_still_obeyed(tmp_path):
    people().write_csv(tmp_path / "people.csv")
    known = hashlib.sha256((tmp_path / "people.csv").read_bytes()).hexdigest()
    (tmp_path / "reticent-owner").mkdir()
    old = {"release": "old", "digest": "0" * 64, "source": known, "promises": [], "at": "2024-01-01T00:00:00+00:00"}
    (tmp_path / "reticent-owner" / "ledger.jsonl").write_text(json.dumps(old) + "\n")
    with pytest.raises(AlreadyPublished, match=r"'old'.*2024-01-01"):
        rt.publish(job(tmp_path / "people.csv"), to=tmp_path / "new")
    rt.publish(job(tmp_path / "people.csv"), to=tmp_path / "new", again=True)
    assert (tmp_path / "reticent-owner" / "ledger.jsonl").read_text() == json.dumps(old) + "\n"
