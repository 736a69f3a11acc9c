"""Stages where stderr is piped, `--quiet`, and the log of a run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

STAGES = ["reading", "planning", "writing", "auditing"]


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
