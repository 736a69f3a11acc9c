"""One release of each kind, and one of people whose canaries must not be told."""

from __future__ import annotations

import random
import shutil
from collections.abc import Mapping
from pathlib import Path

import polars as pl
import pytest

import reticent as rt
from tests.support.method_promise_pairs import Pair, pairs, released
from tests.support.report_canaries import DROPPED, HOSTILE, IDENTIFIER, OUTLIER, WITHHELD


@pytest.fixture(scope="session")
def kinds() -> Mapping[str, Path]:
    """The folder of a small release of each kind; the releases live as long as the cache of `released`."""
    chosen: dict[str, Pair] = {}
    for pair in pairs():
        chosen.setdefault(pair.kind, pair)
    return {kind: released(pair)[0].folder for kind, pair in chosen.items()}


def people() -> pl.DataFrame:
    draw = random.Random(3)
    rows = [
        (f"p{at}", draw.randint(20, 60), draw.choice(["Ulm", "Bonn"]), draw.choice(["flu", "cold", HOSTILE]))
        for at in range(200)
    ]
    frame = pl.DataFrame(rows, ["person", "age", "<b>city</b>", "illness"], orient="row")
    alone = pl.DataFrame([(IDENTIFIER, OUTLIER, "Bonn", WITHHELD)], frame.columns, orient="row")
    return pl.concat([frame, alone]).with_columns(note=pl.lit(DROPPED), visits=pl.Series([7] * 197 + [8] * 3 + [7]))


@pytest.fixture(scope="session")
def canaries(tmp_path_factory) -> tuple[Path, pl.DataFrame]:
    """A release that withholds one remarkable person, and the people it is of."""
    folder = tmp_path_factory.mktemp("canaries")
    job = rt.Job(
        columns={
            "person": rt.identifying(),
            "age": rt.quasi(),
            "<b>city</b>": rt.quasi(),
            "illness": rt.sensitive(),
            "visits": rt.insensitive(),
        },
        promises=[rt.KAnonymity(5)],
        release=rt.Output(undeclared="drop", suppress_at_most=0.05),
    )
    frame = people()
    rt.publish(job, frame=frame, to=folder / "release", ledger=folder / "ledger")
    return folder / "release", frame


@pytest.fixture
def place(canaries, tmp_path, monkeypatch):
    """A folder with a release and its source."""
    monkeypatch.delenv("RETICENT_OWNER", raising=False)
    monkeypatch.chdir(tmp_path)
    shutil.copytree(canaries[0], tmp_path / "release")
    canaries[1].write_csv(tmp_path / "people.csv")
    return tmp_path


@pytest.fixture
def run(capsys):
    from reticent.cli.main import main

    def call(*words: str) -> tuple[int, str, str]:
        return main([str(word) for word in words]), *capsys.readouterr()

    return call
