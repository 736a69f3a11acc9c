"""`reticent demo`: the main job end to end, and again."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import reticent as rt


def test_the_demo_publishes_audits_attacks_asks_reports_and_says_where_to_look_next(run, place):
    ran = run("demo", "--rows", 2000)
    assert ran.code == 0
    assert "Six of 2,000 people" in ran.out
    assert "Every promise is kept." in ran.out
    for said in ("What two adversaries reach", "naive-bayes", "A question to the release", "Where to look next:"):
        assert said in ran.out
    assert "report.html  one page" in ran.out
    assert Path("demo/report.html").read_text(encoding="utf-8") == rt.report("demo/release").html()
    assert rt.open("demo/release").manifest.rows == 2000


def test_every_command_it_names_works(run, place):
    ran = run("demo", "--rows", 2000)
    commands = [line.split() for line in ran.out.splitlines() if line.strip().startswith("reticent ")]
    assert len(commands) >= 3
    for command in commands:
        assert run(*command[1:]).code == 0, command


def test_an_earlier_demo_is_made_anew_and_nothing_else_is(run, place):
    first = json.loads(run("demo", "--rows", 500, "--json").out)
    second = json.loads(run("demo", "--rows", 500, "--json").out)
    assert first["digest"] != second["digest"]
    Path("mine").mkdir()
    Path("mine/file").write_text("mine")
    before = place.contents()
    assert run("demo", "--to", "mine").code == 1
    assert place.contents() == before


def test_a_failing_demo_leaves_nothing(run, place):
    before = place.contents()
    ran = run("demo", "--rows", 5)
    assert ran.code == 2
    assert place.contents() == before


def test_its_page_needs_no_extra(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "altair", None)
    assert run("demo", "--rows", 500).code == 0
    assert Path("demo/report.html").is_file()
