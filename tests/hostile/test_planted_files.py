"""What somebody planted for recovery to find stays where it is, and nothing is written, removed or renamed, by any command."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import reticent as rt
from reticent.cli.commands import COMMANDS
from reticent.cli.startup import READING_COMMANDS, WRITING_COMMANDS
from reticent.ledger.journal import recover
from reticent.ledger.withdrawals import WITHDRAWALS_FILE
from tests.hostile.planted_files import AROUND, INSIDE, JOURNALS, World, abandon, snapshot
from tests.support.good_command_lines import GOOD, prepared
from tests.support.hostile_cases import Case, Ran, run

ENDING_EARLY = {
    "compare": ("compare", "none.toml"),
    "advise": ("advise", "none.toml"),
    "demo": ("demo", "--to", "release"),
    "studio": ("studio", "none"),
}
"""The slowest commands, and the one that ends with Ctrl-C, which end when they look for their job or their place, after recovery."""
LINES = {words[0]: words for words in reversed(GOOD.values())} | ENDING_EARLY
ALL = os.environ.get("HOSTILE") == "all"


@pytest.fixture(scope="module")
def template(tmp_path_factory) -> World:
    world = World(tmp_path_factory.mktemp("planted"))
    world.place.mkdir()
    prepared(world.place)
    world.furnish()
    return world


@pytest.fixture
def world(template) -> Iterator[World]:
    """The same world for each test, at one path, as it was before."""
    aside = template.top.with_name(template.top.name + "-aside")
    shutil.copytree(template.top, aside, symlinks=True)
    yield template
    shutil.rmtree(template.top)
    aside.rename(template.top)


def try_command(world: World, words: tuple[str, ...]) -> tuple[Ran, list[str]]:
    """How a command ended, and what it changed of what was there, or made outside of the working directory."""
    before = snapshot(world)
    ran = run(
        world.place,
        Case(lambda folder: None, None, words, environment={"TMPDIR": str(world.temporary), "HOME": str(world.home)}),
    )
    after = snapshot(world)
    changed = [name for name, entry in before.items() if after.get(name) != entry]
    own = f"{world.ledger.name}/{WITHDRAWALS_FILE}"  # what `withdraw` is there to write
    made = [name for name in after if name not in before and name != own and not name.startswith("place/")]
    for name in sorted(ran.left, key=len):
        path = world.place / name
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    return ran, [*(f"changed: {name}" for name in changed), *(f"made: {name}" for name in made)]


def plant(world: World, ways: Mapping[str, object]) -> None:
    for way in ways.values():
        assert callable(way)
        way(world)


@pytest.mark.parametrize("name", COMMANDS)
def test_what_is_planted_around_is_left_by_every_command(name, world):
    plant(world, AROUND)
    ran, changes = try_command(world, LINES[name])
    assert not changes
    assert ran.code == (1 if name in ENDING_EARLY else 0), ran.err


@pytest.mark.parametrize("name", COMMANDS)
def test_what_is_planted_inside_an_input_is_left_by_every_command(name, world):
    plant(world, INSIDE)
    ran, changes = try_command(world, LINES[name])
    assert not changes
    if "release" in LINES[name]:
        assert ran.code in (1, 3), "a release with folders in it is refused"


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("way", JOURNALS if ALL else list(JOURNALS)[-1:])
def test_a_planted_journal_is_left_by_every_command(name, way, world):
    plant(world, {way: JOURNALS[way]})
    ran, changes = try_command(world, LINES[name])
    assert not changes
    assert "could not be settled" in ran.err
    if name == "publish":
        assert ran.code == 1
        assert ("ledger.lock" if way == "a lock of the ledger that is a link" else "ledger.journal") in ran.err


@pytest.mark.parametrize("way", {**AROUND, **INSIDE, **JOURNALS})
def test_each_way_of_planting_is_left_by_commands_and_python(way, world, monkeypatch):
    plant(world, {way: {**AROUND, **INSIDE, **JOURNALS}[way]})
    for words in GOOD.values() if ALL else [LINES["audit"], LINES["export"]]:
        assert not try_command(world, words)[1]
    monkeypatch.setenv("RETICENT_LEDGER", str(world.ledger))
    monkeypatch.setenv("TMPDIR", str(world.temporary))
    before = snapshot(world)
    for call in (lambda: recover(world.ledger, [world.place / "release"]), lambda: rt.open(world.place / "release")):
        try:
            call()
        except rt.ReticentError:
            assert way in {**INSIDE, **JOURNALS}
    assert snapshot(world) == before


def test_inputs_of_publish_are_never_looked_at(world):
    """A source in parts, in a folder, with something planted among them."""
    parts = world.place / "parts"
    parts.mkdir()
    shutil.copy(world.place / "people.csv", parts / "one.csv")
    plant(
        world, {way: AROUND[way] for way in ("a folder in the temporary folder", "a foreign ledger that a note names")}
    )
    (world.temporary / ".reticent-stage-temporary").rename(parts / ".reticent-stage-temporary")
    (world.temporary / ".reticent-stage-foreign").rename(parts / ".reticent-stage-foreign")
    job = (world.place / "job.toml").read_text()
    (world.place / "parts.toml").write_text(job.replace("people.csv", "parts/*.csv"))
    assert not try_command(world, ("publish", "parts.toml", "-o", "out", "--again"))[1]


def test_a_genuine_folder_is_put_right_and_goes(world):
    """What recovery is for, in the same world: the target comes back, and the folder and its record go."""
    folder = abandon(world.place / "lost", world.ledger)
    assert not (world.place / "lost").exists()
    reading, changes = try_command(world, LINES["audit"])
    assert not changes
    assert "removed" not in reading.err
    ran, changes = try_command(world, LINES["export"])
    assert "1 staging folder of interrupted runs was removed." in ran.err
    assert not folder.exists()
    assert not list((world.ledger / "ledger-stages").iterdir())


def test_a_ledger_that_was_copied_recovers_nothing(world):
    """A received ledger may hold anything, signed by a secret that came with it."""
    folder = abandon(world.place / "lost", world.ledger)
    copy = world.temporary / "received"
    shutil.copytree(world.ledger, copy, copy_function=shutil.copy2)
    before = snapshot(world)
    said = recover(copy)
    assert "not signed by this ledger" in " ".join(said)
    assert snapshot(world) == before
    assert folder.exists()


def test_a_folder_that_is_exchanged_after_it_was_checked_is_not_emptied(world, monkeypatch):
    """Between the check and the removal somebody gives the name to another folder of the user's."""
    from reticent.ledger import staging

    folder = abandon(world.temporary / "raced", world.ledger)
    thesis = world.temporary / "thesis"
    shutil.copytree(world.home / "thesis", thesis)
    restore = staging.restore_replaced

    def exchange(release: Path) -> None:
        restore(release)
        folder.rename(world.temporary / "moved")
        thesis.rename(folder)

    monkeypatch.setattr(staging, "restore_replaced", exchange)
    recover(world.ledger)
    assert (folder / "chapter.txt").read_text() == "years of work\n"


def test_older_folders_are_named_by_who_writes_beside_them(world):
    plant(world, {way: AROUND[way] for way in ("a folder beside the release",)})
    ran, _ = try_command(world, ("publish", "job.toml", "-o", "out", "--again", "--json"))
    assert ".reticent-stage-beside" in ran.out + ran.err


def test_each_command_is_known_to_read_or_to_write():
    assert sorted((*READING_COMMANDS, *WRITING_COMMANDS)) == sorted(COMMANDS)
    assert set(LINES) == set(COMMANDS)
