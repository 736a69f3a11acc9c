"""The list of releases, and what withdrawing one undoes and what not."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import reticent as rt
from reticent.errors import AlreadyPublished, OutputExists, RequestError
from reticent.ledger.ledger import Ledger
from reticent.ledger.paths import resolve_notes_folder
from reticent.ledger.withdrawals import WITHDRAWALS_FILE
from reticent.operating_system import get_user_name
from tests.support import contract_examples
from tests.support.ledger_tables import COLUMNS, job, people


@pytest.fixture
def published(tmp_path) -> Path:
    rt.publish(job(), frame=people(), to=tmp_path / "one")
    return tmp_path / "one"


def test_a_ledger_that_is_not_there_knows_no_release(tmp_path):
    assert rt.releases(ledger=tmp_path / "none") == []
    assert not (tmp_path / "none").exists()


def test_the_list_says_what_was_published_when_by_whom_and_from_where(tmp_path):
    people().write_csv(tmp_path / "people.csv")
    release = rt.publish(job(tmp_path / "people.csv"), to=tmp_path / "one")
    (known,) = rt.releases()
    assert (known.release, known.path, known.digest) == ("one", tmp_path.resolve() / "one", release.digest)
    assert (known.kind, known.published, known.withheld, known.rows) == ("generalized", 300, 0, 300)
    assert known.user == get_user_name()
    assert known.source == str(tmp_path / "people.csv")
    assert [promise["model"] for promise in known.promises] == ["k-anonymity"]
    assert (known.state, known.withdrawal, known.counts) == ("in place", None, True)


def test_the_list_has_the_title_that_the_job_gives(tmp_path):
    job = rt.Job(
        columns=contract_examples.columns("illness"), promises=rt.KAnonymity(3), about={"title": "Wages of 2024"}
    )
    rt.publish(job, frame=contract_examples.people(), to=tmp_path / "titled")
    (known,) = [one for one in rt.releases() if one.release == "titled"]
    assert known.title == "Wages of 2024" and known.to_dict()["title"] == "Wages of 2024"


def test_the_source_is_listed_without_its_password(tmp_path):
    from reticent.data.source import Source
    from reticent.ledger.commit import _describe_source

    told = _describe_source(Source(url="postgresql://me:secret@host/db", table="people"))
    assert "secret" not in told and told.endswith("people")


def test_the_state_tells_a_release_that_is_gone_changed_or_replaced(tmp_path, published):
    rt.publish(job(), frame=people(), to=published, force=True, again=True)
    assert [one.state for one in rt.releases()] == ["replaced", "in place"]
    (published / "manifest.json").write_text("{}")
    assert rt.releases()[-1].state == "changed"
    published.rename(tmp_path / "elsewhere")
    assert rt.releases()[-1].state == "gone"


def test_entries_of_older_versions_are_listed_without_what_they_did_not_record(published):
    path = Ledger.open().folder / "ledger.jsonl"
    entry = json.loads(path.read_text())
    for name in ("user", "kind", "published", "withheld", "source"):
        entry.pop(name)
    path.write_text(json.dumps(entry) + "\n")
    (known,) = rt.releases()
    assert (known.user, known.kind, known.published, known.source) == (None, None, None, None)
    assert rt.withdraw(published, reason="old")[0].withdrawal is not None


def test_a_withdrawn_release_still_counts(tmp_path, published):
    (known,) = rt.withdraw(published, reason="wrong  column\n")
    assert known.withdrawal is not None and known.counts
    assert (known.withdrawal.reason, known.withdrawal.user) == ("wrong column", get_user_name())
    assert published.exists()
    with pytest.raises(AlreadyPublished):
        rt.publish(job(), frame=people(), to=tmp_path / "two")
    second = rt.publish(job(), frame=people(), to=tmp_path / "two", again=True)
    assert any("Joined with 'one'" in notice for notice in second.notices)


def test_one_that_was_never_handed_out_no_longer_counts(tmp_path, published):
    (known,) = rt.withdraw(published, reason="a trial", never_handed_out=True)
    assert not known.counts
    second = rt.publish(job(), frame=people(), to=tmp_path / "two")
    assert rt.releases()[-1].repeats == ()
    assert not any("oined" in notice for notice in second.notices)
    third = rt.publish(job(), frame=people(), to=tmp_path / "three", again=True)
    joined = [notice for notice in third.notices if "Joined with" in notice]
    assert len(joined) == 1 and "'two'" in joined[0] and "'one'" not in joined[0]


def test_a_limit_on_what_releases_say_together_leaves_out_one_that_was_never_handed_out(tmp_path, published):
    rt.withdraw(published, reason="a trial", never_handed_out=True, delete=True)
    limited = job().at(release=rt.Output(undeclared="drop", together=0.3))
    rt.publish(limited, frame=people(), to=tmp_path / "two", again=True)


def test_a_statement_that_was_wrong_is_corrected(tmp_path, published):
    rt.withdraw(published, reason="a trial", never_handed_out=True)
    assert rt.withdraw(published, reason="found a copy", never_handed_out=False)[0].counts
    with pytest.raises(AlreadyPublished):
        rt.publish(job(), frame=people(), to=tmp_path / "two")


def test_a_statement_made_before_stays_where_nothing_is_stated(published):
    rt.withdraw(published, reason="a trial", never_handed_out=True)
    assert not rt.withdraw(published, reason="its folder goes", delete=True)[0].counts


def test_withdrawing_twice_is_refused_unless_it_states_something_new(published):
    rt.withdraw(published, reason="first")
    before = (Ledger.open().folder / WITHDRAWALS_FILE).read_bytes()
    with pytest.raises(RequestError, match="withdrawn before"):
        rt.withdraw(published, reason="second")
    assert (Ledger.open().folder / WITHDRAWALS_FILE).read_bytes() == before
    assert not rt.withdraw(published, reason="third", never_handed_out=True)[0].counts
    assert rt.withdraw(published, reason="fourth", delete=True)[0].state == "gone"
    with pytest.raises(RequestError, match="withdrawn before"):
        rt.withdraw(published, reason="fifth", delete=True)


@pytest.mark.parametrize("named", ["nothing", "0123456789abcdef"])
def test_an_unknown_release_is_refused(published, named):
    with pytest.raises(RequestError, match="knows no release"):
        rt.withdraw(named, reason="why not")
    assert not (Ledger.open().folder / WITHDRAWALS_FILE).exists()


def test_without_a_ledger_nothing_is_made(tmp_path):
    with pytest.raises(RequestError, match="knows no release"):
        rt.withdraw("one", reason="why not", ledger=tmp_path / "none")
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("reason", ["", " \n\t", "x" * 1_001])
def test_a_reason_is_a_line(published, reason):
    with pytest.raises(RequestError, match="reason"):
        rt.withdraw(published, reason=reason)


def test_a_release_is_named_by_its_folder_its_name_or_its_digest(tmp_path, published, monkeypatch):
    digest = rt.releases()[0].digest
    monkeypatch.chdir(tmp_path)
    for number, name in enumerate(("one", published, digest[:8], digest)):
        rt.withdraw(name, reason="again", never_handed_out=number % 2 == 0)
    monkeypatch.chdir("/")
    rt.withdraw("one", reason="again", never_handed_out=True)


def test_a_name_that_two_releases_have_is_refused(tmp_path):
    for number in (1, 2):
        rt.publish(job(), frame=people(seed=number), to=tmp_path / str(number) / "same")
    with pytest.raises(RequestError, match="2 releases of the name"):
        rt.withdraw("same", reason="which")
    assert rt.withdraw(tmp_path / "2" / "same", reason="this")[0].folder == str(tmp_path.resolve() / "2")
    assert [one.withdrawal is None for one in rt.releases()] == [True, False]


def test_a_replaced_release_is_withdrawn_by_its_digest_and_the_latest_by_its_folder(published):
    rt.publish(job(), frame=people(), to=published, force=True, again=True)
    first, second = rt.releases()
    assert rt.withdraw(published, reason="the latest")[0].digest == second.digest
    assert rt.withdraw(first.digest[:12], reason="the first")[0].digest == first.digest
    with pytest.raises(OutputExists, match="a later release"):
        rt.withdraw(first.digest, reason="its folder", delete=True)


def test_deleting_removes_the_folder_and_leaves_the_notes(tmp_path, published):
    (known,) = rt.withdraw(published, reason="wrong", delete=True)
    assert known.state == "gone"
    assert not published.exists()
    assert not list(tmp_path.glob(".reticent*"))
    assert (resolve_notes_folder(published) / "digest.txt").read_text().strip() == known.digest


def test_a_folder_that_is_not_the_one_published_is_not_removed(published):
    (published / "manifest.json").write_text("{}")
    with pytest.raises(OutputExists, match="something else"):
        rt.withdraw(published, reason="wrong", delete=True)
    assert published.exists()
    assert rt.releases()[0].withdrawal is None
    rt.withdraw(published, reason="wrong")


def test_a_folder_that_is_gone_is_withdrawn(tmp_path, published):
    published.rename(tmp_path / "moved")
    assert rt.withdraw(published, reason="lost", delete=True)[0].state == "gone"


def test_a_folder_of_another_user_is_not_removed(published, monkeypatch):
    from reticent import operating_system
    from reticent.ledger import release_desk

    monkeypatch.setattr(operating_system, "belongs_to_other_user", lambda *_: True)
    monkeypatch.setattr(release_desk.journal, "recover", lambda *_: [])
    monkeypatch.setattr(release_desk.journal, "settle_journal", lambda *_: None)
    with pytest.raises(OutputExists, match="another user's"):
        rt.withdraw(published, reason="wrong", delete=True)
    assert published.exists()
    assert rt.releases()[0].withdrawal is None


def batches(folder: Path) -> None:
    import polars as pl

    rows = people().with_columns(pl.Series("day", [f"day{at % 2}" for at in range(300)]))
    rt.publish_batches(job(columns=COLUMNS), "day", folder, frame=rows)


def test_a_folder_of_batches_means_all_of_them(tmp_path):
    batches(tmp_path / "out")
    withdrawn = rt.withdraw(tmp_path / "out", reason="all", delete=True)
    assert [one.release for one in withdrawn] == ["day0", "day1"]
    assert not list((tmp_path / "out").glob("day*"))
    assert len((Ledger.open().folder / WITHDRAWALS_FILE).read_text().splitlines()) == 1


def test_people_of_a_batch_that_was_never_handed_out_may_be_published(tmp_path):
    batches(tmp_path / "out")
    rt.withdraw(tmp_path / "out" / "day0", reason="a trial", never_handed_out=True)
    rt.publish(job(), frame=people()[::2], to=tmp_path / "first half")
    with pytest.raises(AlreadyPublished):
        rt.publish(job(), frame=people()[1::2], to=tmp_path / "second half")


@pytest.mark.parametrize(
    "line",
    [
        "[]",
        "{}",
        '{"releases": [], "at": "", "user": "", "reason": "", "never_handed_out": true}',
        '{"releases": [{"folder": 1, "release": "one", "digest": ""}], "at": "", "user": "", "reason": "", "never_handed_out": true}',
        '{"releases": [{"folder": "", "release": "one", "digest": ""}], "at": "", "user": "", "reason": "", "never_handed_out": 1}',
        "[" * 100_000,
        "\udcff",
    ],
)
def test_a_damaged_list_of_withdrawals_is_refused(tmp_path, published, line):
    path = Ledger.open().folder / WITHDRAWALS_FILE
    path.write_bytes(line.encode(errors="surrogateescape") + b"\n")
    for call in (
        rt.releases,
        lambda: rt.withdraw(published, reason="wrong"),
        lambda: rt.publish(job(), frame=people(seed=2), to=tmp_path / "two"),
    ):
        with pytest.raises(RequestError, match=r"withdrawals\.jsonl is missing or cannot be read"):
            call()
    assert rt.open(published).withdrawal is None


def test_half_a_line_at_the_end_counts_for_nothing_and_is_written_over(published):
    path = Ledger.open().folder / WITHDRAWALS_FILE
    path.write_text('{"releases": [{"fol')
    assert rt.releases()[0].withdrawal is None
    rt.withdraw(published, reason="wrong")
    assert rt.releases()[0].withdrawal is not None
    assert len(path.read_text().splitlines()) == 1


def test_a_list_of_withdrawals_that_is_a_link_is_not_followed(tmp_path, published):
    (tmp_path / "target").write_text("")
    (Ledger.open().folder / WITHDRAWALS_FILE).symlink_to(tmp_path / "target")
    with pytest.raises(RequestError, match="is a link"):
        rt.withdraw(published, reason="wrong")
    assert (tmp_path / "target").read_text() == ""


def test_only_the_owner_can_read_the_withdrawals_and_a_team_shares_its_own(tmp_path, published):
    before = os.umask(0)
    try:
        rt.withdraw(published, reason="wrong")
        team = tmp_path / "team"
        team.mkdir()
        team.chmod(0o770)
        rt.publish(job(), frame=people(), to=tmp_path / "two", ledger=team)
        rt.withdraw(tmp_path / "two", reason="wrong", ledger=team)
    finally:
        os.umask(before)
    assert (Ledger.open().folder / WITHDRAWALS_FILE).stat().st_mode & 0o777 == 0o600
    assert (team / WITHDRAWALS_FILE).stat().st_mode & 0o777 == 0o660


def test_the_owner_s_audit_says_that_it_was_withdrawn_and_a_recipient_s_does_not(tmp_path, published, monkeypatch):
    rt.withdraw(published, reason="a name in it")
    told = rt.audit(published)
    assert told.kept and "withdrawn on" in str(told)
    assert set(told.to_dict()["withdrawn"]) == {"at", "says"}
    assert rt.open(published).withdrawal is not None
    monkeypatch.setenv("RETICENT_LEDGER", str(tmp_path / "another"))
    assert "withdrawn" not in rt.audit(published).to_dict()
    assert rt.open(published).withdrawal is None
