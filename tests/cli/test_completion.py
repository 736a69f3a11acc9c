"""What a shell completes: the values of options and arguments, as bash asks for them."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from reticent import catalogue
from reticent.cli.commands import build_parser


def complete(words: str) -> list[str]:
    asked = {"_RETICENT_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split(" ")) - 1)}
    ran = subprocess.run(
        [sys.executable, "-m", "reticent.cli.main"], env={**os.environ, **asked}, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.split()


def complete_value(command: str, option: str, incomplete: str) -> list[str]:
    """Ask the parser for one value, as the shell's script does."""
    part = build_parser().commands[command]
    (parameter,) = [parameter for parameter in part.params if option in parameter.opts]
    context = part.context_class(part, info_name=command)
    return [getattr(item, "value", item) for item in parameter.shell_complete(context, incomplete)]


def test_bash_is_given_the_attacks():
    assert set(complete("reticent attack release --as naive")) == {"naive-bayes"}


@pytest.mark.parametrize(
    ("command", "option", "typed", "wanted"),
    [
        ("attack", "--as", "", list(catalogue.ATTACKS)),
        ("publish", "--engine", "s", ["stream", "spark"]),
        ("publish", "--format", "", ["parquet", "csv"]),
        ("report", "--format", "h", ["html"]),
        ("query", "--by", "", ["inversion", "em", "shrunk"]),
        ("query", "--density", "", ["likelihood", "even"]),
        ("query", "--print-sql", "d", ["duckdb"]),
        ("check", "--methods", "mo", ["mondrian", "mosaic"]),
        ("compare", "--methods", "mondrian,mo", ["mondrian,mosaic"]),
        ("compare", "--attacks", "no", ["none"]),
        ("data", "name", "ce", ["census"]),
        ("hierarchy", "--build", "inter", ["intervals"]),
        ("audit", "--empty", "", ["missing", "value"]),
    ],
)
def test_a_value_is_completed(command, option, typed, wanted):
    assert complete_value(command, option, typed) == wanted


@pytest.mark.parametrize(("command", "option"), [("calibrate", "method"), ("advise", "--for")])
def test_names_that_a_command_knows_are_offered(command, option):
    assert complete_value(command, option, "")


def test_release_folders_are_completed_and_other_folders_can_be_entered(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "monday").mkdir()
    (tmp_path / "monday" / "manifest.json").write_text("{}")
    (tmp_path / "months" / "may").mkdir(parents=True)
    (tmp_path / "months" / "may" / "manifest.json").write_text("{}")
    (tmp_path / "mon.csv").write_text("a\n")
    (tmp_path / ".hidden").mkdir()
    for command in ("query", "report", "export"):
        assert complete_value(command, "release", "mo") == ["monday", "months/"]
    for command in ("audit", "attack"):  # which also take a table of another tool
        assert complete_value(command, "release", "") == ["mon.csv", "monday", "months/"]
    assert complete_value("audit", "release", "months/") == ["months/may"]
    assert complete_value("audit", "release", "nowhere/") == []


def test_job_files_are_completed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("job.toml", "jobs.csv"):
        (tmp_path / name).write_text("")
    assert complete_value("check", "job", "j") == ["job.toml"]
    assert complete_value("audit", "--job", "") == ["job.toml"]
