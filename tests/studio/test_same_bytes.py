"""What the studio publishes is what the command line publishes: the job that clicks made gives the same bytes by a seed."""

from __future__ import annotations

import shutil

from reticent.cli.main import main
from reticent.studio import method_choice
from tests.studio.finished_runs import add_finished_run


def read_release(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_the_job_that_the_studio_made_gives_the_same_bytes_by_the_command_line(steward, tmp_path, monkeypatch):
    change = {
        "promise": "beta-likeness",
        "what": "beta = 8",
        "ail": 0.1,
        "paste": '[[promise]]\nmodel = "beta-likeness"\nbeta = 8',
    }
    explained = {"changes": [change], "base": 0.2}
    key = method_choice.make_key(steward.desk, "check")
    add_finished_run(
        steward.desk, key, {"methods": [], "explained": explained, "rows": 1, "warnings": [], "unplanned": []}
    )
    monkeypatch.setattr("reticent.studio.screens.compare._start_check", lambda desk: None)
    steward.press("compare", "weaken", change="0")
    steward.press("compare", "coarsen", column="work_class")
    steward.press("compare", "choose", method="mosaic")
    steward.press(
        "publish", "save", then="publish", name="release", seed="5", title="Census", recipients="A\nB", keeps="10"
    )
    run = steward.wait()
    assert run.succeeded, run.error
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(steward.desk.project.folder, elsewhere, ignore=shutil.ignore_patterns("release", "reticent-owner"))
    ledger = tmp_path / "another-ledger"
    words = [
        "publish",
        str(elsewhere / "job.toml"),
        "-o",
        str(elsewhere / "release"),
        "--seed",
        "5",
        "--ledger",
        str(ledger),
    ]
    assert main(words) in (0, None)
    assert read_release(elsewhere / "release") == read_release(steward.desk.project.folder / "release")
    assert set(read_release(elsewhere / "release")) >= {"manifest.json", "README.md"}
