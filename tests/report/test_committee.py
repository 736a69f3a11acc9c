"""The committee's document: the internal edition with a request, findings and a decision to fill in, for the owner."""

from __future__ import annotations

import json
import stat

import pytest

import reticent as rt
from reticent import catalogue
from reticent.errors import RequestError
from reticent.report.committee import BLANK
from tests.support import contract_examples as contract
from tests.support.folder_contents import contents

FIRST_SECTIONS = ["request", "subject", "findings", "decision"]


def find_rows(facts, section_id, caption):
    section = next(section for section in facts["sections"] if section["id"] == section_id)
    return next(part["table"]["rows"] for part in section["parts"] if part.get("table", {}).get("caption") == caption)


@pytest.mark.parametrize("kind", list(catalogue.KINDS))
def test_every_kind_has_a_document_with_the_internal_edition_behind_it(kind, kinds):
    document = rt.report(kinds[kind], source=contract.people(), committee=True, budget=1)
    internal = rt.report(kinds[kind], source=contract.people(), budget=1)
    listed = [section["id"] for section in document.facts["sections"]]
    assert listed == FIRST_SECTIONS + [section["id"] for section in internal.facts["sections"]]
    assert document.facts["edition"] == "committee"
    assert "Never to be handed out" in document.markdown()
    subject = dict(find_rows(document.facts, "subject", "The release"))
    assert subject["digest"] == document.facts["digest"]
    assert subject["kind"] == kind


def test_what_is_stated_is_filled_in_and_the_rest_is_a_line_to_write_on(canaries):
    release, people = canaries
    about = {"purpose": "a study <of> wages", "recipients": ["an institute", "its guests"]}
    facts = rt.report(release, source=people, committee=True, about=about, budget=1).facts
    request = dict(find_rows(facts, "request", "Who asks, and what for"))
    assert request["purpose of the release"] == "a study <of> wages"
    assert request["recipients"] == "an institute, its guests"
    assert request["licence or terms of use"] == BLANK
    assert {entry for _, entry in find_rows(facts, "decision", "To be filled in")} == {BLANK}
    assert len(find_rows(facts, "decision", "Signatures")) == 3


def test_the_findings_are_those_of_the_annex(canaries):
    release, people = canaries
    facts = rt.report(release, source=people, committee=True, budget=1).facts
    assert find_rows(facts, "findings", "Re-identification, before and after") == find_rows(
        facts, "risks", "Re-identification"
    )
    shown = {row[0] for row in find_rows(facts, "findings", "Promises, recounted against the source")}
    assert shown == {"k-anonymity"}


def test_a_name_that_a_request_has_not_is_refused(canaries):
    with pytest.raises(RequestError, match="purpos"):
        rt.report(canaries[0], source=canaries[1], committee=True, about={"purpos": "x"}, budget=1)
    with pytest.raises(RequestError, match="committee"):
        rt.report(canaries[0], about={"purpose": "x"})
    with pytest.raises(RequestError, match="none is given"):
        rt.report(canaries[0], committee=True)


@pytest.mark.parametrize("form", ["html", "md"])
def test_the_command_writes_it_among_the_owners_notes_for_the_owner_alone(place, run, form):
    before = contents(place / "release")
    code, out, _ = run(
        "report", "release", "--committee", "--source", "people.csv", "--format", form, "--budget", "1", "--json"
    )
    assert code == 0
    told = json.loads(out)
    assert told["edition"] == "committee"
    written = place / told["report"]
    assert written.name == f"committee.{form}"
    assert stat.S_IMODE(written.stat().st_mode) == 0o600
    assert contents(place / "release") == before
    assert "Decision" in written.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--committee",), "none is given"),
        (("--committee", "--source", "people.csv", "-o", "release/committee.html"), "lies in the release folder"),
        (("--committee", "--source", "people.csv", "-o", "mine.html"), "outside of the owner's"),
    ],
)
def test_it_is_refused_without_a_source_and_anywhere_but_with_the_owner(place, run, words, said):
    before = contents(place)
    code, _, err = run("report", "release", *words)
    assert code == 1
    assert said in err
    assert contents(place) == before


def test_what_the_release_says_about_itself_is_filled_in_unless_something_else_is_stated():
    about = {"title": "Wages", "purpose": "teaching", "recipients": ["a school"]}
    job = rt.Job(columns=contract.columns("illness"), promises=rt.KAnonymity(3), about=about)
    release = rt.publish(job, frame=contract.people(), seed=1)
    facts = rt.report(release, source=contract.people(), committee=True, about={"purpose": "a study"}, budget=1).facts
    request = dict(find_rows(facts, "request", "Who asks, and what for"))
    assert facts["title"] == "For decision: Wages"
    assert request["purpose of the release"] == "a study"
    assert request["recipients"] == "a school"
