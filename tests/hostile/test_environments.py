"""Odd places: names and paths, streams, locales and environments, each in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import reticent
from tests.support.hostile_cases import CANARY, Case, faults, prepare, run

PUBLISH = ("publish", "job.toml", "-o", "out")
LONG = "x" * 300
DEEP = "x/" * 2_500
PATHS = {
    "a release whose name is too long": (("publish", "job.toml", "-o", LONG), {1, 74}),
    "a release whose path is too long": (("publish", "job.toml", "-o", DEEP), {1, 74}),
    "a release of 250 characters": (("publish", "job.toml", "-o", "x" * 250), {0, 1, 74}),
    "a release that is a file": (("publish", "job.toml", "-o", "people.csv"), {1}),
    "a release inside a file": (("publish", "job.toml", "-o", "people.csv/out"), {1, 74}),
    "a release that is the working directory": (("publish", "job.toml", "-o", "."), {1, 74}),
    "a release that is the root": (("publish", "job.toml", "-o", "/"), {1, 74}),
    "a release without a name": (("publish", "job.toml", "-o", ""), {1, 74}),
    "a release above": (("publish", "job.toml", "-o", ".."), {1, 74}),
    "a release of blanks": (("publish", "job.toml", "-o", "  "), {0, 1}),
    "a release in /proc": (("publish", "job.toml", "-o", "/proc/out"), {1, 74}),
    "a release in /dev/null": (("publish", "job.toml", "-o", "/dev/null/out"), {1, 74}),
    "a release with a line end": (("publish", "job.toml", "-o", "a\nb"), {0, 1}),
    "a release with a terminal escape": (("publish", "job.toml", "-o", "a\x1b[31mb"), {0, 1}),
    "a release with a NUL": (("publish", "job.toml", "-o", "a\x00b"), {1}),
    "a release that is not UTF-8": (("publish", "job.toml", "-o", "a\udcffb"), {1}),
    "a job that is not UTF-8": (("publish", "a\udcffb", "-o", "out"), {1}),
    "a job whose name is too long": (("publish", LONG, "-o", "out"), {1}),
    "a ledger whose name is too long": (("publish", "job.toml", "-o", "out", "--ledger", LONG), {1, 74}),
    "a ledger that is a file": (("publish", "job.toml", "-o", "out", "--ledger", "people.csv"), {1, 74}),
    "a ledger in /proc": (("publish", "job.toml", "-o", "out", "--ledger", "/proc/x"), {1, 74}),
    "an audit of a name that is too long": (("audit", LONG), {1, 3}),
    "an audit of a file": (("audit", "people.csv"), {1, 3}),
    "an audit of nothing": (("audit", ""), {1, 3}),
    "an audit of a device": (("audit", "/dev/null"), {1, 3}),
    "an audit against a source whose name is too long": (("audit", "out", "--source", LONG), {1, 3}),
    "an audit with a digest that is none": (("audit", "out", "--expect-digest", "x" * 10_000), {1, 3}),
    "a risk of a name that is too long": (("risk", LONG + ".csv", "--quasi", "age"), {1}),
    "a risk of a column that is not there": (("risk", "people.csv", "--quasi", "x" * 10_000), {1}),
    "a risk of 1,000 columns": (("risk", "people.csv", "--quasi", ",".join(f"c{n}" for n in range(1_000))), {1}),
    "an init of a name that is too long": (("init", LONG + ".csv"), {1}),
    "an init of a folder": (("init", "."), {1}),
    "an init into a name that is too long": (("init", "people.csv", "-o", LONG), {1, 74}),
    "a check of a folder": (("check", "."), {1}),
    "a query of nothing": (("query", "nowhere", "SELECT 1"), {1, 3}),
    "an unknown command": (("explode",), {1}),
    "an unknown option": (("publish", "--explode"), {1}),
    "a command of 10,000 characters": (("x" * 10_000,), {1}),
    "a command with a terminal escape": (("\x1b[31m",), {1}),
    "a format with a terminal escape": ((*PUBLISH, "--format", "\x1b[31m"), {1}),
    "a format that is unknown": ((*PUBLISH, "--format", "x" * 10_000), {1}),
    "a seed that is a text": ((*PUBLISH, "--seed", "x"), {1}),
    "a seed that is huge": ((*PUBLISH, "--seed", "9" * 5_000), {1}),
    "a seed that is large": ((*PUBLISH, "--seed", "9" * 400), {0, 1}),
    "a seed that is negative": ((*PUBLISH, "--seed", "-1"), {0, 1}),
    "batches by a column that is not there": ((*PUBLISH, "--batch-by", "x" * 10_000), {1}),
    "batches by the identifying column": ((*PUBLISH, "--batch-by", "person"), {1, 2}),
}


@pytest.mark.parametrize("name", PATHS)
def test_an_odd_path_or_argument_is_refused_and_nothing_is_left(name, tmp_path):
    words, codes = PATHS[name]
    folder = tmp_path / "place"
    folder.mkdir()
    ran = run(folder, Case(lambda folder: None, None, words))
    assert not faults(ran, None), ran.err[:2_000]
    assert ran.code in codes
    if ran.code:
        assert {path.name for path in tmp_path.iterdir()} <= {"place", "place-ledger"}, (
            "something was left beside the folder"
        )


def started(
    folder: Path, *words: str, shell: str = "", **environment: str | None
) -> subprocess.CompletedProcess[bytes]:
    """The command in a process of its own; of the environment what is None is unset."""
    prepare(folder)
    ours = str(Path(reticent.__file__).parents[1])
    kept = {**os.environ, "PYTHONPATH": ours, "RETICENT_LEDGER": str(folder / "ledger"), **environment}
    kept = {name: value for name, value in kept.items() if value is not None}
    command = [sys.executable, "-m", "reticent", *words]
    if shell:
        command = ["sh", "-c", f'exec "$0" "$@" {shell}', *command]
    return subprocess.run(command, cwd=folder, env=kept, capture_output=True, timeout=120, check=False)


PLACES = {
    "a locale without Unicode": ("", {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"}, {0}),
    "a closed standard output": (">&-", {}, {0}),
    "closed standard streams": ("<&- >&- 2>&-", {}, {0}),
    "a full standard output": (">/dev/full", {}, {74}),
    "full standard streams": (">/dev/full 2>/dev/full", {}, {74}),
    "no home": ("", {"HOME": None, "XDG_CACHE_HOME": None, "XDG_DATA_HOME": None, "XDG_STATE_HOME": None}, {0, 1, 74}),
    "a home that is a file": ("", {"HOME": "/dev/null", "RETICENT_LEDGER": None, "XDG_STATE_HOME": None, "XDG_DATA_HOME": None}, {0, 1, 74}),
    "a folder for temporary files that is not there": ("", {"TMPDIR": "/nonexistent"}, {0, 1, 74}),
    "Polars' own settings that are no numbers": ("", {"POLARS_MAX_THREADS": "many", "POLARS_STREAMING_CHUNK_SIZE": "x"}, {0, 1}),
    "Polars' own settings that are 0": ("", {"POLARS_MAX_THREADS": "0", "POLARS_STREAMING_CHUNK_SIZE": "0"}, {0, 1}),
    "Polars told to be wordy": ("", {"POLARS_VERBOSE": "1", "POLARS_FMT_MAX_ROWS": "-1"}, {0}),
    "Polars told to panic": ("", {"POLARS_PANIC_ON_ERR": "1", "POLARS_PANIC_ON_SCHEMA": "1", "RUST_BACKTRACE": "1"}, {0}),
    "another engine of Polars": ("", {"POLARS_ENGINE_AFFINITY": "gpu"}, {0, 1}),
}  # fmt: skip


@pytest.mark.parametrize("name", PLACES)
def test_an_odd_environment_is_no_bug(name, tmp_path):
    shell, environment, codes = PLACES[name]
    ended = started(tmp_path, *PUBLISH, shell=shell, **environment)
    said = ended.stdout + ended.stderr
    assert ended.returncode in codes, said[-2_000:]
    assert b"Traceback" not in said and b"panicked" not in said and CANARY.encode() not in said
    assert (tmp_path / "out" / "manifest.json").is_file() == (ended.returncode == 0 or shell.startswith(">/dev/full"))


def test_a_message_about_other_letters_is_spelled_out_without_unicode(tmp_path):
    ended = started(tmp_path, "publish", "job-ü.toml", "-o", "out", LC_ALL="C.UTF-8", PYTHONIOENCODING="ascii")
    assert ended.returncode == 1
    assert b"job-\\xfc.toml" in ended.stderr
