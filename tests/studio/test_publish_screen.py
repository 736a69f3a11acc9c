"""The screen Publish: what a release says of itself, making it, cancelling, two verdicts, and people published before."""

from __future__ import annotations

import json
import shlex
import time
from decimal import Decimal

import pytest

import reticent as rt
from reticent.cli.main import main
from reticent.report.public import MEASURE_EXPLANATIONS
from reticent.studio import measure_meanings, publication
from reticent.studio.screens import publish as screen
from tests.studio.client import Steward, read_text
from tests.studio.finished_runs import add_finished_run

HOSTILE = "<script>alert(1)</script>"
REFUSAL = {"error": {"what": "The same rows were published before.", "why": "They can be joined.", "try": "--again."}}


def publish_here(folder, name, *options):
    """Publish the folder's job by the command line, in this process; return what it printed as JSON."""
    assert main(["publish", str(folder / "job.toml"), "-o", str(folder / name), *options]) in (0, None)


@pytest.fixture
def publisher(demo_folder):
    """A steward with a release that was made before the studio was started."""
    publish_here(demo_folder, "release")
    return Steward(demo_folder)


@pytest.fixture
def still(monkeypatch):
    """Runs that are asked for are noted and not started."""
    started = []

    def note(runs, words, key, **options):
        started.append(tuple(words))

    monkeypatch.setattr("reticent.studio.runs.Runs.start", note)
    return started


def refuse_because_published(steward, *words):
    add_finished_run(steward.desk, publication.RUN_KEY, REFUSAL, exit_code=5, words=("publish", "job.toml", *words))


def test_one_click_publishes_and_shows_both_verdicts_and_all_of_the_audit(steward):
    assert "There is no release yet." in steward.look("publish") and not screen.is_done(steward.desk)
    page = steward.press("publish", "save", then="publish", name="census-2024", title=HOSTILE, recipients="A\r\nB")
    assert "sse-connect" in page and "The release is being made." in page
    assert steward.wait().succeeded
    page = steward.look("publish")
    text = read_text(page)
    assert "This release alone" in text and "Both promises are kept." in text
    assert "With earlier releases" in text and "No earlier release of these people is known." in text
    assert "is what a row keeps of its description." in text and "keeps least" in text
    assert all(question in text for question in measure_meanings.QUESTIONS)
    assert HOSTILE not in page and "style=" not in page.partition("<main")[2].partition("</main>")[0]
    release = rt.open(steward.desk.project.folder / "census-2024")
    assert release.about == {"title": HOSTILE, "recipients": ["A", "B"]}
    assert screen.is_done(steward.desk) and not screen.find_obstacle(steward.desk)
    steward.desk.job_file.set_field(["method", "name"], "mosaic")
    assert "The job has changed since" in steward.look("publish")


def test_a_cancelled_publication_leaves_the_old_release_or_the_new_one(publisher):
    before = (publisher.desk.project.folder / "release" / "manifest.json").read_bytes()
    publisher.press("publish", "save", then="publish", name="release", replace="yes")
    run = list(publisher.desk.runs._runs.values())[-1]
    assert run.words[-1] == "--force"
    time.sleep(0.3)
    publisher.press(f"runs/{run.id}", "cancel", screen="publish")
    publisher.wait(run)
    assert (publisher.desk.project.folder / "release" / "manifest.json").read_bytes() == before or run.succeeded
    if not run.succeeded:
        assert "Cancelled." in read_text(publisher.look("publish")) or run.exit_code == 5


def test_after_the_studio_was_closed_the_notes_and_the_ledger_say_what_was_published(publisher):
    text = read_text(publisher.look("publish"))
    assert "Both promises are kept." in text and "No earlier release of these people is known." in text
    publish_here(publisher.desk.project.folder, "second", "--again")
    text = read_text(publisher.look("publish"))
    assert "Together with &#39;release&#39;, k-anonymity and beta-likeness no longer hold." in text
    assert "alone: " in text and "together: " in text and "stand" in text, "what both say together was joined"
    assert "Promise by promise" in text
    assert "From your notes" in text, "the files were not recounted for this page"
    manifest = publisher.desk.project.folder / "second" / "manifest.json"
    manifest.write_bytes(manifest.read_bytes() + b"\n")
    assert "was changed since it was published" in read_text(publisher.look("publish"))
    notes = publisher.desk.project.folder / "reticent-owner" / "second"
    for content in (b"{", b"[]"):
        (notes / "audit.json").write_bytes(content)
        assert "no longer hold" not in read_text(publisher.look("publish"))


def test_what_publishing_says_of_earlier_releases_is_read_as_numbers():
    sentence = (
        "Joined with 'first': 3.0% of 48,842 people have a value that is believed at .5 or more (0.0% from one release "
        "alone); the worst belief is 0.711 (0.387 alone). 907 stand above what one of them promises."
    )
    assert publication.read_beliefs(["another", sentence]) == (0.387, 0.711)
    assert publication.read_beliefs(["another"]) is None
    together = publication._describe_together({"together": ["They are in 2 releases."], "notices": [sentence]})
    assert "907 people stand above" in together["above"] and "71\u00a0%" in together["drawing"]
    assert together["headline"] == "These people are in several releases"


