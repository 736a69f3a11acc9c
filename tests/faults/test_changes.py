"""A change of the disk that goes wrong leaves the old release or the new one, and the next command settles the rest.

A sample; `make faults` spoils every change in every way, and docs/reliability.md has its counts.
"""

from __future__ import annotations

import random

import pytest

from reticent.ledger import staging
from tests.faults.injection import SCENARIOS, WAYS, changes_of, digests, spoil, stale, template

TELLING = ("journal", "exchange", "out/release", "ledger.jsonl", "truncate", "reticent-owner/release")


@pytest.fixture(scope="module")
def prepared(server, tmp_path_factory):
    """Each scenario's folder before, and the changes it makes, one by one."""
    made = {}

    def of(name: str):
        if name not in made:
            place = tmp_path_factory.mktemp("faults").resolve()
            template(server, place / "work", place / "before", SCENARIOS[name])
            changes_of(server, place / "before", place / "work", SCENARIOS[name], place / "log")
            made[name] = place, (place / "log").read_text().splitlines()
        return made[name]

    return of


def test_the_changes_that_are_seen_are_those_that_are_made(prepared):
    place, changes = prepared("replace")
    kinds = [line.split()[1] for line in changes]
    assert kinds.count("exchange") == 2, "the release's, and its notes'"
    assert {"create", "write", "sync", "rename", "mkdir", "unlink", "truncate", "chmod"} <= set(kinds)
    assert digests(place / "work") != digests(place / "before")


def sample(changes: list[str], many: int) -> list[int]:
    """Some changes at random, and some of those that matter most."""
    draw = random.Random(len(changes))
    telling = [at for at, line in enumerate(changes, 1) if any(word in line for word in TELLING)]
    few = draw.sample(telling, min(many, len(telling)))
    return sorted({*few, *draw.sample(range(1, len(changes) + 1), many)})


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["publish", "replace"])
def test_a_publication_is_whole_or_undone(server, prepared, name, way):
    place, changes = prepared(name)
    for at in sample(changes, 2):
        assert not spoil(server, place / "before", place / "work", SCENARIOS[name], at, way), changes[at - 1]


@pytest.mark.parametrize("name", [name for name in SCENARIOS if name not in ("publish", "replace")])
def test_so_are_batches_exports_and_a_disk_without_exchange(server, prepared, name):
    place, changes = prepared(name)
    for at in sample(changes, 2):
        assert not spoil(server, place / "before", place / "work", SCENARIOS[name], at, "SIGKILL"), changes[at - 1]


def test_a_database_whose_last_writes_fail_is_not_exported(server, prepared):
    place, changes = prepared("export to a new DuckDB file")
    writes = [at for at, line in enumerate(changes, 1) if line.split()[1] == "write"]
    for at in writes[-3:]:
        found = spoil(
            server, place / "before", place / "work", SCENARIOS["export to a new DuckDB file"], at, "EIO once"
        )
        assert not found, changes[at - 1]


def numbered(changes: list[str], kind: str, part: str) -> list[int]:
    """The numbers of changes of a kind whose path holds something."""
    return [at for at, line in enumerate(changes, 1) if line.split()[1] == kind and part in line]


KNOWN = {  # what sweeps found once: the scenario, the way, and the changes at which it broke
    "a kill while notes are switched in two renames": (
        "replace without an exchange",
        "SIGKILL",
        lambda lines: numbered(lines, "rename", "/reticent-owner/"),
    ),
    "an error while old notes are removed": (
        "replace",
        "EIO once",
        lambda lines: [
            numbered(lines, "exchange", "reticent-owner")[0] + 2,
            *numbered(lines, "rmdir", ".reticent-notes-"),
        ],
    ),
    "an order to end while a staging folder is made": (
        "replace",
        "SIGTERM",
        lambda lines: numbered(lines, "mkdir", ".reticent-staging-"),
    ),
    "an order to end while a staging folder is removed": (
        "export to a new DuckDB file",
        "SIGTERM",
        lambda lines: range(len(lines) - 6, len(lines) + 1),
    ),
    "an error when the journal's folder is synced": (
        "replace",
        "EIO once",
        lambda lines: [numbered(lines, "rename", "/ledger.journal")[0] + 1],
    ),
    "an order to end while what was spilled is removed, after the release was kept": (
        "replace by stream",
        "SIGTERM",
        lambda lines: range(len(lines) - 4, len(lines) + 1),
    ),
}


@pytest.mark.parametrize("what", KNOWN)
def test_what_broke_once_holds(server, prepared, what):
    name, way, chosen = KNOWN[what]
    place, changes = prepared(name)
    points = chosen(changes)
    assert points
    for at in points:
        assert not spoil(server, place / "before", place / "work", SCENARIOS[name], at, way), changes[at - 1]


def at_the_exchange(changes: list[str], after: int) -> int:
    return next(at for at, line in enumerate(changes, 1) if line.split()[1] == "exchange") + after


@pytest.mark.parametrize(("after", "said"), [(0, "it was rolled back"), (1, "its notes were completed")])
def test_the_next_command_says_in_one_line_what_it_settled(server, prepared, after, said):
    place, changes = prepared("replace")
    at = at_the_exchange(changes, after)
    changes_of(server, place / "before", place / "work", SCENARIOS["replace"])
    assert server.run(place / "work", SCENARIOS["replace"].words, at=at, mode="kill")["code"] == -9
    lines = server.run(place / "work", ("calibrate", "suppression", "--counts", "10,4", "--l", "2"))[
        "said"
    ].splitlines()
    assert [line for line in lines if line.startswith("Note: ")] == [line for line in lines if said in line]
    assert "A publication of 'release' was interrupted" in "".join(lines)
    again = server.run(place / "work", ("audit", "out/release"))["said"]
    assert "interrupted" not in again


def test_rows_whose_publication_was_killed_after_the_exchange_need_again(server, prepared):
    place, changes = prepared("publish")
    at = next(at for at, line in enumerate(changes, 1) if line.endswith("/out/release")) + 1
    assert not spoil(server, place / "before", place / "work", SCENARIOS["publish"], at, "SIGKILL")
    ran = server.run(place / "work", ("publish", "job.toml", "-o", "elsewhere/second"))
    assert ran["code"] == 5
    assert "The same rows were published before" in ran["said"]


def test_what_a_living_process_stages_is_left_alone(server, prepared):
    place, _ = prepared("replace")
    with staging.stage_folder(place / "work" / "out" / "other", place / "work" / "ledger") as folder:
        (folder / "data.csv").write_text("a\n")
        assert "removed" not in server.run(place / "work", ("report", "out/none"))["said"]
        assert (folder / "data.csv").exists()
    staging.discard_staged(folder)
    assert not stale(place / "work")
