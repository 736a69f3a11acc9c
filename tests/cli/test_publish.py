"""`reticent publish`: what it prints, what it writes, and what it needs to be told."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import reticent as rt


def test_a_release_is_published_and_its_audit_printed(run, place):
    ran = run("publish", "job.toml", "-o", "release")
    assert ran.code == 0
    assert "Every promise is kept." in ran.out
    assert "k-anonymity" in ran.out
    assert sorted(path.name for path in Path("release").iterdir()) == ["README.md", "data.parquet", "manifest.json"]


def test_json_is_one_object_with_the_digest_and_the_audit(run, place):
    ran = run("publish", "job.toml", "-o", "release", "--json")
    found = json.loads(ran.out)
    assert found["digest"] == rt.open("release").digest
    assert (found["kept"], found["rows"], found["seeded"]) == (True, 200, False)
    assert [entry["model"] for entry in found["promises"]] == ["k-anonymity", "beta-likeness"]
    assert found["owner"] == "reticent-owner"


def test_the_format_can_be_chosen_for_one_run(run, place):
    assert run("publish", "job.toml", "-o", "release", "--format", "csv").code == 0
    assert Path("release/data.csv").read_text().splitlines()[0] == "age,city,illness"
    ran = run("publish", "job.toml", "-o", "other", "--format", "xml")
    assert ran.code == 1
    assert "'parquet', 'csv'" in ran.err


def test_a_seeded_release_is_called_not_for_publication(run, place):
    ran = run("publish", "job.toml", "-o", "release", "--seed", 7)
    assert ran.code == 0
    assert "Not for publication" in ran.err
    assert rt.open("release").manifest.seeded is True
    assert "Not for publication" in Path("release/README.md").read_text()


def test_the_same_seed_gives_the_same_bytes(run, place):
    run("publish", "job.toml", "-o", "one", "--seed", 7)
    run("publish", "job.toml", "-o", "two", "--seed", 7, "--again")
    assert Path("one/data.parquet").read_bytes() == Path("two/data.parquet").read_bytes()


def test_a_source_that_was_published_needs_again(run, place):
    run("publish", "job.toml", "-o", "one")
    before = place.contents()
    ran = run("publish", "job.toml", "-o", "two")
    assert ran.code == 5
    assert "--again" in ran.err
    assert place.contents() == before
    ran = run("publish", "job.toml", "-o", "two", "--again")
    assert ran.code == 0
    assert "2 releases" in ran.err
    assert "k-anonymity no longer holds: a person is in one group of each release" in ran.err
    assert "beta-likeness no longer holds" in ran.err
    said = Path("reticent-owner/two/README.md").read_text()
    assert "Together with earlier releases" in said
    assert "'one'" in said
    assert "Together" not in Path("reticent-owner/one/README.md").read_text()
    found = json.loads(run("publish", "job.toml", "-o", "three", "--again", "--json").out)
    assert "3 releases" in found["together"][0]
    assert not list(Path("three").glob("*wner*"))


def test_persons_with_several_rows_are_noticed(run, place):
    place.edit("people.csv", "p0001,", "p0000,")
    ran = run("publish", "job.toml", "-o", "release")
    assert ran.code == 0
    assert "Note: The identifying column 'person' repeats, up to 2 times" in ran.err
    assert "p0000" not in ran.out + ran.err
    assert "repeats" in Path("reticent-owner/release/README.md").read_text()
    found = json.loads(run("publish", "job.toml", "-o", "release", "--force", "--again", "--json").out)
    assert "repeats" in found["notices"][0]
    place.job(('person  = "identifying"', 'person  = { role = "identifying", rows_per_person = 2 }'))
    found = json.loads(run("publish", "job.toml", "-o", "release", "--force", "--again", "--json").out)
    assert not any("repeats" in notice for notice in found["notices"])
    assert rt.open("release").manifest.rows_per_person == 2


def test_force_replaces_a_release_and_nothing_else(run, place):
    run("publish", "job.toml", "-o", "release")
    first = rt.open("release").digest
    assert run("publish", "job.toml", "-o", "release", "--force", "--again").code == 0
    assert rt.open("release").digest != first
    Path("precious").mkdir()
    Path("precious/thesis.txt").write_text("years of work")
    before = place.contents()
    ran = run("publish", "job.toml", "-o", "precious", "--force", "--again")
    assert ran.code == 1
    assert "is no release" in ran.err
    assert place.contents() == before


def test_folders_on_the_way_to_the_release_are_made(run, place):
    assert run("publish", "job.toml", "-o", "a/b/release").code == 0
    assert rt.open("a/b/release").manifest.rows == 200


def test_the_owners_folder_can_be_elsewhere(run, place, monkeypatch):
    monkeypatch.setenv("RETICENT_OWNER", str(place / "vault"))
    assert run("publish", "job.toml", "-o", "release").code == 0
    assert Path("vault/release/digest.txt").read_text().strip() == rt.open("release").digest
    assert not Path("reticent-owner").exists()


def test_the_ledger_can_be_chosen(run, place):
    assert run("publish", "job.toml", "-o", "one").code == 0
    assert run("publish", "job.toml", "-o", "elsewhere/two").code == 5
    assert run("publish", "job.toml", "-o", "elsewhere/two", "--ledger", "ours").code == 0
    ran = run("publish", "job.toml", "-o", "three", "--ledger", "ours")
    assert ran.code == 5
    assert "last as 'two'" in ran.err
    ran = run("publish", "job.toml", "-o", "three", "--ledger", "ours", "--again")
    assert "Who also holds 'two' can join them" in ran.err


def test_paths_in_a_job_are_relative_to_it(run, place, monkeypatch):
    Path("elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    assert run("publish", "../job.toml", "-o", "release").code == 0
    assert Path("release/manifest.json").exists()


def test_the_release_is_the_library_s(run, place):
    run("publish", "job.toml", "-o", "by-command", "--seed", 3)
    rt.publish(rt.Job.read("job.toml"), to="by-library", seed=3, again=True)
    assert Path("by-command/data.parquet").read_bytes() == Path("by-library/data.parquet").read_bytes()


def test_many_notices_are_a_few_lines_on_the_terminal(run, place):
    """One for each earlier release that is gone: years of them would fill the screen."""
    for at in range(9):
        assert run("publish", "job.toml", "-o", f"release{at}", "--again").code == 0
        shutil.rmtree(f"release{at}")
    ran = run("publish", "job.toml", "-o", "last", "--again")
    assert ran.code == 0
    assert ran.err.count("Note: The earlier release") == 5
    assert ran.err.count("was not joined with this one") <= 5 + 6, "before it is kept, and when it is"
    assert "4 more like these stand in reticent-owner/last/README.md." in ran.err
    assert Path("reticent-owner/last/README.md").read_text().count("was not joined with this one") == 9


def test_only_new_leaves_known_people_out_and_is_for_one_release(run, place):
    assert run("publish", "job.toml", "-o", "first").code == 0
    ran = run("publish", "job.toml", "-o", "second", "--only-new")
    assert ran.code == 5 and "Nobody in this table is new" in ran.err
    ran = run("publish", "job.toml", "-o", "batches", "--only-new", "--batch-by", "city")
    assert ran.code == 1 and "--only-new is for one release" in ran.err