def test_people_who_were_published_before_are_met_with_three_choices(publisher, still):
    refuse_because_published(publisher, "--output", "second", "--force")
    text = read_text(publisher.look("publish"))
    assert "These people were published before" in text and "They can be joined." in text
    assert "Withdraw an earlier release" in text
    assert "The job has no identifying column" in text, "nothing says who is new"
    publisher.press("publish", "repeat", choice="again", status=422)
    publisher.press("publish", "repeat", choice="odd", status=422)
    assert not still
    publisher.press("publish", "repeat", choice="again", confirmed="yes")
    assert still[-1] == ("publish", "job.toml", "--output", "release", "--again", "--force")
    publisher.press("publish", "repeat", choice="new")
    assert "--only-new" in still[-1]
    (publisher.desk.project.folder / "job.toml").write_text(
        publisher.desk.job_file.text.replace(
            'gender         = { role = "quasi-identifying" }', 'gender = "identifying"'
        )
    )
    assert 'id="only-new"' in publisher.look("publish")


def test_a_second_publication_of_the_same_people_is_refused_by_the_run_and_published_again_after_a_yes(publisher):
    publisher.press("publish", "save", then="publish", name="second")
    assert publisher.wait().exit_code == 5
    page = publisher.look("publish")
    assert 'id="repeat"' in page and not (publisher.desk.project.folder / "second").exists()
    publisher.press("publish", "repeat", choice="again", confirmed="yes")
    assert publisher.wait().succeeded
    text = read_text(publisher.look("publish"))
    assert "Together with &#39;release&#39;" in text and "second" in text
    assert "again=True" in screen.write_commands(publisher.desk).python


def test_no_choice_is_taken_where_nothing_was_refused(steward):
    steward.press("publish", "repeat", choice="again", confirmed="yes", status=422)


def test_about_is_written_field_by_field_and_comments_stay(steward, still):
    steward.press("publish", "save", title="Census", recipients="A\n\n B ", keeps="", name="release")
    assert steward.job["about"] == {"title": "Census", "recipients": ["A", "B"]} and not still
    assert steward.desk.job_file.text.startswith("# Made by")
    text = steward.desk.job_file.text
    steward.press("publish", "save", title="Census", recipients="A\nB")
    assert steward.desk.job_file.text == text, "what is as it was is not written"
    steward.press("publish", "save", title="", recipients="")
    assert "about" not in steward.job
    steward.press("publish", "save", title="x" * 300, status=422)
    assert "about" not in steward.job, "a text that cannot be published changes nothing"


def test_a_job_by_hand_keeps_its_own_about(steward):
    steward.desk.job_file.set_field(["about"], {"title": "By hand", "recipients": "one text", "earlier": ["a", "b"]})
    before = steward.desk.job_file.text
    page = steward.look("publish")
    assert 'value="By hand"' in page and "one text</textarea>" in page and "a\nb</textarea>" in page
    steward.press("publish", "save", title="By hand", recipients="one text", earlier="a\nb", keeps="")
    assert steward.desk.job_file.text == before
    steward.desk.job_file.write(before.replace("[about]", "about = 3\n[x]"))
    assert "not valid yet" in steward.look("publish")


@pytest.mark.parametrize(("kept", "loss"), [("60", 0.4), ("100", 0), ("0", 1), ("82.5", 0.175)])
def test_what_a_row_must_keep_is_the_loss_that_the_job_allows(steward, kept, loss):
    page = steward.press("publish", "save", keeps=kept)
    assert float(steward.job["release"]["loss_at_most"]) == loss and f'value="{kept}"' in page
    assert steward.desk.read_job() is not None
    steward.press("publish", "save", keeps="")
    assert "loss_at_most" not in steward.job["release"]


@pytest.mark.parametrize("kept", ["101", "-1", "x", "nan", "1e400", "0." + "1" * 20])
def test_an_odd_share_to_keep_is_refused(steward, kept):
    before = steward.desk.job_file.text
    steward.press("publish", "save", keeps=kept, status=422)
    assert steward.desk.job_file.text == before


@pytest.mark.parametrize("limit", ['"1/3"', "true", '"x"', "[]"])
def test_a_limit_by_hand_that_is_no_decimal_is_left_alone(steward, limit):
    steward.desk.job_file.write(f"{steward.desk.job_file.text}\n[release]\nloss_at_most = {limit}\n")
    before = steward.desk.job_file.text
    assert steward.press("publish", "save", keeps="")
    assert steward.desk.job_file.text == before


@pytest.mark.parametrize("name", ["../out", "/tmp/out", ".hidden", "-o", "a/b", "a\x00b", "x" * 200, "--force"])
def test_a_release_is_made_in_the_folder_alone(steward, still, name):
    steward.press("publish", "save", then="publish", name=name, status=422)
    assert not still


