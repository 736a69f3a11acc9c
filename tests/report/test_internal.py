"""The internal edition tells the owner what the release keeps back, and goes nowhere but to the owner."""

from __future__ import annotations

import stat

import polars as pl
import pytest

import reticent as rt
from reticent import catalogue
from tests.support import contract_examples as contract
from tests.support.folder_contents import contents
from tests.support.report_canaries import IDENTIFIER

KINDS = list(catalogue.KINDS)
SECTIONS = {"recount", "risks", "attacks", "groups", "loss", "utility", "done", "job", "environment", "earlier"}


def section(report, name):
    return next(one for one in report.facts["sections"] if one["id"] == name)


def tables(report, name):
    return {
        part["table"]["caption"]: part["table"]["rows"] for part in section(report, name)["parts"] if "table" in part
    }


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_every_section(kind, kinds):
    report = rt.report(kinds[kind], source=contract.people())
    assert {one["id"] for one in report.facts["sections"]} >= SECTIONS
    assert report.facts["edition"] == "internal"
    page = report.html()
    assert len(page.encode()) < 600_000
    assert "Never to be handed out" in page
    assert "<script" not in page
    tried = {row[0] for row in tables(report, "attacks").get("Adversaries that were tried", [])}
    left = [line for part in section(report, "attacks")["parts"] if "list" in part for line in part["list"]]
    reasons = [line.partition(": ") for line in left]
    named = [name for names, _, _ in reasons for name in names.split(", ")]
    assert tried | set(named) == set(catalogue.ATTACKS), "each is tried or left out, with the reason"
    assert len({why for *_, why in reasons}) == len(reasons) and all(why for *_, why in reasons), "a reason stands once"


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_asked_random_questions(kind, kinds):
    found = tables(rt.report(kinds[kind], source=contract.people()), "utility")
    forms = found["Relative error of counts"]
    shares = found["The same by the share of rows selected"]
    assert [line[0] for line in forms] == [1, 2, 2, 2] and all(line[2] is not None for line in forms)
    assert sum(line[1] for line in shares) <= len(forms) * 1_000


@pytest.mark.parametrize(("town", "word"), [(rt.quasi(), "none"), (rt.sensitive(), "2")])
def test_a_release_without_a_sensitive_column_or_with_several_has_its_page(tmp_path, town, word):
    frame = pl.DataFrame({"age": [20, 30, 40, 50] * 5, "town": ["a", "b"] * 10, "pay": [1, 2, 3, 4] * 5})
    columns = {"age": rt.quasi(), "town": town, "pay": rt.sensitive() if word == "2" else rt.quasi()}
    job = rt.Job(columns=columns, promises=[rt.KAnonymity(5)])
    rt.publish(job, frame=frame, to=tmp_path / "release", ledger=tmp_path / "ledger")
    report = rt.report(tmp_path / "release", source=frame)
    assert {one["id"] for one in report.facts["sections"]} >= SECTIONS
    for name in ("groups", "utility"):
        assert f"this one has {word}" in section(report, name)["parts"][0]["text"]
    assert "<h2" in report.html()


def test_risks_stand_side_by_side(canaries):
    folder, frame = canaries
    rows = {
        name: (before, after)
        for name, before, after in tables(rt.report(folder, source=frame), "risks")["Re-identification"]
    }
    alone = frame.group_by("age", "<b>city</b>").len().filter(pl.col("len") == 1).height
    assert rows["rows that are alone"] == (alone, 0)
    assert rows["rows"] == (201, rt.open(folder).manifest.rows)
    assert rows["highest risk of a row"][1] <= 1 / 5


def test_an_attack_says_whether_the_promise_speaks_of_it(kinds):
    report = rt.report(kinds["generalized"], source=contract.people())
    told = {row[0]: row[-1] for row in tables(report, "attacks")["Adversaries that were tried"]}
    assert told["naive-bayes"] == "no"
    sampled = rt.report(kinds["sampled"], source=contract.people())
    told = {row[0]: row[-1] for row in tables(sampled, "attacks")["Adversaries that were tried"]}
    assert told == {"corruption": "rho-guarantee"}


def test_an_attack_is_drawn_beside_its_control(kinds):
    report = rt.report(kinds["generalized"], source=contract.people())
    figures = [part["figure"]["plot"] for part in section(report, "attacks")["parts"] if "figure" in part]
    drawn = {row["attack"]: row for figure in figures for row in figure["rows"]}
    assert drawn["naive-bayes"]["control"] is not None
    assert drawn["naive-bayes"]["low"] <= drawn["naive-bayes"]["success"] <= drawn["naive-bayes"]["high"]
    page = report.html()
    assert "Hollow: its control" in page and "<span>control " in page
    assert page.count('class="reference-line"') >= 1, "guessing is a line of its own"


def test_no_raw_row_and_no_identifier_is_in_it(canaries):
    folder, frame = canaries
    assert IDENTIFIER not in rt.report(folder, source=frame).html()


def test_it_is_written_to_the_owners_folder_readable_by_the_owner_alone(place, run):
    before = contents(place)
    assert run("report", "release", "--internal", "--source", "people.csv")[0] == 0
    made = place / "reticent-owner" / "release" / "report.html"
    assert set(contents(place)) - set(before) == {made}
    assert stat.S_IMODE(made.stat().st_mode) == 0o600
    assert rt.open("release").manifest.rows, "the release is as it was"
    assert run("report", "release", "--internal", "--source", "people.csv")[0] == 1, "it is there already"


def test_it_says_what_earlier_releases_of_the_people_change(tmp_path):
    frame = pl.DataFrame({"age": [20, 21, 22, 23] * 25, "word": ["x", "y"] * 50})
    job = rt.Job(columns={"age": rt.quasi(), "word": rt.sensitive()}, promises=[rt.KAnonymity(2)])
    rt.publish(job, frame=frame, to=tmp_path / "first")
    rt.publish(job, frame=frame, to=tmp_path / "second", again=True)
    alone, both = (rt.report(tmp_path / name, source=frame) for name in ("first", "second"))
    assert "no other release" in str(section(alone, "earlier"))
    assert "k-anonymity no longer holds" in str(section(both, "earlier"))
    assert 'model = "k-anonymity"' in str(section(both, "job"))
