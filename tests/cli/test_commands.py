"""What holds for every command: help with an example, usage errors, the version."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys

import pytest

from reticent import __version__
from reticent.cli.commands import COMMANDS
from tests.support.command_line import unwrapped


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_an_example_of_the_command(run, command):
    ran = run(command, "--help")
    assert ran.code == 0
    assert importlib.import_module(f"reticent.cli.{command}").EXAMPLE in unwrapped(ran.out)


def test_help_names_every_command(run):
    ran = run("--help")
    assert ran.code == 0
    assert all(command in ran.out for command in COMMANDS)


def test_without_a_command_the_help_is_shown_and_the_request_is_wrong(run):
    ran = run()
    assert ran.code == 1
    assert "Usage" in ran.out


def test_the_version_is_printed(run):
    assert run("--version").out.startswith(f"reticent {__version__} (")


@pytest.mark.parametrize(
    "words",
    [
        ("publsh",),
        ("publish",),
        ("publish", "job.toml"),
        ("publish", "job.toml", "-o", "x", "--frce"),
        ("--unknown",),
        ("publish", "job.toml", "-o", "x", "--seed", "many"),
        ("data", "census", "--rows"),
        ("demo", "surplus"),
    ],
)
def test_a_usage_error_ends_with_1_and_says_what_to_try(run, place, words):
    before = place.contents()
    ran = run(*words)
    assert ran.code == 1
    assert ran.err.startswith("UsageError: ")
    assert "--help" in ran.err
    assert place.contents() == before


def test_a_usage_error_is_an_object_with_json(run, place):
    ran = run("publish", "job.toml", "--json")
    assert json.loads(ran.out)["error"]["kind"] == "UsageError"
    assert json.loads(ran.out)["error"]["exit_code"] == 1


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        (("publish", "job.toml", "--to", "out"), "reticent publish has no option --to.\n  Try --output instead"),
        (("check", "job.toml", "--engin", "stream"), "reticent check has no option --engin.\n  Try --engine instead"),
        (("export", "out", "--to", "x.db"), "reticent export has no option --to.\n  Try one of --"),
        (("--vers",), "reticent has no option --vers.\n  Try --version instead"),
    ],
)
def test_an_option_that_a_command_does_not_have_is_told_with_one_that_may_be_meant(asked, meant, run):
    ran = run(*asked)
    assert ran.code == 1 and ran.err.startswith(f"UsageError: {meant}")


def test_help_loads_neither_polars_nor_numpy():
    """In a process of its own: this one has loaded them long ago."""
    script = "import sys; from reticent.cli.main import main; main(['--help']); main(['publish', '--help']); "
    script += "sys.exit(bool({'polars', 'numpy', 'pyarrow', 'pandas'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_installed_script_ends_with_the_code_of_main(place):
    script = os.path.join(os.path.dirname(sys.executable), "reticent")
    done = subprocess.run([script, "publish", "nowhere.toml", "-o", "x"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("JobError: The job file nowhere.toml cannot be read")


def test_a_reader_that_has_seen_enough_gets_no_traceback(place):
    pipe = f"{sys.executable} -m reticent.cli.main data --json | head -c 1"
    done = subprocess.run(["bash", "-c", pipe], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "Traceback" not in done.stderr


def test_help_loads_neither_markdown_nor_tracebacks_and_leaves_rich_as_it_is():
    program = """
import contextlib, io, sys
from reticent.cli.main import main
with contextlib.redirect_stdout(io.StringIO()) as page:
    assert main(["--help"]) == 0
assert "Commands" in page.getvalue()
assert not {"markdown_it", "rich.markdown", "rich.traceback", "polars", "numpy"} & set(sys.modules)
import rich.markdown, rich.traceback, typer.rich_utils
assert type(typer.rich_utils.Markdown("x")) is rich.markdown.Markdown
assert typer.rich_utils.Traceback.from_exception is not None
"""
    subprocess.run([sys.executable, "-c", program], check=True)
