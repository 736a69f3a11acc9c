"""Stages where stderr is piped, `--quiet`, and the log of a run."""

from __future__ import annotations

import itertools
import json
import os
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from reticent.engines.engine import PassProgress

STAGES = ["reading", "counting", "planning", "writing", "auditing"]


def test_stages_are_lines_on_stderr_where_the_output_is_piped(run, place):
    ran = run("publish", "job.toml", "-o", "release")
    assert ran.err.splitlines() == [f"reticent: {stage}" for stage in STAGES]
    assert not any(line.startswith("reticent: ") for line in ran.out.splitlines())


@pytest.mark.parametrize("words", [("--quiet", "publish"), ("publish", "--quiet")])
def test_a_quiet_run_says_its_result_and_no_stage(run, place, words):
    ran = run(*words, "job.toml", "-o", "release")
    assert (ran.code, ran.err) == (0, "")
    assert "Every promise is kept." in ran.out


def test_a_quiet_run_says_its_error(run, place):
    ran = run("publish", "none.toml", "-o", "release", "--quiet")
    assert ran.code == 1
    assert "none.toml" in ran.err


def test_a_log_holds_each_stage_and_how_the_run_ended(run, place):
    assert run("publish", "job.toml", "-o", "release", "--log", "night.log").err == ""
    run("publish", "none.toml", "-o", "second", "--log=night.log")
    lines = (place / "night.log").read_text().splitlines()
    assert [line.split("publish: ")[1] for line in lines] == [*STAGES, "ended with 0", "ended with 1"]


@pytest.mark.parametrize("to", [(), ("--log", "night.log")])
def test_a_json_log_is_one_object_a_line(run, place, to):
    ran = run("publish", "job.toml", "-o", "release", "--json", "--log-json", *to)
    json.loads(ran.out)
    lines = [json.loads(line) for line in ((place / "night.log").read_text() if to else ran.err).splitlines()]
    assert [line.get("stage") for line in lines] == [*STAGES, None]
    assert lines[-1]["exit_code"] == 0
    assert all(set(line) >= {"time", "command", "seconds"} for line in lines)


def test_a_log_that_cannot_be_written_stops_the_run_before_it_writes(run, place):
    ran = run("publish", "job.toml", "-o", "release", "--log", ".")
    assert ran.code == 1
    assert "is a folder" in ran.err
    assert not (place / "release").exists()
    assert run("publish", "job.toml", "-o", "release", "--log", "no/such/night.log").code != 0
    assert not (place / "release").exists()


def test_what_stands_after_two_dashes_is_no_option_of_ours(run, place):
    Path("--quiet").write_text("x\n")
    assert "reticent: recounting" in run("audit", "--", "--quiet").err


def test_the_version_says_whether_the_kernels_are_compiled(run):
    from reticent.kernels import list_uncompiled_kernels

    out = run("--version").out
    assert ("kernels compiled" in out) == (not list_uncompiled_kernels())
    assert "compiled" in out


@pytest.mark.parametrize(("words", "wanted"), [("reticent pub", "publish"), ("reticent export --bo", "--bounds")])
def test_a_shell_completes_commands_and_options(words, wanted):
    asked = {"_RETICENT_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    ran = subprocess.run(
        [sys.executable, "-m", "reticent.cli.main"], env={**os.environ, **asked}, capture_output=True, text=True
    )
    assert wanted in ran.stdout.split()


def read_lines(place: Path, name: str = "night.log") -> list[dict]:
    return [json.loads(line) for line in (place / name).read_text().splitlines()]


def test_every_line_names_its_run_its_release_and_its_process(run, place):
    run("publish", "job.toml", "-o", "release", "--log-json", "--log", "night.log")
    run("audit", "release", "--log-json", "--log", "night.log")
    run("check", "job.toml", "--log-json", "--log", "night.log")
    lines = read_lines(place)
    by_command = {
        command: [line for line in lines if line["command"] == command] for command in ("publish", "audit", "check")
    }
    assert {line["release"] for line in by_command["publish"]} == {"release"}
    assert {line["release"] for line in by_command["audit"]} == {"release"}
    assert {line["release"] for line in by_command["check"]} == {None}
    assert {line["pid"] for line in lines} == {os.getpid()}
    runs = [{line["run"] for line in listed} for listed in by_command.values()]
    assert all(len(numbers) == 1 for numbers in runs) and len(set.union(*runs)) == 3


def test_a_line_of_a_plain_log_names_them_too(run, place):
    run("publish", "job.toml", "-o", "release", "--log", "night.log")
    lines = (place / "night.log").read_text().splitlines()
    assert all(f"reticent[{os.getpid()}] " in line and " release publish: " in line for line in lines)


def test_a_release_of_which_the_name_holds_a_line_end_or_a_password_forges_no_line(run, place):
    run("audit", "sqlite://user:geheim4711@host/x\ny", "--log", "night.log")
    text = (place / "night.log").read_text()
    assert all(" audit: " in line for line in text.splitlines())
    assert "geheim4711" not in text


@pytest.mark.parametrize("engine", ["local", "stream"])
def test_counting_is_a_stage_with_the_rows_that_were_counted(run, place, monkeypatch, engine):
    ticks = itertools.count()
    each_later = partial(PassProgress, clock=lambda: 1000.0 * next(ticks))  # as if every batch took long
    monkeypatch.setattr("reticent.engines.local.PassProgress", each_later)
    run("publish", "job.toml", "-o", "release", "--engine", engine, "--log-json", "--log", "night.log")
    stages = [line.get("stage", "") for line in read_lines(place)]
    assert "counting" in stages
    assert any(re.fullmatch(r"counting: [\d,]+ rows", stage) for stage in stages)


def test_a_json_log_has_the_share_that_is_done_and_it_never_goes_back(run, place):
    run("publish", "job.toml", "-o", "release", "--log-json", "--log", "night.log")
    shares = [line["done"] for line in read_lines(place) if line.get("done") is not None]
    assert len(shares) >= 3 and shares == sorted(shares)
