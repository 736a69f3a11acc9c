"""Keeping a release step by step: names exchanged, dead processes' folders, journals that others find."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import pytest

import reticent as rt
from reticent import operating_system
from reticent.cli.startup import recover_interrupted_runs
from reticent.errors import AlreadyPublished, DiskError, OutputExists, RequestError
from reticent.ledger import commit, journal, paths, private_files, staging
from reticent.ledger.journal import recover
from reticent.ledger.ledger import Ledger
from tests.support.ledger_tables import job, people


class Killed(BaseException):
    pass


@pytest.fixture
def die(monkeypatch):
    """The next publication ends at a step as a killed process does: nothing is undone, its locks are free."""

    def at(module: object, step: str) -> None:
        def killed(*_, **__):
            raise Killed

        with monkeypatch.context() as patch:
            patch.setattr(module, step, killed)
            patch.setattr(commit, "_undo_commit", lambda *_: None)
            patch.setattr(staging, "discard_staged", staging.leave_staged)
            with pytest.raises(Killed):
                yield

    from contextlib import contextmanager

    return contextmanager(at)


def left(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob("*") if path.name.startswith((".reticent", ".ledger", "ledger.journal"))]


def abandon(target: Path | None, ledger: Path | None = None) -> Path:
    """A staging folder as a killed process leaves it."""
    stage = staging.stage_folder(target, ledger)
    folder = stage.__enter__()
    (folder / "data.csv").write_text("a\n")
    staging.leave_staged(folder)
    return folder


@pytest.mark.parametrize("there", [True, False])
def test_two_folders_exchange_their_names_or_nothing_happens(tmp_path, monkeypatch, there):
    if not there:
        monkeypatch.setattr(operating_system, "call_rename", lambda *_: errno.ENOSYS)
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / name).touch()
    done = private_files.swap_names(tmp_path / "a", tmp_path / "b")
    assert done is there or not done, "a file system may lack it"
    assert [path.name for path in (tmp_path / "a").iterdir()] == (["b"] if done else ["a"])
    private_files.replace_dir(tmp_path / "a", tmp_path / "b", tmp_path / "aside", replace=True)
    assert [path.name for path in (tmp_path / "b").iterdir()] == (["b"] if done else ["a"])
    private_files.undo_replace(tmp_path / "a", tmp_path / "b", tmp_path / "aside")
    assert [path.name for path in (tmp_path / "a").iterdir()] == (["b"] if done else ["a"])


@pytest.mark.parametrize("there", [True, False])
def test_a_name_is_taken_only_where_nothing_has_it(tmp_path, monkeypatch, there):
    if not there:
        monkeypatch.setattr(operating_system, "call_rename", lambda *_: errno.ENOSYS)
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    with pytest.raises(FileExistsError):
        private_files.move_to_new_name(tmp_path / "a", tmp_path / "b")
    private_files.move_to_new_name(tmp_path / "a", tmp_path / "c")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b", "c"]


def test_a_dead_process_s_staging_folder_goes_and_the_owner_is_told(tmp_path):
    dead = abandon(tmp_path / "other", Ledger.open().folder)
    (tmp_path / ".reticent-other").mkdir()
    release = rt.publish(job(), frame=people(), to=tmp_path / "release")
    assert "1 staging folder of interrupted runs was removed." in release.notices
    assert not dead.parent.exists()
    assert (tmp_path / ".reticent-other").exists(), "of another version, which may live"


def test_a_folder_is_recorded_before_it_exists_and_forgotten_after_it(tmp_path, monkeypatch):
    records = tmp_path / "ledger" / "ledger-stages"
    seen = []
    made = private_files.make_private_folder

    def make(name, parent):
        seen.append([path.name for path in records.iterdir()])
        made(name, parent)

    monkeypatch.setattr(private_files, "make_private_folder", make)
    with staging.stage_folder(tmp_path / "one", tmp_path / "ledger") as folder:
        assert seen[0] == [f"{folder.parent.name}.json"]
    staging.discard_staged(folder)
    assert not list(records.iterdir())


def test_a_folder_that_was_only_begun_goes_with_its_record(tmp_path, monkeypatch):
    for how_far in ("write_note", "make_private_folder"):
        with monkeypatch.context() as patch:
            patch.setattr(staging, "_remove_staging_folder", lambda container: False)
            patch.setattr(staging, "_remove_empty_folder", lambda name, place: False)
            module = staging if how_far == "write_note" else private_files
            patch.setattr(module, how_far, lambda *_: (_ for _ in ()).throw(Killed))
            with pytest.raises(Killed):
                abandon(tmp_path / "one", tmp_path / "ledger")
        assert list((tmp_path / "ledger" / "ledger-stages").iterdir())
        recover(tmp_path / "ledger")
        assert not left(tmp_path)


def test_folders_of_an_older_version_are_named_and_stay(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    for place in (tmp_path, tmp_path / "temporary"):
        (place / ".reticent-stage-old" / "release").mkdir(parents=True)
        (place / ".reticent-stage-old" / "lock").touch()
    os.utime(tmp_path / "temporary" / ".reticent-stage-old", (0, 0))
    beside = " ".join(rt.publish(job(), frame=people(), to=tmp_path / "release").notices)
    temporary = " ".join(recover_interrupted_runs(["publish", "job.toml"]))
    for said in (beside, temporary):
        assert "'.reticent-stage-old'" in said
        assert "was removed" not in said
    assert recover_interrupted_runs(["audit", str(tmp_path / "release")]) == [], "a command that reads looks nowhere"
    for place in (tmp_path, tmp_path / "temporary"):
        assert sorted(path.name for path in (place / ".reticent-stage-old").iterdir()) == ["lock", "release"]


def test_a_system_without_modes_or_folder_handles_recovers_nothing(tmp_path, monkeypatch, die):
    abandon(tmp_path / "other", tmp_path / "ledger")
    with die(journal, "append_entry"):
        rt.publish(job(), frame=people(), to=tmp_path / "one", ledger=tmp_path / "ledger")
    before = sorted(tmp_path.rglob("*"))
    monkeypatch.setattr(operating_system, "has_directory_handles", lambda: False)
    assert recover(tmp_path / "ledger") == []
    with pytest.raises(RequestError, match="no user ids, modes, locks or folder handles"):
        rt.publish(job(), frame=people(seed=2), to=tmp_path / "two", ledger=tmp_path / "ledger")
    assert sorted(tmp_path.rglob("*")) == before
    rt.publish(job(), frame=people(seed=2), to=tmp_path / "two", ledger=tmp_path / "second")
    assert rt.audit(tmp_path / "two").kept


def test_a_living_process_s_staging_folder_stays(tmp_path):
    with staging.stage_folder(tmp_path / "other") as folder:
        rt.publish(job(), frame=people(), to=tmp_path / "release")
        assert folder.exists()
    staging.discard_staged(folder)
    assert not left(tmp_path)


def test_a_temporary_release_of_a_dead_process_goes_too(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    rt.publish(job(), frame=people(), to=tmp_path / "release")
    folder = abandon(None)
    assert folder.parent.parent == tmp_path
    assert recover(Ledger.open().folder, only_journal=True) == []
    assert folder.exists(), "a command that reads removes no folder"
    assert recover(Ledger.open().folder) == ["1 staging folder of interrupted runs was removed."]
    assert not folder.parent.exists()


@pytest.mark.parametrize("there", [True, False], ids=["exchange", "two renames"])
@pytest.mark.parametrize("step", ["store_sketches", "write_notes", "append_entry", "replace_notes"])
def test_a_journal_is_settled_by_its_own_ledger_alone(tmp_path, monkeypatch, die, step, there):
    if not there:
        monkeypatch.setattr(operating_system, "call_rename", lambda *_: errno.ENOSYS)
    rt.publish(job(), frame=people(), to=tmp_path / "one", ledger=tmp_path / "first")
    with die(journal, step):
        rt.publish(job(), frame=people(), to=tmp_path / "one", ledger=tmp_path / "first", force=True, again=True)
    before = sorted((tmp_path / "first").rglob("*"))
    rt.publish(job(), frame=people(seed=2), to=tmp_path / "two", ledger=tmp_path / "second")
    assert sorted((tmp_path / "first").rglob("*")) == before
    recover(tmp_path / "first", only_journal=True)
    standing = rt.open(tmp_path / "one").digest
    assert [entry["digest"] for entry in Ledger.open(tmp_path / "first").read_entries()][1:] == [standing]
    assert paths.read_digest_file(paths.resolve_notes_folder(tmp_path / "one")) == standing
    assert not left(tmp_path)


def test_between_two_renames_the_old_release_is_put_back(tmp_path, monkeypatch, die):
    old = rt.publish(job(), frame=people(), to=tmp_path / "one", ledger=tmp_path / "ledger")
    monkeypatch.setattr(operating_system, "call_rename", lambda *_: errno.ENOSYS)

    def put(folder, place, aside, *, replace):
        os.rename(place, aside)
        raise Killed

    with die(commit, "_undo_commit"):
        monkeypatch.setattr(commit, "replace_dir", put)
        rt.publish(job(), frame=people(), to=tmp_path / "one", ledger=tmp_path / "ledger", force=True, again=True)
    assert not (tmp_path / "one").exists()
    said = recover(tmp_path / "ledger")
    assert said == ["A publication of 'one' was interrupted: it was rolled back, and what stood there stands."]
    assert rt.audit(tmp_path / "one", expect_digest=old.digest).kept
    assert len(Ledger.open(tmp_path / "ledger").read_entries()) == 1
    assert not left(tmp_path)


def test_what_was_replaced_is_kept_where_its_place_was_taken_meanwhile(tmp_path):
    ledger = Ledger.open().folder
    rt.publish(job(), frame=people(), to=tmp_path / "one")
    dead = abandon(tmp_path / "one", ledger).parent
    (tmp_path / "one").rename(dead / "replaced")
    (tmp_path / "one").mkdir()
    said = " ".join(recover(ledger))
    assert "something else has its place" in said
    assert (dead / "replaced" / "manifest.json").exists()
    (tmp_path / "one").rmdir()
    assert recover(ledger) == ["1 staging folder of interrupted runs was removed."]
    assert rt.audit(tmp_path / "one").kept
    assert not left(tmp_path)


def test_a_release_that_was_moved_away_after_a_crash_is_noted_all_the_same(tmp_path, die):
    with die(journal, "append_entry"):
        rt.publish(job(), frame=people(), to=tmp_path / "one")
    shutil.move(tmp_path / "one", tmp_path / "handed-out")
    with pytest.raises(AlreadyPublished):
        rt.publish(job(), frame=people(), to=tmp_path / "two")


@pytest.mark.parametrize("step", ["store_sketches", "write_notes", "append_entry", "replace_notes"])
@pytest.mark.parametrize("there", [True, False], ids=["exchange", "two renames"])
def test_a_step_that_fails_takes_the_others_back(tmp_path, monkeypatch, step, there):
    if not there:
        monkeypatch.setattr(operating_system, "call_rename", lambda *_: errno.ENOSYS)
    ledger = tmp_path / "ledger"
    rt.publish(job(), frame=people(), to=tmp_path / "one", ledger=ledger)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}

    def refused(*_):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(journal, step, refused)
    for frame in (people(), people(seed=2)):
        with pytest.raises(DiskError):
            rt.publish(job(), frame=frame, to=tmp_path / "one", ledger=ledger, force=True, again=True)
    with pytest.raises(DiskError):
        rt.publish(job(), frame=people(seed=3), to=tmp_path / "new" / "two", ledger=ledger)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    assert not (tmp_path / "new").exists()


def test_a_journal_that_cannot_be_synced_is_taken_back(tmp_path, monkeypatch):
    ledger = tmp_path / "ledger"
    sync = operating_system.sync_to_disk

    def refused(path):
        if path == ledger and (ledger / journal.JOURNAL_FOLDER).exists():
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        sync(path)

    with monkeypatch.context() as patch:
        patch.setattr(operating_system, "sync_to_disk", refused)
        with pytest.raises(DiskError):
            rt.publish(job(), frame=people(), to=tmp_path / "one", ledger=ledger)
    assert Ledger.open(ledger).read_entries() == []
    assert not (tmp_path / "one").exists()
    assert not left(tmp_path)


def test_what_cannot_be_undone_is_left_for_the_next_command(tmp_path, monkeypatch):
    old = rt.publish(job(), frame=people(), to=tmp_path / "one", ledger=tmp_path / "ledger")

    def refused(*_, **__):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    with monkeypatch.context() as patch:
        patch.setattr(commit, "replace_dir", refused)
        patch.setattr(journal, "roll_back_commit", refused)
        with pytest.raises(DiskError):
            rt.publish(job(), frame=people(), to=tmp_path / "one", ledger=tmp_path / "ledger", force=True, again=True)
    assert "it was rolled back" in "".join(recover(tmp_path / "ledger", [tmp_path / "one"]))
    assert [entry["digest"] for entry in Ledger.open(tmp_path / "ledger").read_entries()] == [old.digest]
    assert rt.open(tmp_path / "one").digest == old.digest
    assert not left(tmp_path)


def test_a_recovery_that_is_killed_is_recovered_from(tmp_path, monkeypatch, die):
    with die(commit, "replace_dir"):
        rt.publish(job(), frame=people(), to=tmp_path / "one", ledger=tmp_path / "ledger")

    def killed(*_):
        raise Killed

    for step in ("_remove_staged_notes", "_end_journal"):
        with monkeypatch.context() as patch:
            patch.setattr(journal, step, killed)
            with pytest.raises(Killed):
                recover(tmp_path / "ledger")
    assert "it was rolled back" in "".join(recover(tmp_path / "ledger", [tmp_path / "one"]))
    assert Ledger.open(tmp_path / "ledger").read_entries() == []
    assert not left(tmp_path)


def test_save_is_journalled_like_publish(tmp_path, die):
    release = rt.publish(job(), frame=people())
    with die(journal, "append_entry"):
        release.save(tmp_path / "one")
    recover(Ledger.open().folder)
    assert [entry["digest"] for entry in Ledger.open().read_entries()] == [release.digest]
    assert rt.audit(tmp_path / "one", expect_digest=release.digest).kept
    assert not left(tmp_path)


def test_a_copy_of_an_opened_release_replaces_another_copy_whole(tmp_path):
    first = rt.publish(job(), frame=people(), to=tmp_path / "one")
    rt.publish(job(), frame=people(seed=2), to=tmp_path / "two")
    rt.open(tmp_path / "two").save(tmp_path / "copy")
    rt.open(tmp_path / "one").save(tmp_path / "copy", force=True)
    assert rt.audit(tmp_path / "copy", expect_digest=first.digest).kept
    assert not left(tmp_path)


def test_a_copy_is_not_put_where_the_owners_notes_speak_of_another(tmp_path):
    rt.publish(job(), frame=people(), to=tmp_path / "one")
    second = rt.publish(job(), frame=people(seed=2), to=tmp_path / "two")
    with pytest.raises(OutputExists, match="the digest of what stands there"):
        rt.open(tmp_path / "one").save(tmp_path / "two", force=True)
    rt.open(tmp_path / "two").save(tmp_path / "two", force=True)
    assert rt.audit(tmp_path / "two", expect_digest=second.digest).kept
    assert not left(tmp_path)
