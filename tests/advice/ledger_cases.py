"""Advice of publishing, of the ledger and its desk, of exports and of reports: provoked and followed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

import reticent as rt
from reticent import operating_system
from reticent.attacks.composition.release_odds import bound_release_odds
from reticent.ledger import commit, private_files, release_desk
from reticent.ledger import paths as ledger_paths
from reticent.ledger.ledger import Ledger
from reticent.release import export_files
from reticent.release.export import open_export_tables
from reticent.report import paths as report_paths
from tests.advice.cases import CaseTable, Desk, Steps
from tests.advice.kind_releases import publish_kind
from tests.support import contract_examples
from tests.support.contract_examples import people

TABLE = CaseTable()
follows = TABLE.follows
JOB = """\
[source]
path = "people.csv"
[columns]
name = "identifying"
age = "quasi-identifying"
city = "quasi-identifying"
illness = "sensitive"
wage = "insensitive"
[[promise]]
model = "k-anonymity"
k = 3
"""


def make_job(**parts: Any) -> rt.Job:
    """Return a job over the people of the examples."""
    columns = {**contract_examples.columns("illness"), "wage": rt.insensitive()}
    return rt.Job(**{"columns": columns, "promises": [rt.KAnonymity(3)], **parts})


def publish(desk: Desk, name: str, frame: pl.DataFrame | None = None, **options: Any) -> rt.Release:
    """Publish the people of the examples, or others, as a folder of the desk."""
    job = options.pop("job", None) or make_job()
    return rt.publish(job, frame=people() if frame is None else frame, to=desk / name, **options)


def write_files(desk: Desk) -> None:
    """Write people.csv and job.toml."""
    people().write_csv(desk / "people.csv")
    (desk / "job.toml").write_text(JOB)


def others(first: int = 0) -> pl.DataFrame:
    """People whom no release was made from, from a number on."""
    return people().with_columns(
        name=pl.concat_str(pl.lit("other-"), pl.int_range(pl.len()) + first),
        age=pl.col("age").shuffle(seed=first + 1),
        city=pl.col("city").shuffle(seed=first + 2),
        illness=pl.col("illness").shuffle(seed=first + 3),
    )


# Where a release is written.


@follows("ledger/commit.py", "another name, or --force (force=True).")
def publish_over_a_release(desk: Desk) -> Steps:
    write_files(desk)
    publish(desk, "release")
    yield desk.command("publish", "job.toml", "-o", "release", "--again")
    yield desk.command("publish", "job.toml", "-o", "second", "--again")
    yield desk.command("publish", "job.toml", "-o", "release", "--again", "--force")
    yield lambda: publish(desk, "release", again=True, force=True)


@follows("ledger/commit.py", "another name.")
def publish_over_something_else(desk: Desk) -> Steps:
    (desk / "notes").mkdir()
    (desk / "notes" / "text").write_text("mine")
    yield lambda: publish(desk, "notes")
    yield lambda: publish(desk, "release")


@follows("ledger/commit.py", "another name.")
def save_over_a_release_that_is_noted(desk: Desk) -> Steps:
    publish(desk, "release")
    shutil.rmtree(desk / "release")
    handed = rt.open(publish_kind("anatomized").folder)
    yield lambda: handed.save(desk / "release")
    yield lambda: handed.save(desk / "copy")


@follows("ledger/commit.py", "another name.")
def publish_where_another_process_did(desk: Desk) -> Steps:
    def fail(*arguments: Any, **named: Any) -> Any:
        raise FileExistsError

    yield desk.with_setting(commit, "replace_dir", fail, lambda: publish(desk, "release"))
    yield lambda: publish(desk, "second")


@follows("ledger/commit.py", "another name.")
def export_over_something_else(desk: Desk) -> Steps:
    (desk / "notes").mkdir()
    (desk / "notes" / "text").write_text("mine")
    yield desk.command("export", publish_kind("generalized").folder, "notes")
    yield desk.command("export", publish_kind("generalized").folder, "people-csv")


@follows("ledger/commit.py", "another name, or --force (force=True).")
def export_again(desk: Desk) -> Steps:
    release = publish_kind("generalized")
    release.to_csv(desk / "people-csv")
    yield desk.command("export", release.folder, "people-csv")
    yield desk.command("export", release.folder, "others-csv")
    yield desk.command("export", release.folder, "people-csv", "--force")
    yield lambda: release.to_csv(desk / "people-csv", force=True)


@follows("ledger/paths.py", "another place for the release.")
def publish_into_a_release(desk: Desk) -> Steps:
    publish(desk, "release")
    yield lambda: publish(desk, "release/inner", again=True)
    yield lambda: publish(desk, "second", again=True)


@follows("ledger/paths.py", "another place for the release.")
def publish_into_the_ledger(desk: Desk) -> Steps:
    ledger = Ledger.open().folder
    ledger.mkdir(parents=True, exist_ok=True)
    yield lambda: rt.publish(make_job(), frame=people(), to=ledger / "release")
    yield lambda: publish(desk, "release")


@follows("ledger/paths.py", "another place for the release.")
def publish_into_an_owners_folder(desk: Desk) -> Steps:
    yield lambda: publish(desk, "reticent-owner/inner/release")
    yield lambda: publish(desk, "release")


@follows("ledger/paths.py", "another name.")
def publish_into_a_circle_of_links(desk: Desk) -> Steps:
    (desk / "circle").symlink_to(desk / "circle")
    yield lambda: publish(desk, "circle")
    yield lambda: publish(desk, "release")


@follows("ledger/paths.py", "… for a folder elsewhere.")
def keep_ledger_inside_the_release(desk: Desk) -> Steps:
    write_files(desk)
    yield desk.command("publish", "job.toml", "-o", "release", "--ledger", desk / "release" / "ledger")
    yield desk.command("publish", "job.toml", "-o", "release", "--ledger", desk / "ledger")


@follows("ledger/paths.py", "… for a folder elsewhere.")
def keep_ledger_in_another_release(desk: Desk) -> Steps:
    write_files(desk)
    publish(desk, "first")
    (desk / "first" / "ledger").mkdir()
    yield desk.command("publish", "job.toml", "-o", "release", "--ledger", desk / "first" / "ledger")
    desk.patch.setenv("RETICENT_LEDGER", str(desk / "ledger"))
    yield desk.command("publish", "job.toml", "-o", "release")


@follows("ledger/paths.py", "… for another one.")
def keep_notes_in_a_file(desk: Desk) -> Steps:
    write_files(desk)
    (desk / "file").write_text("mine")
    desk.patch.setenv("RETICENT_OWNER", str(desk / "file"))
    yield desk.command("publish", "job.toml", "-o", "release")

    def follow() -> Any:
        desk.patch.setenv("RETICENT_OWNER", str(desk / "owner"))
        return desk.run("publish", "job.toml", "-o", "release")

    yield follow


@follows("ledger/paths.py", "another place for the release; or RETICENT_OWNER, and --ledger (RETICENT_LEDGER).")
def publish_beside_a_strangers_link(desk: Desk) -> Steps:
    (desk / "shared").mkdir()
    (desk / "shared" / "reticent-owner").symlink_to(desk.folder)
    is_link = lambda folder: folder == desk / "shared" / "reticent-owner"  # noqa: E731
    desk.patch.setattr(ledger_paths, "is_foreign_link", is_link)
    yield lambda: publish(desk, "shared/release")
    yield lambda: publish(desk, "release")

    def follow() -> Any:
        desk.patch.setenv("RETICENT_OWNER", str(desk / "owner"))
        return publish(desk, "shared/release", again=True, ledger=desk / "ledger")

    yield follow


@follows("ledger/paths.py", "--ledger FOLDER (ledger=), or RETICENT_LEDGER.")
def publish_without_a_home(desk: Desk) -> Steps:
    def fail(*arguments: Any) -> Any:
        raise RuntimeError

    write_files(desk)
    desk.patch.setattr(Path, "home", fail)
    desk.patch.setattr(Path, "expanduser", fail)
    ledger = os.environ["RETICENT_LEDGER"]
    desk.patch.delenv("RETICENT_LEDGER")
    yield lambda: publish(desk, "release")
    yield desk.command("publish", "job.toml", "-o", "release", "--ledger", desk / "ledger")
    yield lambda: publish(desk, "second", ledger=desk / "second-ledger")

    def follow() -> Any:
        desk.patch.setenv("RETICENT_LEDGER", ledger)
        return publish(desk, "third")

    yield follow


# People who are published again.


@follows("ledger/ledger.py", "--again (again=True) if you accept that.")
def publish_rows_again(desk: Desk) -> Steps:
    write_files(desk)
    assert desk.run("publish", "job.toml", "-o", "first").code == 0
    yield desk.command("publish", "job.toml", "-o", "second")
    yield desk.command("publish", "job.toml", "-o", "second", "--again")
    yield lambda: rt.publish(rt.Job.read(desk / "job.toml"), to=desk / "third", again=True)


@follows(
    "ledger/ledger.py",
    "--only-new (only_new=True) for the others alone, --again (again=True) if you accept that, or another role than "
    "identifying for … if it numbers rows and not people.",
)
def publish_people_again(desk: Desk) -> Steps:
    publish(desk, "first")
    changed = people().with_columns(age=pl.col("age") + 5)
    both = pl.concat([changed, others(1000).head(60)])
    yield lambda: publish(desk, "second", both)
    yield lambda: publish(desk, "second", both, only_new=True)
    yield lambda: publish(desk, "third", both, again=True)
    columns = {**make_job().columns, "name": rt.insensitive(acknowledge=True)}
    numbered = both.with_columns(name=pl.int_range(pl.len()))
    yield lambda: publish(desk, "fourth", numbered, job=make_job(columns=columns), ledger=desk / "ledger")


@follows(
    "ledger/exclusions.py", "--again (again=True) to publish them again, if you accept that releases can be joined."
)
def publish_only_known_people(desk: Desk) -> Steps:
    write_files(desk)
    assert desk.run("publish", "job.toml", "-o", "first").code == 0
    yield desk.command("publish", "job.toml", "-o", "second", "--only-new")
    yield desk.command("publish", "job.toml", "-o", "second", "--again")


@follows("ledger/exclusions.py", 'role = "identifying" for a column that says whose a row is.')
def publish_new_people_who_have_no_name(desk: Desk) -> Steps:
    columns = {"age": rt.quasi(), "illness": rt.sensitive()}
    named = {"name": rt.identifying(), **columns}
    yield lambda: publish(desk, "first", people().select(*columns), job=make_job(columns=columns), only_new=True)
    yield lambda: publish(desk, "first", people().select(*named), job=make_job(columns=named), only_new=True)


@follows("cli/publish.py", "one of them; or batches of new rows alone.")
def publish_new_people_in_batches(desk: Desk) -> Steps:
    people().with_columns(day=pl.int_range(pl.len()) % 2).write_csv(desk / "people.csv")
    (desk / "job.toml").write_text(JOB + '[release]\nundeclared = "drop"\n')
    yield desk.command("publish", "job.toml", "-o", "batches", "--batch-by", "day", "--only-new")
    yield desk.command("publish", "job.toml", "-o", "batches", "--batch-by", "day")
    others().write_csv(desk / "people.csv")
    yield desk.command("publish", "job.toml", "-o", "release", "--only-new")


@follows("ledger/ledger.py", "releases of the same data, or --force-join (force_join=True) if you know better.")
def join_releases_of_different_rows(desk: Desk) -> Steps:
    people().write_csv(desk / "people.csv")
    first = publish(desk, "first")
    second = publish(desk, "second", others())
    same = publish(desk, "same", again=True)
    words = ("attack", first.folder, "--source", "people.csv", "--as", "composition", "--with")
    yield desk.command(*words, second.folder)
    yield desk.command(*words, same.folder)
    yield desk.command(*words, second.folder, "--force-join")


@follows("composition_check.py", "…leaving `together` out of [release], or publishing nothing new of these people.")
def limit_belief_beside_a_lost_release(desk: Desk) -> Steps:
    publish(desk, "first")
    limited = make_job(release=rt.Output(together=0.9))
    (desk / "first").rename(desk / "lost")
    yield lambda: publish(desk, "second", job=limited, again=True)
    yield lambda: publish(desk, "second", again=True)
    (desk / "lost").rename(desk / "first")
    (desk / "second").rename(desk / "gone")
    rt.withdraw("second", reason="a trial", never_handed_out=True)
    yield lambda: publish(desk, "third", job=make_job(release=rt.Output(together=1)), again=True)


@follows(
    "composition_check.py",
    "publishing nothing new of these people, fewer quasi-identifiers, a stricter promise, or a greater `together`.",
)
def limit_belief_too_low(desk: Desk) -> Steps:
    publish(desk, "first")
    yield lambda: publish(desk, "second", job=make_job(release=rt.Output(together=0.4)), again=True)
    yield lambda: publish(desk, "second", job=make_job(release=rt.Output(together=1)), again=True)
    yield lambda: publish(desk, "new", others(), job=make_job(release=rt.Output(together=0.4)))


# How much releases of redrawn values multiply odds.


def make_redrawing_job(p: str = "0.3", **output: Any) -> rt.Job:
    """Return a job that redraws values, most of them where p is small."""
    return make_job(
        columns=contract_examples.columns("illness"),
        promises=[rt.RhoGuarantee("0.2", "0.6", "0.4")],
        method=rt.PerturbedGeneralization(k=4, p=p),
        release=rt.Output(**output),
    )


def publish_redrawn(desk: Desk, name: str, **options: Any) -> Any:
    """Publish redrawn values of people of whom a release is out; options of the job and of publish."""
    publishing = {key: options.pop(key) for key in ("frame", "seed") if key in options}
    return publish(desk, name, job=make_redrawing_job(**options), again=True, **publishing)


def measure_odds(desk: Desk) -> Fraction:
    odds = bound_release_odds(rt.publish(make_redrawing_job(), frame=people()).manifest).odds
    assert odds is not None
    return odds


@follows("composition_check.py", "a stricter promise or a smaller p, or a greater odds_at_most in [release].")
def limit_odds_of_one_release(desk: Desk) -> Steps:
    odds = measure_odds(desk)
    limit = (1 + odds) / 2
    strict = make_job(
        columns=contract_examples.columns("illness"),
        promises=[rt.RhoGuarantee("0.2", "0.22", "0.4")],
        method=rt.PerturbedGeneralization(k=4),
        release=rt.Output(odds_at_most=limit),
    )
    yield lambda: publish_redrawn(desk, "first", odds_at_most=limit)
    yield lambda: publish_redrawn(desk, "smaller", odds_at_most=limit, p="0.05")
    yield lambda: publish(desk, "stricter", others(), job=strict)
    yield lambda: publish_redrawn(desk, "greater", odds_at_most=odds, frame=others(500))


@follows(
    "composition_check.py",
    "putting it back, or leaving odds_at_most out of [release], or publishing nothing new of these people.",
)
def limit_odds_beside_a_lost_release(desk: Desk) -> Steps:
    limit = measure_odds(desk) ** 2
    publish_redrawn(desk, "first")
    (desk / "first").rename(desk / "lost")
    yield lambda: publish_redrawn(desk, "second", odds_at_most=limit)
    yield lambda: publish_redrawn(desk, "new", odds_at_most=limit, frame=others())
    (desk / "lost").rename(desk / "first")
    yield lambda: publish_redrawn(desk, "second", odds_at_most=limit)
    (desk / "first").rename(desk / "lost")
    yield lambda: publish_redrawn(desk, "third")


@follows(
    "composition_check.py",
    "publishing nothing new of these people, a stricter promise or a smaller p, or a greater odds_at_most in [release].",
)
def limit_odds_of_two_releases(desk: Desk) -> Steps:
    odds = measure_odds(desk)
    limit = (odds + odds**2) / 2
    publish_redrawn(desk, "first")
    yield lambda: publish_redrawn(desk, "second", odds_at_most=limit)
    yield lambda: publish_redrawn(desk, "new", odds_at_most=limit, frame=others())
    yield lambda: publish_redrawn(desk, "smaller", odds_at_most=limit, p="0.01")
    yield lambda: publish_redrawn(desk, "greater", odds_at_most=odds**3)


@follows("composition_check.py", "publishing nothing new of these people, or leaving odds_at_most out of [release].")
def limit_odds_beside_values_that_are_shown(desk: Desk) -> Steps:
    publish(desk, "shown")
    yield lambda: publish_redrawn(desk, "second", odds_at_most=1000)
    yield lambda: publish_redrawn(desk, "new", odds_at_most=1000, frame=others())
    yield lambda: publish_redrawn(desk, "second")


@follows("composition_check.py", "publishing without a seed, or leaving odds_at_most out of [release].")
def limit_odds_beside_a_seeded_release(desk: Desk) -> Steps:
    publish_redrawn(desk, "first", seed=1)
    yield lambda: publish_redrawn(desk, "second", odds_at_most=1000, seed=2)
    yield lambda: publish_redrawn(desk, "second", odds_at_most=1000)
    yield lambda: publish_redrawn(desk, "third", seed=2)


# The ledger's files.


@follows("ledger/private_files.py", "restoring it, or --ledger (RETICENT_LEDGER) for another ledger.")
def read_damaged_ledger(desk: Desk) -> Steps:
    write_files(desk)
    publish(desk, "first")
    path = Ledger.open().folder / "ledger.jsonl"
    content = path.read_bytes()
    path.write_bytes(b"\0")
    yield desk.command("publish", "job.toml", "-o", "second", "--again")
    yield desk.command("publish", "job.toml", "-o", "second", "--ledger", desk / "ledger")
    path.write_bytes(content)
    yield desk.command("publish", "job.toml", "-o", "third", "--again")


@follows(
    "ledger/private_files.py",
    "the version of reticent that wrote it, or --ledger (RETICENT_LEDGER) for another ledger.",
)
def read_ledger_of_a_later_version(desk: Desk) -> Steps:
    write_files(desk)
    publish(desk, "first")
    path = Ledger.open().folder / "ledger.jsonl"
    content = path.read_text(encoding="utf-8")
    path.write_text(content.replace('"format": 2', '"format": 3'), encoding="utf-8")
    yield desk.command("publish", "job.toml", "-o", "second", "--again")
    yield desk.command("publish", "job.toml", "-o", "second", "--ledger", desk / "ledger")
    path.write_text(content, encoding="utf-8")  # what the version that wrote it knows
    yield desk.command("publish", "job.toml", "-o", "third", "--again")


@follows("ledger/private_files.py", "removing the link, if nobody else uses this ledger.")
def write_ledger_through_a_link(desk: Desk) -> Steps:
    publish(desk, "first")
    lock = next(path for path in Ledger.open().folder.iterdir() if "lock" in path.name)
    lock.unlink()
    lock.symlink_to(desk / "elsewhere")
    yield lambda: publish(desk, "second", others())
    lock.unlink()
    yield lambda: publish(desk, "second", others())


@follows(
    "ledger/private_files.py",
    "the command again later; or removing this file, if no process publishes by this ledger.",
)
def publish_where_a_killed_process_left_its_lock(desk: Desk) -> Steps:
    publish(desk, "first")
    held = Ledger.open().folder / "ledger.lock.held"
    held.touch()
    hold_at_once = partial(private_files._hold_exclusive_file, max_seconds=0)
    desk.patch.setattr(operating_system, "has_file_locks", lambda: False)
    desk.patch.setattr(private_files, "_hold_exclusive_file", hold_at_once)
    yield lambda: publish(desk, "second", others())
    held.unlink()
    yield lambda: publish(desk, "second", others())


@follows(
    "ledger/journal.py",
    "a command of the user and version that published then; or removing it, after a look whether the latest release is in "
    "the ledger.",
)
def settle_damaged_journal(desk: Desk) -> Steps:
    publish(desk, "first")
    journal = Ledger.open().folder / "ledger.journal"
    journal.mkdir()
    (journal / "intent.json").write_text("{}")
    yield lambda: publish(desk, "second", others())
    yield desk.command("releases")
    shutil.rmtree(journal)
    yield lambda: publish(desk, "second", others())


# The desk.


@follows(
    "ledger/release_desk.py",
    "--ledger FOLDER (ledger=), or RETICENT_LEDGER, for the ledger that it was published with.",
)
def withdraw_from_empty_ledger(desk: Desk) -> Steps:
    publish(desk, "release", ledger=desk / "ledger")
    yield desk.command("withdraw", "release", "--reason", "wrong")
    yield desk.command("withdraw", "release", "--reason", "wrong", "--ledger", desk / "ledger")
    yield lambda: rt.withdraw("release", reason="again", never_handed_out=True, ledger=desk / "ledger")


@follows(
    "ledger/release_desk.py",
    "{suggest(asked, dict.fromkeys((known_release.release for known_release in known)))}",
)
def withdraw_by_misspelled_name(desk: Desk) -> Steps:
    publish(desk, "release")
    yield desk.command("withdraw", "relaese", "--reason", "wrong")
    yield desk.command("withdraw", "release", "--reason", "wrong")


@follows("ledger/release_desk.py", "the folder, or the first digits of the digest (`reticent releases`).")
def withdraw_one_of_two_names(desk: Desk) -> Steps:
    first = publish(desk, "one/release")
    second = publish(desk, "two/release", others())
    (desk / "elsewhere").mkdir()
    desk.patch.chdir(desk / "elsewhere")
    yield desk.command("withdraw", "release", "--reason", "wrong")
    yield desk.command("releases")
    yield desk.command("withdraw", first.folder, "--reason", "wrong")
    yield desk.command("withdraw", second.digest[:12], "--reason", "wrong")


@follows("ledger/release_desk.py", "more of its digits, or the folder (`reticent releases`).")
def withdraw_by_ambiguous_digits(desk: Desk) -> Steps:
    first = publish(desk, "one")
    second = publish(desk, "two", others())
    known = rt.releases()
    from dataclasses import replace

    alike = [replace(release, digest="abcdef0123" + release.digest[10:]) for release in known]
    yield lambda: release_desk.find_releases(alike, "abcdef0123")
    yield lambda: release_desk.find_releases(alike, alike[0].digest[:20])
    yield lambda: release_desk.find_releases(known, str(first.folder))
    yield desk.command("withdraw", second.folder, "--reason", "wrong")


@follows("ledger/release_desk.py", '--reason "wrong column" (reason="wrong column").')
def withdraw_without_reason(desk: Desk) -> Steps:
    publish(desk, "release")
    yield desk.command("withdraw", "release", "--reason", " ")
    yield desk.command("withdraw", "release", "--reason", "wrong column")
    yield lambda: rt.withdraw("release", reason="wrong column", never_handed_out=True)


@follows("ledger/release_desk.py", "a sentence, and the rest in a file of yours.")
def withdraw_with_long_reason(desk: Desk) -> Steps:
    publish(desk, "release")
    yield desk.command("withdraw", "release", "--reason", "wrong " * 10_000)
    yield desk.command("withdraw", "release", "--reason", "The column of wages is that of another year.")


@follows(
    "ledger/release_desk.py",
    "--never-handed-out or --handed-out if that was stated wrongly, or --delete if its folder is to go.",
)
def withdraw_twice(desk: Desk) -> Steps:
    publish(desk, "release")
    assert desk.run("withdraw", "release", "--reason", "wrong").code == 0
    yield desk.command("withdraw", "release", "--reason", "wrong")
    yield desk.command("withdraw", "release", "--reason", "wrong", "--never-handed-out")
    yield desk.command("withdraw", "release", "--reason", "wrong", "--handed-out")
    yield desk.command("withdraw", "release", "--reason", "wrong", "--delete")


@follows("ledger/release_desk.py", "withdrawing without --delete (delete=True), and a look at the folder.")
def delete_changed_release(desk: Desk) -> Steps:
    publish(desk, "release")
    (desk / "release" / "manifest.json").write_text("{}")
    yield desk.command("withdraw", "release", "--reason", "wrong", "--delete")
    yield desk.command("withdraw", "release", "--reason", "wrong")


@follows(
    "ledger/release_desk.py",
    "withdrawing without --delete (delete=True), and removing the link and its target yourself.",
)
def delete_link_to_a_release(desk: Desk) -> Steps:
    publish(desk, "release")
    (desk / "release").rename(desk / "elsewhere")
    (desk / "release").symlink_to(desk / "elsewhere")
    yield desk.command("withdraw", "release", "--reason", "wrong", "--delete")
    yield desk.command("withdraw", "release", "--reason", "wrong")


@follows("ledger/release_desk.py", "withdrawing without --delete (delete=True), and asking its owner to remove it.")
def delete_release_of_another_user(desk: Desk) -> Steps:
    publish(desk, "release")
    delete = desk.command("withdraw", "release", "--reason", "wrong", "--delete")
    yield desk.with_setting(operating_system, "belongs_to_other_user", lambda *_: True, delete)
    yield desk.command("withdraw", "release", "--reason", "wrong")


# People who are to be forgotten.


def forget(desk: Desk, *persons: str, to: str = "rest.csv", **options: Any) -> Any:
    return rt.forget(rt.Job.read(desk / "job.toml"), list(persons), desk / to, **options)


@follows("removal.py", "identifiers as these columns have them, a line each.")
def forget_strangers(desk: Desk) -> Steps:
    write_files(desk)
    (desk / "strangers.txt").write_text("nobody\n")
    (desk / "persons.txt").write_text("\n".join(people()["name"][:2]) + "\n")
    yield desk.command("forget", "job.toml", "-o", "rest.csv", "--person", "strangers.txt")
    yield desk.command("forget", "job.toml", "-o", "rest.csv", "--person", "persons.txt")


@follows("removal.py", "fewer people, or publishing nothing.")
def forget_everybody(desk: Desk) -> Steps:
    write_files(desk)
    yield lambda: forget(desk, *people()["name"])
    yield lambda: forget(desk, *people()["name"][1:])


@follows("removal.py", 'role = "identifying" for one that does.')
def forget_people_without_names(desk: Desk) -> Steps:
    write_files(desk)
    named = (desk / "job.toml").read_text()
    (desk / "job.toml").write_text(named.replace('"identifying"', '"insensitive"'))
    yield lambda: forget(desk, people()["name"][0])
    (desk / "job.toml").write_text(named)
    yield lambda: forget(desk, people()["name"][0])


@follows("removal.py", "another name, or --force (force=True) for a file.")
def forget_over_a_file(desk: Desk) -> Steps:
    write_files(desk)
    (desk / "rest.csv").write_text("mine")
    (desk / "persons.txt").write_text(people()["name"][0])
    words = ("forget", "job.toml", "--person", "persons.txt", "-o")
    yield desk.command(*words, "rest.csv")
    yield desk.command(*words, "others.csv")
    yield desk.command(*words, "rest.csv", "--force")
    yield lambda: forget(desk, people()["name"][0], force=True)


@follows("removal.py", "a name that ends so.")
def forget_into_another_format(desk: Desk) -> Steps:
    write_files(desk)
    yield lambda: forget(desk, people()["name"][0], to="rest.xlsx")
    yield lambda: forget(desk, people()["name"][0], to="rest.csv")


@follows("removal.py", "a name that ends with ….")
def forget_into_other_types(desk: Desk) -> Steps:
    write_files(desk)
    yield lambda: forget(desk, people()["name"][0], to="rest.parquet")
    yield lambda: forget(desk, people()["name"][0], to="rest.csv")
    people().write_parquet(desk / "people.parquet")
    (desk / "job.toml").write_text(JOB.replace("people.csv", "people.parquet"))
    yield lambda: forget(desk, people()["name"][0], to="typed.parquet")


@follows("cli/forget.py", "--person FILE, or --person - to be asked.")
def forget_nobody(desk: Desk) -> Steps:
    write_files(desk)
    (desk / "persons.txt").write_text(people()["name"][0])
    yield desk.command("forget", "job.toml", "-o", "rest.csv")
    yield desk.command("forget", "job.toml", "-o", "rest.csv", "--person", "persons.txt")
    yield _ask_for_persons(desk, "forget", "job.toml", "-o", "others.csv", "--person", "-")


def _ask_for_persons(desk: Desk, *words: str) -> Any:
    """Return a command line at whose prompt somebody is named."""
    import io

    return desk.with_setting(__import__("sys"), "stdin", io.StringIO(people()["name"][0] + "\n"), desk.command(*words))


@follows("cli/options.py", "--person FILE, or --person - to be asked.")
def ask_for_person_by_name(desk: Desk) -> Steps:
    publish(desk, "release")
    (desk / "persons.txt").write_text(people()["name"][0])
    yield desk.command("releases", "--person", people()["name"][0])
    yield desk.command("releases", "--person", "persons.txt")
    yield _ask_for_persons(desk, "releases", "--person", "-")


@follows("cli/options.py", "saving it as UTF-8.")
def ask_for_persons_in_another_encoding(desk: Desk) -> Steps:
    publish(desk, "release")
    (desk / "persons.txt").write_bytes("Jürgen\n".encode("latin-1"))
    (desk / "others.txt").write_text("Jürgen\n", encoding="utf-8")
    yield desk.command("releases", "--person", "persons.txt")
    yield desk.command("releases", "--person", "others.txt")


@follows("cli/options.py", "a line each.")
def ask_for_no_person(desk: Desk) -> Steps:
    publish(desk, "release")
    (desk / "persons.txt").write_text("\n")
    (desk / "others.txt").write_text("\n".join(people()["name"][:2]))
    yield desk.command("releases", "--person", "persons.txt")
    yield desk.command("releases", "--person", "others.txt")


@follows("cli/releases.py", "one of them.")
def ask_for_release_and_person(desk: Desk) -> Steps:
    publish(desk, "release")
    (desk / "persons.txt").write_text(people()["name"][0])
    yield desk.command("releases", "release", "--person", "persons.txt")
    yield desk.command("releases", "release")
    yield desk.command("releases", "--person", "persons.txt")


# Exports.


def database(desk: Desk, name: str = "warehouse", kind: str = "sqlite") -> str:
    return f"{kind}:///{desk / name}.db"


@follows("release/export.py", "--table people, or --table schema.people where the database has that schema.")
def export_to_odd_table(desk: Desk) -> Steps:
    folder = publish_kind("generalized").folder
    yield desk.command("export", folder, database(desk), "--table", " people")
    yield desk.command("export", folder, database(desk), "--table", "people")
    yield desk.command("export", folder, database(desk, "duck", "duckdb"), "--table", "main.people")


@follows("release/export.py", "…:///warehouse.db.")
def export_to_no_file(desk: Desk) -> Steps:
    folder = publish_kind("generalized").folder
    yield desk.command("export", folder, "sqlite:///:memory:", "--table", "people")
    yield desk.command("export", folder, "sqlite:///warehouse.db", "--table", "people")


@follows("release/export.py", "a file, or a name that is not there yet.")
def export_to_a_folder_as_database(desk: Desk) -> Steps:
    folder = publish_kind("generalized").folder
    (desk / "warehouse.db").mkdir()
    yield desk.command("export", folder, database(desk), "--table", "people")
    yield desk.command("export", folder, database(desk, "other"), "--table", "people")
    yield desk.command("export", folder, database(desk, "other"), "--table", "more")


@follows("release/export.py", "other names in the source, and publishing again.")
def export_names_that_differ_in_case(desk: Desk) -> Steps:
    columns = {"age": rt.quasi(), "Age": rt.insensitive(), "illness": rt.sensitive()}
    job = rt.Job(columns=columns, promises=[rt.KAnonymity(3)])
    frame = people().select("age", "illness", Age=pl.int_range(pl.len()) % 3)
    release = rt.publish(job, frame=frame)
    renamed = {**columns, "third": columns["Age"]}
    del renamed["Age"]
    yield lambda: release.to_database(database(desk), "people")
    yield lambda: rt.publish(
        rt.Job(columns=renamed, promises=[rt.KAnonymity(3)]), frame=frame.rename({"Age": "third"})
    ).to_database(database(desk), "people")


@follows("release/export_append.py", "another name.")
def append_to_some_of_the_tables(desk: Desk) -> Steps:
    release = publish_kind("anatomized")
    publish_kind("generalized").to_database(database(desk), "people_quasi")
    yield lambda: release.to_database(database(desk), "people", append=True, batch="one")
    yield lambda: release.to_database(database(desk), "others", append=True, batch="one")


@follows("release/export_append.py", "--replace-batch (replace_batch=True), or another --batch.")
def append_batch_twice(desk: Desk) -> Steps:
    folder = publish_kind("generalized").folder
    words = ("export", folder, database(desk), "--table", "people", "--append", "--batch")
    assert desk.run(*words, "one").code == 0
    yield desk.command(*words, "one")
    yield desk.command(*words, "one", "--replace-batch")
    yield desk.command(*words, "two")
    yield lambda: rt.open(folder).to_database(database(desk), "people", append=True, batch="one", replace_batch=True)


@follows(
    "release/export_append.py",
    "another --table, or batches that were published by one job and exported with the same options.",
)
def append_to_table_without_batches(desk: Desk) -> Steps:
    folder = publish_kind("generalized").folder
    words = ("export", folder, database(desk), "--append", "--batch", "one", "--table")
    assert desk.run("export", folder, database(desk), "--table", "people").code == 0
    assert desk.run(*words, "batches").code == 0
    yield desk.command(*words, "people")
    yield desk.command(*words, "others")
    yield desk.command("export", folder, database(desk), "--append", "--batch", "two", "--table", "batches")


@follows("release/export_append.py", "a day or a week, such as 2024-05-01.")
def append_batch_without_name(desk: Desk) -> Steps:
    folder = publish_kind("generalized").folder
    words = ("export", folder, database(desk), "--table", "people", "--append", "--batch")
    yield desk.command(*words, " ")
    yield desk.command(*words, "2024-05-01")


@follows("release/export_append.py", "--batch-column (batch_column=) with another name.")
def append_batch_named_as_a_column(desk: Desk) -> Steps:
    release = publish_kind("generalized")
    words = ("export", release.folder, database(desk), "--table", "people", "--append", "--batch", "one")
    yield desk.command(*words, "--batch-column", "city")
    yield desk.command(*words, "--batch-column", "week")
    yield lambda: release.to_database(database(desk, "other"), "people", append=True, batch="1", batch_column="week")


@follows("release/release.py", "append=True.")
def write_batch_without_appending(desk: Desk) -> Steps:
    release = publish_kind("generalized")
    yield lambda: release.to_database(database(desk), "people", batch="one")
    yield lambda: release.to_database(database(desk), "people", batch="one", append=True)


@follows("release/release.py", "….")
def write_excel_under_another_ending(desk: Desk) -> Steps:
    yield lambda: publish_kind("generalized").to_excel(desk / "people.xls")
    yield lambda: publish_kind("generalized").to_excel(desk / "people.xlsx")


@follows("release/release.py", "another name.")
def write_excel_as_a_folder(desk: Desk) -> Steps:
    (desk / "people.xlsx").mkdir()
    yield lambda: publish_kind("generalized").to_excel(desk / "people.xlsx")
    yield lambda: publish_kind("generalized").to_excel(desk / "others.xlsx")


@follows("release/release.py", "a name beside the release.")
def export_into_the_release(desk: Desk) -> Steps:
    release = publish(desk, "release")
    yield lambda: release.to_csv(desk / "release" / "csv")
    yield lambda: release.to_csv(desk / "csv")


def write_limited_excel(desk: Desk, bounds: bool = False, **limits: int) -> Callable[[], Any]:
    """Return a call that writes an Excel file whose sheets hold less than those of Excel."""
    release = publish_kind("generalized")
    tables = open_export_tables(release.folder, release.manifest, bounds=bounds)
    sheet = export_files.SheetLimits(**limits)
    return lambda: export_files.write_excel_file(desk / "limited.xlsx", tables, release.manifest, "{}", "0", sheet)


@follows("release/export_files.py", "a folder of CSV files (reticent export RELEASE FOLDER), or a database.")
def write_long_table_to_excel(desk: Desk) -> Steps:
    folder = publish_kind("generalized").folder
    yield write_limited_excel(desk, rows=100)
    yield desk.command("export", folder, "people-csv")
    yield desk.command("export", folder, database(desk), "--table", "people")


@follows("release/export_files.py", "a folder of CSV files (reticent export RELEASE FOLDER), or leaving --bounds out.")
def write_wide_table_to_excel(desk: Desk) -> Steps:
    folder = publish_kind("generalized").folder
    yield write_limited_excel(desk, bounds=True, columns=3)
    yield desk.command("export", folder, "people-csv", "--bounds")
    yield write_limited_excel(desk, columns=3)


@follows("release/export_files.py", "a folder of CSV files.")
def fail_to_write_a_cell(desk: Desk) -> Steps:
    yield lambda: export_files._require_written(-1)
    yield lambda: publish_kind("generalized").to_csv(desk / "people-csv")


@follows("cli/export.py", "the folder that `reticent publish` made.")
def export_what_is_not_there(desk: Desk) -> Steps:
    yield desk.command("export", "nowhere", "people-csv")
    yield desk.command("export", publish_kind("generalized").folder, "people-csv")


@follows("cli/export.py", "--append.")
def export_batch_without_append(desk: Desk) -> Steps:
    words = ("export", publish_kind("generalized").folder, database(desk), "--table", "people", "--batch", "one")
    yield desk.command(*words)
    yield desk.command(*words, "--append")


@follows("cli/export.py", "leaving --append out, with --force where it is to replace an earlier export.")
def append_to_files(desk: Desk) -> Steps:
    folder = publish_kind("generalized").folder
    yield desk.command("export", folder, "people-csv", "--append")
    yield desk.command("export", folder, "people-csv")
    yield desk.command("export", folder, "people-csv", "--force")


@follows("cli/export.py", "--table people.")
def export_without_table(desk: Desk) -> Steps:
    folder = publish_kind("generalized").folder
    yield desk.command("export", folder, database(desk))
    yield desk.command("export", folder, database(desk), "--table", "people")


@follows("cli/export.py", "another --table, and leaving --force out.")
def force_into_a_table(desk: Desk) -> Steps:
    folder = publish_kind("generalized").folder
    yield desk.command("export", folder, database(desk), "--table", "people", "--force")
    yield desk.command("export", folder, database(desk), "--table", "others")


@follows("cli/export.py", "leaving --table out.")
def export_table_to_files(desk: Desk) -> Steps:
    folder = publish_kind("generalized").folder
    yield desk.command("export", folder, "people-csv", "--table", "people")
    yield desk.command("export", folder, "people-csv")


@follows("cli/export.py", "…-csv, ….xlsx, or sqlite:///….db with --table ….")
def export_to_a_file_of_another_kind(desk: Desk) -> Steps:
    folder = publish_kind("generalized").folder
    yield desk.command("export", folder, "people.csv")
    yield desk.command("export", folder, "people-csv")
    yield desk.command("export", folder, "people.xlsx")
    yield desk.command("export", folder, "sqlite:///people.db", "--table", "people")


# Reports.


def copy_release(desk: Desk) -> Path:
    return publish(desk, "release").folder


@follows("cli/report.py", "the folder that `reticent publish` made.")
def report_what_is_not_there(desk: Desk) -> Steps:
    yield desk.command("report", "nowhere")
    yield desk.command("report", copy_release(desk), "--format", "md")


@follows("cli/report.py", "--format html, md, json or pdf.")
def report_in_another_format(desk: Desk) -> Steps:
    folder = copy_release(desk)
    put_browser(desk, PRINTING)
    desk.patch.setenv("PATH", str(desk / "bin"))
    yield desk.command("report", folder, "--format", "docx")
    for form in ("html", "md", "json", "pdf"):
        yield desk.command("report", folder, "--format", form)


@follows("cli/report.py", "… --source DATA.")
def report_internally_without_source(desk: Desk) -> Steps:
    write_files(desk)
    folder = copy_release(desk)
    yield desk.command("report", folder, "--internal", "--format", "md")
    words = ("--source", "people.csv", "--format", "md", "--budget", "1")
    yield desk.command("report", folder, "--internal", *words)
    yield desk.command("report", folder, "--committee", *words)


@follows("cli/report.py", "--internal, or leaving --source and the rest out.")
def report_publicly_with_source(desk: Desk) -> Steps:
    write_files(desk)
    folder = copy_release(desk)
    words = ("--source", "people.csv", "--format", "md", "--budget", "1")
    yield desk.command("report", folder, *words)
    yield desk.command("report", folder, "--internal", *words)
    yield desk.command("report", folder, "--format", "md")


def put_browser(desk: Desk, *lines: str) -> None:
    """Put a program on the path that is taken for Chromium."""
    folder = desk / "bin"
    folder.mkdir(exist_ok=True)
    (folder / "chromium").write_text("\n".join(("#!/bin/sh", *lines, "")))
    (folder / "chromium").chmod(0o755)


PRINTING = 'for word in "$@"; do case $word in --print-to-pdf=*) echo %PDF > "${word#--print-to-pdf=}";; esac; done'


@follows("report/pdf.py", "--format html, which every browser prints, or installing chromium.")
def print_report_without_browser(desk: Desk) -> Steps:
    folder = copy_release(desk)
    (desk / "bin").mkdir()
    desk.patch.setenv("PATH", str(desk / "bin"))
    yield desk.command("report", folder, "--format", "pdf")
    yield desk.command("report", folder, "--format", "html")
    put_browser(desk, PRINTING)
    yield desk.command("report", folder, "--format", "pdf")


@follows("report/pdf.py", "--format html, which every browser prints.")
def print_report_by_a_browser_that_does_not(desk: Desk) -> Steps:
    folder = copy_release(desk)
    put_browser(desk, "exit 1")
    desk.patch.setenv("PATH", str(desk / "bin"))
    yield desk.command("report", folder, "--format", "pdf")
    yield desk.command("report", folder, "--format", "html")


@follows("report/paths.py", "a file elsewhere, or -o … with --format html.")
def report_into_the_release(desk: Desk) -> Steps:
    folder = copy_release(desk)
    yield desk.command("report", folder, "-o", folder / "notes.md", "--format", "md")
    yield desk.command("report", folder, "-o", "notes.md", "--format", "md")
    yield desk.command("report", folder, "-o", folder / "report.html", "--format", "html")


@follows("report/paths.py", "leaving -o out: it goes to the owner's folder.")
def report_internally_into_the_release(desk: Desk) -> Steps:
    write_files(desk)
    folder = copy_release(desk)
    words = ("report", folder, "--internal", "--source", "people.csv", "--format", "md", "--budget", "1")
    yield desk.command(*words, "-o", folder / "report.md")
    yield desk.command(*words)


@follows("report/paths.py", "leaving -o out, or RETICENT_OWNER for another owner's folder.")
def report_internally_elsewhere(desk: Desk) -> Steps:
    write_files(desk)
    folder = copy_release(desk)
    words = ("report", folder, "--internal", "--source", "people.csv", "--format", "md", "--budget", "1")
    yield desk.command(*words, "-o", "other/report.md")
    yield desk.command(*words)
    desk.patch.setenv("RETICENT_OWNER", str(desk / "other"))
    yield desk.command(*words, "-o", "other/report.md")


@follows("report/paths.py", "the name of a file.")
def report_to_a_folder(desk: Desk) -> Steps:
    folder = copy_release(desk)
    (desk / "notes.md").mkdir()
    yield desk.command("report", folder, "-o", "notes.md")
    yield desk.command("report", folder, "-o", "others.md")


@follows("report/paths.py", "another name, or --force.")
def report_again(desk: Desk) -> Steps:
    folder = copy_release(desk)
    (desk / "notes.md").write_text("mine")
    yield desk.command("report", folder, "-o", "notes.md")
    yield desk.command("report", folder, "-o", "others.md")
    yield desk.command("report", folder, "-o", "notes.md", "--force")


@follows("report/paths.py", "another name.")
def report_where_another_process_did(desk: Desk) -> Steps:
    def fail(*arguments: Any, **named: Any) -> Any:
        raise FileExistsError

    folder = copy_release(desk)
    report = desk.command("report", folder, "-o", "notes.md")
    yield desk.with_setting(report_paths.staging, "stage_file", fail, report)
    yield desk.command("report", folder, "-o", "others.md")


@follows("report/report.py", "source=..., the data that the release was made from.")
def report_to_committee_without_source(desk: Desk) -> Steps:
    release = publish_kind("generalized")
    yield lambda: rt.report(release, committee=True)
    yield lambda: rt.report(release, committee=True, source=people(), budget=1)


@follows("report/report.py", "committee=True with source=...")
def fill_fields_of_a_public_report(desk: Desk) -> Steps:
    release = publish_kind("generalized")
    yield lambda: rt.report(release, about={"purpose": "a study"})
    yield lambda: rt.report(release, about={"purpose": "a study"}, committee=True, source=people(), budget=1)