def test_what_is_there_is_replaced_only_after_a_tick_and_only_where_it_is_a_release(publisher, still):
    publisher.press("publish", "save", then="publish", name="release", status=422)
    publisher.press("publish", "save", then="publish", name="hierarchies", replace="yes", status=422)
    assert not still
    (publisher.desk.project.folder / "away").symlink_to("release")
    publisher.press("publish", "save", then="publish", name="away", replace="yes", status=422)
    assert not still
    publisher.press("publish", "save", then="publish", name="release", replace="yes")
    assert still == [("publish", "job.toml", "--output", "release", "--force")]


@pytest.mark.parametrize("seed", ["-1", "1.5", "x", "9" * 30, "²"])
def test_an_odd_seed_is_refused(steward, still, seed):
    steward.press("publish", "save", then="publish", seed=seed, status=422)
    assert not still


def test_without_a_valid_job_nothing_is_published(newcomer, still):
    newcomer.press("publish", "save", then="publish", name="release", status=422)
    newcomer.desk.job_file.write("[source]\npath = 1\n")
    newcomer.press("publish", "save", then="publish", name="release", status=422)
    assert not still and "There is no release yet." in newcomer.look("publish")


def test_a_failure_and_a_publication_that_still_runs_are_found_by_a_reload(steward):
    add_finished_run(steward.desk, publication.RUN_KEY, {"error": {"what": HOSTILE}}, exit_code=2)
    page = steward.look("publish")
    assert "Nothing was published" in page and "&lt;script&gt;" in page and "<script>alert" not in page
    add_finished_run(steward.desk, publication.RUN_KEY, None, exit_code=None, words=("publish",))
    for _ in range(2):
        page = steward.look("publish")
        assert "sse-connect" in page and 'id="publish"' not in page
    steward.desk.job_file.set_field(["about", "title"], "edited meanwhile")
    assert "sse-connect" in steward.look("publish"), "an edit does not hide what runs"
    assert screen.find_obstacle(steward.desk) == "The release is being made."


def test_the_lines_shown_publish_the_same(demo_folder, monkeypatch):
    steward = Steward(demo_folder)
    steward.press("publish", "save", name="by hand", seed="7")
    monkeypatch.chdir(demo_folder)
    commands = screen.write_commands(steward.desk)
    assert main(shlex.split(commands.shell.replace("\\\n", " "))[1:]) in (0, None)
    assert (demo_folder / "by hand" / "manifest.json").is_file()
    called = {}
    monkeypatch.setattr(rt, "publish", lambda job, **options: called.update(options) or pytest)
    exec(commands.python.replace("release.audited", "1"), {})
    assert called == {"to": "by hand", "seed": 7}


def test_every_measure_of_an_audit_has_a_meaning_and_a_direction(publisher):
    report = json.loads((publisher.desk.project.folder / "reticent-owner" / "release" / "audit.json").read_text())
    groups = measure_meanings.group_measures(report)
    assert [group["question"] for group in groups] == list(measure_meanings.QUESTIONS)
    assert all(row["meaning"] and row["direction"] for group in groups for row in group["rows"])
    known = {name for measures in measure_meanings.QUESTIONS.values() for name in measures}
    assert set(MEASURE_EXPLANATIONS) - {"ail_by_column"} <= known


def test_a_measure_of_another_version_is_shown_without_a_meaning():
    groups = measure_meanings.group_measures({"achieved": {"new": True, "list": [1, None], "text": "x"}, "utility": {}})
    assert [row["value"] for row in groups[0]["rows"]] == ["yes", "1; none holds", "x"]
    assert groups[0]["question"] == measure_meanings.OTHER_QUESTION


@pytest.mark.parametrize(
    ("verdict", "promises"), [("undecided", 1), ("broken", 3), ("kept", 1), ("kept", 3), ("kept", 0)]
)
def test_every_verdict_is_said_in_words(verdict, promises):
    promise = {
        "model": "p-privacy",
        "column": "pay",
        "asked": {"target": {"a": 1}},
        "achieved": None,
        "kept": None,
        "why": "w",
    }
    described = publication.describe_publication(
        {
            "release": "r",
            "digest": "d",
            "rows": 1,
            "groups": 1,
            "withheld": 0,
            "verdict": verdict,
            "promises": [promise] * promises,
            "achieved": {},
            "left": {"says": "s", "row_keeps": None},
        }
    )
    assert described["is_kept"] == (verdict == "kept" and promises > 0)
    assert described["headline"] and described["keeps"] is None and described["left"] == "s"


def test_a_form_that_another_tab_made_old_changes_only_what_was_typed(steward, still):
    steward.press("publish", "save", title="From the other tab", keeps="40")
    steward.press(
        "publish", "save", publisher="Typed", **{"title": "", "shown title": "", "keeps": "", "shown keeps": ""}
    )
    assert steward.job["about"] == {"title": "From the other tab", "publisher": "Typed"}
    assert steward.job["release"]["loss_at_most"] == Decimal("0.6")
